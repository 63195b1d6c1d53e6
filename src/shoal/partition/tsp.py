"""TSP-HM: a short tour through all records, cut optimally.

A tour that visits every record and is short as a whole has no long jumps at its end, as nearest point next does. It
starts as the nearest-point-next path, closed, and is shortened by two kinds of moves until neither helps: 2-opt turns
a part of the tour round, Or-opt moves a run of up to three records elsewhere, turned round or not. A record is only
brought next to one of its nearest ten, and a record is looked at again only when one of its tour neighbours has
changed. Then the closed tour is cut into runs of k to 2k - 1 with the least sum of squares (Hansen and Mukherjee): one
of any 2k - 1 steps in a row is a cut, so the best cut of the tour opened at each of them is the best of all.

Source: B. Heaton and S. Mukherjee, Record ordering heuristics for disclosure control through microaggregation, 2011.

Cost: O(n) searches for neighbours, O(d n^2) when every search looks at every record; the moves take little more than
O(n) in practice, turning the shorter part round; the cuts O(k^2 d n).

Every run of the cut has k to 2k - 1 records: see :mod:`shoal.partition.univariate`.
"""

from __future__ import annotations

import numpy as np

from shoal.columns.scaling import Records
from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.neighbours import nearest_of_all
from shoal.kernels.watch import STOP
from shoal.partition.paths import nearest_point_next
from shoal.partition.univariate import cut_along

_NEAR = 10  # neighbours that a record may be brought next to
_RUN = 3  # longest run that Or-opt moves
_WORTH = 1e-12  # part of the lengths in question that a move must save, so that rounding makes no endless loop


def tsp_hm(records: Records, k: int, watch: Ints) -> Ints:
    """Cut a short tour through all records."""
    tour = short_tour(records, watch)
    best, least = np.zeros(len(records), dtype=np.int64), np.inf
    if watch[STOP] != 0 or len(records) < 2 * k:
        return best
    for turn in range(2 * k - 1):
        labels, squares = cut_along(records, np.roll(tour, -turn), k)
        if squares < least:
            best, least = labels, squares
    return best


def short_tour(records: Records, watch: Ints) -> Ints:
    """Return all rows in the order of a short closed tour."""
    n = len(records)
    tour = nearest_point_next(records, watch)
    if n < 5 or watch[STOP] != 0:
        return tour
    near = nearest_of_all(records.values, _NEAR + 1, records.threads)
    place = np.empty(n, dtype=np.int64)
    place[tour] = np.arange(n)
    _shorten(records.values, near, tour, place, watch)
    return tour


@kernel
def _length(values: Floats, a: int, b: int) -> float:
    """Distance of two records."""
    total = 0.0
    for j in range(values.shape[1]):
        t = values[a, j] - values[b, j]
        total += t * t
    return np.sqrt(total)


@kernel
def _shorten(values: Floats, near: Ints, tour: Ints, place: Ints, watch: Ints) -> None:
    """Improve a tour (n,) until no move helps; ``place`` (n,) is where each row is in it."""
    n = tour.shape[0]
    queue, waiting = tour.copy(), np.ones(n, np.bool_)
    head, length = 0, n
    touched = np.empty(6, np.int64)
    while length > 0 and watch[STOP] == 0:
        row = queue[head]
        head, length = (head + 1) % n, length - 1
        waiting[row] = False
        moved = _try_two_opt(values, near, tour, place, row, touched)
        if moved == 0:
            moved = _try_or_opt(values, near, tour, place, row, touched)
        for t in range(moved):
            if not waiting[touched[t]]:
                waiting[touched[t]] = True
                queue[(head + length) % n] = touched[t]
                length += 1


@kernel
def _try_two_opt(values: Floats, near: Ints, tour: Ints, place: Ints, a: int, touched: Ints) -> int:
    """Make the first 2-opt move that brings ``a`` next to a near record; returns how many rows were ``touched``.

    Looking forwards, (a, b) and (c, e) become (a, c) and (b, e) by turning b to c round, and likewise backwards.
    """
    n = tour.shape[0]
    for step in (1, -1):
        b = tour[(place[a] + step) % n]
        ab = _length(values, a, b)
        for c in near[a]:
            ac = _length(values, a, c)
            if ac >= ab:
                break
            e = tour[(place[c] + step) % n]
            if a in (c, e) or c == b:
                continue
            old, new = ab + _length(values, c, e), ac + _length(values, b, e)
            if old - new > _WORTH * old:
                if step == 1:
                    _turn_round(tour, place, place[b], place[c])
                else:
                    _turn_round(tour, place, place[c], place[b])
                touched[0], touched[1], touched[2], touched[3] = a, b, c, e
                return 4
    return 0


@kernel
def _try_or_opt(values: Floats, near: Ints, tour: Ints, place: Ints, a: int, touched: Ints) -> int:
    """Make the first move that brings a run with ``a`` at its end next to a near record; returns as for 2-opt.

    The run a .. z lies between p and q; it goes between c and its neighbour e on either side, a next to c.
    """
    n = tour.shape[0]
    for step in (1, -1):
        for count in range(1, min(_RUN, n - 3) + 1):
            z = tour[(place[a] + step * (count - 1)) % n]
            p, q = tour[(place[a] - step) % n], tour[(place[z] + step) % n]
            freed = _length(values, p, a) + _length(values, z, q)
            saved = freed - _length(values, p, q)
            for c in near[a]:
                ac = _length(values, a, c)
                if ac >= saved:
                    break
                if (step * (place[c] - place[a])) % n < count:
                    continue
                for side in (step, -step):
                    e = tour[(place[c] + side) % n]
                    if (step * (place[e] - place[a])) % n < count:
                        continue
                    grown = ac + _length(values, z, e) - _length(values, c, e)
                    if saved - grown > _WORTH * freed:
                        _move_run(tour, place, a, c, count, step, side)
                        touched[0], touched[1], touched[2], touched[3], touched[4], touched[5] = p, q, a, z, c, e
                        return 6
    return 0


@kernel
def _move_run(tour: Ints, place: Ints, a: int, c: int, count: int, step: int, side: int) -> None:
    """Move the run of ``count`` rows from a on, in the direction of ``step``, next to c on its ``side``.

    What lies between the two places moves up, on the shorter of the two ways round.
    """
    n = tour.shape[0]
    run = np.empty(count, np.int64)
    for t in range(count):
        run[t] = tour[(place[a] + step * t) % n]
    first = place[a] if step == 1 else place[run[count - 1]]
    ahead = (place[c] - first - count) % n + (1 if side == 1 else 0)
    behind = n - count - ahead
    if ahead <= behind:
        for t in range(ahead):
            _put(tour, place, tour[(first + count + t) % n], first + t)
        first += ahead
    else:
        for t in range(behind):
            _put(tour, place, tour[(first - 1 - t) % n], first + count - 1 - t)
        first -= behind
    for t in range(count):
        _put(tour, place, run[t], first + t if side == 1 else first + count - 1 - t)


@kernel
def _turn_round(tour: Ints, place: Ints, first: int, last: int) -> None:
    """Turn a part of the tour round, or the other part, whichever is shorter."""
    n = tour.shape[0]
    count = (last - first) % n + 1
    if 2 * count > n:
        first, last, count = last + 1, first - 1, n - count
    for t in range(count // 2):
        a, b = tour[(first + t) % n], tour[(last - t) % n]
        _put(tour, place, a, last - t)
        _put(tour, place, b, first + t)


@kernel
def _put(tour: Ints, place: Ints, row: int, at: int) -> None:
    n = tour.shape[0]
    tour[at % n], place[row] = row, at % n
