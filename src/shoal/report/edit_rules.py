"""The section about edit rules: how each was kept, and what it cost."""

from __future__ import annotations

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
                short(float(rule.get("cost", 0.0)), 4),
            ]
        rows.append(cells)
    head = ["rule", "kind", "kept", "records that break it"]
    if internal:
        head += ["before", "kept by", "cost, %"]
    kept = sum(not rule.get("violations_after") for rule in rules)
    told = f"Rules that hold in every record of the release: {kept} of {len(rules)}."
    if internal:
        told += (
            " The cost of a rule is what its columns lose more than the means of the same groups would, in percent of "
            "their sum of squares."
        )
    grid = Grid("How each rule was kept and what it cost" if internal else "Rules", head, rows, texts=(1, 2, 5))
    return Section("rules", "Edit rules", told, [grid])
