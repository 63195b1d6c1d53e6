"""From children and parents to a checked hierarchy: every problem is told, all at once."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from shoal.columns.hierarchy.tree import Hierarchy
from shoal.errors import DataError, counted, listed

_SHOWN = 20  # names in one sentence


def grow(pairs: Iterable[tuple[str, str]], root: str | None = None) -> Hierarchy:
    """Make a hierarchy from (child, parent) pairs, in any order; a pair may be given more than once.

    Parameters
    ----------
    pairs : iterable of (str, str)
        Child and parent.
    root : str, optional
        Name of the root; needed only where there are no pairs at all, and checked otherwise.

    Raises
    ------
    DataError
        Nodes with two parents, cycles, or nodes that do not lead to one root; all of them.

    Examples
    --------
    >>> grow([("cat", "animal"), ("dog", "animal")]).names
    ('animal', 'cat', 'dog')
    >>> grow([("cat", "animal"), ("cat", "plant"), ("animal", "thing"), ("plant", "thing")])
    Traceback (most recent call last):
    shoal.errors.DataError: 'cat' has 2 parents, 'animal' and 'plant'; give it one
    """
    parents: dict[str, dict[str, None]] = {}
    for child, parent in pairs:
        parents.setdefault(child, {})[parent] = None
        parents.setdefault(parent, {})
    if root is not None:
        parents.setdefault(root, {})
    if not parents:
        raise DataError("the hierarchy is empty: it needs at least one name")
    mistakes = [
        f"'{name}' has {len(above)} parents, {listed(above, _SHOWN)}; give it one"
        for name, above in parents.items()
        if len(above) > 1
    ]
    tops = [name for name, above in parents.items() if not above]
    first = {name: next(iter(above), None) for name, above in parents.items()}
    lost = _cyclic(first)
    if lost:
        mistakes += [f"{listed(cycle, _SHOWN, ' -> ')} is a cycle: no name can be above itself" for cycle in lost]
    if root is not None and parents[root]:
        mistakes.append(f"'{root}' is to be the root, and has '{next(iter(parents[root]))}' above it")
        tops = [name for name in tops if name != root]
    elif root is not None or len(tops) == 1:
        top = root if root is not None else tops[0]
        apart = [name for name in tops if name != top]
        if apart:
            mistakes.append(f"{listed(apart, _SHOWN)} cannot be reached from the root '{top}'; give them a parent")
    elif len(tops) > 1:
        mistakes.append(
            f"{counted(len(tops), 'name')} have nothing above them, {listed(tops, _SHOWN)}; give them one root in "
            "common"
        )
    if mistakes:
        raise DataError(mistakes)
    return _in_pre_order(first, root if root is not None else tops[0])


def _cyclic(parent: dict[str, str | None]) -> list[list[str]]:
    """Return the cycles among nodes with at most one parent each, each once, ending where it starts."""
    cycles = []
    state: dict[str, int] = {}
    for number, start in enumerate(parent):
        walk: list[str] = []
        at: str | None = start
        while at is not None and at not in state:
            state[at] = number
            walk.append(at)
            at = parent[at]
        if at is not None and state[at] == number:
            cycles.append([*walk[walk.index(at) :], at])
    return cycles


def _in_pre_order(parent: dict[str, str | None], root: str) -> Hierarchy:
    """Number the nodes of a tree from its root, children in the order of the dict."""
    below: dict[str, list[str]] = {name: [] for name in parent}
    for name, above in parent.items():
        if above is not None:
            below[above].append(name)
    codes: dict[str, int] = {}
    stack = [root]
    while stack:
        name = stack.pop()
        codes[name] = len(codes)
        stack += reversed(below[name])
    above_of = [-1 if (above := parent[name]) is None else codes[above] for name in codes]
    return Hierarchy(tuple(codes), np.array(above_of, dtype=np.int64))
