"""Sections about the whole table: risk, records that remain at risk, group sizes, utility."""

from __future__ import annotations

from shoal.errors import counted, decimal
from shoal.measures.catalogue import MEASURES
from shoal.report import plots
from shoal.report.editions import BY_SIZE, Edition, figure, short
from shoal.report.facts import Facts
from shoal.report.parts import Cards, Grid, Listed, Paragraph, Part, Plot, Section
from shoal.report.verdict import listed, promised

_SIZES = 16  # sizes of groups that are shown one by one
_CLASSES = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 10_000, 100_000, 1_000_000)


def risk(facts: Facts) -> Section:
    """Risk measures with a sentence each."""
    parts: list[Part | Cards] = [_measures(facts, "risk", "Measures of risk")]
    linked = [
        f"{MEASURES[name].label}: estimated from {int(found['records']):,} records, standard error "
        f"{short(found['error'], 2)} points."
        for name, found in facts.measures.linkage.items()
        if found["records"] < facts.measures.records
    ]
    if linked:
        parts.append(Listed(linked))
    return Section(
        "risk",
        "Risk: what an intruder can do",
        f"Measured for somebody who knows {listed(facts.measures.known)}. Lower is better where nothing else is said.",
        parts,
    )


def utility(facts: Facts) -> Section:
    """Utility measures with a sentence each, and the loss of each column."""
    edition, by_column = facts.edition, facts.measures.by_column
    told = [(name, own["information_loss"]) for name, own in by_column.items() if name not in facts.held_back]
    losses = sorted(told, key=lambda own: -own[1])
    rows = [(name, round(loss, 2 if edition.internal else 0), edition.percent(loss)) for name, loss in losses]
    kept: list[Part | Cards] = [_measures(facts, "utility", "Measures of utility")]
    if facts.held_back:
        kept.append(
            Paragraph(
                f"Information loss of all columns: {facts.loss()}. More exact figures are left out, since a single "
                f"value or a suppressed one could be worked out from them, in {listed(sorted(facts.held_back))}."
            )
        )
    if facts.measures.weight and edition.internal:
        kept.append(_weighted_grid(facts))
    if rows:
        worst = f"{rows[0][0]} has lost most, {rows[0][2]}"
        kept.append(
            Plot(
                plots.bars(rows, "information loss, %"),
                f"Bar chart of the information loss of {counted(len(rows), 'column')}. {worst}.",
                f"Information loss by column. {worst}.",
                _columns_grid(facts),
            )
        )
    return Section(
        "utility",
        "Utility: what is kept",
        "How far the release is from the original, for those who work with it.",
        kept,
    )


def _weighted_grid(facts: Facts) -> Grid:
    """What the weighted sample says of the population, before and after."""
    rows = []
    for name, own in facts.measures.by_column.items():
        if "weighted_mean" in own:
            figures = ("weighted_mean_original", "weighted_mean", "weighted_total_original", "weighted_total")
            rows.append((name, *(short(own[figure], 6) for figure in figures), _signed(own["weighted_total_change"])))
        elif "weighted_share_change" in own:
            rows.append((name, "", "", "", "", f"shares {_signed(own['weighted_share_change']).lstrip('+')}"))
    head = ("column", "mean before", "mean after", "total before", "total after", "change, %")
    return Grid(f"Estimates for the population, weighted by {facts.measures.weight}", head, rows)


def _signed(change: float | None) -> str:
    if change is None:
        return ""
    return "0" if abs(change) < 1e-9 else ("+" if change > 0.0 else "") + short(change, 3)  # less is rounding


def _measures(facts: Facts, about: str, caption: str) -> Grid:
    rows = []
    for measure in MEASURES.values():
        value = facts.measures[measure.name]
        if value is None or not facts.tells(measure.name) or measure.about not in (about, "both"):
            continue
        label = measure.label + (" (higher is better)" if measure.better == "higher" else "")
        rows.append((label, figure(facts.edition, measure, value), measure.sentence))
    return Grid(caption, ("measure", "figure", "what it says"), rows, texts=(2,))


def _columns_grid(facts: Facts) -> Grid:
    wanted = {
        "information_loss": "loss, %",
        "pil": "PIL, %",
        "kolmogorov_smirnov": "Kolmogorov-Smirnov",
        "wasserstein": "Wasserstein",
        "table_distance": "moved, %",
    }
    by_column = facts.measures.by_column
    present = [name for name in wanted if any(own.get(name) is not None for own in by_column.values())]
    digits = 4 if facts.edition.internal else 2

    def told(column: str, name: str) -> str:
        hidden = column in facts.held_back and name in BY_SIZE
        return "" if hidden else short(by_column[column].get(name), digits)

    rows = [(column, *(told(column, name) for name in present)) for column in by_column]
    return Grid("Utility by column", ("column", *(wanted[name] for name in present)), rows, folded=True)


def remaining(facts: Facts) -> Section:
    """Records at the highest remaining risk, as counts, and what makes records rare."""
    measures, edition = facts.measures, facts.edition
    levels = [(f"{level} % or more", count) for level, count in measures.records_at_risk.items()]
    rows = [(name, edition.share(count, measures.records), edition.count(count)) for name, count in levels]
    told = [
        (name, text, f"{decimal(share, 1)} %" if count == 0 or count >= edition.least else "")
        for (name, count), (_, share, text) in zip(levels, rows, strict=True)
    ]
    top = next(((name, text) for (name, count), (_, _, text) in zip(levels, rows, strict=True) if count), None)
    summary = f"Records with a risk of {top[0]}: {top[1]}." if top else "No record has a risk of 1 % or more."
    parts: list[Part | Cards] = [
        Plot(
            plots.bars(rows, "% of the records", "var(--before)", 26),
            f"Bar chart of how many records have which individual risk. {summary}",
            f"Records by their risk of being found. {summary}",
            Grid("Records by individual risk", ("risk of being found", "records", "share"), told, folded=True),
        )
    ]
    if edition.internal:
        parts.append(_rare(facts))
    return Section(
        "highest-risk",
        "Records at highest remaining risk",
        "The individual risk of a record is 1 over the number of records that share its released quasi-identifiers"
        + (", estimated for the population from the weights" if facts.measures.weight else "")
        + ". Records are counted, never shown.",
        parts,
    )


def _rare(facts: Facts) -> Grid:
    rows = [
        (name, short(own["risk_alone"]), short(own["risk_added"]), short(own["special_share"]))
        for name, own in facts.measures.by_column.items()
    ]
    return Grid(
        "Which columns single records out",
        ("column", "global risk if only it is known, %", "global risk that it adds, %", "part in special uniques, %"),
        rows,
        folded=len(rows) > 8,
    )


def groups(facts: Facts) -> Section:
    """How many records share a combination, and the sets of quasi-identifiers."""
    edition, k = facts.edition, promised(facts)
    classes = _size_classes({int(size): count for size, count in facts.measures.key_sizes.items()}, edition)
    rows = [(name, keys, edition.count(keys)) for name, keys, _ in classes]
    told = [(name, edition.count(keys), edition.count(records)) for name, keys, records in classes]
    smallest = facts.measures.k_anonymity
    summary = f"The smallest group has {counted(smallest, 'record')}" + (f"; k = {k}." if k else ".")
    parts: list[Part | Cards] = [
        Plot(
            plots.columns(rows, "groups", "records that share a combination"),
            f"Bar chart of how many groups there are of each size. {summary}",
            f"Groups by size. {summary}",
            Grid("Groups by size", ("records of a group", "groups", "records in them"), told, folded=True),
        )
    ]
    sets = facts.summary.get("sets", [])
    if len(sets) > 1:
        of_sets = [
            (listed(own["columns"]), f"{own['groups']:,}", f"{own['smallest_group']:,}", f"{own['largest_group']:,}")
            for own in sets
        ]
        head = ("quasi-identifiers", "groups", "smallest", "largest")
        parts.append(Grid("Sets that were microaggregated by themselves", head, of_sets))
    return Section(
        "groups",
        "Group sizes",
        "A group is the records with the same released quasi-identifiers, as everybody who has the release can see.",
        parts,
    )


def _size_classes(sizes: dict[int, int], edition: Edition) -> list[tuple[str, int, int]]:
    """Return name, groups and records of each size, of classes of sizes where there are many."""
    exact = len(sizes) <= _SIZES
    starts = sorted(sizes) if exact else [start for start in _CLASSES if start <= max(sizes)]
    found: list[tuple[int, int, int, int]] = []
    for place, start in enumerate(starts):
        end = start if exact else (starts[place + 1] - 1 if place + 1 < len(starts) else max(sizes))
        own = {size: count for size, count in sizes.items() if start <= size <= end}
        if own:
            found.append((start, end, sum(own.values()), sum(size * count for size, count in own.items())))
    while len(found) > 1 and any(records < edition.least for *_, records in found):
        place = next(p for p, (*_, records) in enumerate(found) if records < edition.least)
        first = max(place - 1, 0)  # with the class before it, or the first with the second
        (start, _, keys, records), (_, end, more, others) = found[first : first + 2]
        found[first : first + 2] = [(start, end, keys + more, records + others)]
    return [(f"{a:,}" if a == b else f"{a:,} to {b:,}", keys, records) for a, b, keys, records in found]
