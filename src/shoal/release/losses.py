"""What sets of quasi-identifiers have lost, as it will be measured from the two tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shoal.aggregate.sets import ProtectedSet
from shoal.measures.loss import Losses, measure_losses
from shoal.measures.pairs import Pair, WholeColumn, pair_of
from shoal.release.declaring import Declared


def losses_of(protected: Sequence[ProtectedSet], declared: Declared) -> Losses:
    """Measure what some sets have lost."""
    return measure_losses([pairs_of(part, declared.whole) for part in protected], declared.plan.column_weights)


def pairs_of(part: ProtectedSet, whole: Mapping[str, WholeColumn]) -> list[Pair]:
    """Put each column of a set beside what is released for it."""
    return [
        pair_of(column, released, scale, whole.get(column.name))
        for (column, released), scale in zip(part.columns(), part.quasi.scales, strict=True)
    ]
