"""Sets of quasi-identifiers formed from rules: columns that share rules together, the rest in sets of a stated size.

That is how V. Torra, I. Cano and G. Navarro-Arribas, Dealing with edit constraints in microdata protection:
microaggregation, 2009, section 4, form theirs, with sets of three for the rest. A column with a rule of its own and
with no other column in it is a set by itself.
"""

from __future__ import annotations

from collections.abc import Sequence

from shoal.rules.classify import classify
from shoal.rules.components import components
from shoal.rules.rule import Rule

SET_SIZE = 3  # of the paper


def sets_from_rules(rules: Sequence[Rule], names: Sequence[str], size: int = SET_SIZE) -> list[list[str]]:
    """Return the columns in sets: those that share rules, directly or through others, then the rest, size by size.

    Columns stand in the order in which they are given; the last set may be smaller.

    >>> from shoal.rules.grammar import parse_rule
    >>> rules = [parse_rule(text) for text in ("A <= B", "E > 0", "B <= D")]
    >>> sets_from_rules(rules, ["A", "B", "C", "D", "E", "F", "G", "H"])
    [['A', 'B', 'D'], ['E'], ['C', 'F', 'G'], ['H']]
    """
    found = [tied for _, tied in components([classify(rule) for rule in rules], names)]
    found.sort(key=lambda tied: names.index(tied[0]))
    placed = {name for tied in found for name in tied}
    rest = [name for name in names if name not in placed]
    return found + [rest[start : start + size] for start in range(0, len(rest), size)]
