"""What ends a search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True)
class Budget:
    """What ends a search: a number of steps or seconds, a gap in percent, and seconds to prove a bound afterwards."""

    steps: int | None = None
    time: float | None = None
    gap: float | None = None
    bound: float | None = None

    @property
    def proofs(self) -> list[str]:
        """Which options that need a proof were given."""
        return [name for name in ("gap", "bound") if getattr(self, name) is not None]

    @property
    def free(self) -> bool:
        """Whether the number of steps is only known when the search has ended."""
        return self.time is not None or self.gap is not None


def budget_of(options: Mapping[str, Any]) -> Budget:
    """Return the budget that the options of a method ask for.

    >>> budget_of({"steps": 100, "split": True})
    Budget(steps=100, time=None, gap=None, bound=None)
    """
    return Budget(**{field.name: options[field.name] for field in fields(Budget) if field.name in options})
