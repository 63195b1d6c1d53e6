"""The section about confidential columns: what was asked of every group, what was reached, and what it cost."""

from __future__ import annotations

from typing import Any

from shoal.report.editions import short
from shoal.report.facts import Facts
from shoal.report.parts import Grid, Section

_NAMES = {
    "distinct": "different values, at least",
    "entropy": "entropy, in values, at least",
    "recursive": "recursive diversity: c, below that asked",
    "t": "t, at most",
}


def given_away(facts: Facts) -> Section | None:
    """Every condition with what the release reaches; both editions tell it, since the release shows it."""
    found = [one for one in facts.summary.get("conditions", []) if isinstance(one, dict)]
    rows = [
        [str(one.get("column", "")), words, _written(one["asked"][name]), short(float(one["reached"][name]), 4)]
        for one in found
        for name, words in _NAMES.items()
        if name in one.get("asked", {}) and name in one.get("reached", {})
    ]
    if not rows:
        return None
    told = (
        "Whoever finds somebody's group knows the confidential values of its records. Every group keeps at least this."
    )
    without = facts.summary.get("loss_without_conditions")
    if facts.edition.internal and isinstance(without, int | float):
        told += f" With k alone the information loss would be {short(float(without), 4)} %."
    grid = Grid("What every group keeps", ["column", "what", "asked", "reached"], rows, texts=(1,))
    return Section("conditions", "What a group gives away", told, [grid])


def _written(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"c = {short(float(value[0]), 4)}, l = {value[1]}"
    return short(float(value), 4)
