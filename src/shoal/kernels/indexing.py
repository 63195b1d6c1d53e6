"""Where the neighbour index pays. Apart from the kernels, so that asking does not load numba."""

from __future__ import annotations


def worth_indexing(n: int) -> bool:
    """Whether the tree is faster than looking at every record; both give the same groups.

    Measured with MDAV on normal data, the hardest for a tree: ``python benchmarks/run.py speed``.
    """
    return n >= 5000
