"""Strata: the combinations of columns that groups never mix, and what becomes of those with fewer than k records."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

import numpy as np

from shoal.blocking.strata import check_strata, merge_small_mixed_strata, merge_small_strata
from shoal.columns.quasi_identifiers import QuasiIdentifiers, join_sets
from shoal.kernels.arrays import Ints
from shoal.kernels.numbering import number_keys
from shoal.partition.conditions.centres import centres_of
from shoal.partition.conditions.growing import grow_groups
from shoal.partition.conditions.persons import EnoughPersons
from shoal.partition.missing_patterns import share_patterns
from shoal.release.declaring import Declared
from shoal.release.household_sizes import sizes_apart
from shoal.tables.households import Households
from shoal.tables.persons import Persons, identify
from shoal.tables.table import Table


@dataclass(frozen=True)
class Strata:
    """The stratum of each record, small ones merged where asked for, and how many the user declared.

    Attributes
    ----------
    codes : int64 (n,)
        The strata.
    declared : int
        How many the user declared.
    persons : list of Persons
        The identifiers that k counts beside records: those that repeat.
    doubtful : list of str
        Identifiers that repeat and that k does not count, although they may tell persons apart.
    within : dict of str to str
        Identifiers that k does not count since they number the records of each value of another, and which.
    cells : int or None
        How many parts the declared strata were in, where sizes of households are kept apart in each.
    """

    codes: Ints
    declared: int
    persons: list[Persons] = field(default_factory=list)
    doubtful: list[str] = field(default_factory=list)
    within: dict[str, str] = field(default_factory=dict)
    cells: int | None = None

    @property
    def merged(self) -> int:
        """Number of declared strata, or of sizes of households in these, that share the groups of another."""
        before = self.declared if self.cells is None else self.cells
        return before - len(np.unique(self.codes)) if self.declared else 0


def stratify(declared: Declared, table: Table) -> Strata:
    """Return the strata of a table; raises DataError where one has too few records or persons and may not be merged."""
    plan = declared.plan
    if declared.households:
        return _of_households(declared, declared.households, table)
    who = identify(table, plan.identifiers, plan.persons)
    codes, labels = np.zeros(len(table), dtype=np.int64), list[str]()
    if plan.strata:
        codes, labels = table.codes(plan.strata)
        if plan.small_strata == "error":
            check_strata(codes, labels, plan.k)
            for one in who.persons:
                check_strata(codes, labels, plan.k, one.codes, f"persons of identifier '{one.name}' (which repeats)")
            return Strata(codes, len(labels), who.persons, who.doubtful, who.within)
        together = join_sets(declared.sets)
        if together.mixed:
            codes = merge_small_mixed_strata(codes, together.counted(), plan.k)
        else:
            codes = merge_small_strata(codes, together.scaled(), plan.k)
    return Strata(_enough_persons(declared, codes, who.persons), len(labels), who.persons, who.doubtful, who.within)


def _of_households(declared: Declared, households: Households, table: Table) -> Strata:
    """Return strata in which sizes of households are apart, unless the plan does not count them."""
    plan, persons = declared.plan, households.persons
    codes, labels = table.codes(plan.strata) if plan.strata else (np.zeros(len(table), dtype=np.int64), [])
    if plan.small_strata == "error":
        if plan.strata:
            check_strata(codes, labels, plan.k, persons.codes, f"households ('{persons.name}')", persons.kind)
        sizes = sizes_apart(households, plan, codes[households.first], labels)
    else:
        sizes = sizes_apart(households, plan, np.zeros(len(households), dtype=np.int64), [])
    of_rows = sizes[households.codes]
    codes = number_keys(codes * (int(sizes.max()) + 1) + of_rows)[0]
    merged = _enough_persons(declared, codes, [persons], of_rows)
    return Strata(merged, len(labels), [persons], cells=int(codes.max()) + 1)


def _enough_persons(declared: Declared, codes: Ints, persons: list[Persons], within: Ints | None = None) -> Ints:
    """Merge strata with fewer than k persons with the nearest, ``within`` parts of the table where there are any.

    Raises DataError where the table, or such a part, has fewer.
    """
    if not persons:
        return codes
    groups = number_keys(codes)[0]
    enough = [EnoughPersons(one.name, one.codes, declared.plan.k, kind=one.kind) for one in persons]
    parts = np.zeros(len(codes), dtype=np.int64) if within is None else within
    merged = grow_groups(groups, [parts], enough, partial(centres_of, join_sets(declared.sets)))
    return codes if merged is groups else merged


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
