"""What sets of quasi-identifiers have lost, as it will be measured from the two tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shoal.aggregate.sets import ProtectedSet
from shoal.measures.loss import Losses, measure_losses
from shoal.measures.pairs import pair_of


def losses_of(protected: Sequence[ProtectedSet], column_weights: Mapping[str, float]) -> Losses:
    """Measure what some sets have lost."""
    sets = [
        [
            pair_of(column, released, scale)
            for (column, released), scale in zip(part.columns(), part.quasi.scales, strict=True)
        ]
        for part in protected
    ]
    return measure_losses(sets, column_weights)
