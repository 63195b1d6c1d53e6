"""Kept columns that are copies of a quasi-identifier: refused, unless the plan accepts them with a reason.

A copy undoes the work: whoever reads it has the original beside the released value. Candidates are found in a sample of
records drawn at random, and compared in all of them, so that a column that differs anywhere is no copy. Columns of
which too few records have another than the most common value are left out: they could be equal by chance.

Cost: O(n) for each pair of columns that are equal in the sample.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from shoal.errors import counted, printable
from shoal.kernels.arrays import Flags
from shoal.measures.determination import FEWEST, OTHERS
from shoal.plan.plan import Plan
from shoal.plan.roles import MEASURABLE, Kind
from shoal.tables.table import Table, open_table

_SAMPLE = 200  # records in which columns must be equal to be compared in all


def copies_kept(plan: Plan, table: Table) -> dict[str, str]:
    """Return the kept columns that are copies of a quasi-identifier, and of which.

    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [20 + i % 30 for i in range(60)]}).with_columns(years=pl.col("age") + 0.0)
    >>> copies_kept(Plan(k=3, quasi_identifiers="age"), open_table(people))
    {'years': 'age'}
    """
    hidden = [name for part in plan.quasi_identifiers for name in part]
    kept = [name for name in table.names if name not in {*hidden, *plan.replaced}]
    kept = [name for name in kept if table.kind(name) is not Kind.OTHER]
    if not kept or len(table) < FEWEST:
        return {}
    rows = np.random.default_rng(0).permutation(len(table))[:_SAMPLE]
    sample = open_table(table.frame[rows.tolist()].to_native())
    found: dict[str, str] = {}
    for name in kept:
        for other in hidden:
            alike = (table.kind(name) in MEASURABLE) == (table.kind(other) in MEASURABLE)
            same = alike and _equal(sample, name, other) and _equal(table, name, other)
            if same and name not in found and _says_something(table, other):
                found[name] = other
    return found


def copy_mistakes(plan: Plan, copies: Mapping[str, str], records: int) -> list[str]:
    """Say which copies stand in the way, and which columns are accepted that do not."""
    mistakes = [
        f"column '{printable(name)}' is kept and is the quasi-identifier '{printable(other)}' itself, in all "
        f"{counted(records, 'record')}: whoever reads it has the original; remove it (identifiers, or --drop), make it "
        "a quasi-identifier too, or say why it may stay (accept, or --accept COLUMN=REASON)"
        for name, other in copies.items()
        if name not in plan.accept
    ]
    mistakes += [
        f"accept: column '{printable(name)}' is no copy of a quasi-identifier that is kept, so this has no effect; "
        "leave it out"
        for name in plan.accept
        if name not in copies
    ]
    return mistakes


def copy_notes(plan: Plan, copies: Mapping[str, str]) -> list[str]:
    """Say which copies were accepted, and why."""
    return [
        f"'{printable(name)}' is kept although it is '{printable(other)}' itself: {printable(plan.accept[name])}"
        for name, other in copies.items()
        if name in plan.accept
    ]


def _equal(table: Table, name: str, other: str) -> bool:
    """Whether two columns have the same values wherever they have any, and have them in the same records."""
    if table.kind(name) in MEASURABLE:
        (one, there), (two, seen) = table.numbers(name), table.numbers(other)
        return np.array_equal(there, seen) and np.array_equal(one[there], two[there])
    (cells, there), (others, seen) = table.cells(name), table.cells(other)
    return np.array_equal(there, seen) and _same(cells, others, there)


def _same(cells: list[object], others: list[object], there: Flags) -> bool:
    return all(a == b for a, b, seen in zip(cells, others, there.tolist(), strict=True) if seen)


def _says_something(table: Table, name: str) -> bool:
    """Whether enough records have another value than the most common one."""
    factor = table.factor(name)
    counts = np.bincount(factor.codes[factor.observed]) if factor.observed.any() else np.zeros(1, dtype=np.int64)
    return int(counts.sum()) >= FEWEST and int(counts.sum() - counts.max()) >= OTHERS
