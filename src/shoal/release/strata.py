"""Strata: what groups never mix. Combinations of columns, and patterns of missing cells; none has fewer than k records."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.blocking.missing_patterns import Patterns, released_patterns
from shoal.blocking.strata import check_strata, merge_small_mixed_strata, merge_small_strata
from shoal.columns.quasi_identifiers import join_sets
from shoal.kernels.arrays import Ints
from shoal.release.declaring import Declared
from shoal.tables.table import Table


@dataclass(frozen=True)
class Strata:
    """The stratum of each record, small ones merged where asked for, and how many the user declared."""

    codes: Ints
    declared: int

    @property
    def merged(self) -> int:
        """Number of declared strata that share the groups of another."""
        return self.declared - len(np.unique(self.codes)) if self.declared else 0


def stratify(declared: Declared, table: Table) -> Strata:
    """Return the strata of a table; raises DataError where one is too small and may not be merged."""
    plan = declared.plan
    if not plan.strata:
        return Strata(np.zeros(len(table), dtype=np.int64), 0)
    codes, labels = table.codes(plan.strata)
    if plan.small_strata == "error":
        check_strata(codes, labels, plan.k)
        return Strata(codes, len(labels))
    together = join_sets(declared.sets)
    if together.mixed:
        return Strata(merge_small_mixed_strata(codes, together.counted(), plan.k), len(labels))
    return Strata(merge_small_strata(codes, together.scaled(), plan.k), len(labels))


def patterns_of_sets(declared: Declared, strata: Strata) -> list[Patterns]:
    """Return which cells of each set are released as missing, and strata of records that are alike in that.

    Where the plan ignores patterns of missing cells, sets and strata are as they were.
    """
    if declared.plan.missing_patterns == "ignored":
        return [Patterns(quasi, strata.codes, {}) for quasi in declared.sets]
    return [released_patterns(quasi, strata.codes, declared.plan.k) for quasi in declared.sets]
