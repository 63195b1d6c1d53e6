"""Improve groups by annealing: the temperatures that suit them, and the neighbours of their records."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.draws import open_stream
from shoal.kernels.pool import Pool, nearly_nearest, open_pool
from shoal.kernels.representatives import group_rows
from shoal.partition.optimal.annealing import anneal
from shoal.partition.optimal.objective import errors_of_groups
from shoal.partition.optimal.problem import Problem

LONG = 300  # proposals a record from which a cycle starts far above the temperature at which groups form
_NEIGHBOURS = 30
EXACT = 1.0  # the slack of neighbours that are the nearest
_FAR_ABOVE = 10.0  # times the mean error of a record: there are no groups at this temperature
_COLD = 0.01  # times the error of a record

Integers = NDArray[np.int64] | NDArray[np.int32]
Neighbours = tuple[Ints, Floats]  # rows near each row, and the squared distance to the k-th of them


def renumbered(groups: Ints) -> Ints:
    """Return the same groups, numbered from 0 without gaps.

    >>> renumbered(np.array([7, 3, 7]))
    array([1, 0, 1])
    """
    return np.unique(groups, return_inverse=True)[1].astype(np.int64)


def improve(
    part: Problem,
    groups: Ints,
    neighbours: Neighbours | None,
    *,
    passes: int,
    heat: float | None,
    seeds: tuple[int, ...],
    watch: Ints,
) -> Ints:
    """Anneal the groups of one block with some proposals for each record.

    ``heat`` is the first temperature, times the mean error of a record; None is far above that at which groups form,
    so that nothing of these groups is left.
    """
    labels = renumbered(groups)
    order, starts = group_rows(labels)
    errors = errors_of_groups(part.values, part.objective, order, starts, part.k)
    if len(errors) < 2 or errors.sum() == 0.0:
        return labels
    mean = errors.sum() / len(part)
    usual = float(np.median(errors / np.diff(starts)))
    cold = _COLD * min(mean, usual) if usual > 0.0 else 1e-4 * mean
    hot = max(_FAR_ABOVE * mean, float(errors.max()) / 3.0) if heat is None else heat * mean
    anneal(
        part.values,
        part.objective,
        part.limits,
        labels,
        *(neighbours or neighbours_of(part)),
        part.k,
        passes * len(part),
        max(hot, 1.5 * cold),
        cold,
        open_stream(int(np.random.SeedSequence(seeds).generate_state(1, np.uint64)[0])),
        watch,
    )
    return renumbered(labels)


def neighbours_of(part: Problem, count: int = _NEIGHBOURS, slack: float = EXACT) -> Neighbours:
    """Return the rows nearest to each row, or nearly so, and the squared distance to the k-th of them."""
    neighbours = np.empty((len(part), min(count, len(part) - 1)), dtype=np.int64)
    scales = np.empty(len(part))
    rank = min(part.k, neighbours.shape[1])
    find_neighbours(open_pool(part.points), 0, len(part), neighbours, scales, rank, slack)
    return neighbours, scales


@kernel
def find_neighbours(
    pool: Pool, start: int, stop: int, neighbours: Integers, scales: Floats, rank: int, slack: float
) -> None:
    """Fill ``neighbours`` (n, m) with the rows nearest to each row, without itself, and ``scales`` (n,).

    Rows from start to stop; ``scales`` are squared distances to the neighbour of a rank. See
    :func:`~shoal.kernels.pool.nearly_nearest` for ``slack``.
    """
    width = neighbours.shape[1]
    rows, distances = np.empty(width + 1, np.int64), np.empty(width + 1)
    for row in range(start, stop):
        nearly_nearest(pool, row, width + 1, np.float32(slack), rows, distances)
        filled = 0
        scales[row] = distances[rank]
        for near in rows:
            if near != row and filled < width:
                neighbours[row, filled] = near
                filled += 1
