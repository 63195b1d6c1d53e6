"""Households and other wholes: records that belong together, such as the persons of a household or of a firm."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import field_validator

from shoal.plan.roles import Role
from shoal.plan.settings import Settings


class Household(Settings):
    """Which records belong together, and what is released of that.

    Attributes
    ----------
    id : str
        Column that tells the households apart.
    release : {"renumbered", "same", "removed"}
        What becomes of that column: households are numbered anew, in an order that is drawn by the seed; it stays as
        it is; or it is removed.
    size : {"counted", "merged", "ignored"}
        Whether the number of records of a household is a quasi-identifier, so that groups never mix sizes and a size of
        fewer than k households is refused; the same, with such sizes taken together with the next; or not.
    variables : tuple of str or None
        Quasi-identifiers that are the same for all members of a household; found where nothing is said.
    weight : str or None
        Column with the weight of each household, where the sampling weight differs between its members.

    Examples
    --------
    >>> Household(id="hid").release, Household(id="hid").size
    ('renumbered', 'counted')
    """

    section: ClassVar[str] = "household."

    id: str
    release: Literal["renumbered", "same", "removed"] = "renumbered"
    size: Literal["counted", "merged", "ignored"] = "counted"
    variables: tuple[str, ...] | None = None
    weight: str | None = None

    @field_validator("variables", mode="before")
    @classmethod
    def _one_or_more(cls, value: object) -> object:
        return (value,) if isinstance(value, str) else value


def named_by_household(settings: Mapping[str, Any]) -> list[tuple[str, Role]]:
    """Return the columns that are named with households, well-formed or not, with their roles."""
    given = settings.get("household")
    if isinstance(given, Household):
        given = given.model_dump()
    if isinstance(given, str):
        given = {"id": given}
    if not isinstance(given, Mapping):
        return []
    roles = {"id": Role.HOUSEHOLD, "weight": Role.WEIGHT}
    return [(given[name], role) for name, role in roles.items() if isinstance(given.get(name), str)]


def household_mistakes(settings: Mapping[str, Any]) -> list[str]:
    """Say what else was asked for in a plan that households do not go with."""
    given = settings.get("household")
    if not given:
        return []
    mistakes = []
    if settings.get("engine"):
        mistakes.append(
            f"household: all members of a household must be in one place (engine: {settings['engine']['name']}); leave "
            "engine out"
        )
    if settings.get("rules") or settings.get("rules_file"):
        mistakes.append(
            "rules: are not kept together with household, whose variables are released once for each household; leave "
            "one of them out"
        )
    if settings.get("persons"):
        mistakes.append("persons: k counts households where household is given; leave it out")
    variables = given["variables"] or ()
    mistakes += [
        f"household.variables: column '{name}' is named {variables.count(name)} times; name it once"
        for name in dict.fromkeys(variables)
        if variables.count(name) > 1
    ]
    return mistakes
