"""Dates that are kept beside dates that are protected: whether their order, which a reader takes for granted, survives.

An admission that is protected and a discharge that is kept may change places: nothing is given away by that, but the
release says what cannot be. Where one date of the original is never after another, and some released record
contradicts it, a note says so and what prevents it. O(n) for each pair of dates of the same type.
"""

from __future__ import annotations

from itertools import islice, product

from shoal.errors import counted, printable
from shoal.measures.determination import FEWEST
from shoal.plan.plan import Plan
from shoal.plan.roles import Kind
from shoal.tables.table import Table

_PAIRS = 100  # pairs of dates that are looked at


def order_notes(plan: Plan, original: Table, released: Table) -> list[str]:
    """Say which kept dates a release contradicts.

    >>> import polars as pl
    >>> from datetime import date, timedelta
    >>> from shoal.tables.table import open_table
    >>> came = [date(2024, 1, 1) + timedelta(days=2 * i) for i in range(40)]
    >>> before = open_table(pl.DataFrame({"came": came, "left": [day + timedelta(days=1) for day in came]}))
    >>> after = open_table(before.native.with_columns(came=pl.lit(date(2024, 2, 1))))
    >>> order_notes(Plan(k=3, quasi_identifiers="came"), before, after)[0][:63]
    "'came' is never after 'left' in the original, and in 15 records"
    """
    hidden = [name for part in plan.quasi_identifiers for name in part if original.kind(name) is Kind.DATE]
    kept = [
        name
        for name in released.names
        if name not in hidden and name in original.names and original.kind(name) is Kind.DATE
    ]
    kept = [name for name in kept if not any(name in part for part in plan.quasi_identifiers)]
    notes = []
    for mine, other in islice(product(hidden, kept), _PAIRS):
        if original.frame[mine].dtype != original.frame[other].dtype:
            continue
        for first, second in ((mine, other), (other, mine)):
            if _never_after(original, first, second) == 0 and (broken := _never_after(released, first, second)):
                names = f"'{printable(first)}'", f"'{printable(second)}'"
                notes.append(
                    f"{names[0]} is never after {names[1]} in the original, and in {counted(broken, 'record')} of the "
                    f"release; protect '{printable(other)}' too, as means of both keep their order, or give an edit "
                    "rule (rules, or --rules), which suppresses what would break it"
                )
                break
    return notes


def _never_after(table: Table, first: str, second: str) -> int | None:
    """Count the records whose first date is after the second; None where too few have both to tell."""
    (one, there), (two, seen) = table.numbers(first), table.numbers(second)
    both = there & seen
    return int((one > two)[both].sum()) if both.sum() >= FEWEST else None
