"""Records that change places between groups, so that rules cost less."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.rules.exchanging import Bound, exchange_records

RULE = "if sex = 'M' then births = 0"


def births(records=300, seed=0, others="vwxyz", **more):
    """Births that are 0 wherever a column that is released as it is says M."""
    draw = np.random.default_rng(seed)
    sex = np.where(draw.random(records) < 0.5, "M", "F")
    number = np.where(sex == "F", draw.integers(0, 6, records), 0)
    return pl.DataFrame({"sex": sex, "births": number, **{name: draw.normal(size=records) for name in others}, **more})


def protect(table, k=10, rules=(RULE,), **asked):
    asked = {"method": "mdav", **asked}
    columns = [name for name in table.columns if name in ("births", *"vwxyz")]
    return shoal.protect(table, k, columns, rules=list(rules) or None, **asked)


BLOCKS = {"method": "spread-tree", "size": 150}


@pytest.mark.parametrize("method", ["mdav", "v-mdav", "optimal"])
@pytest.mark.parametrize(
    "asked",
    [{}, {"weight": "mass"}, {"strata": "town"}, {"blocking": BLOCKS}],
    ids=["plain", "weight", "strata", "blocks"],
)
def test_places_change_where_that_loses_less_and_every_promise_holds(method, asked, monkeypatch):
    draw = np.random.default_rng(1)
    table = births(mass=draw.integers(1, 9, 300), town=np.where(draw.random(300) < 0.5, "Reus", "Vic"))
    asked = {"method": method, **asked}
    if method == "optimal":
        asked["options"] = {"steps": 3000}
    release = protect(table, 5, **asked)
    data = release.data
    assert (data.filter(pl.col("sex") == "M")["births"] == 0).all()
    names = ["births", *"vwxyz"]
    assert min(data.group_by(names).len()["len"]) >= 5
    if "strata" in asked:
        assert data.group_by(names).agg(pl.col("town").n_unique())["town"].max() == 1
    monkeypatch.setattr("shoal.release.ruled._ROUNDS", 0)
    before = protect(table, 5, **asked).summary.information_loss
    assert release.summary.information_loss <= before
    if method == "mdav" and "blocking" not in asked:
        assert release.summary.information_loss < 0.99 * before
        assert "records that changed places" in release.summary.rules[0].kept_by


def test_few_records_that_ask_for_a_repair_come_together():
    """One record in a hundred is of a kind that needs the highest value, and stands among others in plain groups."""
    draw = np.random.default_rng(3)
    doctor = np.zeros(1200, dtype=bool)
    doctor[draw.choice(1200, 40, replace=False)] = True
    years = np.where(doctor, 16, draw.integers(1, 16, 1200))
    table = pl.DataFrame({"sex": np.where(doctor, "D", "-"), "births": years, "x": draw.exponential(size=1200)})
    summary = protect(table, 20, ["if sex = 'D' then births = 16"]).summary
    assert 0 < summary.rules[0].would_break < 12 * 4
    assert summary.information_loss < 1.1 * summary.loss_without_rules


def test_groups_with_missing_cells_and_preferences_stay_as_they_are(monkeypatch):
    table = births(120)
    holes = table.with_columns(x=pl.when(pl.int_range(pl.len()) % 3 == 0).then(None).otherwise("x"))
    data = protect(holes, 5).data
    assert (data.filter((pl.col("sex") == "M") & pl.col("births").is_not_null())["births"] == 0).all()
    names = ["births", *"vwxyz"]
    assert min(data.group_by(names).len()["len"]) >= 5
    rules = [RULE, "prefer 0.2 x <= y"]
    soft = protect(table, 5, rules).data
    monkeypatch.setattr("shoal.release.ruled._ROUNDS", 0)
    assert protect(table, 5, rules).data.equals(soft)


def least(x, asking, value, k):
    """Try all ways to put records into groups of k, where the first column of one with an asking record is a value."""

    def cost(rows):
        centre = x[rows].mean(axis=0)
        centre[0] = value if asking[rows].any() else centre[0]
        return ((x[rows] - centre) ** 2).sum()

    def best(left):
        if len(left) < 2 * k:
            return cost(left)
        first, rest = left[0], left[1:]
        return min(
            cost([first, *some]) + best([i for i in rest if i not in some])
            for size in range(k - 1, len(left) - k)
            for some in itertools.combinations(rest, size)
        )

    return best(list(range(len(x))))


def test_small_tables_lose_little_more_than_the_best_of_all_partitions(monkeypatch):
    with_places, without, best = 0.0, 0.0, 0.0
    for seed in range(12):
        draw = np.random.default_rng(seed)
        z = draw.normal(size=(9, 2))
        asking = np.arange(9) % 4 == 0
        z[asking, 0] = 2.5
        table = pl.DataFrame({"sex": np.where(asking, "M", "F"), "births": z[:, 0], "x": z[:, 1]})
        scaled = (z - z.mean(axis=0)) / z.std(axis=0)
        best += 100 * least(scaled, asking, scaled[0, 0], 3) / scaled.size
        rule = "if sex = 'M' then births = 2.5"
        with monkeypatch.context() as patched:
            with_places += protect(table, 3, [rule]).summary.information_loss
            patched.setattr("shoal.release.ruled._ROUNDS", 0)
            without += protect(table, 3, [rule]).summary.information_loss
    assert best - 1e-9 <= with_places < without
    assert with_places < 1.15 * best


def test_only_groups_of_one_stratum_exchange_and_fixed_records_stay():
    x = np.array([[9.0], [0.0], [9.0], [0.0]])
    asked = {
        "released": np.full((2, 1), 9.0),
        "changed": np.ones((2, 1), dtype=bool),
        "bound": [Bound(x[:, 0] == 9.0, np.ones(1, dtype=bool))],
    }
    groups, nobody = np.array([0, 0, 1, 1]), np.zeros(4, dtype=bool)
    same, two = np.zeros(4, dtype=int), np.array([0, 0, 1, 1])
    assert exchange_records(x, groups, apart=same, fixed=nobody, **asked).tolist() == [1, 0, 1, 0]
    assert exchange_records(x, groups, apart=two, fixed=nobody, **asked).tolist() == [0, 0, 1, 1]
    assert exchange_records(x, groups, apart=same, fixed=np.arange(4) == 1, **asked).tolist() == [0, 0, 1, 1]
