"""Value generalisation hierarchies: what the categories of a column are kinds of, and how far apart they are."""

from __future__ import annotations

from shoal.hierarchy.distances import DISTANCES, NodeDistances, distance_matrix
from shoal.hierarchy.growing import grow
from shoal.hierarchy.loading import check_covered, load_hierarchy, uncovered
from shoal.hierarchy.nested import write_nested
from shoal.hierarchy.rows import write_rows
from shoal.hierarchy.tree import Hierarchy

__all__ = [
    "DISTANCES",
    "Hierarchy",
    "NodeDistances",
    "check_covered",
    "distance_matrix",
    "grow",
    "load_hierarchy",
    "uncovered",
    "write_nested",
    "write_rows",
]
