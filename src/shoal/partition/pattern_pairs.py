"""The two patterns of missing cells with which a group of fewer than 3k records loses the fewest cells.

Each pattern that stays has at least k records, so there are two at most, or one. A record can have a pattern that lacks
all that it lacks itself, and the cells that are lost are those that the patterns lack, times their records, less those
that are missing anyway. The best patterns are unions of patterns that there are: what no record of a pattern lacks need
not be suppressed. For two unions, records that fit into one of them alone have no choice; all others take the one that
lacks fewer cells, but for those that the other one needs to reach k.

Cost: O(u^2 m) for m patterns with u unions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.arrays import Flags, Ints

_UNIONS = 256  # beyond which the best pair is not looked for


class Pair(NamedTuple):
    """Two patterns (d,), which lack no more than each other in this order, and how the records get one of them.

    ``only`` and ``either`` (m,) say which patterns of records have to have the second, and which may have both: of the
    latter ``many`` records have the second, too, and all others the first. ``missing`` is how many cells are missing
    then.
    """

    first: Flags
    second: Flags
    only: Flags
    either: Flags
    many: int
    missing: int


def best_pair(cells: Flags, counts: Ints, k: int) -> Pair | None:
    """Return the two patterns that suppress the fewest cells; None where there are too many unions to look at all.

    >>> cells = np.array([[False, False], [True, False], [False, True]])
    >>> pair = best_pair(cells, np.array([3, 1, 1]), 2)
    >>> pair.second.tolist(), pair.many, pair.missing
    ([True, True], 0, 4)
    """
    unions = _unions(cells)
    if unions is None:
        return None
    total, lack = int(counts.sum()), unions.sum(axis=1)
    fits: Flags = ~np.any(cells[None, :, :] & ~unions[:, None, :], axis=2)
    held = fits @ counts
    both = (fits * counts) @ fits.T
    needed = np.maximum(0, k - (held[None, :] - both))
    possible = (held[:, None] + held[None, :] - both == total) & (needed <= both) & (held[:, None] - needed >= k)
    possible &= lack[:, None] <= lack[None, :]
    seconds = held[None, :] - both + needed
    missing = np.where(possible, (total - seconds) * lack[:, None] + seconds * lack[None, :], np.inf)
    i, j = divmod(int(np.argmin(missing)), len(unions))
    own = (fits[j] & ~fits[i], fits[j] & fits[i])
    return Pair(unions[i], unions[j], *own, int(needed[i, j]), int(missing[i, j]))


def _unions(cells: Flags) -> Flags | None:
    """Return the unions (u, d) of any of some patterns, those that lack least first; None where they are too many."""
    found: dict[bytes, Flags] = {}
    for pattern in cells:
        for union in [pattern, *(pattern | other for other in found.values())]:
            found[union.tobytes()] = union
        if len(found) > _UNIONS:
            return None
    unions = np.array(list(found.values()))
    return unions[np.argsort(unions.sum(axis=1), kind="stable")]
