"""How large blocks should be: as large as doubles the time of small ones.

Larger blocks usually lose less information. With the neighbour index the time of a block grows like L^b with b a
little above 1, so n records take n L^(b - 1): a block size of L costs (L / 10 000)^(b - 1) times the time of
blocks of 10 000. ``auto`` takes the L at which that factor is 2. The exponents b were measured for MDAV with k
= 3 on normal data, the hardest for a tree: ``python benchmarks/run.py speed``.
"""

from __future__ import annotations

import numpy as np

_COLUMNS = (3, 5, 10, 20)
_EXPONENTS = (1.26, 1.29, 1.65, 1.80)
_START, _FACTOR = 10_000, 2.0


def block_size(columns: int) -> int:
    """Return the block size for a number of columns.

    >>> block_size(20) < block_size(10) < block_size(5)
    True
    """
    exponent = float(np.interp(columns, _COLUMNS, _EXPONENTS))
    return int(_START * _FACTOR ** (1.0 / (exponent - 1.0)))
