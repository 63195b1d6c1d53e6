"""Regions: groups that are searched together, apart from those of other regions, so that all cores have work.

A block of many distinct records is cut at medians, along columns whose weights are drawn anew for each cycle: records
near a border of one cycle are inside a region of another. A group belongs to the region of its lowest record.

Cost: O(d m log m) for m distinct records. No group is cut, and regions depend on the groups and the seeds alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from shoal.columns.mixed import Mixed
from shoal.kernels.arrays import Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.given_away import Limits
from shoal.kernels.watch import new_watch
from shoal.partition.mondrian import mondrian
from shoal.partition.semantic_optimal.problem import Portions, Problem
from shoal.partition.semantic_optimal.state import Setting

_WHOLE = 80_000  # distinct records up to which a block is one region: borders cost more than cores gain
_SIZE = 30_000  # least distinct records of a region


@dataclass(frozen=True)
class Region:
    """Groups of a block that are searched together, with all that is known of their records.

    Attributes
    ----------
    number : int
        Which of the block it is.
    records : int64 (r,)
        Distinct records that are in it, at least a part of the equal ones.
    setting : Setting
        What does not change while they are searched.
    limits : Limits or None
        What groups must keep of confidential columns.
    portions : Portions
        Its groups, records and groups numbered from 0.
    neighbours : int64 (r, l)
        Records of the region near each.
    """

    number: int
    records: Ints
    setting: Setting
    limits: Limits | None
    portions: Portions
    neighbours: Ints

    def __len__(self) -> int:
        return len(self.records)


def regions_of(problem: Problem, portions: Portions, neighbours: Ints, seeds: tuple[int, int]) -> list[Region]:
    """Return the regions of a block, that of few records as one."""
    if len(problem) <= _WHOLE:
        return [Region(0, np.arange(len(problem)), problem.setting, problem.limits, portions, neighbours)]
    labels = cut_records(problem.records, _SIZE, np.random.default_rng(seeds))
    record, group, amount = portions
    lowest = np.full(int(group.max()) + 1, len(labels), dtype=np.int64)
    np.minimum.at(lowest, group, record)
    region = labels[lowest][group]
    by_region = np.argsort(region, kind="stable")
    local = np.full(len(labels), -1, dtype=np.int64)
    found = []
    for number, own in enumerate(np.split(by_region, np.flatnonzero(np.diff(region[by_region])) + 1)):
        records, at = np.unique(record[own], return_inverse=True)
        setting, limits = problem.setting, problem.limits
        here = setting._replace(
            values=np.ascontiguousarray(setting.values[records]), weights=np.ascontiguousarray(setting.weights[records])
        )
        if limits is not None:
            limits = limits._replace(codes=np.ascontiguousarray(limits.codes[:, records]))
        groups = np.unique(group[own], return_inverse=True)[1].reshape(-1).astype(np.int64)
        local[records] = np.arange(len(records))
        near = _inside(neighbours, records, local)
        local[records] = -1
        found.append(Region(number, records, here, limits, (at.reshape(-1), groups, amount[own]), near))
    return found


def join_regions(portions: list[Portions]) -> Portions:
    """Return the portions of all regions of a block; groups are numbered from 0 in each."""
    record, group, amount = (np.concatenate(part) for part in zip(*portions, strict=True))
    made = np.cumsum([0, *(int(own[1].max()) + 1 for own in portions)])
    first = np.repeat(made[:-1], [len(own[0]) for own in portions])
    return record, group + first, amount


def cut_records(records: Mixed, size: int, rng: np.random.Generator | None = None) -> Ints:
    """Return the part (m,) of each distinct record, of at least so many, cut at medians; drawn weights move borders."""
    m, metric = len(records.counts), records.metric
    if rng is not None:
        metric = metric._replace(weights=metric.weights * np.exp(0.7 * rng.uniform(-1.0, 1.0, len(metric.weights))))
    alone = replace(records, counts=np.ones(m, dtype=np.int64), record=np.arange(m), metric=metric, threads=1)
    return mondrian(alone, size, new_watch())


@kernel
def _inside(neighbours: Ints, records: Ints, local: Ints) -> Ints:
    """Neighbours (r, l) of some records in their own numbers (m,), -1 for those elsewhere; the nearest are repeated."""
    near = neighbours.shape[1]
    found = np.empty((len(records), near), np.int64)
    for i in range(len(records)):
        count = 0
        for t in range(near):
            if local[neighbours[records[i], t]] >= 0:
                found[i, count] = local[neighbours[records[i], t]]
                count += 1
        for t in range(count, near):
            found[i, t] = found[i, t - count] if count > 0 else i
    return found
