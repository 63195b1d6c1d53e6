"""How far apart two nodes of a hierarchy are: Wu-Palmer, path, and two by information content.

All come from a level of each node, which grows from the root downwards, and from the level of the least common
subsumer, with a, b the levels of the nodes and c that of the subsumer:

- ``wu-palmer``: 1 - 2 c / (a + b), levels are depths and the root's is 1 (Wu and Palmer 1994, as a distance in
  Martinez, Sanchez and Valls 2012). 0 to less than 1. Not a metric: the way over a third node can be shorter.
- ``path``: (a + b - 2 c) / (2 (height - 1)), levels are depths: the edges between them as a part of the longest way
  that two nodes of that height could need (Rada and others 1989). 0 to 1, a metric.
- ``information-content``: 1 - 2 c / (a + b), the level of a node is -log of the share of records at and below it
  (Resnik 1995, Lin 1998). Each node is counted as one record more, so that names which no record has keep a finite
  level and a child is always below its parent; the root's level is 0. 0 to 1.
- ``jiang-conrath``: (a + b - 2 c) / (2 times the highest level), with the same levels: what has to be forgotten and
  learnt on the way from one to the other (Jiang and Conrath 1997). 0 to 1, a metric in a tree.

Where nodes have several parents, the way over any common ancestor counts, and the shortest is the distance: with u, v
the fewest steps from the two nodes up to a common ancestor and c its depth, the least (u + v) / (u + v + 2 c) for
``wu-palmer`` and the least u + v for ``path``, which are the formulas above in a tree. By information content, the
common ancestor with the highest level is taken, as Resnik does.

All are symmetric, and zero on equal nodes only. A pair costs the height of the hierarchy; a matrix of m nodes m^2 times
that, in pieces, and 8 m^2 bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from shoal.columns.hierarchy.tree import Hierarchy
from shoal.errors import PlanError, did_you_mean
from shoal.kernels.arrays import Floats, Ints

DistanceKind = Literal["wu-palmer", "path", "information-content", "jiang-conrath"]
DISTANCES: tuple[str, ...] = get_args(DistanceKind)
COUNTED = ("information-content", "jiang-conrath")
"""Distances that depend on how many records have each value."""
_PIECE = 1 << 20  # cells of the paths compared at a time: 4 MB


def distance_matrix(
    hierarchy: Hierarchy, kind: str = "wu-palmer", frequencies: NDArray[np.generic] | None = None
) -> Floats:
    """Return the distances between all nodes, float64 (nodes, nodes).

    Prune a large hierarchy first, see :meth:`Hierarchy.pruned`, or ask :class:`NodeDistances` for what is needed.

    Parameters
    ----------
    hierarchy : Hierarchy
        Nodes.
    kind : {"wu-palmer", "path", "information-content", "jiang-conrath"}
        Which distance.
    frequencies : array (nodes,), optional
        Records with each node as their value, for the kinds in :data:`COUNTED`.

    Examples
    --------
    >>> from shoal.columns.hierarchy import grow
    >>> pets = grow([("cat", "mammal"), ("dog", "mammal"), ("mammal", "animal"), ("frog", "animal")])
    >>> pets.names
    ('animal', 'mammal', 'cat', 'dog', 'frog')
    >>> distance_matrix(pets)[2].round(3).tolist()
    [0.5, 0.2, 0.0, 0.333, 0.6]
    """
    return NodeDistances.of(hierarchy, kind, frequencies).matrix()


@dataclass(frozen=True, eq=False)
class NodeDistances:
    """Distances between nodes of a hierarchy, asked for pair by pair or as a matrix of some of them.

    Attributes
    ----------
    hierarchy : Hierarchy
        Nodes.
    levels : float64 array (nodes,)
        How far down each node is, in the sense of the kind.
    span : float or None
        What ``a + b - 2 c`` is divided by; None divides by ``a + b``.
    counted : bool
        Whether levels come from the records.
    """

    hierarchy: Hierarchy
    levels: Floats
    span: float | None
    counted: bool = False

    @classmethod
    def of(
        cls, hierarchy: Hierarchy, kind: str = "wu-palmer", frequencies: NDArray[np.generic] | None = None
    ) -> NodeDistances:
        """Prepare a kind of distance; ``frequencies`` (nodes,) are for :data:`COUNTED` only."""
        if kind not in DISTANCES:
            raise PlanError(f"there is no distance '{kind}'{did_you_mean(kind, DISTANCES)}; {', '.join(DISTANCES)}")
        if (kind in COUNTED) != (frequencies is not None):
            problem = "needs the frequencies of the nodes" if frequencies is None else "takes no frequencies"
            raise PlanError(f"distance '{kind}' {problem}")
        if frequencies is not None:
            counts = np.asarray(frequencies, dtype=np.float64)
            if counts.shape != (len(hierarchy),) or not np.all(np.isfinite(counts)) or np.any(counts < 0):
                raise PlanError("frequencies: one number for each node of the hierarchy, none below 0")
            records = hierarchy.totals(counts + 1.0)
            levels = np.log(records[0] / records)
            return cls(hierarchy, levels, None if kind != "jiang-conrath" else 2.0 * max(levels.max(), 1e-300), True)
        levels = hierarchy.depth.astype(np.float64)
        return cls(hierarchy, levels, None if kind == "wu-palmer" else 2.0 * max(hierarchy.height - 1, 1))

    def between(self, a: Ints | int, b: Ints | int) -> Floats:
        """Return the distances between nodes, pair by pair; shapes are broadcast.

        >>> from shoal.columns.hierarchy import grow
        >>> pets = grow([("cat", "mammal"), ("dog", "mammal"), ("mammal", "animal")])
        >>> NodeDistances.of(pets, "path").between(2, np.array([0, 1, 2, 3])).tolist()
        [0.5, 0.25, 0.0, 0.5]
        """
        a, b = np.broadcast_arrays(np.asarray(a, dtype=np.int64), np.asarray(b, dtype=np.int64))
        shape, a, b = a.shape, a.ravel(), b.ravel()
        found = np.empty(len(a))
        step = max(1, _PIECE // self.hierarchy.height)
        for start in range(0, len(a), step):
            piece = slice(start, start + step)
            found[piece] = self._pairs(a[piece], b[piece])
        return found.reshape(shape)

    def _pairs(self, a: Ints, b: Ints) -> Floats:
        if not self.hierarchy.is_tree:
            return np.array([self._over_all(x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True)])
        common = self.levels[self.hierarchy.least_common_subsumer(a, b)]
        sums = self.levels[a] + self.levels[b]
        if self.span is not None:
            return (sums - 2.0 * common) / self.span
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(a == b, 0.0, 1.0 - 2.0 * common / sums)

    def _over_all(self, a: int, b: int) -> float:
        """Distance of two nodes over the best of their common ancestors."""
        if a == b:
            return 0.0
        one, other = self.hierarchy.ways[a], self.hierarchy.ways[b]
        common = one.keys() & other.keys()
        if self.counted:
            sums, shared = self.levels[a] + self.levels[b], max(self.levels[node] for node in common)
            return float((sums - 2.0 * shared) / (sums if self.span is None else self.span))
        if self.span is not None:
            return min(one[node] + other[node] for node in common) / self.span
        steps = ((one[node] + other[node], self.levels[node]) for node in common)
        return float(min(way / (way + 2.0 * level) for way, level in steps))

    def matrix(self, rows: Ints | None = None, columns: Ints | None = None) -> Floats:
        """Return the distances of nodes (rows,) from nodes (columns,); from and to all nodes where None."""
        every = np.arange(len(self.hierarchy))
        down, across = (every if rows is None else rows), (every if columns is None else columns)
        matrix = np.empty((len(down), len(across)))
        for row, code in enumerate(down):
            matrix[row] = self.between(int(code), across)
        return matrix
