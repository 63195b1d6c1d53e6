"""Error localisation: the fewest cells of a record that must change so that it can keep all rules.

After I. P. Fellegi and D. Holt, A systematic approach to automatic edit and imputation, Journal of the American
Statistical Association 71, 1976: of all sets of cells with which a record can be made right, the one with the least
summed weight. A set of cells that cannot make it right shows that one of the others has to change; the lightest set
that meets all of these demands is tried next, until one can (implicit hitting sets). Nothing is changed, and no value
is shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from shoal.columns.hierarchy import name_of
from shoal.errors import PlanError, did_you_mean
from shoal.kernels.arrays import Floats
from shoal.plan.reading import Reading
from shoal.rules.checking import RuleTable, check_fit, verdict_of
from shoal.rules.classify import classify
from shoal.rules.components import components
from shoal.rules.evaluate import Observations
from shoal.rules.expression import Comparison, Member, Number, Text, Variable, walk
from shoal.rules.findings import orders_of, rules_of
from shoal.rules.repairs import Cells, Repair, unanswerable
from shoal.rules.rule import Rule
from shoal.tables.reading import read

_ROUNDS = 1000  # sets of cells that are tried for a record


@dataclass(frozen=True)
class Localisation:
    """Which cells must change so that all rules can hold.

    Attributes
    ----------
    records : int
        Records of the table.
    broken : int
        Records that break a rule.
    cells : dict of int to list of str
        The columns to change in each of them, by the number of the record, from 1.
    by_column : dict of str to int
        How many cells of each column that is, the most first.
    not_handled : dict of str to str
        Rules that were left out, with the reason.
    unsolved : list of int
        Numbers of records in which no change of cells was found that keeps the rules.
    """

    records: int
    broken: int
    cells: dict[int, list[str]]
    by_column: dict[str, int]
    not_handled: dict[str, str]
    unsolved: list[int]

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers, texts and lists."""
        return asdict(self)


def localise_errors(
    data: Any,
    rules: str | Path | Sequence[str] | Mapping[str, str],
    *,
    weights: Mapping[str, float] | None = None,
    orders: Mapping[str, Sequence[str]] | None = None,
    reading: Reading | Mapping[str, Any] | None = None,
) -> Localisation:
    """Find the fewest cells of each record that must change so that all rules can hold; nothing is changed.

    Parameters
    ----------
    data : table or path
        The table.
    rules : list of str, dict of str, or path
        As for :func:`shoal.check_rules`. Linear rules over numbers and dates, and rules over categories, joined in any
        way; others are left out and named in ``not_handled``.
    weights : dict
        How reliable the cells of a column are, 1 where nothing is said: of two sets of cells the lighter one is taken.
    orders : dict
        Values of a column from the lowest to the highest.
    reading : dict
        How a text file is read.

    Returns
    -------
    Localisation
        The columns to change by record, and how many by column.

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.DataFrame({"wages": [10, 10], "other": [5, 500], "costs": [15, 15]})
    >>> found = localise_errors(table, ["costs = wages + other", "wages >= 0"])
    >>> found.cells
    {2: ['other']}
    """
    asked = rules_of(rules)
    levels = orders_of(rules) if orders is None else {name: tuple(map(str, given)) for name, given in orders.items()}
    source, table = read(data, {"reading": reading} if reading is not None else {})
    checked = RuleTable(table, source, orders=levels)
    check_fit(asked, checked)
    weight_of = _weights(weights or {}, table.names)
    needed = {name for rule in asked for name in rule.variables}
    observations = checked.observations([name for name in table.names if name in needed])
    cells = _cells(asked, observations)
    handled: list[Rule] = []
    reasons: dict[str, str] = {}
    for rule in asked:
        reason = "only an XPath engine can check it"
        if rule.weight is not None:
            reason = "it is a soft rule"
        elif rule.condition is not None:
            reason = unanswerable(rule.condition, cells) or ""
        if reason:
            reasons[rule.name] = reason
        else:
            handled.append(rule)
    broken = {rule.name: verdict_of(rule, checked).violated for rule in handled}
    rows = np.flatnonzero(np.logical_or.reduce([np.zeros(len(table), dtype=bool), *broken.values()]))
    found: dict[int, list[str]] = {}
    unsolved: list[int] = []
    for row in rows.tolist():
        changed: list[str] = []
        possible = True
        for together, names in components([classify(rule) for rule in handled], list(observations)):
            wrong = [rule for rule in together if broken[rule.name][row]]
            own = {name: _row(observations[name], row) for name in names}
            if not wrong and all(one.observed[0] for one in own.values()):
                continue  # and where a cell is missing, the others may leave nothing to fill it with
            repair = Repair(own, [r.rule.condition for r in together if r.rule.condition is not None], cells)
            best = _lightest(repair, [set(rule.variables) for rule in wrong], names, weight_of)
            if best is None:
                possible = False
            else:
                changed += best
        if possible:
            found[row + 1] = changed
        else:
            unsolved.append(row + 1)
    counts = Counter(name for columns in found.values() for name in columns)
    return Localisation(len(table), len(rows), found, dict(counts.most_common()), reasons, unsolved)


def _row(one: Observations, row: int) -> Observations:
    return one._replace(values=one.values[row : row + 1], observed=one.observed[row : row + 1])


def _weights(given: Mapping[str, float], names: Sequence[str]) -> dict[str, float]:
    mistakes = [f"weights: column '{n}' is not in the table{did_you_mean(n, names)}" for n in given if n not in names]
    mistakes += [f"weights: that of '{name}' must be above 0" for name, weight in given.items() if not weight > 0.0]
    if mistakes:
        raise PlanError(mistakes)
    return {name: float(given.get(name, 1.0)) for name in names}


def _cells(rules: Sequence[Rule], observations: Mapping[str, Observations]) -> Cells:
    """Say what each column may hold: numbers, or the categories that occur, are in its order or in a rule."""
    numbers = {name for name, one in observations.items() if one.values.dtype.kind != "O" and one.order is None}
    categories: dict[str, dict[str, None]] = {
        name: dict.fromkeys(one.order or map(name_of, sorted(set(one.values[one.observed].tolist()))))
        for name, one in observations.items()
        if name not in numbers
    }
    for node in (node for rule in rules if rule.condition is not None for node in walk(rule.condition)):
        sides: tuple[Any, ...] = ()
        if isinstance(node, Comparison):
            sides = (node.left, node.right)
        elif isinstance(node, Member):
            sides = (node.operand, *node.values)
        for variable in (side for side in sides if isinstance(side, Variable) and side.name in categories):
            if observations[variable.name].order is None:
                constants = [str(side.value) for side in sides if isinstance(side, Number | Text)]
                categories[variable.name].update(dict.fromkeys(constants))
    whole = {name for name in numbers if observations[name].decimals == 0 or _days(observations[name])}
    return Cells(frozenset(numbers), frozenset(whole), {name: tuple(levels) for name, levels in categories.items()})


def _days(one: Observations) -> bool:
    return one.values.dtype == np.dtype("datetime64[D]")


def _lightest(
    repair: Repair, demands: list[set[str]], names: Sequence[str], weight_of: Mapping[str, float]
) -> list[str] | None:
    """Return the lightest set of cells with which a record can be made right, in the order of the columns."""
    there = [name for name in names if name in repair.values]  # missing cells are filled in any case
    demands = [demand & set(there) for demand in demands]
    for _ in range(_ROUNDS):
        if not all(demands):
            return None
        chosen = _hitting(demands, there, weight_of)
        if repair.possible(chosen):
            return [name for name in names if name in chosen]
        for name in sorted(set(there) - chosen, key=lambda name: weight_of[name]):
            if not repair.possible(chosen | {name}):
                chosen = chosen | {name}
        demands.append(set(there) - chosen)
    return None


def _hitting(demands: Sequence[set[str]], names: Sequence[str], weight_of: Mapping[str, float]) -> set[str]:
    """Return the lightest set of columns that has one of each demand; of several as light, that of earlier columns."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    if not demands:
        return set()
    matrix = np.array([[float(name in demand) for name in names] for demand in demands])
    costs: Floats = np.array([weight_of[name] for name in names])
    # of sets as light the same one every time, by a difference that the solver tells
    costs = 100.0 * costs * (1.0 + 1e-5 * np.arange(len(names)))
    found = milp(
        costs,
        integrality=np.ones(len(names)),
        bounds=Bounds(0.0, 1.0),
        constraints=LinearConstraint(matrix, lb=1.0),
        options={"mip_rel_gap": 0.0},
    )
    return {name for name, taken in zip(names, found.x, strict=True) if taken > 0.5}
