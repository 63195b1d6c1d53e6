"""Confidential columns of a table that an engine has: how their values are distributed, which t compares groups with.

One pass counts the values of each such column, and they are held as a column with one record for each. The records of a
block are numbered as if they stood below these, so that every block sees the values, the order or tree, and the shares
of the whole table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from shoal.columns.categories import AnyColumn
from shoal.engines.engine import Engine
from shoal.errors import DataError
from shoal.kernels.arrays import Ints
from shoal.partition.conditions.distributions import Distribution, distribution_of
from shoal.plan.decimals import as_decimals
from shoal.plan.plan import Plan
from shoal.release.quasi_identifiers import column_of
from shoal.release.survey import Surveyor
from shoal.tables.part_of_table import part_of_column
from shoal.tables.table import Table, open_table

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class WholeDistribution:
    """The values of a confidential column in the whole table.

    Attributes
    ----------
    column : AnyColumn
        One record for each value, and one for all that are missing.
    counts : int64 (values,)
        How many records of the table have each.
    """

    column: AnyColumn
    counts: Ints

    def of(self, part: Table) -> Distribution:
        """Return the values of some records of the table, with the shares of the whole."""
        own, values = part_of_column(self.column, part), len(self.counts)
        both = replace(
            self.column,
            values=np.concatenate([self.column.values, own.values]),
            observed=np.concatenate([self.column.observed, own.observed]),
        )
        found = distribution_of(both)
        counts = np.bincount(found.codes[:values], self.counts, minlength=len(found.counts))
        return replace(found, codes=found.codes[values:], counts=counts.astype(np.int64))


def whole_distributions(engine: Engine, plan: Plan) -> Mapping[str, WholeDistribution]:
    """Count the values of confidential columns of which t is asked, in one pass."""
    near = tuple(name for name, asked in plan.conditions.items() if asked.t is not None)
    if not near:
        return {}
    survey = engine.add_up(near, Surveyor((), near))
    precision = replace(engine.precision, asked=as_decimals(plan.decimals or {}))
    found, reasons = {}, []
    for name in near:
        each: pl.DataFrame = survey.columns[name].found
        table = open_table(each.select("value").rename({"value": name}), precision)
        try:
            found[name] = WholeDistribution(column_of(table, name, plan), each["count"].to_numpy())
            distribution_of(found[name].column)
        except DataError as error:
            reasons += [f"conditions: {mistake}" for mistake in error.mistakes]
    if reasons:
        raise DataError(reasons)
    return found
