"""Rules of dominance: when a few records make up so much of a group's total that its mean gives them away."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field, model_validator

from shoal.errors import PlanError
from shoal.plan.settings import Real, Settings, Whole

USUAL_P = 10.0  # percent, where no rule is named


class Dominance(Settings):
    """When one or a few records dominate their group, and what is done about it.

    Attributes
    ----------
    n, share : int and float, or None
        The (n, k) rule of statistical offices, whose k is called ``share`` here: a group is dominated where its ``n``
        largest contributions are more than ``share`` percent of its total.
    p : float or None
        The p % rule: a group is dominated where its total without its two largest contributions is less than ``p``
        percent of the largest. So close the owner of the second largest could come to the largest. 10 where no rule is
        named.
    action : {"note", "grow"}
        Whether dominated groups are counted in a note, or grow until none is left.

    Examples
    --------
    >>> Dominance(n=1, share=85, action="grow").rules()
    ['the largest makes up more than 85 % of the total']
    >>> Dominance().p
    10.0
    """

    section: ClassVar[str] = "dominance."

    n: Whole | None = Field(default=None, ge=1, le=1000)
    share: Real | None = Field(default=None, ge=1, le=100)
    p: Real | None = Field(default=None, ge=0, le=1000)
    action: Literal["note", "grow"] = "note"

    @model_validator(mode="before")
    @classmethod
    def _usual_rule(cls, settings: object) -> object:
        if not isinstance(settings, Mapping) or any(settings.get(name) is not None for name in ("n", "share", "p")):
            return settings
        return {**settings, "p": USUAL_P}

    @model_validator(mode="after")
    def _belong_together(self) -> Dominance:
        if (self.n is None) != (self.share is None):
            raise PlanError("dominance: n and share belong together, such as n: 1, share: 85")
        return self

    def rules(self) -> list[str]:
        """Return each rule in words."""
        words = []
        if self.p is not None:
            words.append(f"p % rule, p = {self.p:g}")
        if self.n is not None and self.share is not None:
            largest = "the largest makes up" if self.n == 1 else f"the {self.n} largest make up"
            words.append(f"{largest} more than {self.share:g} % of the total")
        return words
