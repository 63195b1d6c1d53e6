"""What a report tells of households: what was asked, and how many share what is released. Both follow from the file."""

from __future__ import annotations

from shoal.errors import counted, listed, one_or_many
from shoal.report.facts import Facts

_NUMBERS = {
    "renumbered": "their numbers were drawn anew",
    "same": "their numbers are those of the original",
    "removed": "their numbers were removed",
}
_SIZES = {
    "counted": "Groups never mix households of different sizes.",
    "merged": "Groups mix households of different sizes only where fewer than k have one.",
    "ignored": "Sizes of households are not counted.",
}


def households_asked(facts: Facts) -> list[str]:
    """Say what k counts, and what became of the numbers of households."""
    found = facts.summary.get("household")
    if not found:
        return []
    said = [f"k counts households, told apart by {found['column']}; {_NUMBERS[found['release']]}."]
    if found["variables"]:
        said.append(f"Released once for each household: {listed(found['variables'])}.")
    return [*said, _SIZES[found["size"]]]


def households_reached(facts: Facts) -> list[str]:
    """Say how many households share what is released, and how many stand out by all their members."""
    found = facts.summary.get("household")
    if not found:
        return []
    said = []
    if found["fewest"] is not None:
        size = ", with its size," if found["size"] == "counted" else ""
        said.append(
            f"Every combination of released values of a set{size} is that of at least "
            f"{counted(found['fewest'], 'household')}, of {found['households']:,}."
        )
    alone = found["recognisable"]
    if alone:
        verb = one_or_many(alone, "shares", "share")
        said.append(
            f"{counted(alone, 'household')} {verb} what is released of all members together with too few others: k "
            "does not hold for whoever knows several members."
        )
    return said
