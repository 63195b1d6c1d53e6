"""What a plan says about its columns of categories, and how much each column counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, field_validator

from shoal.errors import PlanError
from shoal.plan.conditions import columns_compared
from shoal.plan.hierarchies import HierarchySettings, as_hierarchy_settings
from shoal.plan.settings import Real, Settings


class CategorySettings(Settings):
    """Settings of the columns of categories.

    Attributes
    ----------
    hierarchies : dict
        Where the hierarchy of a column comes from: the path of a file, or settings, see
        :class:`shoal.plan.hierarchies.HierarchySettings`.
    orders : dict
        Values of a column from the lowest to the highest, which makes it ordinal.
    nominal : tuple of str
        Columns of numbers, or of text that looks like numbers, whose values are names.
    column_weights : dict
        How much a column counts in distances between records that mix kinds, and in their loss; 1 where nothing is
        said.
    combinations : {"any", "observed"}
        Whether released categories may be combined in any way, or only as they occur together in the original.
    """

    hierarchies: dict[str, HierarchySettings] = Field(default={})
    orders: dict[str, tuple[str, ...]] = Field(default={})
    nominal: tuple[str, ...] = ()
    column_weights: dict[str, Real] = Field(default={})
    combinations: Literal["any", "observed"] = "any"

    @field_validator("hierarchies", mode="before")
    @classmethod
    def _from_sources(cls, value: object) -> object:
        if not isinstance(value, Mapping):
            raise PlanError("hierarchies: name each column with its hierarchy, such as {'country': 'country.csv'}")
        found, mistakes = {}, []
        for name, source in value.items():
            try:
                found[name] = as_hierarchy_settings(source)
            except PlanError as error:
                mistakes += [f"hierarchies.{name}: {mistake}" for mistake in error.mistakes]
        if mistakes:
            raise PlanError(mistakes)
        return found

    @field_validator("orders", mode="before")
    @classmethod
    def _as_texts(cls, value: object) -> object:
        if not isinstance(value, Mapping):
            raise PlanError("orders: name each column with its values, such as {'size': ['S', 'M', 'L']}")
        return {
            name: tuple(str(level) for level in levels) if isinstance(levels, list | tuple) else levels
            for name, levels in value.items()
        }

    @field_validator("nominal", mode="before")
    @classmethod
    def _one_or_more(cls, value: object) -> object:
        return (value,) if isinstance(value, str) else value


def category_mistakes(settings: Mapping[str, Any], quasi_identifiers: set[str]) -> list[str]:
    """Say what does not fit together in what was said about columns of categories, well-formed or not."""
    mistakes = []
    kinds: dict[str, list[str]] = {}
    compared = columns_compared(settings)
    for setting in ("hierarchies", "orders", "nominal", "column_weights"):
        given = settings.get(setting) or ()
        names = [given] if isinstance(given, str) else [name for name in given if isinstance(name, str)]
        for name in dict.fromkeys(names):
            if name not in quasi_identifiers and (setting == "column_weights" or name not in compared):
                mistakes.append(f"{setting}: column '{name}' is not a quasi-identifier, so this has no effect")
            elif setting != "column_weights":
                kinds.setdefault(name, []).append(setting)
    for name, given in kinds.items():
        if len(given) > 1:
            mistakes.append(f"column '{name}' is in {' and in '.join(given)}; it can be of one kind")
    orders, shares = settings.get("orders"), settings.get("column_weights")
    if isinstance(orders, Mapping):
        for name, levels in orders.items():
            if isinstance(levels, list | tuple) and (len(levels) < 2 or len(set(map(str, levels))) < len(levels)):
                mistakes.append(f"orders.{name}: give at least two values, each once")
    if isinstance(shares, Mapping):
        for name, share in shares.items():
            if isinstance(share, int | float) and not 0.0 < share < float("inf"):
                mistakes.append(f"column_weights.{name}: must be above 0")
    return mistakes
