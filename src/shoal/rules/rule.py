"""A rule: a condition with a name, and where it came from."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal

from shoal.rules.expression import Condition, variables_of


@dataclass(frozen=True)
class Schematron:
    """How a Schematron file says a rule, for the engine that checks it.

    Attributes
    ----------
    context : str
        XPath of the elements that it is about.
    element : str
        Name of those elements: records, or the values of one variable.
    about_value : bool
        Whether they are values.
    lets : tuple of (str, str)
        The ``let`` variables that the test needs, in order.
    test : str
        XPath of its condition.
    negated : bool
        Whether it is a ``report``, which tells where the test holds.
    before : tuple of str
        Contexts of the rules before it in its pattern: an element that one of them matches is left to it.
    namespaces : tuple of (str, str)
        Prefixes and what they stand for.
    documents : tuple of str
        What ``document('...')`` names.
    """

    context: str
    element: str
    about_value: bool
    lets: tuple[tuple[str, str], ...]
    test: str
    negated: bool = False
    before: tuple[str, ...] = ()
    namespaces: tuple[tuple[str, str], ...] = ()
    documents: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rule:
    """What must hold in every record.

    Attributes
    ----------
    name : str
        Unique among the rules of a release.
    condition : Condition or None
        What must hold; None where an XPath has no translation, so that only an engine can check it.
    text : str
        As the user wrote it.
    place : str
        Where that was: a file and line, or the number of the rule in the plan.
    notation : {"expression", "schematron"}
        In which notation.
    schematron : Schematron or None
        The rule as the Schematron file has it.
    only_engine : tuple of str
        The columns that a rule without a translation names.
    in_file : bool
        Whether it came from a file, whose content messages do not show until it is known to be rules of the table.
    weight : float or None
        Of a soft rule, see :mod:`shoal.rules.preferring`; None where it must be kept.
    """

    name: str
    condition: Condition | None
    text: str
    place: str = ""
    notation: Literal["expression", "schematron"] = "expression"
    schematron: Schematron | None = None
    only_engine: tuple[str, ...] = ()
    in_file: bool = False
    weight: float | None = None

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of the columns that the rule needs, each once."""
        return self.only_engine if self.condition is None else variables_of(self.condition)


def name_mistakes(rules: list[Rule]) -> list[str]:
    """Say which names are given to more than one rule."""
    counts = Counter(rule.name for rule in rules)
    twice = {rule.name: rule for rule in reversed(rules) if counts[rule.name] > 1}
    return [
        f"{_called(rule)} is there {counts[name]} times; give each a name of its own"
        for name, rule in reversed(twice.items())
    ]


def _called(rule: Rule) -> str:
    """Name a rule in a message; one in a file by its place, since the file may be none of rules."""
    hidden = rule.in_file and rule.notation == "expression"
    return f"the rule in {rule.place}" if hidden else f"rule '{rule.name}'"
