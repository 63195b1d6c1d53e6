"""Keep rules: released values of a set of quasi-identifiers are changed where they would break one.

Columns that share rules, directly or through others, are a component and are treated together. Each group goes through
this, and leaves as soon as its tuple keeps all of them, at the precision at which it will be released:

1. what the aggregators gave;
2. projected and derived (:mod:`shoal.rules.settling`), and categories moved to the nearest that are allowed
   (:mod:`shoal.rules.nearest_allowed`), with the consequents of all antecedents that came out true;
3. the nearest whole numbers by a mixed-integer program (:mod:`shoal.rules.solving`);
4. the nearest record of the group that keeps the rules, then of the table (:mod:`shoal.rules.records`);
5. nothing: the columns of the rules that would be broken are suppressed in the group.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from shoal.kernels.arrays import Flags, Floats, Ints, Numbers
from shoal.kernels.representatives import Grouping, group_rows
from shoal.rules.classify import Classified
from shoal.rules.evaluate import Observations
from shoal.rules.nearest_allowed import costs, move_to_allowed
from shoal.rules.preferring import keep_preferences
from shoal.rules.records import nearest_donor, nearest_record
from shoal.rules.settling import Settling, on_grid
from shoal.rules.solving import solve_group
from shoal.rules.tuples import Bound, RuledColumn, Tuples

AGGREGATED, CONSTRUCTED, SOLVED, OWN_RECORD, OTHER_RECORD, SUPPRESSED = range(6)
WAYS = ("aggregated", "constructed", "solved", "record of the group", "record of another group", "suppressed")
_PASSES = 3  # antecedents may come true by what was done for others
_PROGRAMS = 1000  # most mixed-integer programs of a component: what is left takes a record

Released = tuple[Numbers, Flags]


@dataclass(frozen=True)
class Account:
    """How the rules of a component were kept: groups by way, derived columns, and the way of each group."""

    rules: tuple[str, ...]
    columns: tuple[str, ...]
    ways: Ints
    derived: dict[str, tuple[str, ...]]
    by_group: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))


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


def keep_rules(
    columns: Sequence[RuledColumn],
    released: Sequence[Released],
    groups: Ints,
    rules: Sequence[Classified],
    outside: Mapping[str, Observations],
    held: Mapping[str, Flags],
    *,
    weights: Floats | None = None,
) -> tuple[list[Released], list[Account]]:
    """Change released values of a set where they would break a rule.

    Parameters
    ----------
    columns : list of RuledColumn
        Columns of the set, in its order.
    released : list of (values, observed)
        What the aggregators gave, as values of the columns.
    groups : int64 (n,)
        Group of each record, from 0.
    rules : list of Classified
        Rules that need at least one of the columns.
    outside : dict of Observations
        Other columns that rules need, which stay as they are.
    held : dict of bool (n,)
        Where each rule was not broken before, by name.
    weights : float64 (n,), optional
        Sampling weights.

    Returns
    -------
    released : list of (values, observed)
        The same with every rule kept in every record in which it held.
    accounts : list of Account
        How, for each component.
    """
    grouping = group_rows(groups)
    result = list(released)
    accounts = []
    place = {c.name: j for j, c in enumerate(columns)}
    for together, names in components(rules, list(place)):
        tied = [columns[place[name]] for name in names]
        own = [released[place[name]] for name in names]

        def attempt(
            some: Sequence[Classified],
            where: Mapping[str, Flags],
            tied: Sequence[RuledColumn] = tied,
            own: Sequence[Released] = own,
        ) -> Floats:
            tuples = Tuples(tied, some, groups, grouping, outside, where, weights=weights)
            return _moved(tuples, own, *_keep(tuples, own))

        kept, where = keep_preferences(together, held, groups, attempt)
        tuples = Tuples(tied, kept, groups, grouping, outside, where, weights=weights)
        changed, account = _keep(tuples, own)
        for name, part in zip(names, changed, strict=True):
            result[place[name]] = part
        accounts.append(account)
    return result, accounts


class _State:
    """Tuples as far as they have got: codes (groups, d), which are there, how each group was dealt with."""

    def __init__(self, tuples: Tuples, released: Sequence[Released]) -> None:
        self.tuples = tuples
        found = [_by_group(values, seen, tuples.grouping) for values, seen in released]
        self.codes: Floats = np.column_stack([values for values, _ in found])
        for j, column in enumerate(tuples.columns):
            if column.decimal and column.grid:  # as it will be written
                self.codes[:, j] = on_grid(self.codes[:, j], column.grid)
        self.there: Flags = np.column_stack([there for _, there in found])
        self.targets: Floats = self.natural(self.codes)
        self.ways = np.zeros(tuples.count, dtype=np.int64)
        every = np.arange(tuples.count)
        broken = tuples.broken(every, self.codes, self.there).any(axis=1)
        self.loose = every[~broken & tuples.loose(every, self.codes, self.there)]
        self.bad = every[broken]

    def natural(self, codes: Floats) -> Floats:
        return np.column_stack([c.natural(codes[:, j]) for j, c in enumerate(self.tuples.columns)])

    def coded(self, numbers: Floats) -> Floats:
        columns = self.tuples.columns
        return np.column_stack([c.coded(numbers[:, j]).astype(np.float64) for j, c in enumerate(columns)])

    def offer(self, chosen: Ints, codes: Floats, way: int) -> None:
        """Take new tuples for some of the groups that are left where they keep all rules."""
        there = self.there[chosen]
        good = ~self.tuples.broken(chosen, codes, there).any(axis=1)
        for j, column in enumerate(self.tuples.columns):
            # its type may not hold what is outside the range of the original, and no rule may know it
            if not column.coded_names:
                good &= ((codes[:, j] >= column.low) & (codes[:, j] <= column.high)) | ~there[:, j]
        self.codes[chosen[good]] = codes[good]
        self.ways[chosen[good]] = way
        self.bad = np.setdiff1d(self.bad, chosen[good], assume_unique=True)


def _moved(tuples: Tuples, released: Sequence[Released], changed: Sequence[Released], account: Account) -> Floats:
    """Return the squared distance that each group was moved, in standard deviations, of categories in meaning."""
    every = np.arange(tuples.count)
    moved = np.where(account.by_group > SOLVED, np.inf, 0.0)
    for j, (column, before, after) in enumerate(zip(tuples.columns, released, changed, strict=True)):
        old, there = _by_group(*before, tuples.grouping)
        new = _by_group(*after, tuples.grouping)[0]
        if column.coded_names:
            far = costs(tuples, j, every, old)
            gaps = far[every, new.astype(np.int64)] - far[every, old.astype(np.int64)]
        else:
            gaps = ((column.natural(new) - column.natural(old)) / (column.scale or 1.0)) ** 2
        moved += np.where(there, gaps, 0.0)
    return moved


def _keep(tuples: Tuples, released: Sequence[Released]) -> tuple[list[Released], Account]:
    """Take the groups of a component through all steps."""
    state = _State(tuples, released)
    derived: dict[str, tuple[str, ...]] = {}
    state.bad = np.union1d(state.bad, state.loose)
    active = tuples.active(state.bad, state.codes[state.bad], state.there[state.bad])
    for _ in range(_PASSES):
        if not len(state.bad):
            break
        left = state.bad
        candidate = state.codes[left].copy()
        for settling, bounds, at in _alike(tuples, left, active):
            candidate[at] = state.coded(settling.settle(state.targets[left[at]]))
            candidate[at] = move_to_allowed(tuples, bounds, left[at], candidate[at], state.there[left[at]])
            for found in settling.derivation.derived:
                needs = tuple(name for name in found.equation.variables if name != found.name)
                derived.setdefault(found.name, needs)
        state.offer(left, candidate, CONSTRUCTED)
        now = active | tuples.active(left, candidate, state.there[left])
        again = np.isin(left, state.bad)
        unchanged = bool((now == active)[again].all())
        active = now[again]
        if unchanged:
            break
    # what holds up to the rounding of floats may stay where nothing better was found
    active = active[np.isin(state.bad, state.loose, invert=True)]
    state.bad = np.setdiff1d(state.bad, state.loose)
    _solve(state, active)
    _take_records(state)
    if len(state.bad):
        _suppress(state)
    changed = [_spread(tuples, j, state, values, seen) for j, (values, seen) in enumerate(released)]
    names = tuple(rule.name for rule in tuples.rules)
    account = Account(
        names, tuple(c.name for c in tuples.columns), np.bincount(state.ways, minlength=len(WAYS)), derived, state.ways
    )
    return changed, account


def _alike(tuples: Tuples, chosen: Ints, active: Flags) -> list[tuple[Settling, list[Bound], Ints]]:
    """Put groups together that must keep the same parts; returns how to settle them, the parts, and their places."""
    if not len(chosen):
        return []
    kinds, of = np.unique(active, axis=0, return_inverse=True)
    found = []
    for i, kind in enumerate(kinds):
        at = np.flatnonzero(of.reshape(-1) == i)
        bounds = [bound for bound, needed in zip(tuples.parts, kind, strict=True) if needed]
        found.append((Settling(tuples, [bound.part for bound in bounds], chosen[at]), bounds, at))
    return found


def _solve(state: _State, active: Flags) -> None:
    """Look for whole numbers where rounding broke linear rules."""
    left = state.bad[:_PROGRAMS]
    numbers = state.targets[left].copy()
    solved = np.zeros(len(left), dtype=bool)
    for settling, _, at in _alike(state.tuples, left, active[:_PROGRAMS]):
        if not settling.grids or any(e.form is None for e in settling.system.equations):
            continue
        for i, place in enumerate(at.tolist()):
            found = solve_group(settling, state.targets[left[place]], i)
            if found is not None:
                numbers[place], solved[place] = found, True
    if solved.any():
        state.offer(left[solved], state.coded(numbers[solved]), SOLVED)


def _take_records(state: _State) -> None:
    """Release the tuple of a record."""
    tuples = state.tuples
    for way in (OWN_RECORD, OTHER_RECORD):
        left = state.bad
        if way == OTHER_RECORD:
            left = left[state.there[left].all(axis=1)]
        if not len(left):
            continue
        if way == OWN_RECORD:
            rows = nearest_record(tuples, left, state.targets[left], state.there[left])
        else:
            rows = nearest_donor(tuples, left, state.targets[left])
        found = rows >= 0
        codes = np.column_stack([c.column.values[rows[found]].astype(np.float64) for c in tuples.columns])
        state.offer(left[found], codes, way)


def _suppress(state: _State) -> None:
    """Suppress the columns of the rules that are broken, until none is."""
    tuples = state.tuples
    for _ in range(len(tuples.rules) + 1):
        left = state.bad
        broken = tuples.broken(left, state.codes[left], state.there[left])
        for i, rule in enumerate(tuples.rules):
            for name in rule.variables:
                if name in tuples.place:
                    state.there[left[broken[:, i]], tuples.place[name]] = False
        state.ways[left] = SUPPRESSED
        state.bad = left[broken.any(axis=1)]
        if not len(state.bad):
            break


def _by_group(values: Numbers, seen: Flags, grouping: Grouping) -> tuple[Floats, Flags]:
    """Return the released value of each group, and whether it has one."""
    groups = len(grouping.starts) - 1
    out, there = np.zeros(groups), np.zeros(groups, dtype=bool)
    of = np.repeat(np.arange(groups), np.diff(grouping.starts))
    shown = seen[grouping.order]
    out[of[shown]] = values[grouping.order][shown].astype(np.float64)
    there[of[shown]] = True
    return out, there


def _spread(tuples: Tuples, j: int, state: _State, values: Numbers, seen: Flags) -> Released:
    """Return values and which there are by record again; groups that kept what they had are not touched."""
    changed = ((state.ways != AGGREGATED) | tuples.columns[j].decimal)[tuples.groups]
    if not changed.any():
        return values, seen
    column = tuples.columns[j].column
    codes = state.codes[:, j] if column.values.dtype.kind == "f" else state.codes[:, j].astype(np.int64)
    seen = seen & state.there[tuples.groups, j]
    return np.where(seen, np.where(changed, codes[tuples.groups], values), 0), seen
