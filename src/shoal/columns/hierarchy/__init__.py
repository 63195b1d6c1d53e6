"""Value generalisation hierarchies: what the categories of a column are kinds of, and how far apart they are."""

from __future__ import annotations

from shoal.columns.hierarchy.distances import COUNTED, DISTANCES, NodeDistances, distance_matrix
from shoal.columns.hierarchy.from_values import name_of
from shoal.columns.hierarchy.growing import grow
from shoal.columns.hierarchy.loading import check_covered, load_hierarchy, uncovered
from shoal.columns.hierarchy.rows import write_rows
from shoal.columns.hierarchy.sibling_order import order_values
from shoal.columns.hierarchy.tree import Hierarchy

__all__ = [
    "COUNTED",
    "DISTANCES",
    "Hierarchy",
    "NodeDistances",
    "check_covered",
    "distance_matrix",
    "grow",
    "load_hierarchy",
    "name_of",
    "order_values",
    "uncovered",
    "write_rows",
]
