"""Sections about columns: distributions, categories and correlations, before and after."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.report import plots
from shoal.report.before_after import QUANTILES, CategoryShape, NumberShape
from shoal.report.editions import short
from shoal.report.facts import Facts
from shoal.report.parts import Card, Cards, Grid, Paragraph, Part, Plot, Section

SHOWN = 12  # columns whose distributions are drawn at once; others are chosen from a list
_MATRIX = 12  # columns up to which a whole matrix of correlations is also given as a table
_OPENER = "As a table"
_TOLD = 2  # digits of means and deviations in the external edition
_CHANGED = 12  # changes of correlations that are listed


def distributions(facts: Facts) -> Section | None:
    """Columns of numbers and dates, each before and after."""
    found = [shape for shape in facts.shapes if isinstance(shape, NumberShape)]
    if not found:
        return None
    return Section(
        "distributions",
        "Distributions before and after",
        "Bars are the release, the line is the original."
        + (" Records are counted, and not weighted, also in means." if facts.measures.weight else "")
        + (
            ""
            if facts.edition.internal
            else f" Every bin holds at least {facts.edition.least} original records, and shares are rounded."
        ),
        [Cards([_number_card(facts, shape) for shape in found], SHOWN), _numbers_grid(facts, found)],
    )


def _number_card(facts: Facts, shape: NumberShape) -> Card:
    before, after = shape.before, shape.after
    if not shape.edges:
        few = "There are no values." if facts.edition.internal else "Too few values to tell about."
        return Card(shape.name, [Paragraph(few)])
    digits = 4 if facts.edition.internal else _TOLD
    means = [plots.write_value(shape, side.mean, digits) or "none" for side in (before, after)]
    spread = [short(side.deviation, digits) or "none" for side in (before, after)]
    if shape.held_back:
        said = (
            f"Mean {means[1]} after{'' if shape.date else f'; deviation {spread[1]} after'}; what they were is not told"
        )
    else:
        said = f"Mean {means[0]} before, {means[1]} after"
        said += "" if shape.date else f"; deviation {spread[0]} before, {spread[1]} after"
    own = facts.measures.by_column[shape.name]
    distance = f"; Kolmogorov-Smirnov {facts.edition.plain(own['kolmogorov_smirnov'])}."
    label = f"Histogram of {shape.name} before and after. {said}{distance}"
    parts: list[Part] = []
    if shape.zeros is not None:
        shares = [facts.edition.share(n, whole) for n, whole in zip(shape.zeros, shape.totals, strict=True)]
        told = f"Exactly 0: {shares[0]:.3g} % before, {shares[1]:.3g} % after. The histogram has the other values."
        parts.append(Plot(plots.zeros(shape, facts.edition), f"Bar chart of zeros in {shape.name}. {told}", told))
    parts.append(Plot(plots.histogram(shape, facts.edition), label, f"{said}{distance}", _bins_grid(facts, shape)))
    return Card(shape.name, parts)


def _bins_grid(facts: Facts, shape: NumberShape) -> Grid:
    sides = [side.counts for side in (shape.before, shape.after)]
    labels = plots.bin_labels(shape)
    if shape.zeros is not None:
        sides = [[own, *counts] for own, counts in zip(shape.zeros, sides, strict=True)]
        labels = ["0", *labels]
    shares = [
        [f"{facts.edition.share(n, total):.3g}" for n in counts]
        for counts, total in zip(sides, shape.totals, strict=True)
    ]
    rows = list(zip(labels, *shares, strict=True))
    return Grid(
        f"{shape.name}: shares of the records", ("values", "before, %", "after, %"), rows, folded=True, opener=_OPENER
    )


def _numbers_grid(facts: Facts, found: Sequence[NumberShape]) -> Grid:
    """Quantiles of all columns; those of the original are values of somebody, so the external edition has none."""
    names = {0: "lowest", 50: "median", 100: "highest"}
    head = ["column", "table", "missing", "mean", "deviation", *(names.get(q, f"{q} %") for q in QUANTILES)]
    edition = facts.edition
    if not edition.internal:
        head = head[:5]
    rows = []
    for shape in found:
        for table, side in (("before", shape.before), ("after", shape.after)):
            told = 6 if edition.internal else _TOLD
            scale = 86_400_000.0 if shape.date else 1.0
            spread = None if side.deviation is None else side.deviation / scale
            cells = [edition.count(side.missing), plots.write_value(shape, side.mean, told)]
            cells.append(short(spread, min(told, 3)) + (" days" if shape.date and spread is not None else ""))
            if shape.held_back and side is shape.before:
                cells[1:] = ["not told", "not told"]
            if edition.internal:
                told_values = [plots.write_value(shape, value) for value in side.quantiles]
                cells += told_values or [""] * len(QUANTILES)
            rows.append((shape.name, table, *cells))
    return Grid("All columns of numbers and dates", head, rows, texts=(1,), folded=True)


def categories(facts: Facts) -> Section | None:
    """Columns of categories, each before and after."""
    found = [shape for shape in facts.shapes if isinstance(shape, CategoryShape)]
    if not found:
        return None
    rule = (
        ""
        if facts.edition.internal
        else (
            f" Categories of fewer than {facts.edition.least} records in either table are put together, and shares "
            "are rounded."
        )
    )
    return Section(
        "categories",
        "Categories before and after",
        f"Shares of the most common categories; a missing value is shown as one.{rule}",
        [Cards([_category_card(facts, shape) for shape in found], SHOWN)],
    )


def _category_card(facts: Facts, shape: CategoryShape) -> Card:
    rows = plots.category_rows(shape, facts.edition)
    if not rows:
        return Card(shape.name, [Paragraph("There are no values.")])
    moved = facts.measures.by_column[shape.name]["table_distance"]
    said = f"{facts.edition.percent(moved)} of the records would have to move to restore the shares."
    told = [(label, f"{was:.3g}", f"{now:.3g}") for label, was, now in rows]
    figures = Grid(
        f"{shape.name}: shares of the records", ("category", "before, %", "after, %"), told, folded=True, opener=_OPENER
    )
    label = f"Bar chart of the categories of {shape.name} before and after. {said}"
    return Card(shape.name, [Plot(plots.frequencies(shape, facts.edition), label, said, figures)])


def correlations(facts: Facts) -> Section | None:
    """Correlations of the numbers in both tables, side by side."""
    found = facts.measures.correlations
    if found is None or len(found["columns"]) < 2:
        return None
    names, before, after = found["columns"], found["original"], found["released"]
    if facts.held_back:
        hidden = [name in facts.held_back for name in names]
        before = [[None if hidden[i] or hidden[j] else r for j, r in enumerate(line)] for i, line in enumerate(before)]
    edition = facts.edition
    if not edition.internal and facts.measures.records < 10 * max(len(names), edition.least):
        before = None
    pairs = [
        (a, b, before[i][j] if before else None, after[i][j])
        for i, a in enumerate(names)
        for j, b in enumerate(names)
        if i < j
    ]
    mean = facts.measures.correlation_difference
    said = (
        ""
        if mean is None or not facts.tells("correlation_difference")
        else f"On average a correlation moved by {edition.plain(mean)}."
    )
    cards = [Card("After", [_matrix_plot("release", names, after, said)])]
    if before:
        cards.insert(0, Card("Before", [_matrix_plot("original", names, before, said)]))
    rest: list[Part | Cards] = [Cards(cards, 2, wide=True)]
    if not before:
        rest.append(Paragraph("There are too few records for their number of columns to tell the correlations before."))
    else:
        moved = sorted((p for p in pairs if None not in p), key=lambda p: -abs(p[3] - p[2]))[:_CHANGED]
        rows = [(f"{a} and {b}", f"{r:.2f}", f"{s:.2f}", f"{s - r:+.2f}") for a, b, r, s in moved]
        caption = "Correlations of all pairs" if len(moved) == len(pairs) else "Correlations that moved most"
        rest.append(Grid(caption, ("columns", "before", "after", "change"), rows, folded=True))
    return Section(
        "correlations",
        "Correlations before and after",
        f"{said} 1 and -1 are a straight line, 0 is none; a correlation that is not defined is left blank.".strip(),
        rest,
    )


def _matrix_plot(table: str, names: Sequence[str], matrix: Sequence[Sequence[float | None]], said: str) -> Plot:
    rows = [(name, *("" if r is None else f"{r:.2f}" for r in line)) for name, line in zip(names, matrix, strict=True)]
    figures = (
        Grid(f"Correlations in the {table}", ("column", *names), rows, folded=True) if len(names) <= _MATRIX else None
    )
    label = f"Matrix of the correlations of {len(names)} columns in the {table}. {said}"
    return Plot(plots.heatmap(names, matrix), label, "", figures)
