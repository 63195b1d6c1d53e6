"""From strata and blocks to groups: partition, keep alike what is missing, grow until every condition holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from shoal.columns.quasi_identifiers import QuasiIdentifiers
from shoal.kernels.arrays import Ints
from shoal.kernels.threads import Report
from shoal.partition.conditions.condition import Condition
from shoal.partition.missing_patterns import alike_in_groups, share_patterns
from shoal.release.conditions import conditions_of, grow_sets
from shoal.release.declaring import Declared
from shoal.release.partitioning import partition_sets
from shoal.release.searching import Searched
from shoal.release.strata import Strata
from shoal.tables.table import Table


@dataclass(frozen=True)
class Grouped:
    """Groups that meet every condition, for each set of quasi-identifiers.

    Attributes
    ----------
    sets : list of QuasiIdentifiers
        Each set without the cells that are suppressed for patterns of missing cells.
    apart : list of int64 (n,)
        The stratum of each record, with antecedents of rules.
    blocks : list of int64 (n,)
        The block of each record.
    groups : list of int64 (n,)
        The group of each record.
    conditions : list of list of Condition
        What the groups meet beside their size.
    merged : list of int
        How many groups of each set were merged with others, so that they do.
    searched : Searched or None
        What a search did.
    """

    sets: list[QuasiIdentifiers]
    apart: Sequence[Ints]
    blocks: Sequence[Ints]
    groups: list[Ints]
    conditions: list[list[Condition]]
    merged: list[int]
    searched: Searched | None


def form_groups(
    declared: Declared,
    table: Table,
    strata: Strata,
    *,
    apart: Sequence[Ints],
    blocks: Sequence[Ints],
    report: Report,
    threads: int | None,
    seen: Sequence[QuasiIdentifiers] | None = None,
) -> Grouped:
    """Partition each set of quasi-identifiers inside its strata ``apart`` and ``blocks``.

    The method sees other columns where they are given as ``seen``: then nothing that a search proves is kept.
    """
    by = declared if seen is None else replace(declared, sets=list(seen))
    groups, searched = partition_sets(by, apart, blocks, report, threads)
    if searched and seen is not None:
        searched = replace(searched, reached=None, bound=None, gap=None)
    made = Grouped(declared.sets, apart, blocks, groups, [], [], searched)
    return complete_groups(made, groups, declared, table, strata, threads=threads)


def complete_groups(
    made: Grouped, groups: list[Ints], declared: Declared, table: Table, strata: Strata, *, threads: int | None
) -> Grouped:
    """Return what was made with other groups, in which what is missing is alike, and every condition holds."""
    plan, apart = declared.plan, made.apart
    patterns = plan.missing_patterns == "counted"
    if patterns:
        alike = [share_patterns(*pair, plan.k) for pair in zip(declared.sets, groups, strict=True)]
        declared, groups = replace(declared, sets=[quasi for quasi, _ in alike]), [own for _, own in alike]
    conditions = conditions_of(declared, table, strata.persons)
    before = groups
    groups = grow_sets(declared, groups, [(codes, strata.codes) for codes in apart], conditions, threads)
    sets = declared.sets
    merged = [int(was.max()) - int(now.max()) for was, now in zip(before, groups, strict=True)]
    if any(merged) and patterns:
        sets = [alike_in_groups(*pair) for pair in zip(sets, groups, strict=True)]
    return replace(made, sets=sets, groups=groups, conditions=conditions, merged=merged)
