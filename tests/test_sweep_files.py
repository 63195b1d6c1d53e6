"""Sweeps on disk and on the command line: tables, pictures, going on where an earlier one ended."""

import json
import re

import polars as pl
import pytest

import shoal
import shoal.cli
from command_line import in_new_python, run
from shoal.cli.commands import load_command
from shoal.kernels.watch import STOP, new_watch
from shoal.sweeps import running
from shoal.sweeps.combinations import Combination
from shoal.sweeps.risk_utility_map import style
from shoal.tables.table import open_table
from sweep_tables import COLUMNS, counted_runs, small_survey


@pytest.fixture(scope="module")
def survey():
    return small_survey()


@pytest.fixture
def started(monkeypatch):
    return counted_runs(monkeypatch)


@pytest.fixture
def table(tmp_path):
    shoal.example(60).write_csv(tmp_path / "survey.csv", separator=";")
    return tmp_path / "survey.csv"


FILES = {"sweep.parquet", "sweep.csv", "sweep.json", "recommended.yaml"}


PICTURES = {"risk-utility.svg", "risk-utility.png", "risk-utility.html"}


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
    alone = {
        "-O",
        "--option",
        "--report",
        "--steps",
        "--time",
        "--gap",
        "--bound",
        "--certificate",
        "--force",
        "--manifest",
    }
    alone |= {"--engine", "--memory", "--master", "--spark", "--row"}  # measures need both tables in memory
    alone |= {"--epsilon", "--bounds", "--missing-as"}  # a sweep measures against the original, which is refused
    assert flags["protect"] - flags["sweep"] <= alone


def test_a_sweep_needs_no_plotting_to_be_loaded():
    code = (
        "import sys, shoal; shoal.sweep(shoal.example(30), '2,3', ['mdav'], 'age', identifiers='name');"
        "print([name for name in ('altair', 'pandas', 'rich') if name in sys.modules])"
    )
    assert in_new_python(code) == "[]"
