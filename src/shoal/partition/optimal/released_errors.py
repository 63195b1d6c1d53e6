"""What groups cost after a change, where that does not follow by a formula from the record that comes or goes."""

from __future__ import annotations

from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.partition.optimal.objective import Objective, group_error


@kernel
def without(members: Ints, counts: Ints, place: Ints, row: int, g: int, rows: Ints) -> int:
    """Fill ``rows`` with the members of a group but one; returns how many."""
    m = 0
    for t in range(counts[g]):
        if t != place[row]:
            rows[m] = members[g, t]
            m += 1
    return m


@kernel
def joined_with(members: Ints, counts: Ints, row: int, g: int, rows: Ints) -> int:
    """Fill ``rows`` with the members of a group and one more record; returns how many."""
    for t in range(counts[g]):
        rows[t] = members[g, t]
    rows[counts[g]] = row
    return int(counts[g]) + 1


@kernel
def redone(
    values: Floats, objective: Objective, members: Ints, counts: Ints, errors: Floats, homes: Ints, count: int, k: int
) -> float:
    """By how much the errors of the first ``count`` homes have changed, each home once."""
    change = 0.0
    for t in range(count):
        if not (homes[:t] == homes[t]).any():
            h = homes[t]
            change += group_error(values, objective, members[h, : counts[h]], k) - errors[h]
    return change


@kernel
def redo(
    values: Floats, objective: Objective, members: Ints, counts: Ints, errors: Floats, homes: Ints, count: int, k: int
) -> None:
    """Bring the errors of the homes up to date."""
    for t in range(count):
        h = homes[t]
        errors[h] = group_error(values, objective, members[h, : counts[h]], k)
