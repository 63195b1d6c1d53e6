"""Relaxed Mondrian: the records are cut in halves along the column with the widest range, equal values or not.

Source: K. LeFevre, D. DeWitt and R. Ramakrishnan, Mondrian multidimensional k-anonymity, ICDE 2006. A part whose
records are all equal is not cut any further: the release would be the same.

Missing values come after all others. Cost: O(d m log m) for each level of cuts, for m distinct records; a cut through
equal records divides one of them. Every group has at least k records: halves of 2k or more have.
"""

from __future__ import annotations

import numpy as np

from shoal.columns.mixed import Mixed
from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.watch import DONE, STOP
from shoal.partition.mondrian import widths


def mondrian_relaxed(records: Mixed, k: int, watch: Ints) -> Ints:
    """Partition records by relaxed Mondrian."""
    order = np.where(np.isnan(records.order), np.inf, records.order)
    return records.hand_out(*_halve(order, records.counts, records.metric.weights, k, watch))


@kernel
def _halve(order: Floats, counts: Ints, weights: Floats, k: int, watch: Ints) -> tuple[Ints, Ints, Ints]:
    """Portions of the distinct records: which record, to which group, how many.

    ``order`` (m, d) is what columns are sorted by, infinite where missing.
    """
    m = len(order)
    spans = widths(order, np.arange(m), np.full(order.shape[1], -1.0))
    parts, amounts = [np.arange(m)], [counts.copy()]
    record, group, amount = np.empty(m, np.int64), np.empty(m, np.int64), np.empty(m, np.int64)
    used, made = 0, 0
    while len(parts) > 0:
        part, sizes = parts.pop(), amounts.pop()
        total = sizes.sum()
        if total >= 2 * k and len(part) > 1 and watch[STOP] == 0:
            widest = np.argmax(weights * widths(order, part, spans))
            by_key = np.argsort(order[part, widest], kind="mergesort")
            part, sizes = part[by_key], sizes[by_key]
            half = total // 2
            at, reached = 0, 0
            while reached < half:
                reached += sizes[at]
                at += 1
            left = sizes[:at].copy()
            left[at - 1] -= reached - half
            first = at - 1 if reached > half else at  # the record that the cut goes through is on both sides
            right = sizes[first:].copy()
            if reached > half:
                right[0] = reached - half
            parts.append(part[first:].copy())
            amounts.append(right)
            parts.append(part[:at].copy())
            amounts.append(left)
            continue
        while used + len(part) > len(record):
            record, group, amount = _longer(record), _longer(group), _longer(amount)
        record[used : used + len(part)] = part
        group[used : used + len(part)] = made
        amount[used : used + len(part)] = sizes
        used += len(part)
        made += 1
        watch[DONE] += total
    return record[:used], group[:used], amount[:used]


@kernel
def _longer(values: Ints) -> Ints:
    """A copy with room for as much again."""
    grown = np.empty(2 * len(values), np.int64)
    grown[: len(values)] = values
    return grown
