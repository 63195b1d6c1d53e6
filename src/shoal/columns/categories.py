"""Columns of categories as codes: what each code stands for, and how far apart the codes are.

A column is nominal (equal or not), ordinal (in an order that the user gives) or semantic (with a hierarchy). Distances
go from 0 to 1 whatever the kind, so that columns of all kinds can be added up:

- nominal: 0 where equal and 1 where not;
- ordinal: steps between the two, as a part of all the steps there are;
- semantic: the distance of the hierarchy, see :mod:`shoal.columns.hierarchy.distances`.

The codes of a semantic column are the values that occur, by first appearance, and then their ancestors. No other node
can be a better centre than these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shoal.columns.hierarchy import COUNTED, Hierarchy, NodeDistances, check_covered, name_of, order_values
from shoal.columns.numbers import Column
from shoal.errors import DataError, counted, with_hints
from shoal.kernels.arrays import Flags, Floats, Ints
from shoal.plan.roles import Kind

_LARGEST = 1 << 27  # cells of a matrix of distances: 1 GiB


@dataclass(frozen=True)
class Category:
    """The categories of one column.

    Attributes
    ----------
    name : str
        Name of the column.
    values : int64 (n,)
        Code of each record's value; 0 where missing.
    observed : bool (n,)
        Which values there are.
    names : tuple
        What each code stands for, as the table holds it.
    kind : {Kind.NOMINAL, Kind.ORDINAL, Kind.SEMANTIC}
        What is known about the categories.
    order : int64 (codes,)
        Place of each code where categories are sorted: the given order, the post-order of the hierarchy with near
        siblings side by side, or the rarer first. The order of the rows plays no part.
    mixed_order : int64 (codes,)
        The same for the mixed traversal of the hierarchy, where values may come before those below them.
    distances : float64 (occurring, codes) or None
        From the codes that occur to all; None stands for equal or not.
    measured : NodeDistances or None
        The hierarchy, and the distances between its nodes.
    nodes : int64 (codes,)
        Node of each code; the codes themselves where there is no hierarchy.
    """

    name: str
    values: Ints
    observed: Flags
    names: tuple[Any, ...]
    kind: Kind
    order: Ints
    mixed_order: Ints
    distances: Floats | None
    measured: NodeDistances | None
    nodes: Ints

    @property
    def hierarchy(self) -> Hierarchy | None:
        """The hierarchy of a semantic column."""
        return None if self.measured is None else self.measured.hierarchy

    @property
    def partial(self) -> bool:
        """Whether names above the values cannot be released, since the type of the column does not hold them."""
        return (
            self.hierarchy is not None and len(set(self.hierarchy.closure(self.nodes)) - set(self.nodes.tolist())) > 0
        )

    def take(self, rows: Ints) -> Category:
        """Return the column restricted to some rows."""
        return replace(self, values=self.values[rows], observed=self.observed[rows])


AnyColumn = Column | Category


@dataclass(frozen=True)
class Factor:
    """A column as it is read: codes by first appearance, which values there are, and what the codes stand for.

    ``counts`` (labels,) says how often each label occurs, where these are not all records of the table.
    """

    codes: Ints
    observed: Flags
    labels: list[Any]
    counts: Ints | None = None

    def frequencies(self, count: int) -> Ints:
        """Return how often each of so many codes occurs."""
        return np.bincount(self.codes[self.observed], minlength=count) if self.counts is None else self.counts


def nominal(name: str, factor: Factor) -> Category:
    """Return a column whose values are equal or not; sorted, the rarer come first, as siblings of a hierarchy do.

    >>> nominal("sex", Factor(np.array([0, 1, 0]), np.ones(3, dtype=bool), ["f", "m"])).distances
    """
    names = tuple(factor.labels) or (None,)
    codes = np.arange(len(names))
    counts = factor.frequencies(len(names))
    order = np.empty(len(names), dtype=np.int64)
    order[sorted(codes.tolist(), key=lambda code: (counts[code], name_of(names[code])))] = codes
    return Category(name, factor.codes, factor.observed, names, Kind.NOMINAL, order, order, None, None, codes)


def ordinal(name: str, factor: Factor, levels: Sequence[str], holds: Callable[[str], Any] | None = None) -> Category:
    """Return a column whose values have an order, from the lowest to the highest of ``levels``.

    ``holds`` gives a level that does not occur as the table holds it, or None where its type cannot.

    >>> size = ordinal("size", Factor(np.array([0, 1]), np.ones(2, dtype=bool), ["L", "S"]), ["S", "M", "L"])
    >>> size.values.tolist(), size.distances[0].tolist()
    ([2, 0], [0.0, 0.5, 1.0])
    """
    place = {level: i for i, level in enumerate(levels)}
    lost = [label for label in map(name_of, factor.labels) if label not in place]
    if lost:
        raise DataError(
            f"column '{name}': {counted(len(lost), 'value')} not in the given order: {with_hints(lost, levels)}; add "
            f"{'it' if len(lost) == 1 else 'them'}"
        )
    held = {name_of(label): label for label in factor.labels}
    own = {level: holds(level) for level in levels if level not in held} if holds else {}
    names = tuple(held.get(level, level if own.get(level) is None else own[level]) for level in levels)
    of = np.array([place[name_of(label)] for label in factor.labels], dtype=np.int64)
    codes = np.arange(len(levels))
    steps = np.abs(codes[:, None] - codes[None, :]) / max(len(levels) - 1.0, 1.0)
    values = np.where(factor.observed, of[factor.codes], 0) if len(of) else factor.codes
    return Category(name, values, factor.observed, names, Kind.ORDINAL, codes, codes, steps, None, codes)


def semantic(
    name: str, factor: Factor, hierarchy: Hierarchy, distance: str, holds: Callable[[str], Any] | None = None
) -> Category:
    """Return a column whose values are nodes of a hierarchy; a value that is not is an error that lists them all.

    ``holds`` gives a name as the table holds it, or None where its type cannot: then it is never released.
    """
    labels = [name_of(label) for label in factor.labels]
    at = check_covered(hierarchy, labels).codes_of(labels)
    held: list[Any] = factor.labels
    if not held:  # no value at all: the root stands for what is not there
        at, held = np.zeros(1, dtype=np.int64), [hierarchy.names[0]]
    seen = np.unique(at)
    kept = hierarchy.closure(seen)
    rest = np.setdiff1d(kept, seen)
    if len(at) * (len(at) + len(rest)) > _LARGEST:
        raise DataError(
            f"column '{name}': {len(at)} values with {len(rest)} names above them are too many for a matrix of "
            "distances; generalise the column by a level first"
        )
    above = [hierarchy.names[node] if holds is None else holds(hierarchy.names[node]) for node in rest]
    rest = rest[[one is not None for one in above]]
    nodes = np.concatenate([at, rest])
    there = factor.frequencies(len(at)).astype(np.float64)
    counts = None
    if distance in COUNTED:
        counts = np.zeros(len(hierarchy))
        np.add.at(counts, at, there)
    measured = NodeDistances.of(hierarchy, distance, counts)
    distances = measured.matrix(at, nodes)
    of_node = np.unique(at, return_index=True)[1]
    place, mixed = order_values(
        hierarchy,
        seen,
        np.bincount(np.searchsorted(seen, at), there).astype(np.float64),
        distances[np.ix_(of_node, of_node)],
    )
    names = (*held, *(one for one in above if one is not None))
    return Category(
        name,
        factor.codes,
        factor.observed,
        names,
        Kind.SEMANTIC,
        place[nodes],
        mixed[nodes],
        distances,
        measured,
        nodes,
    )
