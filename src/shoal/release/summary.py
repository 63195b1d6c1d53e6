"""What was done and what it cost: the summary of a release."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shoal.aggregate.sets import ProtectedSet
from shoal.columns.categories import AnyColumn, Category
from shoal.columns.mixed import distinct_records
from shoal.columns.quasi_identifiers import QuasiIdentifiers
from shoal.errors import counted, decimal, fewer_others, listed, one_or_many
from shoal.kernels.arrays import Ints, Masked
from shoal.measures.figures import NamedFigures
from shoal.measures.loss import Losses, measure_losses
from shoal.measures.pairs import pair_of
from shoal.partition.missing_patterns import number_patterns
from shoal.plan.version import shoal_version
from shoal.release.declaring import Declared
from shoal.release.own_values import OwnValues, own_value_notes
from shoal.release.released_gap import released_gap, rounding_note
from shoal.release.searching import Searched
from shoal.release.strata import Strata
from shoal.rules.accounting import RuleSummary
from shoal.tables.files import Source, marked_in_several_ways

_MERGED = "share groups with their nearest; their labels are"


@dataclass(frozen=True)
class SetSummary:
    """One set of quasi-identifiers that was microaggregated by itself."""

    columns: list[str]
    groups: int
    smallest_group: int
    largest_group: int


@dataclass(frozen=True)
class Summary(NamedFigures):
    """What was done and what it cost; also a mapping of its names to its values.

    Attributes
    ----------
    method, options, k, seed
        As asked for, with the defaults filled in.
    records : int
        Rows of the table.
    groups, smallest_group, largest_group : int
        Number of groups over all sets, and their sizes.
    sse, sst, information_loss : float
        What was lost and what there was to lose, and their ratio in percent, which is the mean of the losses of the
        columns; the same as :func:`shoal.measure` gives, see docs/measures.md. Of numbers, squares of z-scores.
    loss : float
        The same as ``information_loss``.
    loss_by_column : dict
        Information loss of each quasi-identifier in percent.
    record_loss : float or None
        Squared distances of whole records that mix kinds over those from the centre, in percent, with the scaling of
        the plan; None where there are no categories.
    global_risk : float or None
        Mean over the records of 1 / the number of records with the same released quasi-identifiers, in percent; None
        where there are no categories.
    distinct_before, distinct_after : int or None
        Combinations of quasi-identifiers in the original and in the release; None where there are no categories.
    missing_patterns : {"counted", "ignored"}
        Whether k records share which of their cells are missing, too, as asked for.
    suppressed_cells : int
        Cells that are missing in the release and were not before.
    suppressed_for_patterns : dict
        Those that are suppressed so that at least k records share which of their cells are missing, by column; columns
        without any are left out.
    constant_columns : list of str
        Quasi-identifiers with a single value, which play no part.
    strata, merged_strata, blocks : int
        Number of strata declared, how many of them were merged with another, and number of blocks over all sets.
    sets : list of SetSummary
        The sets of quasi-identifiers.
    persons : dict
        How many persons there are for each identifier that k counts, because it repeats; empty where k counts records.
    merged_groups : int
        How many groups were merged with others, so that they have enough persons or are not dominated.
    dominated_groups : dict
        In how many groups a few records dominate the mean of a column, by the rule of the plan; columns without any are
        left out.
    outweighed_groups : int
        In how many groups one record has more than nine tenths of the weight.
    own_values : dict
        In how many groups a median, mode or trimmed mean is the value of exactly one record, by column.
    combined_smallest_group : int
        Smallest number of records with the same groups in all sets: k is promised for each set, not for this.
    steps : list of int or None
        Steps of the search in each set, where the method searches: the option ``steps`` repeats them.
    rules : list of RuleSummary
        How each edit rule was kept and what it cost.
    bound, gap : float or None
        Where a lower bound was proved: the loss in percent that no partition can be below, on scaled columns, and the
        part of the released loss, in percent, that a better partition could save at most.
    notes : list of str
        What a user should know about this release.
    seconds : float
        Wall time from the call to the result.
    peak_memory_mib : float or None
        Largest memory of the process so far, where the system tells it.
    version : str
        Of shoal.
    """

    method: str
    options: dict[str, Any]
    k: int
    records: int
    groups: int
    smallest_group: int
    largest_group: int
    sse: float
    sst: float
    information_loss: float
    loss: float
    loss_by_column: dict[str, float]
    record_loss: float | None
    global_risk: float | None
    distinct_before: int | None
    distinct_after: int | None
    missing_patterns: str
    suppressed_cells: int
    suppressed_for_patterns: dict[str, int]
    constant_columns: list[str]
    strata: int
    merged_strata: int
    blocks: int
    sets: list[SetSummary]
    persons: dict[str, int]
    merged_groups: int
    dominated_groups: dict[str, int]
    outweighed_groups: int
    own_values: dict[str, int]
    combined_smallest_group: int
    steps: list[int] | None
    rules: list[RuleSummary]
    bound: float | None
    gap: float | None
    notes: list[str]
    seconds: float
    peak_memory_mib: float | None
    version: str
    seed: int


@dataclass(frozen=True)
class Run:
    """What the steps of the pipeline made of a table, from which the summary is written.

    Attributes
    ----------
    declared : Declared
        The plan that fits the table.
    strata : Strata
        Which records are never mixed.
    shown : list of QuasiIdentifiers
        Each set without the cells that are suppressed for patterns of missing cells.
    apart : list of int64 (n,)
        The stratum of each record for each set, with antecedents of rules.
    blocks : list of int64 (n,)
        The block of each record, for each set of quasi-identifiers.
    protected : list of ProtectedSet
        Groups and released values of each set.
    searched : Searched or None
        What a search did.
    rules : list of RuleSummary
        How rules were kept.
    source : Source or None
        The file that the table came from.
    own : OwnValues
        Released values that are those of one record.
    merged_groups : int
        How many groups were merged with others, so that the conditions of the plan hold.
    """

    declared: Declared
    strata: Strata
    shown: list[QuasiIdentifiers]
    apart: list[Ints]
    blocks: list[Ints]
    protected: list[ProtectedSet]
    searched: Searched | None
    rules: list[RuleSummary]
    source: Source | None
    own: OwnValues
    merged_groups: int

    @property
    def released(self) -> list[tuple[AnyColumn, Masked]]:
        """Every column of every set with what is released for it."""
        return [pair for part in self.protected for pair in part.columns()]

    @property
    def for_patterns(self) -> dict[str, int]:
        """Cells of each column that are suppressed for patterns of missing cells."""
        pairs = zip(self.declared.sets, self.shown, strict=True)
        lost = {
            was.name: int((was.observed & ~now.observed).sum())
            for before, after in pairs
            for was, now in zip(before.columns, after.columns, strict=True)
        }
        return {name: cells for name, cells in lost.items() if cells}


def summarise(run: Run, *, seconds: float) -> Summary:
    """Measure a release and put what was done into a summary."""
    plan, searched, records = run.declared.plan, run.searched, len(run.strata.codes)
    if searched and run.for_patterns:  # other patterns could lose less, whatever is proved for these
        searched = replace(searched, reached=None, bound=None, gap=None)
    losses = _losses(run)
    suppressed = sum(int((column.observed & ~now.observed).sum()) for column, now in run.released)
    constant = [column.name for column, _ in run.released if _constant(column)]
    before = after = None
    if any(isinstance(column, Category) for column, _ in run.released):
        before = len(distinct_records([(c, c.values, c.observed) for c, _ in run.released])[1])
        after = len(distinct_records([(column, *now) for column, now in run.released])[1])
    sets = []
    for part in run.protected:
        sizes = np.bincount(part.groups)
        sets.append(SetSummary(part.quasi.names, len(sizes), int(sizes.min()), int(sizes.max())))
    combined = sets[0].smallest_group
    if len(sets) > 1:
        together = np.column_stack([part.groups for part in run.protected])
        combined = int(np.unique(together, axis=0, return_counts=True)[1].min())
    gap = released_gap(searched, run.protected[0]) if searched else None
    return Summary(
        method=run.declared.method.name,
        options=run.declared.options,
        k=plan.k,
        records=records,
        groups=sum(part.groups for part in sets),
        smallest_group=min(part.smallest_group for part in sets),
        largest_group=max(part.largest_group for part in sets),
        sse=losses.table.sse,
        sst=losses.table.sst,
        information_loss=losses.table.percent,
        loss=losses.table.percent,
        loss_by_column={name: own.percent for name, own in losses.by_column.items()},
        record_loss=None if losses.records is None else losses.records.percent,
        global_risk=None if after is None else 100.0 * after / records,  # each combination adds up to 1
        distinct_before=before,
        distinct_after=after,
        missing_patterns=plan.missing_patterns,
        suppressed_cells=suppressed,
        suppressed_for_patterns=run.for_patterns,
        constant_columns=constant,
        strata=run.strata.declared,
        merged_strata=run.strata.merged,
        sets=sets,
        blocks=sum(int(codes.max()) + 1 for codes in run.blocks),
        persons={one.name: one.count for one in run.strata.persons},
        merged_groups=run.merged_groups,
        dominated_groups=run.own.dominated,
        outweighed_groups=run.own.outweighed,
        own_values=run.own.exact,
        combined_smallest_group=combined,
        steps=searched.steps if searched else None,
        rules=run.rules,
        bound=searched.bound if searched else None,
        gap=gap,
        notes=_notes(run, combined, suppressed, constant)
        + _condition_notes(run)
        + own_value_notes(run.own, plan)
        + _cost_notes(run)
        + _missing_notes(run)
        + _mark_notes(run)
        + _search_notes(run.declared.options, searched)
        + (rounding_note(searched, gap) if searched else []),
        seconds=round(seconds, 6),
        peak_memory_mib=_peak_memory(),
        version=shoal_version(),
        seed=plan.seed,
    )


def _losses(run: Run) -> Losses:
    """Measure what each set has lost, as it will be measured from the two tables."""
    sets = [
        [
            pair_of(column, released, scale)
            for (column, released), scale in zip(part.columns(), part.quasi.scales, strict=True)
        ]
        for part in run.protected
    ]
    return measure_losses(sets, run.declared.plan.column_weights)


def _constant(column: AnyColumn) -> bool:
    """Whether all observed values of a column are equal, so that it plays no part."""
    seen = column.values[column.observed]
    return len(seen) > 0 and bool((seen == seen[0]).all())


def _notes(run: Run, combined: int, suppressed: int, constant: list[str]) -> list[str]:
    """Say what a user should know, in sentences."""
    k, sets, merged = run.declared.plan.k, len(run.protected), run.strata.merged
    notes = list(run.source.notes) if run.source else []
    if run.declared.doubtful:
        doubtful = ", ".join(run.declared.doubtful)
        notes.append(f"taken as quasi-identifiers although they look like identifiers: {doubtful}")
    if sets > 1:
        notes.append(
            f"k = {k} holds for each of the {sets} sets of quasi-identifiers and not for their combination, "
            f"whose smallest group has {counted(combined, 'record')}"
        )
    if suppressed and run.declared.plan.missing_patterns == "ignored":
        notes.append(
            f"{counted(suppressed, 'cell')} suppressed: some but fewer than {k} values of the column were observed in "
            "the group"
        )
    if constant:
        notes.append(f"constant, so without a part in distances and loss: {', '.join(constant)}")
    if merged:
        notes.append(
            f"{counted(merged, 'stratum', 'strata')} had fewer than {k} records and "
            f"{one_or_many(merged, 'shares groups with its nearest; its label is', _MERGED)} still in the release"
        )
    return notes


def _condition_notes(run: Run) -> list[str]:
    """Say what k counts beside records, and how many groups had to grow."""
    notes = [
        f"k counts persons: {counted(one.count, 'person')} of identifier '{one.name}' in "
        f"{counted(len(one.codes), 'record')} (persons, or --persons, says which identifiers count)"
        for one in run.strata.persons
    ]
    unsure = run.strata.doubtful
    if unsure:
        notes.append(
            f"k counts records, although {listed(unsure)} {'repeats' if len(unsure) == 1 else 'repeat'}: where that "
            "tells persons apart, name it as persons (--persons)"
        )
    if run.merged_groups:
        why = "have k persons" if run.strata.persons else "are not dominated"
        if run.strata.persons and run.declared.plan.dominance.action == "grow":
            why += " and are not dominated"
        notes.append(f"{counted(run.merged_groups, 'group')} merged with others, so that all {why}")
    return notes


def _cost_notes(run: Run) -> list[str]:
    """Say which options were idle."""
    notes, plan = [], run.declared.plan
    if plan.blocking and all(codes.max() == apart.max() for codes, apart in zip(run.blocks, run.apart, strict=True)):
        notes.append("no part of the table is larger than a block, so blocking had no effect")
    if plan.missing_patterns == "ignored" and all(column.observed.all() for column, _ in run.released):
        notes.append("no quasi-identifier has missing values, so missing_patterns had no effect")
    return notes


def _missing_notes(run: Run) -> list[str]:
    """Say what it cost that patterns of missing cells are not rare, or how many records stand out by theirs."""
    k, lost = run.declared.plan.k, run.for_patterns
    if lost:
        by_column = ", ".join(f"{cells} of {name}" for name, cells in lost.items())
        return [
            f"{counted(sum(lost.values()), 'cell')} suppressed ({by_column}), so that at least {k} records share which "
            "of their values are missing"
        ]
    if run.declared.plan.missing_patterns == "counted":
        return []
    apart = np.zeros(len(run.strata.codes), dtype=bool)
    for part in run.protected:
        holes = [~now.observed for now in part.released if not now.observed.all()]
        if holes:
            alike, _, counts = number_patterns(np.column_stack(holes), part.groups)
            apart |= counts[alike] < k
    if not apart.any():
        return []
    records = int(apart.sum())
    share, their, them = ("shares", "its", "it") if records == 1 else ("share", "their", "them")
    return [
        f"{counted(records, 'record')} {share} with {fewer_others(k)} of {their} group which values are missing: "
        f"whoever knows that could tell {them} apart"
    ]


def _mark_notes(run: Run) -> list[str]:
    """Say where missing values were marked in several ways, which a file of the release does not tell apart."""
    several = marked_in_several_ways(run.source, [column.name for column, _ in run.released]) if run.source else []
    if not several:
        return []
    return [f"missing values are marked in several ways in {', '.join(several)}; the release has one mark for all"]


def _search_notes(options: Mapping[str, Any], searched: Searched | None) -> list[str]:
    """Say how the search ended, where it was not by its budget, and what could not be proved."""
    if searched is None:
        return []
    notes = []
    if searched.interrupted:
        steps = max(searched.steps)
        told = counted(steps, "step")
        notes.append(f"the search was interrupted after {told}; the release is the best found until then")
    wanted = options.get("gap")
    if wanted is not None and searched.gap is not None and searched.gap > wanted:
        notes.append(f"a gap of {wanted:g} % was not reached; {decimal(searched.gap)} % is proved")
    if options.get("bound") is not None and not searched.bound and searched.gap != 0.0:
        notes.append("no lower bound was proved in the time for it; give it more, or a smaller k")
    return notes


def _peak_memory() -> float | None:
    """Largest memory of the process so far in MiB, where the system tells it."""
    try:
        import resource
    except ImportError:  # not on Windows
        return None
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit, 1)
