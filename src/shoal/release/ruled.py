"""Groups that keep edit rules at the least loss: repair what plain groups release, or keep antecedents apart first.

The plan is run as if it had no rules, and what its groups release is repaired. Then the antecedents of the rules that
were broken are made strata, all of them, and the worst one, two and three; each time the groups are formed and repaired
again. Of all that, each set of quasi-identifiers takes what loses least, and of equals what came first. Where repairs
are dear, records of the plain groups, and of those that lose least, change places, and what is repaired then is taken
where it loses less. So the loss without rules is known at the end.

A search has nothing to find inside strata that it could not find without them, so that these save at most what the
repairs cost: it tries only all of them, and only where repairs cost more than a hundredth of what the groups lose. Each
time the groups of its last cycles are repaired, too, where that of the last groups is as dear. Other methods look no
further either where there are more than 100 000 records and repairs cost no more than that.

A search that has a time takes half of it for the plain groups, where antecedents may follow; they take its steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from shoal.aggregate.sets import Aggregation, ProtectedSet, aggregate_sets
from shoal.kernels.arrays import Ints
from shoal.kernels.numbering import number_keys
from shoal.release.declaring import Declared
from shoal.release.exchanges import exchanged_groups
from shoal.release.grouping import Grouped
from shoal.release.losses import losses_of
from shoal.release.searching import half_time, same_steps
from shoal.rules.accounting import Kept
from shoal.rules.antecedents import Antecedents, split_by_antecedents
from shoal.rules.editing import Editing, antecedents, keep
from shoal.rules.expression import Condition
from shoal.rules.keeping import OTHER_RECORD, OWN_RECORD
from shoal.tables.table import Table

_CHEAP = 0.01  # of what plain groups lose: a search looks no further where repairs cost no more
_LARGE = 100_000  # records that are not grouped again for less
_WORST = 3  # antecedents that are made strata one after the other
_ROUNDS = 3  # in which records change places


Chosen = list[tuple[Condition, ...]]  # antecedents of each set that are strata


@dataclass(frozen=True)
class Forming:
    """How groups are formed.

    Attributes
    ----------
    form : callable
        ``form(plan, strata)`` returns the groups of all sets inside strata.
    regroup : callable
        ``regroup(plan, made, groups)`` returns what was made with other groups, completed in the same way.
    """

    form: Callable[[Declared, Sequence[Ints]], Grouped]
    regroup: Callable[[Declared, Grouped, list[Ints]], Grouped]


@dataclass(frozen=True)
class Ruled:
    """What keeping rules did.

    Attributes
    ----------
    kept : Kept
        How.
    without : list of ProtectedSet or None
        What the same plan would release without rules; None where nobody knows.
    loss_without : float or None
        Its information loss.
    """

    kept: Kept = field(default_factory=Kept)
    without: list[ProtectedSet] | None = None
    loss_without: float | None = None

    def checked(self, broken: Mapping[str, int]) -> Ruled:
        """Return the same with what an engine found in the release."""
        return replace(self, kept=replace(self.kept, checked=broken))

    @property
    def record_tuples(self) -> int:
        """In how many groups the columns of rules have the values of one record."""
        return sum(int(one.ways[[OWN_RECORD, OTHER_RECORD]].sum()) for one in self.kept.accounts)


@dataclass(frozen=True)
class _Attempt:
    """Groups by one choice of antecedents, and what they release and lose once rules are kept."""

    chosen: Chosen
    grouped: Grouped
    protected: list[ProtectedSet]
    kept: Kept
    lost: list[float]


def keep_at_least_loss(
    declared: Declared,
    plain: Declared,
    editing: Editing,
    table: Table,
    *,
    apart: Sequence[Ints],
    forming: Forming,
    how: Aggregation,
    threads: int | None,
) -> tuple[Grouped, list[ProtectedSet], Ruled]:
    """Form groups, and change what they release so that rules are kept.

    Parameters
    ----------
    declared, plain : Declared
        The plan with the aggregators that rules ask for, and without. Both with the cells that are shown.
    editing : Editing
        The rules.
    table : Table
        The original.
    apart : list of int64 (n,)
        Strata of each set.
    forming : Forming
        How groups are formed.
    how : Aggregation
        What all sets are aggregated by.
    threads : int or None
        Threads to use.
    """
    possible = [antecedents(editing, quasi, declared.plan.k) for quasi in declared.sets]
    first_plan = half_time(declared) if any(possible) else declared

    def repaired(chosen: Chosen, grouped: Grouped) -> _Attempt:
        protected, accounts = keep(editing, _released(grouped, declared, how, threads), table, declared.weights)
        pairs = zip(possible, chosen, strict=True)
        used = {name for flags, own in pairs for one in own for name in flags[one][1]}
        return _Attempt(chosen, grouped, protected, Kept(used, accounts), _lost(protected, declared))

    def attempt(by: Declared, chosen: Chosen) -> _Attempt:
        strata = [
            split_by_antecedents(codes, [flags[one][0] for one in own], quasi, by.plan.k)
            for quasi, codes, flags, own in zip(declared.sets, apart, possible, chosen, strict=True)
        ]
        return repaired(chosen, forming.form(by, strata))

    def with_cycles(made: _Attempt) -> _Attempt:
        unkept = _lost(_released(made.grouped, declared, how, threads), declared)
        if not any(_dear(*pair) for pair in zip(made.lost, unkept, strict=True)):
            return made
        return _best_cycle(made, lambda groups: repaired(made.chosen, forming.regroup(declared, made.grouped, groups)))

    def exchanged(made: _Attempt) -> _Attempt:
        for i, quasi in enumerate(declared.sets):
            if editing.of(quasi) != editing.of(quasi, soft=True):
                continue  # groups that lose less might keep fewer preferences
            for _ in range(_ROUNDS):
                given = _released(made.grouped, declared, how, threads)[i]
                if not _dear(made.lost[i], _lost([given], declared)[0]):
                    break
                groups = _places_changed(made, i, given, editing, declared)
                if groups is None:
                    break
                other = [*made.grouped.groups[:i], groups, *made.grouped.groups[i + 1 :]]
                found = repaired(made.chosen, forming.regroup(declared, made.grouped, other))
                if found.lost[i] >= made.lost[i]:
                    break
                made = replace(found, kept=replace(found.kept, exchanged=made.kept.exchanged | _asking(made)))
        return made

    first = attempt(first_plan, [() for _ in possible])
    released = _released(first.grouped, declared, how, threads)
    every = [with_cycles(first)]
    later = same_steps(declared, first.grouped.searched)
    if later:
        choices = _choices(first, _lost(released, declared), possible, declared)
        every += [with_cycles(attempt(later, chosen)) for chosen in choices]
    best = _best(every, lambda by, chosen: with_cycles(attempt(by, chosen)), later)
    if not declared.method.by_column:
        best = min((exchanged(one) for one in _distinct(best, every[0])), key=lambda one: sum(one.lost))
    ruled = Ruled(replace(best.kept, broken=_broken(first)))
    if not declared.method.search or _aggregators(declared) == _aggregators(plain):
        if _aggregators(declared) != _aggregators(plain):
            as_before = [own.with_aggregators(_aggregators(plain)) for own in first.grouped.sets]
            released = _released(replace(first.grouped, sets=as_before), declared, how, threads)
        loss = losses_of(released, declared).table.percent
        ruled = replace(ruled, without=released, loss_without=loss)
    return _with_steps_of(first, best.grouped), best.protected, ruled


def _released(grouped: Grouped, declared: Declared, how: Aggregation, threads: int | None) -> list[ProtectedSet]:
    """Return what groups release before rules are kept, beside the columns before cells were suppressed."""
    protected = aggregate_sets(grouped.sets, grouped.groups, how, threads)
    return [replace(part, quasi=quasi) for part, quasi in zip(protected, declared.sets, strict=True)]


def _aggregators(declared: Declared) -> dict[str, str]:
    pairs = [zip(quasi.names, quasi.aggregators, strict=True) for quasi in declared.sets]
    return {name: how for own in pairs for name, how in own}


def _with_steps_of(first: _Attempt, grouped: Grouped) -> Grouped:
    """Return groups with the steps that repeat the first search, which later ones were given."""
    if grouped.searched is None or first.grouped.searched is None or grouped is first.grouped:
        return grouped
    return replace(grouped, searched=replace(grouped.searched, again=first.grouped.searched.again))


def _lost(protected: Sequence[ProtectedSet], declared: Declared) -> list[float]:
    """Return what each set has lost."""
    return [losses_of([part], declared).table.sse for part in protected]


def _broken(attempt: _Attempt) -> dict[str, int]:
    """Return in how many records each rule would be broken."""
    return {name: count for account in attempt.kept.accounts for name, count in account.broken.items()}


def _asking(attempt: _Attempt) -> set[str]:
    """Return the rules that what groups release before rules are kept would break."""
    return {name for name, count in _broken(attempt).items() if count}


def _places_changed(made: _Attempt, i: int, given: ProtectedSet, editing: Editing, declared: Declared) -> Ints | None:
    """Return groups of a set between which records have changed places; None where none has."""
    grouped, broken = made.grouped, _asking(made)
    every = antecedents(editing, given.quasi, 1)
    columns = {rule.name: rule.variables for rule in editing.rules}
    bound = [
        (flags, [column for name in broken & set(names) for column in columns[name]])
        for flags, names in every.values()
        if broken & set(names)
    ]
    blocks = grouped.blocks[i]
    apart = number_keys(grouped.apart[i] * (blocks.max() + 1) + blocks)[0]
    weights = declared.plan.column_weights
    return exchanged_groups(given, made.protected[i], grouped.sets[i], apart=apart, bound=bound, column_weights=weights)


def _distinct(best: _Attempt, plain: _Attempt) -> list[_Attempt]:
    return [best] if best is plain else [best, plain]


def _choices(
    first: _Attempt, plain: Sequence[float], possible: Sequence[Antecedents], declared: Declared
) -> list[Chosen]:
    """Return which antecedents are tried as strata, given what the first attempt repaired and what that cost."""
    broken = _broken(first)
    ranked: list[tuple[Condition, ...]] = []
    for own, with_rules, without in zip(possible, first.lost, plain, strict=True):
        worst = {one: max(broken.get(name, 0) for name in names) for one, (_, names) in own.items()}
        dear = _dear(with_rules, without) or not (declared.method.search or len(first.grouped.groups[0]) > _LARGE)
        ranked.append(tuple(sorted((one for one in own if dear and worst[one]), key=lambda one: -worst[one])))
    most = max(map(len, ranked), default=0)
    counts = [most] if most else []
    if not declared.method.search:
        counts += range(1, min(most, _WORST + 1))
    return [[own[:count] for own in ranked] for count in counts]


def _dear(with_rules: float, without: float) -> bool:
    """Whether repairs cost so much that other groups are worth a try."""
    return with_rules - without > _CHEAP * without


def _best_cycle(last: _Attempt, repaired: Callable[[list[Ints]], _Attempt]) -> _Attempt:
    """Return the last groups of a search, or in each set those of an earlier cycle that lose less after repairs."""
    before = last.grouped.searched.before if last.grouped.searched else []
    chosen = list(last.grouped.groups)
    best = last
    for i, cycles in enumerate(before):
        for groups in reversed(cycles):
            other = [*chosen[:i], number_keys(groups)[0], *chosen[i + 1 :]]
            found = repaired(other)
            if found.lost[i] < best.lost[i]:
                best, chosen = found, other
    return best


def _best(
    every: Sequence[_Attempt], attempt: Callable[[Declared, Chosen], _Attempt], later: Declared | None
) -> _Attempt:
    """Return the attempt that loses least; where that is another one in each set, one that has them all."""
    sets = range(len(every[0].lost))
    least = [min(every, key=lambda one, i=i: one.lost[i]) for i in sets]  # type: ignore[misc]
    if all(one is least[0] for one in least):
        return least[0]
    whole = min(every, key=lambda one: sum(one.lost))
    if later is None:
        return whole
    return min(whole, attempt(later, [least[i].chosen[i] for i in sets]), key=lambda one: sum(one.lost))
