"""A value generalisation hierarchy: a tree of names as one array of parents.

Nodes are numbered in pre-order, children in the order in which they were named. So the root is 0, a parent comes
before its children, and what lies below a node is the run of codes that starts with it. That makes every question
about the tree one about ranges and prefixes:

- ``x`` is below or at ``a`` where ``a <= x < a + sizes[a]``;
- the least common subsumer of two nodes is the last name that their paths from the root share;
- that of a set of nodes is that of its lowest and its highest code.

A node may have more parents than the one in the tree (``others``), as in WordNet or an ontology. Then a node is below
all that any path from it to the root goes through, and these questions are answered from the least number of steps to
each of them (:attr:`Hierarchy.ways`).

Arrays are ``(nodes,)`` and :attr:`Hierarchy.paths` is ``(nodes, height)``: 10^5 nodes of depth 20 take 8 MB.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from shoal.errors import DataError, did_you_mean
from shoal.kernels.arrays import Flags, Ints

Number = TypeVar("Number", np.int64, np.float64)


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """A tree of names. :func:`shoal.columns.hierarchy.grow` makes one from children and parents, and checks them.

    Values of the data may be any of its nodes, inner ones too.

    Attributes
    ----------
    names : tuple of str
        Name of each node, all different, in pre-order.
    parent : int64 array (nodes,)
        Code of each node's parent; -1 for the root, which is node 0.
    others : int64 array (edges, 2)
        Further children and parents, of nodes that have more than one parent.
    in_order : bool
        Whether the order of siblings says something, as that of intervals does. It is no part of what makes two
        hierarchies equal.

    Examples
    --------
    >>> from shoal.columns.hierarchy import grow
    >>> places = grow([("Spain", "Europe"), ("France", "Europe"), ("Europe", "world"), ("Japan", "world")])
    >>> places.names
    ('world', 'Europe', 'Spain', 'France', 'Japan')
    >>> places.depth.tolist()
    [1, 2, 3, 3, 2]
    >>> places.names[places.subsumer_of(places.codes_of(["Spain", "France"]))]
    'Europe'
    """

    names: tuple[str, ...]
    parent: Ints
    others: Ints = field(default_factory=lambda: np.empty((0, 2), dtype=np.int64))
    in_order: bool = False

    def __post_init__(self) -> None:
        parent = np.asarray(self.parent, dtype=np.int64)
        here = np.arange(len(parent))
        if len(self.names) != len(parent) or len(parent) == 0:
            raise ValueError("a hierarchy needs a name and a parent for each of its nodes, and at least one")
        if parent[0] != -1 or np.any(parent[1:] < 0) or np.any(parent >= here):
            raise ValueError("parents come before their children, and only the first node has none")
        if len(set(self.names)) < len(self.names):
            raise ValueError("names of nodes are all different")
        parent.flags.writeable = False
        object.__setattr__(self, "parent", parent)
        # pre-order: each node's parent is the node before it or one of that node's ancestors
        ends = here + self.sizes
        if np.any(here[1:] >= ends[parent[1:]]):
            raise ValueError("nodes are numbered in pre-order")
        others = np.asarray(self.others, dtype=np.int64).reshape(-1, 2)
        if np.any(others < 0) or np.any(others >= len(parent)):
            raise ValueError("further parents are nodes of the hierarchy")
        others.flags.writeable = False
        object.__setattr__(self, "others", others)

    def __len__(self) -> int:
        return len(self.names)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Hierarchy) or self.names != other.names:
            return False
        return np.array_equal(self.parent, other.parent) and np.array_equal(self.others, other.others)

    def __hash__(self) -> int:
        return hash((self.names, self.parent.tobytes(), self.others.tobytes()))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (name in self._codes or name.strip() in self._codes)

    @property
    def root(self) -> int:
        """Code of the root, always 0."""
        return 0

    @cached_property
    def _codes(self) -> dict[str, int]:
        return {name: code for code, name in enumerate(self.names)}

    @property
    def is_tree(self) -> bool:
        """Whether no node has more than one parent."""
        return len(self.others) == 0

    @cached_property
    def _level(self) -> Ints:
        """Nodes on the way from the root by the first parents, both ends counted."""
        level = np.ones(len(self), dtype=np.int64)
        for code in range(1, len(self)):
            level[code] = level[self.parent[code]] + 1
        return level

    @cached_property
    def depth(self) -> Ints:
        """Nodes on the shortest way from the root, both ends counted: 1 for the root."""
        return self._level if self.is_tree else np.array([way[0] + 1 for way in self.ways], dtype=np.int64)

    @cached_property
    def ways(self) -> tuple[dict[int, int], ...]:
        """Steps up from each node to itself and to all that is above it on any path, the fewest."""
        parents: list[list[int]] = [[] if above < 0 else [int(above)] for above in self.parent]
        for child, above in self.others.tolist():
            parents[child].append(above)
        found: list[dict[int, int]] = []
        for code in range(len(self)):
            way, level = {code: 0}, [code]
            while level:
                level = [above for node in level for above in parents[node] if above not in way]
                steps = max(way.values()) + 1
                way |= dict.fromkeys(level, steps)
            found.append(way)
        return tuple(found)

    @property
    def height(self) -> int:
        """Depth of the deepest node."""
        return int(self.depth.max())

    @cached_property
    def sizes(self) -> Ints:
        """Nodes at or below each node by the first parents: the length of its run of codes."""
        return self._summed(np.ones(len(self.names), dtype=np.int64))

    @cached_property
    def leaves(self) -> Flags:
        """Whether each node has no children."""
        leaves = np.asarray(self.sizes == 1)
        leaves[self.others[:, 1]] = False
        return leaves

    @cached_property
    def paths(self) -> NDArray[np.int32]:
        """First parents of each node from the root to itself, int32 (nodes, levels), filled up with -1."""
        paths = np.full((len(self), int(self._level.max())), -1, dtype=np.int32)
        for code in range(len(self)):
            if code:
                paths[code] = paths[self.parent[code]]
            paths[code, self._level[code] - 1] = code
        return paths

    def as_settings(self) -> dict[str, Any]:
        """Return the hierarchy as the settings of a plan: its names below each other."""
        if len(self) == 1:
            return {"tree": {self.names[0]: None}}
        pairs = [(self.names[code], self.names[self.parent[code]]) for code in range(1, len(self))]
        pairs += [(self.names[child], self.names[above]) for child, above in self.others]
        told = {"siblings": "given"} if self.in_order else {}
        return {"pairs": pairs} | told | ({} if self.is_tree else {"several_parents": "all"})

    def code_of(self, name: str) -> int:
        """Return the code of a name; a name that is not there is an error that gives the nearest."""
        if name not in self:
            raise DataError(f"'{name}' is not in the hierarchy{did_you_mean(name, self.names)}")
        return int(self.codes_of([name])[0])

    def codes_of(self, names: Iterable[str]) -> Ints:
        """Return the codes of names, which may have spaces around them; -1 for one that is not in the hierarchy."""
        codes = self._codes
        return np.array([codes.get(name, codes.get(name.strip(), -1)) for name in names], dtype=np.int64)

    def children(self, code: int) -> Ints:
        """Return the nodes whose parent, the first, is a node."""
        return np.flatnonzero(self.parent == code)

    def ancestors(self, code: int) -> Ints:
        """Return the nodes from a node's parent up to the root, by first parents."""
        return self.paths[code, : self._level[code] - 1][::-1].astype(np.int64)

    def below(self, code: int) -> Ints:
        """Return a node and all that is below it."""
        return np.flatnonzero(self.covers(code, np.arange(len(self))))

    def covers(self, above: Ints | int, code: Ints | int) -> Flags:
        """Whether nodes are the same as others, or ancestors of them."""
        above, code = np.asarray(above), np.asarray(code)
        if self.is_tree:
            return np.asarray((above <= code) & (code < above + self.sizes[above]))
        above, code = np.broadcast_arrays(above, code)
        found = [a in self.ways[c] for a, c in zip(above.ravel().tolist(), code.ravel().tolist(), strict=True)]
        return np.array(found, dtype=bool).reshape(above.shape)

    def least_common_subsumer(self, a: Ints | int, b: Ints | int) -> Ints:
        """Return the deepest node that is an ancestor of both, or one of them; arrays are taken pair by pair."""
        a, b = np.broadcast_arrays(np.asarray(a, dtype=np.int64), np.asarray(b, dtype=np.int64))
        if self.is_tree:
            return self._common(a.ravel(), b.ravel()).reshape(a.shape)
        pairs = zip(a.ravel().tolist(), b.ravel().tolist(), strict=True)
        return np.array([self.subsumer_of(np.array(pair)) for pair in pairs], dtype=np.int64).reshape(a.shape)

    def _common(self, a: Ints, b: Ints) -> Ints:
        one = self.paths[a]
        shared = ((one == self.paths[b]) & (one >= 0)).sum(axis=1)
        return np.asarray(one[np.arange(len(a)), shared - 1], dtype=np.int64)

    def subsumer_of(self, codes: Ints) -> int:
        """Return the least common subsumer of a set of nodes; of several as deep the one with the fewest steps.

        In the pre-order of a tree it is that of the lowest and the highest code: whatever covers both covers the run
        between.
        """
        if not self.is_tree:
            ways = [self.ways[code] for code in np.unique(codes)]
            shared = set.intersection(*map(set, ways))
            return int(min(shared, key=lambda node: (-self.depth[node], sum(way[node] for way in ways), node)))
        return int(self.least_common_subsumer(int(np.min(codes)), int(np.max(codes))))

    def totals(self, counts: NDArray[Number]) -> NDArray[Number]:
        """Return, for each node, the sum of counts (nodes,) at and below it, each once."""
        if self.is_tree:
            return self._summed(counts)
        totals = np.zeros_like(counts)
        for code, way in enumerate(self.ways):
            totals[list(way)] += counts[code]
        return totals

    def _summed(self, counts: NDArray[Number]) -> NDArray[Number]:
        totals = np.array(counts)
        for code in range(len(totals) - 1, 0, -1):
            totals[self.parent[code]] += totals[code]
        return totals

    def closure(self, codes: Ints) -> Ints:
        """Return nodes with all their ancestors, in order."""
        if not self.is_tree:
            return np.unique([node for code in np.unique(codes) for node in self.ways[code]]).astype(np.int64)
        kept = self.paths[np.unique(codes)]
        return np.unique(kept[kept >= 0]).astype(np.int64)

    def pruned(self, codes: Ints) -> Hierarchy:
        """Return the hierarchy of some nodes and their ancestors alone.

        Depths, and so the Wu-Palmer and path distances, stay what they are, but for the normalisation of the latter
        where the deepest node goes. No other node can be a better centre of these: a node outside has the same
        common ancestors with all of them as its nearest ancestor inside, and is deeper. With several parents that is
        so of nodes above, and a name below two of them is passed over.
        """
        kept = self.closure(codes)
        edges = self.others[np.isin(self.others, kept).all(axis=1)]
        return Hierarchy(
            tuple(self.names[code] for code in kept),
            np.searchsorted(kept, self.parent[kept]) - (kept == 0),
            np.searchsorted(kept, edges),
            self.in_order,
        )
