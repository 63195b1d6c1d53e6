"""What a user should know about a release of households, in sentences."""

from __future__ import annotations

from shoal.errors import counted, listed, one_or_many
from shoal.release.household_checks import HouseholdSummary


def household_notes(found: HouseholdSummary, k: int) -> list[str]:
    """Say what k counts, and what is still seen of households.

    >>> whole = HouseholdSummary("hid", 9, 4, ["rooms"], "renumbered", "counted", 0, 3, 2)
    >>> household_notes(whole, 3)[0]
    "k counts households: 9 households of 'hid'; released once for each: 'rooms'"
    """
    once = f"; released once for each: {listed(found.variables)}" if found.variables else ""
    notes = [f"k counts households: {counted(found.households, 'household')} of '{found.column}'{once}"]
    rare = found.rare_sizes
    if rare and found.size != "counted":
        how = "sizes that few have share groups with the next" if found.size == "merged" else "sizes are not counted"
        notes.append(
            f"{counted(rare, 'household')} {one_or_many(rare, 'has', 'have')} a size that fewer than k = {k} have: "
            f"{how}, and whoever counts members finds them"
        )
    if found.release == "same":
        notes.append(
            f"'{found.column}' is released as it was: whoever has another file with it finds every household; "
            "number them anew (household.release: renumbered, or --household-release renumbered)"
        )
    if found.recognisable:
        who = counted(found.recognisable, "household")
        notes.append(
            f"{who} {one_or_many(found.recognisable, 'is', 'are')} like fewer than k - 1 others in what is released of "
            "all members together: k holds for each member, and for the variables of the household, not for whoever "
            "knows several members"
        )
    return notes
