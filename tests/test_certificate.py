"""What is proved about a release: bounds against all partitions, gaps that end a search, and what cannot be proved."""

from __future__ import annotations

import json
import time

import numpy as np
import polars as pl
import pytest

import shoal
from all_partitions import least_squares, relaxation
from command_line import manifest_of, run
from reference import sse
from shoal.partition.optimal.certificate import prove, why_no_bound
from shoal.partition.optimal.problem import Problem
from shoal.partition.search.budget import Budget
from shoal.partition.search.found import gap_of
from small_tables import normal, table_of
from test_optimal import solve


def problem_of(values, k, blocks=None):
    return Problem(values, None, np.zeros(len(values), dtype=np.int64) if blocks is None else blocks, None, k)


@pytest.mark.parametrize("seed", range(3))
def test_the_bounds_of_blocks_add_up_to_one_below_the_optimum(seed):
    values = np.random.default_rng(seed).normal(size=(16, 2))
    blocks = np.arange(16) % 2
    found = solve(problem_of(values, 3, blocks), Budget())
    bound, complete = prove(problem_of(values, 3, blocks), found.groups, time.monotonic() + 600.0, 1)
    least = sum(least_squares(values[blocks == block], 3) for block in (0, 1))
    assert complete
    assert 0.7 * least < bound <= least * (1 + 1e-12)
    assert found.cost == pytest.approx(least)


def test_a_bound_is_told_and_changes_no_group():
    values = np.random.default_rng(0).normal(size=(100, 3))
    asked = {"k": 3, "quasi_identifiers": ["v0", "v1", "v2"]}
    plain = shoal.protect(table_of(values), **asked, options={"steps": 100_000})
    proved = shoal.protect(table_of(values), **asked, options={"steps": 100_000, "bound": 30.0})
    assert (plain.summary.bound, plain.summary.gap) == (None, None)
    assert (plain.groups == proved.groups).all()
    loss, bound = proved.summary.information_loss, proved.summary.bound
    assert 0.9 * loss < bound <= loss
    assert proved.summary.gap == pytest.approx(100 * (loss - bound) / loss)


def test_no_partition_is_below_the_bound_of_a_release():
    values = np.random.default_rng(4).normal(size=(11, 2))
    release = shoal.protect(table_of(values), k=3, quasi_identifiers=["v0", "v1"], options={"bound": 30.0})
    scaled = (values - values.mean(axis=0)) / values.std(axis=0, ddof=1)
    least = 100 * least_squares(scaled, 3) / (scaled**2).sum()
    assert 0.7 * least < release.summary.bound <= least * (1 + 1e-12)
    assert release.summary.information_loss == pytest.approx(least)


def test_a_gap_ends_the_search_and_its_steps_repeat_the_release(tmp_path):
    source = tmp_path / "in.csv"
    table_of(np.random.default_rng(1).normal(size=(90, 2))).write_csv(source)
    asked = ["protect", source, "-k", "3", "--all-numeric", "--json", "-o"]
    ended = run(*asked, tmp_path / "a.csv", "--gap", 20, "--time", "10m")
    assert ended.exit_code == 0, ended.stderr
    summary = json.loads(ended.stdout)
    assert 0.0 <= summary["gap"] <= 20.0
    assert summary["bound"] <= summary["information_loss"]
    assert summary["seconds"] < 500  # it ended before its time
    manifest = manifest_of(tmp_path / "a.csv")
    assert manifest["plan_again"]["options"] == {"steps": summary["steps"][0]}
    again = run(*asked, tmp_path / "b.csv", "--steps", summary["steps"][0])
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes(), again.stderr


def test_a_gap_out_of_reach_ends_too_and_says_what_is_proved():
    """Eight points whose linear relaxation is 14 % below the optimum: no gap of 0 can be proved."""
    values = normal(8, 2, seed=8)
    scaled = (values - values.mean(axis=0)) / values.std(axis=0)
    relaxed, least = (100 * found(scaled, 2) / scaled.size for found in (relaxation, least_squares))
    assert relaxed < 0.9 * least
    summary = shoal.protect(table_of(values), k=2, quasi_identifiers=["v0", "v1"], options={"gap": 0.0}).summary
    assert summary.information_loss == pytest.approx(least)
    assert 0.999 * relaxed <= summary.bound < 0.95 * least
    assert summary.gap == pytest.approx(100 * (1 - summary.bound / least))
    assert summary.notes == [f"a gap of 0 % was not reached; {summary.gap:.2f} % is proved"]


def test_one_column_has_no_gap():
    release = shoal.protect(table_of(np.random.default_rng(0).normal(size=(50, 1))), k=3, quasi_identifiers=["v0"])
    assert release.summary.gap == 0.0
    assert release.summary.bound == pytest.approx(release.summary.information_loss)


def test_the_gap_is_that_of_the_values_that_are_released():
    release = shoal.protect(pl.DataFrame({"x": [1, 2, 4, 5]}), k=2, quasi_identifiers="x")
    summary = release.summary
    assert (summary.information_loss, summary.bound) == pytest.approx((20.0, 10.0))  # 2 and 4, and 1.5 and 4.5
    assert summary.gap == pytest.approx(50.0)
    assert "before they were rounded, adapted to rules, or groups grew, it was 0.00 %" in summary.notes[-1]


@pytest.mark.parametrize("scaling", ["z-score", "range", "none"])
def test_the_gap_of_rounded_values_is_on_the_scale_of_the_search(scaling):
    x = np.random.default_rng(2).integers(0, 30, size=(60, 2))
    options = {"steps": 60_000, "bound": 30.0}
    rounded, exact = (
        shoal.protect(table_of(x.astype(kind)), 3, ["v0", "v1"], scaling=scaling, options=options).summary
        for kind in (np.int64, np.float64)
    )
    assert rounded.bound == pytest.approx(exact.bound)
    assert exact.gap < rounded.gap < 100.0


def test_no_time_for_a_proof_claims_nothing():
    values = np.random.default_rng(0).normal(size=(60, 3))
    release = shoal.protect(table_of(values), k=3, quasi_identifiers=["v0", "v1"], options={"steps": 60, "bound": 0.0})
    assert release.summary.bound == 0.0
    assert release.summary.gap == 100.0
    assert any("no lower bound was proved" in note for note in release.summary.notes)


def test_an_interrupted_proof_leaves_the_groups_as_they_are():
    values = np.random.default_rng(3).normal(size=(80, 3))

    def tell(part, cost, bound):
        if bound > 0.0:
            raise KeyboardInterrupt

    found = solve(problem_of(values, 3), Budget(steps=80_000, bound=60.0), tell=tell)
    assert found.interrupted
    assert 0.0 < found.bound <= found.cost
    assert sse(values, found.groups) == pytest.approx(found.cost)


@pytest.mark.parametrize("option", ["gap", "bound"])
@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"aggregators": "median"}, "released as means"),
        ({"weight": "w"}, "without sampling weights"),
        ({"quasi_identifiers": [["v0"], ["v1"]]}, "a single set"),
    ],
)
def test_what_cannot_be_proved_is_an_error(option, asked, message):
    table = table_of(np.random.default_rng(0).normal(size=(20, 2))).with_columns(w=1 + pl.int_range(20) % 3)
    settings = {"k": 3, "quasi_identifiers": ["v0", "v1"], **asked}
    with pytest.raises(shoal.PlanError, match=message):
        shoal.protect(table, **settings, options={option: 1.0})


def test_gap_and_bound_exclude_each_other():
    table = table_of(np.random.default_rng(0).normal(size=(20, 2)))
    with pytest.raises(shoal.PlanError, match="exclude each other"):
        shoal.protect(table, k=3, quasi_identifiers=["v0", "v1"], options={"gap": 1.0, "bound": 1.0})


def test_too_many_records_to_prove_anything():
    assert "up to 6000" in why_no_bound(problem_of(np.zeros((6001, 2)), 3))
    assert why_no_bound(problem_of(np.zeros((6001, 1)), 3)) is None
    assert why_no_bound(problem_of(np.zeros((9000, 2)), 3, np.arange(9000) % 2)) is None


def test_the_gap_is_the_part_of_the_loss_that_could_be_saved():
    assert gap_of(200.0, 150.0) == 25.0
    assert gap_of(0.0, 0.0) == 0.0
