"""What was done and what it cost: the summary of a release."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.aggregate.sets import ProtectedSet
from shoal.columns.categories import AnyColumn, Category
from shoal.columns.mixed import distinct_records
from shoal.errors import counted
from shoal.kernels.arrays import Ints, Masked
from shoal.kernels.numbering import number_keys
from shoal.measures.figures import NamedFigures
from shoal.measures.loss import Losses, measure_losses
from shoal.measures.pairs import pair_of
from shoal.plan.version import shoal_version
from shoal.release.declaring import Declared
from shoal.release.released_gap import released_gap, rounding_note
from shoal.release.searching import Searched
from shoal.release.strata import Strata
from shoal.rules.accounting import RuleSummary
from shoal.tables.factors import codes_only
from shoal.tables.files import Source, marked_in_several_ways


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
    suppressed_cells : int
        Cells that are missing in the release and were not before, because fewer than k values of their group
        were observed.
    constant_columns : list of str
        Quasi-identifiers with a single value, which play no part.
    strata, merged_strata, blocks : int
        Number of strata declared, how many of them were merged with another, and number of blocks over all sets.
    sets : list of SetSummary
        The sets of quasi-identifiers.
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
    suppressed_cells: int
    constant_columns: list[str]
    strata: int
    merged_strata: int
    blocks: int
    sets: list[SetSummary]
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
    told : list of str
        What is to be known about the columns that are kept.
    """

    declared: Declared
    strata: Strata
    blocks: list[Ints]
    protected: list[ProtectedSet]
    searched: Searched | None
    rules: list[RuleSummary]
    source: Source | None
    told: list[str]

    @property
    def released(self) -> list[tuple[AnyColumn, Masked]]:
        """Every column of every set with what is released for it."""
        return [pair for part in self.protected for pair in part.columns()]


def summarise(run: Run, *, seconds: float) -> Summary:
    """Measure a release and put what was done into a summary."""
    plan, searched, records = run.declared.plan, run.searched, len(run.strata.codes)
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
        suppressed_cells=suppressed,
        constant_columns=constant,
        strata=run.strata.declared,
        merged_strata=run.strata.merged,
        sets=sets,
        blocks=sum(int(codes.max()) + 1 for codes in run.blocks),
        combined_smallest_group=combined,
        steps=searched.steps if searched else None,
        rules=run.rules,
        bound=searched.bound if searched else None,
        gap=gap,
        notes=_notes(run, combined, suppressed, constant)
        + _cost_notes(run)
        + _missing_notes(run.protected, plan.k)
        + _mark_notes(run)
        + run.told
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
    if suppressed:
        notes.append(
            f"{counted(suppressed, 'cell')} suppressed: some but fewer than {k} values of the column were observed in "
            "the group"
        )
    partial = [column.name for column, _ in run.released if isinstance(column, Category) and column.partial]
    if partial:
        notes.append(codes_only(partial))
    if constant:
        notes.append(f"constant, so without a part in distances and loss: {', '.join(constant)}")
    if merged:
        notes.append(
            f"{merged} of the strata had fewer than {k} records and share groups with their nearest; their labels "
            "are still in the release"
        )
    return notes


def _cost_notes(run: Run) -> list[str]:
    """Say what made the work slower than it could be, or an option idle."""
    notes = []
    if run.declared.plan.blocking and all(codes.max() == run.strata.codes.max() for codes in run.blocks):
        notes.append("no part of the table is larger than a block, so blocking had no effect")
    return notes


def _missing_notes(protected: list[ProtectedSet], k: int) -> list[str]:
    """Say how many records stand out in their group by which of their values are missing."""
    apart = np.zeros(len(protected[0].groups), dtype=bool)
    for part in protected:
        holes = [~now.observed for now in part.released if not now.observed.all()]
        if holes:
            alike = part.groups
            for hole in holes:  # one key a record, numbered again so that it stays small
                alike = number_keys(2 * alike + hole)[0]
            apart |= np.bincount(alike)[alike] < k
    if not apart.any():
        return []
    return [
        f"{counted(int(apart.sum()), 'record')} share with fewer than {k - 1} others of their group which values are "
        "missing: whoever knows that could tell them apart"
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
        notes.append(f"the search was interrupted after {steps} steps; the release is the best found until then")
    wanted = options.get("gap")
    if wanted is not None and searched.gap is not None and searched.gap > wanted:
        notes.append(f"a gap of {wanted:g} % was not reached; {searched.gap:.3g} % is proved")
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
