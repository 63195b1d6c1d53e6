"""`-` is standard input and output: nothing but the release comes out, and no copy of what came in is left."""

from __future__ import annotations

import io
import json
import subprocess
import sys

import polars as pl
import pytest

import shoal

TABLE = pl.DataFrame({"x": [1, 2, 6, 11, 12, 16], "word": ["a", "b", "c", "d", "e", "f"]})
EXPECTED = [3] * 3 + [13] * 3


def as_bytes(ending):
    out = io.BytesIO()
    writers = {
        ".csv": TABLE.write_csv,
        ".jsonl": TABLE.write_ndjson,
        ".parquet": TABLE.write_parquet,
        ".arrow": TABLE.write_ipc,
    }
    if ending == ".csv.gz":
        import gzip

        return gzip.compress(TABLE.write_csv().encode())
    writers[ending](out)
    return out.getvalue()


def run(*words, given=b"", folder=None, status=0):
    import os

    done = subprocess.run(
        [sys.executable, "-m", "shoal", *words],
        input=given,
        capture_output=True,
        check=False,
        env={**os.environ, "TMPDIR": str(folder)},
    )
    assert done.returncode == status, done.stderr
    return done


READERS = {".csv": pl.read_csv, ".jsonl": pl.read_ndjson, ".parquet": pl.read_parquet, ".arrow": pl.read_ipc}


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".parquet", ".arrow", ".csv.gz"])
def test_a_table_goes_through_a_pipe_in_its_own_format(tmp_path, ending):
    words = ("protect", "-", "-o", "-", "-k", "3", "-q", "x", "-m", "mdav", "--keep", "word")
    done = run(*words, given=as_bytes(ending), folder=tmp_path)
    content = done.stdout
    if ending == ".csv.gz":
        import gzip

        content = gzip.decompress(content)
    back = READERS[ending.removesuffix(".gz")](io.BytesIO(content))
    assert back["x"].to_list() == EXPECTED
    assert back["word"].to_list() == TABLE["word"].to_list()
    assert list(tmp_path.iterdir()) == []


def test_a_manifest_of_what_was_piped_is_written_where_it_is_asked_for(tmp_path):
    (tmp_path / "tmp").mkdir()
    words = ("protect", "-", "-o", "-", "-k", "3", "-q", "x", "-m", "mdav", "--manifest", str(tmp_path / "m.json"))
    run(*words, given=as_bytes(".csv"), folder=tmp_path / "tmp")
    told = json.loads((tmp_path / "m.json").read_text())
    assert told["input"]["name"] == "standard-input.csv"
    assert told["output"]["name"] == "standard output"
    assert (tmp_path / "m.json").stat().st_mode & 0o077 == 0


def test_inspecting_reads_standard_input_once(tmp_path):
    done = run("inspect", "-", "--json", given=b"x,y\n1,NA\n2,a\n3,b\n", folder=tmp_path)
    assert b"taken for missing values" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("-", "-o", "-", "--json"), b"--json prints to where -o - writes"),
        (("-", "-o", "out.csv", "--manifest", "m.json"), b"manifest: has no effect"),
        (("-", "-o", "-", "--manifest", "m.txt"), b"ends in .json"),
    ],
)
def test_what_makes_no_sense_with_a_stream_is_refused(tmp_path, words, sentence):
    done = run("protect", *words, "-k", "3", "-q", "x", given=as_bytes(".csv"), folder=tmp_path, status=2)
    assert sentence in done.stderr
    assert done.stdout == b""


def test_a_release_in_memory_is_sent_as_csv(capfdbinary):
    release = shoal.protect(TABLE, k=3, quasi_identifiers="x", method="mdav")
    assert release.write("-") is None
    assert capfdbinary.readouterr().out == b"x,word\n3,a\n3,b\n3,c\n13,d\n13,e\n13,f\n"
