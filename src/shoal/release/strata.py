"""Strata: the combinations of columns that groups never mix, and what becomes of those with fewer than k records."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.blocking.strata import check_strata, merge_small_mixed_strata, merge_small_strata
from shoal.columns.quasi_identifiers import QuasiIdentifiers, join_sets
from shoal.kernels.arrays import Ints
from shoal.partition.missing_patterns import share_patterns
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


def strata_of_sets(declared: Declared, strata: Strata) -> tuple[list[QuasiIdentifiers], list[Ints]]:
    """Return the sets, and the strata of each.

    In a set of one column, records without a value are a stratum, unless the plan ignores patterns of missing cells:
    they have nothing else to lose. Where they are fewer than k, others lose theirs.
    """
    plan = declared.plan
    found = [
        share_patterns(quasi, strata.codes, plan.k)
        if len(quasi) == 1 and plan.missing_patterns == "counted"
        else (quasi, strata.codes)
        for quasi in declared.sets
    ]
    return [quasi for quasi, _ in found], [codes for _, codes in found]
