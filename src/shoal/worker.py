"""Protect one block: a pure function of arrays, with everything that a remote executor needs to import."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from shoal.aggregate import aggregate
from shoal.arrays import Flags, Floats, Ints, Numbers
from shoal.encode import Column, Scale, encode
from shoal.kernels.representatives import group_rows
from shoal.partition import METHODS


@dataclass(frozen=True)
class Block:
    """Rows that are protected together.

    Attributes
    ----------
    columns, scales
        The quasi-identifiers of one set, and how each is scaled. Scales are those of the whole table, so that
        blocks can be compared.
    weights : float64 (n,) or None
        Sampling weights.
    """

    columns: list[Column]
    scales: list[Scale]
    weights: Floats | None = None

    def __len__(self) -> int:
        return len(self.columns[0].values)


@dataclass(frozen=True)
class ProtectedBlock:
    """Groups of a block's rows, and for each column the released values and which of them there are."""

    groups: Ints
    released: list[tuple[Numbers, Flags]]


def protect_block(
    block: Block,
    k: int,
    method: str,
    options: Mapping[str, object],
    aggregators: list[str],
    watch: Ints,
) -> ProtectedBlock:
    """Encode, partition and aggregate the rows of a block."""
    groups = METHODS[method].function(encode(block.columns, block.scales), k, watch, **options)
    grouping = group_rows(groups)
    released = [
        aggregate(column, grouping, k, aggregator, block.weights)
        for column, aggregator in zip(block.columns, aggregators, strict=True)
    ]
    return ProtectedBlock(groups, released)
