"""Rules as they are typed: a text with a rule a line, each checked by itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import shoal


@dataclass(frozen=True)
class CheckedRule:
    """A rule, and what was found about it.

    Attributes
    ----------
    line : int
        Where it stands in the text.
    text : str
        What it says.
    mistakes : list of str
        What is wrong with it, with the place.
    violations, not_applicable : int
        Records that break it, and records that lack a value that it needs.
    """

    line: int
    text: str
    mistakes: list[str]
    violations: int = 0
    not_applicable: int = 0


def cut_rules(text: str) -> list[tuple[int, str]]:
    r"""Return the rules of a text with their lines: ``#`` begins a comment, an indented line continues the one before.

    >>> cut_rules("# bounds\nAGE >= 0\nA + B\n  = C\n")
    [(2, 'AGE >= 0'), (3, 'A + B\n  = C')]
    """
    found: list[tuple[int, str]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if line[0].isspace() and found:
            found[-1] = (found[-1][0], f"{found[-1][1]}\n{line.rstrip()}")
        else:
            found.append((number, line.strip()))
    return found


def as_text(rules: Iterable[str]) -> str:
    r"""Return rules as a text from which they are cut again as they were.

    >>> as_text(["AGE >= 0", "A +\nB = C"])
    'AGE >= 0\nA +\n  B = C'
    """
    lines = [rule.splitlines() for rule in rules]
    return "\n".join("\n".join([own[0], *(f"  {line.lstrip()}" for line in own[1:])]) for own in lines if own)


def check_text(frame: Any, text: str, orders: Any = None) -> list[CheckedRule]:
    """Check each rule of a text on a table."""
    return [_checked(frame, line, rule, orders) for line, rule in cut_rules(text)]


def _checked(frame: Any, line: int, rule: str, orders: Any) -> CheckedRule:
    try:
        found = shoal.check_rules(frame, [rule], orders=orders or None)[0]
    except shoal.ShoalError as error:
        told = getattr(error, "mistakes", None) or [str(error)]
        first = "rule 1, " if "\n" in rule else "rule 1, line 1, "
        return CheckedRule(line, rule, [one.removeprefix(first) for one in told])
    return CheckedRule(line, rule, [], found.violations, found.not_applicable)
