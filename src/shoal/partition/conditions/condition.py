"""What a condition on groups is, and which of some groups meet all of several.

A condition sees groups as rows sorted by group, of all records or of some: those of group g are
``order[starts[g]:starts[g + 1]]``. So a group that has changed is looked at again without the others. To add one, write
a class with the two functions of :class:`Condition`; :mod:`.growing` merges groups until it holds, and
:func:`shoal.release.promises.check_conditions` checks that it does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from shoal.kernels.arrays import Flags
from shoal.kernels.representatives import Grouping


class Condition(Protocol):
    """Something that every group must meet."""

    def failing(self, groups: Grouping) -> Flags:
        """Return which of some groups (g,), none of them empty, do not meet it."""
        ...

    def unmet(self) -> str:
        """Say what is wrong where not even all records together meet it, and what to do; never a value."""
        ...


def failing_any(conditions: Sequence[Condition], groups: Grouping) -> Flags:
    """Return which of some groups fail any of the conditions."""
    found = np.zeros(len(groups.starts) - 1, dtype=bool)
    for condition in conditions:
        found |= condition.failing(groups)
    return found
