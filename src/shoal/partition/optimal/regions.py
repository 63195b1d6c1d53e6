"""Regions: neighbouring groups that are searched together, small enough for the fast memory of a core.

Regions are cut anew in every cycle, at random places, so that no group stays at a face for long.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.representatives import group_rows
from shoal.partition.optimal.expected_work import SLACKS
from shoal.partition.optimal.improve import LONG, improve, neighbours_of, renumbered
from shoal.partition.optimal.problem import Problem, problem_of_rows

_LARGEST = 6000  # records of a table that is searched as a whole
_USUAL = 2000  # records of a region of a larger one
_SETTLED = 0.2  # their first temperature, times the mean error of a record, in a short cycle
_SHORT, _FEWER = 30, 12  # proposals up to which, and in these, a record has so few neighbours: they are found anew


def searched_whole(records: int) -> bool:
    """Whether a table is small enough to be searched as a whole, with every part of the method."""
    return records <= _LARGEST


def cut_regions(values: Floats, groups: Ints, blocks: Ints, rng: np.random.Generator) -> list[Ints]:
    """Return the rows of each region: whole groups of one block, as near to each other as the cuts leave them."""
    order, starts = group_rows(groups)
    sizes = np.diff(starts)
    centroids = np.add.reduceat(values[order], starts[:-1], axis=0) / sizes[:, None]
    block_of_group = blocks[order[starts[:-1]]]
    most = _LARGEST if searched_whole(len(values)) else _USUAL
    regions = []
    for block in np.unique(block_of_group):
        waiting = [np.flatnonzero(block_of_group == block)]
        while waiting:
            part = waiting.pop()
            records = int(sizes[part].sum())
            if records <= most or len(part) == 1:
                regions.append(np.sort(np.concatenate([order[starts[g] : starts[g + 1]] for g in part])))
                continue
            # a random direction among those in which the part is spread out, cut near the middle
            spread = centroids[part].std(axis=0)
            along = centroids[part] @ (spread * rng.normal(size=values.shape[1]))
            by_place = part[np.argsort(along, kind="stable")]
            cut = int(np.clip(rng.uniform(0.4, 0.6) * len(part), 1, len(part) - 1))
            waiting += [by_place[:cut], by_place[cut:]]
    return regions


def improve_region(
    problem: Problem,
    groups: Ints,
    rows: Ints,
    *,
    passes: int,
    seeds: tuple[int, ...],
    watch: Ints,
    saved: Floats | None,
) -> Ints:
    """Anneal one region; a long cycle forgets the groups as they are. ``saved`` (1,) is what it saved."""
    heat = 1.0 if passes < LONG else None
    part, near = problem_of_rows(problem, rows), None
    if part.limits is not None:
        near = neighbours_of(part, _FEWER, SLACKS[1])
        heat = _SETTLED if heat else None
    elif passes <= _SHORT:
        near = neighbours_of(part, max(_FEWER, part.k), SLACKS[1])
    labels = improve(part, groups[rows], near, passes=passes, heat=heat, seeds=seeds, watch=watch)
    if saved is not None:
        saved[0] = max(0.0, part.cost(renumbered(groups[rows])) - part.cost(labels))
    return labels
