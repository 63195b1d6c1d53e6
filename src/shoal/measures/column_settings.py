"""What is known of columns beside their types when they are measured: as a plan says it, and with the same meaning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from shoal.columns.hierarchy import Hierarchy
from shoal.columns.scaling import SCALINGS, ScalingName
from shoal.errors import PlanError, did_you_mean
from shoal.plan.categories import CategorySettings, category_mistakes
from shoal.plan.hierarchies import HierarchySettings
from shoal.plan.plan import Plan


@dataclass(frozen=True)
class ColumnSettings:
    """What was said about the columns that are measured.

    Attributes
    ----------
    hierarchies : dict
        Where the hierarchy of a column comes from, or the hierarchy itself.
    orders : dict
        Values of an ordinal column, from the lowest to the highest.
    nominal : tuple of str
        Columns of numbers whose values are names.
    column_weights : dict
        How much a column counts in the loss; 1 where nothing is said.
    scaling : {"z-score", "range", "robust", "none"} or None
        What numbers are divided by in distances between records that mix kinds; their standard deviation where None.
    """

    hierarchies: Mapping[str, HierarchySettings | Hierarchy] = field(default_factory=dict)
    orders: Mapping[str, Sequence[str]] = field(default_factory=dict)
    nominal: Sequence[str] = ()
    column_weights: Mapping[str, float] = field(default_factory=dict)
    scaling: ScalingName | None = None

    @classmethod
    def of_plan(cls, plan: Plan) -> ColumnSettings:
        """Return what a plan says."""
        return cls(plan.hierarchies, plan.orders, plan.nominal, plan.column_weights, plan.scaling)

    def mistakes(self, measured: Sequence[str]) -> list[str]:
        """Say what does not fit together, or has no effect on the columns that are measured."""
        given = {name: getattr(self, name) for name in ("hierarchies", "orders", "nominal", "column_weights")}
        return category_mistakes(given, set(measured))


def column_settings(*, scaling: str | None = None, **given: Any) -> ColumnSettings:
    """Check what was said about columns: ``hierarchies``, ``orders``, ``nominal``, ``column_weights``; None is nothing.

    >>> column_settings(orders={"size": ["S", "M", "L"]}, nominal="postcode").nominal
    ('postcode',)
    """
    if scaling is not None and scaling not in SCALINGS:
        hint = did_you_mean(scaling, SCALINGS)
        raise PlanError(f"scaling: there is no '{scaling}'{hint} (there are {', '.join(SCALINGS)})")
    said = {name: value for name, value in given.items() if value is not None}
    sources = said.get("hierarchies")
    trees = {}
    if isinstance(sources, Mapping):
        trees = {name: source for name, source in sources.items() if isinstance(source, Hierarchy)}
        said["hierarchies"] = {name: source for name, source in sources.items() if name not in trees}
    checked = CategorySettings(**said)
    return ColumnSettings(
        hierarchies={**checked.hierarchies, **trees},
        orders=checked.orders,
        nominal=checked.nominal,
        column_weights=checked.column_weights,
        scaling=cast(ScalingName | None, scaling),
    )
