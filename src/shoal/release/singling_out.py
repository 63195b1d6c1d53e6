"""Kept columns that tell the records of a group apart: the smallest sets of them that do.

Whoever knows the quasi-identifiers of somebody finds her group; whoever also knows a value that is kept may find her
record in it. A set of kept columns singles records out where at least half of the records are alone in their group with
their values of it. Sets of one column are looked at first, then of two and three that have no such set inside.

Records are alone or not inside their group, so that whole groups are drawn at random where there are many records, and
the share is that of the table up to a margin: 1.96 standard errors of a mean over groups.

Cost: O(s log s) for each set, in s records; at most some hundred sets.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, islice

import numpy as np

from shoal.errors import printable
from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.numbering import number_keys
from shoal.measures.determination import FEWEST
from shoal.plan.plan import Plan
from shoal.release.giving_back import kept_and_hidden
from shoal.release.kept_finding import KeptFinding
from shoal.tables.table import Table, open_table

SHARE = 0.5  # part of the records that must be alone
_RECORDS = 20_000  # that are looked at, at least, where there are so many
_SETS = 100  # of each size that are looked at
_LARGEST = 3  # columns of a set


def singling_out(plan: Plan, table: Table, groups: Ints) -> list[KeptFinding]:
    """Return the smallest sets of kept columns that single out half of the records inside their ``groups`` (n,).

    >>> import polars as pl
    >>> day, half = [i % 20 for i in range(40)], [i // 20 for i in range(40)]
    >>> table = open_table(pl.DataFrame({"age": [30] * 40, "day": day, "half": half}))
    >>> found = singling_out(Plan(k=3, quasi_identifiers="age"), table, np.zeros(40, dtype=np.int64))
    >>> [(one.columns, one.records, one.looked_at) for one in found]
    [(['day', 'half'], 40, 40)]
    """
    kept, hidden = kept_and_hidden(plan, table)
    if not kept or len(table) < FEWEST:
        return []
    rows, margins = _some(groups)
    part = table if len(rows) == len(table) else open_table(table.frame[rows.tolist()].to_native())
    own = number_keys(groups[rows])[0]
    codes = {name: _codes(part, name) for name in kept}
    found: list[KeptFinding] = []
    done: list[set[str]] = []
    for size in range(1, _LARGEST + 1):
        fresh = (one for one in combinations(kept, size) if not any(inside <= set(one) for inside in done))
        for names in islice(fresh, _SETS):
            alone = _alone(own, [codes[name] for name in names])
            if alone.mean() >= SHARE:
                margin = _margin(own, alone) if margins else 0.0
                count = int(alone.sum())
                found.append(KeptFinding("singles out", list(names), hidden, count, len(rows), margin=margin))
                done.append(set(names))
    return found


def singling_notes(found: Sequence[KeptFinding]) -> list[str]:
    """Say which sets of more than one column single records out; what one column does alone is told elsewhere."""
    several = [one for one in found if len(one.columns) > 1]
    if not several:
        return []
    listed = "; ".join(
        " with ".join(f"'{printable(name)}'" for name in one.columns)
        + f" {100.0 * one.records / one.looked_at:.0f} %"
        + (f" (± {one.margin:.1f})" if one.margin else "")
        for one in several[:5]
    )
    more = f" and {len(several) - 5} more" if len(several) > 5 else ""
    return [
        "whoever knows the group of a record and kept columns finds the record among those of its group: "
        f"{listed}{more}; round one of them, or make it a quasi-identifier"
    ]


def _some(groups: Ints) -> tuple[Ints, bool]:
    """Return the rows of all groups, or of groups drawn at random where there are many records."""
    if len(groups) <= _RECORDS:
        return np.arange(len(groups)), False
    count = int(groups.max()) + 1
    drawn = np.random.default_rng(0).permutation(count)
    sizes = np.cumsum(np.bincount(groups, minlength=count)[drawn])
    chosen = np.zeros(count, dtype=bool)
    chosen[drawn[: int(np.searchsorted(sizes, _RECORDS)) + 1]] = True
    rows = np.flatnonzero(chosen[groups])
    return rows, len(rows) < len(groups)


def _codes(table: Table, name: str) -> Ints:
    factor = table.factor(name)
    found: Ints = np.where(factor.observed, factor.codes, -1) + 1
    return found


def _alone(groups: Ints, columns: Sequence[Ints]) -> Floats:
    """Return 1 for each record whose values of some columns no other of its group has, and 0 for others."""
    keys = groups
    for codes in columns:
        keys = number_keys(keys * (int(codes.max()) + 1) + codes)[0]
    found: Floats = (np.bincount(keys)[keys] == 1).astype(np.float64)
    return found


def _margin(groups: Ints, alone: Floats) -> float:
    """Return 1.96 standard errors of the share of records, over groups that were drawn, in percent."""
    sizes, inside = np.bincount(groups), np.bincount(groups, alone)
    off = inside - alone.mean() * sizes
    return float(196.0 * np.sqrt((off**2).sum()) / len(groups))
