"""Settings from YAML: a text or a file, not yet validated."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import yaml

from shoal.errors import FileError, PlanError, printable
from shoal.plan.limits import LARGEST_YAML, read_small
from shoal.plan.yaml_input import PlainLoader, YamlMistake, compose, told


class _OnceEach(PlainLoader):
    """Reads YAML in which no setting may be given twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        names = Counter(key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode))
        twice = {name: count for name, count in names.items() if count > 1}
        if twice:
            raise PlanError(
                [f"setting '{printable(name)}' is given {count} times; give it once" for name, count in twice.items()]
            )
        return super().construct_mapping(node, deep)


def plan_settings(text: str) -> dict[str, Any]:
    """Return the settings in a YAML text, not yet validated."""
    try:
        settings = _built(compose(text, _OnceEach))
    except YamlMistake as mistake:
        raise PlanError(f"the plan {mistake}") from None
    except yaml.MarkedYAMLError as error:
        raise PlanError(f"the plan {told(error)}") from None
    except (ValueError, OverflowError) as error:
        if isinstance(error, PlanError):
            raise
        raise PlanError(
            "the plan has a value that looks like a number or a date and is none; put it in quotes"
        ) from None
    if not isinstance(settings, dict) or not all(isinstance(key, str) for key in settings):
        raise PlanError("the plan must be settings with their values, one a line, such as 'k: 5'")
    return settings


def _built(top: yaml.Node | None) -> Any:
    return None if top is None else _OnceEach("").construct_document(top)


def load_settings(path: str | Path) -> dict[str, Any]:
    """Return the settings in a YAML file, not yet validated."""
    try:
        text = read_small(Path(path), "the plan", LARGEST_YAML).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FileError(f"the plan '{path}' is not a text file") from None
    return plan_settings(text)
