"""Groups to start from: those of the method that loses least, of all that keep up with the number of records.

The methods run side by side on threads. Very many distinct records are cut into parts, and the best is taken of each:
what SA-MDAV takes grows faster than their number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from shoal.columns.mixed import Mixed
from shoal.kernels.arrays import Ints
from shoal.kernels.threads import run_watched, threads_of_each
from shoal.kernels.watch import STOP
from shoal.partition.mondrian import mondrian, mondrian_ordered, sa_mondrian
from shoal.partition.semantic_mdav import sa_mdav
from shoal.partition.semantic_optimal.problem import Portions
from shoal.partition.semantic_optimal.regions import cut_records, join_regions
from shoal.partition.semantic_optimal.state import Setting, cost_of_portions

_MANY = 10_000  # distinct records above which dissolving groups of SA-MDAV takes longer than it gains
_PART = 60_000  # least distinct records of a part
_Method = Callable[[Mixed, int, Ints], Ints]


def best_start(records: Mixed, k: int, setting: Setting, threads: int, watch: Ints) -> Portions:
    """Return the portions of the best of several methods; equal records are together.

    Where the ``watch`` is told to stop, what they leave is no partition: all records are in one group.
    """
    if len(records.counts) < 2 * _PART:
        return _best(records, k, setting, threads, watch)
    part = cut_records(records, _PART)
    by_part = np.argsort(part, kind="stable")
    parts = np.split(by_part, np.flatnonzero(np.diff(part[by_part])) + 1)
    each = threads_of_each(len(parts), threads)
    tasks = [partial(_best_of_part, records, own, k, setting, each, watch) for own in parts]
    found = run_watched(tasks, [watch], threads)
    assert found is not None
    return join_regions(found)


def _best_of_part(records: Mixed, own: Ints, k: int, setting: Setting, threads: int, watch: Ints) -> Portions:
    """Return the portions of some distinct records."""
    counts = records.counts[own]
    part = replace(
        records,
        values=np.ascontiguousarray(records.values[own]),
        counts=counts,
        order=records.order[own],
        mixed_order=records.mixed_order[own],
        record=np.repeat(np.arange(len(own)), counts),
    )
    here = setting._replace(values=part.values, weights=np.ascontiguousarray(setting.weights[own]))
    record, group, amount = _best(part, k, here, threads, watch)
    return own[record], group, amount


def _best(records: Mixed, k: int, setting: Setting, threads: int, watch: Ints) -> Portions:
    """Return the portions of the method that loses least, Mondrian's of those that lose the same."""
    few = len(records.counts) <= _MANY
    methods = (partial(sa_mdav, dissolve=few), mondrian, mondrian_ordered, sa_mondrian)  # the slowest first
    tasks = [partial(_costed, method, records, k, setting, watch) for method in methods]
    found = run_watched(tasks, [watch], threads)
    assert found is not None
    if watch[STOP] != 0:
        return portions_of(records, np.zeros(len(records), dtype=np.int64))
    return min(reversed(found), key=lambda costed: costed[0])[1]


def _costed(method: _Method, records: Mixed, k: int, setting: Setting, watch: Ints) -> tuple[float, Portions]:
    """Return what the groups of a method cost, and their portions."""
    groups = method(records, k, watch)
    if watch[STOP] != 0:
        return np.inf, portions_of(records, np.zeros(len(records), dtype=np.int64))
    portions = portions_of(records, groups)
    return float(cost_of_portions(setting, *portions, int(portions[1].max()) + 1).sum()), portions


def portions_of(records: Mixed, groups: Ints) -> Portions:
    """Return the portions of a partition of the rows."""
    keys, amount = np.unique(groups * len(records.counts) + records.record, return_counts=True)
    return keys % len(records.counts), keys // len(records.counts), amount.astype(np.int64)
