"""Keep rules: released values of a set of quasi-identifiers are changed where they would break one.

Columns that share rules, directly or through others, are a component and are treated together. Each group goes through
this, and leaves as soon as its tuple keeps all of them, at the precision at which it will be released:

1. what the aggregators gave;
2. projected and derived (:mod:`shoal.rules.settling`), and categories moved to the nearest that are allowed
   (:mod:`shoal.rules.nearest_allowed`): the nearest of what keeps the consequents of all antecedents that came out
   true, with slack or without, and what makes the antecedents of broken rules false;
3. the nearest whole numbers by a mixed-integer program (:mod:`shoal.rules.solving`);
4. the nearest record of the group that keeps the rules, then of the table (:mod:`shoal.rules.records`);
5. nothing: the columns of the rules that would be broken are suppressed in the group.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from shoal.kernels.arrays import Flags, Floats, Ints, Numbers
from shoal.kernels.representatives import Grouping, group_rows
from shoal.rules.classify import Classified, Equation, Part
from shoal.rules.components import components
from shoal.rules.evaluate import Observations
from shoal.rules.nearest_allowed import costs, move_to_allowed
from shoal.rules.preferring import keep_preferences
from shoal.rules.records import nearest_donor, nearest_record
from shoal.rules.refuting import refutations
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
    """How the rules of a component were kept: groups by way, and the columns that were derived.

    ``broken`` is in how many records each rule would be broken by what the aggregators gave, ``by_group`` the way of
    each group.
    """

    rules: tuple[str, ...]
    columns: tuple[str, ...]
    ways: Ints
    derived: dict[str, tuple[str, ...]]
    broken: dict[str, int] = field(default_factory=dict)
    by_group: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))


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
        self.codes: Floats = self.on_grids(np.column_stack([values for values, _ in found]))
        self.there: Flags = np.column_stack([there for _, there in found])
        self.given = self.codes.copy()
        self.targets: Floats = self.natural(self.codes)
        self.ways = np.zeros(tuples.count, dtype=np.int64)
        every = np.arange(tuples.count)
        each = tuples.broken(every, self.codes, self.there)
        broken = each.any(axis=1)
        sizes = np.diff(tuples.grouping.starts)
        self.records = {rule.name: int(sizes[each[:, i]].sum()) for i, rule in enumerate(tuples.rules)}
        self.loose = every[~broken & tuples.loose(every, self.codes, self.there)]
        self.bad = every[broken]
        self.best = np.full(tuples.count, np.inf)  # squared distance of what was taken from the target

    def on_grids(self, codes: Floats) -> Floats:
        """Return tuples as they will be written."""
        for j, column in enumerate(self.tuples.columns):
            if column.decimal and column.grid:
                codes[:, j] = on_grid(codes[:, j], column.grid)
        return codes

    def natural(self, codes: Floats) -> Floats:
        return np.column_stack([c.natural(codes[:, j]) for j, c in enumerate(self.tuples.columns)])

    def coded(self, numbers: Floats) -> Floats:
        columns = self.tuples.columns
        return np.column_stack([c.coded(numbers[:, j]).astype(np.float64) for j, c in enumerate(columns)])

    def offer(self, chosen: Ints, codes: Floats, way: int) -> None:
        """Take new tuples for some groups where they keep all rules and are nearer than what was taken before."""
        there = self.there[chosen]
        good = ~self.tuples.broken(chosen, codes, there).any(axis=1)
        for j, column in enumerate(self.tuples.columns):
            # its type may not hold what is outside the range of the original, and no rule may know it
            if not column.coded_names:
                good &= ((codes[:, j] >= column.low) & (codes[:, j] <= column.high)) | ~there[:, j]
        away = self.distances(chosen, codes)
        good &= away < self.best[chosen]
        self.best[chosen[good]] = away[good]
        self.codes[chosen[good]] = codes[good]
        self.ways[chosen[good]] = way
        self.bad = np.setdiff1d(self.bad, chosen[good], assume_unique=True)

    def distances(self, chosen: Ints, codes: Floats) -> Floats:
        """Return squared distances of tuples from their targets in standard deviations, of categories in meaning."""
        away = np.zeros(len(chosen))
        numbers, there = self.natural(codes), self.there[chosen]
        for j, column in enumerate(self.tuples.columns):
            if column.coded_names:
                far = costs(self.tuples, j, chosen, self.targets[chosen, j])
                gaps = far[np.arange(len(chosen)), codes[:, j].astype(np.int64)] - far.min(axis=1)
            else:
                gaps = ((numbers[:, j] - self.targets[chosen, j]) / (column.scale or 1.0)) ** 2
            away += np.where(there[:, j], gaps, 0.0)
        return away


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
        candidate = _settled(state, left, active, derived)
        state.offer(left, candidate, CONSTRUCTED)
        _offer_others(state, left, active, derived)
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
        names,
        tuple(c.name for c in tuples.columns),
        np.bincount(state.ways, minlength=len(WAYS)),
        derived,
        state.records,
        state.ways,
    )
    return changed, account


def _settled(
    state: _State,
    chosen: Ints,
    active: Flags,
    derived: dict[str, tuple[str, ...]],
    instead: Sequence[Sequence[Part]] = (),
    tight: bool = False,
) -> Floats:
    """Return tuples of some groups that keep their active parts, as far as the construction succeeds."""
    candidate = state.codes[chosen].copy()
    for settling, bounds, at in _alike(state.tuples, chosen, active, instead, tight):
        candidate[at] = state.coded(settling.settle(state.targets[chosen[at]]))
        candidate[at] = move_to_allowed(state.tuples, bounds, chosen[at], candidate[at], state.there[chosen[at]])
        for found in settling.derivation.derived:
            needs = tuple(name for name in found.equation.variables if name != found.name)
            derived.setdefault(found.name, needs)
    return candidate


def _offer_others(state: _State, chosen: Ints, active: Flags, derived: dict[str, tuple[str, ...]]) -> None:
    """Offer tuples that use no slack, and those that make antecedents false instead of keeping what they ask for."""
    tuples = state.tuples
    if any(isinstance(bound.part, Equation) and bound.part.slack for bound in tuples.parts):
        state.offer(chosen, _settled(state, chosen, active, derived, tight=True), CONSTRUCTED)
    known = {b.antecedent: refutations(b.antecedent) for b in tuples.parts if b.antecedent is not None}
    most = max(map(len, known.values()), default=0)
    if not most:
        return
    broken = tuples.broken(chosen, state.given[chosen], state.there[chosen])
    asked = [b.antecedent is not None and bool(known[b.antecedent]) for b in tuples.parts]
    turned = active & np.array(asked) & broken[:, [bound.rule for bound in tuples.parts]]
    some = turned.any(axis=1)
    for i in range(most if some.any() else 0):
        # a part whose antecedent is to be false is replaced by what makes it so
        ways = [known[b.antecedent] if b.antecedent is not None else [] for b in tuples.parts]
        instead = [way[min(i, len(way) - 1)] if way else () for way in ways]
        both = np.concatenate([active[some] & ~turned[some], turned[some]], axis=1)
        state.offer(chosen[some], _settled(state, chosen[some], both, derived, instead), CONSTRUCTED)


def _alike(
    tuples: Tuples,
    chosen: Ints,
    active: Flags,
    instead: Sequence[Sequence[Part]] = (),
    tight: bool = False,
) -> list[tuple[Settling, list[Bound], Ints]]:
    """Put groups together that must keep the same parts; returns how to settle them, the parts, and their places.

    ``active`` has further columns for what some keep ``instead``; with ``tight`` no slack is used.
    """
    if not len(chosen):
        return []
    kinds, of = np.unique(active, axis=0, return_inverse=True)
    every = [[bound] for bound in tuples.parts]
    pairs = zip(tuples.parts, instead, strict=False)  # there may be nothing instead
    every += [[Bound(own.rule, part, None) for part in parts] for own, parts in pairs]
    found = []
    for i, kind in enumerate(kinds):
        at = np.flatnonzero(of.reshape(-1) == i)
        bounds = [bound for own, needed in zip(every, kind, strict=True) if needed for bound in own]
        parts = [bound.part for bound in bounds]
        if tight:
            parts = [replace(p, slack=Fraction(0)) if isinstance(p, Equation) else p for p in parts]
        found.append((Settling(tuples, parts, chosen[at]), bounds, at))
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
        codes = state.on_grids(codes)
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
