"""The sections of a report, in their order: each is a function of the facts, and returns None where it does not apply.

A new section is a function here or in a module beside this one, and its place in ``SECTIONS``.
"""

from __future__ import annotations

from collections.abc import Callable

from shoal.errors import decimal
from shoal.report.columns import categories, correlations, distributions
from shoal.report.edit_rules import edit_rules
from shoal.report.facts import Facts
from shoal.report.given_away import given_away
from shoal.report.kept_columns import kept_columns
from shoal.report.meanings import hierarchies
from shoal.report.parts import Cards, Code, Grid, Listed, Paragraph, Part, Section
from shoal.report.verdict import role
from shoal.report.whole_table import groups, remaining, risk, utility

_KIND = {"numeric": "number", "date": "date", "nominal": "category", "boolean": "yes or no", "other": "other"}


def changed(facts: Facts) -> Section:
    """What was removed, changed, suppressed and kept."""
    edition, records = facts.edition, facts.measures.records
    rows = []
    for column in facts.changes:
        if not edition.internal and not column.released:
            continue
        codes = column.kind == "numeric" and column.name in facts.measures.categorical
        cells = [column.name, role(facts, column.name), "category" if codes else _KIND[column.kind]]
        if not column.released:
            cells += ["removed", "", "", ""]
        elif edition.internal:
            share = 100.0 * column.changed / records
            cells += ["changed" if column.changed or column.suppressed else "as it was"]
            cells += [f"{column.changed:,} ({decimal(share, 1)} %)"]
            cells += [f"{column.suppressed:,}", f"{column.missing_before:,}"]
        else:
            cells += [
                "changed" if column.changed or column.suppressed else "as it was",
                edition.count(column.suppressed),
            ]
        rows.append(cells)
    head = ["column", "role", "kind", "in the release", "cells changed", "suppressed", "missing before"]
    if not edition.internal:
        head = [*head[:4], "suppressed"]
    removed = sum(not column.released for column in facts.changes)
    told = (
        f"Columns changed: {sum(bool(c.changed or c.suppressed) for c in facts.changes)}; removed: {removed}; cells "
        f"suppressed: {edition.count(facts.measures.suppressed_cells)}."
    )
    return Section(
        "changes",
        "What was changed and suppressed",
        f"{told} A suppressed cell is missing in the release and was not before.",
        [Grid("Columns of the original", head, rows, texts=(1, 2, 3), folded=len(rows) > 24)],
    )


def origin(facts: Facts) -> Section:
    """How to make the release again; in the external edition only how to recognise it."""
    parts: list[Part | Cards] = []
    files = [("release", facts.released[0] or "in memory", facts.released[1])]
    if facts.edition.internal:
        files.insert(0, ("original", facts.original[0] or "in memory", facts.original[1]))
    if facts.origin:
        made = facts.origin
        parts.append(Code("plan.yaml", made.plan))
        if made.command:
            parts.append(Code("Command", made.command))
        else:
            parts.append(Code("Python", 'release = shoal.protect(table, plan="plan.yaml")'))
    parts.append(Grid("Files", ("table", "name", "SHA-256"), files, texts=(1, 2)))
    if facts.origin:
        versions = ", ".join(f"{name} {version}" for name, version in facts.origin.versions.items())
        parts.append(Paragraph(f"Made with {versions}; seed {facts.origin.seed}.", quiet=True))
    if facts.notes:
        parts.append(Listed(facts.notes, "Notes"))
    intro = (
        "The same plan, original and versions give the same release, byte by byte."
        if facts.origin
        else (
            "The checksum tells whether a file is the release that this report is about." if facts.released[1] else ""
        )
    )
    title = "The plan, and how to make the release again" if facts.origin else "The release"
    return Section("origin", title, intro, parts)


SECTIONS: list[Callable[[Facts], Section | None]] = [
    risk,
    remaining,
    groups,
    given_away,
    kept_columns,
    utility,
    edit_rules,
    distributions,
    categories,
    hierarchies,
    correlations,
    changed,
    origin,
]


def sections_of(facts: Facts) -> list[Section]:
    """Return the sections that apply."""
    return [section for make in SECTIONS if (section := make(facts))]
