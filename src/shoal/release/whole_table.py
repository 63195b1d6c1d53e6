"""What needs all records of a table at once, and so cannot be had block by block: refused before any work is done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal.blocking.blocks import IN_PASSES
from shoal.columns.numbers import Column
from shoal.errors import listed
from shoal.plan.blocking import BY_CATEGORY
from shoal.release.declaring import Declared
from shoal.rules.expression import Unchanged
from shoal.tables.identifying import is_key

_FREE = ("time", "gap", "bound")  # options of a search that end it by what the whole table has reached


def said_of_whole_table(settings: Mapping[str, Any], engine: str) -> list[str]:
    """Say which settings an engine cannot keep, whatever the table has.

    A key of persons that repeats counts by itself where a table is treated as a whole; no engine looks for one, so that
    the plan must say whether k counts persons.
    """
    found = []
    if settings.get("accept"):
        found.append(
            f"accept: columns that are kept are looked at where a table is treated as a whole (engine: {engine}); "
            "leave it out"
        )
    removed = settings.get("identifiers") or ()
    keys = [name for name in ([removed] if isinstance(removed, str) else removed) if is_key(name)]
    if keys and settings.get("persons") is None:
        found.append(
            f"persons: {listed(keys)} may be the key of a person with several records, which nobody looks for (engine: "
            f"{engine}); name it as persons (--persons {keys[0]}), or say that k counts records (--persons none)"
        )
    return found


def needs_whole_table(declared: Declared, engine: str) -> list[str]:
    """Say what of a plan an engine cannot do, since it looks at all records at once."""
    plan, cut = declared.plan, declared.plan.blocking
    found = []
    ways = [*IN_PASSES, BY_CATEGORY]
    if cut and cut.method not in ways:
        found.append(
            f"blocking: '{cut.method}' sorts all records, which an engine does not do (engine: {engine}); use "
            f"{listed(ways)}"
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
    found += _rules_of_whole_table(declared, engine)
    if plan.missing_patterns == "ignored" and len(declared.sets) > 1:
        found.append(
            f"missing_patterns: 'ignored' with several sets of quasi-identifiers counts records across them (engine: "
            f"{engine}); leave it out"
        )
    for quasi in declared.sets:
        if not (cut and cut.method == BY_CATEGORY) and not any(isinstance(own, Column) for own in quasi.columns):
            found.append(
                f"blocking: {listed(quasi.names)} {'is' if len(quasi) == 1 else 'are'} categories, and blocks are cut "
                f"by numbers and dates (engine: {engine}); put a column of numbers into the set, or cut 'categories'"
            )
    return found


def _rules_of_whole_table(declared: Declared, engine: str) -> list[str]:
    """Say which rules cannot be kept inside blocks."""
    found = []
    checked = [rule.name for rule in declared.rules if rule.schematron is not None]
    if checked:
        found.append(
            f"rules: {listed(checked)} in Schematron, which is checked on the whole table (engine: {engine}); write "
            "expressions, or leave engine out"
        )
    totals = [rule.name for rule in declared.rules if isinstance(rule.condition, Unchanged)]
    if totals:
        found.append(
            f"rules: {listed(totals)} about the total of all records, which no block sees (engine: {engine}); leave it "
            "out, or leave engine out"
        )
    if declared.rules and declared.plan.product_rules == "geometric-means":
        found.append(
            f"product_rules: whether all values are above 0 is settled on the whole table (engine: {engine}); leave it "
            "out"
        )
    return found
