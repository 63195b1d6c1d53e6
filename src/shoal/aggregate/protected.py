"""What aggregating makes of a set of quasi-identifiers."""

from __future__ import annotations

from dataclasses import dataclass

from shoal.columns.categories import AnyColumn
from shoal.kernels.arrays import Flags, Ints, Numbers


@dataclass(frozen=True)
class ProtectedSet:
    """A set of quasi-identifiers after protection: groups, and released values and which there are, by column."""

    columns: list[AnyColumn]
    groups: Ints
    released: list[tuple[Numbers, Flags]]
