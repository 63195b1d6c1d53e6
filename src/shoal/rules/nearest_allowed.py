"""The allowed values nearest in meaning: of categories, and of dates, which no projection reaches.

Where a rule does not allow what an aggregator gave, the group releases what the same aggregator would have given among
what is allowed: the centroid, the median, the mode restricted to it. Columns that rules tie together are chosen
together, over all combinations of their values, by the summed distance of the values of the group from them; that is
exact as long as there are not too many combinations. Ties go to the lowest code.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod

import numpy as np

from shoal.aggregate.categories import summed_distances
from shoal.aggregate.order_statistics import ORDER_STATISTICS
from shoal.columns.categories import Category
from shoal.kernels.arrays import Flags, Floats, Ints
from shoal.rules.classify import Domain, Equation, Half, Other, Part, Values, Whole
from shoal.rules.evaluate import Observations, evaluate
from shoal.rules.expression import (
    Comparison,
    Condition,
    Integer,
    Member,
    Number,
    Original,
    Text,
    Variable,
    variables_of,
)
from shoal.rules.tuples import Bound, RuledColumn, Tuples

_COMBINATIONS = 50_000  # most combinations of values of columns that rules tie together
_PIECE = 1 << 22  # cells of a table of groups by combinations that are filled at a time
_SLACK = 1e-9  # relative difference of sums that counts as none


def move_to_allowed(tuples: Tuples, bounds: Sequence[Bound], chosen: Ints, codes: Floats, there: Flags) -> Floats:
    """Return the tuples of some groups with categories and dates that the parts of rules allow, as near as there are.

    Parameters
    ----------
    tuples : Tuples
        The groups, and the rules about them.
    bounds : list of Bound
        Parts that these groups must keep.
    chosen : int64 (m,)
        The groups.
    codes : float64 (m, d)
        Their tuples.
    there : bool (m, d)
        Which values are released.

    Returns
    -------
    float64 (m, d)
        The same where nothing had to be changed, or nothing is allowed.
    """
    codes = codes.copy()
    for places, conditions in _clusters(tuples, bounds):
        columns = [tuples.columns[j] for j in places]
        candidates = _candidates(columns, conditions, tuples)
        if candidates is None or not len(candidates):
            continue
        at = np.flatnonzero(there[:, places].all(axis=1))
        now = _keeps(columns, conditions, codes[at][:, places], tuples)
        at = at[~now]
        if len(at):
            codes[at[:, None], places] = _nearest(tuples, places, chosen[at], codes[at], candidates)
    return codes


def _clusters(tuples: Tuples, bounds: Sequence[Bound]) -> list[tuple[list[int], list[Condition]]]:
    """Return columns that conditions tie together, by place, and the conditions about them alone."""
    from scipy.cluster.hierarchy import DisjointSet  # slow to import, and most tables have no rules

    usable = {c.name for c in tuples.columns if not c.numeric}
    conditions: list[Condition] = []
    for bound in bounds:
        rule = tuples.rules[bound.rule]
        whole = rule.rule.condition
        if whole is not None and not rule.by_record and set(rule.variables) <= usable:
            conditions.append(whole)  # so that a value of the antecedent may give way, too
        else:
            own = condition_of(bound.part)
            if own is not None and set(variables_of(own)) <= usable:
                conditions.append(own)
    together = DisjointSet(sorted({name for condition in conditions for name in variables_of(condition)}))
    for condition in conditions:
        first, *rest = variables_of(condition)
        for name in rest:
            together.merge(first, name)
    return [
        (
            sorted(tuples.place[name] for name in names),
            [c for c in dict.fromkeys(conditions) if variables_of(c)[0] in names],
        )
        for names in together.subsets()
    ]


def condition_of(part: Part) -> Condition | None:
    """Return a part as a condition; None where it is arithmetic, which neither categories nor dates have.

    >>> condition_of(Domain("town"))
    Original(name='town')
    """
    match part:
        case Values(name, constants):
            return Member(Variable(name), tuple(Text(v) if isinstance(v, str) else Number(v) for v in constants))
        case Domain(name):
            return Original(name)
        case Whole(name):
            return Integer(Variable(name))
        case Equation(comparison):
            return comparison
        case Half(form, strict) if len(form.coefficients) == 2 and form.constant == 0:
            (low, a), (high, b) = sorted(form.coefficients.items(), key=lambda item: -item[1])
            return Comparison("<" if strict else "<=", Variable(low), Variable(high)) if a == -b else None
        case Other(condition):
            return condition
    return None


def _candidates(columns: Sequence[RuledColumn], conditions: Sequence[Condition], tuples: Tuples) -> Floats | None:
    """Return the combinations of values that conditions allow; None where there are too many to look at."""
    lists = []
    for column in columns:
        own = [c for c in conditions if variables_of(c) == (column.name,)]
        codes = values_of(column)[:, None]
        lists.append(codes[_keeps([column], own, codes, tuples), 0])
    if prod(map(len, lists)) > _COMBINATIONS:
        return None
    every = np.array(list(product(*lists)), dtype=np.float64).reshape(-1, len(columns))
    return every[_keeps(columns, [c for c in conditions if len(variables_of(c)) > 1], every, tuples)]


def values_of(column: RuledColumn) -> Floats:
    """Return the codes that a column may release: all of its categories, or the dates that occur."""
    if isinstance(column.column, Category):
        return np.arange(len(column.column.names), dtype=np.float64)
    return np.unique(column.column.values[column.column.observed]).astype(np.float64)


def _keeps(columns: Sequence[RuledColumn], conditions: Sequence[Condition], codes: Floats, tuples: Tuples) -> Flags:
    """Whether combinations of codes (m, columns) break none of some conditions."""
    every = np.ones(len(codes), dtype=bool)
    seen: dict[str, Observations] = {
        c.name: c.as_observations(codes[:, j].astype(c.column.values.dtype), every) for j, c in enumerate(columns)
    }
    found = every.copy()
    for condition in conditions:
        own = {name: seen[name] for name in variables_of(condition)}
        found &= ~evaluate(condition, own, tuples.original).violated
    return found


def _nearest(tuples: Tuples, places: Sequence[int], chosen: Ints, codes: Floats, candidates: Floats) -> Floats:
    """Return the nearest of some combinations for each of some groups."""
    known = [values_of(tuples.columns[j]) for j in places]
    at = [np.searchsorted(values, candidates[:, p]) for p, values in enumerate(known)]
    result = np.empty((len(chosen), len(places)))
    step = max(1, _PIECE // len(candidates))
    for start in range(0, len(chosen), step):
        piece = slice(start, start + step)
        total = np.zeros((len(chosen[piece]), len(candidates)))
        for p, j in enumerate(places):
            total += costs(tuples, j, chosen[piece], codes[piece, j])[:, at[p]]
        slack = _SLACK * np.maximum(total.max(axis=1, keepdims=True), 1.0)
        result[piece] = candidates[(total <= total.min(axis=1, keepdims=True) + slack).argmax(axis=1)]
    return result


def costs(tuples: Tuples, j: int, chosen: Ints, targets: Floats) -> Floats:
    """Return how far each value of a column is from the records of some groups on average, (groups, values).

    What far means is what the aggregator of the column has the least of: the summed distance of a centroid or a
    median, its squares, or how many records have another value; of an order statistic, and of dates, the distance from
    ``targets`` (groups,), which are what was aggregated.
    """
    ruled = tuples.columns[j]
    column = ruled.column
    if not isinstance(column, Category):
        spread = (ruled.high - ruled.low) or 1.0
        return np.asarray(((values_of(ruled)[None, :] - targets[:, None]) / spread) ** 2)
    if ruled.aggregator in ORDER_STATISTICS and column.distances is not None:
        return column.distances[targets.astype(np.int64)]
    rows, places = tuples.rows_of(chosen)
    seen = column.observed[rows]
    rows, places = rows[seen], places[seen]
    weights = None if tuples.weights is None else tuples.weights[rows]
    total = summed_distances(column.take(rows), places, len(chosen), weights, ruled.aggregator)
    sizes = np.bincount(places, weights, minlength=len(chosen))
    return np.asarray(total / np.maximum(sizes, 1e-300)[:, None])
