"""Sums of floats that depend on no order: an accumulator of integers that any two can be merged, rounded once.

A float is a whole number of 53 bits times a power of two. The accumulator is a row of 64-bit words, each worth 2^32
times the one below, and holds every sum of floats exactly: the bits of a number are added to the three words that they
reach. So a sum has the same bits whatever the order of the numbers, and however they are dealt out to threads, files
or machines; merging is adding word by word. Squares are added with the error of their rounding, which makes them exact,
too, unless they are so small that a float cannot hold it.

Source: R. M. Neal, Fast exact summation using small and large superaccumulators, 2015.

Cost: O(n), some nanoseconds a number. Carries are handed on after every array; one may have up to 2^30 numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel

_WORDS = 70  # of 32 bits: from the lowest bit of the smallest float to the highest of the largest, and carries
_LOWEST = 1074  # the smallest float is 2^-1074
_SPLIT = 134217729.0  # 2^27 + 1 cuts a float into two halves (Veltkamp)


def _nothing() -> Ints:
    return np.zeros(_WORDS, dtype=np.int64)


@dataclass(frozen=True)
class ExactSum:
    """A sum of floats, exact.

    Attributes
    ----------
    words : int64 (70,)
        The sum in units of 2^-1074, word by word.

    Examples
    --------
    >>> parts = [ExactSum.of(np.array([1e300, 1.0])), ExactSum.of(np.array([-1e300, 0.5]))]
    >>> (parts[0] + parts[1]).value()
    1.5
    """

    words: Ints = field(default_factory=_nothing)

    @classmethod
    def of(cls, numbers: Floats) -> ExactSum:
        """Add up finite numbers."""
        words = _nothing()
        _add(np.ascontiguousarray(numbers), words)
        return cls(words)

    @classmethod
    def of_squares(cls, numbers: Floats) -> ExactSum:
        """Add up the squares of finite numbers, whose squares are finite, too."""
        words = _nothing()
        _add_squares(np.ascontiguousarray(numbers), words)
        return cls(words)

    def __add__(self, other: ExactSum) -> ExactSum:
        words = self.words + other.words
        _carry(words)
        return ExactSum(words)

    def exact(self) -> Fraction:
        """Return the sum itself."""
        return Fraction(sum(word << (32 * place) for place, word in enumerate(self.words.tolist())), 1 << _LOWEST)

    def value(self) -> float:
        """Return the float that is nearest to the sum."""
        return float(self.exact())


def exact_sum(numbers: Floats) -> float:
    """Return the sum of finite numbers, rounded once.

    >>> exact_sum(np.array([1e16, 1.0, -1e16])), 1e16 + 1.0 - 1e16
    (1.0, 0.0)
    """
    return ExactSum.of(numbers).value()


@kernel
def _add(numbers: Floats, words: Ints) -> None:
    """Add numbers (n,) to an accumulator (70,)."""
    bits = numbers.view(np.int64)
    for row in range(len(numbers)):
        _add_bits(bits[row], words)
    _carry(words)


@kernel
def _add_squares(numbers: Floats, words: Ints) -> None:
    """Add the squares of numbers (n,) to an accumulator (70,), each with the error of its rounding."""
    pair = np.empty(2)
    bits = pair.view(np.int64)
    for row in range(len(numbers)):
        x = numbers[row]
        high = _SPLIT * x
        high = high - (high - x)
        low = x - high
        pair[0] = x * x
        pair[1] = ((high * high - pair[0]) + 2.0 * high * low) + low * low
        _add_bits(bits[0], words)
        _add_bits(bits[1], words)
    _carry(words)


@kernel(inline=True)
def _add_bits(bits: int, words: Ints) -> None:
    """Add the float with these bits."""
    exponent = (bits >> 52) & 0x7FF
    whole = bits & 0xFFFFFFFFFFFFF
    if exponent > 0:
        whole |= 0x10000000000000
        exponent -= 1
    place, shift = exponent >> 5, exponent & 31
    # the lowest word takes the bits that stay in it, the next one the 32 above, the third the rest
    low = (whole << shift) & 0xFFFFFFFF
    middle = (whole >> (32 - shift)) & 0xFFFFFFFF
    high = (whole >> 32) >> (32 - shift)
    if bits < 0:
        words[place] -= low
        words[place + 1] -= middle
        words[place + 2] -= high
    else:
        words[place] += low
        words[place + 1] += middle
        words[place + 2] += high


@kernel
def _carry(words: Ints) -> None:
    """Hand on what a word (70,) has beyond its 32 bits, so that there is room for more."""
    for place in range(len(words) - 1):
        above = words[place] >> 32
        words[place] -= above << 32
        words[place + 1] += above
