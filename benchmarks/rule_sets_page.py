"""The page of results on what rules cost, docs/results/rule-sets.md."""

from __future__ import annotations

from typing import Any

from markdown import DOCS, made_by, table, write
from record import load

Row = dict[str, Any]


def rule_sets() -> None:
    """Write docs/results/rule-sets.md."""
    machine, rows = load("rule_sets")
    before_machine, before = load("rule_sets_before")
    ten = [row for row in rows if row["part"] == "ten"]
    parts = [
        _INTRODUCTION.format(commit=before_machine["commit"]),
        made_by("rule_sets", machine),
        _cases(rows, before),
        _ten(ten, before),
        _random(next(row for row in rows if row["part"] == "random")),
        _by_rule(ten),
    ]
    write(DOCS / "results" / "rule-sets.md", "\n\n".join(parts))


def _match(rows: list[Row], row: Row, *names: str) -> Row:
    return next(other for other in rows if all(other.get(name) == row[name] for name in ("part", *names)))


def _own(row: Row) -> str:
    return f"{row['record_groups']} of {row['groups']}"


def _cases(rows: list[Row], before: list[Row]) -> str:
    lines = []
    for row in rows:
        if row["part"] == "case":
            old = _match(before, row, "case")
            lines.append([
                row["case"], f"{row['without']:.2f}", f"{old['loss']:.2f}", f"{row['loss']:.2f}", _own(old), _own(row),
                *(["", ""] if row["total_off"] is None else [f"{one['total_off']:+.1f}" for one in (old, row)]),
            ])  # fmt: skip
    head = ("case", "loss without rules, %", "with rules, before", "now", "groups that release a record, before", "now",
            "total off by, %, before", "now")  # fmt: skip
    return (
        "## Cases\n\n"
        "- *Six antecedents*: `if a = 0 then b = 0` for six pairs of log-normal columns, 1000 records, of which 30 % "
        "have 0 in each pair; MDAV, k = 3. Plain groups break the rules in "
        f"{next(row['broken'] for row in rows if row.get('case') == 'six antecedents')} of 6000 cells. Reported of "
        "such a table: 13.8 % without rules, 23.9 % with them, and 18 broken cells.\n"
        "- *A share with slack*: `share = 100 * export / turnover within 0.06`, 400 records, MDAV, k = 3. Reported: "
        "62 of 132 groups that release a record.\n"
        "- *A product*: `v = p * q`, 1000 records, MDAV, k = 10; the total of v beside that of the original. Before: "
        "geometric means, now `product_rules: geometric-means`. Reported: 5.8 % low, and 0.4 % with projected means.\n"
        "- *A search*: `if sex = 'M' then births = 0` with a sex that is released as it is, 150 records, `optimal`, "
        "k = 3.\n\n" + table(head, lines)
    )


def _ten(ten: list[Row], before: list[Row]) -> str:
    lines = []
    for row in ten:
        old = _match(before, row, "data", "method", "k")
        cells = sum(rule["would_break"] for rule in row["rules"]) / (row["records"] * len(row["rules"]))
        lines.append([
            row["data"], row["method"], str(row["k"]), str(len(row["rules"])), f"{100 * cells:.1f}",
            f"{row['without']:.2f}", f"{old['loss']:.2f}", f"{row['loss']:.2f}", f"{row['loss'] / row['without']:.3f}",
            _own(old), _own(row), f"{old['cpu']:.1f}", f"{row['cpu']:.1f}",
        ])  # fmt: skip
    head = ("table", "method", "k", "rules", "cells broken by plain groups, %", "loss without rules, %",
            "with rules, before", "now", "times that without", "groups that release a record, before", "now",
            "CPU seconds, before", "now")  # fmt: skip
    worst = max(row["loss"] / row["without"] for row in ten)
    broken = sum(row["violations"] for row in ten)
    return (
        "## Ten tables\n\nInvented accounts with the rules that such have (`benchmarks/rule_tables.py`): 1000 records "
        "for `mdav`, 300 for `optimal`.\n\n"
        + table(head, lines)
        + f"\n\nRules broken in these releases: {broken}. Rules cost at most {100 * (worst - 1):.1f} % of the loss."
    )


def _random(row: Row) -> str:
    return (
        f"## {row['sets']} random sets of rules\n\nTables of 60 records with rules of every kind over columns that "
        "they share (`benchmarks/random_rules.py`), MDAV, k from 2 to 7; whether they hold in the release is looked up "
        "by numpy, without shoal. "
        f"Sets with a broken rule: {row['broken']}; with a group of fewer than k: {row['small']}; "
        f"with a suppressed column: {row['suppressed']}; in which some group releases a record: {row['by_record']}, "
        "most of them for a rule that asks for even numbers, which has no construction. Where plain groups break fewer "
        f"than 1 % of the cells, in {row['cheap']} sets, the loss with rules is at most {row['dearest']:.3f} times "
        f"that without. All {row['sets']} took {row['cpu']:.0f} CPU seconds.\n\n"
        "There are tables in which rules must cost more, whatever the groups: one antecedent over a column that is "
        "released as it is, which fewer than k records satisfy, asks its consequent of k records "
        "([Antecedents](../rules-kept.md#antecedents))."
    )


def _by_rule(ten: list[Row]) -> str:
    lines = []
    for row in ten:
        if row["method"] == "mdav" and row["k"] == 3:
            for rule in row["rules"]:
                lines.append([
                    f"{row['data']}: `{rule['name']}`", rule["kind"], str(rule["would_break"]), rule["kept_by"],
                    f"{rule['cost']:.4f}", f"{rule['cost_in_groups']:.4f}",
                ])  # fmt: skip
    head = ("table and rule", "kind", "records that plain groups break", "kept by", "cost, %", "in its groups, %")
    return (
        "## Rule by rule\n\nMDAV, k = 3. The cost of a rule is what its columns lose more than by the same plan "
        "without rules, in percent of their sum of squares, below 0 where they lose less; beside it, more than the "
        "means of the same groups would.\n\n" + table(head, lines)
    )


_INTRODUCTION = """# What rules cost

Losses with rules and without, in percent of information lost, now and at the commit before rules were repaired first
({commit}), when every antecedent was a stratum, products were kept by geometric means, and a slack in anything but a
sum was no equation. How rules are kept: [How rules are kept](../rules-kept.md)."""
