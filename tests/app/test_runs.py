"""Runs: processes that are stopped, cancelled, crash, are lost and found again, and what they leave."""

from __future__ import annotations

import json
import os
import signal
import time

import polars as pl
import pytest
from visitors import Visitor

import command_line
import shoal
from faults import full_disk
from shoal.app import worker
from shoal.app.runs import END, PROGRESS, Runs, wait_for
from shoal.app.workspace import read_json, write_json

pytestmark = pytest.mark.app

QUICK = {"k": 5, "quasi_identifiers": [["age", "hours"]], "identifiers": ["name"], "method": "mdav"}
LONG = {
    **QUICK,
    "quasi_identifiers": [["age", "height", "hours", "income"]],
    "method": "optimal",
    "options": {"time": 300.0},
}
SECONDS = 90.0


def plan(settings):
    return shoal.Plan(**settings).to_yaml()


def start(visitor, settings, records=1000, **more):
    path = visitor.workspace.folder / "tables" / "survey.csv"
    shoal.example(records).write_csv(path)
    visitor.desk.open(path)
    asked = {"path": str(path), "table": path.name, "records": records, "output": "release.csv"}
    return visitor.desk.runs.start("protect", plan(settings), **asked | more)


def when(visitor, number, told):
    """Wait until a run has told something."""
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        run = visitor.desk.run(number)
        if any(told(line) for line in run.progress()):
            return run
        assert run.state == "running", run.end
        time.sleep(0.05)
    raise AssertionError("nothing was told")


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A finished run, which several tests look at."""
    visitor = Visitor(tmp_path_factory.mktemp("runs") / "workspace")
    run = start(visitor, QUICK, records=300)
    yield visitor, wait_for(visitor.desk.runs, run.number, SECONDS)
    visitor.close()


def exported(visitor, run, tmp_path):
    """Run the exported plan on the command line, and return the bytes of its release."""
    (tmp_path / "plan.yaml").write_bytes(visitor.get(f"/run/{run.number}/file/plan").content)
    words = ["protect", run.asked["path"], "-o", tmp_path / "again.csv", "--plan", tmp_path / "plan.yaml"]
    ended = command_line.run(*words)
    assert ended.exit_code == 0, ended.stderr
    return (tmp_path / "again.csv").read_bytes()


def test_a_run_makes_a_release_measures_sections_and_reports(done):
    _, run = done
    assert run.state == "done"
    assert run.summary["smallest_group"] >= 5
    assert run.measures["k_anonymity"] >= 5
    assert {"distributions", "risk"} <= {section["anchor"] for section in read_json(run.folder / "sections.json")}
    assert (run.folder / "report-internal.html").is_file()
    assert (run.folder / "report-external.html").is_file()


def test_the_exported_plan_gives_the_same_bytes_on_the_command_line(done, tmp_path):
    visitor, run = done
    released = visitor.get(f"/run/{run.number}/file/release")
    assert released.content == run.release.read_bytes()
    assert exported(visitor, run, tmp_path) == released.content


def test_the_exported_script_gives_the_same_bytes(done, tmp_path, monkeypatch):
    visitor, run = done
    monkeypatch.chdir(tmp_path)
    exec(visitor.get(f"/run/{run.number}/file/script").text, {})
    assert (tmp_path / "release.csv").read_bytes() == run.release.read_bytes()


def test_pages_of_a_finished_run(done):
    visitor, run = done
    assert "What was made" in visitor.get(f"/run/{run.number}").text
    assert "shoal protect" in visitor.get("/export").text
    compared = visitor.get("/compare").text
    assert "Distributions before and after" in compared
    assert "Two columns" in compared
    assert run.name in visitor.get("/history").text
    assert visitor.get(f"/run/{run.number}/file/manifest").json()["output"]["name"] == "release.csv"


def test_another_format_has_the_same_values(done):
    visitor, run = done
    answer = visitor.post(f"/run/{run.number}/format", {"ending": ".parquet"})
    made = wait_for(visitor.desk.runs, answer.headers["location"].split("/")[-1], SECONDS)
    assert made.state == "done", made.end
    assert pl.read_parquet(made.release).equals(shoal.read_table(run.release))


def test_a_stopped_search_keeps_its_best_and_its_plan_makes_it_again(visitor, tmp_path):
    run = start(visitor, LONG)
    when(visitor, run.number, lambda line: line.get("loss") is not None and line["seconds"] > 3)
    assert visitor.post(f"/run/{run.number}/stop").status_code == 303
    ended = wait_for(visitor.desk.runs, run.number, SECONDS)
    assert ended.state == "done", ended.end
    assert ended.summary["stopped"]
    losses = [line["loss"] for line in ended.progress() if line.get("loss") is not None]
    assert losses[-1] <= losses[0]
    assert "steps:" in visitor.get(f"/run/{run.number}/file/plan").text
    assert exported(visitor, ended, tmp_path) == ended.release.read_bytes()


def test_a_cancelled_run_leaves_no_release_and_no_process(visitor):
    run = start(visitor, LONG)
    when(visitor, run.number, lambda line: line["stage"] == "protecting")
    process = visitor.desk.runs._working[run.number]
    visitor.post(f"/run/{run.number}/cancel")
    assert wait_for(visitor.desk.runs, run.number).state == "cancelled"
    assert process.poll() is not None
    assert visitor.desk.run(run.number).release is None
    assert "cancelled" in visitor.get(f"/run/{run.number}").text


def test_a_run_whose_process_is_killed_has_failed_and_the_server_goes_on(visitor):
    run = start(visitor, LONG)
    when(visitor, run.number, lambda line: line["stage"] == "protecting")
    os.kill(visitor.desk.runs._working[run.number].pid, signal.SIGKILL)
    ended = wait_for(visitor.desk.runs, run.number)
    assert ended.state == "failed"
    assert "was ended (-9)" in ended.end["mistakes"][0]
    assert visitor.get("/open").status_code == 200


def test_a_run_ends_with_its_server_and_can_be_started_again(visitor):
    run = start(visitor, LONG)
    when(visitor, run.number, lambda line: line["stage"] == "protecting")
    process = visitor.desk.runs._working[run.number]
    process.stdin.close()  # what happens when the server is gone
    assert process.wait(SECONDS) != 0
    (run.folder / END).unlink(missing_ok=True)
    visitor.desk.runs._working.clear()
    later = Runs(visitor.workspace)
    assert later.find(run.number).state == "lost"
    visitor.desk.runs.find(run.number)
    assert "Start it again" in visitor.get(f"/run/{run.number}").text
    again = visitor.post(f"/run/{run.number}/again").headers["location"]
    assert visitor.desk.run(again.split("/")[-1]).state == "running"


def test_a_mistake_in_a_plan_is_told_by_the_run(visitor):
    run = start(visitor, {**QUICK, "quasi_identifiers": [["age", "region"]]})
    ended = wait_for(visitor.desk.runs, run.number, SECONDS)
    assert ended.state == "failed"
    assert "column 'region' is text" in ended.end["mistakes"][0]
    assert "column &#39;region&#39; is text" in visitor.get(f"/run/{run.number}").text


def test_a_full_disk_is_told_and_leaves_no_release(tmp_path, monkeypatch):
    path = tmp_path / "survey.csv"
    shoal.example(1000).write_csv(path)
    folder = tmp_path / "0001"
    folder.mkdir()
    (folder / "plan.yaml").write_text(plan(QUICK))
    write_json(folder / "run.json", {"kind": "protect", "path": str(path), "records": 1000, "output": "release.csv"})
    monkeypatch.setattr(worker.Teller, "listen", lambda self: None)
    before = signal.getsignal(signal.SIGINT)
    try:
        with full_disk(10_000):
            assert worker.main(folder) != 0
    finally:
        signal.signal(signal.SIGINT, before)
    assert read_json(folder / END)["state"] == "failed"
    assert not (folder / "release.csv").exists()


def test_events_tell_all_until_the_end(done):
    visitor, run = done
    with visitor.client.stream("GET", f"/run/{run.number}/events") as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        told = [json.loads(line[6:]) for line in answer.iter_lines() if line.startswith("data: ")]
    assert told[-1]["state"] == "done"
    assert told[0]["lines"][0]["stage"] == "reading"


def test_a_line_that_is_being_written_is_left_for_later(done):
    _, run = done
    path = run.folder / PROGRESS
    whole = path.read_text()
    try:
        path.write_text(whole + '{"stage": "dra')
        assert run.progress() == [json.loads(line) for line in whole.splitlines()]
    finally:
        path.write_text(whole)


def test_history_names_takes_back_and_removes(done):
    visitor, run = done
    visitor.post(f"/run/{run.number}/name", {"name": "<b>first</b>"})
    assert "&lt;b&gt;first&lt;/b&gt;" in visitor.get("/history").text
    with visitor.workspace.changed_settings() as settings:
        settings["k"] = 9
    visitor.post(f"/run/{run.number}/take")
    assert visitor.workspace.settings()["k"] == 5
    visitor.post("/undo")
    assert visitor.workspace.settings()["k"] == 9
    second = start(visitor, QUICK, records=300)
    wait_for(visitor.desk.runs, second.number, SECONDS)
    visitor.post(f"/run/{second.number}/remove")
    assert visitor.get(f"/run/{second.number}").status_code == 404
    assert not second.folder.exists()


def test_a_sweep_is_there_while_it_runs_goes_on_after_a_cancel_and_a_point_is_taken(visitor):
    path = visitor.workspace.folder / "tables" / "survey.csv"
    shoal.example(200).write_csv(path)
    visitor.desk.open(path)
    with visitor.workspace.changed_settings() as settings:
        settings.clear()
        settings.update(QUICK)
    answer = visitor.post("/choose", {"k": "2,3,5", "method": "mdav"})
    number = answer.headers["location"].split("=")[-1]
    assert wait_for(visitor.desk.runs, number, SECONDS).state == "done"
    text = visitor.get(f"/choose?run={number}&with_max_risk=1&max_risk=30&max_loss=x").text
    assert "Recommendation" in text
    assert "take-2" in text
    visitor.post(f"/run/{number}/point", {"place": "2"})
    assert visitor.workspace.settings()["k"] == 5
    assert visitor.post(f"/run/{number}/point", {"place": "99"}).status_code == 404
    again = visitor.post(f"/run/{number}/again").headers["location"].split("=")[-1]
    run = wait_for(visitor.desk.runs, again, SECONDS)
    assert read_json(run.folder / "sweep" / "sweep.json")["reused"] == 3, "what was finished is not done again"
