"""Sweeps: the front and knee by their definitions, what runs and what does not, samples, words and files."""

import json
import re
import threading

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
import shoal.cli
from command_line import in_new_python, run
from shoal.cli.commands import load_command
from shoal.kernels.watch import STOP, new_watch
from shoal.sweeps import Result, Sweep, running
from shoal.sweeps.combinations import Combination, draw_samples, parse_ks, parse_methods, sampled_rows
from shoal.sweeps.recommendation import Axes
from shoal.sweeps.results import PERCENTAGES
from shoal.sweeps.risk_utility_map import style
from shoal.sweeps.trade_off import knee, pareto_front
from shoal.tables.table import open_table

COLUMNS = ["age", "height", "hours"]
FILES = {"sweep.parquet", "sweep.csv", "sweep.json", "recommended.yaml"}
PICTURES = {"risk-utility.svg", "risk-utility.png", "risk-utility.html"}
FIGURES = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), min_size=1, max_size=25)


@pytest.fixture(scope="module")
def survey():
    return shoal.example(120).drop("name")


@pytest.fixture
def started(monkeypatch):
    """Every (method, k) that is protected, in a list that grows."""
    runs, lock = [], threading.Lock()
    real = running.protect

    def counting(data, *, plan, **how):
        with lock:
            runs.append((plan.method, plan.k))
        return real(data, plan=plan, **how)

    monkeypatch.setattr(running, "protect", counting)
    return runs


def result(k, risk, loss, method="mdav", options=None, **errors):
    """Return a result with figures of one's own; risk is dbrl, loss is information_loss."""
    plan = shoal.Plan(k=k, quasi_identifiers=["x"], method=method, options=options or {})
    return Result(
        plan, information_loss=loss, record_loss=None, pil=None, il1s=loss, dbrl=risk, interval_disclosure=None,
        dr=None, score=None, global_risk=100 / k, k_anonymity=k, groups=9, smallest_group=k, largest_group=k,
        suppressed_cells=0, seconds=0.1, errors=errors,
    )  # fmt: skip


# the front and the knee


def beaten(one, other):
    return other[0] <= one[0] and other[1] <= one[1] and other != one


@given(FIGURES)
def test_the_front_is_what_no_point_beats(points):
    risk, loss = np.array(points, dtype=float).T
    front = pareto_front(risk, loss).tolist()
    assert sorted(front) == [i for i, one in enumerate(points) if not any(beaten(one, other) for other in points)]
    assert [risk[place] for place in front] == sorted(risk[front], reverse=True)


@given(FIGURES)
def test_the_knee_is_the_point_of_the_front_farthest_below_its_chord(points):
    risk, loss = np.array(points, dtype=float).T
    front = pareto_front(risk, loss)
    x, y = loss[front], risk[front]
    found = knee(y, x)
    if len(set(zip(x, y, strict=True))) < 3:
        assert found is None
        return
    x, y = (x - x[0]) / (x[-1] - x[0]), (y - y[-1]) / (y[0] - y[-1])
    start, along = np.array([x[0], y[0]]), np.array([x[-1] - x[0], y[-1] - y[0]])
    distances = []
    for at in zip(x, y, strict=True):
        offset = np.array(at) - start
        foot = start + along * (offset @ along) / (along @ along)
        away = np.array(at) - foot
        distances.append(np.hypot(*away) * (1 if away.sum() < 0 else -1))  # below is towards the origin
    if max(distances) < 1e-9:
        assert found is None
    else:
        assert distances[found] == pytest.approx(max(distances))


def test_the_knee_does_not_depend_on_the_units_of_the_axes():
    risk, loss = np.array([48.0, 29, 16, 9, 3]), np.array([3.0, 5.5, 9, 12, 21])
    assert knee(risk, loss) == knee(1000 * risk + 7, loss / 50 - 3) == 2


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


# going on


def test_what_is_in_the_folder_is_not_run_again(survey, started, tmp_path):
    first = shoal.sweep(survey, "2:4", ["mdav"], COLUMNS, output=tmp_path / "out")
    assert sorted(started) == [("mdav", 2), ("mdav", 3), ("mdav", 4)]
    assert first.reused == 0
    started.clear()
    more = shoal.sweep(survey, "3:5", ["mdav", "ldf"], COLUMNS, output=tmp_path / "out", max_risk=90)
    assert sorted(started) == [("ldf", 3), ("ldf", 4), ("ldf", 5), ("mdav", 5)]
    assert more.reused == 2
    assert more.table[:2].drop("front", "recommended").equals(first.table[1:].drop("front", "recommended"))


def test_other_data_settings_or_version_are_run_again(survey, started, tmp_path, monkeypatch):
    def sweep(data=survey, **how):
        started.clear()
        shoal.sweep(data, [3], ["mdav"], COLUMNS, output=tmp_path / "out", **how)
        return len(started)

    assert sweep() == 1
    assert sweep() == 0
    assert sweep(survey.with_columns(pl.col("age") + 1)) == 1
    assert sweep(scaling="range") == 1
    assert sweep(known=["age"]) == 1
    assert sweep(sample=60, repeats=2) == 2
    assert sweep(sample=60, repeats=3) == 1
    assert sweep(sample=60, repeats=2, seed=1) == 2
    assert sweep() == 0
    monkeypatch.setattr("shoal.sweeps.shoal_version", lambda: "99")
    assert sweep() == 1


def test_a_sweep_that_was_stopped_goes_on(survey, tmp_path, monkeypatch):
    out, runs, real = tmp_path / "out", [], running.protect

    def stopping(data, *, plan, **how):
        runs.append(plan.k)
        if len(runs) == 3:
            raise KeyboardInterrupt
        return real(data, plan=plan, **how)

    monkeypatch.setattr(running, "protect", stopping)
    with pytest.raises(KeyboardInterrupt):
        shoal.sweep(survey, "2:6", ["mdav"], COLUMNS, output=out, threads=1)
    assert [path.name for path in out.iterdir()] == ["results"]
    assert len(list((out / "results").iterdir())) == 2
    runs[:] = ["again"] * 3
    found = shoal.sweep(survey, "2:6", ["mdav"], COLUMNS, output=out, threads=1)
    assert runs[3:] == [4, 5, 6]
    assert found.table.drop("seconds").equals(shoal.sweep(survey, "2:6", ["mdav"], COLUMNS).table.drop("seconds"))


def test_a_damaged_result_is_run_again(survey, started, tmp_path):
    shoal.sweep(survey, "3,4", ["mdav"], COLUMNS, output=tmp_path)
    [three] = (tmp_path / "results").glob("mdav-k3-*.json")
    three.write_text(three.read_text()[:-40])
    started.clear()
    shoal.sweep(survey, "3,4", ["mdav"], COLUMNS, output=tmp_path)
    assert started == [("mdav", 3)]


def test_an_error_in_one_combination_stops_the_others(survey, monkeypatch):
    runs, real = [], running.protect

    def failing(data, *, plan, **how):
        runs.append(plan.k)
        if plan.k == 3:
            raise shoal.BrokenPromise("made up")
        return real(data, plan=plan, **how)

    monkeypatch.setattr(running, "protect", failing)
    with pytest.raises(shoal.BrokenPromise, match="made up"):
        shoal.sweep(survey, "2:60", ["mdav"], COLUMNS, threads=1)
    assert len(runs) < 59


def test_a_combination_that_is_running_stops_when_asked(survey):
    plan = shoal.Plan(k=3, quasi_identifiers=COLUMNS)
    watch = new_watch()
    watch[STOP] = 1
    with pytest.raises(running._Stopped):
        running._run(Combination(plan, 1), open_table(survey), None, None, {}, watch)


# words


def test_the_knee_is_recommended_with_what_its_neighbours_would_change():
    points = [result(2, 40, 3), result(5, 10.1, 5.5, "iv-mdav"), result(6, 4.1, 7.2, "iv-mdav"), result(8, 3.2, 9.5)]
    found = Sweep([*points, result(7, 5, 9), result(20, 1, 30)])
    assert found.recommended is found.knee is points[2]
    assert found.recommendation == (
        "k = 6 with iv-mdav: record linkage 4.1 %, information loss 7.2 %. It is the knee of the front, the point "
        "farthest below the line that joins its ends. Going to k = 8 with mdav buys 0.9 points of risk for 2.3 points "
        "of loss; going back to k = 5 saves 1.7 points of loss for 6.0 points of risk."
    )


def test_neighbours_of_the_same_k_are_passed_over():
    same = result(6, 4.05, 7.3, "ldf")
    found = Sweep([result(2, 40, 3), result(6, 4.1, 7.2), same, result(8, 3.2, 9.5), result(20, 1, 30)])
    assert "Going to k = 8 buys 0.9 points of risk" in found.recommendation


LADDER = [result(2, 40, 3), result(4, 20, 6), result(6, 8, 9), result(9, 4, 14), result(9, 4, 15, "ldf")]


@pytest.mark.parametrize(
    ("limits", "place", "said"),
    [
        (
            {"max_risk": 10},
            2,
            "It has the least loss of the 3 combinations with record linkage of at most 10 %. Going to",
        ),
        ({"max_risk": 4}, 3, "the 2 combinations with record linkage of at most 4 %. Going back to k = 6 saves 5.0"),
        ({"max_loss": 3}, 0, "It is the only combination with information loss of at most 3 %. Going to"),
        ({"max_loss": 7}, 1, "It has the least risk of the 2 combinations with information loss of at most 7 %"),
        (
            {"max_risk": 50, "max_loss": 7},
            0,
            "least loss of the 2 combinations with record linkage of at most 50 % and",
        ),
    ],
)
def test_within_limits_the_best_is_recommended(limits, place, said):
    found = Sweep(LADDER, Axes(**limits))
    assert found.recommended is LADDER[place]
    assert found.nearest is None
    assert said in found.recommendation


@pytest.mark.parametrize(
    ("limits", "place"),
    [
        ({"max_risk": 1}, 3),
        ({"max_loss": 1}, 0),
        ({"max_risk": 2, "max_loss": 5}, 2),
        ({"max_risk": 0, "max_loss": 1}, 2),
    ],
)
def test_where_no_combination_is_within_the_limits_the_nearest_is_named(limits, place):
    found = Sweep(LADDER, Axes(**limits))
    assert found.recommended is None
    assert found.nearest is LADDER[place]
    assert found.recommendation.startswith("None of the 5 combinations has ")
    assert f"The nearest is k = {LADDER[place].k} with mdav: record linkage " in found.recommendation


def test_a_front_without_a_knee_recommends_nothing():
    found = Sweep([result(2, 40, 3), result(4, 30, 13), result(6, 20, 23)])
    assert (found.knee, found.recommended, len(found.front)) == (None, None, 3)
    assert "no knee" in found.recommendation
    assert "max_risk" in found.recommendation


def test_one_that_beats_all_others_is_recommended():
    best = result(6, 8, 9, "v-mdav", {"gamma": 1.1})
    found = Sweep([result(6, 9, 9), best])
    assert found.recommendation == (
        "k = 6 with v-mdav:gamma=1.1: record linkage 8.0 %, information loss 9.0 %. No other combination has less of "
        "either."
    )


def test_the_same_results_can_be_judged_by_other_axes():
    found = Sweep(LADDER).judge(risk="global_risk", loss="il1s", max_risk=20)
    assert found.recommended is LADDER[2]
    assert found.recommendation.startswith("k = 6 with mdav: global risk 16.7 %, IL1s 9.0 %.")
    none = Sweep(LADDER).judge(risk="dr")
    assert (none.recommended, none.front) == (None, [])
    assert none.recommendation == "No recommendation: disclosure risk cannot be measured on these columns."
    with pytest.raises(shoal.PlanError, match="did you mean 'global_risk'"):
        found.judge(risk="global-risk")


# files and the command line


def test_tables_plan_and_pictures_are_written(survey, tmp_path):
    found = shoal.sweep(survey, "2:6", ["mdav", "ldf"], COLUMNS, output=tmp_path / "out")
    out = tmp_path / "out"
    assert {path.name for path in out.iterdir()} == FILES | PICTURES | {"results"}
    assert pl.read_parquet(out / "sweep.parquet").equals(found.table)
    assert pl.read_csv(out / "sweep.csv", schema=found.table.schema).drop("options").equals(found.table.drop("options"))
    assert json.loads((out / "sweep.json").read_text())["recommendation"] == found.recommendation
    plan = shoal.Plan.load(out / "recommended.yaml")
    assert plan == found.recommended.plan
    assert shoal.protect(survey, plan=plan).summary.information_loss == found.recommended.information_loss
    svg = (out / "risk-utility.svg").read_text()
    assert f"k = {found.recommended.k}, {found.recommended.method}" in svg
    assert "ldf" in svg
    assert (out / "risk-utility.png").read_bytes().startswith(b"\x89PNG")
    page = (out / "risk-utility.html").read_text()
    assert not re.search(r'<(script|link)[^>]*(src|href)="http', page)


def test_what_an_earlier_sweep_wrote_does_not_stay(survey, tmp_path):
    shoal.sweep(survey, "2:6", ["mdav"], COLUMNS, output=tmp_path)
    assert (tmp_path / "recommended.yaml").exists()
    found = shoal.sweep(survey, "2:6", ["mdav"], COLUMNS, output=tmp_path, max_risk=0)
    assert found.recommended is None
    assert not (tmp_path / "recommended.yaml").exists()


def test_without_the_extra_there_are_tables_and_a_note_and_no_picture(survey, tmp_path, monkeypatch):
    monkeypatch.setattr("shoal.sweeps.risk_utility_map.find_spec", lambda name: None)
    found = shoal.sweep(survey, "2:6", ["mdav"], COLUMNS, output=tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == FILES | {"results"}
    assert any("pip install 'shoal[report]'" in note for note in found.notes)
    assert found.recommended is not None
    with pytest.raises(shoal.MissingExtra, match=re.escape("shoal[report]")):
        found.chart()


def test_the_picture_has_every_point_the_front_and_the_limits(survey):
    found = shoal.sweep(survey, "2:6", ["mdav", "ldf"], COLUMNS, max_risk=20, sample=60)
    drawn = found.chart().to_dict()
    marks = [(layer["mark"]["type"], drawn["datasets"][layer["data"]["name"]]) for layer in drawn["layer"]]
    points = next(values for mark, values in marks if mark == "point")
    assert sorted((p["method"], p["k"]) for p in points) == sorted((r.name, r.k) for r in found.results)
    line = next(values for mark, values in marks if mark == "line")
    assert {(p["risk"], p["loss"]) for p in line} == {(r.dbrl, r.information_loss) for r in found.front}
    rules = [values for mark, values in marks if mark == "rule"]
    assert [{"limit": 20}] in rules
    assert [len(values) for values in rules] == [1, 10, 10]


def test_every_method_has_a_look_of_its_own():
    assert len({style(place) for place in range(64)}) == 64


@pytest.mark.parametrize(
    ("name", "said"), [("file.txt", "is a file"), ("not/there", "make it first"), (".", "is the original")]
)
def test_a_folder_that_cannot_be_written_to_is_refused(survey, started, tmp_path, name, said):
    survey.write_csv(tmp_path / "sweep.csv")
    (tmp_path / "file.txt").touch()
    with pytest.raises(shoal.FileError, match=said):
        shoal.sweep(tmp_path / "sweep.csv", [3], ["mdav"], COLUMNS, output=tmp_path / name)
    assert started == []


@pytest.fixture
def table(tmp_path):
    shoal.example(60).write_csv(tmp_path / "survey.csv", separator=";")
    return tmp_path / "survey.csv"


def test_json_on_the_command_line(table, tmp_path):
    words = ("-k", "2:5", "-m", "mdav,v-mdav:gamma=1.1", "-m", "ldf", "-q", "age,height", "--drop", "name")
    answer = run("sweep", table, *words, "-o", tmp_path / "out", "--max-risk", 30, "--delimiter", ";", "--json")
    assert answer.exit_code == 0
    told = json.loads(answer.stdout)
    assert answer.stdout.count("\n") == 1
    direct = shoal.sweep(
        table, "2:5", ["mdav", "v-mdav:gamma=1.1", "ldf"], ["age", "height"], identifiers="name", max_risk=30
    )
    assert [(line["method"], line["k"], line["options"]) for line in told["results"]] == [
        (r.method, r.k, r.options) for r in direct.results
    ]
    assert [line["dbrl"] for line in told["results"]] == pytest.approx([r.dbrl for r in direct.results])
    assert told["recommendation"] == direct.recommendation
    assert told["recommended"]["k"] == direct.recommended.k
    assert set(told["recommended"]) >= {
        "method", "k", "options", "information_loss", "record_loss", "pil", "il1s", "dbrl", "interval_disclosure", "dr",
        "score", "global_risk", "k_anonymity", "groups", "smallest_group", "largest_group", "seconds",
    }  # fmt: skip
    assert told["front"] == [line for line in sorted(told["results"], key=lambda x: -x["dbrl"]) if line["front"]]
    plan = tmp_path / "out" / "recommended.yaml"
    made = run("protect", table, "-o", tmp_path / "release.csv", "--plan", plan, "--json")
    assert json.loads(made.stdout)["information_loss"] == told["recommended"]["information_loss"]


def test_the_command_prints_the_front_and_the_recommendation(table, tmp_path):
    words = ("-k", "2:6", "-m", "mdav", "-q", "age,height", "--drop", "name", "-o", tmp_path / "out")
    answer = run("sweep", table, *words)
    assert answer.exit_code == 0
    told = json.loads((tmp_path / "out" / "sweep.json").read_text())
    assert told["recommendation"] in " ".join(answer.stdout.split())
    assert f"{len(told['front'])} of 5 combinations that no other beats" in answer.stdout
    assert "recommended.yaml" in answer.stderr
    assert "5 results were there already" in run("sweep", table, *words).stderr


def test_mistakes_on_the_command_line_end_with_status_2(table, tmp_path):
    answer = run("sweep", table, "-k", "9:2", "-q", "age", "--loss", "pli", "--drop", "name", "-o", tmp_path / "out")
    assert answer.exit_code == 2
    assert "smaller k first" in answer.stderr
    assert "did you mean 'pil'" in answer.stderr
    assert not (tmp_path / "out").exists()


def test_an_interruption_says_what_is_kept(table, tmp_path, monkeypatch):
    real, last = running.protect, 3

    def interrupted(data, *, plan, **how):
        if plan.k == last:
            raise KeyboardInterrupt
        return real(data, plan=plan, **how)

    monkeypatch.setattr(running, "protect", interrupted)
    words = ("-k", "3:4", "-m", "mdav", "-q", "age", "--drop", "name", "--threads", 1, "-o", tmp_path / "out")
    answer = run("sweep", table, *words)
    assert answer.exit_code == 130
    assert answer.stderr == "interrupted; nothing was written\n"
    last = 4
    answer = run("sweep", table, *words)
    assert answer.exit_code == 130
    assert "the same command goes on from there" in answer.stderr
    assert len(list((tmp_path / "out" / "results").iterdir())) == 1


def test_the_command_takes_what_protect_takes():
    flags = {name: {flag for p in load_command(name).params for flag in p.opts} for name in ("protect", "sweep")}
    alone = {"-O", "--option", "--report", "--steps", "--time", "--gap", "--bound", "--certificate", "--force"}
    assert flags["protect"] - flags["sweep"] <= alone


def test_a_sweep_needs_no_plotting_to_be_loaded():
    code = (
        "import sys, shoal; shoal.sweep(shoal.example(30), '2,3', ['mdav'], 'age', identifiers='name');"
        "print([name for name in ('altair', 'pandas', 'rich') if name in sys.modules])"
    )
    assert in_new_python(code) == "[]"
