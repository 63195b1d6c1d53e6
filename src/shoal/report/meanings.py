"""The section about hierarchies: each is drawn, with the records at and below its names."""

from __future__ import annotations

from shoal.errors import one_or_many
from shoal.report.facts import Facts
from shoal.report.outlines import Outline
from shoal.report.parts import Card, Cards, Code, Paragraph, Part, Section

SHOWN = 4  # hierarchies that are drawn at once
_LINES = 400  # names of one hierarchy that are drawn


def hierarchies(facts: Facts) -> Section | None:
    """Hierarchies of the categories, with counts."""
    if not facts.outlines:
        return None
    told = (
        "Records at and below each name, in the original and in the release."
        if facts.edition.internal
        else "Records of the release at and below each name."
    )
    return Section(
        "hierarchies",
        "Hierarchies",
        f"What the categories are kinds of. {told} Names without records are left out.",
        [Cards([_card(facts, drawn) for drawn in facts.outlines], SHOWN, wide=True)],
    )


def _card(facts: Facts, drawn: Outline) -> Card:
    labels = [f"{branch}{name}" for branch, name in zip(drawn.branches, drawn.names, strict=True)][:_LINES]
    width = max(map(len, labels))
    counts = [[facts.edition.count(number) for number in drawn.after]]
    heads = ["after"]
    if drawn.before is not None:
        counts.insert(0, [facts.edition.count(number) for number in drawn.before])
        heads.insert(0, "before")
    widths = [max(len(head), *map(len, column)) for head, column in zip(heads, counts, strict=True)]
    lines = [" " * width + "".join(f"  {head:>{w}}" for head, w in zip(heads, widths, strict=True))]
    for place, label in enumerate(labels):
        cells = "".join(f"  {column[place]:>{w}}" for column, w in zip(counts, widths, strict=True))
        lines.append(f"{label:<{width}}{cells}")
    parts: list[Part] = [Code("records at and below", "\n".join(lines))]
    if len(drawn.names) > _LINES:
        more = len(drawn.names) - _LINES
        told = one_or_many(more, "1 more name is", f"{more:,} more names are")
        parts.append(Paragraph(f"{told} not drawn.", quiet=True))
    return Card(drawn.column, parts)
