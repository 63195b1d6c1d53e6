"""What an engine hands each block to: one pure function of its records, wherever it runs.

A block is protected as a table of its own, with the scales, codes and centres of the whole table. Its seed is made of
that of the plan and of its place in the tree, so that neither the machine nor the order plays a part; its records are
in the order of their row numbers. A search has the part of the steps that its records are of all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.columns.categories import AnyColumn
from shoal.columns.numbers import Column
from shoal.errors import DataError, counted
from shoal.kernels.arrays import Ints, Masked
from shoal.plan.limits import LARGEST_SEED
from shoal.plan.plan import Plan
from shoal.release.clock import Clock
from shoal.release.confidential import check_possible, confidential_of
from shoal.release.declaring import Declared
from shoal.release.figures import SetFigures
from shoal.release.protecting import protect_records
from shoal.tables.decimals import NOTHING_SAID, Precision
from shoal.tables.part_of_table import part_of_set, part_of_weights
from shoal.tables.table import Table, open_table

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class ProtectedBlock:
    """What a block is released as.

    Attributes
    ----------
    released : dict of Masked
        Values of each quasi-identifier, as those of the column are held, and which there are.
    groups : int64 (n,)
        Number of each record's group in the block.
    figures : SetFigures
        What is counted and added up.
    """

    released: dict[str, Masked]
    groups: Ints
    figures: SetFigures


@dataclass(frozen=True)
class BlockWorker:
    """Protects the blocks of one set of quasi-identifiers.

    Attributes
    ----------
    declared : Declared
        The plan with that set alone, whose columns say how values are held.
    weight : Column or None
        The sampling weights, in the same way.
    place : int
        The place of the set among all.
    records : int
        Of the whole table.
    asked : dict
        Decimals that the plan asks for.
    """

    declared: Declared
    weight: Column | None
    place: int
    records: int
    asked: Mapping[str, Any]

    @property
    def columns(self) -> list[str]:
        """The columns that a block needs."""
        plan = self.declared.plan
        ruled = [name for rule in self.declared.rules for name in rule.variables]
        weight = [plan.weight] if plan.weight else []
        return list(
            dict.fromkeys([*self.declared.sets[0].names, *weight, *(plan.persons or ()), *ruled, *plan.conditions])
        )

    @property
    def released_columns(self) -> list[str]:
        """Those that are released."""
        return self.declared.sets[0].names

    @property
    def held(self) -> dict[str, AnyColumn]:
        """How the values of released columns are held, by name."""
        return {column.name: column for column in self.declared.sets[0].columns}

    def protect(self, block: int, frame: pl.DataFrame) -> ProtectedBlock:
        """Protect the records of a block, in the order of their row numbers."""
        declared, table = self.of_block(block, frame)
        try:
            check_possible(declared.told, np.zeros(len(frame), dtype=np.int64))
        except DataError as error:
            raise DataError(
                f"{error}; a block had {counted(len(frame), 'record')}: ask for larger ones (blocking.size)"
            ) from None
        made = protect_records(declared, table, None, Clock(), threads=1, progress=False)
        part = made.run.protected[0]
        released = {column.name: now for column, now in part.columns()}
        return ProtectedBlock(released, part.groups, made.run.figures_of_block())

    def put(self, frame: pl.DataFrame, block: ProtectedBlock) -> pl.DataFrame:
        """Return the quasi-identifiers of a block as they are released."""
        table, held = open_table(frame.select(self.released_columns)), self.held
        found: pl.DataFrame = table.replace({name: (held[name], *now) for name, now in block.released.items()}, [])
        return found

    def of_block(self, block: int, frame: pl.DataFrame) -> tuple[Declared, Table]:
        """Return the plan and the table of a block."""
        table = open_table(frame, Precision(dict(self.asked)) if self.asked else NOTHING_SAID)
        plan, options = self.declared.plan, dict(self.declared.options)
        if options.get("steps") is not None:
            options["steps"] = int(options["steps"]) * len(frame) // self.records
        plan = plan.model_copy(
            update={
                "strata": (),
                "blocking": None,
                "engine": None,
                "identifiers": tuple(plan.persons or ()),
                "seed": seed_of(plan, self.place, block),
            }
        )
        weights = None if self.weight is None else part_of_weights(self.weight, table)
        sets = [part_of_set(quasi, table) for quasi in self.declared.sets]
        told = confidential_of(table, plan, self.declared.near)
        return replace(self.declared, plan=plan, options=options, sets=sets, weights=weights, told=told), table


def seed_of(plan: Plan, place: int, block: int) -> int:
    """Return the seed of a block: a hash of that of the plan, the set and the place of the block.

    >>> plan = Plan(k=3, quasi_identifiers="a")
    >>> seed_of(plan, 0, 1) == seed_of(plan, 0, 1), seed_of(plan, 0, 1) == seed_of(plan, 0, 2)
    (True, False)
    """
    digest = hashlib.blake2b(f"{plan.seed}/{place}/{block}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") % LARGEST_SEED
