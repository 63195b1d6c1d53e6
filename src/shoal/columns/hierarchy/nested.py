"""Hierarchies in nested YAML: a name, and below it the names that are kinds of it.

::

    world:
      Europe: [Spain, France]
      Asia:
        - Japan
        - China: [Hong Kong]

All scalars are names, as they are written: ``No`` is Norway and not false. The nodes that the parser composes are
walked, so that nothing is built from what the file says, names given twice are seen with their lines, and an alias,
which could make a small file huge, is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import yaml

from shoal.columns.hierarchy.growing import Found
from shoal.columns.hierarchy.tree import Hierarchy
from shoal.errors import DataError
from shoal.plan.limits import DEEPEST_YAML
from shoal.plan.yaml_input import YamlMistake, compose

Pairs = list[tuple[str, str]]


def read_nested(text: str) -> Found:
    """Return the (child, parent) pairs in a YAML text, the root where it stands alone, and what is wrong with it.

    Messages tell lines, and none of what stands in them.

    >>> read_nested("world: {Europe: [Spain, France], Japan: }").pairs
    [('Europe', 'world'), ('Spain', 'Europe'), ('France', 'Europe'), ('Japan', 'world')]
    """
    try:
        top = compose(text, yaml.BaseLoader)
    except YamlMistake as mistake:
        raise DataError(f"the hierarchy {mistake}") from None
    walk = _Walk()
    if top is not None:
        walk.below(None, top)
    root = walk.tops[0] if len(walk.tops) == 1 else None
    return Found(walk.pairs, root, walk.mistakes + walk.apart(), walk.places)


class _Walk:
    """Collects pairs, the names that nothing is above, and the names that come twice."""

    def __init__(self) -> None:
        self.pairs: Pairs = []
        self.tops: list[str] = []
        self.mistakes: list[str] = []
        self.places: dict[str, str] = {}
        self._lines: dict[tuple[str, str | None], int] = {}

    def below(self, parent: str | None, node: yaml.Node) -> None:
        """Take all that a node holds as kinds of the parent."""
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if not isinstance(key, yaml.ScalarNode):
                    self.mistakes.append(f"line {key.start_mark.line + 1}: a list stands where a name should")
                elif self._named(parent, key):
                    self.below(key.value, value)
        elif isinstance(node, yaml.SequenceNode):
            for item in node.value:
                self.below(parent, item)
        elif getattr(node, "style", None) is not None or node.value not in ("", "~", "null"):
            self._named(parent, node)

    def _named(self, parent: str | None, node: yaml.Node) -> bool:
        name, line = str(node.value), node.start_mark.line + 1
        if not name.strip():
            self.mistakes.append(f"line {line}: a name is empty")
            return False
        if (name, parent) in self._lines:
            first = self._lines[name, parent]
            self.mistakes.append(f"line {line}: a name has line {first} already; give it one place")
            return False
        self._lines[name, parent] = line
        self.places.setdefault(name, f"line {line}")
        if parent is None:
            self.tops.append(name)
        else:
            self.pairs.append((name, parent))
        return True

    def apart(self) -> list[str]:
        """Say so where there is more than one name at the top."""
        if len(self.tops) < 2:
            return []
        lines = " and ".join(self.places[name] for name in self.tops[:2])
        return [f"the names in {lines} are both at the top; put one root above all names"]


def read_tree(tree: Any) -> Found:
    """Return the same of nested dicts and lists, as a plan in YAML or Python holds them; messages show its names."""
    return read_nested(yaml.safe_dump(_texts(tree), sort_keys=False, allow_unicode=True))._replace(places={})


def _texts(tree: Any, depth: int = 1) -> Any:
    if depth > DEEPEST_YAML:
        raise DataError(f"the hierarchy is nested more than {DEEPEST_YAML} levels deep, or holds itself")
    if isinstance(tree, Mapping):
        return {str(name): _texts(value, depth + 1) for name, value in tree.items()}
    if isinstance(tree, Iterable) and not isinstance(tree, str):
        return [_texts(item, depth + 1) for item in tree]
    return None if tree is None else str(tree)


def write_nested(hierarchy: Hierarchy) -> str:
    """Return a hierarchy as nested YAML; a name with several parents stands below each, and once with what it has.

    >>> from shoal.columns.hierarchy import grow
    >>> print(write_nested(grow([("Spain", "Europe"), ("France", "Europe"), ("Europe", "world")])), end="")
    world:
      Europe:
      - Spain
      - France
    """

    def nested(code: int) -> Any:
        children = hierarchy.children(code)
        again = [hierarchy.names[child] for child, parent in hierarchy.others if parent == code]
        if hierarchy.leaves[children].all():
            return [*(hierarchy.names[child] for child in children), *again]
        return {hierarchy.names[child]: nested(int(child)) or None for child in children} | dict.fromkeys(again)

    dumped: str = yaml.safe_dump(
        {hierarchy.names[0]: nested(0) or None}, sort_keys=False, allow_unicode=True, width=1000
    )
    return dumped.replace(": null\n", ":\n")
