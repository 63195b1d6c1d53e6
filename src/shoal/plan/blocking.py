"""How to cut a large table into blocks, and what does not fit together in that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import field_validator

from shoal.errors import PlanError, did_you_mean
from shoal.plan.limits import LARGEST_OPTION
from shoal.plan.settings import Flag, Settings

BY_CATEGORY = "categories"  # the only way that cuts no numbers


class Blocking(Settings):
    """How to cut a large table into blocks that are partitioned one by one.

    Attributes
    ----------
    method : {"2d-tree", "spread-tree", "univariate", "equal-counts", "fixed-counts", "categories"}
        How blocks are cut.
    size : int or "auto"
        Most records of a block; "auto" chooses from the number of columns.
    columns : tuple of str
        Blocking columns, of the quasi-identifiers; all of a set where none is named. ``univariate``,
        ``equal-counts`` and ``fixed-counts`` take one, the first of the set where none is named. ``categories`` takes
        one of categories: the first with a hierarchy, or the first, where none is named.
    repair : bool
        Let records near a face join a group across it.
    """

    section: ClassVar[str] = "blocking."

    method: Literal["2d-tree", "spread-tree", "univariate", "equal-counts", "fixed-counts", "categories"]
    size: int | Literal["auto"] = "auto"
    columns: tuple[str, ...] = ()
    repair: Flag = False

    @field_validator("size", mode="before")
    @classmethod
    def _number_or_auto(cls, value: object) -> object:
        if value != "auto" and (not isinstance(value, int) or isinstance(value, bool)):
            raise PlanError("blocking.size: must be a whole number or auto")
        if isinstance(value, int) and value > LARGEST_OPTION:
            raise PlanError(f"blocking.size: must be at most {LARGEST_OPTION}")
        return value


def blocking_mistakes(cut: Blocking | None, k: int, sets: Sequence[Sequence[str]]) -> list[str]:
    """Say what is wrong with the blocking of a plan."""
    if cut is None:
        return []
    mistakes = []
    if cut.size != "auto" and cut.size < 2 * k:
        mistakes.append(f"blocking.size: must be at least 2 k = {2 * k}, not {cut.size}")
    alone = ("univariate", "equal-counts", "fixed-counts", BY_CATEGORY)
    if cut.method in alone and len(cut.columns) > 1:
        mistakes.append(f"blocking.columns: '{cut.method}' takes one column, not {len(cut.columns)}")
    members = [set(part) for part in sets]
    for name in cut.columns:
        if not any(name in part for part in members):
            mistakes.append(
                f"blocking.columns: '{name}' is not a quasi-identifier{did_you_mean(name, set().union(*members))}"
            )
    if cut.columns and not mistakes and any(not part & set(cut.columns) for part in members):
        mistakes.append("blocking.columns: every set of quasi-identifiers needs one of its own columns among them")
    return mistakes
