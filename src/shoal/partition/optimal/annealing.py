"""Simulated annealing of groups: records move, change places, found a group or dissolve one.

A step proposes one change near a random record and takes it with the probability min(1, exp(-change / temperature)),
while the temperature falls geometrically; the last tenth of the steps takes improvements only. Four changes:

- a record of a group larger than k moves to the group of one of its neighbours, if that is not too large;
- a record changes places with another member of that group;
- a record and k - 1 of its neighbours whose groups can spare them found a group;
- a group of k or k + 1 is dissolved, each member to the best group of its neighbours.

Half of the moves and exchanges go the other way round, and bring a neighbour to a record: an outlier is nobody's near
neighbour, and nobody would come to it.

At a given temperature, records whose neighbours are much nearer than that are tossed about whatever is proposed. So
the steps go to the others: at first the outliers, in the end all. Data with heavy tails have outliers at many scales,
and the search orders one scale after the other.

Every change keeps groups between k and 2k - 1, or 3k - 1 where not means of complete records are released. On the CASC
sets this reaches in three seconds what pooling a few groups and partitioning them anew, step by step, reaches in
thirty: a step costs O(d), some 100 ns, instead of a whole pool.

Where groups must keep something of confidential columns, a change that breaks that is not made. Groups are founded with
as many records as they need at least, they may become larger, and half of the exchanges are with the record of the
other group whose first confidential value is nearest.

Source of the method: S. Kirkpatrick, C. D. Gelatt and M. P. Vecchi, Optimization by simulated annealing, Science 220,
1983.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.draws import Stream, uniform
from shoal.kernels.given_away import Limits, Room, meets, room_of
from shoal.kernels.watch import DONE, STOP
from shoal.partition.optimal.objective import Objective, group_error
from shoal.partition.optimal.released_errors import joined_with, redo, redone, without

_QUENCH = 0.1  # part of the steps at the end that takes improvements only
_MOVE, _SWAP, _FOUND = 0.6, 0.98, 0.99  # bounds of the shares of proposals; the rest dissolves
_LOOK = 4096  # steps between two looks at the watch
_RENEW = 128  # steps between two temperatures
_PULL = 0.5  # share of the moves and exchanges that bring a neighbour to a record
_ALIKE = 0.5  # share of exchanges that are with the record that is most alike, where groups must keep something
_MOLTEN = 30.0  # times its scale: the temperature above which a record is of no interest


@kernel
def anneal(  # noqa: PLR0915 - a search loop in one piece
    values: Floats,
    objective: Objective,
    limits: Limits | None,
    groups: Ints,
    neighbours: Ints,
    scales: Floats,
    k: int,
    steps: int,
    hot: float,
    cold: float,
    stream: Stream,
    watch: Ints,
) -> None:
    """Improve ``groups`` (n,) in place; they are numbered from 0 and have k records or more, one has to be left over.

    ``neighbours`` (n, m) are rows near each row, and ``scales`` (n,) squared distances to some of them. With ``limits``
    all groups meet these.
    """
    n, d = values.shape
    width = neighbours.shape[1]
    most = n // k
    # complete records never cost less together than in two groups; released values can
    largest = 2 * k - 1 if objective is None else 3 * k - 1
    born = k  # records of a group that is founded
    if limits is not None:
        born = max(k, limits.least)
        largest = max(3 * born - 1, np.bincount(groups).max() + k)
    members, counts, place = np.empty((most, largest + 1), np.int64), np.zeros(most, np.int64), np.empty(n, np.int64)
    sums, errors = np.zeros((most, d)), np.zeros(most)
    for row in range(n):
        enter(values, members, counts, place, sums, groups, row, groups[row])
    spare, spares = np.empty(most, np.int64), 0
    for g in range(most):
        if counts[g] == 0:
            spare[spares] = g
            spares += 1
        elif objective is not None:
            errors[g] = group_error(values, objective, members[g, : counts[g]], k)
    moved, homes = np.empty(2 * born, np.int64), np.empty(2 * born, np.int64)
    pair = np.empty((2, largest + 1), np.int64)
    if limits is not None:
        room = room_of(limits, largest + 1)

    cooling = int(steps * (1.0 - _QUENCH))
    by_scale = np.argsort(-scales, kind="mergesort")
    work = _work(scales[by_scale], hot, cold)
    temperature, active = hot, 0
    for step in range(steps):
        if step % _LOOK == 0:
            watch[DONE] += min(_LOOK, steps - step)
            if watch[STOP] != 0:
                return
        if step % _RENEW == 0:
            if step >= cooling:
                temperature, active = 0.0, n
            else:
                if step > 0:
                    temperature *= np.exp(-_RENEW * work / (cooling * active))
                while active < n and (active == 0 or scales[by_scale[active]] >= temperature / _MOLTEN):
                    active += 1
        kind = uniform(stream)
        row = by_scale[int(uniform(stream) * active)]
        if kind < _SWAP:
            near = uniform(stream)
            target = neighbours[row, int(near * near * width)]
            if uniform(stream) < _PULL:
                row, target = target, row
            a, b = groups[row], groups[target]
            if a == b:
                continue
            if kind < _MOVE and counts[a] > k:
                if counts[b] == largest:
                    continue
                if objective is None:
                    change = join(values, sums, counts, row, b) - leave(values, sums, counts, row, a)
                else:
                    size_a = without(members, counts, place, row, a, pair[0])
                    size_b = joined_with(members, counts, row, b, pair[1])
                    error_a = group_error(values, objective, pair[0, :size_a], k)
                    error_b = group_error(values, objective, pair[1, :size_b], k)
                    change = error_a + error_b - errors[a] - errors[b]
                if not taken(change, temperature, stream):
                    continue
                go(values, members, counts, place, sums, groups, row)
                enter(values, members, counts, place, sums, groups, row, b)
                if limits is not None and _break(limits, members, counts, room, a, b):
                    go(values, members, counts, place, sums, groups, row)
                    enter(values, members, counts, place, sums, groups, row, a)
                    continue
                if objective is not None:
                    errors[a], errors[b] = error_a, error_b
                continue
            at = int(uniform(stream) * (counts[b] - 1))
            other = members[b, at if at < place[target] else at + 1]
            if limits is not None and uniform(stream) < _ALIKE:
                other = _most_alike(limits, members, counts, row, b)
            if objective is None:
                change = exchange(values, sums, counts, row, other, a, b)
            else:
                size_a = without(members, counts, place, row, a, pair[0])
                size_b = without(members, counts, place, other, b, pair[1])
                pair[0, size_a], pair[1, size_b] = other, row
                error_a = group_error(values, objective, pair[0, : size_a + 1], k)
                error_b = group_error(values, objective, pair[1, : size_b + 1], k)
                change = error_a + error_b - errors[a] - errors[b]
            if not taken(change, temperature, stream):
                continue
            change_places(values, members, place, sums, groups, row, other)
            if limits is not None and _break(limits, members, counts, room, a, b):
                change_places(values, members, place, sums, groups, other, row)
                continue
            if objective is not None:
                errors[a], errors[b] = error_a, error_b
            continue
        a = groups[row]
        if kind < _FOUND:
            if counts[a] <= k or spares == 0:
                continue
            count, change = 0, 0.0
            for t in range(-1, width):
                candidate = row if t < 0 else neighbours[row, t]
                home = groups[candidate]
                if home < 0 or counts[home] <= k or (t >= 0 and uniform(stream) < 0.1):
                    continue
                if objective is None:
                    change -= leave(values, sums, counts, candidate, home)
                moved[count], homes[count] = candidate, home
                go(values, members, counts, place, sums, groups, candidate)
                count += 1
                if count == born:
                    break
            new = spare[spares - 1]
            if count == born:
                change += group_error(values, objective, moved[:born], k)
                if objective is not None:
                    change += redone(values, objective, members, counts, errors, homes, born, k)
            fits = count == born and taken(change, temperature, stream)
            if limits is not None and fits:
                fits = meets(limits, moved[:born], room.ones[:born], room)
                for t in range(born):
                    fits = fits and not _break(limits, members, counts, room, homes[t], homes[t])
            if fits:
                spares -= 1
                for t in range(born):
                    enter(values, members, counts, place, sums, groups, moved[t], new)
                if objective is not None:
                    redo(values, objective, members, counts, errors, homes, born, k)
                    errors[new] = group_error(values, objective, members[new, :born], k)
            else:
                for t in range(count):
                    enter(values, members, counts, place, sums, groups, moved[t], homes[t])
        else:
            if counts[a] > k + 1 and (limits is None or counts[a] > len(moved)):
                continue
            count = counts[a]
            moved[:count] = members[a, :count]
            change = -group_error(values, objective, moved[:count], k)
            gone = 0
            for t in range(count):
                home, least = -1, np.inf
                for near_row in neighbours[moved[t]]:
                    b = groups[near_row]
                    if b != a and counts[b] < largest:
                        joining = join(values, sums, counts, moved[t], b)
                        if joining < least:
                            least, home = joining, b
                if home < 0:
                    break
                change += least
                homes[t] = home
                go(values, members, counts, place, sums, groups, moved[t])
                enter(values, members, counts, place, sums, groups, moved[t], home)
                gone += 1
            if gone == count and objective is not None:
                change = redone(values, objective, members, counts, errors, homes, count, k) - errors[a]
            fits = gone == count and taken(change, temperature, stream)
            if limits is not None and fits:
                for t in range(count):
                    fits = fits and not _break(limits, members, counts, room, homes[t], homes[t])
            if fits:
                spare[spares] = a
                spares += 1
                if objective is not None:
                    redo(values, objective, members, counts, errors, homes, count, k)
            else:
                for t in range(gone):
                    go(values, members, counts, place, sums, groups, moved[t])
                    enter(values, members, counts, place, sums, groups, moved[t], a)


@kernel
def _break(limits: Limits, members: Ints, counts: Ints, room: Room, a: int, b: int) -> bool:
    """Whether one of two groups does not meet what is asked of it."""
    if not meets(limits, members[a, : counts[a]], room.ones[: counts[a]], room):
        return True
    return a != b and not meets(limits, members[b, : counts[b]], room.ones[: counts[b]], room)


@kernel
def _most_alike(limits: Limits, members: Ints, counts: Ints, row: int, b: int) -> int:
    """Member of a group whose value of the first confidential column is nearest to that of a record."""
    found, least = members[b, 0], 1 << 62
    for t in range(counts[b]):
        differs = abs(limits.codes[0, members[b, t]] - limits.codes[0, row])
        if differs < least:
            found, least = members[b, t], differs
    return found


@kernel
def _work(scales: Floats, hot: float, cold: float) -> float:
    """Number of active records times the fall of the logarithm of the temperature, from hot to cold.

    ``scales`` (n,) fall. Every active record gets the same number of proposals while the temperature falls by a
    factor.
    """
    parts = 256
    fall = np.log(hot / cold) / parts
    total, active = 0.0, 0
    for t in range(parts):
        temperature = hot * np.exp(-fall * (t + 0.5))
        while active < len(scales) and (active == 0 or scales[active] >= temperature / _MOLTEN):
            active += 1
        total += active * fall
    return total


@kernel(inline=True)
def taken(change: float, temperature: float, stream: Stream) -> bool:
    """Whether a change is taken at this temperature."""
    if change <= 0.0:
        return change < 0.0
    return change < 36.0 * temperature and uniform(stream) < np.exp(-change / temperature)


@kernel(inline=True)
def _off(values: Floats, sums: Floats, counts: Ints, row: int, g: int) -> float:
    """Squared distance of a record from a centroid.

    Four sums side by side: in vector registers without leave to change the order of additions.
    """
    d = values.shape[1]
    share = 1.0 / counts[g]
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    for j in range(0, d - 3, 4):
        t0 = values[row, j] - sums[g, j] * share
        t1 = values[row, j + 1] - sums[g, j + 1] * share
        t2 = values[row, j + 2] - sums[g, j + 2] * share
        t3 = values[row, j + 3] - sums[g, j + 3] * share
        s0 += t0 * t0
        s1 += t1 * t1
        s2 += t2 * t2
        s3 += t3 * t3
    for j in range(d - d % 4, d):
        t0 = values[row, j] - sums[g, j] * share
        s0 += t0 * t0
    return (s0 + s1) + (s2 + s3)


@kernel(inline=True)
def join(values: Floats, sums: Floats, counts: Ints, row: int, g: int) -> float:
    """By how much the sum of squares of a group grows with a record."""
    return _off(values, sums, counts, row, g) * counts[g] / (counts[g] + 1.0)


@kernel(inline=True)
def leave(values: Floats, sums: Floats, counts: Ints, row: int, g: int) -> float:
    """By how much the sum of squares of a group falls without one of its records."""
    return _off(values, sums, counts, row, g) * counts[g] / (counts[g] - 1.0)


@kernel(inline=True)
def exchange(values: Floats, sums: Floats, counts: Ints, row: int, other: int, a: int, b: int) -> float:
    """By how much the sum of squares changes when a record of a and another of b change places.

    The sums change by v and -v, so the change is that of |sum|^2 / size, twice.
    """
    d = values.shape[1]
    ra, rb = 1.0 / counts[a], 1.0 / counts[b]
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    both = ra + rb
    for j in range(0, d - 3, 4):
        v0 = values[other, j] - values[row, j]
        v1 = values[other, j + 1] - values[row, j + 1]
        v2 = values[other, j + 2] - values[row, j + 2]
        v3 = values[other, j + 3] - values[row, j + 3]
        s0 += v0 * (2.0 * (sums[b, j] * rb - sums[a, j] * ra) - v0 * both)
        s1 += v1 * (2.0 * (sums[b, j + 1] * rb - sums[a, j + 1] * ra) - v1 * both)
        s2 += v2 * (2.0 * (sums[b, j + 2] * rb - sums[a, j + 2] * ra) - v2 * both)
        s3 += v3 * (2.0 * (sums[b, j + 3] * rb - sums[a, j + 3] * ra) - v3 * both)
    for j in range(d - d % 4, d):
        v0 = values[other, j] - values[row, j]
        s0 += v0 * (2.0 * (sums[b, j] * rb - sums[a, j] * ra) - v0 * both)
    return (s0 + s1) + (s2 + s3)


@kernel(inline=True)
def enter(
    values: Floats, members: Ints, counts: Ints, place: Ints, sums: Floats, groups: Ints, row: int, g: int
) -> None:
    """Put a record into a group."""
    members[g, counts[g]] = row
    place[row] = counts[g]
    counts[g] += 1
    groups[row] = g
    for j in range(values.shape[1]):
        sums[g, j] += values[row, j]


@kernel(inline=True)
def change_places(values: Floats, members: Ints, place: Ints, sums: Floats, groups: Ints, row: int, other: int) -> None:
    """Let two records of different groups change places."""
    a, b = groups[row], groups[other]
    for j in range(values.shape[1]):
        v = values[other, j] - values[row, j]
        sums[a, j] += v
        sums[b, j] -= v
    at, there = place[row], place[other]
    members[a, at], members[b, there] = other, row
    place[other], place[row] = at, there
    groups[row], groups[other] = b, a


@kernel(inline=True)
def go(values: Floats, members: Ints, counts: Ints, place: Ints, sums: Floats, groups: Ints, row: int) -> None:
    """Take a record out of its group; the last member takes its place. An empty group has sums of exactly 0."""
    g = groups[row]
    counts[g] -= 1
    last = members[g, counts[g]]
    members[g, place[row]] = last
    place[last] = place[row]
    groups[row] = -1
    for j in range(values.shape[1]):
        sums[g, j] = sums[g, j] - values[row, j] if counts[g] > 0 else 0.0
