"""Two-step genetic algorithm: MDAV makes groups and parts of several groups, a genetic algorithm improves each part.

A genetic algorithm finds good partitions of few records and poor ones of many. So MDAV first makes groups of k
records, and MDAV again makes parts of ``part`` groups, from their centroids. The genetic algorithm then partitions the
records of each part. A chromosome has the number of its group for each record of the part, the records in the order of
the groups that MDAV gave, so that neighbouring genes belong together. The first population is the partition of MDAV and
mutants of it.
In each generation the best chromosome is kept; the others are children of two parents, each the better of two drawn at
random. A child has the genes of one parent up to a random place and those of the other from there on (one-point
crossover), and one to three mutations: two records change places, or one moves to any group, with equal chance. Then
the groups with fewer than k records are dissolved: each of their records joins the group of at least k with the nearest
centroid. Of equally good chromosomes the first counts as better.

Sources: A. Solanas, A. Martinez-Balleste, J. M. Mateo-Sanz and J. Domingo-Ferrer, Multivariate microaggregation based
genetic algorithms, IEEE Intelligent Systems 2006; A. Martinez-Balleste, A. Solanas, J. Domingo-Ferrer and J. M.
Mateo-Sanz, A genetic approach to multivariate microaggregation for database privacy, ICDE Workshops 2007 (the two
steps); the same is described in the abstract of G. S. Rawat and B. Borah (IV-MDAV). How the first population is made,
how parents are chosen and how small groups are dissolved are decisions made here.

Cost: O(d n^2 / k) for MDAV when every search looks at every record; O(d n) for each chromosome of each generation:
``population`` times ``generations`` of them.

Every chromosome is a partition into groups of at least k: a child in which all groups were too small is replaced by
its first parent. The best one is never lost, so the result never loses more than MDAV.
"""

from __future__ import annotations

import numpy as np

from shoal.columns.scaling import Records
from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.draws import Stream, draw, open_stream
from shoal.kernels.watch import STOP, new_watch
from shoal.partition.leftovers import group_centroids
from shoal.partition.mdav import mdav


def two_step_ga(
    records: Records,
    k: int,
    watch: Ints,
    *,
    part: int = 5,
    population: int = 20,
    generations: int = 200,
    seed: int = 0,
) -> Ints:
    """Partition records with MDAV, then each part with a genetic algorithm."""
    labels = mdav(records, k, watch)
    centroids = group_centroids(records.values, labels)
    together = np.zeros(len(centroids), dtype=np.int64)
    if len(centroids) >= part:
        together = mdav(Records(centroids), part, new_watch())
    by_part = np.lexsort((labels, together[labels]))
    stream, done, after = open_stream(seed), 0, 0
    found = np.zeros(len(records), dtype=np.int64)
    for size in np.bincount(together[labels]):
        if watch[STOP] != 0:
            break
        rows = by_part[done : done + size]
        values = np.ascontiguousarray(records.values[rows])
        start = np.unique(labels[rows], return_inverse=True)[1]
        best = _evolve(values, start, k, population, generations, stream)
        numbers, groups = np.unique(best, return_inverse=True)
        found[rows] = after + groups
        after, done = after + len(numbers), done + int(size)
    return found


@kernel
def _evolve(values: Floats, start: Ints, k: int, population: int, generations: int, stream: Stream) -> Ints:
    """Return the best chromosome (m,) of the last generation; ``values`` are (m, d)."""
    m, d = values.shape
    groups = start.max() + 1
    now, then = np.empty((population, m), np.int64), np.empty((population, m), np.int64)
    squares, next_squares = np.empty(population), np.empty(population)
    means, sizes = np.empty((groups, d)), np.empty(groups, np.int64)
    for i in range(population):
        now[i] = start
        if i > 0:
            _mutate(now[i], groups, stream)
            if not _dissolve_small(values, now[i], k, means, sizes):
                now[i] = start
        squares[i] = _squares(values, now[i], means, sizes)
    for _ in range(generations):
        then[0], next_squares[0] = now[np.argmin(squares)], squares.min()
        for i in range(1, population):
            a, b = _parent(squares, stream), _parent(squares, stream)
            cut = draw(stream, m)
            then[i, :cut] = now[a, :cut]
            then[i, cut:] = now[b, cut:]
            _mutate(then[i], groups, stream)
            if not _dissolve_small(values, then[i], k, means, sizes):
                then[i] = now[a]
            next_squares[i] = _squares(values, then[i], means, sizes)
        now, then = then, now
        squares, next_squares = next_squares, squares
    return now[np.argmin(squares)]


@kernel
def _parent(squares: Floats, stream: Stream) -> int:
    """The better of two chromosomes drawn at random."""
    a, b = draw(stream, squares.shape[0]), draw(stream, squares.shape[0])
    low, high = min(a, b), max(a, b)
    return high if squares[high] < squares[low] else low


@kernel
def _mutate(genes: Ints, groups: int, stream: Stream) -> None:
    """Change one to three genes."""
    for _ in range(1 + draw(stream, 3)):
        a = draw(stream, genes.shape[0])
        if draw(stream, 2) == 0:
            b = draw(stream, genes.shape[0])
            genes[a], genes[b] = genes[b], genes[a]
        else:
            genes[a] = draw(stream, groups)


@kernel
def _dissolve_small(values: Floats, genes: Ints, k: int, means: Floats, sizes: Ints) -> bool:
    """Let records of groups with fewer than k join those with the nearest centroids; False where all are small."""
    m, d = values.shape
    sizes[:] = 0
    for row in range(m):
        sizes[genes[row]] += 1
    small, large = False, False
    for g in range(sizes.shape[0]):
        small |= 0 < sizes[g] < k
        large |= sizes[g] >= k
    if not small or not large:
        return large
    _centroids(values, genes, means, sizes)
    for row in range(m):
        if sizes[genes[row]] >= k:
            continue
        best, nearest = np.inf, -1
        for g in range(sizes.shape[0]):
            if sizes[g] < k:
                continue
            total = 0.0
            for j in range(d):
                t = values[row, j] - means[g, j]
                total += t * t
            if total < best:
                best, nearest = total, g
        genes[row] = nearest
    return True


@kernel
def _centroids(values: Floats, genes: Ints, means: Floats, sizes: Ints) -> None:
    """Fill in the means and the sizes of the groups."""
    sizes[:] = 0
    means[:] = 0.0
    for row in range(values.shape[0]):
        sizes[genes[row]] += 1
        for j in range(values.shape[1]):
            means[genes[row], j] += values[row, j]
    for g in range(means.shape[0]):
        for j in range(means.shape[1]):
            means[g, j] /= max(sizes[g], 1)


@kernel
def _squares(values: Floats, genes: Ints, means: Floats, sizes: Ints) -> float:
    """Sum of squares within the groups."""
    _centroids(values, genes, means, sizes)
    total = 0.0
    for row in range(values.shape[0]):
        for j in range(values.shape[1]):
            t = values[row, j] - means[genes[row], j]
            total += t * t
    return total
