"""Cuts: what every partition satisfies and the linear relaxation does not.

For a set S of records and a number q, a group that holds m of them counts floor(m / q) times, and all groups of a
partition together count at most floor(|S| / q) times. With three records and q = 2: at most one group holds two of them
or more. Parts of the triples of four records, a third of each, are a solution of the relaxation that stands for the
group of four at less than its cost; for any three of the four records they count 4 / 3 times.

Separation looks at all sets of three of which two pairs are in a group with a share. To those with the largest counts
two records are added, and two more: at most two groups count for five records with q = 2, and one for five with q = 3
or seven with q = 4, such as the parts of a group of five or seven. And all records that shares of groups connect are a
set with q = k: eight records hold two groups of three, and the relaxation takes a third of eight. Groups that are taken
whole break nothing.

For large groups (:mod:`.set_cutting`) sets have k to 2k - 1 records and share none, and q is more than half of them.
They are looked for among clusters and among groups with a share.

Cost: a second or so for the shares of a thousand groups.

Sources: M. Jepsen, B. Petersen, S. Spoorendonk and D. Pisinger, Subset-row inequalities applied to the vehicle-routing
problem with time windows, Operations Research 56, 2008; D. Pecin, A. Pessoa, M. Poggi, E. Uchoa and H. Santos, Limited
memory rank-1 cuts for vehicle routing problems, Operations Research Letters 45, 2017.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from shoal.kernels.arrays import Floats, Ints
from shoal.partition.optimal.seen_groups import SeenGroups, matrix_of, take_groups

Rows: TypeAlias = tuple[int, ...]

_ABOVE = 0.02  # by how much a cut has to be broken to be added
_MOST = 300  # cuts added at a time
_EACH = 3  # of them that hold the same record
_PART = 1e-6  # least share of a group that counts
_ALMOST = 0.8  # count of three records from which more are added to them
_CONNECTED = 60  # records of the largest set that is taken because shares of groups connect it
_BASES = 3000  # sets of three to which more are added, at most


@dataclass(frozen=True)
class Cuts:
    """Cuts: ``rows[starts[c]:starts[c + 1]]`` are the records of cut c, and a group counts for ``steps[c]`` of them."""

    rows: Ints
    starts: Ints
    steps: Ints

    def __len__(self) -> int:
        return len(self.steps)

    @property
    def most(self) -> Ints:
        """How often all groups of a partition count together, at most."""
        most: Ints = np.diff(self.starts) // self.steps
        return most

    def sets(self) -> list[tuple[int, ...]]:
        """Return the records of each cut, in order."""
        return [tuple(sorted(part.tolist())) for part in np.split(self.rows, self.starts[1:-1])] if len(self) else []


def cuts_of(sets: list[tuple[int, ...]], steps: list[int]) -> Cuts:
    """Return cuts of sets of records.

    >>> cuts_of([(0, 1, 2)], [2]).most
    array([1])
    """
    starts = np.concatenate([[0], np.cumsum([len(rows) for rows in sets])]).astype(np.int64)
    rows = np.array([row for rows in sets for row in rows], dtype=np.int64)
    return Cuts(rows, starts, np.array(steps, dtype=np.int64))


def take_cuts(cuts: Cuts, kept: Ints) -> Cuts:
    """Return some of the cuts."""
    sets = cuts.sets()
    return cuts_of([sets[c] for c in kept], [int(cuts.steps[c]) for c in kept])


def join_cuts(one: Cuts, other: Cuts) -> Cuts:
    """Return the cuts of both."""
    return Cuts(
        np.concatenate([one.rows, other.rows]),
        np.concatenate([one.starts, one.starts[-1] + other.starts[1:]]),
        np.concatenate([one.steps, other.steps]),
    )


def cuts_of_records(cuts: Cuts, n: int) -> tuple[Ints, Ints]:
    """Return where the cuts of each record begin (n + 1,), and these, record by record."""
    order = np.argsort(cuts.rows, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(cuts.rows, minlength=n))]).astype(np.int64)
    owner = np.repeat(np.arange(len(cuts)), np.diff(cuts.starts))
    return starts, owner[order]


def counts_of(cuts: Cuts, seen: SeenGroups, n: int) -> Any:
    """Return the sparse matrix (cuts, groups) of how often each group counts."""
    from scipy.sparse import csr_matrix

    members = csr_matrix((np.ones(len(cuts.rows)), cuts.rows, cuts.starts), shape=(len(cuts), n)) @ matrix_of(seen, n)
    counts = members.tocsr()
    counts.data = np.floor(counts.data / np.repeat(cuts.steps, np.diff(counts.indptr)) + 1e-9)
    counts.eliminate_zeros()
    return counts


def cores_of(cuts: Cuts, k: int) -> list[Ints]:
    """Return pairs (m, 2) and triples (l, 3) of records; every group with more than q records of a cut holds one.

    With q parts of a set, a group that holds q + 1 records of it holds two of one part. Where q is 2 it holds three of
    the set, which are taken unless they are a whole group of k + 1.

    >>> [rows.tolist() for rows in cores_of(cuts_of([(0, 1, 2, 3, 4), (5, 6, 7)], [3, 2]), 3)]
    [[[0, 3], [1, 4]], [[5, 6, 7]]]
    """
    held: dict[int, set[Rows]] = {2: set(), 3: set()}
    for rows, step in zip(cuts.sets(), cuts.steps.tolist(), strict=True):
        if step == 2 and k > 2:
            held[3].update(itertools.combinations(rows, 3))
        else:
            held[2].update(pair for part in range(step) for pair in itertools.combinations(rows[part::step], 2))
    return [np.array(sorted(sets), dtype=np.int64).reshape(-1, width) for width, sets in held.items()]


def broken_cuts(seen: SeenGroups, shares: Floats, known: Cuts, k: int) -> Cuts:
    """Return cuts that the shares of groups do not satisfy, the worst first, none of them known."""
    parts = np.flatnonzero((shares > _PART) & (shares < 1.0 - _PART))
    groups = [tuple(sorted(seen.rows[seen.starts[g] : seen.starts[g + 1]].tolist())) for g in parts]
    triples = _triples(groups, shares[parts])
    old = set(zip(known.sets(), known.steps.tolist(), strict=True))
    broken = {(rows, 2): count - 1.0 for rows, count in triples.items() if count > 1.0 + _ABOVE}
    bases = sorted(triples, key=lambda rows: (-triples[rows], rows))[:_BASES]
    broken |= _extended(bases, groups, shares[parts], k) | _connected(groups, shares[parts], k)
    used: Counter[int] = Counter()
    chosen: list[tuple[Rows, int]] = []
    for rows, step in sorted(broken.keys() - old, key=lambda cut: (-broken[cut], cut)):
        if len(chosen) < _MOST and all(used[row] < _EACH for row in rows):
            chosen.append((rows, step))
            used.update(rows)
    return cuts_of([rows for rows, _ in chosen], [step for _, step in chosen])


def clusters_of(values: Floats, k: int) -> list[Rows]:
    """Return the clusters of k to 2k - 1 records that are found by joining the nearest ones, in three ways.

    >>> clusters_of(np.array([[0.0], [1.0], [3.0], [9.0]]), 2)
    [(0, 1), (0, 1, 2)]
    """
    from scipy.cluster.hierarchy import linkage

    clusters: set[Rows] = set()
    for how in ("average", "single", "ward"):
        members: list[Rows] = [(row,) for row in range(len(values))]
        for a, b in linkage(values, how)[:, :2].astype(np.int64).tolist():
            # 2k records stand for any number that is too large
            members.append((members[a] + members[b])[: 2 * k])
            if k <= len(members[-1]) < 2 * k:
                clusters.add(tuple(sorted(members[-1])))
    return sorted(clusters)


def broken_sets(seen: SeenGroups, shares: Floats, known: Cuts, clusters: list[Rows], k: int, n: int) -> Cuts:
    """Return disjoint sets of k to 2k - 1 records of which more than one group holds more than half, none known.

    They are looked for among clusters, the groups that have a part as their share, and two of these together.
    """
    used = np.flatnonzero(shares > _PART)
    few, weights = take_groups(seen, used), shares[used]
    groups = [tuple(rows.tolist()) for rows in np.split(few.rows, few.starts[1:-1])]
    of_record: dict[int, list[int]] = defaultdict(list)
    for g in np.flatnonzero(weights < 1.0 - _PART):
        for row in groups[g]:
            of_record[row].append(int(g))
    sets = set(clusters)
    for near in of_record.values():
        for a, b in itertools.combinations_with_replacement(near, 2):
            joined = tuple(sorted({*groups[a], *groups[b]}))
            if len(joined) < 2 * k:
                sets.add(joined)
    tried = sorted(sets - set(known.sets()))
    cuts = cuts_of(tried, [len(rows) // 2 + 1 for rows in tried])
    above = counts_of(cuts, few, n) @ weights - 1.0
    chosen: list[int] = []
    taken: set[int] = set()
    for c in np.argsort(-above, kind="stable")[: int((above > _ABOVE).sum())]:
        if not taken & set(tried[c]):
            chosen.append(int(c))
            taken |= set(tried[c])
    return take_cuts(cuts, np.array(chosen, dtype=np.int64))


def _connected(groups: list[Rows], shares: Floats, k: int) -> dict[tuple[Rows, int], float]:
    """Return the sets of records that are connected by shares of more groups of k than such a set holds."""
    home: dict[int, int] = {}
    sets: list[tuple[set[int], float]] = []
    for rows, share in zip(groups, shares.tolist(), strict=True):
        joined = {home[row] for row in rows if row in home}
        members, total = set(rows), share
        for place in joined:
            members |= sets[place][0]
            total += sets[place][1]
        sets.append((members, total))
        home |= dict.fromkeys(members, len(sets) - 1)
    whole = [sets[place] for place in sorted(set(home.values()))]
    return {
        (tuple(sorted(members)), k): total - len(members) // k
        for members, total in whole
        if total > len(members) // k + _ABOVE and len(members) <= _CONNECTED
    }


def _triples(groups: list[Rows], shares: Floats) -> dict[Rows, float]:
    """Return how often groups with these shares count for sets of three records, q = 2, where that is almost once."""
    pairs: dict[tuple[int, int], float] = defaultdict(float)
    whole: dict[Rows, float] = defaultdict(float)
    near: dict[int, set[int]] = defaultdict(set)
    for rows, share in zip(groups, shares.tolist(), strict=True):
        for a, b in itertools.combinations(rows, 2):
            pairs[a, b] += share
            near[a].add(b)
            near[b].add(a)
        for triple in itertools.combinations(rows, 3):
            whole[triple] += share
    triples: dict[Rows, float] = {}
    for a, others in near.items():
        for b, c in itertools.combinations(sorted(others), 2):
            three = tuple(sorted((a, b, c)))
            if three not in triples:
                # a group that holds all three is in all three pairs, and counts once
                held = sum(pairs.get(pair, 0.0) for pair in itertools.combinations(three, 2))
                triples[three] = held - 2.0 * whole.get(three, 0.0)
    return {three: count for three, count in triples.items() if count > _ALMOST}


def _extended(bases: list[Rows], groups: list[Rows], shares: Floats, k: int) -> dict[tuple[Rows, int], float]:
    """Return cuts of five records, or seven where k is above 3, that begin with three, and by how much they are broken.

    Two records are added at a time, those with which most groups count.
    """
    of_record: dict[int, list[int]] = defaultdict(list)
    for group, members in enumerate(groups):
        for row in members:
            of_record[row].append(group)
    broken: dict[tuple[Rows, int], float] = {}
    for base in bases:
        for first in (2, 3):
            rows, step = base, first
            while len(rows) < (7 if k > 3 and first == 3 else 5):
                near = sorted({group for row in rows for group in of_record[row]})
                others = sorted({row for group in near for row in groups[group]} - set(rows))
                if len(others) < 2:
                    break
                place = {row: i for i, row in enumerate(others)}
                held, more = np.zeros(len(near)), np.zeros((len(near), len(others)))
                for i, group in enumerate(near):
                    for row in groups[group]:
                        if row in place:
                            more[i, place[row]] = 1.0
                        else:
                            held[i] += 1.0
                counts = np.floor((held[:, None, None] + more[:, :, None] + more[:, None, :]) / step)
                total = np.tensordot(shares[near], counts, 1)
                np.fill_diagonal(total, 0.0)
                a, b = divmod(int(total.argmax()), len(others))
                rows = tuple(sorted((*rows, others[a], others[b])))
                above = float(total[a, b]) - len(rows) // step
                if above > _ABOVE:
                    broken[rows, step] = above
                step += first - 2
    return broken
