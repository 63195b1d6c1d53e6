"""The values of a confidential column: in an order, or in a tree, with the shares of the table.

Numbers, dates and ordinal columns have an order. The distance of two distributions is the mean difference of their
distribution functions over the m - 1 steps between the m values that occur. Columns with a hierarchy have its tree:
two values are as far apart as their least common ancestor is high, as a part of the height of the root. All others are
equal or not, which is a tree of one level. (N. Li, T. Li and S. Venkatasubramanian, t-closeness: privacy beyond
k-anonymity and l-diversity, ICDE 2007.)

Where values are missing, that is a value of its own: it counts for diversity, and in a tree it is as far from all
others as can be. It has no place in an order, so that it is left out of distances there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.columns.categories import AnyColumn, Category
from shoal.columns.hierarchy import Hierarchy
from shoal.errors import DataError
from shoal.kernels.arrays import Floats, Ints
from shoal.plan.roles import Kind


@dataclass(frozen=True)
class Distribution:
    """A confidential column as conditions see it.

    Attributes
    ----------
    name : str
        Name of the column.
    distance : {"ordered", "equal", "hierarchy"}
        How far apart its values are.
    codes : int64 (n,)
        Number of each record's value, in order, or in that of the tree; that of missing values is the last.
    counts : int64 (values,)
        How many records of the whole table have each.
    known : int
        Values that are not missing.
    parent : int64 (nodes,)
        Node above each, of which the first are the values; -1 at the top. Empty where there is an order.
    length : float64 (nodes,)
        Of the way up from each node.
    """

    name: str
    distance: str
    codes: Ints
    counts: Ints
    known: int
    parent: Ints
    length: Floats

    @property
    def ordered(self) -> bool:
        """Whether the values have an order."""
        return self.distance == "ordered"

    def shares(self) -> Floats:
        """Return the share of the table up to each value of an order, or below each node of a tree."""
        if self.ordered:
            counts = self.counts[: self.known]
            return np.cumsum(counts) / max(int(counts.sum()), 1)
        below = np.zeros(len(self.parent))
        for code, count in enumerate(self.counts.tolist()):
            node = code
            while node >= 0:
                below[node] += count
                node = int(self.parent[node])
        return below / max(int(self.counts.sum()), 1)


def distribution_of(column: AnyColumn) -> Distribution:
    """Return the values of a column of any kind as conditions see them.

    >>> from shoal.columns.numbers import Column
    >>> pay = distribution_of(Column("pay", np.array([7, 3, 7, 0]), np.array([True, True, True, False])))
    >>> pay.codes.tolist(), pay.counts.tolist(), pay.shares().tolist()
    ([1, 0, 1, 2], [1, 2, 1], [0.3333333333333333, 1.0])
    """
    observed = column.observed
    tree = column.hierarchy if isinstance(column, Category) else None
    values = column.nodes[column.values] if tree is not None and isinstance(column, Category) else column.values
    present, numbered = np.unique(values[observed], return_inverse=True)
    known = len(present)
    codes = np.full(len(observed), known, dtype=np.int64)
    codes[observed] = numbered.reshape(-1)
    counts = np.bincount(codes, minlength=known)
    made = len(counts)
    if not isinstance(column, Category) or column.kind is Kind.ORDINAL:
        return Distribution(column.name, "ordered", codes, counts, known, np.empty(0, np.int64), np.empty(0))
    if tree is None or not known:
        return Distribution(column.name, "equal", codes, counts, known, np.full(made, -1), np.full(made, 0.5))
    parent, length = _tree(column.name, tree, present.astype(np.int64), made)
    return Distribution(column.name, "hierarchy", codes, counts, known, parent, length)


def _tree(name: str, hierarchy: Hierarchy, nodes: Ints, values: int) -> tuple[Ints, Floats]:
    """Return the parents and the lengths of the way up of values, which are leaves of their own, and of all above them.

    A value that is an inner node is a leaf below it. A value that is missing is a leaf below nothing.
    """
    if not hierarchy.is_tree:
        raise DataError(
            f"conditions.{name}: t is measured in a tree, and the hierarchy of the column has nodes with several "
            "parents; leave several_parents out, or name the column as nominal"
        )
    height = np.zeros(len(hierarchy), dtype=np.int64)
    for node in range(len(hierarchy) - 1, 0, -1):
        above = hierarchy.parent[node]
        height[above] = max(height[above], height[node] + 1)
    top = max(int(height[0]), 1)
    kept = np.unique(np.concatenate([hierarchy.paths[node][hierarchy.paths[node] >= 0] for node in nodes]))
    kept = kept[kept != 0]  # nothing passes the root
    place = np.full(len(hierarchy), -1)
    place[kept] = values + np.arange(len(kept))
    parent, length = np.full(values + len(kept), -1), np.full(values + len(kept), 0.5)
    inner = ~hierarchy.leaves[nodes]
    above = np.where(inner, nodes, hierarchy.parent[nodes])
    parent[: len(nodes)] = np.where(above >= 0, place[above], -1)
    length[: len(nodes)] = height[np.maximum(above, 0)] / (2.0 * top)
    parent[values:] = place[hierarchy.parent[kept]]
    length[values:] = (height[hierarchy.parent[kept]] - height[kept]) / (2.0 * top)
    return parent.astype(np.int64), length
