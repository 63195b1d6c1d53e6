"""Random numbers inside kernels: splitmix64, which gives the same numbers on every machine and in every version.

Source: G. L. Steele, D. Lea and C. H. Flood, Fast splittable pseudorandom number generators, OOPSLA 2014.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.compiling import kernel

Stream = NDArray[np.uint64]  # (1,): the state


def open_stream(seed: int) -> Stream:
    """Return a stream of random numbers that depends on a seed only."""
    return np.array([seed % 2**64], dtype=np.uint64)


@kernel
def draw(stream: Stream, below: int) -> int:
    """Return the next whole number from 0 to ``below`` - 1, which must be less than 2^32.

    >>> stream = open_stream(0)
    >>> [draw(stream, 10) for _ in range(5)]
    [8, 4, 0, 9, 1]
    """
    return int(np.int64(((next_bits(stream) >> np.uint64(32)) * np.uint64(below)) >> np.uint64(32)))


@kernel(inline=True)
def uniform(stream: Stream) -> float:
    """Return the next number from [0, 1)."""
    return float(next_bits(stream) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@kernel(inline=True)
def next_bits(stream: Stream) -> np.uint64:
    """Return the next 64 random bits."""
    stream[0] += np.uint64(0x9E3779B97F4A7C15)
    z = stream[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return z
