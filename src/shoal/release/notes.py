"""What a user should know about a release, in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from shoal.errors import counted, decimal, fewer_others, listed, one_or_many
from shoal.release.figures import Figures
from shoal.release.household_notes import household_notes
from shoal.release.own_values import own_value_notes
from shoal.release.released_gap import rounding_note
from shoal.release.searching import Searched
from shoal.tables.factors import codes_only
from shoal.tables.files import marked_in_several_ways

_SHIFT = 0.05  # standard deviations that a mean may move by suppression without a word
_MERGED = "share groups with their nearest; their labels are"


def all_notes(run: Figures) -> list[str]:
    """Say what a user should know, in sentences."""
    searched = run.searched
    return [
        *_table_notes(run),
        *_condition_notes(run),
        *(household_notes(run.household, run.plan.k) if run.household else []),
        *own_value_notes(run.own, run.plan),
        *_rule_notes(run),
        *_idle_notes(run),
        *_missing_notes(run),
        *_shifted_notes(run),
        *_mark_notes(run),
        *run.told,
        *_search_notes(run.declared.options, searched),
        *(rounding_note(searched, run.gap) if searched else []),
    ]


def _table_notes(run: Figures) -> list[str]:
    """Say how the table was taken."""
    k, sets, merged = run.plan.k, len(run.sets), run.merged_strata
    notes = list(run.source.notes) if run.source else []
    if run.declared.doubtful:
        doubtful = ", ".join(run.declared.doubtful)
        notes.append(f"taken as quasi-identifiers although they look like identifiers: {doubtful}")
    if sets > 1:
        notes.append(
            f"k = {k} holds for each of the {sets} sets of quasi-identifiers and not for their combination, "
            f"whose smallest group has {counted(run.combined, 'record')}"
        )
    if run.suppressed and run.plan.missing_patterns == "ignored":
        notes.append(
            f"{counted(run.suppressed, 'cell')} suppressed: some but fewer than {k} values of the column were observed "
            "in the group"
        )
    elif run.rules and (beside := run.suppressed - sum(run.for_patterns.values())) > 0:
        notes.append(
            f"{counted(beside, 'cell')} suppressed where no values of a group keep the rules; the summary of the rules "
            "tells which, and protecting their other columns too, or leaving a rule out, may spare them"
        )
    if run.partial:
        notes.append(codes_only(run.partial))
    if run.constant:
        notes.append(f"constant, so without a part in distances and loss: {', '.join(run.constant)}")
    if merged:
        notes.append(
            f"{counted(merged, 'stratum', 'strata')} had fewer than {k} records and "
            f"{one_or_many(merged, 'shares groups with its nearest; its label is', _MERGED)} still in the release"
        )
    return notes


def _condition_notes(run: Figures) -> list[str]:
    """Say what k counts beside records, and how many groups had to grow."""
    notes = [
        f"k counts persons: {counted(count, 'person')} of identifier '{name}' in "
        f"{counted(run.records, 'record')} (persons, or --persons, says which identifiers count)"
        for name, count in run.persons.items()
    ]
    notes += [
        f"k does not count '{one}', which numbers the records of each '{key}'; where it tells persons apart, name it "
        "as persons (--persons)"
        for one, key in run.within.items()
    ]
    unsure = run.doubtful
    if unsure:
        notes.append(
            f"k counts records, although {listed(unsure)} {'repeats' if len(unsure) == 1 else 'repeat'}: where that "
            "tells persons apart, name it as persons (--persons)"
        )
    if run.merged_groups:
        whole = run.household is not None
        reasons = {
            "have k persons": bool(run.persons),
            "have k households": whole,
            "are not dominated": run.plan.dominance.action == "grow",
        }
        why = " and ".join(reason for reason, holds in reasons.items() if holds)
        notes.append(f"{counted(run.merged_groups, 'group')} merged with others, so that all {why}")
    return notes


def _rule_notes(run: Figures) -> list[str]:
    """Say what rules cost in all, and in how many groups they are kept by releasing a record."""
    notes = []
    if run.record_tuples:
        notes.append(
            f"in {counted(run.record_tuples, 'group')} the columns of rules are those of one record, since "
            "nothing else was found to keep them: whoever knows the record recognises its values; a rule that leaves "
            "some slack (within ...), or is left out, avoids that"
        )
    return notes


def _idle_notes(run: Figures) -> list[str]:
    """Say which options were idle."""
    notes, plan = [], run.plan
    if plan.blocking and run.blocking_idle:
        notes.append("no part of the table is larger than a block, so blocking had no effect")
    if plan.missing_patterns == "ignored" and all(part.complete for part in run.sets):
        notes.append("no quasi-identifier has missing values, so missing_patterns had no effect")
    return notes


def _missing_notes(run: Figures) -> list[str]:
    """Say what it cost that patterns of missing cells are not rare, or how many records stand out by theirs."""
    k, lost = run.plan.k, run.for_patterns
    if lost:
        by_column = ", ".join(f"{cells} of {name}" for name, cells in lost.items())
        return [
            f"{counted(sum(lost.values()), 'cell')} suppressed ({by_column}), so that at least {k} records share which "
            "of their values are missing"
        ]
    if run.plan.missing_patterns == "counted":
        return []
    records = sum(part.told_apart for part in run.sets)
    if not records:
        return []
    share, their, them = ("shares", "its", "it") if records == 1 else ("share", "their", "them")
    return [
        f"{counted(records, 'record')} {share} with {fewer_others(k)} of {their} group which values are missing: "
        f"whoever knows that could tell {them} apart"
    ]


def _shifted_notes(run: Figures) -> list[str]:
    """Name the columns whose mean moves since the suppressed values are not like the others.

    A mean is said to move where that is by more than a twentieth of a standard deviation, and by more than three
    standard errors of as many values drawn at random. No figure is told: of a single cell it would be the value.
    """
    moved: dict[str, list[str]] = {"falls": [], "rises": []}
    for name, shift in ((name, shift) for part in run.sets for name, shift in part.shifts.items()):
        if 0 < shift.left < shift.count:
            by = shift.total / shift.left  # in standard deviations from the mean
            if abs(by) > max(_SHIFT, 3 * np.sqrt((1 - shift.left / shift.count) / shift.left)):
                moved["rises" if by > 0 else "falls"].append(name)
    return [
        f"the suppressed values of {listed(names)} are not like the others: without them the mean {word}; another "
        "method, such as a search, may suppress more evenly"
        for word, names in moved.items()
        if names
    ]


def _mark_notes(run: Figures) -> list[str]:
    """Say where missing values were marked in several ways, which a file of the release does not tell apart."""
    several = (
        marked_in_several_ways(run.source, [name for part in run.sets for name in part.names]) if run.source else []
    )
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
    proof = searched.proof
    proved = bool(searched.bound) or searched.gap == 0.0
    if proof is not None and proof.proved.interrupted and not searched.interrupted:
        until = "; what was proved until then holds" if proved else " before anything was proved"
        notes.append(f"the proof was interrupted{until}")
    elif options.get("bound") is not None and not proved:
        notes.append("no lower bound was proved in the time for it; give it more, or a smaller k")
    if proof is not None and proof.proved.cost is not None:
        saved = 100.0 * (1.0 - proof.proved.cost / proof.cost)
        notes.append(
            f"the proof came across groups that lose {decimal(saved, 4)} % less; the release has those of the search, "
            "which more steps or another seed may improve"
        )
    return notes
