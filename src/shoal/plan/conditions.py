"""Conditions on what a group gives away of a confidential column, beside its size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import Field, field_validator, model_validator

from shoal.errors import PlanError
from shoal.plan.limits import LARGEST_K
from shoal.plan.settings import Real, Settings, Whole, named


class ConfidentialCondition(Settings):
    """What every group must keep of one confidential column; at least one of these.

    Attributes
    ----------
    distinct : int or None
        Fewest different values of a group: distinct l-diversity, or p-sensitivity.
    entropy : float or None
        Smallest exponential of the entropy of a group: entropy l-diversity.
    recursive : (c, l) or None
        The most frequent value of a group occurs less than c times as often as all from the l-th most frequent on
        together: recursive (c, l)-diversity.
    t : float or None
        Largest earth mover's distance from the values of a group to those of the table: t-closeness.

    Examples
    --------
    >>> ConfidentialCondition(distinct=3, t=0.15).in_words()
    'at least 3 different values, t at most 0.15'
    """

    section: ClassVar[str] = ""

    distinct: Whole | None = Field(default=None, ge=2, le=LARGEST_K)
    entropy: Annotated[Real, Field(gt=1, le=LARGEST_K)] | None = None
    recursive: tuple[Annotated[Real, Field(gt=0)], Annotated[Whole, Field(ge=2, le=LARGEST_K)]] | None = None
    t: Real | None = Field(default=None, ge=0, le=1)

    @field_validator("recursive", mode="before")
    @classmethod
    def _a_pair(cls, value: object) -> object:
        if value is not None and not (isinstance(value, list | tuple) and len(value) == 2):
            raise PlanError("recursive: give c and l, such as [2, 3]")
        return value

    @model_validator(mode="after")
    def _says_something(self) -> ConfidentialCondition:
        if not self.asked():
            raise PlanError("give distinct, entropy, recursive or t, such as {t: 0.2}")
        return self

    def asked(self) -> dict[str, Any]:
        """Return what is asked for by its name."""
        return self.model_dump(exclude_none=True)

    def in_words(self) -> str:
        """Return the conditions in words."""
        words = []
        if self.distinct is not None:
            words.append(f"at least {self.distinct} different values")
        if self.entropy is not None:
            words.append(f"an entropy of at least that of {self.entropy:g} values")
        if self.recursive is not None:
            words.append(f"recursive ({self.recursive[0]:g}, {self.recursive[1]})-diversity")
        if self.t is not None:
            words.append(f"t at most {self.t:g}")
        return ", ".join(words)


def as_conditions(value: object) -> object:
    """Return the conditions of each column, from settings by name."""
    if not isinstance(value, Mapping):
        raise PlanError("conditions: name each column with what its groups must keep, such as {'income': {'t': 0.2}}")
    found, mistakes = {}, []
    for name, own in named(value, "conditions").items():  # type: ignore[attr-defined]
        if isinstance(own, ConfidentialCondition):
            found[name] = own
            continue
        try:
            if not isinstance(own, Mapping):
                raise PlanError("give distinct, entropy, recursive or t by name, such as {t: 0.2}")
            named(own, name)
            found[name] = ConfidentialCondition(**own)
        except PlanError as error:
            mistakes += [f"conditions.{name}: {mistake}" for mistake in error.mistakes]
    if mistakes:
        raise PlanError(mistakes)
    return found


def columns_conditioned(settings: Mapping[str, Any]) -> list[str]:
    """Return the columns that settings, well-formed or not, name conditions of."""
    given = settings.get("conditions")
    return [name for name in given if isinstance(name, str)] if isinstance(given, Mapping) else []


def columns_compared(settings: Mapping[str, Any]) -> set[str]:
    """Return the columns whose groups are compared with the table, for which the kind of the column matters."""
    given = settings.get("conditions")
    if not isinstance(given, Mapping):
        return set()
    return {
        name
        for name, own in given.items()
        if isinstance(name, str) and isinstance(own, Mapping) and own.get("t") is not None
    }
