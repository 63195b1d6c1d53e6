"""A pool holds the records that have no group yet, and answers what the methods ask of them.

    who is farthest from the centroid?  who is farthest from this record?  who are the nearest to it?
    take this one away

Methods are written once, against the functions below. Which pool they run on is decided when they are compiled,
by the type of the pool: :class:`~shoal.kernels.tree.TreePool` for many records,
:class:`~shoal.kernels.brute.BrutePool` for few. Both break ties by the lowest
row number and sum squared differences in the order of the columns, so that pools of the same records give the
same answers to the last bit.

A record is asked about by its row number and may have left already: its values are still known.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from shoal.kernels import brute, tree, tree_search
from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import implement, kernel
from shoal.kernels.indexing import worth_indexing, worth_indexing_still

_WORKSPACE = ("centroid", "chunk", "path", "bounds", "linear", "point", "pole")  # searches write to it

Pool: TypeAlias = brute.BrutePool | tree.TreePool


def open_pool(values: Floats) -> Pool:
    """Put records, as points (n, d), into a pool."""
    if worth_indexing(len(values)):
        return tree.open_tree_pool(values)
    return brute.open_brute_pool(values)


def open_still_pool(values: Floats) -> Pool:
    """Put records, as points (n, d), into a pool that none of them leaves, to find the neighbours of all."""
    if worth_indexing_still(*values.shape):
        return tree.open_tree_pool(values)
    return brute.open_brute_pool(values)


def own_workspace(pool: Pool) -> Pool:
    """Return the same pool with working space of its own, so that two threads can search it at a time."""
    fresh = {name: np.empty_like(getattr(pool, name)) for name in _WORKSPACE if hasattr(pool, name)}
    return pool._replace(**fresh)


def distance(pool: Pool, a: int, b: int) -> float:
    """Squared distance of two records."""
    raise NotImplementedError("only inside kernels")


def farthest_from_centroid(pool: Pool) -> int:
    """Row of the remaining record farthest from the centroid of those that remain."""
    raise NotImplementedError("only inside kernels")


def farthest(pool: Pool, row: int) -> int:
    """Row of the remaining record farthest from a record."""
    raise NotImplementedError("only inside kernels")


def nearest(pool: Pool, row: int, count: int, rows: Ints, distances: Floats) -> None:
    """Fill ``rows`` and ``distances`` with the nearest remaining records, nearest first; needs at least ``count``.

    A record that remains is its own nearest, up to ties with its duplicates.
    """
    raise NotImplementedError("only inside kernels")


def nearly_nearest(pool: Pool, row: int, count: int, slack: np.float32, rows: Ints, distances: Floats) -> None:
    """Fill ``rows`` and ``distances`` as :func:`nearest` does, for searches that need not be exact.

    No record left out is nearer than the last one by more than the factor ``slack`` of squared distances.
    """
    raise NotImplementedError("only inside kernels")


def nearest_to_point(pool: Pool, point: Floats, count: int, rows: Ints, distances: Floats) -> None:
    """Fill ``rows`` and ``distances`` as :func:`nearest` does, for any point."""
    raise NotImplementedError("only inside kernels")


def remove(pool: Pool, row: int) -> None:
    """Take a record that remains out of the pool."""
    raise NotImplementedError("only inside kernels")


_MODULES = {brute.BrutePool: (brute,), tree.TreePool: (tree, tree_search)}
for _operation in (distance, farthest_from_centroid, farthest, nearest, nearly_nearest, nearest_to_point, remove):
    _name = _operation.__name__
    implement(
        _operation,
        {
            kind: getattr(module, _name)
            for kind, modules in _MODULES.items()
            for module in modules
            if hasattr(module, _name)
        },
    )


@kernel
def take_group(pool: Pool, row: int, k: int, label: int, labels: Ints, rows: Ints, distances: Floats) -> None:
    """Take the k remaining records nearest to a record out of the pool and give them a label."""
    nearest(pool, row, k, rows, distances)
    for t in range(k):
        labels[rows[t]] = label
        remove(pool, rows[t])


@kernel
def take_rest(label: int, labels: Ints) -> None:
    """Give a label to all records that have none, marked by -1."""
    for row in range(labels.shape[0]):
        if labels[row] < 0:
            labels[row] = label
