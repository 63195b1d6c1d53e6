"""Rules as a user gives them: expressions, names with expressions, or the name of a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shoal.errors import PlanError

SCHEMATRON = (".sch", ".xml")
EXPRESSIONS = (".rules", ".txt")
PLANS = (".yaml", ".yml")
R_TEXTS = (".r",)
SQL_TEXTS = (".sql",)
RULE_FILES = SCHEMATRON + EXPRESSIONS + PLANS + R_TEXTS + SQL_TEXTS


def rules_or_file(settings: Any) -> Any:
    """Return settings whose ``rules`` are expressions, with the file that they named as ``rules_file``.

    >>> rules_or_file({"rules": "edits.sch"})
    {'rules_file': 'edits.sch'}
    >>> rules_or_file({"rules": {"adult": "AGE >= 18"}})
    {'rules': ('adult: AGE >= 18',)}
    """
    if not isinstance(settings, Mapping) or settings.get("rules") is None:
        return settings
    given = settings["rules"]
    if not isinstance(given, str | Path | Mapping | list | tuple):
        raise PlanError("rules: give a list of expressions, names with expressions, or the name of a file of rules")
    rest = {name: value for name, value in settings.items() if name != "rules"}
    return {**rest, "rules_file": str(given)} if is_file(given) else {**rest, "rules": as_expressions(given)}


def is_file(given: object) -> bool:
    """Whether what was given for rules is the name of a file of them.

    >>> is_file("edits.sch"), is_file("A <= B")
    (True, False)
    """
    if isinstance(given, Path):
        return True
    return isinstance(given, str) and "\n" not in given and Path(given).suffix.lower() in RULE_FILES


def as_expressions(given: Any) -> Any:
    """Return a text, a list of texts or names with texts, as YAML gives them, as a list of expressions.

    >>> as_expressions({"adult": "AGE >= 18"}), as_expressions(["A <= B", {"adult": "AGE >= 18"}])
    (('adult: AGE >= 18',), ('A <= B', 'adult: AGE >= 18'))
    """
    if isinstance(given, str):
        return (given,)
    if isinstance(given, Mapping):
        return tuple(f"{_quoted(str(name))}: {text}" for name, text in given.items())
    if isinstance(given, list | tuple):
        return tuple(text for part in given for text in (as_expressions(part) if isinstance(part, Mapping) else [part]))
    return given


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if any(sign in name for sign in ":'\"`#") else name
