"""Soft rules: ``prefer 0.5 A <= B`` is kept where that moves a group by no more than its weight.

A weight is a squared distance in standard deviations: the released values of a group move from what the hard rules
alone would give, by one standard deviation in one column, say, which is 1 (categories by the distance in meaning, 0 to
1). Soft rules are tried one by one, the heaviest first. Each is added in all groups that break it, and stays in those
in which the squared distance of the values from what was aggregated grows by no more than the weight; a record of the
group, or a suppressed value, is never taken for it. No table is refused and no release fails for a soft rule.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from shoal.kernels.arrays import Flags, Floats, Ints
from shoal.rules.classify import Classified

USUAL_WEIGHT = 1.0  # one standard deviation in one column
_PREFIX = re.compile(
    r"""
    (?:\s*(?:"(?:[^"]|"")*"|'(?:[^']|'')*'|[^:'"`]*):\s*|\s*)
    (?P<prefer>prefer\b(?:\s+(?P<weight>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?))?)
    \s+(?!(?:in|is|from|not\s+in|mod|and|or|unchanged|within)\b)(?=[\w`('"])
    """,
    re.VERBOSE,
)


def preference(text: str) -> tuple[str, float | None]:
    """Return a rule without the ``prefer`` before its condition, at the same places, and its weight; None if hard.

    >>> preference("low: prefer 0.5 A <= B")
    ('low:            A <= B', 0.5)
    >>> preference("prefer <= 3")
    ('prefer <= 3', None)
    """
    found = _PREFIX.match(text)
    if found is None:
        return text, None
    start, end = found.span("prefer")
    weight = USUAL_WEIGHT if found["weight"] is None else float(found["weight"])
    return text[:start] + " " * (end - start) + text[end:], weight


def hard(rules: Sequence[Classified]) -> list[Classified]:
    """Return the rules that must be kept."""
    return [rule for rule in rules if rule.rule.weight is None]


def keep_preferences(
    rules: Sequence[Classified],
    held: Mapping[str, Flags],
    groups: Ints,
    attempt: Callable[[Sequence[Classified], Mapping[str, Flags]], Floats],
) -> tuple[list[Classified], dict[str, Flags]]:
    """Choose the groups in which each soft rule is kept.

    Parameters
    ----------
    rules : list of Classified
        Rules of a component, hard and soft.
    held : dict of bool (n,)
        Where each was not broken before, by name.
    groups : int64 (n,)
        Group of each record.
    attempt : callable
        ``attempt(rules, held)`` keeps rules where they held, and returns the squared distance of each group from what
        was aggregated; infinite where a record or nothing is released.

    Returns
    -------
    rules : list of Classified
        Hard rules, and soft ones that some group keeps.
    held : dict of bool (n,)
        Where each is to be kept.
    """
    kept, where = hard(rules), dict(held)
    soft = [rule for rule in rules if rule.rule.weight is not None]
    if not soft:
        return kept, where
    now = attempt(kept, where) if kept else np.zeros(int(groups.max()) + 1)
    for rule in sorted(soft, key=lambda rule: -(rule.rule.weight or 0.0)):
        then = attempt([*kept, rule], where)
        # infinite in both where a hard rule makes a group release a record: nothing more is asked of it
        grown = np.where(np.isfinite(then), then, np.inf) - np.where(np.isfinite(now), now, 0.0)
        taken = np.isfinite(then) & (grown <= (rule.rule.weight or 0.0) + 1e-12)
        where[rule.name] = held[rule.name] & taken[groups]
        kept.append(rule)
        now = np.where(taken, then, now)
    return kept, where
