"""The page of results on edit rules, docs/results/rules.md, and its picture."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from markdown import DOCS, made_by, table, write
from pictures import BLUE, INK, RED, save
from record import load

Row = dict[str, Any]
_PAPER = {"S1": (37.223, 10), "S2": (34.531, 6)}
_SHOWN = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 50, 99)
_WORDS = {"S1": "S1, rules kept the paper's way", "S2": "S2, rules ignored", "projected": "sets of S1, means projected",
          "together": "one set, means projected"}  # fmt: skip


def rules() -> None:
    """Write docs/results/rules.md and docs/images/rules.png."""
    machine, rows = load("rules")
    census = [row for row in rows if row["part"] == "census"]
    save(_picture(census), "rules")
    parts = [
        "# Edit rules: experiment and cost\n\nWhat rules are: [Edit rules](../rules.md); how they are kept: "
        "[How rules are kept](../rules-kept.md); what the figures mean: [Measures](../measures.md).",
        made_by("rules", machine),
        _experiment(census),
        "![PIL, DR and SCORE by k](../images/rules.png)",
        _table(census, _SHOWN),
        "All 99 values of k are [below](#every-k).",
        _violations(census),
        _beside_the_paper(census),
        _four_kinds(census),
        _better(census),
        _cost(census),
        _nearest(),
        _examples(rows),
        _million(rows),
        "## Every k\n\nCensus, percentages.\n\n" + _table(census, range(1, 100)),
    ]
    write(DOCS / "results" / "rules.md", "\n\n".join(parts))


def _risk(row: Row, linked: str = "dbrl") -> float:
    return float(row[linked] + row["interval_disclosure"]) / 2


def _score(row: Row, linked: str = "dbrl") -> float:
    return float(row["pil"] + _risk(row, linked)) / 2


def _of(census: list[Row], scenario: str) -> dict[int, Row]:
    found = {row["k"]: row for row in census if row["scenario"] == scenario}
    return {1: next(row for row in census if row["scenario"] == "original"), **found}


def _best(census: list[Row], scenario: str, linked: str = "dbrl") -> Row:
    return min((row for k, row in _of(census, scenario).items() if k > 1), key=lambda row: _score(row, linked))


def _experiment(census: list[Row]) -> str:
    return (
        "## The experiment\n\nV. Torra, I. Cano and G. Navarro-Arribas, Dealing with edit constraints in microdata "
        "protection: microaggregation, 2009, took Census with its 13 columns as V1 to V13 and three more, V14 = V9 + "
        "V10, V15 = 1 / V11 and V16 = V5 V15, and rules, five kinds of which are in `benchmarks/census_rules.sch` as "
        "Schematron: V9 + V10 = V14; V5 V15 = V16; 0 <= V3 <= 7500; if V8 < 1115 then V13 <= V12; V1 is a value of "
        "the original. The paper's results are those of [four of them](#the-rules-and-sets-that-the-paper-had). MDAV, "
        "k from 2 to 99; k = 1 is the original itself.\n\n"
        "- **S1** keeps the rules their way: the columns of a rule are a set of quasi-identifiers, the others sets of "
        "three; the mean, for the product the geometric mean, for V1 the median. Whole numbers stay whole.\n"
        "- **S2** ignores them: all 16 columns in sets of three, in their order, the mean.\n"
        "- **Sets of S1, means projected**: the same sets, the mean everywhere (`aggregators: mean`), and the "
        "nearest values that keep the rules.\n"
        "- **One set, means projected**: the same with all columns in one set.\n\n"
        "DR is the mean of record linkage (DBRL, by all 16 columns) and interval disclosure; SCORE the mean of PIL and "
        "DR. Lower is better; the original scores 50. Only 4 records have V8 < 1115: up to k = 4 they "
        "could be a stratum, which is taken where it loses less, and from k = 5 on they share groups with others; the "
        "rule holds in them all the same."
    )


def _table(census: list[Row], ks: Iterable[int]) -> str:
    lines = []
    for k in sorted({row["k"] for row in census} & set(ks)):
        cells = [str(k)]
        for scenario in _WORDS:
            row = _of(census, scenario)[k]
            cells += [f"{row['pil']:.2f}", f"{_risk(row):.2f}", f"{_score(row):.2f}"]
        lines.append(cells)
    head = ["k", *[f"{figure}, {name}" for name in ("S1", "S2", "projected", "one set") for figure in _FIGURES]]
    return table(head, lines)


_FIGURES = ("PIL", "DR", "SCORE")


def _violations(census: list[Row]) -> str:
    """Count what the scenarios break."""
    broken = {
        scenario: [sum(row["violations"].values()) for k, row in _of(census, scenario).items() if k > 1]
        for scenario in _WORDS
    }
    kept = [name for name, counts in broken.items() if not any(counts)]
    lines = []
    for k in (2, 3, 6, 10, 50, 99):
        row = _of(census, "S2").get(k)
        if row:
            own = row["violations"]
            lines.append([str(k), *[str(count) for count in own.values()], str(sum(own.values())),
                          f"{100 * sum(own.values()) / (5 * 1080):.1f}"])  # fmt: skip
    names = list(_of(census, "S2")[1]["violations"])
    ks = len(broken["S2"])
    return (
        f"S1 and both projected scenarios violate no rule in any record at any of the {ks} values of k"
        if len(kept) == 3
        else f"Without any violation at any k: {', '.join(kept)}"
    ) + (
        f". S2 breaks rules {min(broken['S2'])} to {max(broken['S2'])} times, of 5 rules in 1080 records each:\n\n"
        + table(("k, S2", *names, "all", "% of 5400"), lines)
    )


def _beside_the_paper(census: list[Row]) -> str:
    lines = []
    for scenario, (figure, k) in _PAPER.items():
        best, one = _best(census, scenario), _best(census, scenario, "one_set")
        here = _of(census, scenario)[k]
        implied = 4 * figure - 2 * here["pil"] - here["interval_disclosure"]
        lines.append([
            scenario, f"{figure} (k = {k})", f"{_score(best):.3f} (k = {best['k']})", f"{_score(here):.3f}",
            f"{_score(one, 'one_set'):.3f} (k = {one['k']})", f"{_score(here, 'one_set'):.3f}", f"{implied:.1f}",
        ])  # fmt: skip
    return (
        "## Beside the paper's figures\n\n"
        + table(
            (
                "scenario",
                "published best SCORE",
                "best here",
                "here at the published k",
                "best, intruder with one set",
                "the same at the published k",
                "DBRL that the published SCORE needs, %",
            ),
            lines,
        )
        + "\n\nThe figures differ, and record linkage is why. The paper does not say which columns its intruder "
        "knows. Here the intruder knows all 16: sets are grouped separately, and the combination of their values "
        "finds nearly every record, at any k. In the columns beside it the intruder knows the columns of one set, "
        "averaged over the sets: then the scores come close to the published ones. The last column is the DBRL with "
        "which PIL and interval disclosure as measured here would give the published SCORE at the published k. "
        "Other differences that the paper does not settle: how it standardises and cuts intervals, which columns "
        "form the sets of three, that whole numbers are rounded here, and what its release does with the four records "
        "of the antecedent from k = 5 on. The definitions here are those of [Measures](../measures.md), and are not "
        "changed for a figure."
    )


def _four_kinds(census: list[Row]) -> str:
    """Say which rules and sets the paper had, and what follows for its figures."""
    rows = [row for row in load("paper_sets")[1] if row["part"] == "four"]
    of = {row["k"]: row for row in rows}
    s1 = _of(census, "S1")
    sets = ", ".join(f"{{{', '.join(names)}}}" for names in rows[0]["sets"])
    lines = [
        [str(k), *(f"{row['pil']:.2f}" for row in (of[k], s1[k])), *(f"{_score(row):.3f}" for row in (of[k], s1[k])),
         *(f"{_score(row, 'one_set'):.3f}" for row in (of[k], s1[k]))]
        for k in (2, 4, 6, 8, 10, 20, 50, 99)
    ]  # fmt: skip
    best = min(rows, key=lambda row: _score(row, "one_set"))
    return (
        "## The rules and sets that the paper had\n\nThe paper describes values of the original as a fifth kind, and "
        "says at its end that the results are those of four: EC-PV, EC-GV, EC-LC and EC-NLC. All columns of a rule "
        "are a set, which makes 3 + 3 + 1 + 3 of its 16 columns, and leaves six for two sets of three; with V1 as a "
        "fifth there would be five columns left, which are no sets of three. `quasi_identifiers: auto` forms such sets "
        f"from the four rules: {sets}. Which of the six columns it puts together the paper does not say, nor in which "
        "order Census has its columns there.\n\n"
        + table(
            ("k", "PIL, four kinds", "PIL, S1 above", "SCORE, four kinds", "SCORE, S1 above",
             "SCORE, intruder with one set, four kinds", "the same, S1 above"),
            lines,
        )
        + f"\n\nNo record breaks a rule at any k ({sum(row['broken'] for row in rows)} in all). What follows for the "
        "figures: with the sets of three that the paper had, V1 is not alone in a set, PIL is higher than in S1 above, "
        "and an intruder with one set links about as many records, so that the scores stay near to each other: "
        f"{_score(best, 'one_set'):.3f} at k = {best['k']} is the lowest, beside 37.223 at k = 10 in the paper. An "
        "intruder with all columns finds nearly all records with either. The difference to the published "
        "figures is that of the intruder, not that of a rule."
    )  # fmt: skip


def _nearest() -> str:
    """Say what categories from the original cost."""
    plain, kept = (row for row in load("paper_sets")[1] if row["part"] == "nearest")
    return (
        "## Categories from the original\n\nOccupation and native country of 3000 records of Adult with hierarchies "
        "from WordNet, `semantic-optimal` at 20 000 steps, k = 10, and the rule that both are values of the original. "
        "A name above the values is not one, and the nearest value in meaning is released instead; a record of the "
        "group was before, the first of those as near. Reported of such a table: 7.9 % of whole records where 5.0 % is "
        "possible in the same groups.\n\n"
        + table(
            ("", "information loss, %", "loss of whole records, %"),
            [
                ["without rules", f"{plain['loss']:.2f}", f"{plain['record_loss']:.2f}"],
                ["a record of the group, as it was", "26.62", "5.85"],
                ["nearest in meaning", f"{kept['loss']:.2f}", f"{kept['record_loss']:.2f}"],
            ],
        )
    )


def _better(census: list[Row]) -> str:
    lines = []
    for scenario, words in _WORDS.items():
        best, one = _best(census, scenario), _best(census, scenario, "one_set")
        lines.append([words, f"{_score(best):.3f}", str(best["k"]), f"{best['pil']:.2f}", f"{_risk(best):.2f}",
                      f"{_score(one, 'one_set'):.3f}", str(one["k"])])  # fmt: skip
    s1, projected = _of(census, "S1"), _of(census, "projected")
    lower = sum(_score(projected[k]) < _score(s1[k]) for k in s1 if k > 1)
    alone = sum(_score(projected[k], "one_set") < _score(s1[k], "one_set") for k in s1 if k > 1)
    return (
        "## Better than that way\n\n"
        + table(("scenario", "lowest SCORE", "k", "PIL", "DR", "lowest, intruder with one set", "k"), lines)
        + "\n\nWith the sets of S1, projecting means gives a lower SCORE than S1 at "
        f"{lower} of {len(s1) - 1} values of k, and at {alone} where the intruder knows one set: "
        "the geometric mean pulls all three columns of the product "
        "below their means, and the median those of V1; the nearest values that keep the rules do not. With all "
        "columns in one set, record linkage falls to 100 / k % and below, which the sets of the paper "
        "cannot reach, and the same rules are kept."
    )


def _cost(census: list[Row]) -> str:
    lines = []
    for scenario in ("S1", "projected", "together"):
        for rule in _of(census, scenario).get(10, {"rules": []})["rules"]:
            cost = rule.get("cost_in_groups", rule["cost"])
            lines.append([f"{_WORDS[scenario]}: `{rule['name']}`", rule["kind"], rule["kept_by"], f"{cost:.4f}"])
    return (
        "How each rule was kept at k = 10, and what it cost: the squared error of its columns above that of plain "
        "means of the same groups, in percent.\n\n" + table(("scenario and rule", "kind", "kept by", "cost, %"), lines)
    )


def _examples(rows: list[Row]) -> str:
    words = {
        "EIA": "Totals of revenue and sales, up to 2 units of rounding. Ten totals of revenue and 14 of sales are "
        "wrong in the data, so the rules are kept where they hold (`broken_rules: keep-where-held`).",
        "Adult": "Bounds, implications, one of them about a column that is released as it is and one with an "
        "antecedent that 7 records satisfy, and values of the original.",
    }
    parts = ["## Accounts and conditions\n\nTwo more tables at k = 10, MDAV, all columns of numbers in one set."]
    for data, told in words.items():
        here = [row for row in rows if row["part"] == "example" and row["data"] == data and row["k"] == 10]
        losses = [row for row in rows if row["part"] == "loss" and row["data"] == data]
        lines = [
            [_code(row["text"]), row["kind"], row["kept_by"], str(row["violations_before"]), str(row["ignored"]),
             str(row["violations_after"]), f"{row['cost']:.4f}"]
            for row in here
        ]  # fmt: skip
        loss = "; ".join(
            f"k = {row['k']}: {row['kept']:.2f} with rules, {row['ignored']:.2f} without" for row in losses
        )
        parts.append(
            f"### {data}, {losses[0]['records']} records, {losses[0]['columns']} columns\n\n{told}\n\n"
            + table(("rule", "kind", "kept by", "broken before", "in a release without rules", "in the release",
                     "cost, %"), lines)
            + f"\n\nInformation loss in percent: {loss}. Suppressed cells: {sum(row['suppressed'] for row in losses)}."
        )  # fmt: skip
    return "\n\n".join(parts)


def _code(text: str) -> str:
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def _million(rows: list[Row]) -> str:
    here = [row for row in rows if row["part"] == "million"]
    plain, ruled = ([row for row in here if bool(row["rules"]) == kept] for kept in (False, True))
    ratios = [b["cpu"] / a["cpu"] for a, b in zip(plain, ruled, strict=True)]
    wall = sum(row["wall"] for row in ruled) / sum(row["wall"] for row in plain)
    load = [row["load"] for row in here if row["load"] is not None]
    lines = [
        [str(row["turn"] + 1), str(row["rules"]), f"{row['cpu']:.1f}", f"{row['wall']:.1f}", f"{row['loss']:.3f}",
         str(row["violations"])]
        for row in here
    ]  # fmt: skip
    return (
        f"## {here[0]['records']:_} records, {here[0]['columns']} columns, five rules\n\n".replace("_", " ")
        + "A sum of three, a product, bounds, an implication and values of the original, over correlated log-normal "
        "columns; MDAV with k = 3 in blocks of the spread tree; with rules and without in turn.\n\n"
        + table(("turn", "rules", "CPU seconds", "wall seconds", "information loss, %", "violations"), lines)
        + f"\n\nWith five rules a turn takes {min(ratios):.2f} to {max(ratios):.2f} times the CPU seconds; all turns "
        f"together take {wall:.2f} times the wall time. Wall times vary with what else the machine did, whose load was "
        f"{min(load):.1f} to {max(load):.1f}."
    )


def _picture(census: list[Row]) -> Any:
    import altair as alt

    points = [
        {"k": row["k"], "scenario": words, "figure": name, "value": value}
        for scenario, words in _WORDS.items()
        for row in _of(census, scenario).values()
        for name, value in (("PIL", row["pil"]), ("DR", _risk(row)), ("SCORE", _score(row)))
    ]
    colour = alt.Color("figure:N", title=None, sort=list(_FIGURES), scale=alt.Scale(range=[BLUE, RED, INK]))
    return (
        alt.Chart(alt.Data(values=points), width=330, height=220)
        .mark_line(strokeWidth=2)
        .encode(
            x=alt.X("k:Q", scale=alt.Scale(domain=[1, 99], nice=False)),
            y=alt.Y("value:Q", title="%", scale=alt.Scale(domain=[0, 100])),
            color=colour,
        )
        .facet(facet=alt.Facet("scenario:N", sort=list(_WORDS.values()), title=None), columns=2, spacing=24)
    )
