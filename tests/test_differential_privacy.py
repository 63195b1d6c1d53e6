"""Differential privacy: what one record changes, by enumeration; noise by exact chances; what is refused."""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.stats import chisquare

import shoal
from command_line import manifest_of, run
from shoal.aggregate.discrete_laplace import bernoulli_exp, discrete_laplace
from shoal.partition.insensitive import insensitive_groups, sensitivity, sums_of_groups
from shoal.release.privately import STEPS, noisy_means

ASKED = {"epsilon": 1.0, "bounds": {"age": [0, 120], "pay": [0, 5000]}}
SETS = [["age"], ["pay"]]


def people(n=200, seed=3):
    rng = np.random.default_rng(seed)
    return pl.DataFrame({"age": rng.integers(18, 90, n), "pay": rng.gamma(3, 400, n).round(2)})


def private(table=None, k=20, sets=SETS, **asked):
    return shoal.protect(people() if table is None else table, k, sets, differential_privacy={**ASKED, **asked})


# sensitivity ---------------------------------------------------------------------------------------------------------


def sums_by_definition(records, k, steps):
    """Sort whole records by distance from the corner, then by values; add up every k, the last with what is left."""
    order = sorted(records, key=lambda own: (sum(Fraction(one, steps) ** 2 for one in own), own))
    groups = len(order) // k
    parts = [order[g * k : (g + 1) * k if g + 1 < groups else None] for g in range(groups)]
    return [tuple(map(sum, zip(*part, strict=True))) for part in parts]


@pytest.mark.parametrize(
    ("n", "k", "steps", "columns"), [(4, 2, 4, 1), (5, 2, 3, 1), (6, 2, 2, 1), (6, 3, 2, 1), (4, 2, 2, 2), (3, 1, 2, 2)]
)
def test_one_record_changes_sums_by_no_more_than_is_said(n, k, steps, columns):
    """All tables on a tiny domain, and all that differ from each in one record."""
    domain = list(product(range(steps + 1), repeat=columns))
    sums = {}

    def of(table):
        key = tuple(sorted(table))
        if key not in sums:
            units = np.array(key)
            sums[key] = sums_of_groups(units, insensitive_groups(units, k, steps))
            assert [tuple(own) for own in sums[key].tolist()] == sums_by_definition(key, k, steps)
        return sums[key]

    most, most_of_a_group = 0, 0
    for table in {tuple(sorted(one)) for one in product(domain, repeat=n)}:
        for place, other in product(range(n), domain):
            moved = np.abs(of(table) - of((*table[:place], other, *table[place + 1 :])))
            most = max(most, *moved.sum(axis=0))
            most_of_a_group = max(most_of_a_group, moved.max())
    assert most <= sensitivity(steps, n // k, columns)
    assert most_of_a_group <= steps
    if columns == 1:
        assert most == steps  # and no smaller number would do


def test_groups_depend_on_the_number_of_records_alone():
    rng = np.random.default_rng(0)
    for n, k in [(10, 3), (11, 3), (12, 3), (5, 5), (9, 5)]:
        sizes = {tuple(np.bincount(insensitive_groups(rng.integers(0, 9, (n, 2)), k, 8))) for _ in range(20)}
        assert sizes == {(*[k] * (n // k - 1), n - (n // k - 1) * k)}


def test_rows_in_another_order_have_the_same_sums():
    units = np.random.default_rng(1).integers(0, 4, (30, 2))
    mixed = units[np.random.default_rng(2).permutation(30)]
    both = [sums_of_groups(one, insensitive_groups(one, 4, 3)).tolist() for one in (units, mixed)]
    assert both[0] == both[1]


# noise ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(3, 2), Fraction(4)])
def test_noise_has_the_chances_of_the_discrete_laplace_distribution(scale):
    draws, below = 20_000, random.Random(7).randrange
    seen = Counter(discrete_laplace(scale, below) for _ in range(draws))
    ratio = math.exp(-1 / scale)
    chance = {x: (1 - ratio) / (1 + ratio) * ratio ** abs(x) for x in range(-60, 61)}
    assert sum(chance.values()) == pytest.approx(1, abs=1e-6)
    common = [x for x in chance if draws * chance[x] >= 8]
    expected = [draws * chance[x] for x in common]
    found = [seen[x] for x in common]
    rest = (draws - sum(found), draws - sum(expected))
    assert chisquare([*found, rest[0]], [*expected, rest[1]]).pvalue > 0.001


@pytest.mark.parametrize(("numerator", "denominator"), [(0, 1), (1, 3), (1, 1), (7, 8)])
def test_a_chance_of_an_exponential_is_exact(numerator, denominator):
    """Add up the chances of all ways that the draws can go, instead of drawing."""
    chance, reached = Fraction(0), Fraction(1)
    for stop in range(1, 40):  # the draw that is not below the numerator
        ends = 1 - Fraction(numerator, denominator * stop)
        answers = iter([*[0] * (stop - 1), denominator * stop - 1])
        if ends and reached and bernoulli_exp(numerator, denominator, lambda limit, given=answers: next(given)):
            chance += reached * ends
        reached *= 1 - ends
    assert float(chance) == pytest.approx(math.exp(-numerator / denominator), abs=1e-12)


def test_noise_is_calibrated_to_sensitivity_and_its_part_of_the_budget():
    """The spread of noisy means over many releases is that of the stated scale, in sets of one column and of two."""
    rng = np.random.default_rng(5)
    units = rng.integers(STEPS // 3, STEPS // 2, (40, 2))
    for columns in (1, 2):
        own, bounds = units[:, :columns], [(0.0, 1000.0)] * columns
        below = random.Random(11).randrange
        made = [noisy_means(own, bounds, 10, Fraction(40), below) for _ in range(400)]
        groups = 4
        range_of_mean = 1000 * (1 if columns == 1 else groups) / (10 * 40)
        assert made[0].scales == pytest.approx([range_of_mean] * columns)
        means = sums_of_groups(own, insensitive_groups(own, 10, STEPS)) / 10 / STEPS * 1000
        off = np.array([one.values[::10] for one in made]) - means
        assert np.abs(off).mean() == pytest.approx(range_of_mean, rel=0.1)
        assert abs(off.mean()) < 0.15 * range_of_mean


def test_means_of_a_single_column_come_in_order_which_takes_noise_away():
    units = np.random.default_rng(5).integers(0, STEPS, (400, 1))
    true = sums_of_groups(units, insensitive_groups(units, 10, STEPS))[:, 0] / 10 / STEPS
    below = random.Random(13).randrange
    made = [noisy_means(units, [(0.0, 1.0)], 10, Fraction(1, 2), below) for _ in range(30)]
    assert all((np.diff(one.values[:, 0]) >= 0).all() for one in made)
    off = np.array([one.values[::10, 0] for one in made]) - true
    assert np.abs(off).mean() < 0.6 * made[0].scales[0]  # the mean distance of the noise from 0 is its scale


def test_values_are_within_their_bounds_whatever_is_in_the_table():
    table = pl.DataFrame({"age": [-5, 400] * 30, "pay": [math.inf, -math.inf] * 30})
    release = private(table, k=5, epsilon=0.01)
    for name, (low, high) in ASKED["bounds"].items():
        assert release.data[name].min() >= low
        assert release.data[name].max() <= high
    assert release.data["age"].dtype == pl.Int64


def test_with_a_large_budget_sorted_values_are_the_means_of_sorted_groups():
    table = people()
    release = private(table, epsilon=100)
    for name in ASKED["bounds"]:
        means = np.sort(table[name].to_numpy()).reshape(-1, 20).mean(axis=1)
        low, high = ASKED["bounds"][name]
        assert np.sort(release.data[name].to_numpy())[::20] == pytest.approx(means, abs=(high - low) / 50)


def test_rows_belong_to_nobody():
    table = pl.DataFrame({"age": np.arange(100), "pay": np.arange(100) * 10.0})
    orders = [private(table, k=10, epsilon=100).data for _ in range(2)]
    assert orders[0]["age"].to_list() != sorted(orders[0]["age"].to_list())
    assert orders[0]["age"].to_list() != orders[1]["age"].to_list()
    joint = private(table, k=25, sets=[["age", "pay"]], epsilon=100).data
    assert abs(np.corrcoef(orders[0]["age"], orders[0]["pay"])[0, 1]) < 0.5
    assert np.corrcoef(joint["age"], joint["pay"])[0, 1] > 0.9  # columns of one set stay together


# what is told --------------------------------------------------------------------------------------------------------


def test_what_is_told_does_not_depend_on_values(tmp_path):
    """Two tables of the same shape: all but noise, and the checksum of the noisy file, is the same."""
    told = []
    for place, table in enumerate((people(seed=1), people(seed=2))):
        table.write_csv(tmp_path / "in.csv")
        out = tmp_path / str(place) / "out.csv"
        out.parent.mkdir()
        release = shoal.protect(tmp_path / "in.csv", 20, SETS, differential_privacy=ASKED, output=out)
        manifest = manifest_of(out)
        assert len(manifest["output"].pop("sha256")) == 64
        told.append((manifest, release.summary, repr(release), release._repr_html_()))
        assert release.original is None
        assert release.source is None
        assert len(release.groups) == 0
    assert told[0] == told[1]
    manifest = told[0][0]
    assert sorted(manifest) == ["guarantee", "output", "plan", "shoal", "summary", "versions"]
    assert "seed" not in json.dumps(manifest)
    assert manifest["guarantee"].startswith("1-differential privacy: for any two tables of 200 records of which one")
    assert told[0][1].columns["age"].epsilon == "1/2"
    assert told[0][1].columns["age"].scale == pytest.approx(120 / (20 * 0.5))
    assert "experimental" in told[0][1].notes[0]


def test_noise_is_new_in_every_release_and_no_seed_repeats_it():
    assert not private().data.sort("age").equals(private().data.sort("age"))
    plan = shoal.Plan(k=20, quasi_identifiers=SETS, differential_privacy=ASKED)
    assert "seed" not in plan.to_yaml()
    assert shoal.Plan.from_yaml(plan.to_yaml()) == plan
    for seed in (0, 5):
        with pytest.raises(shoal.PlanError, match="seed: does not go with differential_privacy: whoever knows it"):
            shoal.protect(people(), 20, SETS, differential_privacy=ASKED, seed=seed)


@pytest.mark.parametrize("library", ["pandas", "pyarrow", "polars"])
def test_tables_of_any_kind_come_back_without_labels_of_rows(library):
    table = people()
    if library == "pandas":
        table = table.to_pandas().set_index(pd.Index([f"name {i}" for i in range(200)]))
    given = table.to_arrow() if library == "pyarrow" else table
    release = private(given)
    assert type(release.data) is type(given)
    assert len(release.data) == 200
    if library == "pandas":
        assert release.data.index.equals(pd.RangeIndex(200))
    if library == "pyarrow":
        assert release.data.schema.field("age").type == pa.int64()


# what is refused -----------------------------------------------------------------------------------------------------

REFUSED = {
    "no bounds": ({"differential_privacy": {"epsilon": 1, "bounds": {"age": [0, 120]}}}, "bounds: 'pay' has none"),
    "bounds of nothing": ({"quasi_identifiers": ["age"]}, "bounds: 'pay' is not a quasi-identifier"),
    "bounds the wrong way": ({"bounds": {"age": [9, 1], "pay": [0, 1]}}, "least value of 'age' must be below the larg"),
    "bounds of one number": ({"bounds": {"age": 9}}, "give two numbers for each column"),
    "infinite bounds": ({"bounds": {"age": [0, math.inf], "pay": [0, 1]}}, "must be a finite number"),
    "no budget": ({"epsilon": 0}, "differential_privacy.epsilon: must be at least"),
    "no such setting": ({"delta": 1e-5}, "there is no setting 'differential_privacy.delta'"),
    "missing beyond": ({"missing": {"age": 500}}, "missing: the value of 'age' must be within its bounds"),
    "a method": ({"method": "mdav"}, "method: does not go with differential_privacy: groups are those"),
    "refine": ({"refine": True}, "refine: does not go with"),
    "a kept column": ({"confidential": "kept"}, "confidential: .* a column that is kept as it is voids the guarantee"),
    "weights": ({"weight": "kept"}, "weight: .* a weight is a value of the table without noise"),
    "strata": ({"strata": "kept"}, "strata: does not go with"),
    "scaling": ({"scaling": "z-score"}, "scaling: .* columns are scaled by their bounds"),
    "aggregators": ({"aggregators": "median"}, "aggregators: does not go with"),
    "patterns": ({"missing_patterns": "ignored"}, "missing_patterns: does not go with"),
    "conditions": ({"conditions": {"kept": {"distinct": 2}}}, "conditions: does not go with"),
    "dominance": ({"dominance": {"p": 5}}, "dominance: does not go with"),
    "blocking": ({"blocking": "2d-tree"}, "blocking: does not go with"),
    "an engine": ({"engine": "duckdb"}, "engine: does not go with"),
    "rules": ({"rules": ["age >= 0"]}, "rules: does not go with"),
    "households": ({"household": "kept"}, "household: does not go with"),
    "decimals": ({"decimals": 1}, "decimals: does not go with"),
    "every column": ({"quasi_identifiers": "auto"}, "quasi_identifiers: name them"),
    "every number": ({"quasi_identifiers": None, "all_numeric": True}, "quasi_identifiers: name them"),
    "a report": ({"report": "report.html"}, "reports and certificates compare a release with its original"),
    "a column without a role": ({"identifiers": None}, "'kept' would be kept without noise, which voids the guarantee"),
    "too few": ({"k": 300}, "the table has 200 records, fewer than k = 300"),
    "text": (
        {
            "quasi_identifiers": ["age", "pay", "kept"],
            "identifiers": None,
            "bounds": {"age": [0, 1], "pay": [0, 1], "kept": [0, 1]},
        },
        "column 'kept' is nominal",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_would_void_the_guarantee_is_refused_before_any_work(tmp_path, case, monkeypatch):
    monkeypatch.chdir(tmp_path)
    changed, words = REFUSED[case]
    inside = {name: changed[name] for name in ("epsilon", "bounds", "missing", "delta") if name in changed}
    changed = {name: value for name, value in changed.items() if name not in inside}
    asked = {"k": 20, "quasi_identifiers": SETS, "identifiers": "kept", "differential_privacy": {**ASKED, **inside}}
    asked |= changed
    if case in ("a kept column", "weights", "strata", "conditions", "households"):
        del asked["identifiers"]
    table = people().with_columns(kept=pl.lit("x"))
    with pytest.raises((shoal.PlanError, shoal.DataError), match=words):
        shoal.protect(table, **asked, output="out.csv")
    assert not list(tmp_path.iterdir())


def test_missing_values_need_a_word():
    table = people().with_columns(age=pl.when(pl.col("pay") > 1500).then(None).otherwise("age"))
    with pytest.raises(shoal.DataError, match="column 'age' has missing values; say what they count as"):
        private(table)
    release = private(table, missing={"age": 120}, epsilon=100)
    filled = np.sort(table["age"].fill_null(120).to_numpy()).reshape(-1, 20).mean(axis=1)
    assert np.sort(release.data["age"].to_numpy())[::20] == pytest.approx(filled, abs=2.5)
    assert release.data["age"].null_count() == 0


def test_nothing_compares_a_release_with_its_original(tmp_path):
    table = people()
    table.write_csv(tmp_path / "in.csv")
    release = shoal.protect(tmp_path / "in.csv", 20, SETS, differential_privacy=ASKED, output=tmp_path / "out.csv")
    words = "compare a release with its original record by record"
    refused = [
        release.measure,
        lambda: release.report(tmp_path / "r.html"),
        lambda: release.certificate(tmp_path / "c.json"),
        lambda: release.write(tmp_path / "b.csv", report=tmp_path / "r.html"),
        lambda: shoal.measure(tmp_path / "in.csv", tmp_path / "out.csv"),
        lambda: shoal.sweep(table, "2,3", ["mdav"], SETS, differential_privacy=ASKED),
    ]
    for call in refused:
        with pytest.raises(shoal.PlanError, match=words):
            call()
    for place in ("-", "postgresql://db.example/census#t"):
        with pytest.raises(shoal.PlanError, match="the release is written to a file"):
            release.write(place)
    with pytest.raises(shoal.FileError):
        release.write(tmp_path / "in.csv")  # the original
    assert {path.name for path in tmp_path.iterdir()} == {"in.csv", "out.csv", "out.csv.manifest.json"}


def test_the_command_line_says_the_same_and_that_it_is_experimental(tmp_path):
    people().with_columns(name=pl.lit("x")).write_csv(tmp_path / "in.csv")
    words = ["protect", tmp_path / "in.csv", "-o", tmp_path / "out.csv", "-k", 20, "-q", "age", "-q", "pay"]
    flags = ["--drop", "name", "--epsilon", 1, "--bounds", "age=0:120", "--bounds", "pay=0:5000"]
    done = run(*words, *flags, "--missing-as", "age=40")
    assert done.exit_code == 0, done.stderr
    assert "note: differential privacy is experimental" in done.stderr
    assert "1-differential privacy" in done.stdout
    asked = manifest_of(tmp_path / "out.csv")["plan"]["differential_privacy"]
    assert asked == {**ASKED, "missing": {"age": 40.0}}
    assert pl.read_csv(tmp_path / "out.csv").columns == ["age", "pay"]
    as_json = run(*words, *flags, "--force", "--json")
    assert json.loads(as_json.stdout)["experimental"] is True
    assert "have no effect without --epsilon" in run(*words, "--bounds", "age=0:120").stderr
    assert "--bounds age=0-120: write it as age=0:120" in run(*words, *flags[:4], "--bounds", "age=0-120").stderr
