"""Suppressed cells: what is missing in the release and was not in the original."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shoal.measures.comparison import Comparison


def suppressed_cells(comparison: Comparison) -> int:
    """Return how many cells of the quasi-identifiers are missing in the release only."""
    return sum(pair.suppressed for pair in comparison.pairs)
