"""Groups that give away too much are repaired at little loss: records change places with near ones, then groups merge.

The groups that miss most come first. For one of them, all exchanges of one of its records with one of a near group are
tried in the order of what they cost in squared distances from the centres: the first that makes the group meet its
conditions, and leaves the other one meeting its own, is made. Where none does, the exchange that brings it nearest for
what it costs is made, and so on, until nothing brings it nearer. For the groups that still miss there are two ways, of
which the one that loses less is taken:

- they are merged with their nearest, once, and all is tried again on the larger groups; after a few rounds what is left
  grows until all conditions hold (:mod:`.growing`);
- their records, or all of a part, are grouped anew so that every group has values from all over the column
  (:mod:`.regrouping`), with exchanges and growing for what misses then.

Where a confidential column goes with the quasi-identifiers, near groups have the same values as a group that misses,
and only the second way helps; where few groups miss, the first is better. Of few records, all ways are taken to the
end. Of many, some groups are tried first: where exchanges mend nearly all of them at little cost, all groups exchange;
otherwise all records are grouped anew. At last records are given back to near groups, as far as the conditions leave
room (:mod:`.settling`).

Exchanges keep the sizes of groups, and merging makes larger ones, so every group keeps its k records. Groups that meet
their conditions go on to do so.

Cost: O(g^2) exchanges are tried for each near group of a group of g records, until one is made, and two a record of a
large table at most. What remains is O(d n log n).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.blocking.blocks import rows_of_blocks
from shoal.columns.quasi_identifiers import QuasiIdentifiers
from shoal.kernels.arrays import Flags, Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.given_away import Limits, Room, excess, excesses, room_of
from shoal.kernels.mixed import Metric
from shoal.kernels.numbering import number_keys
from shoal.kernels.representatives import group_rows
from shoal.partition.conditions.centres import Centres, MixedCentres, NumberCentres, centres_of, near_centres
from shoal.partition.conditions.confidential import LittleGivenAway
from shoal.partition.conditions.growing import grow_groups
from shoal.partition.conditions.regrouping import Anew
from shoal.partition.conditions.settling import settle_groups
from shoal.partition.conditions.strata_first import group_size, off, squared_distances

_NEAR = 12  # groups that a group exchanges records with
_FIRST_NEAR = 4  # of them those that are tried alone at first
_TRIED = 1 << 15  # exchanges that are looked at for a group, at most, times its records
_TRIED_FIRST = 32  # failing groups in which it is seen whether exchanges help
_HELPS = 0.5  # part of them that must be mended
_NEARLY_ALL = 0.9  # the same of many records, where grouping anew is the other way
_SETTLED = 8  # passes of settling of few records, at most
_FEW = 4_000  # records of a table of which all ways are tried to the end; of a larger one that which seems best
_SHARE = 0.02  # part of the groups of a larger one that may miss, so that they are merged rather than grouped anew
_TRIES = 1 << 29  # exchanges that may be tried in a repair, divided by the records of the table; two a record at least
_TIMES = (2, 3, 5, 8)  # times the size that strata need at least, of which groups are tried where there are few records
_ROUNDS = 6  # of exchanges and merging, before what is left only grows
_LARGE = 100  # records of a group from which it only grows
_CHANGES = 12  # exchanges that are made for one group in a round, at most


def repair_groups(
    quasi: QuasiIdentifiers,
    groups: Ints,
    within: Sequence[Ints],
    told: LittleGivenAway,
    k: int,
    *,
    alike: Ints | None = None,
    threads: int = 1,
) -> Ints:
    """Return groups (n,) that meet the conditions on confidential columns, numbered from 0; as they are where all do.

    Parameters
    ----------
    quasi : QuasiIdentifiers
        What groups are near by.
    groups : int64 (n,)
        The group of each record, from 0, without gaps.
    within : sequence of int64 (n,)
        Parts of the table that records stay in, from the finest; see :func:`.growing.grow_groups`.
    told : LittleGivenAway
        The conditions.
    k : int
        Smallest group.
    alike : int64 (n,) or None
        Records with different numbers do not change places: they lack different cells.
    """
    missing = excesses(told.limits, *group_rows(groups))
    if not missing.any():
        return groups
    space = centres_of(quasi, threads)
    kinds = within[0] if alike is None else number_keys(within[0] * (int(alike.max()) + 1) + alike)[0]
    tries = np.array([max(2 * len(groups), _TRIES // len(groups))])
    repair = _Repair(space, within, kinds, told, k, tries)
    if len(groups) > _FEW and alike is None:
        return repair.of_many(groups, missing)
    groups = repair.exchange(groups, missing)
    failing = repair.missing(groups) > 0.0
    ways = repair.anew(groups, failing) if alike is None and failing.any() else []
    made = [repair.settle(repair.grow(way)) for way in (*ways, groups)]
    return min(made, key=repair.cost)


@dataclass(frozen=True)
class _Repair:
    """How groups are repaired: where they are, what may change places, what they must meet, exchanges left to try."""

    space: Centres
    within: Sequence[Ints]
    kinds: Ints
    told: LittleGivenAway
    k: int
    tries: Ints

    def missing(self, groups: Ints) -> Floats:
        """Return by how much each group misses its conditions."""
        return excesses(self.told.limits, *group_rows(groups))

    def cost(self, groups: Ints) -> float:
        """Return the squared distances of records from the centres of their groups."""
        values, metric = _values(self.space)
        return float(squared_distances(values, metric, self.space.of(group_rows(groups)), groups))

    def of_many(self, groups: Ints, missing: Floats) -> Ints:
        """Return groups of many records that meet the conditions, in the way that seems best.

        Where exchanges mend nearly all of some groups that are tried first, near groups have the values that these
        need. Otherwise all records are grouped anew, where groups must be near to the table: values that are only
        different are found near by.
        """
        far = self.told.asked[self._worst(groups)].t is not None
        exchanged = self.exchange(groups, missing, all_or_none=far)
        if far and (exchanged is groups or (self.missing(exchanged) > 0.0).mean() > _SHARE):
            anew = self.anew(groups, missing > 0.0, parts=False)
            exchanged = anew[0] if anew else groups
        return self.settle(self.grow(exchanged))

    def settle(self, groups: Ints) -> Ints:
        """Return groups in which records are given back to near groups, where conditions leave room; of numbers."""
        if not isinstance(self.space, NumberCentres):
            return groups
        passes = _SETTLED if len(groups) <= _FEW else 1
        return settle_groups(self.space, groups, self.told.limits, self.kinds, passes)

    def exchange(self, groups: Ints, missing: Floats, all_or_none: bool = False) -> Ints:
        """Return groups after records of those that miss have changed places with near ones, where that helps.

        ``missing`` (groups,) is by how much each misses. Where exchanges help too few of some groups that are tried
        first, the others are left alone. With ``all_or_none`` they must help nearly all, and the tries that are left
        must do for all; otherwise groups are returned as they are.
        """
        failing = np.flatnonzero(missing > 0.0)
        if self.tries[0] <= 0 or not len(failing) or len(missing) == 1:
            return groups
        rows = group_rows(groups)
        centres, found, order = self.space.of(rows), groups.copy(), rows.order.copy()
        failing = failing[np.argsort(missing[failing] * (1 if len(groups) > _FEW else -1), kind="stable")]
        first = np.ascontiguousarray(failing[:: max(len(failing) // _TRIED_FIRST, 1)])  # kernels are compiled for these
        rest = failing[~np.isin(failing, first)]
        before = int(self.tries[0])
        for some in (first, rest):
            near = near_centres(self.space, some, centres, _NEAR)
            mended = exchange_failing(
                *_values(self.space), self.told.limits, found, order, rows.starts, centres, some, near, self.kinds,
                self.tries,
            )  # fmt: skip
            if some is rest or not len(rest):
                break
            left = int(self.tries[0])
            if all_or_none and (mended < _NEARLY_ALL * len(first) or left * len(first) < (before - left) * len(rest)):
                return groups
            if mended < _HELPS * len(first):
                break
        return found

    def grow(self, groups: Ints) -> Ints:
        """Return groups that have been merged until none misses, with exchanges in between."""
        for _ in range(_ROUNDS if self.tries[0] > 0 else 0):
            missing = self.missing(groups)
            if not missing.any():
                return groups
            exchanged = self.exchange(groups, missing)
            merged = grow_groups(exchanged, self.within, [self.told], lambda: self.space, rounds=1)
            if merged is exchanged:
                return merged
            groups = number_keys(merged)[0]
        return number_keys(grow_groups(groups, self.within, [self.told], lambda: self.space))[0]

    def anew(self, groups: Ints, failing: Flags, parts: bool = True) -> list[Ints]:
        """Return groups in which all records of a block, or ``parts`` of them that miss, are grouped anew by strata."""
        column = self._worst(groups)
        asked = self.told.asked[column]
        least = max(self.k, *self.told.least_sizes)
        largest = 2 * least if asked.t is None else max(least, group_size(len(groups), self.k, asked.t))
        tried = {least, (least + largest) // 2, largest * 3 // 2, largest}
        if len(groups) <= _FEW:  # larger groups leave more room to give records back
            tried |= {times * largest for times in _TIMES}
        sizes = sorted(tried, key=lambda size: (size == largest, size))
        anew = Anew(self.space, *_values(self.space), self.told.columns[column], self.told.limits, asked.t or 0.0)
        if not parts:
            return self._regrouped(groups, anew, sizes, None)
        found = self._regrouped(groups, anew, sizes, failing)
        for size in sizes:
            found += self._regrouped(groups, anew, [size], None)
        return found

    def _regrouped(self, groups: Ints, anew: Anew, sizes: Sequence[int], failing: Flags | None) -> list[Ints]:
        """Return groups in which all records of each block, or of failing groups, are grouped anew, if any."""
        now, changed = groups.copy(), False
        for rows in rows_of_blocks(self.within[0]):
            pool = rows if failing is None else rows[failing[groups[rows]]]
            fitting = [size for size in sizes if 2 * size <= len(pool)]
            if not fitting or (failing is not None and (len(pool) == len(rows) or self._misses(pool))):
                continue
            now[pool] = now.max() + 1 + anew.best(pool, fitting)
            changed = True
        return [number_keys(now)[0]] if changed else []

    def _misses(self, rows: Ints) -> bool:
        return bool(excesses(self.told.limits, rows, np.array([0, len(rows)]))[0] > 0.0)

    def _worst(self, groups: Ints) -> int:
        """Return the place of the column that most groups miss the conditions of."""
        if len(self.told.columns) == 1:
            return 0
        rows = group_rows(groups)
        return int(np.argmax([int(self.told.alone(c).failing(rows).sum()) for c in range(len(self.told.columns))]))


def _values(space: Centres) -> tuple[Floats, Metric | None]:
    """Return the records (n, d) and how far apart they are."""
    if isinstance(space, MixedCentres):
        return space.records.values[space.records.record], space.records.by_distance
    assert isinstance(space, NumberCentres)
    return space.values, None


@kernel
def exchange_failing(
    values: Floats,
    metric: Metric | None,
    limits: Limits,
    groups: Ints,
    order: Ints,
    starts: Ints,
    centres: Floats,
    failing: Ints,
    near: Ints,
    kinds: Ints,
    tries: Ints,
) -> int:
    """Let records of ``failing`` groups change places with those of ``near`` ones (failing, m); how many are mended.

    ``order`` and ``starts`` are the rows sorted by group; ``groups`` (n,) and ``order`` are kept up, and of numbers the
    ``centres`` (groups, d) too. ``kinds`` (n,) are the same for records that may change places. It ends when
    no ``tries`` (1,) are left.
    """
    most = 0
    for g in range(len(starts) - 1):
        most = max(most, starts[g + 1] - starts[g])
    room = room_of(limits, most)
    mine, theirs = np.empty(most, np.int64), np.empty(most, np.int64)
    mended = 0
    for f in range(len(failing)):
        g = failing[f]
        if starts[g + 1] - starts[g] > _LARGE:
            continue
        if tries[0] <= 0:
            break
        for _ in range(_CHANGES):
            some = near[f, : _FIRST_NEAR + 1]
            done = _one_exchange(
                values, metric, limits, groups, order, starts, centres, g, some, kinds, room, mine, theirs, tries, True
            )
            if not done and not _one_exchange(
                values, metric, limits, groups, order, starts, centres, g, near[f], kinds, room, mine, theirs, tries,
                False,
            ):  # fmt: skip
                break
        rows = order[starts[g] : starts[g + 1]]
        mended += excess(limits, rows, room.ones[: len(rows)], room) == 0.0
    return mended


@kernel
def _one_exchange(
    values: Floats,
    metric: Metric | None,
    limits: Limits,
    groups: Ints,
    order: Ints,
    starts: Ints,
    centres: Floats,
    g: int,
    near: Ints,
    kinds: Ints,
    room: Room,
    mine: Ints,
    theirs: Ints,
    tries: Ints,
    enough: bool,
) -> bool:
    """Make the exchange of a group that helps most for what it costs; False where there is nothing to do.

    Where only what is ``enough`` will do, the exchange must make the group meet its conditions.
    """
    size = starts[g + 1] - starts[g]
    mine[:size] = order[starts[g] : starts[g + 1]]
    now = excess(limits, mine[:size], room.ones[:size], room)
    if now == 0.0:
        return False
    count = 0
    for h in near:
        if h != g and (count + size * (starts[h + 1] - starts[h])) * size <= _TRIED:
            count += size * (starts[h + 1] - starts[h])
    costs, own, other = np.empty(count), np.empty(count, np.int64), np.empty(count, np.int64)
    places = 0
    for h in near:
        if h == g or places + size * (starts[h + 1] - starts[h]) > count:
            continue
        for a in range(starts[g], starts[g + 1]):
            row = order[a]
            gone = off(values[row], centres[h], metric) - off(values[row], centres[g], metric)
            for b in range(starts[h], starts[h + 1]):
                partner = order[b]
                if kinds[row] != kinds[partner] or _same(limits, row, partner):
                    continue
                come = off(values[partner], centres[g], metric) - off(values[partner], centres[h], metric)
                costs[places], own[places], other[places] = gone + come, a, b
                places += 1
    best, best_gain = -1, 0.0
    for i in np.argsort(costs[:places], kind="mergesort"):
        mine[own[i] - starts[g]] = order[other[i]]
        then = excess(limits, mine[:size], room.ones[:size], room)
        mine[own[i] - starts[g]] = order[own[i]]
        tries[0] -= 1
        if then >= now - 1e-12 or (enough and then > 0.0):
            continue
        gain = (now - then) / (max(costs[i], 0.0) + 1e-9)
        if then > 0.0 and gain <= best_gain:
            continue
        h = groups[order[other[i]]]
        there = starts[h + 1] - starts[h]
        theirs[:there] = order[starts[h] : starts[h + 1]]
        before = excess(limits, theirs[:there], room.ones[:there], room)
        theirs[other[i] - starts[h]] = order[own[i]]
        after = excess(limits, theirs[:there], room.ones[:there], room)
        if after > 0.0 and after > before:
            continue
        best, best_gain = i, gain
        if then == 0.0:
            break
    if best < 0:
        return False
    a, b = own[best], other[best]
    h = groups[order[b]]
    if metric is None:
        for j in range(values.shape[1]):
            v = values[order[b], j] - values[order[a], j]
            centres[g, j] += v / size
            centres[h, j] -= v / (starts[h + 1] - starts[h])
    order[a], order[b] = order[b], order[a]
    groups[order[a]], groups[order[b]] = g, h
    return True


@kernel(inline=True)
def _same(limits: Limits, row: int, partner: int) -> bool:
    """Whether two records have the same confidential values, so that exchanging them changes nothing."""
    same = True
    for c in range(len(limits.known)):
        same &= limits.codes[c, row] == limits.codes[c, partner]
    return same
