"""Value generalisation hierarchies: what the categories of a column are kinds of, and how far apart they are."""

from __future__ import annotations

from shoal.hierarchy.distances import DISTANCES, NodeDistances, distance_matrix
from shoal.hierarchy.growing import grow
from shoal.hierarchy.tree import Hierarchy

__all__ = ["DISTANCES", "Hierarchy", "NodeDistances", "distance_matrix", "grow"]
