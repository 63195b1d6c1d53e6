"""What is proved about a release: bounds against all partitions, gaps that end a search, and what cannot be proved."""

from __future__ import annotations

import ast
import itertools
import json
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import check_certificate as checker
import shoal
from all_partitions import all_groups, least_squares, relaxation, squares
from command_line import manifest_of, run
from reference import sse
from shoal.partition.optimal import listing
from shoal.partition.optimal.certificate import prove, why_no_bound
from shoal.partition.optimal.problem import Problem
from shoal.partition.search.budget import Budget
from shoal.partition.search.found import gap_of
from small_tables import normal, table_of
from test_optimal import solve

ROOT = Path(__file__).resolve().parents[1]


def problem_of(values, k, blocks=None):
    return Problem(values, None, np.zeros(len(values), dtype=np.int64) if blocks is None else blocks, None, k)


@pytest.mark.parametrize("seed", range(3))
def test_the_bounds_of_blocks_add_up_to_one_below_the_optimum(seed):
    values = np.random.default_rng(seed).normal(size=(16, 2))
    blocks = np.arange(16) % 2
    found = solve(problem_of(values, 3, blocks), Budget())
    bound, complete, *_ = prove(problem_of(values, 3, blocks), found.groups, time.monotonic() + 600.0, 1)
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
    """Cuts close what the relaxation leaves open, but what is taken off for rounding leaves no gap of 0."""
    pairs = np.repeat([[50.0, 0.0], [-50.0, 0.0], [0.0, 50.0], [0.0, -50.0]], 2, axis=0)
    values = np.concatenate([np.random.default_rng(28).normal(size=(9, 2)), pairs])
    scaled = (values - values.mean(axis=0)) / values.std(axis=0)
    relaxed, least = 100 * relaxation(scaled, 2) / scaled.size, 100 * least_squares(scaled[:9], 2) / scaled.size
    assert relaxed < 0.9 * least
    summary = shoal.protect(table_of(values), k=2, quasi_identifiers=["v0", "v1"], options={"gap": 0.0}).summary
    assert summary.information_loss == pytest.approx(least)
    assert 0.9999 * least <= summary.bound < least
    assert summary.gap == pytest.approx(100 * (1 - summary.bound / least))
    assert summary.notes[-1].startswith("a gap of 0 % was not reached; 0.00")


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
    release = shoal.protect(table_of(values), k=3, quasi_identifiers=["v0", "v1"], options={"steps": 60, "bound": 1e-9})
    assert release.summary.bound == 0.0
    assert release.summary.gap == 100.0
    assert any("no lower bound was proved" in note for note in release.summary.notes)


def test_an_interrupted_proof_leaves_the_groups_as_they_are():
    values = np.random.default_rng(3).normal(size=(80, 3))

    def tell(part, cost, bound):
        if bound > 0.0:
            raise KeyboardInterrupt

    found = solve(problem_of(values, 3), Budget(steps=80_000, bound=60.0), tell=tell)
    assert found.proof.interrupted
    assert not found.interrupted  # the search was done
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


@pytest.fixture(scope="module")
def certified(tmp_path_factory):
    """A table of 60 records, and the certificate of its release with k = 3."""
    folder = tmp_path_factory.mktemp("certified")
    table_of(np.random.default_rng(7).normal(size=(60, 3))).write_csv(folder / "in.csv")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(listing, "MOST", 0)  # lists of groups have tests of their own
        made = run(
            "protect", folder / "in.csv", "-k", 3, "--all-numeric", "--steps", 60_000, "--bound", "60s",
            "-o", folder / "out.csv", "--certificate", folder / "proof.json", "--json",
        )  # fmt: skip
    assert made.exit_code == 0, made.stderr
    return folder, json.loads(made.stdout)


def leaves_of(tree):
    return [tree] if "pair" not in tree else leaves_of(tree["together"]) + leaves_of(tree["apart"])


def changed(folder, name, **changes):
    """Write a certificate with changes; those of prices and cuts are made in every branch."""
    certificate = json.loads((folder / "proof.json").read_text())
    of_leaves = {key: change for key, change in changes.items() if key in ("prices", "cuts")}
    for leaf in [leaf for own in certificate["branches"] for leaf in leaves_of(own["tree"])]:
        leaf |= {key: change(leaf) for key, change in of_leaves.items()}
    certificate |= {key: change(certificate) for key, change in changes.items()}
    path = folder / f"{name}.json"
    path.write_text(json.dumps(certificate))
    return path


def with_cuts(certificate, multiplier, **changes):
    """The cuts of a certificate, all of them changed."""
    return [cut | changes | {"multiplier": multiplier(cut["multiplier"])} for cut in certificate["cuts"]]


def other(certificate, cost=1.0, groups=None):
    """A better partition, said to cost a part of that of the certificate."""
    return {"groups": groups or certificate["groups"], "cost": cost * certificate["cost"]}


def test_a_written_certificate_is_true_and_says_what_the_summary_says(certified, capsys):
    folder, summary = certified
    assert checker.main([str(folder / "proof.json"), str(folder / "in.csv")]) == 0
    said = capsys.readouterr().out
    assert f"loses {summary['information_loss']:.6f} %" in said
    assert f"gap {summary['gap']:.4f} %" in said
    assert summary["gap"] < 10.0


def test_a_better_partition_that_the_proof_finds_is_told_and_written(certified, capsys):
    """A search of a thousand proposals a record misses the optimum of 60 records, and the branches do not."""
    folder, summary = certified
    certificate = json.loads((folder / "proof.json").read_text())
    assert certificate["better"]["cost"] < certificate["cost"]
    assert certificate["better"]["cost"] * (1 - 1e-4) <= certificate["proved"] <= certificate["better"]["cost"]
    saved = 100.0 * (1.0 - certificate["better"]["cost"] / certificate["cost"])
    assert any(f"groups that lose {saved:.4f} % less" in note for note in summary["notes"])
    assert checker.main([str(folder / "proof.json"), str(folder / "in.csv")]) == 0
    assert "a better partition is known" in capsys.readouterr().out


def test_the_checker_shares_no_code_with_shoal():
    nodes = [node for path in (ROOT / "tools").glob("*.py") for node in ast.walk(ast.parse(path.read_text()))]
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module for node in nodes if isinstance(node, ast.ImportFrom)]
    assert {"json", "cheaper_groups"} <= set(names)
    assert not any(name.split(".")[0] == "shoal" for name in names)


@pytest.mark.parametrize(
    ("name", "changes", "reason"),
    [
        ("one price higher", {"prices": lambda c: [c["prices"][0] + 0.2, *c["prices"][1:]]}, "cost less than"),
        ("all prices higher", {"prices": lambda c: [1.001 * price for price in c["prices"]]}, "cost less than"),
        ("a higher bound", {"proved": lambda c: 1.0001 * c["proved"]}, "its prices prove"),
        ("a lower cost", {"cost": lambda c: 0.999 * c["cost"]}, "the cost of the partition"),
        ("another partition", {"groups": lambda c: sorted(c["groups"])}, "the cost of the partition"),
        ("a group too small", {"groups": lambda c: [99, *c["groups"][1:]]}, "fewer than 3"),
        ("another k", {"k": lambda c: 2}, "cost less than"),
        ("a larger k", {"k": lambda c: 4}, "fewer than 4"),
        ("records left out", {"groups": lambda c: c["groups"][1:]}, "59 records"),
        ("blocks that groups cross", {"blocks": lambda c: [0, 1] * 30}, "crosses blocks"),
        ("prices that are no numbers", {"prices": lambda c: [float("nan")] * 60}, "finite"),
        ("no cuts", {"cuts": lambda c: []}, "cost less than"),
        ("multipliers that are lower", {"cuts": lambda c: with_cuts(c, lambda m: 0.9 * m)}, "cost less than"),
        ("multipliers that are higher", {"cuts": lambda c: with_cuts(c, lambda m: 1.1 * m)}, "its prices prove"),
        ("a multiplier below 0", {"cuts": lambda c: with_cuts(c, lambda m: -m)}, "at least 0"),
        ("every record counts", {"cuts": lambda c: with_cuts(c, float, every=1)}, "every two records"),
        ("more records count", {"cuts": lambda c: with_cuts(c, float, every=3)}, "cost less than"),
        ("a record twice", {"cuts": lambda c: with_cuts(c, float, records=[5, 5, 6])}, "a set of records"),
        ("a better partition that costs less", {"better": lambda c: other(c, cost=0.9)}, "of the better partition"),
        ("a better partition of a few", {"better": lambda c: other(c, groups=c["groups"][1:])}, "59 records"),
        ("a better one of small groups", {"better": lambda c: other(c, groups=[99, *c["groups"][1:]])}, "fewer than 3"),
        ("records of other groups", {"cuts": lambda c: with_cuts(c, float, records=[0, 1, 2])}, "cost less than"),
    ],
)
def test_a_tampered_certificate_fails(certified, capsys, name, changes, reason):
    folder, _ = certified
    assert checker.main([str(changed(folder, name, **changes)), str(folder / "in.csv")]) == 1
    assert reason in capsys.readouterr().out


def test_a_certificate_of_other_data_fails(certified, capsys):
    folder, _ = certified
    table = pl.read_csv(folder / "in.csv")
    table.with_columns(pl.col("v0").reverse()).write_csv(folder / "other.csv")
    assert checker.main([str(folder / "proof.json"), str(folder / "other.csv")]) == 1
    table.select("v0", "v1").write_csv(folder / "fewer.csv")
    assert checker.main([str(folder / "proof.json"), str(folder / "fewer.csv")]) == 1
    assert "does not have the columns" in capsys.readouterr().out


@pytest.mark.parametrize("k", [2, 4, 5])
@pytest.mark.parametrize("seed", range(3))
def test_the_checker_finds_every_group_below_its_prices(seed, k):
    """Prices that just one group of k is below, and the same a little lower, by enumeration of all groups."""
    rng = np.random.default_rng(seed)
    values, prices = rng.normal(size=(13, 2)), rng.uniform(0.1, 1.0, 13)
    costs = {rows: squares(values[list(rows)]) for rows in itertools.combinations(range(13), k)}
    factor = min(cost / prices[list(rows)].sum() for rows, cost in costs.items())
    proved = checker.least_of_block(values, prices * factor * (1 - 1e-12), k)
    assert proved == pytest.approx(prices.sum() * factor)
    assert proved <= prices.sum() * factor
    with pytest.raises(checker.UntrueError):
        checker.least_of_block(values, prices * factor * (1 + 1e-12), k)


@pytest.mark.parametrize("k", [2, 3, 4, 5])
@pytest.mark.parametrize(
    "sets",
    [
        [([0, 1, 2], 2), ([2, 3, 4, 5, 6], 2), ([4, 5, 6, 7, 8], 3)],
        [([0, 1, 2, 3], 3), ([4, 5, 6, 7, 8], 3)],
        [([0, 2, 4, 6, 8, 10], 4), ([1, 3, 5, 7, 9, 11, 12], 4)],
    ],
    ids=["that meet", "of which one group holds most", "of which one group holds most, larger"],
)
@pytest.mark.parametrize("seed", range(4))
def test_the_checker_finds_every_group_below_its_prices_less_its_fines(seed, sets, k):
    """Groups of k to 2k - 1, by enumeration; larger ones that pay nothing are known from their subsets of k."""
    rng = np.random.default_rng(seed)
    values, prices = rng.normal(size=(13, 2)), rng.uniform(0.3, 1.0, 13)
    fines = rng.uniform(0.0, 0.05, len(sets))
    if seed >= 2 and all(len(own) // 2 < every <= k for own, every in sets):
        # records of a set lie close together: groups of k pay more than they save, and larger ones do not
        for own, _ in sets:
            values[own] = 10.0 * values[own[0]] + 0.1 * values[own]
        fines += 0.5
    factor = np.inf
    for rows in all_groups(13, k):
        paid = sum(fine * (len(set(rows) & set(own)) // every) for (own, every), fine in zip(sets, fines, strict=True))
        factor = min(factor, (squares(values[list(rows)]) + paid) / prices[list(rows)].sum())
    allowed = sum(fine * (len(own) // every) for (own, every), fine in zip(sets, fines, strict=True))
    cuts = [(own, every, fine) for (own, every), fine in zip(sets, fines, strict=True)]
    proved = checker.least_of_block(values, prices * factor * (1 - 1e-12), k, cuts)
    assert proved == pytest.approx(prices.sum() * factor - allowed, abs=1e-9)
    with pytest.raises(checker.UntrueError):
        checker.least_of_block(values, prices * factor * (1 + 1e-12), k, cuts)


@pytest.mark.parametrize(
    ("values", "asked"),
    [
        (np.random.default_rng(0).normal(size=(12, 1)), {}),
        (np.random.default_rng(0).normal(size=(5, 2)), {}),
        (np.random.default_rng(0).normal(size=(11, 2)), {}),
        (np.ones((9, 2)), {}),
        (np.random.default_rng(0).normal(size=(30, 2)), {"strata": "s"}),
        (np.random.default_rng(0).integers(0, 4, size=(20, 2)), {"scaling": "range"}),
    ],
    ids=["one column", "one group", "a few", "nothing to lose", "strata", "ties and ranges"],
)
def test_certificates_of_other_kinds_are_true(tmp_path, values, asked):
    table = table_of(values).with_columns(s=pl.int_range(len(values)) % 2)
    table.write_csv(tmp_path / "in.csv")
    names = [name for name in table.columns if name != "s"]
    options = {"steps": 20_000, "bound": 30.0}
    release = shoal.protect(tmp_path / "in.csv", 3, names, **asked, options=options)
    path = release.certificate(tmp_path / "proof.json")
    assert checker.main([str(path), str(tmp_path / "in.csv")]) == 0


def test_a_certificate_without_a_bound_is_refused_before_any_work(tmp_path):
    table = table_of(normal(20, 2, seed=0))
    with pytest.raises(shoal.PlanError, match="ask for one with the option bound"):
        shoal.protect(table, 3, ["v0", "v1"], certificate=tmp_path / "proof.json")
    with pytest.raises(shoal.FileError, match=r"ends in \.json"):
        shoal.protect(table, 3, ["v0", "v1"], options={"bound": 1.0}, certificate=tmp_path / "proof.txt")
