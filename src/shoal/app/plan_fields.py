"""The settings of a plan that have no page of their own, as fields of a form, from :class:`shoal.Plan` itself.

A setting that the plan learns appears here by itself: a choice for a Literal, a box for true and false, a number, and
YAML for all that is nested. What it means is what the plan says about it.
"""

from __future__ import annotations

import re
import types
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin

import shoal
from shoal.app import draft
from shoal.app.asking import Asked

ELSEWHERE = frozenset(  # settings that other forms and pages have
    [
        *("k", "quasi_identifiers", "identifiers", "confidential", "weight", "strata", "method", "options"),
        *("hierarchies", "orders", "nominal", "reading", "rules", "rules_file", "set_size"),
        "differential_privacy",  # not from pages that measure every run against its original
    ]
)
FIRST = ("missing_patterns", "small_strata", "persons", "aggregators", "scaling", "dominance", "blocking")


@dataclass(frozen=True)
class PlanField:
    """A setting as a field of a form.

    Attributes
    ----------
    name, doc : str
        Its name, and what the plan says about it.
    form : {"choice", "flag", "number", "yaml"}
        What kind of field it is.
    choices : tuple of str
        What can be chosen.
    optional : bool
        Whether nothing can be said, too.
    value : object
        What the plan has now; the default where nothing was said.
    said : bool
        Whether something was said.
    """

    name: str
    doc: str
    form: str
    choices: tuple[str, ...]
    optional: bool
    value: Any
    said: bool

    @property
    def text(self) -> str:
        """The value as it is written in a field."""
        import yaml

        if self.form != "yaml" or not self.said:
            return "" if self.value is None or not self.said else str(self.value)
        dumped: str = yaml.safe_dump(self.value, default_flow_style=None, sort_keys=False, allow_unicode=True)
        return dumped.removesuffix("...\n").strip()

    @property
    def title(self) -> str:
        """Its name in words."""
        return self.name.replace("_", " ").capitalize()


def others(settings: Mapping[str, Any]) -> list[PlanField]:
    """Return the settings that have no page of their own, those that are asked for most first."""
    names = [name for name in shoal.Plan.model_fields if name not in ELSEWHERE]
    names.sort(key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST))
    return [_field(name, settings) for name in names]


def _field(name: str, settings: Mapping[str, Any]) -> PlanField:
    field = shoal.Plan.model_fields[name]
    form, choices, optional = _form(field.annotation)
    default = field.get_default(call_default_factory=True)
    value = settings.get(name, default)
    return PlanField(name, documented().get(name, ""), form, choices, optional, value, value != default)


def _form(annotation: Any) -> tuple[str, tuple[str, ...], bool]:
    """Return the kind of field for a type, its choices, and whether nothing can be said."""
    parts = get_args(annotation) if get_origin(annotation) in (Union, types.UnionType) else (annotation,)
    optional = type(None) in parts
    rest = [part for part in parts if part is not type(None)]
    bare = rest[0] if len(rest) == 1 else None
    if get_origin(bare) is Literal:
        return "choice", tuple(map(str, get_args(bare))), optional
    if hasattr(bare, "__metadata__"):  # Annotated
        bare = get_args(bare)[0]
    if bare is bool:
        return "flag", (), optional
    return ("number" if bare in (int, float) else "yaml"), (), optional


@cache
def documented() -> dict[str, str]:
    """Return what the plan says about each of its settings."""
    found: dict[str, str] = {}
    names: list[str] = []
    told = (shoal.Plan.__doc__ or "").partition("Attributes")[2].partition("Examples")[0]
    for line in told.splitlines():
        head = re.fullmatch(r"    ([a-z_]+(?:, [a-z_]+)*)(?: : .*)?", line)
        if head:
            names = head[1].split(", ")
        elif line.startswith("        "):
            for name in names:
                found[name] = f"{found.get(name, '')} {line.strip()}".strip()
    return {name: re.sub(r"``([^`]*)``|:\w+:`~?([^`]*)`", r"\1\2", text) for name, text in found.items()}


def take(settings: dict[str, Any], asked: Asked) -> list[str]:
    """Take the fields of a form that was sent into the settings; returns what is wrong with them."""
    import yaml

    mistakes: list[str] = []
    for field in others(settings):
        sent = f"setting_{field.name}"
        if not asked.has(sent):
            continue
        text = asked.fields(sent)[-1].strip()
        if field.form == "flag":
            draft.give(settings, field.name, text == "true")
        elif field.form == "choice":
            draft.give(settings, field.name, text if text in field.choices else None)
        elif not text:
            settings.pop(field.name, None)
        else:
            try:
                draft.give(settings, field.name, yaml.safe_load(text))
            except yaml.YAMLError:
                mistakes.append(f"{field.name}: is not written as a plan has it; see docs/plan.md")
    return mistakes
