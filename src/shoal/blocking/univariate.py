"""Blocking by one attribute: equal intervals of its range, equal counts of its sorted values, or a cut every L of them.

Equal intervals are the plain way that the 2^d-tree was compared with on uniform records: the range is divided into
n / L intervals. From the lowest on, an interval with fewer than k records is joined with the next ones until they have
k together; where fewer than k are left after that, they belong to the block before them.
A cut every L records is what its figures on EIA come from: see ``docs/results/blocking.md``.

Records that are equal in the column stay in the order of the table, and a cut may run between them.

Source of both: A. Solanas, A. Martinez-Balleste, J. Domingo-Ferrer, S. Bujalance and J. M. Mateo-Sanz, A 2^d-tree-based
blocking method for microaggregating very large data sets; J. Domingo-Ferrer, Blocking methods for microdata protection.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.arrays import Floats, Ints


def equal_intervals(values: Floats, k: int, size: int) -> Ints:
    """Number the block of each record: intervals of the first column of ``values``.

    >>> equal_intervals(np.array([[0.0], [0.1], [0.9], [1.0]]), 2, 2)
    array([0, 0, 1, 1])
    """
    x = values[:, 0]
    intervals = max(1, len(x) // size)
    width = float(x.max() - x.min())
    if width == 0.0:
        return np.zeros(len(x), dtype=np.int64)
    blocks = np.minimum(((x - x.min()) / width * intervals).astype(np.int64), intervals - 1)
    counts = np.bincount(blocks, minlength=intervals)
    home = np.empty(intervals, dtype=np.int64)
    block, held = 0, 0
    for interval, count in enumerate(counts.tolist()):
        if held >= k and int(counts[interval:].sum()) >= k:
            block, held = block + 1, 0
        home[interval] = block
        held += count
    if held < k and block > 0:
        home[home == block] = block - 1
    fused: Ints = home[blocks]
    return fused


def equal_counts(values: Floats, k: int, size: int) -> Ints:
    """Number the block of each record: runs of equal length of the first column of ``values``, sorted.

    >>> equal_counts(np.array([[0.0], [9.0], [0.1], [0.2]]), 2, 2)
    array([0, 1, 0, 1])
    """
    n = len(values)
    count = max(1, min(-(-n // size), n // k))
    blocks = np.empty(n, dtype=np.int64)
    blocks[np.argsort(values[:, 0], kind="stable")] = np.arange(n) * count // n
    return blocks


def fixed_counts(values: Floats, k: int, size: int) -> Ints:
    """Number the block of each record: the first column of ``values``, sorted and cut every ``size`` records.

    The last block has the rest; fewer than k join the block before, the only one that may have more than ``size``.

    >>> fixed_counts(np.array([[0.0], [9.0], [0.1], [0.2], [0.3], [8.0]]), 2, 4)
    array([0, 1, 0, 0, 0, 1])
    """
    n = len(values)
    last = max(0, n // size - (n % size < k))
    blocks = np.empty(n, dtype=np.int64)
    blocks[np.argsort(values[:, 0], kind="stable")] = np.minimum(np.arange(n) // size, last)
    return blocks
