"""Differential privacy, which is experimental: what a plan must say for it, and what it must not ask for beside it."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar

from pydantic import Field, field_validator, model_validator

from shoal.errors import PlanError, did_you_mean
from shoal.plan.settings import Real, Settings, named

_GOES_WITH = ("k", "quasi_identifiers", "identifiers", "reading", "differential_privacy")
_WHY_NOT = {
    "method": "groups are those of an order that does not depend on the table",
    "options": "groups are those of an order that does not depend on the table",
    "refine": "groups are those of an order that does not depend on the table",
    "confidential": "a column that is kept as it is voids the guarantee",
    "weight": "a weight is a value of the table without noise",
    "strata": "how many records a stratum has is a value of the table without noise",
    "household": "how many records belong together is a value of the table without noise",
    "scaling": "columns are scaled by their bounds",
    "aggregators": "noise is drawn for means",
    "missing_patterns": "which cells are missing is not released",
    "conditions": "what groups keep of the table is not looked at",
    "dominance": "what groups have of the table is not looked at",
    "blocking": "blocks would be cut by the table",
    "rules": "rules are kept by looking at the table",
    "rules_file": "rules are kept by looking at the table",
    "seed": "whoever knows it takes the noise away, so noise is drawn by the system and no release can be made again",
}


class DifferentialPrivacy(Settings):
    """How much a release may depend on any one record.

    Attributes
    ----------
    epsilon : float
        The budget of the whole release, in equal parts for all columns: no release is more than exp(epsilon) times as
        likely from one table as from another that differs in one record.
    bounds : dict
        Least and largest value of each quasi-identifier, from knowledge that does not come from the table; values
        beyond them are moved to the nearer.
    missing : dict
        What a missing value of a column counts as, where some may be missing.

    Examples
    --------
    >>> DifferentialPrivacy(epsilon=1, bounds={"age": [0, 120]}).bounds
    {'age': (0.0, 120.0)}
    """

    section: ClassVar[str] = "differential_privacy."

    epsilon: Real = Field(ge=1e-6, le=100)
    bounds: dict[str, tuple[Real, Real]]
    missing: dict[str, Real] = Field(default={})

    @field_validator("bounds", mode="before")
    @classmethod
    def _pairs(cls, value: object) -> object:
        named(value, "differential_privacy.bounds")
        if not isinstance(value, Mapping) or not all(
            isinstance(o, list | tuple) and len(o) == 2 for o in value.values()
        ):
            raise PlanError("differential_privacy.bounds: give two numbers for each column, such as {age: [0, 120]}")
        return value

    @model_validator(mode="after")
    def _in_order(self) -> DifferentialPrivacy:
        mistakes = [
            f"differential_privacy.bounds: the least value of '{name}' must be below the largest, and both below 1e15"
            for name, (low, high) in self.bounds.items()
            if not -1e15 < low < high < 1e15
        ]
        mistakes += [
            f"differential_privacy.missing: the value of '{name}' must be within its bounds"
            for name, value in self.missing.items()
            if name in self.bounds and not self.bounds[name][0] <= value <= self.bounds[name][1]
        ]
        if mistakes:
            raise PlanError(mistakes)
        return self

    def of_each(self, columns: int) -> Fraction:
        """Return the part of the budget of each of so many columns, exactly as it was written.

        >>> DifferentialPrivacy(epsilon=0.1, bounds={}).of_each(3)
        Fraction(1, 30)
        """
        return Fraction(repr(self.epsilon)) / columns


def privacy_mistakes(settings: Mapping[str, Any], defaults: Mapping[str, Any]) -> list[str]:
    """Say what a plan with differential privacy lacks, and what it asks for that would void the guarantee."""
    asked: DifferentialPrivacy | None = settings.get("differential_privacy")
    if asked is None:
        return []
    mistakes = [
        not_with_privacy(name)
        for name, value in settings.items()
        if name not in _GOES_WITH and value != defaults[name] and value is not None
    ]
    columns = [name for part in settings["quasi_identifiers"] for name in part]
    mistakes += [
        f"differential_privacy.bounds: '{name}' has none; give the least and the largest value that it can have, from "
        "knowledge that does not come from the table"
        for name in columns
        if name not in asked.bounds
    ]
    for setting, named_there in (("bounds", asked.bounds), ("missing", asked.missing)):
        mistakes += [
            f"differential_privacy.{setting}: '{name}' is not a quasi-identifier{did_you_mean(name, columns)}; leave it"
            " out"
            for name in named_there
            if name not in columns
        ]
    return mistakes


def not_with_privacy(setting: str) -> str:
    """Say why a setting does not go with differential privacy."""
    why = _WHY_NOT.get(setting, "it has no effect on noisy means")
    return f"{setting}: does not go with differential_privacy: {why}; leave it out"


def refusal(what: str) -> str:
    """Say why something is not to be had of such a release."""
    return (
        f"differential_privacy: {what} compare a release with its original record by record; its rows are those of "
        "nobody, and figures that depend on the original would void the guarantee"
    )
