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

from shoal.columns.hierarchy.tree import Hierarchy
from shoal.errors import DataError

Pairs = list[tuple[str, str]]


def read_nested(text: str) -> tuple[Pairs, str | None, list[str]]:
    """Return the (child, parent) pairs in a YAML text, the root where it stands alone, and what is wrong with it.

    >>> read_nested("world: {Europe: [Spain, France], Japan: }")[0]
    [('Europe', 'world'), ('Spain', 'Europe'), ('France', 'Europe'), ('Japan', 'world')]
    """
    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, yaml.BaseLoader)):
            raise DataError("the hierarchy has YAML aliases (*name); write every name out")
        top = yaml.compose(text, yaml.BaseLoader)
    except yaml.MarkedYAMLError as error:
        line = f" in line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise DataError(f"the hierarchy is not valid YAML{line}: {error.problem}") from None
    except yaml.YAMLError:
        raise DataError("the hierarchy is not valid YAML: it has characters that are not text") from None
    except RecursionError:
        raise DataError("the hierarchy is nested too deeply to be read") from None
    walk = _Walk()
    if top is not None:
        walk.below(None, top)
    return walk.pairs, walk.tops[0] if len(walk.tops) == 1 else None, walk.mistakes + walk.apart()


class _Walk:
    """Collects pairs, the names that nothing is above, and the names that come twice."""

    def __init__(self) -> None:
        self.pairs: Pairs = []
        self.tops: list[str] = []
        self.mistakes: list[str] = []
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
            self.mistakes.append(f"line {line}: '{name}' has line {first} already; give it one place")
            return False
        self._lines[name, parent] = line
        if parent is None:
            self.tops.append(name)
        else:
            self.pairs.append((name, parent))
        return True

    def apart(self) -> list[str]:
        """Say so where there is more than one name at the top."""
        if len(self.tops) < 2:
            return []
        return [f"'{self.tops[0]}' and '{self.tops[1]}' are both at the top; put one root above all names"]


def read_tree(tree: Any) -> tuple[Pairs, str | None, list[str]]:
    """Return the same of nested dicts and lists, as a plan in YAML or Python holds them."""
    return read_nested(yaml.safe_dump(_texts(tree), sort_keys=False, allow_unicode=True))


def _texts(tree: Any) -> Any:
    if isinstance(tree, Mapping):
        return {str(name): _texts(value) for name, value in tree.items()}
    if isinstance(tree, Iterable) and not isinstance(tree, str):
        return [_texts(item) for item in tree]
    return None if tree is None else str(tree)


def write_nested(hierarchy: Hierarchy) -> str:
    """Return a hierarchy as nested YAML.

    >>> from shoal.columns.hierarchy import grow
    >>> print(write_nested(grow([("Spain", "Europe"), ("France", "Europe"), ("Europe", "world")])), end="")
    world:
      Europe:
      - Spain
      - France
    """

    def nested(code: int) -> Any:
        children = hierarchy.children(code)
        if hierarchy.leaves[children].all():
            return [hierarchy.names[child] for child in children]
        return {hierarchy.names[child]: nested(int(child)) or None for child in children}

    dumped: str = yaml.safe_dump(
        {hierarchy.names[0]: nested(0) or None}, sort_keys=False, allow_unicode=True, width=1000
    )
    return dumped.replace(": null\n", ":\n")
