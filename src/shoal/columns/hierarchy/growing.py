"""From children and parents to a checked hierarchy: every problem is told, all at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from shoal.columns.hierarchy.tree import Hierarchy
from shoal.errors import DataError, counted
from shoal.plan.limits import DEEPEST_HIERARCHY

_SHOWN = 20  # names in one sentence
_ALIKE = 5  # sentences of the same kind


class Found(NamedTuple):
    """What a file says of a hierarchy.

    Attributes
    ----------
    pairs : list of (str, str)
        Children and parents.
    root : str or None
        The root where it stands alone.
    mistakes : list of str
        What is wrong with the file.
    places : dict of str
        Where each name stands in the file, for messages; empty where they may show it.
    """

    pairs: list[tuple[str, str]]
    root: str | None
    mistakes: list[str]
    places: Mapping[str, str] = MappingProxyType({})


def grow(
    pairs: Iterable[tuple[str, str]],
    root: str | None = None,
    places: Mapping[str, str] | None = None,
    in_order: bool = False,
    several: bool = False,
) -> Hierarchy:
    """Make a hierarchy from (child, parent) pairs, in any order; a pair may be given more than once.

    Parameters
    ----------
    pairs : iterable of (str, str)
        Child and parent.
    root : str, optional
        Name of the root; needed only where there are no pairs at all, and checked otherwise.
    places : mapping of str, optional
        Where each name stands in its file. Messages then tell the place and not the name: a plan may name any file,
        and who reads the message need not be allowed to read that file.
    in_order : bool
        Whether the order of siblings says something.
    several : bool
        Whether names may have several parents.

    Raises
    ------
    DataError
        Nodes with two parents, cycles, or nodes that do not lead to one root; a few of a kind, and how many. Or names
        from the root to a leaf are more than are allowed.

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
    say = _Told(places or {})
    torn = {} if several else {name: above for name, above in parents.items() if len(above) > 1}
    mistakes = [
        f"{say.one(name)} has {len(above)} parents, {say.all(above)}; give it one"
        for name, above in list(torn.items())[:_ALIKE]
    ]
    if len(torn) > _ALIKE:
        mistakes.append(
            f"{counted(len(torn) - _ALIKE, 'more name')} of {len(parents)} with several parents; where this is the "
            "wrong file, such as the table itself, name that of the hierarchy"
        )
    tops = [name for name, above in parents.items() if not above]
    first = {name: next(iter(above), None) for name, above in parents.items()}
    lost = _cyclic(first) or (_knotted(parents) if several else [])
    if lost:
        mistakes += [f"{say.all(cycle, ' -> ')} is a cycle: no name can be above itself" for cycle in lost]
    if root is not None and parents[root]:
        mistakes.append(f"{say.one(root)} is to be the root, and has {say.one(next(iter(parents[root])))} above it")
        tops = [name for name in tops if name != root]
    elif root is not None or len(tops) == 1:
        top = root if root is not None else tops[0]
        apart = [name for name in tops if name != top]
        if apart:
            mistakes.append(f"{say.all(apart)} cannot be reached from the root {say.one(top)}; give them a parent")
    elif len(tops) > 1:
        mistakes.append(
            f"{counted(len(tops), 'name')} have nothing above them, {say.all(tops)}; give them one root in common"
        )
    if mistakes:
        raise DataError(mistakes)
    grown = _in_pre_order(first, root if root is not None else tops[0], in_order, parents)
    if grown.height > DEEPEST_HIERARCHY:
        raise DataError(
            f"the hierarchy is {grown.height} names deep, and {DEEPEST_HIERARCHY} is the most; leave out some levels"
        )
    return grown


class _Told:
    """Names in a message: quoted, or told by their place in a file."""

    def __init__(self, places: Mapping[str, str]) -> None:
        self.places = places

    def one(self, name: str) -> str:
        return f"the name in {self.places[name]}" if name in self.places else f"'{name}'"

    def all(self, names: Iterable[str], between: str = " and ") -> str:
        every = list(names)
        shown = [self.one(name) for name in every[:_SHOWN]]
        if len(shown) < len(every):
            shown.append(f"{len(every) - len(shown)} more")
        if between != " and " or len(shown) == 1:
            return between.join(shown)
        return f"{', '.join(shown[:-1])}{between}{shown[-1]}"


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


def _knotted(parents: Mapping[str, Mapping[str, None]]) -> list[list[str]]:
    """Return one cycle among nodes with any number of parents, ending where it starts, if there is any."""
    left = {name: dict(above) for name, above in parents.items()}
    done: set[str] = set()
    while free := [name for name, above in left.items() if all(one in done for one in above)]:
        done.update(free)
        for name in free:
            del left[name]
    if not left:
        return []
    walk = [next(iter(left))]
    while (above := next(one for one in left[walk[-1]] if one in left)) not in walk:
        walk.append(above)
    return [[*walk[walk.index(above) :], above]]


def _in_pre_order(
    parent: dict[str, str | None], root: str, in_order: bool, parents: Mapping[str, Mapping[str, None]]
) -> Hierarchy:
    """Number the nodes of a tree from its root, children in the order of the dict, and their further parents."""
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
    others = [(codes[name], codes[above]) for name in codes for above in list(parents[name])[1:]]
    return Hierarchy(tuple(codes), np.array(above_of, dtype=np.int64), np.array(others).reshape(-1, 2), in_order)
