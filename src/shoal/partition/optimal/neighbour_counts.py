"""How many neighbours of a record the search of a large table keeps, and how many it looks for."""

from __future__ import annotations

QUICK = 500_000  # records times k up to which more neighbours than usual are found in a moment
_MORE, _MOST = 5, 64  # neighbours of a record: so many more than k at least, and at most
_SPARSE = 24  # neighbours where k is above that, and no group can be founded by neighbours
_MANY = 1_000_000  # records times k from which that is so for all large k: finding them would take most of the time
_LARGE = 16  # k from which other groups are beyond the nearest neighbours


def usual_width(records: int, k: int) -> int:
    """Return how many neighbours of a record are kept.

    Where no group can be founded of them a few are enough, and a proposal takes half as long.

    >>> usual_width(10_000, 3), usual_width(10_000, 40), usual_width(10_000, 60), usual_width(100_000, 40)
    (8, 60, 24, 24)
    """
    dense = k < _LARGE or (k + k // 2 <= _MOST and records * k <= _MANY)
    return k + max(_MORE, k // 2) if dense else min(k + k // 2, _SPARSE)


def founds_groups(records: int, k: int) -> bool:
    """Whether a record has neighbours enough for annealing to found groups of them, and to get their number right."""
    return k <= _SPARSE or usual_width(records, k) >= k + k // 2


def reach(records: int, k: int, width: int, block: int) -> int:
    """Return how many neighbours are looked for in a block of so many of the records, to keep ``width`` of them."""
    beyond = k >= _LARGE and records * k <= QUICK
    return min(max(width, 3 * k) if beyond else width, block - 1)
