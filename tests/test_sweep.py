"""Sweeps: what is asked for, what runs, figures and samples."""

import re

import numpy as np
import pandas as pd
import pytest

import shoal
import shoal.cli
from shoal.sweeps.combinations import draw_samples, parse_ks, parse_methods, sampled_rows
from shoal.sweeps.results import PERCENTAGES
from shoal.tables.table import open_table
from sweep_tables import COLUMNS, beaten, counted_runs, small_survey


@pytest.fixture(scope="module")
def survey():
    return small_survey()


@pytest.fixture
def started(monkeypatch):
    return counted_runs(monkeypatch)


# what is asked for


@pytest.mark.parametrize(
    ("text", "expected"),
    [("5", [5]), ("2:5", [2, 3, 4, 5]), ("2:9:3", [2, 5, 8]), ("10,3, 5", [3, 5, 10]), ("2:4,4:6:2", [2, 3, 4, 6])],
)
def test_k_as_text(text, expected):
    assert parse_ks(text) == expected


@pytest.mark.parametrize(
    ("k", "said"),
    [("x", "'x' is none of"), ("5:2", "smaller k first"), ("2:9:0", "step of at least 1"), ("", "is none of"),
     ("1:4", "at least 2"), ("2:3:4:5", "none of"), ([2.5], "whole numbers"), (True, "whole numbers"),
     ([], "name at least one")],
)  # fmt: skip
def test_a_wrong_k_is_told(k, said):
    with pytest.raises(shoal.PlanError, match=said):
        parse_ks(k)


def test_methods_with_options_of_their_own():
    assert parse_methods("mdav, iv-mdav") == [("mdav", None), ("iv-mdav", None)]
    assert parse_methods(["v-mdav:gamma=1.1", ("v-mdav", {"gamma": 0.2})]) == [
        ("v-mdav", {"gamma": "1.1"}),
        ("v-mdav", {"gamma": 0.2}),
    ]


def test_all_mistakes_are_told_at_once_before_anything_runs(survey, started, tmp_path):
    with pytest.raises(shoal.PlanError) as told:
        shoal.sweep(
            survey, "2:4,x,1", "mdav,v-mdav:gama=1,nothing,mdav", ["age", "heigt"], risk="dblr", loss="pill",
            max_risk=101, sample=120, repeats=1, threads=0, known=["hour"], method="mdav", scaling="zscore",
            output=tmp_path / "out",
        )  # fmt: skip
    words = [
        "k: 'x'", "k: must be at least 2", "'nothing'", "'mdav' is named twice", "did you mean 'height'",
        "did you mean 'dbrl'", "did you mean 'pil'", "max_risk", "sample: must be fewer than the 120 records",
        "repeats: must be at least 2", "threads", "known: column 'hour'", "method: a sweep takes methods", "scaling",
    ]  # fmt: skip
    assert [word for word in words if word not in str(told.value)] == []
    assert started == []
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"repeats": 3}, "repeats: has no effect without sample"),
        ({"k": [5, 121]}, "fewer than k = 121"),
        ({"k": [40], "sample": 30}, "30 records are fewer than k = 40"),
        ({"k": [40], "strata": "region"}, "fewer than k = 40 records"),
        ({"k": [12], "strata": "region", "sample": 40}, "in a sample, "),
        ({"methods": ["v-mdav:gama=1"]}, "no option 'gama'; did you mean 'gamma'"),
        ({"methods": []}, "methods: name at least one"),
        ({"k": [30], "blocking": {"method": "2d-tree", "size": 40}}, "at least 2 k = 60"),
        ({"known": ["satisfied"], "identifiers": ["satisfied"]}, "removed as an identifier"),
        ({"fold": 3}, "no setting 'fold'"),
    ],
)
def test_what_does_not_fit_is_told_before_anything_runs(survey, started, how, said):
    how = {"k": [3], "methods": ["mdav"], "quasi_identifiers": COLUMNS, **how}
    with pytest.raises((shoal.PlanError, shoal.DataError), match=re.escape(said)):
        shoal.sweep(survey, **how)
    assert started == []


def test_k_and_method_of_a_plan_are_replaced_and_its_options_go_to_its_method(survey):
    plan = shoal.Plan(k=9, quasi_identifiers=COLUMNS, method="v-mdav", options={"gamma": 1.1}, scaling="range")
    found = shoal.sweep(survey, [3, 4], ["mdav", "v-mdav"], plan=plan)
    assert [(r.name, r.k) for r in found.results] == [
        ("mdav", 3),
        ("mdav", 4),
        ("v-mdav:gamma=1.1", 3),
        ("v-mdav:gamma=1.1", 4),
    ]
    assert {r.plan.scaling for r in found.results} == {"range"}
    with pytest.raises(shoal.PlanError, match="options for method 'v-mdav', which is not swept"):
        shoal.sweep(survey, [3], ["mdav"], plan=plan)


# figures


def test_figures_are_those_of_protect_and_measure(survey):
    how = {"weight": "weight", "strata": ["region"], "aggregators": "median", "small_strata": "merge"}
    found = shoal.sweep(survey, "4,9", ["mdav", "v-mdav:gamma=1.1"], COLUMNS, known=["age", "region"], **how)
    assert len(found.results) == 4
    for own in found.results:
        release = shoal.protect(survey, own.k, COLUMNS, method=own.method, options=own.plan.options, **how)
        assert release.plan == own.plan
        measured = release.measure(known=["age", "region"])
        for name in (*PERCENTAGES, "k_anonymity", "suppressed_cells"):
            expected = measured[name]
            assert getattr(own, name) == (expected if expected is None else pytest.approx(expected, rel=1e-9)), name
        for name in ("groups", "smallest_group", "largest_group"):
            assert getattr(own, name) == release.summary[name]


def test_threads_do_not_change_the_results(survey):
    one, three = (
        shoal.sweep(survey, "3,6", quasi_identifiers=COLUMNS, threads=threads).table.drop("seconds")
        for threads in (1, 3)
    )
    assert len(one) == 12
    assert one.equals(three)


def test_pandas_and_pyarrow_give_what_polars_gives(survey):
    tables = [
        shoal.sweep(data, [3, 5], ["mdav"], COLUMNS, sample=60, repeats=2).table.drop("seconds")
        for data in (survey, survey.to_pandas().set_index(pd.Index(range(500, 380, -1))), survey.to_arrow())
    ]
    assert tables[0].equals(tables[1])
    assert tables[0].equals(tables[2])


def test_the_table_marks_the_front_and_the_recommendation(survey):
    found = shoal.sweep(survey, "2:9", ["mdav", "ldf"], COLUMNS)
    table = found.table
    points = list(zip(table["dbrl"], table["information_loss"], strict=True))
    assert table["front"].to_list() == [not any(beaten(one, other) for other in points) for one in points]
    assert table.filter("recommended").select("method", "k").rows() == [(found.recommended.method, found.recommended.k)]
    assert [r.dbrl for r in found.front] == sorted((r.dbrl for r in found.front), reverse=True)


# samples


def test_samples_are_drawn_without_replacement_and_from_the_seed(survey):
    rows = sampled_rows(50, 20, 4, seed=7)
    assert all(len(set(one.tolist())) == 20 and one.min() >= 0 and one.max() < 50 for one in rows)
    assert len({tuple(one) for one in rows}) == 4
    assert not np.array_equal(rows[0], sampled_rows(50, 20, 4, seed=8)[0])
    sample = draw_samples(open_table(survey), 20, 1, seed=7)[0]
    assert sample.native.equals(survey[sampled_rows(120, 20, 1, seed=7)[0]])


def test_the_error_of_a_sample_is_that_of_the_mean_over_the_samples(survey):
    found = shoal.sweep(survey, [3, 5], ["mdav"], COLUMNS, sample=50, repeats=4, seed=3)
    for own in found.results:
        losses, links = [], []
        for rows in sampled_rows(120, 50, 4, seed=3):
            release = shoal.protect(survey[rows], own.k, COLUMNS, method="mdav")
            losses.append(release.summary.information_loss)
            links.append(release.measure().dbrl)
        for name, values in (("information_loss", losses), ("dbrl", links)):
            mean = sum(values) / 4
            error = (sum((value - mean) ** 2 for value in values) / 3 / 4) ** 0.5
            assert getattr(own, name) == pytest.approx(mean)
            assert own.errors[name] == pytest.approx(error)
            assert own.row()[f"{name}_error"] == own.errors[name] > 0
    assert (found.sample, found.repeats, found.records) == (50, 4, 120)
    assert "(standard error " in found.recommendation


def test_without_a_sample_there_are_no_errors(survey):
    found = shoal.sweep(survey, [3], ["mdav"], COLUMNS)
    assert not [name for name in found.table.columns if name.endswith("_error")]
    assert "standard error" not in found.recommendation
