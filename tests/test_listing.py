"""Groups that better partitions are made of, listed, and branches in which no others count; their certificates."""

from __future__ import annotations

import json

import numpy as np
import pytest

import check_certificate as checker
import shoal
from all_partitions import all_groups, least_squares, squares
from reference import sse
from shoal.partition.optimal import branching, cutting, listing
from shoal.partition.optimal.bound import Bound, lower_bound
from shoal.partition.optimal.cuts import cuts_of
from shoal.partition.optimal.seen_groups import no_groups
from shoal.partition.optimal.start import start
from small_tables import table_of
from test_bound import problem_of, tiny_table
from test_certificate import leaves_of
from test_cuts import penalty_of


@pytest.mark.parametrize(("n", "k"), [(8, 2), (11, 3), (11, 4)])
@pytest.mark.parametrize("seed", range(6))
def test_a_list_has_all_groups_whose_reduced_cost_is_low_enough(seed, n, k, monkeypatch):
    x, rng = tiny_table(seed, n), np.random.default_rng(seed)
    prices = rng.normal(0.7, 1.0, n)
    sets = [tuple(sorted(rng.choice(n, size, replace=False).tolist())) for size in (3, 3, 4, 5, 5)]
    steps, multipliers = [2, 2, 3, 2, 3], rng.uniform(0.0, 1.0, 5)
    own = cutting.cutting_of(x, k, start(problem_of(x, k)), 2)
    proved = Bound(10.0, 1, False, no_groups(), prices, cuts_of(sets, steps), multipliers)
    found = listing.list_groups(own, proved, 10.5)
    groups = [tuple(sorted(rows.tolist())) for rows in np.split(found.rows, found.starts[1:-1])]
    reduced = {
        rows: squares(x[list(rows)]) - prices[list(rows)].sum() + penalty_of(rows, sets, steps, multipliers)
        for rows in all_groups(n, k)
    }
    assert len(groups) == len(set(groups))
    assert {rows for rows in reduced if reduced[rows] < 0.5} <= set(groups)
    assert all(reduced[rows] < 0.5 + 1.01e-6 * own.known for rows in groups)
    assert found.costs == pytest.approx([squares(x[list(rows)]) for rows in groups])
    monkeypatch.setattr(listing, "MOST", len(groups) - 1)
    assert listing.list_groups(own, proved, 10.5) is None


@pytest.mark.parametrize("seed", range(4))
def test_groups_a_little_above_what_is_missing_are_listed_too(seed):
    """A check that rounds more coarsely may list them, and prices of branches must hold for all that it lists."""
    n, k = 11, 3
    x = tiny_table(seed, n)
    own = cutting.cutting_of(x, k, start(problem_of(x, k)), 2)
    proved = lower_bound(x, k, no_groups(), start(problem_of(x, k)))
    costs = {rows: squares(x[list(rows)]) - proved.prices[list(rows)].sum() for rows in all_groups(n, k)}
    rows = sorted(costs, key=costs.get)[len(costs) // 3]
    limit = proved.value + costs[rows] - 5e-7 * own.known
    found = listing.list_groups(own, proved, limit)
    for seen in (found, listing.that_count(own, found, proved, limit)):
        assert rows in [tuple(sorted(group.tolist())) for group in np.split(seen.rows, seen.starts[1:-1])]


CASES = [(seed, n, 2) for seed, n in zip(range(8), (6, 7, 8, 9) * 2, strict=True)]
CASES += [(seed, n, 3) for seed, n in zip(range(8), (8, 9, 10, 11) * 2, strict=True)]


@pytest.mark.parametrize("cut", [True, False], ids=["with cuts", "without cuts"])
@pytest.mark.parametrize(("seed", "n", "k"), CASES)
def test_branches_in_a_list_prove_and_find_the_optimum(seed, n, k, cut, monkeypatch):
    if not cut:
        monkeypatch.setattr(listing, "broken_cuts", lambda *_: cuts_of([], []))
    x = tiny_table(seed, n)
    groups, least = start(problem_of(x, k)), least_squares(x, k)
    own = cutting.cutting_of(x, k, groups)
    root = cutting.root_of(lower_bound(x, k, no_groups(), groups))
    tree = branching.branched_in_list(own, root, groups)
    if tree is None:
        assert root.bound.value >= (1 - 3e-5) * least  # nothing is missing
        return
    assert (1 - 3e-5) * least <= tree.value <= least
    assert tree.value <= tree.limit
    assert least * (1 - 1e-12) <= tree.cost <= (1 + 3e-5) * least
    assert sse(x, tree.groups) == pytest.approx(tree.cost)
    assert np.bincount(tree.groups).min() >= k


@pytest.fixture(scope="module")
def listed(tmp_path_factory):
    """A certificate with branches in a list, as the cuts of a table were not looked for."""
    folder = tmp_path_factory.mktemp("listed")
    table_of(tiny_table(0, 25, d=3)).write_csv(folder / "in.csv")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cutting, "broken_cuts", lambda *_: cuts_of([], []))
        patch.setattr(listing, "broken_cuts", lambda *_: cuts_of([], []))
        release = shoal.protect(folder / "in.csv", 3, ["v0", "v1", "v2"], options={"steps": 200_000, "bound": 60.0})
    release.certificate(folder / "proof.json")
    return folder, release.summary


def test_a_certificate_with_a_list_is_true_and_proves_the_optimum(listed, capsys):
    folder, summary = listed
    own = json.loads((folder / "proof.json").read_text())["branches"][0]
    assert "below" in own["listed"]
    assert len(leaves_of(own["tree"])) > 2
    assert checker.main([str(folder / "proof.json"), str(folder / "in.csv")]) == 0
    assert f"gap {summary.gap:.4f} %" in capsys.readouterr().out
    assert summary.gap < 0.01


def other_prices(own):
    """Far lower ones: where groups that are left make no partition, others may prove the limit just as well."""
    for leaf in leaves_of(own["tree"]):
        leaf["prices"] = [0.01 * price for price in leaf["prices"]]
    return own


def raised_before(own):
    own["tree"]["prices"] = [price * 1.2 for price in own["tree"]["prices"]]
    return own


def raised_price_of_list(own):
    own["listed"]["prices"][0] += 0.5
    return own


def lowered_limit(own):
    own["listed"]["below"] *= 0.97
    return own


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda own: own | {"tree": own["tree"] | {"together": own["tree"]["apart"]}}, "its prices prove"),
        (lambda own: own | {"tree": leaves_of(own["tree"])[0]}, "its prices prove"),
        (lambda own: own | {"tree": leaves_of(own["tree"])[-1]}, "its prices prove"),
        (lambda own: own | {"tree": own["tree"] | {"pair": [0, 0]}}, "two records"),
        (other_prices, "its prices prove"),
        (raised_before, "its prices prove"),
        (raised_price_of_list, "its prices prove"),
        (lowered_limit, "prove"),
        (lambda own: own | {"listed": own["listed"] | {"below": 1e9}}, "far above"),
    ],
    ids=["one for both", "first only", "last only", "one record", "prices", "before", "of the list", "low", "high"],
)
def test_tampered_lists_fail(listed, capsys, change, reason):
    folder, _ = listed
    certificate = json.loads((folder / "proof.json").read_text())
    certificate["branches"][0] = change(certificate["branches"][0])
    (folder / "changed.json").write_text(json.dumps(certificate))
    assert checker.main([str(folder / "changed.json"), str(folder / "in.csv")]) == 1
    assert reason in capsys.readouterr().out


def test_what_the_checker_takes_off_for_rounding_does_not_grow_with_the_records_that_a_group_does_not_hold():
    n = 900
    places = np.array([[row, row + 1, row + 2, n, n] for row in range(0, n, 3)])
    cuts = [{"records": [row, row + 1, row + 2], "every": 2, "multiplier": 0.5} for row in range(0, 600, 3)]
    leaf = {"prices": [1.0 / 3.0] * n, "cuts": cuts}
    value = checker.least_of_listed(np.ones(len(places)), places, n // 3, leaf, list(range(n)), np.inf)
    assert 200.0 * (1.0 - 2e-9) < value < 200.0  # prices of 300, less 200 cuts that are paid once at most
