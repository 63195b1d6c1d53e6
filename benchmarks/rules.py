"""Edit rules: the experiment of Torra, Cano and Navarro-Arribas 2009 on Census, EIA, Adult, and a million records.

Scenarios on Census with V14, V15 and V16, 16 columns, MDAV:

- S1, the paper's way with rules: columns that share a rule are a set, the others sets of three; the mean, for the
  product the geometric mean, for values of the original the median.
- S2, the paper's way without: all columns in sets of three, the mean.
- projected: the sets of S1, the mean everywhere, projected onto the rules.
- together: all columns in one set, the mean, projected onto the rules.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import shoal
from published import data_folder
from record import Recorder, stopwatch
from shoal.kernels.watch import new_watch
from shoal.measures.linkage import linkage_tasks, linked
from shoal.measures.pairs import NumericPair
from shoal.plan.rules import as_expressions
from shoal.rules.evaluate import evaluate
from shoal.rules.observations import read_observations
from shoal.rules.sources import as_rules, read_rules
from shoal.tables.table import open_table

RULES = Path(__file__).parent / "census_rules.sch"
TIED = [["V9", "V10", "V14"], ["V5", "V15", "V16"], ["V3"], ["V8", "V12", "V13"], ["V1"]]
OTHERS = [["V2", "V4", "V6"], ["V7", "V11"]]
KS = range(2, 100)
EIA_RULES = {
    "revenue": "TOTREVENUE = RESREVENUE + COMREVENUE + INDREVENUE + OTHREVENUE within 2",
    "sales": "TOTSALES = RESSALES + COMSALES + INDSALES + OTHRSALES within 2",
    "no sales at home": "if RESSALES = 0 then RESREVENUE = 0",
    "no sales to shops": "if COMSALES = 0 then COMREVENUE = 0",
    "homes": "0 <= RESREVENUE <= RESSALES",
}
ADULT_RULES = {
    "age": "17 <= age <= 90",
    "whole age": "age is integer",
    "gain or loss": "if `capital-gain` > 0 then `capital-loss` = 0",
    "never worked": "if workclass = 'Never-worked' then `capital-gain` = 0 and `capital-loss` = 0",
    "doctors": "if education = 'Doctorate' then `education-num` = 16",
    "years": "`education-num` in {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}",
    "hours": "`hours-per-week` from original",
}
MILLION_RULES = [
    "TOTAL = V1 + V2 + V3",
    "TAX = V4 * RATE",
    "0 <= V7 <= 100000000",
    "if V6 < 300 then V5 <= CEILING",
    "V9 from original",
]


def run(quick: bool) -> None:
    """Run all parts; each recorded line names its part."""
    recorder = Recorder("rules", quick)
    _census(recorder, quick)
    _example(recorder, "EIA", _eia(), EIA_RULES, broken_rules="keep-where-held")
    _example(recorder, "Adult", _adult(), ADULT_RULES, keep=["workclass", "education", "sex", "income"])
    _million(recorder, 50_000 if quick else 1_000_000, 1 if quick else 3)


def census() -> pl.DataFrame:
    """Return Census with the columns of the paper."""
    table = pl.read_csv(data_folder() / "casc" / "census.csv")
    table = table.select(sorted(table.columns))
    table.columns = [f"V{i}" for i in range(1, 14)]
    table = table.with_columns(V14=pl.col("V9") + pl.col("V10"), V15=1 / pl.col("V11"))
    return table.with_columns(V16=pl.col("V5") * pl.col("V15"))


def _census(recorder: Recorder, quick: bool) -> None:
    table = census()
    names = table.columns
    threes = [names[i : i + 3] for i in range(0, len(names), 3)]
    scenarios: dict[str, dict[str, Any]] = {
        "S1": {
            "quasi_identifiers": TIED + OTHERS,
            "rules": RULES,
            "product_rules": "geometric-means",
            "aggregators": {"V1": "median"},
        },
        "S2": {"quasi_identifiers": threes},
        "projected": {"quasi_identifiers": TIED + OTHERS, "rules": RULES, "aggregators": "mean"},
        "together": {"quasi_identifiers": names, "rules": RULES, "aggregators": "mean"},
    }
    unprotected = {"loss": 0.0, "violations": _violations(table, table), "rules": []}
    recorder.add(part="census", scenario="original", k=1, **unprotected, **_scores(table, table, [names]))
    for k in (3, 6, 10, 50) if quick else KS:
        for scenario, asked in scenarios.items():
            release = shoal.protect(table, k, method="mdav", **asked)
            recorder.add(
                part="census",
                scenario=scenario,
                k=k,
                loss=release.summary.information_loss,
                violations=_violations(table, release.data),
                rules=[
                    rule | {"cost": round(rule["cost"], 6), "cost_in_groups": round(rule["cost_in_groups"], 6)}
                    for rule in release.summary.to_dict()["rules"]
                ],
                **_scores(table, release.data, asked["quasi_identifiers"]),
            )


def _violations(original: pl.DataFrame, released: pl.DataFrame) -> dict[str, int]:
    """Count the records that break each rule, at the last digit."""
    rules = read_rules(RULES)
    before, after = (_exact(frame) for frame in (original, released))
    return {rule.name: int(evaluate(rule.condition, after, before).violated.sum()) for rule in rules if rule.condition}


def _exact(frame: pl.DataFrame) -> dict[str, Any]:
    return {name: c._replace(decimals=None) for name, c in read_observations(open_table(frame), frame.columns).items()}


def _scores(original: pl.DataFrame, released: pl.DataFrame, sets: Any) -> dict[str, float]:
    """Measure a release; ``one_set`` is record linkage by an intruder who knows one set of columns, averaged."""
    found = shoal.measure(original, released, quasi_identifiers=original.columns)
    figures = {name: round(found[name], 4) for name in ("pil", "dbrl", "interval_disclosure", "score")}
    sets = [sets] if isinstance(sets[0], str) else sets
    one = [_linked(original, released, names) for names in sets]
    return {**figures, "one_set": round(float(np.mean(one)), 4)}


def _linked(original: pl.DataFrame, released: pl.DataFrame, names: list[str]) -> float:
    """Return record linkage by some columns in percent."""
    pairs = []
    for name in names:
        x, y = original[name].to_numpy(), released[name].to_numpy()
        there = np.ones(len(x), dtype=bool)
        pairs.append(NumericPair(name, (x - x.mean()) / x.std(), (y - x.mean()) / x.std(), there, there))
    return linked([task(new_watch()) for task in linkage_tasks(pairs)], len(original)).percent


def _eia() -> pl.DataFrame:
    return pl.read_csv(data_folder() / "casc" / "eia.csv").drop("UTILNAME", "STATE", "YEAR", "MONTH", "UTILITYID")


def _adult() -> pl.DataFrame:
    path = data_folder() / "adult" / "adult.data"
    lines = [line.split(", ") for line in path.read_text(encoding="utf-8").splitlines() if line]
    numbers = {name: [int(line[at]) for line in lines] for at, name in _ADULT_NUMBERS.items()}
    return pl.DataFrame({**numbers, **{name: [line[at] for line in lines] for at, name in _ADULT_TEXTS.items()}})


_ADULT_NUMBERS = {0: "age", 4: "education-num", 10: "capital-gain", 11: "capital-loss", 12: "hours-per-week"}
_ADULT_TEXTS = {1: "workclass", 3: "education", 9: "sex", 14: "income"}


def _example(
    recorder: Recorder, data: str, table: pl.DataFrame, rules: dict[str, str], keep: Any = (), **asked: Any
) -> None:
    """Protect a table at several k, with rules and without."""
    names = [name for name in table.columns if name not in keep]
    for k in (3, 10, 50):
        plain = shoal.protect(table, k, names, method="mdav", confidential=keep or None)
        release = shoal.protect(table, k, names, method="mdav", confidential=keep or None, rules=rules, **asked)
        found = release.summary.to_dict()["rules"]
        original = read_observations(open_table(table), table.columns)
        without = read_observations(open_table(plain.data), table.columns)
        told = {rule.name: rule for rule in as_rules(as_expressions(rules))}
        for rule in found:
            condition = told[rule["name"]].condition
            ignored = int(evaluate(condition, without, original).violated.sum())
            recorder.add(part="example", data=data, records=len(table), k=k, text=rules[rule["name"]],
                         ignored=ignored, **rule)  # fmt: skip
        recorder.add(
            part="loss", data=data, records=len(table), columns=len(names), k=k, kept=release.summary.information_loss,
            ignored=plain.summary.information_loss, suppressed=release.summary.suppressed_cells,
        )  # fmt: skip


def _million(recorder: Recorder, n: int, times: int) -> None:
    """Time a large table with five rules and without, in turn."""
    table = _large(n)
    asked = {"method": "mdav", "blocking": "spread-tree"}
    small = table.head(20_000)
    for rules in (None, MILLION_RULES):  # compiles
        shoal.protect(small, 3, small.columns, rules=rules, **asked)
    for turn in range(times):
        for rules in (None, MILLION_RULES):
            with stopwatch() as seconds:
                summary = shoal.protect(table, 3, table.columns, rules=rules, **asked).summary
            after = sum(rule.violations_after for rule in summary.rules)
            load = round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None
            recorder.add(
                part="million", records=n, columns=table.width, turn=turn, rules=len(summary.rules), violations=after,
                loss=summary.information_loss, load=load, **seconds,
            )  # fmt: skip


def _large(n: int) -> pl.DataFrame:
    """Return correlated log-normal columns that satisfy the rules."""
    draw = np.random.default_rng(0)
    mixed = draw.normal(size=(n, 4)) @ draw.normal(size=(4, 9)) * 0.5 + draw.normal(size=(n, 9)) * 0.3
    whole = np.rint(1000.0 * np.exp(mixed)).astype(np.int64)
    columns = {f"V{j + 1}": whole[:, j] for j in range(9)}
    columns["TOTAL"] = whole[:, :3].sum(axis=1)
    columns["RATE"] = np.exp(mixed[:, 3] - mixed[:, 4])
    columns["TAX"] = columns["V4"] * columns["RATE"]
    columns["CEILING"] = columns["V5"] + np.where(columns["V6"] < 300, whole[:, 7], -1)
    return pl.DataFrame(columns)
