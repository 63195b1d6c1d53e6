"""How many decimals are released: as many as asked for, by column or for all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal.errors import PlanError

ALL = "all"  # every digit that a float has
MOST = 15  # decimal digits that a float holds
EVERY = "*"

Decimals = Mapping[str, int | str]


def as_decimals(value: object) -> dict[str, int | str]:
    """Return what was asked for by column, ``"*"`` for all others; raises PlanError where it is of another kind.

    >>> as_decimals(2), as_decimals({"rate": "all"})
    ({'*': 2}, {'rate': 'all'})
    """
    given: Mapping[Any, Any] = value if isinstance(value, Mapping) else {EVERY: value}
    mistakes = [
        f"decimals{'' if name == EVERY else f'.{name}'}: give a whole number from 0 to {MOST}, or 'all'"
        for name, asked in given.items()
        if asked != ALL and (isinstance(asked, bool) or not isinstance(asked, int) or not 0 <= asked <= MOST)
    ]
    if mistakes:
        raise PlanError(mistakes)
    return {str(name): asked for name, asked in given.items()}
