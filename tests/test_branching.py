"""Branch and price, against all partitions and groups of tiny tables, enumerated; certificates with branches."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest

import check_certificate as checker
import shoal
from all_partitions import all_groups, least_squares, squares
from reference import sse
from shoal.partition.optimal import branching, cutting, listing
from shoal.partition.optimal.bound import lower_bound
from shoal.partition.optimal.certificate import prove
from shoal.partition.optimal.cuts import cuts_of
from shoal.partition.optimal.decisions import Decisions, allowed, kept_apart, mates_of
from shoal.partition.optimal.near_groups import PairTable, pair_table
from shoal.partition.optimal.program import Program
from shoal.partition.optimal.seen_groups import matrix_of, no_groups, relax
from shoal.partition.optimal.start import start
from small_tables import table_of
from test_bound import optimum_by_subsets, problem_of, tiny_table
from test_certificate import leaves_of
from test_cuts import penalty_of, seen_of

DECISIONS = [
    Decisions(),
    Decisions(together=((0, 3),)),
    Decisions(apart=((0, 3), (1, 2))),
    Decisions(together=((0, 3), (3, 5)), apart=((0, 1),)),
    Decisions(together=((0, 3), (1, 2)), apart=((2, 4),)),
]


def keeps(rows, decisions):
    """Whether a group keeps the decisions, from the definition."""
    held = set(rows)
    return all((a in held) == (b in held) for a, b in decisions.together) and not any(
        {a, b} <= held for a, b in decisions.apart
    )


def tree_of(x, k, cut, monkeypatch, **how):
    """The tree of a table, with cuts or without any."""
    if not cut:
        monkeypatch.setattr(cutting, "broken_cuts", lambda *_: cuts_of([], []))
    groups = start(problem_of(x, k))
    table = cutting.cutting_of(x, k, groups)
    root = cutting.raised(table, cutting.root_of(lower_bound(x, k, no_groups(), groups)))
    return branching.branched(table, root, groups, **how)


@pytest.mark.parametrize("decisions", DECISIONS)
def test_groups_that_keep_decisions(decisions):
    groups = all_groups(8, 3)
    kept = allowed(decisions, seen_of(np.random.default_rng(0).normal(size=(8, 2)), groups), 8)
    assert kept.tolist() == [keeps(rows, decisions) for rows in groups]


def test_mates_go_round_all_that_are_together():
    mates = mates_of(Decisions(together=((5, 1), (2, 6), (1, 2))), 8)
    circle = [1]
    while mates[circle[-1]] != 1:
        circle.append(int(mates[circle[-1]]))
    assert sorted(circle) == [1, 2, 5, 6]
    assert mates[[0, 3, 4, 7]].tolist() == [0, 3, 4, 7]


@pytest.mark.parametrize("decisions", DECISIONS)
@pytest.mark.parametrize(("n", "k"), [(8, 2), (11, 3), (11, 4)])
@pytest.mark.parametrize("seed", range(3))
def test_pricing_in_a_branch_finds_the_least_reduced_cost_of_what_keeps_its_decisions(seed, n, k, decisions):
    x, rng = tiny_table(seed, n), np.random.default_rng(seed)
    prices = rng.normal(0.7, 1.0, n) if seed else rng.integers(-1, 4, n) / 2.0
    sets = [tuple(sorted(rng.choice(n, size, replace=False).tolist())) for size in (3, 4, 5)]
    steps, multipliers = [2, 3, 2], rng.uniform(0.0, 1.0, 3)
    table = pair_table(x, k)
    small, larger = (
        cutting._price(
            PairTable(kept_apart(decisions, table.distances), table.near), prices, cuts_of(sets, steps), multipliers,
            k, threads=2, over=lambda: False, neglect=0.0, decided=(mates_of(decisions, n), decisions.together),
            larger=flag,
        )
        for flag in (False, True)
    )  # fmt: skip
    priced = cutting.Priced(np.minimum(small.least, larger.least), small.found + larger.found)
    for rows in all_groups(n, k):
        paid = penalty_of(rows, sets, steps, multipliers)
        held = any({a, b} <= set(rows) for a, b in decisions.together)
        held |= any(len(set(rows) & set(own)) > every for own, every in zip(sets, steps, strict=True))
        if keeps(rows, decisions) and (len(rows) == k or held):
            assert min(priced.least[list(rows)]) <= squares(x[list(rows)]) - prices[list(rows)].sum() + paid + 1e-9
    reached = np.zeros(n)
    for rows in (rows for groups in priced.found for rows in groups.tolist()):
        assert keeps(rows, decisions)
        assert len(set(rows)) == len(rows)
        reduced = squares(x[rows]) - prices[rows].sum() + penalty_of(rows, sets, steps, multipliers)
        reached[rows] = np.minimum(reached[rows], reduced)
    assert (reached <= priced.least + 1e-9).all()  # what is said to be the least is there


CASES = [(seed, n, 2) for seed, n in zip(range(8), (6, 7, 8, 9) * 2, strict=True)]
CASES += [(seed, n, 3) for seed, n in zip(range(8), (8, 9, 10, 11) * 2, strict=True)]


@pytest.mark.parametrize("cut", [True, False], ids=["with cuts", "without cuts"])
@pytest.mark.parametrize(("seed", "n", "k"), CASES)
def test_branches_prove_and_find_the_optimum(seed, n, k, cut, monkeypatch):
    x = tiny_table(seed, n)
    tree, least = tree_of(x, k, cut, monkeypatch), least_squares(x, k)
    assert (1 - 3e-5) * least <= tree.value <= least
    assert least * (1 - 1e-12) <= tree.cost <= (1 + 3e-5) * least
    assert sse(x, tree.groups) == pytest.approx(tree.cost)
    assert np.bincount(tree.groups).min() >= k


@pytest.mark.parametrize(("n", "k"), [(13, 3), (12, 4), (12, 5)])
@pytest.mark.parametrize("seed", range(3))
def test_in_every_branch_no_group_costs_less_than_its_prices(seed, n, k, monkeypatch):
    x = tiny_table(seed, n, d=3)
    tree = tree_of(x, k, False, monkeypatch)
    leaves = branching.leaves_of(tree.root)
    assert len(leaves) > 1 or k > 3  # where the linear problem takes whole groups there is nothing to decide
    assert tree.value == min(leaf.node.bound.value for leaf in leaves)
    assert (1 - 3e-5) * optimum_by_subsets(x, k) <= tree.value <= optimum_by_subsets(x, k)
    for leaf in leaves:
        bound = leaf.node.bound
        spent = (bound.multipliers * bound.cuts.most).sum()
        assert bound.prices.sum() - spent == pytest.approx(bound.value, rel=1e-12)
        scale = np.abs(bound.prices).max()
        for rows in all_groups(n, k):
            if keeps(rows, leaf.node.decisions):
                paid = penalty_of(rows, bound.cuts.sets(), bound.cuts.steps, bound.multipliers)
                assert squares(x[list(rows)]) + paid >= bound.prices[list(rows)].sum() - 1e-12 * scale


def test_branches_end_when_it_is_enough_and_tell_a_bound_that_rises(monkeypatch):
    x = tiny_table(0, 30, d=3)
    told = []
    whole = tree_of(x, 3, False, monkeypatch, keep=lambda tree: told.append(tree.value))
    assert told == sorted(told)
    assert told[0] < told[-1] <= whole.cost
    some = tree_of(x, 3, False, monkeypatch, enough=(told[0] + told[-1]) / 2)
    assert len(branching.leaves_of(some.root)) < len(branching.leaves_of(whole.root))
    assert (told[0] + told[-1]) / 2 <= some.value <= whole.value


def test_a_tree_that_is_stopped_keeps_what_was_proved(monkeypatch):
    x = tiny_table(0, 30, d=3)
    monkeypatch.setattr(cutting, "broken_cuts", lambda *_: cuts_of([], []))
    groups = start(problem_of(x, 3))
    root = cutting.raised(cutting.cutting_of(x, 3, groups), cutting.root_of(lower_bound(x, 3, no_groups(), groups)))
    tree = branching.branched(cutting.cutting_of(x, 3, groups, 1, time.monotonic()), root, groups)
    assert tree.root.parts is None
    assert tree.value == root.bound.value


@pytest.mark.parametrize("seed", range(3))
def test_the_linear_problem_is_the_same_from_any_start(seed):
    """With cuts, from nothing and from a solution of the same with other groups and cuts, against another solver."""
    x = tiny_table(4 * seed, 9)
    seen = seen_of(x, all_groups(9, 2))
    fewer = seen_of(x, all_groups(9, 2)[::2])
    cuts, other = cuts_of([(0, 1, 2), (3, 4, 5)], [2, 2]), cuts_of([(3, 4, 5), (5, 6, 7)], [2, 2])
    expected = relax(matrix_of(seen, 9), seen.costs, None, (cutting_counts(cuts, seen), cuts.most))
    first = Program(fewer, other, np.full(9, 1000.0))
    assert first.solve() is not None
    for basis in (None, first.basis()):
        program = Program(seen, cuts, np.full(9, 1000.0), basis)
        found = program.solve()
        assert found.value == pytest.approx(expected.value, rel=1e-7)
        assert found.prices.sum() - (found.multipliers * cuts.most).sum() == pytest.approx(expected.value, rel=1e-7)
        closed = np.flatnonzero(~allowed(Decisions(apart=((0, 1),)), seen, 9))
        left = seen_of(x, [rows for rows in all_groups(9, 2) if not {0, 1} <= set(rows)])
        without = relax(matrix_of(left, 9), left.costs, None, (cutting_counts(cuts, left), cuts.most))
        assert program.values_without([closed, closed[:0]]) == pytest.approx([without.value, expected.value], rel=1e-7)


def cutting_counts(cuts, seen):
    groups = [set(part.tolist()) for part in np.split(seen.rows, seen.starts[1:-1])]
    return np.array(
        [[len(own & set(rows)) // step for own in groups] for rows, step in zip(cuts.sets(), cuts.steps, strict=True)]
    )


@pytest.mark.parametrize("decisions", DECISIONS)
@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("seed", range(2))
def test_the_checker_finds_every_group_of_a_branch_below_its_prices(seed, k, decisions):
    """Prices that just one group is below that keeps the decisions, and the same a little lower, by enumeration."""
    rng = np.random.default_rng(seed)
    values, prices = rng.normal(size=(13, 2)), rng.uniform(0.3, 1.0, 13)
    cuts, factor = [([2, 3, 4, 5, 6], 2, 0.03)], np.inf
    for rows in all_groups(13, k):
        if keeps(rows, decisions):
            paid = 0.03 * (len(set(rows) & {2, 3, 4, 5, 6}) // 2)
            factor = min(factor, (squares(values[list(rows)]) + paid) / prices[list(rows)].sum())
    decided = (decisions.together, decisions.apart)
    proved = checker.least_of_block(values, prices * factor * (1 - 1e-12), k, cuts, decided)
    assert proved == pytest.approx(prices.sum() * factor - 2 * 0.03, abs=1e-9)
    with pytest.raises(checker.UntrueError):
        checker.least_of_block(values, prices * factor * (1 + 1e-12), k, cuts, decided)


@pytest.fixture(scope="module")
def branched(tmp_path_factory):
    """A certificate with branches, as the cuts of a table were not looked for."""
    folder = tmp_path_factory.mktemp("branched")
    table_of(tiny_table(0, 25, d=3)).write_csv(folder / "in.csv")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cutting, "broken_cuts", lambda *_: cuts_of([], []))
        patch.setattr(listing, "MOST", 0)
        release = shoal.protect(folder / "in.csv", 3, ["v0", "v1", "v2"], options={"steps": 200_000, "bound": 60.0})
    release.certificate(folder / "proof.json")
    return folder, release.summary


def test_a_certificate_with_branches_is_true_and_proves_the_optimum(branched, capsys):
    folder, summary = branched
    assert len(leaves_of(json.loads((folder / "proof.json").read_text())["branches"][0]["tree"])) > 2
    assert checker.main([str(folder / "proof.json"), str(folder / "in.csv")]) == 0
    assert f"gap {summary.gap:.4f} %" in capsys.readouterr().out
    assert summary.gap < 0.01


def raised_price(tree):
    leaves_of(tree)[-1]["prices"][0] += 0.5
    return tree


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda tree: tree | {"together": tree["apart"], "apart": tree["together"]}, "cost less than"),
        (lambda tree: tree | {"together": tree["apart"]}, "cost less than"),
        (lambda tree: leaves_of(tree)[0], "cost less than"),
        (lambda tree: leaves_of(tree)[-1], "cost less than"),
        (lambda tree: tree | {"pair": [0, 0]}, "two records"),
        (lambda tree: tree | {"pair": [0, 99]}, "two records"),
        (raised_price, "cost less than"),
        (lambda tree: tree | {"apart": {"prices": [1.0], "cuts": []}}, "each record"),
    ],
    ids=["swapped", "one for both", "first only", "last only", "one record", "no record", "a price", "too few prices"],
)
def test_tampered_branches_fail(branched, capsys, change, reason):
    folder, _ = branched
    certificate = json.loads((folder / "proof.json").read_text())
    own = certificate["branches"][0]
    own["tree"] = change(own["tree"])
    (folder / "changed.json").write_text(json.dumps(certificate))
    assert checker.main([str(folder / "changed.json"), str(folder / "in.csv")]) == 1
    assert reason in capsys.readouterr().out


def test_branches_of_records_that_are_no_block_fail(branched, capsys):
    folder, _ = branched
    certificate = json.loads((folder / "proof.json").read_text())
    certificate["branches"][0]["records"] = list(range(24))
    (folder / "changed.json").write_text(json.dumps(certificate))
    assert checker.main([str(folder / "changed.json"), str(folder / "in.csv")]) == 1
    assert "no block" in capsys.readouterr().out


@pytest.mark.parametrize("most", [0, listing.MOST], ids=["priced", "listed"])
def test_blocks_have_branches_of_their_own_rows(monkeypatch, most):
    monkeypatch.setattr(listing, "MOST", most)
    monkeypatch.setattr(cutting, "broken_cuts", lambda *_: cuts_of([], []))
    x, blocks = np.random.default_rng(2).normal(size=(22, 2)), np.arange(22) % 2
    groups = np.empty(22, dtype=np.int64)
    for block in (0, 1):
        groups[blocks == block] = start(problem_of(np.ascontiguousarray(x[blocks == block]), 3)) + 100 * block
    problem = type(problem_of(x, 3))(x, None, blocks, None, 3)
    proved = prove(problem, groups, time.monotonic() + 600.0, 1)
    least = sum(least_squares(x[blocks == block], 3) for block in (0, 1))
    assert (1 - 3e-5) * least <= proved.bound <= least
    assert proved.branches
    assert all((own.listing is None) == (most == 0) for own in proved.branches)
    assert all(len(set(blocks[own.rows])) == 1 for own in proved.branches)
    assert all(set(own.tree.pair) <= set(own.rows) for own in proved.branches if hasattr(own.tree, "pair"))
    if proved.groups is not None:
        assert sse(x, proved.groups) == pytest.approx(proved.cost)
        assert proved.cost == pytest.approx(least)
