"""Hierarchies as they are edited: a tree of names as an indented text, and the changes that one click makes.

A tree that was changed is in the plan by its names, as pairs of child and parent, so that the plan needs no file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import shoal

MOST_NODES = 400  # of a tree that is drawn and edited here
_STEP = "  "
Pairs = list[tuple[str, str]]


def as_text(lines: Sequence[Any]) -> str:
    """Return a tree as a text in which what is below a name is indented more.

    >>> tree = shoal.inspect_hierarchy({"tree": {"world": {"Europe": ["Spain"], "Asia": ["Japan"]}}})
    >>> print(as_text(list(tree.lines())))
    world
      Europe
        Spain
      Asia
        Japan
    """
    return "\n".join(f"{_STEP * (line.depth - 1)}{line.name}" for line in lines)


def pairs_of_text(text: str) -> Pairs:
    r"""Return child and parent of every name in an indented text; raises DataError with the lines that are wrong.

    >>> pairs_of_text("world\n  Europe\n    Spain\n  Japan")
    [('Europe', 'world'), ('Spain', 'Europe'), ('Japan', 'world')]
    """
    above: list[tuple[int, str]] = []
    pairs: Pairs = []
    mistakes: list[str] = []
    for number, line in enumerate(text.expandtabs(2).splitlines(), start=1):
        name, indent = line.strip(), len(line) - len(line.lstrip())
        if not name:
            continue
        while above and above[-1][0] >= indent:
            above.pop()
        if above:
            pairs.append((name, above[-1][1]))
        elif pairs or number > 1:
            mistakes.append(f"line {number}: stands beside the first name; only one name is above all others")
        above.append((indent, name))
    if mistakes:
        raise shoal.DataError(mistakes)
    if not pairs:
        raise shoal.DataError("a hierarchy needs a name above all values, and names below it, indented")
    return pairs


def pairs_of(hierarchy: shoal.Hierarchy) -> Pairs:
    """Return child and parent of every name of a tree."""
    return [(name, hierarchy.names[hierarchy.parent[code]]) for code, name in enumerate(hierarchy.names) if code]


def rename(pairs: Pairs, name: str, other: str) -> Pairs:
    """Give a name another one."""
    if any(other in pair for pair in pairs):
        raise shoal.DataError("the new name is in the hierarchy already; names are there once")
    return [tuple(other if one == name else one for one in pair) for pair in pairs]  # type: ignore[misc]


def move(pairs: Pairs, name: str, other: str) -> Pairs:
    """Put a name, with all that is below it, below another."""
    if not any(child == name for child, _ in pairs):
        raise shoal.DataError("the topmost name stays where it is")
    below = {name}
    while more := {child for child, parent in pairs if parent in below} - below:
        below |= more
    if other in below:
        raise shoal.DataError("a name cannot be put below itself")
    return [(child, other if child == name else parent) for child, parent in pairs]


def add(pairs: Pairs, name: str, other: str) -> Pairs:
    """Add a new name below one that is there."""
    if any(other in pair for pair in pairs):
        raise shoal.DataError("the new name is in the hierarchy already; names are there once")
    return [*pairs, (other, name)]


def remove(pairs: Pairs, name: str, other: str = "") -> Pairs:
    """Take a name away; what is below it goes to what is above it."""
    above = next((parent for child, parent in pairs if child == name), None)
    if above is None:
        raise shoal.DataError("the topmost name cannot be taken away")
    return [(child, above if parent == name else parent) for child, parent in pairs if child != name]


CHANGES: dict[str, Callable[[Pairs, str, str], Pairs]] = {"rename": rename, "move": move, "add": add, "remove": remove}


def settings_of(pairs: Pairs, before: Mapping[str, Any]) -> dict[str, Any]:
    """Return pairs as the settings of a plan, with what was said before that is not about where they came from."""
    kept = {name: before[name] for name in ("distance", "siblings") if name in before}
    return {"pairs": [list(pair) for pair in pairs], **kept}
