"""Cuts: what every partition satisfies and the linear relaxation does not.

For a set S of records and a number q, a group that holds m of them counts floor(m / q) times, and all groups of a
partition together count at most floor(|S| / q) times. With three records and q = 2: at most one group holds two of them
or more. Parts of the triples of four records, a third of each, are a solution of the relaxation that stands for the
group of four at less than its cost; for any three of the four records they count 4 / 3 times.

Separation looks for sets of three, where all pairs but one have a share in common, and joins to those with the largest
counts two more records each (q = 2 and q = 3). Whole groups have no part in a cut that is not satisfied.

Cost: some seconds at most for the shares of a thousand groups, in their pairs and triples.

Sources: M. Jepsen, B. Petersen, S. Spoorendonk and D. Pisinger, Subset-row inequalities applied to the vehicle-routing
problem with time windows, Operations Research 56, 2008; D. Pecin, A. Pessoa, M. Poggi, E. Uchoa and H. Santos, Limited
memory rank-1 cuts for vehicle routing problems, Operations Research Letters 45, 2017.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.kernels.arrays import Floats, Ints
from shoal.partition.optimal.seen_groups import SeenGroups, matrix_of

_ABOVE = 0.02  # by how much a cut has to be broken to be added
_MOST = 300  # cuts added at a time
_EACH = 3  # of them that hold the same record
_PART = 1e-6  # least share of a group that counts


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


def broken_cuts(seen: SeenGroups, shares: Floats, known: Cuts) -> Cuts:
    """Return cuts that the shares of groups do not satisfy, the worst first, none of them known."""
    pairs: dict[tuple[int, int], float] = defaultdict(float)
    triples: dict[tuple[int, ...], float] = defaultdict(float)
    near: dict[int, set[int]] = defaultdict(set)
    for group in np.flatnonzero((shares > _PART) & (shares < 1.0 - _PART)):
        share = float(shares[group])
        rows: list[int] = sorted(seen.rows[seen.starts[group] : seen.starts[group + 1]].tolist())
        for a, b in itertools.combinations(rows, 2):
            pairs[a, b] += share
            near[a].add(b)
            near[b].add(a)
        for held in itertools.combinations(rows, 3):
            triples[held] += share
    old, broken = set(known.sets()), {}
    for a, others in near.items():
        for b, c in itertools.combinations(sorted(others), 2):
            triple = tuple(sorted((a, b, c)))
            if triple in broken or triple in old:
                continue
            # a group that holds all three is in all three pairs, and counts once
            count = sum(pairs.get(pair, 0.0) for pair in itertools.combinations(triple, 2)) - 2.0 * triples.get(
                triple, 0.0
            )
            if count > 1.0 + _ABOVE:
                broken[triple] = count
    used: Counter[int] = Counter()
    chosen: list[tuple[int, ...]] = []
    for triple in sorted(broken, key=lambda rows: (-broken[rows], rows)):
        if len(chosen) < _MOST and all(used[row] < _EACH for row in triple):
            chosen.append(triple)
            used.update(triple)
    return cuts_of(chosen, [2] * len(chosen))
