"""Patterns of missing cells that fewer than k records have: cells are suppressed until no record is alone with its own.

What stands in the file for a record is the representative of its group, and which of its cells are missing. A release
in which at least k records share all of that is a partition into groups of at least k whose records all lack the same
cells, some of which are suppressed for it: in a group of fewer than 2k records all cells of a column that one of them
lacks. The searches know that, and lower what it costs. The groups of all other methods, which work with the distances
that are to be expected of missing cells, are made so afterwards.

A larger group may be cut by the patterns of its records. A pattern of fewer than k of them borrows those that it lacks
from one with fewer missing cells that has more than k, or unites with another one: its own records lose the cells that
the other has not, and the other way round. Of all that can be done for all rare patterns of a group, what suppresses
the fewest cells for each record that is no longer lacking is done first. In a group of fewer than 3k records that is
compared with the best that there is (:mod:`.pattern_pairs`). Where patterns are many, they are looked at one by one,
those with most missing cells first. Borrowed are the records that are nearest to those with the pattern, a
suppressed cell counting as the centre of its column.

A search with conditions on confidential columns has larger groups than k alone needs, and has counted what a gap costs
all of such a group. Parts that lack the same cells seldom meet the conditions by themselves, and to repair them costs
more than the cells do: so these groups are cut only where every part meets them.

Patterns are no strata from the start: few records lack the same cells, and groups of these alone would be wide,
which loses more than some cells, on skewed columns twice as much. In a set of one column, though, records without it
have nothing else to lose: they are kept apart, and where they are fewer than k, those near the mean lose theirs.

Cost: O(n d), and for a group of 2k records or more with m patterns O(m^2 d), or O(m^3 d) where they are few. Every
pattern ends with at least k records of its group: each step makes fewer that are lacking, and all can be united.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np

from shoal.blocking.strata import centres_of
from shoal.columns.mixed import Mixed
from shoal.columns.quasi_identifiers import QuasiIdentifiers
from shoal.kernels.arrays import Flags, Floats, Ints
from shoal.kernels.mixed import distances
from shoal.kernels.numbering import number_keys
from shoal.kernels.representatives import group_rows
from shoal.partition.conditions.condition import Condition
from shoal.partition.pattern_pairs import best_pair

Nearness = Callable[[Ints, Ints], Floats]  # of records (m,) to the centre of others
Settled = tuple[Flags, Ints]  # a pattern, and the records that get it

_ALL_AT_ONCE = 1 << 14  # pairs of patterns up to which the best step of all is looked for
_LOOKED_AT = 1 << 13  # records among which the nearest are looked for


def share_patterns(
    quasi: QuasiIdentifiers, codes: Ints, k: int, condition: Condition | None = None
) -> tuple[QuasiIdentifiers, Ints]:
    """Suppress cells of a set so that at least k records of every group, or stratum, share which are missing.

    Returns the columns without the cells that are suppressed, and the groups cut by what is missing. A group that meets
    a ``condition`` is not cut into parts that miss it: all of its records lose what any of them lacks.
    """
    places = [j for j, column in enumerate(quasi.columns) if not column.observed.all()]
    if not places:
        return quasi, codes
    missing = np.column_stack([~quasi.columns[j].observed for j in places])
    hidden = suppress_rare_patterns(missing, codes, k, _nearness(quasi))
    cut = number_patterns(hidden, codes)[0]
    if condition is not None:
        own = number_keys(codes)[0]
        whole = _spoilt_by_cutting(own, cut, condition)[own]
        if whole.any():
            shared = np.column_stack([np.bincount(own, column) > 0 for column in missing.T])
            hidden[whole] = shared[own[whole]]
            cut = number_patterns(hidden, codes)[0]
    columns = list(quasi.columns)
    for i, j in enumerate(places):
        if (hidden[:, i] & ~missing[:, i]).any():
            column, there = columns[j], ~hidden[:, i]
            columns[j] = replace(column, values=np.where(there, column.values, 0), observed=there)
    return replace(quasi, columns=columns), cut


def _spoilt_by_cutting(groups: Ints, cut: Ints, condition: Condition) -> Flags:
    """Return which groups (g,) meet a condition that some part of them does not."""
    spoilt = np.zeros(int(groups.max()) + 1, dtype=bool)
    spoilt[groups[condition.failing(group_rows(cut))[cut]]] = True
    return spoilt & ~condition.failing(group_rows(groups))


def alike_in_groups(quasi: QuasiIdentifiers, groups: Ints) -> QuasiIdentifiers:
    """Return a set without the cells of columns that only some records of their group have."""
    columns = list(quasi.columns)
    for j, column in enumerate(columns):
        if column.observed.all():
            continue
        lacking = np.bincount(groups[~column.observed], minlength=int(groups.max()) + 1) > 0
        there = column.observed & ~lacking[groups]
        if there.sum() < column.observed.sum():
            columns[j] = replace(column, values=np.where(there, column.values, 0), observed=there)
    return replace(quasi, columns=columns)


def number_patterns(missing: Flags, groups: Ints) -> tuple[Ints, Ints, Ints]:
    """Number the patterns of missing cells (n, d) in each group by first appearance.

    Returns the number of each record, the first record of each number, and how many there are.

    >>> number_patterns(np.array([[False], [True], [False]]), np.array([4, 4, 4]))[0].tolist()
    [0, 1, 0]
    """
    numbered = number_keys(groups)
    for column in missing.T:  # one key a record, numbered again so that it stays small
        numbered = number_keys(2 * numbered[0] + column)
    return numbered


def suppress_rare_patterns(missing: Flags, groups: Ints, k: int, nearness: Nearness) -> Flags:
    """Return which cells (n, d) are to be missing, so that every pattern has at least k records of its group.

    Parameters
    ----------
    missing : bool (n, d)
        Which cells are missing; they stay so.
    groups : int64 (n,)
        Records that are looked at together; each group has at least k.
    k : int
        Least number of records.
    nearness : callable
        ``nearness(centre, rows)``: how far the records ``rows`` are from the centre of the records ``centre``.

    Examples
    --------
    >>> missing = np.array([[True], [False], [False], [False], [False]])
    >>> values = np.array([5.0, 1.0, 4.0, 5.0, 2.0])
    >>> def off(centre, rows):
    ...     return np.abs(values[rows] - values[centre].mean())
    >>> suppress_rare_patterns(missing, np.zeros(5, dtype=np.int64), 2, off)[:, 0].tolist()
    [True, False, False, True, False]
    """
    own, _, sizes = number_keys(groups)
    small = sizes < 2 * k
    hidden = np.column_stack([column | ((np.bincount(own, column) > 0) & small)[own] for column in missing.T])
    of, first, counts = number_patterns(hidden, own)
    if counts.min() >= k:
        return hidden
    order, ends, home = np.argsort(of, kind="stable"), np.cumsum(counts), own[first]
    for group in np.unique(home[counts < k]).tolist():
        numbers = np.flatnonzero(home == group)
        rows = [order[ends[number] - counts[number] : ends[number]] for number in numbers]
        settled = _Table(hidden[first[numbers]], rows, k, nearness).settled()
        if sizes[group] < 3 * k:
            settled = _fewer(settled, hidden[first[numbers]], rows, k, nearness)
        for cells, whose in settled:
            hidden[whose] = cells
    return hidden


def _fewer(settled: list[Settled], cells: Flags, rows: list[Ints], k: int, nearness: Nearness) -> list[Settled]:
    """Return the two patterns with the fewest missing cells of a group of fewer than 3k, where they have fewer."""
    pair = best_pair(cells, np.array([len(own) for own in rows]), k)
    if pair is None or pair.missing >= sum(int(pattern.sum()) * len(own) for pattern, own in settled):
        return settled
    none = np.zeros(0, dtype=np.int64)
    second = np.concatenate([none, *(own for own, must in zip(rows, pair.only, strict=True) if must)])
    either = np.concatenate([none, *(own for own, may in zip(rows, pair.either, strict=True) if may)])
    if pair.many:
        near = nearness(second if len(second) else either, either)
        second = np.concatenate([second, either[np.lexsort((either, near))[: pair.many]]])
    first = np.setdiff1d(np.concatenate(rows), second)
    return [(pair.first, first), (pair.second, np.sort(second))]


class _Table:
    """The patterns of a group: cells (m, d), counts (m,), rows; a pattern without records is no longer there."""

    def __init__(self, cells: Flags, rows: list[Ints], k: int, nearness: Nearness) -> None:
        self.cells = cells.copy()
        self.rows = list(rows)
        self.counts = np.array([len(own) for own in rows])
        self.k = k
        self.nearness = nearness
        self.place = {pattern.tobytes(): p for p, pattern in enumerate(self.cells)}

    def settled(self) -> list[Settled]:
        """Return patterns of at least k records, with their rows."""
        while True:
            rare = np.flatnonzero((self.counts > 0) & (self.counts < self.k))
            alive = np.flatnonzero(self.counts)
            if not len(rare) or len(alive) == 1:
                return [(self.cells[p], self.rows[p]) for p in alive]
            if len(rare) * len(alive) > _ALL_AT_ONCE:
                rare = rare[[np.argmax(self.cells[rare].sum(axis=1))]]
            self._step(rare, alive)

    def _step(self, rare: Ints, alive: Ints) -> None:
        """Do what suppresses the fewest cells for each record that is no longer lacking."""
        k, ours, theirs = self.k, self.counts[rare][:, None], self.counts[alive][None, :]
        mine, other = self.cells[rare].astype(np.float32), self.cells[alive].astype(np.float32)
        both = mine @ other.T
        extra = mine.sum(axis=1)[:, None] - both  # cells that records of the other one would lose
        own = other.sum(axis=1)[None, :] - both  # cells that its own would lose
        lacking = k - ours
        relieved = lacking + np.maximum(k - theirs, 0) - np.maximum(k - ours - theirs, 0)
        united = (ours * own + theirs * extra) / relieved
        spare = np.minimum(lacking, theirs - k)
        enough = (spare == lacking) | ((own == 0) & (spare > 0))
        borrowed = np.where(enough, (ours * own) / np.maximum(spare, 1) + extra, np.inf)
        united[rare[:, None] == alive[None, :]] = np.inf  # not with itself; and nothing to spare is in it
        least = np.minimum(united, borrowed)
        # of steps that cost the same, the one that leaves the fewest lacking, and then makes the larger pattern
        helped = np.where(borrowed <= united, spare, relieved)
        best = np.lexsort((-np.minimum(ours + theirs, k).ravel(), -helped.ravel(), least.ravel()))[0]
        i, j = divmod(int(best), len(alive))
        p, q = int(rare[i]), int(alive[j])
        taken = self._nearest(p, q, int(spare[i, j])) if borrowed[i, j] <= united[i, j] else self.rows[q]
        self._lose(q, taken)
        self._move(p, self.cells[p] | self.cells[q], taken)

    def _nearest(self, p: int, q: int, many: int) -> Ints:
        """Return the records of one pattern that are nearest to those of another, the lowest rows first."""
        rows = self.rows[q]
        rows = rows[:: max(1, len(rows) // max(_LOOKED_AT, many))]
        return rows[np.argsort(self.nearness(self.rows[p], rows), kind="stable")[:many]]

    def _lose(self, q: int, taken: Ints) -> None:
        """Take records from a pattern."""
        self.rows[q] = np.setdiff1d(self.rows[q], taken, assume_unique=True)
        self.counts[q] = len(self.rows[q])

    def _move(self, p: int, cells: Flags, more: Ints) -> None:
        """Give the records of a pattern, and more, another one: that of others where they have it already."""
        rows = np.concatenate([self.rows[p], more])
        at = self.place.get(cells.tobytes(), p)
        if at != p:
            rows = np.concatenate([self.rows[at], rows])
            self.rows[p], self.counts[p] = rows[:0], 0
        else:
            del self.place[self.cells[p].tobytes()]
            self.cells[p] = cells
            self.place[cells.tobytes()] = p
        self.rows[at], self.counts[at] = np.sort(rows), len(rows)


def _nearness(quasi: QuasiIdentifiers) -> Nearness:
    """Return how near records are: by squares of scaled numbers, or by the distance of mixed records."""
    if quasi.mixed:
        mixed = cache(quasi.counted)  # most tables never ask
        return lambda centre, rows: _off_mixed(mixed(), centre, rows)
    scaled = cache(quasi.scaled)

    def squares(centre: Ints, rows: Ints) -> Floats:
        values = scaled().values
        return np.asarray(((values[rows] - values[centre].mean(axis=0)) ** 2).sum(axis=1))

    return squares


def _off_mixed(records: Mixed, centre: Ints, rows: Ints) -> Floats:
    """Return the distance (m,) of records from the centre of others."""
    own, amount = np.unique(records.record[centre], return_counts=True)
    middle = centres_of(records, own, np.zeros(len(own), dtype=np.int64), amount.astype(np.float64), 1)[0]
    return distances(records.values[records.record[rows]], middle, records.by_distance)
