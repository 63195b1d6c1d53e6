"""Sets and rules as the paper on edit constraints had them, and what categories from the original cost.

Part ``four``: Census with the four kinds of rules that Torra, Cano and Navarro-Arribas 2009 kept, in the sets that
``quasi_identifiers: auto`` forms, which are theirs: the columns of each rule, and two sets of three. Part ``nearest``:
3000 records of Adult with hierarchies, every value from the original.
"""

from __future__ import annotations

from typing import Any

import shoal
from categories import adult, adult_hierarchies
from record import Recorder
from rules import KS, _scores, census

FOUR = {
    "EC-LC": "V9 + V10 = V14",
    "EC-NLC": "V5 * V15 = V16",
    "EC-PV": "0 <= V3 <= 7500",
    "EC-GV": "if V8 < 1115 then V13 <= V12",
}
PRODUCT = dict.fromkeys(("V5", "V15", "V16"), "geometric-mean")


def run(quick: bool) -> None:
    """Run both parts."""
    recorder = Recorder("paper_sets", quick)
    table = census()
    for k in (6, 10) if quick else KS:
        release = shoal.protect(table, k, "auto", method="mdav", rules=FOUR, aggregators=PRODUCT)
        sets = [list(part) for part in release.plan.quasi_identifiers]
        broken = sum(rule.violations_after for rule in release.summary.rules)
        recorder.add(part="four", k=k, sets=sets, broken=broken, **_scores(table, release.data, sets))
    people = adult().head(3000)
    asked: dict[str, Any] = {"hierarchies": adult_hierarchies({}), "options": {"steps": 20_000}}
    for rules in ([], [f"`{name}` from original" for name in people.columns]):
        found = shoal.protect(people, 10, people.columns, method="semantic-optimal", rules=rules, **asked).summary
        recorder.add(part="nearest", rules=len(rules), loss=found.information_loss, record_loss=found.record_loss,
                     kept=[rule.kept_by for rule in found.rules])  # fmt: skip
