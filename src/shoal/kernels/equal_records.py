"""Records that are equal, found by hashing in O(d n)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel


def find_equal(values: Floats) -> tuple[Ints, Ints, Ints, Ints]:
    """Number the distinct records by first appearance, and chain the rows that are equal.

    Returns
    -------
    place_of : int64 (n,)
        Number of each row's record.
    first : int64 (distinct,)
        First row of each record.
    after, before : int64 (n,)
        Next and previous equal row of each row, or -1.

    Examples
    --------
    >>> find_equal(np.array([[1.0], [2.0], [1.0]]))[0]
    array([0, 1, 0])
    """
    bits = (values + 0.0).view(np.uint64)  # adding 0.0 makes -0.0 the same as 0.0
    return _chain_equal(np.ascontiguousarray(bits))


@kernel
def _chain_equal(bits: NDArray[np.uint64]) -> tuple[Ints, Ints, Ints, Ints]:
    """Number the distinct rows of bits (n, d) by first appearance, and chain the rows that are equal.

    Returns the place of each row, the first row of each place, and the next and previous row of each row or -1.
    """
    n, d = bits.shape
    width = 2
    while width < 2 * n:
        width *= 2
    table = np.full(width, -1)
    place_of, after, before = np.empty(n, np.int64), np.full(n, -1), np.full(n, -1)
    first, last = np.empty(n, np.int64), np.empty(n, np.int64)
    places = 0
    for row in range(n):
        code = np.uint64(0)
        for j in range(d):
            code = (code ^ bits[row, j]) * np.uint64(0x9E3779B97F4A7C15)
            code ^= code >> np.uint64(32)
        at = np.int64(code & np.uint64(width - 1))
        while table[at] >= 0 and not _same(bits, first[table[at]], row):
            at = (at + 1) & (width - 1)
        if table[at] < 0:
            table[at] = places
            first[places] = row
            places += 1
        else:
            before[row] = last[table[at]]
            after[last[table[at]]] = row
        place_of[row] = table[at]
        last[table[at]] = row
    return place_of, first[:places].copy(), after, before


@kernel
def _same(bits: NDArray[np.uint64], a: int, b: int) -> bool:
    for j in range(bits.shape[1]):  # noqa: SIM110 - numba compiles no generators
        if bits[a, j] != bits[b, j]:
            return False
    return True
