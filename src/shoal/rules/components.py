"""Columns that share rules, directly or through others, and the rules that they share."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.rules.classify import Classified


def components(rules: Sequence[Classified], names: Sequence[str]) -> list[tuple[list[Classified], list[str]]]:
    """Put rules that share columns together, transitively, and name their columns in the order given.

    >>> from shoal.rules.classify import classify
    >>> from shoal.rules.grammar import parse_rule
    >>> rules = [classify(parse_rule(text)) for text in ("A <= B", "C > 0", "B <= D")]
    >>> [found for _, found in components(rules, ["A", "B", "C", "D"])]
    [['A', 'B', 'D'], ['C']]
    """
    from scipy.cluster.hierarchy import DisjointSet  # slow to import, and most tables have no rules

    together = DisjointSet(names)
    for rule in rules:
        tied = [name for name in rule.variables if name in together]
        for name in tied[1:]:
            together.merge(name, tied[0])
    found: dict[str, tuple[list[Classified], list[str]]] = {}
    for rule in rules:
        tied = [name for name in rule.variables if name in together]
        if tied:
            found.setdefault(together[tied[0]], ([], []))[0].append(rule)
    for name in names:
        if together[name] in found:
            found[together[name]][1].append(name)
    return list(found.values())
