"""Constants of rules that no category of their column has: mistakes of writing, told before any work is done.

A constant is looked up in the order of its column, in its hierarchy, or else among its values. A list of what is
allowed may have values that this table happens not to have, as long as it has one of them; anywhere else a constant
that does not occur would make a rule that says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from shoal.columns.hierarchy import name_of
from shoal.errors import did_you_mean
from shoal.rules.evaluate import Observations
from shoal.rules.expression import Comparison, Condition, Implies, Member, Not, Number, Text, Variable, children
from shoal.rules.rule import Rule


@dataclass(frozen=True)
class Known:
    """The names that a column may have: those of its order or of its hierarchy."""

    what: str
    names: Sequence[str]


@dataclass(frozen=True)
class _Use:
    """Constants that a column is compared with; ``allowed`` where they list what it may have."""

    column: str
    constants: tuple[Number | Text, ...]
    allowed: bool


def constant_mistakes(
    rules: Sequence[Rule], known: Mapping[str, Known], observations: Mapping[str, Observations]
) -> list[str]:
    """Say which constants are in no order, hierarchy or column that they are compared with.

    Columns of texts that are in neither ``known`` nor ``observations`` are not looked at.

    >>> from shoal.rules.grammar import parse_rule
    >>> constant_mistakes([parse_rule("size >= 'XS'")], {"size": Known("order", ["S", "M", "L"])}, {})
    ["rule 'size >= 'XS'' (line 1): 'XS' is not in the order of column 'size'; did you mean 'S'?"]
    """
    values = {
        name: set(one.values[one.observed].tolist())
        for name, one in observations.items()
        if one.values.dtype.kind == "O" and one.observed.any()
    }
    mistakes = []
    for rule in rules:
        for use in _uses(rule.condition) if rule.condition is not None else ():
            told = f"rule '{rule.name}' ({rule.place}): "
            names = [name_of(constant.value) for constant in use.constants]
            if use.column in known:
                one = known[use.column]
                wrong = [name for name in names if name not in one.names]
                mistakes += [
                    f"{told}'{name}' is not in the {one.what} of column '{use.column}'{did_you_mean(name, one.names)}"
                    for name in wrong
                ]
            elif use.column in values:
                wrong = [name for name in names if name not in values[use.column]]
                if not use.allowed or len(wrong) == len(names):
                    mistakes += [
                        f"{told}'{name}' is no value of column '{use.column}', so that the rule would say nothing "
                        "about it; correct it, or leave the rule out"
                        for name in wrong
                    ]
    return list(dict.fromkeys(mistakes))


def _uses(node: Condition, allowed: bool = True) -> Iterator[_Use]:
    """Give the constants in a condition with the column that each is compared with."""
    match node:
        case Comparison(_, Variable(name), Text() | Number() as constant):
            yield _Use(name, (constant,), False)
        case Comparison(_, Text() | Number() as constant, Variable(name)):
            yield _Use(name, (constant,), False)
        case Member(Variable(name), constants):
            yield _Use(name, constants, allowed)
        case Implies(antecedent, consequent):
            yield from _uses(antecedent, False)
            yield from _uses(consequent, allowed)
        case _:
            for below in children(node):
                yield from _uses(below, allowed and not isinstance(node, Not))  # type: ignore[arg-type]
