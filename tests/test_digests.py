"""benchmarks/digests.py: what counts as a difference between two runs, and what a digest sees."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import shoal

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"
OLD = [
    {"benchmark": "digests", "commit": "abc"},
    {"case": "a|mdav|k=3", "digest": "00", "loss": 10.0, "sse": 3.0, "groups": 4},
    {"case": "b|mdav|k=3", "error": "DataError: too few"},
    {"case": "c|measures", "figures": {"loss": 0.5, "by_column": {"x": [1.0, None]}}},
]


@pytest.fixture
def digests(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    import digests

    return digests


def changed(place, **changes):
    return [line | changes if i == place else line for i, line in enumerate(OLD)]


def test_runs_that_differ_by_rounding_alone_do_not_differ(digests):
    result = digests.compare(OLD, changed(1, loss=10.0 * (1 + 1e-15), sse=3), {})
    assert not result.found


@pytest.mark.parametrize(
    ("place", "changes", "told"),
    [
        (1, {"digest": "01"}, "a|mdav|k=3\n    digest: '00' -> '01'"),
        (1, {"loss": 10.0 * (1 + 1e-11)}, "a|mdav|k=3\n    loss: 10.0 -> 10.0000000001"),
        (1, {"warnings": ["odd"]}, "a|mdav|k=3\n    warnings: new, ['odd']"),
        (2, {"error": "DataError: too many"}, "b|mdav|k=3\n    error: 'DataError: too few' -> 'DataError: too many'"),
        (
            3,
            {"figures": {"loss": 0.5, "by_column": {"x": [1.0, 0.0]}}},
            "c|measures\n    figures.by_column.x.1: None -> 0.0",
        ),
    ],
)
def test_a_difference_is_told_with_its_place(digests, place, changes, told):
    assert digests.compare(OLD, changed(place, **changes), {}).found == [told]


def test_a_difference_is_meant_only_in_the_place_that_is_named(digests):
    allowed = {"a|* only notes": "notes are new"}
    new = changed(1, notes=["odd"])
    assert digests.compare(OLD, new, allowed).meant == ["a|mdav|k=3: notes are new"]
    result = digests.compare(OLD, changed(1, notes=["odd"], digest="01"), allowed)
    assert result.found == ["a|mdav|k=3\n    digest: '00' -> '01'"]
    assert digests.compare(OLD, changed(1, digest="01"), allowed).idle == ["a|* only notes"]


def test_a_case_in_one_run_only_is_a_difference(digests):
    result = digests.compare(OLD[:3], [*OLD[1:2], OLD[3]], {})
    assert result.found == ["b|mdav|k=3\n    only in the old run", "c|measures\n    only in the new run"]


def test_a_release_that_became_an_error_is_a_difference(digests):
    new = [*OLD[:1], {"case": "a|mdav|k=3", "error": "ValueError: odd"}, *OLD[2:]]
    (told,) = digests.compare(OLD, new, {}).found
    assert "digest: gone, '00'" in told
    assert "error: new, 'ValueError: odd'" in told


def test_the_program_exits_with_1_unless_every_difference_was_meant(digests, tmp_path, monkeypatch, capsys):
    paths = [tmp_path / name for name in ("old.jsonl", "new.jsonl")]
    for path, lines in zip(paths, (OLD, changed(1, digest="01")), strict=True):
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    allowed = tmp_path / "intended.txt"

    def status(*more):
        monkeypatch.setattr(sys, "argv", ["digests.py", "--compare", *map(str, paths), *more])
        with pytest.raises(SystemExit) as ended:
            digests.main()
        return ended.value.code

    assert status() == 1
    assert "3 cases at abc, 3 at abc: 1 differ, 0 more were meant to" in capsys.readouterr().out
    allowed.write_text("# a comment\na|*|k=3 # ties are broken otherwise\nz|* # nothing\n")
    assert status("--allow", str(allowed)) == 0
    told = capsys.readouterr().out
    assert "meant to differ: a|mdav|k=3: ties are broken otherwise" in told
    assert "no case differs that matches: z|*" in told
    allowed.write_text("a|*|k=3\n")
    assert "say after # why" in status("--allow", str(allowed))


def test_a_digest_sees_values_types_names_missing_cells_and_groups(digests):
    data = pl.DataFrame({"x": [1.0, 1.0, None], "y": ["a", "b", None]})
    groups = np.zeros(3, dtype=np.int64)

    def digest(data, groups):
        return b"".join(digests.release_bytes(SimpleNamespace(data=data, groups=groups)))

    others = [
        digest(data.with_columns(x=pl.Series([1.0, np.nextafter(1.0, 2.0), None])), groups),
        digest(data.with_columns(x=pl.Series([1.0, 1.0, 0.0])), groups),
        digest(data.with_columns(pl.col("x").cast(pl.Float32)), groups),
        digest(data.with_columns(y=pl.Series(["a", "b", "None"])), groups),
        digest(data.rename({"x": "z"}), groups),
        digest(data, np.array([0, 0, 1])),
        digest(data.to_pandas(), groups),
        digest(data.to_arrow(), groups),
    ]
    assert len({digest(data, groups), *others}) == 1 + len(others)
    assert digest(data.clone(), groups.copy()) == digest(data, groups)


def test_an_option_that_no_value_is_given_for_is_an_error(digests):
    from digest_cases import off_default

    gamma = shoal.METHODS["v-mdav"].options[0]
    assert gamma.default not in off_default("v-mdav", gamma)
    with pytest.raises(LookupError, match="option 'gamma' of method 'new-method' has no case"):
        off_default("new-method", gamma)
