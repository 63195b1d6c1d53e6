"""The verdict: what was asked, what was reached and what remains, in sentences that follow from the figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from shoal.errors import counted, fewer_others, one_or_many, ranged
from shoal.report.editions import short
from shoal.report.facts import Facts
from shoal.report.households import households_asked, households_reached
from shoal.report.parts import Tile, Verdict

NO_ROLE = "none"
_NAMED = 12  # names of columns that a sentence lists

_RISK = "chance of being found by the key"

Status = Literal["good", "care", "bad"]


def verdict(facts: Facts) -> Verdict:
    """Judge a release by its figures."""
    doubts = _doubts(facts)
    status, word, headline = _headline(facts, bool(doubts))
    return Verdict(status, word, headline, _asked(facts), _reached(facts), [*doubts, *_remains(facts)], _tiles(facts))


def listed(names: Sequence[str], most: int = _NAMED, characters: int = 240) -> str:
    """Return names in a sentence, the first of many.

    >>> listed(["a", "b", "c"]), listed(["a", "b", "c"], 2)
    ('a, b and c', 'a, b and 1 more')
    """
    fit = [place for place in range(1, len(names) + 1) if sum(map(len, names[:place])) <= characters][:most]
    shown = max(len(fit), 1)
    if len(names) > shown:
        return f"{', '.join(names[:shown])} and {len(names) - shown} more"
    return " and ".join([*([", ".join(names[:-1])] if len(names) > 1 else []), *names[-1:]])


def promised(facts: Facts) -> int | None:
    """Return the k that was asked for, where it was asked for the columns that are measured here."""
    asked = facts.asked
    if asked is None or {name for part in asked.sets for name in part} != set(facts.measures.quasi_identifiers):
        return None
    return asked.k


def role(facts: Facts, name: str) -> str:
    """Return the role of a column, as far as it is known."""
    measures, asked = facts.measures, facts.asked
    roles: list[tuple[str, Sequence[str]]] = [
        ("quasi-identifier", measures.quasi_identifiers),
        ("confidential", measures.confidential),
    ]
    if asked:
        roles += [("identifier", asked.removed), ("weight", [asked.weight or ""])]
        roles += [("stratum", asked.strata), ("confidential", asked.confidential), ("household", [asked.household])]
    return next((one for one, names in roles if name in names), NO_ROLE)


def _headline(facts: Facts, doubts: bool) -> tuple[Status, str, str]:
    k, reached = promised(facts), facts.measures.k_anonymity
    others = one_or_many(reached - 1, "one other record", f"at least {reached - 1} other records")
    shared = f"Every record shares its quasi-identifiers with {others}."
    if reached == 1:
        shared = "Some records share their combination of quasi-identifiers with no other record."
    if k is None:
        return ("bad", "Not protected", shared) if reached == 1 else ("care", "Measured", shared)
    if reached < k:
        if facts.summary.get("smallest_group", 0) >= k:
            return "care", "Reached, with reservations", f"Every group has at least {k} records. {shared}"
        return "bad", "Not reached", f"k = {k} was asked for, and {reached} is reached. {shared}"
    if doubts:
        return "care", "Reached, with reservations", shared
    return "good", "Reached", shared


def _asked(facts: Facts) -> list[str]:
    asked, measures = facts.asked, facts.measures
    if asked is None:
        return [
            "Nothing is known of what was asked for: there is no manifest of shoal beside this release.",
            f"Measured as quasi-identifiers: {listed(measures.quasi_identifiers)}.",
        ]
    said = [f"Groups of at least k = {asked.k} records by the method {asked.method}."]
    if len(asked.sets) == 1:
        said.append(f"{counted(len(asked.sets[0]), 'quasi-identifier')}: {listed(asked.sets[0])}.")
    else:
        sets = "; ".join(listed(part) for part in asked.sets)
        said.append(f"{len(asked.sets)} sets of quasi-identifiers, each by itself: {sets}.")
    if promised(facts) is None:
        said.append(f"Measured here are other quasi-identifiers: {listed(measures.quasi_identifiers)}.")
    if asked.removed:
        what = f": {listed(asked.removed)}" if facts.edition.internal else ""
        said.append(f"{counted(len(asked.removed), 'direct identifier')} removed{what}.")
    if asked.strata:
        said.append(f"Records never mixed between values of {listed(asked.strata)}.")
    return [*said, *households_asked(facts)]


def _reached(facts: Facts) -> list[str]:
    measures, edition, summary = facts.measures, facts.edition, facts.summary
    said = []
    if summary:
        groups, low, high = (summary[name] for name in ("groups", "smallest_group", "largest_group"))
        told = f"{measures.records:,} records in {groups:,} {one_or_many(groups, 'group', 'groups')}"
        said.append(f"{told} of {ranged(low, high, 'record')}; every group was checked.")
    else:
        rarest = counted(measures.k_anonymity, "record")
        said.append(f"{measures.records:,} records; the rarest combination is that of {rarest}.")
    before = f" ({edition.percent(measures.global_risk_original)} before)" if edition.internal else ""
    said.append(f"Global risk of being found by the released key: {edition.percent(measures.global_risk)}{before}.")
    kept = f"Information loss: {facts.loss()}"
    if measures.correlation_difference is not None and facts.tells("correlation_difference"):
        kept += f"; correlations moved by {edition.plain(measures.correlation_difference)} on average"
    said.append(f"{kept}.")
    return [*said, *households_reached(facts)]


def _doubts(facts: Facts) -> list[str]:
    """Say what is wrong, or should be looked at before the release is given to anybody."""
    measures, edition, said = facts.measures, facts.edition, []
    k = promised(facts)
    below = sum(int(size) * count for size, count in measures.key_sizes.items() if int(size) < (k or 2))
    if below and k and len(facts.asked.sets if facts.asked else []) > 1:
        said.append(
            "k holds for each set of quasi-identifiers, not for all of them together. Records that share their whole "
            f"combination with {fewer_others(k)}: {edition.count(below)}."
        )
    elif below:
        said.append(
            "Records that share their combination of quasi-identifiers with "
            f"{fewer_others(k or 2)}: {edition.count(below)}. A missing value is a value, too."
        )
    if not edition.internal:  # where to look for somebody is nobody's business outside
        return said
    idle = [change.name for change in facts.changes if change.released and role(facts, change.name) == NO_ROLE]
    if idle:
        said.append(
            f"Nobody gave a role to {listed(idle)}: released, and in no figure of risk, although they may single "
            "somebody out."
        )
    low = [name for name, own in measures.by_confidential.items() if own["distinct_l"] == 1]
    if low:
        said.append(
            f"There are groups in which all records have the same {' or the same '.join(low[:_NAMED])}: whoever knows "
            "that somebody is in such a group knows that value."
        )
    if measures.score is not None and measures.score >= 50.0:
        said.append("The SCORE is 50 or more, no better than that of unprotected data: loss and risk are both high.")
    return said


def _remains(facts: Facts) -> list[str]:
    measures, edition = facts.measures, facts.edition
    said = [
        f"Somebody who holds the original {'' if measures.known == measures.quasi_identifiers else 'values of '}"
        f"{'quasi-identifiers' if measures.known == measures.quasi_identifiers else listed(measures.known)} would link "
        f"{edition.percent(measures.dbrl)} of the records to the right one."
    ]
    if measures.interval_disclosure is not None and edition.internal:
        said.append(
            f"{edition.percent(measures.interval_disclosure)} of the numbers are close to what was released for them "
            "(interval disclosure): k alone does not hide a value."
        )
    if measures.suppressed_cells:
        said.append(
            f"Cells suppressed, which are missing in the release only: {edition.count(measures.suppressed_cells)}."
        )
    kept = [c.name for c in facts.changes if c.released and role(facts, c.name) not in (NO_ROLE, "quasi-identifier")]
    if kept:
        said.append(f"Released as they are and not in the key that an intruder is taken to know: {listed(kept)}.")
    if not measures.confidential:
        said.append("No column was named confidential, so what groups give away about one was not looked at.")
    said.append("What an intruder knows beyond the quasi-identifiers is in no figure.")
    return said


def _tiles(facts: Facts) -> list[Tile]:
    measures, edition = facts.measures, facts.edition
    k = promised(facts)
    was = f"{edition.percent(measures.global_risk_original)} before" if edition.internal else _RISK
    tiles = [
        Tile(
            str(measures.k_anonymity),
            "k-anonymity",
            one_or_many(measures.k_anonymity, "record has", "records share")
            + " the rarest combination"
            + (f"; {k} asked for" if k else ""),
        ),
        Tile(edition.percent(measures.dbrl), "record linkage", "of the records are linked to their own"),
        Tile(edition.percent(measures.global_risk), "global risk", was),
        Tile(facts.loss(), "information loss", "0 is the original, 100 all at centre"),
    ]
    if measures.pil is not None and facts.tells("pil"):
        tiles.append(Tile(edition.percent(measures.pil), "PIL", "how surprising the released statistics are"))
    if measures.score is not None and edition.internal:
        tiles.append(Tile(short(measures.score, 3), "SCORE", "of loss and risk; 50 is unprotected data"))
    elif measures.correlation_difference is not None and facts.tells("correlation_difference"):
        tiles.append(Tile(edition.plain(measures.correlation_difference), "correlations", "moved by this on average"))
    elif measures.table_distance is not None:
        tiles.append(Tile(edition.percent(measures.table_distance), "distance of tables", "of the records would move"))
    return tiles
