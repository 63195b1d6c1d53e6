"""Rules that cannot be kept, told before any work is done: which ones, why, and what to relax.

Linear rules, bounds, lists of values and whole numbers are put to a solver as one program for each component of
columns. Where nothing satisfies it, rules are left out one by one while the rest still contradicts itself: what remains
is a smallest set of rules that contradict each other.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from shoal.errors import listed
from shoal.kernels.arrays import Flags
from shoal.rules.classify import Classified, Equation, Half, Values, Whole
from shoal.rules.components import components
from shoal.rules.preferring import hard
from shoal.rules.tuples import names_of

_STRICT = 1e-5  # more than the solver's tolerance


def conflicts(
    rules: Sequence[Classified],
    sets: Sequence[Sequence[str]],
    columns: Sequence[str],
    whole: Collection[str],
    held: Mapping[str, Flags],
    by_column: str = "",
) -> list[str]:
    """Say which rules cannot be kept with these sets of quasi-identifiers.

    Parameters
    ----------
    rules : list of Classified
        All rules.
    sets : list of lists of str
        Columns that are microaggregated together.
    columns : list of str
        Columns of the table.
    whole : set of str
        Columns of whole numbers.
    held : dict of bool (n,)
        Records that do not break each rule, by name: rules that one record satisfies do not contradict each other.
    by_column : str
        Name of the method where it groups columns one by one.

    Examples
    --------
    >>> from shoal.rules.classify import classify
    >>> from shoal.rules.grammar import parse_rule
    >>> rules = [classify(parse_rule(text)) for text in ("low: A <= 3", "high: A >= B", "B > 3", "B < 9")]
    >>> conflicts(rules, [["A", "B"]], ["A", "B"], [], {rule.name: np.zeros(1, bool) for rule in rules})
    ["rules 'low', 'high' and 'B > 3' contradict each other: no record can satisfy them all; leave one out or relax it"]
    """
    return (
        contradictions(hard(rules), columns, whole, held)
        + _tied_across_sets(rules, sets, by_column)
        + _tied_to_kept(rules, sets)
    )


def _tied_across_sets(rules: Sequence[Classified], sets: Sequence[Sequence[str]], by_column: str) -> list[str]:
    """Say which rules tie columns that are microaggregated separately."""
    home = {name: i for i, names in enumerate(sets) for name in names}
    mistakes = []
    for rule in rules:
        tied = [name for name in rule.variables if name in home]
        if len({home[name] for name in tied}) > 1 and by_column:
            mistakes.append(
                f"rule '{rule.name}' ties {listed(tied)}, and method '{by_column}' groups each column by itself, so "
                "that no common value could keep it; choose another method, or leave the rule out"
            )
        elif len({home[name] for name in tied}) > 1:
            mistakes.append(
                f"rule '{rule.name}' ties {listed(tied)}, which are in different sets of quasi-identifiers, so that "
                "no common value of their groups could keep it; put them into one set, or leave the rule out"
            )
    return mistakes


def _tied_to_kept(rules: Sequence[Classified], sets: Sequence[Sequence[str]]) -> list[str]:
    """Say which equations tie quasi-identifiers to columns that are released as they are."""
    changed = {name for names in sets for name in names}
    mistakes = []
    for rule in rules:
        for part in rule.parts:
            names = names_of(part)
            kept = [name for name in names if name not in changed]
            if isinstance(part, Equation) and not part.slack and kept and len(kept) < len(names):
                mistakes.append(
                    f"rule '{rule.name}' sets {listed([n for n in names if n in changed])} equal to something with "
                    f"{listed(kept)} in it, kept as it is in every record, which no common value of a group can be; "
                    f"make {listed(kept)} a quasi-identifier of the same set, or leave the rule out"
                )
    return mistakes


def contradictions(
    rules: Sequence[Classified], columns: Sequence[str], whole: Collection[str], held: Mapping[str, Flags]
) -> list[str]:
    """Say which rules no record can satisfy together."""
    mistakes = []
    for together, _ in components(rules, columns):
        told = [rule for rule in together if any(isinstance(p, Half | Equation | Values | Whole) for p in rule.parts)]
        if not told or np.logical_and.reduce([held[rule.name] for rule in told]).any() or _satisfiable(told, whole):
            continue
        for rule in list(told):
            rest = [other for other in told if other is not rule]
            if rest and not _satisfiable(rest, whole):
                told = rest
        names = [f"'{rule.name}'" for rule in told]
        if len(names) == 1:
            mistakes.append(f"rule {names[0]} contradicts itself: no record can satisfy it; correct it or leave it out")
        else:
            mistakes.append(
                f"rules {', '.join(names[:-1])} and {names[-1]} contradict each other: no record can satisfy them all; "
                "leave one out or relax it"
            )
    return mistakes


def _satisfiable(rules: Sequence[Classified], whole: Collection[str]) -> bool:
    """Whether some numbers satisfy the unconditional linear parts of rules; texts are only compared with each other."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    parts = [part for rule in rules for part in rule.parts]
    if not _lists_agree([part for part in parts if isinstance(part, Values)]):
        return False
    names = list(dict.fromkeys(name for part in parts for name in names_of(part)))
    place = {name: j for j, name in enumerate(names)}
    integral = np.array([float(n in whole or Whole(n) in parts) for n in names])
    low, high = np.full(len(names), -np.inf), np.full(len(names), np.inf)
    rows, lows, highs = [], [], []
    for part in parts:
        if isinstance(part, Values):
            numbers = [float(v) for v in part.constants if not isinstance(v, str)]
            if len(numbers) == len(part.constants):
                j = place[part.name]
                low[j], high[j] = max(low[j], min(numbers)), min(high[j], max(numbers))
        if not isinstance(part, Half | Equation) or part.form is None:
            continue
        row = np.zeros(len(names))
        for name, coefficient in part.form.coefficients.items():
            row[place[name]] = float(coefficient)
        end = -float(part.form.constant)
        if isinstance(part, Half) and part.strict:
            all_whole = all(integral[place[name]] for name in part.form.coefficients)
            whole_form = all(c.denominator == 1 for c in part.form.coefficients.values())
            end -= 1.0 if all_whole and whole_form and end == int(end) else _STRICT * max(1.0, abs(end))
        slack = float(part.slack) if isinstance(part, Equation) else np.inf
        rows.append(row)
        lows.append(end - slack)
        highs.append(end + slack if isinstance(part, Equation) else end)
    if (low > high).any():
        return False
    if not rows and not integral.any():
        return True
    limits = [LinearConstraint(np.array(rows), np.array(lows), np.array(highs))] if rows else []
    found = milp(
        np.zeros(len(names)),
        integrality=integral,
        bounds=Bounds(low, high),
        constraints=limits,
        options={"node_limit": 10_000},
    )
    return bool(found.status != 2)  # infeasible


def _lists_agree(lists: Sequence[Values]) -> bool:
    """Whether each column has a value that all of its lists allow."""
    allowed: dict[str, set[str | float]] = {}
    for part in lists:
        constants = {v if isinstance(v, str) else float(v) for v in part.constants}
        allowed[part.name] = allowed.get(part.name, constants) & constants
    return all(allowed.values())
