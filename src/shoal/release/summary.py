"""What was done and what it cost: the summary of a release."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

from shoal.measures.figures import NamedFigures
from shoal.measures.loss import put_together
from shoal.plan.version import shoal_version
from shoal.release.confidential import ConditionSummary
from shoal.release.figures import Figures
from shoal.release.household_checks import HouseholdSummary
from shoal.release.kept_finding import KeptFinding
from shoal.release.notes import all_notes
from shoal.rules.accounting import RuleSummary


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
    decimals : dict
        With how many decimals columns of fractions are released, by the file, their type, or as asked for; those that
        have all digits of a float are left out.
    constant_columns : list of str
        Quasi-identifiers with a single value, which play no part.
    strata, merged_strata, blocks : int
        Number of strata declared, how many of them were merged with another, and number of blocks over all sets.
    sets : list of SetSummary
        The sets of quasi-identifiers.
    persons : dict
        How many persons there are for each identifier that k counts, because it repeats; empty where k counts records.
    household : HouseholdSummary or None
        What k counts where records belong together, and what the release shows of it; None where there is no household.
    merged_groups : int
        How many groups were merged with others, so that they have enough persons or are not dominated.
    conditions : list of ConditionSummary
        What was asked of confidential columns, and what the release keeps.
    loss_without_conditions : float or None
        Information loss of the same plan where nothing is asked of confidential columns; None where nothing is, or
        where there are edit rules.
    kept_columns : list of KeptFinding
        What columns that are kept give away: of quasi-identifiers, and of single records.
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
    loss_without_rules : float or None
        Information loss of the same plan without its edit rules; None where there are none, or where a search would
        have looked for other released values without them.
    record_tuples : int
        In how many groups the columns of rules are those of one record, since nothing else was found to keep them.
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
    decimals: dict[str, int]
    constant_columns: list[str]
    strata: int
    merged_strata: int
    blocks: int
    sets: list[SetSummary]
    persons: dict[str, int]
    household: HouseholdSummary | None
    merged_groups: int
    conditions: list[ConditionSummary]
    loss_without_conditions: float | None
    kept_columns: list[KeptFinding]
    dominated_groups: dict[str, int]
    outweighed_groups: int
    own_values: dict[str, int]
    combined_smallest_group: int
    steps: list[int] | None
    rules: list[RuleSummary]
    loss_without_rules: float | None
    record_tuples: int
    bound: float | None
    gap: float | None
    notes: list[str]
    seconds: float
    peak_memory_mib: float | None
    version: str
    seed: int


def summarise(figures: Figures, *, seconds: float) -> Summary:
    """Put what was done and what it cost into a summary."""
    plan, searched = figures.plan, figures.searched
    losses = put_together([part.loss for part in figures.sets], plan.column_weights)
    sets = [SetSummary(part.names, part.groups, min(part.sizes), max(part.sizes)) for part in figures.sets]
    before, after = figures.distinct or (None, None)
    steps = [part.steps for part in figures.sets if part.steps is not None]
    return Summary(
        method=figures.declared.method.name,
        options=figures.declared.options,
        k=plan.k,
        records=figures.records,
        groups=sum(part.groups for part in sets),
        smallest_group=min(part.smallest_group for part in sets),
        largest_group=max(part.largest_group for part in sets),
        sse=losses.table.sse,
        sst=losses.table.sst,
        information_loss=losses.table.percent,
        loss=losses.table.percent,
        loss_by_column={name: own.percent for name, own in losses.by_column.items()},
        record_loss=None if losses.records is None else losses.records.percent,
        global_risk=None if after is None else 100.0 * after / figures.records,  # each combination adds up to 1
        distinct_before=before,
        distinct_after=after,
        missing_patterns=plan.missing_patterns,
        suppressed_cells=figures.suppressed,
        suppressed_for_patterns=figures.for_patterns,
        decimals=figures.decimals,
        constant_columns=figures.constant,
        strata=figures.strata,
        merged_strata=figures.merged_strata,
        sets=sets,
        blocks=figures.blocks,
        persons=figures.persons,
        household=figures.household,
        merged_groups=figures.merged_groups,
        conditions=figures.conditions,
        loss_without_conditions=figures.loss_without_conditions,
        kept_columns=figures.kept,
        dominated_groups=figures.own.dominated,
        outweighed_groups=figures.own.outweighed,
        own_values=figures.own.exact,
        combined_smallest_group=figures.combined,
        steps=steps or None,
        rules=figures.rules,
        loss_without_rules=figures.loss_without,
        record_tuples=figures.record_tuples,
        bound=searched.bound if searched else None,
        gap=figures.gap,
        notes=all_notes(figures),
        seconds=round(seconds, 6),
        peak_memory_mib=_peak_memory(),
        version=shoal_version(),
        seed=plan.seed,
    )


def _peak_memory() -> float | None:
    """Largest memory of the process so far in MiB, where the system tells it."""
    try:
        import resource
    except ImportError:  # not on Windows
        return None
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit, 1)
