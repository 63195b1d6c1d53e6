"""What a user should know about a release, in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from shoal.columns.categories import Category
from shoal.columns.numbers import Column
from shoal.columns.scaling import fit_scale
from shoal.errors import counted, decimal, fewer_others, listed, one_or_many
from shoal.partition.missing_patterns import number_patterns
from shoal.release.own_values import own_value_notes
from shoal.release.released_gap import rounding_note
from shoal.release.run import Run
from shoal.release.searching import Searched
from shoal.tables.factors import codes_only
from shoal.tables.files import marked_in_several_ways

_SHIFT = 0.05  # standard deviations that a mean may move by suppression without a word
_MERGED = "share groups with their nearest; their labels are"


def all_notes(run: Run, searched: Searched | None, combined: int, gap: float | None) -> list[str]:
    """Say what a user should know, in sentences.

    ``searched`` is what a search proved of the release, ``combined`` the smallest group of all sets together, ``gap``
    how far what is released is from what is proved.
    """
    return [
        *_table_notes(run, combined),
        *_condition_notes(run),
        *own_value_notes(run.own, run.declared.plan),
        *_rule_notes(run),
        *_idle_notes(run),
        *_missing_notes(run),
        *_shifted_notes(run),
        *_mark_notes(run),
        *run.told,
        *_search_notes(run.declared.options, searched),
        *(rounding_note(searched, gap) if searched else []),
    ]


def _table_notes(run: Run, combined: int) -> list[str]:
    """Say how the table was taken."""
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
    if run.suppressed and run.declared.plan.missing_patterns == "ignored":
        notes.append(
            f"{counted(run.suppressed, 'cell')} suppressed: some but fewer than {k} values of the column were observed "
            "in the group"
        )
    elif run.rules and (beside := run.suppressed - sum(run.for_patterns.values())) > 0:
        notes.append(
            f"{counted(beside, 'cell')} suppressed where no values of a group keep the rules; the summary of the rules "
            "tells which, and protecting their other columns too, or leaving a rule out, may spare them"
        )
    partial = [column.name for column, _ in run.released if isinstance(column, Category) and column.partial]
    if partial:
        notes.append(codes_only(partial))
    if run.constant:
        notes.append(f"constant, so without a part in distances and loss: {', '.join(run.constant)}")
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
    notes += [
        f"k does not count '{one}', which numbers the records of each '{key}'; where it tells persons apart, name it "
        "as persons (--persons)"
        for one, key in run.strata.within.items()
    ]
    unsure = run.strata.doubtful
    if unsure:
        notes.append(
            f"k counts records, although {listed(unsure)} {'repeats' if len(unsure) == 1 else 'repeat'}: where that "
            "tells persons apart, name it as persons (--persons)"
        )
    if run.grouped.merged:
        reasons = {
            "have k persons": bool(run.strata.persons),
            "are not dominated": run.declared.plan.dominance.action == "grow",
        }
        why = " and ".join(reason for reason, holds in reasons.items() if holds)
        notes.append(f"{counted(run.grouped.merged, 'group')} merged with others, so that all {why}")
    return notes


def _rule_notes(run: Run) -> list[str]:
    """Say what rules cost in all, and in how many groups they are kept by releasing a record."""
    notes = []
    if run.ruled.record_tuples:
        notes.append(
            f"in {counted(run.ruled.record_tuples, 'group')} the columns of rules are those of one record, since "
            "nothing else was found to keep them: whoever knows the record recognises its values; a rule that leaves "
            "some slack (within ...), or is left out, avoids that"
        )
    return notes


def _idle_notes(run: Run) -> list[str]:
    """Say which options were idle."""
    notes, plan = [], run.declared.plan
    if plan.blocking and all(
        codes.max() == apart.max() for codes, apart in zip(run.grouped.blocks, run.grouped.apart, strict=True)
    ):
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


def _shifted_notes(run: Run) -> list[str]:
    """Name the columns whose mean moves since the suppressed values are not like the others.

    A mean is said to move where that is by more than a twentieth of a standard deviation, and by more than three
    standard errors of as many values drawn at random. No figure is told: of a single cell it would be the value.
    """
    moved: dict[str, list[str]] = {"falls": [], "rises": []}
    for column, now in run.released:
        left = column.observed & now.observed
        count, rest = int(column.observed.sum()), int(left.sum())
        if not isinstance(column, Column) or not 0 < rest < count:
            continue
        by = float(fit_scale(column, "z-score").apply(column.values[left]).mean())  # all together have mean 0
        if abs(by) > max(_SHIFT, 3 * np.sqrt((1 - rest / count) / rest)):
            moved["rises" if by > 0 else "falls"].append(column.name)
    return [
        f"the suppressed values of {listed(names)} are not like the others: without them the mean {word}; another "
        "method, such as a search, may suppress more evenly"
        for word, names in moved.items()
        if names
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
