"""Benchmarks that are recorded place by place, and the page that is made of one of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"


@pytest.fixture
def record(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(BENCHMARKS)
    import record

    monkeypatch.setattr(record, "RESULTS", tmp_path)
    monkeypatch.setattr(record, "machine", lambda: {"commit": "now", "processor": "p", "versions": {}})
    return record


def test_new_rows_of_a_place_replace_the_old_ones_and_all_others_are_kept(record, tmp_path):
    first = record.Places("losses", False, "data", "k")
    first.put(("census", 3), [{"loss": 5.0}, {"loss": 6.0}])
    first.put(("census", 4), [{"loss": 7.0}])
    record.Places("losses", False, "data", "k").put(("census", 3), [{"loss": 4.0}])
    rows = [json.loads(line) for line in (tmp_path / "losses.jsonl").read_text().splitlines()]
    assert rows[0]["benchmark"] == "losses"
    assert [(row["k"], row["loss"]) for row in rows[1:]] == [(4, 7.0), (3, 4.0)]


def test_places_keep_the_commit_and_the_processor_that_they_were_recorded_at(record, monkeypatch):
    record.Places("losses", False, "k").put((3,), [{"loss": 5.0}])
    monkeypatch.setattr(record, "machine", lambda: {"commit": "later", "processor": "q"})
    record.Places("losses", False, "k").put((4,), [{"loss": 6.0}])
    origins = {row["k"]: (row["commit"], row["processor"]) for row in record.load("losses")[1]}
    assert origins == {3: ("now", "p"), 4: ("later", "q")}


def test_a_quick_run_neither_reads_nor_changes_what_is_recorded(record, tmp_path):
    record.Places("losses", False, "k").put((3,), [{"loss": 5.0}])
    before = (tmp_path / "losses.jsonl").read_text()
    quick = record.Places("losses", True, "k")
    assert quick.rows == []
    quick.put((3,), [{"loss": 9.0}])
    assert (tmp_path / "losses.jsonl").read_text() == before


def test_the_page_of_any_size_counts_what_is_late_and_what_loses_more_than_others(record, monkeypatch, tmp_path):
    import any_size_page

    monkeypatch.setattr(any_size_page, "load", record.load)
    monkeypatch.setattr(any_size_page, "made_by", lambda name, machine: machine["commit"])
    written = {}
    monkeypatch.setattr(any_size_page, "write", lambda path, text: written.update({path.name: text}))
    row = {
        "optimal": 80.0,
        "seconds": 0.5,
        "wall": 0.3,
        "at_the_same_time": 80.0,
        "longer_seconds": 0.5,
        "mdav_seconds": 0.1,
    }
    row |= {"best": "mst --refine", "best_other": 85.0, "best_seconds": 2.0, "yardstick": 0.24}
    places = record.Places("any-size", False, "kind", "n", "d", "k", "strata")
    places.put(("normal", 300, 5, 3, 1), [row])
    places.put(("clusters", 10_000, 5, 3, 1), [row | {"optimal": 86.0, "at_the_same_time": 85.5, "seconds": 1.3}])
    places.put(("integers", 300, 5, 10, 2), [row | {"optimal": 101.0, "seconds": 1.6, "wall": 1.3}])
    any_size_page.any_size()
    page = written["any-size.md"]
    assert (
        "Of 3 tables, the default loses more than `mdav` on 1 and is late on 1; on 2 it takes more CPU seconds" in page
    )
    assert "another method loses less on 1." in page
    assert (
        "| 10 000 | clusters | 86.000 | 1.30 | 0.30 | 1.20 | `mst --refine` | 85.000 | 2.00 | **85.500** | 0.50 |"
        in page
    )
    assert page.index("## k = 3\n") < page.index("## k = 10, 2 strata\n")
    assert "On this core `mdav` takes 0.24 s for 100 000 normal records of five columns at k = 3." in page
