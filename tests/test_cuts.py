"""Lower bounds that cuts raise, against all partitions and all groups of tiny tables, enumerated."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest

from all_partitions import all_groups, least_squares, partitions, relaxation, squares
from shoal.partition.optimal import cutting
from shoal.partition.optimal.bound import lower_bound
from shoal.partition.optimal.certificate import prove
from shoal.partition.optimal.cuts import broken_cuts, counts_of, cuts_of, join_cuts, take_cuts
from shoal.partition.optimal.near_groups import pair_table
from shoal.partition.optimal.seen_groups import add_groups, matrix_of, no_groups, relax
from shoal.partition.optimal.start import start
from test_bound import optimum_by_subsets, problem_of, tiny_table


def raised_by_cuts(x, k, proved, groups, *, until=None, threads=1, **how):
    table = cutting.cutting_of(x, k, groups, threads, until)
    return cutting.raised(table, cutting.root_of(proved), **how).bound


def bound_with_cuts(x, k, **how):
    groups = start(problem_of(x, k))
    return raised_by_cuts(x, k, lower_bound(x, k, no_groups(), groups), groups, **how)


def seen_of(x, groups):
    sizes, costs = np.array([len(rows) for rows in groups]), np.array([squares(x[list(rows)]) for rows in groups])
    return add_groups(no_groups(), [np.concatenate(groups)], [sizes], [costs], len(x))


def penalty_of(rows, sets, steps, multipliers):
    """What a group pays, from the definition."""
    return sum(
        len(set(rows) & set(own)) // every * multiplier
        for own, every, multiplier in zip(sets, steps, multipliers, strict=True)
    )


CASES = [(seed, n, 2) for seed, n in zip(range(12), (6, 7, 8, 9, 9, 9) * 2, strict=True)]
CASES += [(seed, n, 3) for seed, n in zip(range(12), (7, 8, 9, 10, 11, 11) * 2, strict=True)]


@pytest.mark.parametrize(("seed", "n", "k"), CASES)
def test_a_bound_with_cuts_lies_between_the_relaxation_and_the_optimum(seed, n, k):
    x = tiny_table(seed, n)
    found = bound_with_cuts(x, k)
    least = least_squares(x, k)
    assert relaxation(x, k) * (1 - 3e-5) <= found.value <= least
    assert found.value >= (1 - 1e-3) * least  # which the relaxation misses by a tenth
    spent = (found.multipliers * found.cuts.most).sum()
    assert found.prices.sum() - spent == pytest.approx(found.value, rel=1e-12)


@pytest.mark.parametrize(("n", "k"), [(13, 3), (12, 4), (12, 5)])
@pytest.mark.parametrize("seed", range(4))
def test_no_group_costs_less_than_its_prices_less_its_penalties(seed, n, k):
    x = tiny_table(seed, n, d=3)
    found = bound_with_cuts(x, k, threads=2)
    assert found.value <= optimum_by_subsets(x, k)
    scale = np.abs(found.prices).max()
    for rows in all_groups(n, k):
        paid = penalty_of(rows, found.cuts.sets(), found.cuts.steps, found.multipliers)
        assert squares(x[list(rows)]) + paid >= found.prices[list(rows)].sum() - 1e-12 * scale


def test_cuts_close_what_parts_of_triples_leave_open():
    """Four points in a cluster and four far away: the relaxation takes a third of each triple, at 8 / 9 of the cost."""
    x = np.concatenate([np.eye(4), 100.0 + np.eye(4)])
    least = least_squares(x, 3)
    assert relaxation(x, 3) == pytest.approx(8 / 9 * least)
    found = bound_with_cuts(x, 3)
    assert found.value == pytest.approx(least, rel=1e-5)
    assert found.value <= least
    assert len(found.cuts) > 0


@pytest.mark.parametrize(("n", "k"), [(8, 2), (11, 3), (11, 4)])
@pytest.mark.parametrize("seed", range(8))
def test_penalised_pricing_finds_the_least_reduced_cost(seed, n, k):
    """Of groups of k for each root, and of larger ones with more than q records of a cut; sets of 3 to 5 records."""
    x, rng = tiny_table(seed, n), np.random.default_rng(seed)
    prices = rng.normal(0.7, 1.0, n) if seed < 4 else rng.integers(-1, 4, n) / 2.0
    sets = [tuple(sorted(rng.choice(n, size, replace=False).tolist())) for size in (3, 3, 4, 5, 5)]
    steps, multipliers = [2, 2, 3, 2, 3], rng.uniform(0.0, 1.0, 5)
    how = {"threads": 2, "over": lambda: False, "neglect": 0.0}
    cuts = cuts_of(sets, steps)
    small, larger = (
        cutting._price(pair_table(x, k), prices, cuts, multipliers, k, larger=flag, **how) for flag in (False, True)
    )
    priced = cutting.Priced(np.minimum(small.least, larger.least), small.found + larger.found)
    roots, lowest = np.zeros(n), 0.0
    for rows in all_groups(n, k):
        paid = penalty_of(rows, sets, steps, multipliers)
        reduced = squares(x[list(rows)]) - prices[list(rows)].sum() + paid
        if len(rows) == k:
            root = max(rows, key=lambda row: (prices[row], row))
            roots[root] = min(roots[root], reduced)
        elif any(len(set(rows) & set(own)) > every for own, every in zip(sets, steps, strict=True)):
            lowest = min(lowest, reduced)
            assert min(priced.least[list(rows)]) <= reduced + 1e-9
    assert (priced.least <= roots + 1e-9).all()
    assert priced.least.min() <= min(lowest, roots.min()) + 1e-9
    reached = np.zeros(n)
    for rows in map(set, itertools.chain(*(groups.tolist() for groups in priced.found))):
        reduced = squares(x[list(rows)]) - prices[list(rows)].sum() + penalty_of(rows, sets, steps, multipliers)
        for row in rows:
            reached[row] = min(reached[row], reduced)
    assert (reached <= priced.least + 1e-9).all()  # what is said to be the least is there


@pytest.mark.parametrize("seed", range(6))
def test_all_partitions_satisfy_the_cuts_and_the_relaxation_breaks_them(seed):
    x = tiny_table(4 * seed, 8)
    seen = seen_of(x, all_groups(8, 2))
    relaxed = relax(matrix_of(seen, 8), seen.costs)
    cuts = broken_cuts(seen, relaxed.shares, cuts_of([], []), 2)
    counts = counts_of(cuts, seen, 8) @ relaxed.shares
    assert (counts > cuts.most + 0.01).all()
    for groups in partitions(list(range(8)), 2):
        for own, every, most in zip(cuts.sets(), cuts.steps, cuts.most, strict=True):
            assert sum(len(set(own) & set(group)) // every for group in groups) <= most
    known = broken_cuts(seen, relaxed.shares, cuts, 2)
    assert not {*zip(known.sets(), known.steps, strict=True)} & {*zip(cuts.sets(), cuts.steps, strict=True)}


def test_cuts_are_taken_and_joined():
    both = join_cuts(cuts_of([(0, 1, 2)], [2]), cuts_of([(1, 2, 3, 4, 5)], [3]))
    assert both.sets() == [(0, 1, 2), (1, 2, 3, 4, 5)]
    assert both.most.tolist() == [1, 1]
    assert take_cuts(both, np.array([1])).sets() == [(1, 2, 3, 4, 5)]


def test_cutting_that_is_stopped_keeps_what_was_proved():
    x = tiny_table(0, 40)
    groups = start(problem_of(x, 3))
    plain = lower_bound(x, 3, no_groups(), groups)
    found = raised_by_cuts(x, 3, plain, groups, until=time.monotonic())
    assert (found.value, len(found.cuts)) == (plain.value, 0)
    whole = raised_by_cuts(x, 3, plain, groups)
    assert whole.value > plain.value
    enough = raised_by_cuts(x, 3, plain, groups, enough=plain.value * (1 + 1e-9))
    assert plain.value < enough.value <= whole.value


def test_blocks_have_cuts_of_their_own_rows():
    x, blocks = np.random.default_rng(2).normal(size=(48, 2)), np.arange(48) % 2
    problem = problem_of(x, 3)
    problem = type(problem)(x, None, blocks, None, 3)
    groups = np.empty(48, dtype=np.int64)
    for block in (0, 1):
        groups[blocks == block] = start(problem_of(np.ascontiguousarray(x[blocks == block]), 3)) + 100 * block
    proved = prove(problem, groups, time.monotonic() + 600.0, 1)
    assert proved.penalties
    assert all(len(set(blocks[penalty.rows])) == 1 for penalty in proved.penalties)
    spent = sum(len(penalty.rows) // penalty.every * penalty.multiplier for penalty in proved.penalties)
    assert proved.prices.sum() - spent == pytest.approx(proved.bound)
