"""A plan that was written elsewhere: taken whole, with settings that no page shows, or refused with its mistakes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import shoal
from shoal.app import draft
from shoal.errors import did_you_mean

NO_ENGINE = "engine: is not chosen while others can reach this machine"


def from_yaml(text: str, beside: Path | None) -> draft.Settings:
    """Return the settings of a plan that was written elsewhere, all of them, whether a page shows them or not.

    Files that it names are those beside a folder; without one, a plan that names files, or what runs it, is refused.
    """
    settings = draft.in_sets(shoal.Plan.from_yaml(text).to_dict())
    hierarchies = {name: dict(source) for name, source in settings.get("hierarchies", {}).items()}
    places = [(f"hierarchies.{name}.file", source, "file") for name, source in hierarchies.items()]
    places += [("rules_file", settings, "rules_file")]
    for name, source in hierarchies.items():
        if isinstance(source.get("wordnet"), Mapping):
            source["wordnet"] = dict(source["wordnet"])
            places += [(f"hierarchies.{name}.wordnet.{key}", source["wordnet"], key) for key in ("words", "folder")]
    mistakes: list[str] = []
    for told, holder, key in places:
        if not isinstance(holder.get(key), str):
            continue
        if beside is None:
            mistakes.append(f"{told}: files of this machine are not read while others can reach it")
            continue
        path = beside / Path(holder[key]).expanduser()
        holder[key] = str(path)
        if not path.exists():
            mistakes.append(f"{told}: there is no such file beside the table; give its whole path")
    if beside is None and settings.get("engine"):
        mistakes.append(NO_ENGINE)
    if mistakes:
        raise shoal.PlanError(mistakes)
    return settings | ({"hierarchies": hierarchies} if hierarchies else {})


def unknown_columns(settings: Mapping[str, Any], columns: Sequence[str]) -> list[str]:
    """Return the columns that settings give a role or say something about, and that a table does not have."""
    named = [name for name in draft.roles(settings) if name != draft.AUTO]
    for setting in draft.OF_QUASI_IDENTIFIERS:
        named += [name for name in settings.get(setting) or {} if name != "*"]
    return [name for name in dict.fromkeys(named) if name not in set(columns)]


def check_columns(settings: Mapping[str, Any], columns: Sequence[str]) -> None:
    """Refuse settings that name columns which a table does not have."""
    unknown = unknown_columns(settings, columns)
    if unknown:
        raise shoal.PlanError([f"column '{name}' is not in the table{did_you_mean(name, columns)}" for name in unknown])
