"""How large blocks should be, from the number of records n, of columns d, k, and a measured model of time and loss.

Larger blocks lose less information and take longer. A table that takes less than 10 seconds as a whole is one block.
Others get the largest blocks that the time allows, or smaller ones where these already lose next to nothing, and at
least eight of them, so that cores have something to do.

- Time. MDAV on blocks of L records takes t (L / 10 000)^b (k / 3)^g microseconds a record. t and b depend on
  d; g is negative, since larger groups are fewer to search for. Allowed are 10 microseconds a record, and 10 seconds
  in all for tables of fewer than a million. A column with missing values counts twice, as it does in distances.
- Loss. With a block as wide as L^(1/d), the records near its faces, and what is lost there, are in proportion to
  L^(-1/d). A table without blocks has faces too, so that blocks lose f (k / 3)^h [(3 / L)^(1/d) - (3 / n)^(1/d)] more
  than none; f depends on d. That h is negative is measured (k = 3 and 10) and not explained: from the width of groups
  alone one would expect the opposite. Next to nothing is 0.2 percent.

Nothing is timed when shoal runs: the constants are fitted to MDAV on normal records (time) and to blocks of the
spread tree on uniform records (loss) by ``python benchmarks/run.py cost``.
"""

from __future__ import annotations

import numpy as np

_COLUMNS = (2, 5, 10, 20)
_MICROSECONDS = (2.27, 3.38, 7.39, 19.65)  # t, by number of columns
_EXPONENTS = (0.18, 0.31, 0.41, 0.67)  # b
_EXPONENT_OF_K = -0.47  # g
_FACE_COLUMNS = (2, 5, 10)
_FACES = (0.38, 0.7, 0.86)  # f
_FACE_EXPONENT_OF_K = -0.23  # h

_BUDGET = 10.0  # microseconds a record; seconds for a table of fewer than a million records
_NEXT_TO_NOTHING = 0.002
_BLOCKS = 8
_LEAST = 5_000  # smaller blocks save no time worth having: see kernels/indexing.py


def block_size(n: int, columns: int, k: int) -> int:
    """Return the block size for a table of n records.

    >>> block_size(200_000, 5, 3)
    200000
    >>> block_size(10_000_000, 10, 3) < block_size(10_000_000, 10, 10) < block_size(10_000_000, 5, 3)
    True
    """
    of_a_million = 1e6 * _BUDGET / n
    if _longest(of_a_million, columns, k) >= n:
        return n
    size = min(_longest(max(_BUDGET, of_a_million), columns, k), _harmless(n, columns, k), n / _BLOCKS)
    return int(min(n, max(size, _LEAST, 2 * k)))


def seconds_of_mdav(n: int, columns: int, k: int) -> float:
    """Return about how many seconds MDAV takes for a table as a whole, if its records are as hard as normal ones.

    >>> 0.5 < seconds_of_mdav(100_000, 5, 3) < 2.0 < seconds_of_mdav(1_000_000, 5, 3)
    True
    """
    return 1e-6 * n * _of_a_record(columns) * float((n / 1e4) ** _exponent(columns) * (k / 3) ** _EXPONENT_OF_K)


def _longest(budget: float, d: int, k: int) -> float:
    """Return the largest block that a budget of microseconds a record allows."""
    return 1e4 * float((budget / _of_a_record(d) * (k / 3) ** -_EXPONENT_OF_K) ** (1.0 / _exponent(d)))


def _of_a_record(d: int) -> float:
    """Return t; beyond the last measurement distances still take time in proportion to the columns."""
    return float(np.interp(d, _COLUMNS, _MICROSECONDS)) * max(1.0, d / _COLUMNS[-1])


def _exponent(d: int) -> float:
    """Return b."""
    return float(np.interp(d, _COLUMNS, _EXPONENTS))


def _harmless(n: int, d: int, k: int) -> float:
    """Return the smallest block that loses next to nothing."""
    factor = float(np.interp(d, _FACE_COLUMNS, _FACES)) * (k / 3) ** _FACE_EXPONENT_OF_K
    return 3.0 / float((_NEXT_TO_NOTHING / factor + (3.0 / n) ** (1.0 / d)) ** d)
