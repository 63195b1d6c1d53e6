"""Keys: the combinations of values by which somebody could be found, and how many records share each.

A missing value is a value of its own, which equals only another missing value. O(d n) by hashing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.kernels.arrays import Flags, Floats, Ints
from shoal.kernels.equal_records import find_equal
from shoal.measures.pairs import MISSING, CategoryPair, NumericPair, Pair


@dataclass(frozen=True)
class Keys:
    """The key of each record, and how many records have each.

    Attributes
    ----------
    of : int64 (n,)
        Number of each record's key, by first appearance.
    sizes : int64 (keys,)
        How many records have it.
    """

    of: Ints
    sizes: Ints

    @property
    def frequencies(self) -> Ints:
        """How many records share the key of each record."""
        return self.sizes[self.of]


def number_keys(columns: Sequence[Floats]) -> Keys:
    """Number the combinations of columns of codes or values, of which none may be NaN.

    >>> number_keys([np.array([1.0, 2.0, 1.0]), np.array([5.0, 5.0, 5.0])]).sizes
    array([2, 1])
    """
    if not columns:
        raise ValueError("there are no columns")
    of, first, _, _ = find_equal(np.ascontiguousarray(np.column_stack(columns)))
    return Keys(of, np.bincount(of, minlength=len(first)))


def key_columns(pair: Pair, released: bool = True) -> list[Floats]:
    """Return a column as parts of a key: its values, and which there are where some are missing."""
    if isinstance(pair, CategoryPair):
        return [(pair.released if released else pair.original).astype(np.float64)]
    values, seen = (pair.released, pair.kept) if released else (pair.original, pair.there)
    return with_mask(values, seen)


def with_mask(values: Floats, seen: Flags) -> list[Floats]:
    """Return values, and beside them which there are where some are missing."""
    return [values] if seen.all() else [np.where(seen, values, 0.0), seen.astype(np.float64)]


def column_codes(pair: Pair, released: bool = True) -> Ints:
    """Number the values of one column; a missing value has a number of its own."""
    if isinstance(pair, CategoryPair):
        codes = pair.released if released else pair.original
        return np.where(codes == MISSING, pair.categories, codes)
    return number_keys(key_columns(pair, released)).of


def common_keys(pairs: Sequence[Pair]) -> tuple[Ints, Ints]:
    """Number the combinations of some columns in both tables alike; returns the numbers of original and release."""
    parts = []
    for pair in pairs:
        parts.append(np.concatenate((pair.original, pair.released)).astype(np.float64))
        if isinstance(pair, NumericPair):
            parts.append(np.concatenate((pair.there, pair.kept)).astype(np.float64))
    of = number_keys(parts).of
    rows = len(pairs[0].original)
    return of[:rows], of[rows:]
