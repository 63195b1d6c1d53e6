"""What rules cost: ten invented tables, cases that used to be dear, and 1000 random sets of rules.

The results of the commit before rules were repaired first are beside those of the last run, in rule_sets_before.jsonl:
this program wrote both.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

import shoal
from random_rules import random_table
from record import Recorder, stopwatch
from rule_tables import TABLES, ten_tables

RANDOM = 1000
FEW = 0.01  # of the cells: plain groups that break fewer should cost next to nothing


def run(quick: bool) -> None:
    """Run all parts; each recorded line names its part."""
    recorder = Recorder("rule_sets", quick)
    for name in TABLES:
        for method, k, records in (("mdav", 3, 1000), ("mdav", 10, 1000), ("optimal", 3, 300)):
            if not quick or k == 3:
                _ten(recorder, name, method, k, 200 if quick else records)
    _cases(recorder)
    if hasattr(shoal.Summary, "__dataclass_fields__") and "loss_without_rules" in shoal.Summary.__dataclass_fields__:
        _random(recorder, 30 if quick else RANDOM)


def _ten(recorder: Recorder, name: str, method: str, k: int, records: int) -> None:
    table, columns, rules = ten_tables(name, records)
    plain = shoal.protect(table, k, columns, method=method).summary
    with stopwatch() as seconds:
        summary = shoal.protect(table, k, columns, method=method, rules=rules).summary
    found = summary.to_dict()
    recorder.add(
        part="ten", data=name, method=method, records=records, k=k, without=plain.information_loss,
        loss=summary.information_loss, violations=sum(rule.violations_after for rule in summary.rules),
        suppressed=summary.suppressed_cells, record_groups=_by_record(found), groups=summary.groups,
        rules=found["rules"], **seconds,
    )  # fmt: skip


def _by_record(found: dict[str, Any]) -> int:
    """Count the groups that release the tuple of a record; at earlier commits, of the rule with most of them."""
    if "record_tuples" in found:
        return int(found["record_tuples"])
    told = [part for rule in found["rules"] for part in rule["kept_by"].split("; ") if part.startswith("a record of")]
    return max((int(part.split(" in ")[1].split(" of ")[0]) for part in told), default=0)


def zeros_together(records: int = 1000, pairs: int = 6, seed: int = 0) -> tuple[pl.DataFrame, list[str]]:
    """Return pairs of log-normal columns of whole numbers that are 0 together in 30 % of the records, and rules."""
    draw = np.random.default_rng(seed)
    columns = {}
    for i in range(pairs):
        a, b = (np.maximum(np.rint(draw.lognormal(3, 1, records)), 1).astype(int) for _ in range(2))
        none = draw.random(records) < 0.3
        columns |= {f"a{i}": np.where(none, 0, a), f"b{i}": np.where(none, 0, b)}
    return pl.DataFrame(columns), [f"if a{i} = 0 then b{i} = 0" for i in range(pairs)]


def _cases(recorder: Recorder) -> None:
    table, rules = zeros_together()
    _case(recorder, "six antecedents", table, 3, rules)
    draw = np.random.default_rng(1)
    turnover = np.rint(draw.lognormal(6, 1, 400)).astype(int) + 1
    export = np.rint(turnover * draw.beta(1, 2, 400)).astype(int)
    table = pl.DataFrame({"turnover": turnover, "export": export, "share": np.round(100 * export / turnover, 1)})
    _case(recorder, "a share with slack", table, 3, ["share = 100 * export / turnover within 0.06"])
    draw = np.random.default_rng(3)
    p, q = draw.lognormal(2, 0.8, 1000), draw.lognormal(3, 0.9, 1000)
    _case(recorder, "a product", pl.DataFrame({"p": p, "q": q, "v": p * q}), 10, ["v = p * q"], total="v")
    draw = np.random.default_rng(5)
    sex = np.where(draw.random(150) < 0.5, "M", "F")
    number = np.where(sex == "F", draw.integers(0, 6, 150), 0)
    table = pl.DataFrame({"sex": sex, "births": number} | {name: draw.normal(size=150) for name in "xyz"})
    asked = {"columns": ["births", "x", "y", "z"], "method": "optimal", "options": {"steps": 60_000}}
    _case(recorder, "a search", table, 3, ["if sex = 'M' then births = 0"], **asked)


def _case(
    recorder: Recorder, case: str, table: pl.DataFrame, k: int, rules: list[str], *, total: str = "", **asked: Any
) -> None:
    columns = asked.pop("columns", table.columns)
    asked.setdefault("method", "mdav")
    plain = shoal.protect(table, k, columns, **asked)
    release = shoal.protect(table, k, columns, rules=rules, **asked)
    found = release.summary.to_dict()
    off = 100 * (release.data[total].sum() / table[total].sum() - 1) if total else None
    recorder.add(
        part="case", case=case, records=len(table), k=k, rules=rules, method=asked["method"],
        without=plain.summary.information_loss, loss=release.summary.information_loss, total_off=off,
        record_groups=_by_record(found), groups=release.summary.groups, kept_by=found["rules"][0]["kept_by"],
        broken=sum(rule.get("would_break", 0) for rule in found["rules"]),
    )  # fmt: skip


def _random(recorder: Recorder, sets: int) -> None:
    """Keep random rules, and count what a check of its own finds broken."""
    broken = small = by_record = suppressed = 0
    cheap = []
    with stopwatch() as seconds:
        for seed in range(sets):
            made, k = random_table(seed), 2 + seed % 6
            rules = list(dict.fromkeys(text for text, _ in made.rules))
            kept = made.kept or None
            asked = {"method": "mdav", "confidential": kept}
            release = shoal.protect(made.frame, k, made.quasi_identifiers, rules=rules, **asked)
            broken += any(made.broken(release.data).values())
            small += release.summary.smallest_group < k
            by_record += release.summary.record_tuples > 0
            suppressed += any("suppressed" in rule.kept_by for rule in release.summary.rules)
            without = release.summary.loss_without_rules
            would = sum(rule.would_break for rule in release.summary.rules)
            if without and would < FEW * len(rules) * len(made.frame):
                cheap.append(release.summary.information_loss / without)
    recorder.add(
        part="random", sets=sets, broken=broken, small=small, by_record=by_record, suppressed=suppressed,
        cheap=len(cheap), dearest=max(cheap), **seconds,
    )  # fmt: skip
