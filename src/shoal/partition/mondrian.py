"""Mondrian: the records are cut in two along one column, again and again, while both parts keep k.

Sources: K. LeFevre, D. DeWitt and R. Ramakrishnan, Mondrian multidimensional k-anonymity, ICDE 2006 (``mondrian``,
``mondrian-relaxed``); MOSAICrOWN, deliverable D5.5, 2021 (``mondrian-mixed``); A. Veltmann, Implementation and evaluation
of microaggregation algorithms for categorical data, UPC Barcelona, 2022 (``mondrian-strict``, ``mondrian-ordered``,
``sa-mondrian``).

What differs is which column is tried first and where it is cut:

- ``mondrian``, ``mondrian-mixed``: the column with the widest range, at its median; equal values stay together.
- ``mondrian-relaxed``: the same, but exactly half of the records go each way, equal values or not.
- ``mondrian-ordered``: the column with the largest mean distance from its centroid, before the centroid, or else after
  it. Categories are in the post-order of their hierarchy.
- ``mondrian-strict``: the same with categories in an arbitrary order, drawn with the seed: a control.
- ``sa-mondrian``: the same columns, cut between the two neighbouring values that are farthest apart.

A column that cannot be cut there is passed over for the next. With ``persist`` the other places of a column are tried as
well, those nearest to the median, nearest to the centroid or with the widest gap first, so that a part remains whole
only where no cut of any column leaves k on both sides.

Missing values come after all others. Cost: O(d m log m) for each level of cuts, for m distinct records. Every group has at
least k records: a cut is made only where both parts have.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.mixed import NUMBER, add_sums, cell_distance, centre_of, sums_start
from shoal.mixed import Mixed
from shoal.partition.method import DONE, STOP

_MEDIAN, _HALF, _CENTROID, _GAP = range(4)


def mondrian(records: Mixed, k: int, watch: Ints, persist: bool = True) -> Ints:
    """Partition records by strict Mondrian, at medians."""
    return _partition(records, k, watch, _MEDIAN, persist)


def mondrian_relaxed(records: Mixed, k: int, watch: Ints) -> Ints:
    """Partition records by relaxed Mondrian: halves of equal size."""
    return _partition(records, k, watch, _HALF, False)


def mondrian_ordered(records: Mixed, k: int, watch: Ints, persist: bool = True) -> Ints:
    """Partition records by Mondrian with cuts at centroids."""
    return _partition(records, k, watch, _CENTROID, persist)


def mondrian_strict(records: Mixed, k: int, watch: Ints, seed: int = 0, persist: bool = True) -> Ints:
    """Partition records as ``mondrian_ordered`` does, with the categories in an arbitrary order."""
    rng = np.random.default_rng(seed)
    order = records.order.copy()
    for j, kind in enumerate(records.kinds):
        seen = ~np.isnan(records.cells[:, j])
        if kind != NUMBER and seen.any():
            order[seen, j] = rng.permutation(records.width[j])[records.cells[seen, j].astype(np.int64)]
    return mondrian_ordered(replace(records, order=order), k, watch, persist)


def sa_mondrian(records: Mixed, k: int, watch: Ints, persist: bool = True) -> Ints:
    """Partition records by Mondrian with cuts at the widest gaps."""
    return _partition(records, k, watch, _GAP, persist)


def _partition(records: Mixed, k: int, watch: Ints, where: int, persist: bool) -> Ints:
    order = np.where(np.isnan(records.order), np.inf, records.order)
    return records.hand_out(
        *_cut(records.cells, order, records.counts, *records.columns, k, where, persist, watch)
    )


@kernel
def _cut(
    cells: Floats, order: Floats, counts: Ints, kinds: Ints, tables: Floats, offset: Ints, width: Ints, weights: Floats,
    k: int, where: int, persist: bool, watch: Ints,
) -> tuple[Ints, Ints, Ints]:
    """Portions of the distinct records: which record, to which group, how many.

    ``order`` (m, d) is what columns are sorted by, infinite where missing.
    """
    m, d = cells.shape
    start = sums_start(width)
    # a part is a run of items; a cut through equal records makes one item more
    record, amount = np.arange(m), counts.copy()
    spans = np.empty(d)
    for j in range(d):
        spans[j] = max(_range_of(order, record, j)[0], 1e-300)
    used = m
    lows, highs = [0], [m]
    group = np.empty(m, np.int64)
    made = 0
    sums, seen, centre = np.zeros(start[d]), np.zeros(d), np.empty(d)
    wide = np.empty(d)
    while len(lows) > 0:
        low, high = lows.pop(), highs.pop()
        part, sizes = record[low:high].copy(), amount[low:high].copy()
        total = sizes.sum()
        done = True
        if total >= 2 * k and high - low > 1 and watch[STOP] == 0:
            if where != _MEDIAN and where != _HALF:
                sums[:] = 0.0
                seen[:] = 0.0
                for a in range(len(part)):
                    add_sums(cells[part[a]], sizes[a], kinds, tables, offset, width, start, sums, seen)
                centre_of(kinds, width, start, sums, seen, centre)
            for j in range(d):
                if where == _MEDIAN or where == _HALF:
                    span, missing = _range_of(order, part, j)
                    wide[j] = weights[j] * (1.0 if missing else span / spans[j])
                else:
                    wide[j] = 0.0
                    for a in range(len(part)):
                        off = cell_distance(cells[part[a], j], centre[j], kinds[j], tables, offset[j], width[j])
                        wide[j] += weights[j] * off * sizes[a]
            for j in np.argsort(-wide, kind="mergesort"):
                keys = np.empty(len(part))
                for a in range(len(part)):
                    keys[a] = order[part[a], j]
                by_key = np.argsort(keys, kind="mergesort")
                if keys[by_key[0]] == keys[by_key[-1]]:
                    continue
                if where == _HALF:
                    done = False
                    half = total // 2
                    at, reached = 0, 0
                    while reached < half:
                        reached += sizes[by_key[at]]
                        at += 1
                    extra = reached - half
                    rebuilt = len(part) + (1 if extra > 0 else 0)
                    first = low
                    if extra > 0:  # a run with one item more does not fit in its place
                        first = used
                        while used + rebuilt > len(record):
                            record, amount, group = _longer(record), _longer(amount), _longer(group)
                        used += rebuilt
                    to = first
                    for b in range(at):
                        record[to], amount[to] = part[by_key[b]], sizes[by_key[b]]
                        to += 1
                    cut = to
                    if extra > 0:
                        amount[to - 1] -= extra
                        record[to], amount[to] = part[by_key[at - 1]], extra
                        to += 1
                    for b in range(at, len(part)):
                        record[to], amount[to] = part[by_key[b]], sizes[by_key[b]]
                        to += 1
                    lows.append(cut)
                    highs.append(to)
                    lows.append(first)
                    highs.append(cut)
                    for a in range(low, high):
                        if extra > 0:
                            amount[a] = 0
                    break
                at = _place(
                    cells[:, j], keys, by_key, part, sizes, total, k, where, persist, centre[j], kinds[j], tables,
                    offset[j], width[j],
                )
                if at > 0:
                    done = False
                    for b in range(len(part)):
                        record[low + b], amount[low + b] = part[by_key[b]], sizes[by_key[b]]
                    lows.append(low + at)
                    highs.append(high)
                    lows.append(low)
                    highs.append(low + at)
                    break
        if done:
            group[low:high] = made
            made += 1
            watch[DONE] += total
    kept = np.flatnonzero(amount[:used] > 0)
    return record[kept], group[kept], amount[kept]


@kernel
def _place(
    cells: Floats, keys: Floats, by_key: Ints, part: Ints, sizes: Ints, total: int, k: int, where: int, persist: bool,
    centre: float, kind: int, tables: Floats, offset: int, width: int,
) -> int:
    """How many items of a part in its order go to the left; 0 where no cut that may be tried leaves k on both sides."""
    m = len(part)
    below = np.empty(m + 1, np.int64)
    below[0] = 0
    for b in range(m):
        below[b + 1] = below[b] + sizes[by_key[b]]
    # merit of a cut before each item, higher first; minus infinity where equal values would be separated
    merit = np.full(m, -np.inf)
    best_value = -1
    if where == _CENTROID:
        least = np.inf
        for b in range(m):
            off = cell_distance(cells[part[by_key[b]]], centre, kind, tables, offset, width)
            if off < least:
                least, best_value = off, b
    for b in range(1, m):
        here, before = keys[by_key[b]], keys[by_key[b - 1]]
        if here == before:
            continue
        if where == _GAP:
            merit[b] = cell_distance(
                cells[part[by_key[b - 1]]], cells[part[by_key[b]]], kind, tables, offset, width
            )
        elif where == _MEDIAN:
            merit[b] = -abs(2.0 * below[b] - total)
        else:
            # before the centroid's first occurrence, then after its last, then ever farther from it
            value = keys[by_key[best_value]]
            steps = 0
            if here <= value:
                c = b
                while c < m and keys[by_key[c]] < value:
                    if keys[by_key[c]] != keys[by_key[c - 1]]:
                        steps += 1
                    c += 1
                merit[b] = -2.0 * steps
            else:
                c = b - 1
                while c > 0 and keys[by_key[c]] > value:
                    if keys[by_key[c]] != keys[by_key[c - 1]]:
                        steps += 1
                    c -= 1
                merit[b] = -2.0 * steps - 1.0
    if where == _MEDIAN and not persist:
        # values up to the median go left: the one cut that strict Mondrian looks at
        at = 0
        while 2 * below[at + 1] < total:
            at += 1
        middle = keys[by_key[at]]
        while at < m and keys[by_key[at]] == middle:
            at += 1
        return at if at < m and below[at] >= k and total - below[at] >= k else 0
    tries = m if persist else (2 if where == _CENTROID else 1)
    for b in np.argsort(-merit, kind="mergesort")[:tries]:
        if merit[b] == -np.inf:
            break
        if not persist and where == _CENTROID and merit[b] < -1.0:
            break
        if below[b] >= k and total - below[b] >= k:
            return int(b)
    return 0


@kernel
def _range_of(order: Floats, part: Ints, j: int) -> tuple[float, bool]:
    """Range of the observed values of a column in a part, and whether there are missing values beside them."""
    low, high, missing = np.inf, -np.inf, False
    for i in part:
        if order[i, j] == np.inf:
            missing = True
        else:
            low, high = min(low, order[i, j]), max(high, order[i, j])
    return (0.0, False) if low > high else (high - low, missing)


@kernel
def _longer(values: Ints) -> Ints:
    """A copy with room for as much again."""
    grown = np.zeros(2 * len(values), np.int64)
    grown[: len(values)] = values
    return grown
