"""What needs all records of a table at once, and so cannot be had block by block: refused before any work is done."""

from __future__ import annotations

from shoal.blocking.blocks import COUNTED
from shoal.columns.numbers import Column
from shoal.errors import listed
from shoal.release.declaring import Declared

_FREE = ("time", "gap", "bound")  # options of a search that end it by what the whole table has reached


def needs_whole_table(declared: Declared, engine: str) -> list[str]:
    """Say what of a plan an engine cannot do, since it looks at all records at once."""
    plan, cut = declared.plan, declared.plan.blocking
    found = []
    if cut and cut.method not in COUNTED:
        found.append(
            f"blocking: '{cut.method}' sorts all records, which an engine does not do (engine: {engine}); use "
            f"{listed(COUNTED)}"
        )
    if cut and cut.repair:
        found.append(
            f"blocking.repair: moves records across faces of blocks, and no worker has both sides (engine: {engine})"
            "; leave it out, or ask for larger blocks (blocking.size)"
        )
    if plan.small_strata == "merge":
        found.append(
            f"small_strata: merging looks at all records of small strata (engine: {engine}); recode them before"
        )
    if plan.scaling == "robust":
        found.append(f"scaling: quartiles need all records in order (engine: {engine}); use 'z-score' or 'range'")
    used = [name for name in _FREE if plan.options.get(name) is not None]
    if used:
        found.append(
            f"options: {listed(used)} of method '{declared.method.name}' look at the whole table (engine: {engine}); "
            "leave it out, or give steps"
        )
    if declared.rules:
        found.append(f"rules: are settled on the whole table (engine: {engine}); leave engine out")
    if plan.missing_patterns == "ignored" and len(declared.sets) > 1:
        found.append(
            f"missing_patterns: 'ignored' with several sets of quasi-identifiers counts records across them (engine: "
            f"{engine}); leave it out"
        )
    for quasi in declared.sets:
        if not any(isinstance(column, Column) for column in quasi.columns):
            found.append(
                f"blocking: {listed(quasi.names)} {'is' if len(quasi) == 1 else 'are'} categories, and blocks are cut "
                f"by numbers and dates (engine: {engine}); put a column of numbers into the set, or leave engine out"
            )
    return found
