"""Keys: the combinations of values by which somebody could be found, and how many records share each.

A missing value is a value of its own, which equals only another missing value. O(d n) by hashing, a column at a time:
records are numbered by a signature of 64 bits, and each is then compared with the first of its number, so that only a
table in which two signatures are the same by chance is ever held as one matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.arrays import Flags, Floats, Ints
from shoal.kernels.equal_records import find_equal
from shoal.kernels.numbering import number_keys as number_values
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
    first : int64 (keys,)
        The first of them.
    """

    of: Ints
    sizes: Ints
    first: Ints

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
    return _number_stacked([columns])


def _number_stacked(tables: Sequence[Sequence[Floats]]) -> Keys:
    """Number the combinations of tables with the same columns, as if they lay on top of each other."""
    signatures = np.concatenate([_signatures(columns) for columns in tables])
    of, first, sizes = number_values(signatures.view(np.int64))
    stacked = (_stack(parts) for parts in zip(*tables, strict=True))
    if all(bool((column[first][of] == column).all()) for column in stacked):
        return Keys(of, sizes, first)
    whole = np.column_stack([_stack(parts) for parts in zip(*tables, strict=True)])
    of, first, _, _ = find_equal(np.ascontiguousarray(whole))
    return Keys(of, np.bincount(of, minlength=len(first)), first)


def _signatures(columns: Sequence[Floats]) -> NDArray[np.uint64]:
    """Mix the values of each record into 64 bits."""
    mixed = np.zeros(len(columns[0]), dtype=np.uint64)
    for column in columns:
        mixed ^= (column + 0.0).view(np.uint64)  # adding 0.0 makes -0.0 the same as 0.0
        mixed *= np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(32)
    return mixed


def _stack(parts: Sequence[Floats]) -> Floats:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


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
    tables: tuple[list[Floats], list[Floats]] = [], []
    for pair in pairs:
        sides: list[tuple[NDArray[Any], NDArray[Any]]] = [(pair.original, pair.released)]
        if isinstance(pair, NumericPair) and not (pair.there.all() and pair.kept.all()):
            sides.append((pair.there, pair.kept))
        for before, after in sides:
            tables[0].append(before.astype(np.float64, copy=False))
            tables[1].append(after.astype(np.float64, copy=False))
    of = _number_stacked(tables).of
    rows = len(pairs[0].original)
    return of[:rows], of[rows:]
