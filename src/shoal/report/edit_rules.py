"""The section about edit rules: how each was kept, and what it cost."""

from __future__ import annotations

from shoal.errors import counted
from shoal.report.editions import short
from shoal.report.facts import Facts
from shoal.report.parts import Grid, Section


def edit_rules(facts: Facts) -> Section | None:
    """Every rule with what kept it; the external edition tells only that it holds."""
    rules = [rule for rule in facts.summary.get("rules", []) if isinstance(rule, dict)]
    if not rules:
        return None
    internal = facts.edition.internal
    rows = []
    for rule in rules:
        promise = "by construction" if rule.get("guaranteed") else "checked only"
        after = facts.edition.count(int(rule.get("violations_after", 0)))
        cells = [str(rule.get("name", "")), str(rule.get("kind", "")), promise, after]
        if internal:
            cells += [
                f"{int(rule.get('violations_before', 0)):,}",
                str(rule.get("kept_by", "")),
                "" if rule.get("cost") is None else short(float(rule["cost"]), 4),
                short(float(rule.get("cost_in_groups", 0.0)), 4),
            ]
        rows.append(cells)
    head = ["rule", "kind", "kept", "records that break it"]
    if internal:
        head += ["before", "kept by", "cost, %", "in its groups, %"]
    kept = sum(not rule.get("violations_after") for rule in rules)
    told = f"Rules that hold in every record of the release: {kept} of {len(rules)}."
    if internal:
        told += (
            " The cost of a rule is what its columns lose more than by the same plan without rules, in percent of "
            "their sum of squares; and beside it, more than the means of the same groups would."
        )
        plain, own = facts.summary.get("loss_without_rules"), facts.summary.get("record_tuples")
        if isinstance(plain, int | float):
            told += f" Without rules the information loss would be {short(float(plain), 4)} %."
        if isinstance(own, int) and own:
            told += f" In {counted(own, 'group')} the columns of rules are those of one record."
    grid = Grid("How each rule was kept and what it cost" if internal else "Rules", head, rows, texts=(1, 2, 5))
    return Section("rules", "Edit rules", told, [grid])
