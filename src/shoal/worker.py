"""What runs on one block: pure functions of arrays, with everything that a remote executor needs to import."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from shoal.aggregate import aggregate
from shoal.arrays import Flags, Floats, Ints, Numbers
from shoal.encode import Column, Scale, encode
from shoal.kernels.representatives import Grouping
from shoal.partition import METHODS
from shoal.partition.refine import refine


def partition_block(
    columns: list[Column],
    scales: list[Scale],
    k: int,
    method: str,
    options: Mapping[str, object],
    seed: int,
    refined: bool,
    threads: int,
    watch: Ints,
) -> Ints:
    """Encode the rows of a block and return their groups, numbered from 0, refined where asked for.

    Scales are those of the whole table, so that blocks can be compared. ``threads`` are those that this block has to
    itself.
    """
    records = replace(encode(columns, scales), threads=threads)
    found = METHODS[method]
    drawn = {"seed": seed} if found.seeded else {}
    groups = found.function(records, k, watch, **options, **drawn)
    return refine(records, groups, k, watch) if refined else groups


def aggregate_column(
    column: Column, grouping: Grouping, k: int, aggregator: str, weights: Floats | None, watch: Ints
) -> tuple[Numbers, Flags]:
    """Return the released values of a column, and which of them there are."""
    return aggregate(column, grouping, k, aggregator, weights)
