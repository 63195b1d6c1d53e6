"""Where the neighbour index pays. Apart from the kernels, so that asking does not load numba."""

from __future__ import annotations


def worth_indexing(n: int) -> bool:
    """Whether the tree is faster than looking at every record; both give the same groups.

    Measured with MDAV on normal data, the hardest for a tree: ``python benchmarks/run.py speed``.
    """
    return n >= 5000


def worth_indexing_still(n: int, d: int) -> bool:
    """Whether the tree finds the neighbours of all records faster, where none of them leaves and it is built once.

    In more columns, half of the records are near each other and looking at all of them is as fast.
    """
    return worth_indexing(n) or (n >= 1200 and d <= 8)
