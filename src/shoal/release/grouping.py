"""From strata and blocks to groups: partition, keep alike what is missing, grow until every condition holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from shoal.blocking.blocks import joined_by_groups
from shoal.columns.quasi_identifiers import QuasiIdentifiers
from shoal.kernels.arrays import Ints
from shoal.kernels.numbering import number_keys
from shoal.kernels.threads import Report
from shoal.partition.conditions.condition import Condition
from shoal.partition.missing_patterns import alike_in_groups, share_patterns
from shoal.release.conditions import conditions_of, counting_persons, grow_sets, repair_sets
from shoal.release.declaring import Declared
from shoal.release.partitioning import partition_sets
from shoal.release.searching import Searched, half_time, same_steps, search_sets
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
    without : Grouped or None
        The same where nothing is asked of confidential columns; None where nothing is.
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
    without: Grouped | None = None


def form_groups(
    declared: Declared,
    table: Table,
    strata: Strata,
    *,
    apart: Sequence[Ints],
    blocks: Sequence[Ints],
    report: Report,
    threads: int | None,
) -> Grouped:
    """Partition each set of quasi-identifiers inside its strata ``apart`` and ``blocks``."""
    twice = bool(declared.told and declared.method.search)
    groups, searched = partition_sets(half_time(declared) if twice else declared, apart, blocks, report, threads)
    made = Grouped(declared.sets, apart, blocks, groups, [], [], searched)
    if declared.told is None:
        return complete_groups(made, groups, declared, table, strata, threads=threads)
    untold = replace(declared, told=None)
    alone = groups
    if declared.method.told:  # what it would do by k alone
        alone, _ = partition_sets(untold, apart, blocks, report, threads)
    without = complete_groups(made, alone, untold, table, strata, threads=threads)
    if searched:
        groups, interrupted = search_told(declared, groups, made, strata, searched, report=report, threads=threads)
        made = replace(made, searched=replace(searched, interrupted=searched.interrupted or interrupted))
    return replace(complete_groups(made, groups, declared, table, strata, threads=threads), without=without)


def search_told(
    declared: Declared,
    groups: list[Ints],
    made: Grouped,
    strata: Strata,
    searched: Searched,
    *,
    report: Report,
    threads: int | None,
) -> tuple[list[Ints], bool]:
    """Search for groups that keep what is asked of confidential columns, from those of a search that does not know it.

    Where these keep it already, nothing is searched. Otherwise they are repaired first, and the search takes as many
    steps again, or as many as suit it where none are asked for. Returns the groups, and whether somebody ended it
    early.
    """
    assert declared.told is not None
    assert declared.method.search is not None
    within = [(codes, strata.codes) for codes in made.apart]
    begin = repair_sets(declared, groups, within, strata.persons, threads)
    again = same_steps(declared, searched)
    if again is None or all(now is before for now, before in zip(begin, groups, strict=True)):
        return begin, False
    limits = counting_persons(declared.told, strata.persons, declared.plan.k).limits
    blocks = [joined_by_groups(codes, own) for codes, own in zip(made.blocks, begin, strict=True)]
    plain = {name: value for name, value in again.options.items() if name not in ("gap", "bound")}
    again = replace(again, options={**plain, **dict.fromkeys(set(again.options) - set(plain))})
    found, second = search_sets(declared.method.search, again, blocks, report, threads, limits=limits, begin=begin)
    return [number_keys(own)[0] for own in found], second.interrupted


def complete_groups(
    made: Grouped, groups: list[Ints], declared: Declared, table: Table, strata: Strata, *, threads: int | None
) -> Grouped:
    """Return what was made with other groups, in which what is missing is alike, and every condition holds."""
    plan, apart = declared.plan, made.apart
    patterns = plan.missing_patterns == "counted"
    if patterns:
        # a search has found its groups as they are; those of other methods may be large, and are repaired once cut
        kept = counting_persons(declared.told, strata.persons, plan.k) if declared.told and made.searched else None
        alike = [share_patterns(*pair, plan.k, kept) for pair in zip(declared.sets, groups, strict=True)]
        declared, groups = replace(declared, sets=[quasi for quasi, _ in alike]), [own for _, own in alike]
    conditions = conditions_of(declared, table, strata.persons)
    within = [(codes, strata.codes) for codes in apart]
    repaired = repair_sets(declared, groups, within, strata.persons, threads, patterns)
    grown = grow_sets(declared, repaired, within, conditions, threads)
    merged = [int(was.max()) - int(now.max()) for was, now in zip(repaired, grown, strict=True)]
    changed = any(now is not before for now, before in zip(grown, groups, strict=True))
    sets, groups = declared.sets, grown
    if changed and patterns:
        sets = [alike_in_groups(*pair) for pair in zip(sets, groups, strict=True)]
    return replace(made, sets=sets, groups=groups, conditions=conditions, merged=merged)
