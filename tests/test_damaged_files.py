"""Files that are cut off, damaged or odd: a clear error or the right reading, and no record that was not there."""

from __future__ import annotations

import gzip
import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.tables.files import read_file

SETTINGS = {"k": 3, "quasi_identifiers": "x", "method": "mdav"}
LINES = b"x,y\n1,a\n2,b\n6,c\n"


def read_bytes(folder, content, name="in.csv", **reading):
    (folder / name).write_bytes(content)
    return read_file(folder / name, shoal.Reading(**reading)).frame


@pytest.mark.parametrize(
    "blank",
    [b"\n" * 5000, b"\r\n" * 3000, b" \n  \n", b"\t\r\n" * 2100, b" ", b"\n"],
    ids=lambda b: f"{b[:3]} {len(b)}",
)
@pytest.mark.parametrize("ends", [b"\n", b"\r\n"])
def test_blank_lines_at_the_end_are_no_records(tmp_path, blank, ends):
    frame = read_bytes(tmp_path, LINES.replace(b"\n", ends) + blank)
    assert frame.to_dict(as_series=False) == {"x": [1, 2, 6], "y": ["a", "b", "c"]}


def test_a_last_record_of_missing_cells_and_a_cell_of_spaces_stay(tmp_path):
    assert read_bytes(tmp_path, b"x\ty\n1\ta\n\t\n").height == 2
    assert read_bytes(tmp_path, b"x\ty\n1\ta\n2\t\n")["x"].to_list() == [1, 2]
    assert read_bytes(tmp_path, b"x,y\n1,a\n2, \n\n")["y"].to_list() == ["a", " "]


@pytest.mark.parametrize("encoding", ["undefined", "punycode", "idna", "base64", "rot13", "utf-7x", "a\0b"])
def test_an_encoding_that_reads_nothing_is_an_error(tmp_path, encoding):
    with pytest.raises(shoal.ShoalError, match="encoding"):
        read_bytes(tmp_path, LINES * 2 + b"\xff", encoding=encoding)


@pytest.mark.parametrize("time", ["23:59:60", "23:59:60.5"])
def test_leap_seconds_are_text_and_stay_as_they_are(tmp_path, time):
    content = f"t,x\n2016-12-31 {time},1\n2017-01-01 00:00:00,2\n2017-01-01 00:00:01,6\n".encode()
    assert read_bytes(tmp_path, content)["t"].dtype == pl.String
    with pytest.raises(shoal.DataError, match="'t'"):
        shoal.protect(tmp_path / "in.csv", k=3, quasi_identifiers="t")
    shoal.protect(tmp_path / "in.csv", output=tmp_path / "out.csv", **SETTINGS)
    assert f"2016-12-31 {time},3" in (tmp_path / "out.csv").read_text()


@pytest.mark.parametrize("version", [5, 8])
def test_a_transport_file_that_is_cut_off_is_refused(tmp_path, version):
    pyreadstat = pytest.importorskip("pyreadstat")
    frame = pl.DataFrame({"x": [float(i) for i in range(40)], "word": [f"w{'o' * (i % 5)}" for i in range(40)]})
    path = tmp_path / "in.xpt"
    pyreadstat.write_xport(frame, str(path), file_format_version=version)
    whole = path.read_bytes()
    assert read_file(path, shoal.Reading()).frame.height == 40
    for part in (0.97, 0.5, 0.2):
        for size in (int(part * len(whole)), int(part * len(whole)) // 80 * 80):
            path.write_bytes(whole[:size])
            with pytest.raises(shoal.FileError, match="is cut off"):
                read_file(path, shoal.Reading())


def test_a_damaged_gzip_file_is_refused(tmp_path):
    packed = bytearray(gzip.compress(LINES * 100))
    packed[30] ^= 0xFF
    with pytest.raises(shoal.FileError, match="not a gzip file, or is cut off"):
        read_bytes(tmp_path, bytes(packed), "in.csv.gz")


def test_what_does_not_fit_into_memory_is_told(tmp_path):
    path = tmp_path / "bomb.csv.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(64):
            file.write(b"x,y\n" * (1 << 22))  # 1 GiB in all
    words = [sys.executable, "-m", "shoal", "inspect", str(path)]

    def little_memory():
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))

    threads = {"POLARS_MAX_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    ended = subprocess.run(
        words, capture_output=True, text=True, preexec_fn=little_memory, env={**os.environ, **threads}, check=False
    )
    assert ended.returncode == 2
    assert ended.stderr == f"error: cannot read '{path}': what is in it does not fit into memory\n"


@pytest.mark.parametrize("closed", [">&-", "> /dev/full", ">&- 2>&-"])
def test_a_release_is_written_whatever_becomes_of_standard_output(tmp_path, closed):
    (tmp_path / "t.csv").write_bytes(LINES)
    command = f"{sys.executable} -m shoal protect {tmp_path}/t.csv -o {tmp_path}/r.csv -k 3 -q x -m mdav {closed}"
    ended = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert "Traceback" not in ended.stderr
    assert ended.returncode == (2 if "full" in closed else 0)
    assert (tmp_path / "r.csv").read_bytes() == b"x,y\n3,a\n3,b\n3,c\n"


ODD = [b"\xff\xfe", b"x" * 230, b"a*[b]?", b"a\nb", b"{}", b"~", b"%s", "é".encode(), b"-o", b"a b", b"^.*$"]


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".arrow", ".dta"])
@pytest.mark.parametrize("name", ODD, ids=repr)
def test_files_with_odd_names_are_read_and_written(tmp_path, monkeypatch, name, ending):
    monkeypatch.chdir(tmp_path)
    if ending == ".dta":
        pytest.importorskip("pyreadstat")
    odd = Path(os.fsdecode(name) + ending)
    shoal.protect(pl.DataFrame({"x": [1, 2, 6], "y": ["a", "b", "c"]}), output=odd, **SETTINGS)
    written = {path.name for path in tmp_path.iterdir()}
    assert written == {str(odd), f"{odd}.manifest.json"}
    shoal.protect(odd, output="out.csv", **SETTINGS)
    assert pl.read_csv("out.csv")["x"].to_list() == [3, 3, 3]
    assert json.loads(Path("out.csv.manifest.json").read_text())["input"]["name"] == str(odd)


def test_a_name_like_a_pattern_reads_no_other_file(tmp_path):
    """Several files are one table where they are Parquet; a file that has the name of a pattern is that file."""
    (tmp_path / "a1.csv").write_text("x\n9\n9\n9\n")
    with pytest.raises(shoal.FileError, match="several files together must be Parquet"):
        shoal.protect(tmp_path / "a*.csv", **SETTINGS)
    for ending, write in ((".arrow", "write_ipc"), (".parquet", "write_parquet")):
        getattr(pl.DataFrame({"x": [9, 9, 9]}), write)(tmp_path / f"a1{ending}")
        getattr(pl.DataFrame({"x": [1, 2, 6]}), write)(tmp_path / f"plain{ending}")
        (tmp_path / f"plain{ending}").rename(tmp_path / f"a*{ending}")
        assert shoal.protect(tmp_path / f"a*{ending}", **SETTINGS).data["x"].to_list() == [3, 3, 3]


@pytest.mark.parametrize("name", ["x" * 300 + ".csv", "x" * 245 + ".csv"])
def test_a_name_that_is_too_long_is_a_clear_error(tmp_path, name):
    (tmp_path / "t.csv").write_bytes(LINES)
    with pytest.raises(shoal.FileError, match="File name too long"):
        shoal.protect(tmp_path / "t.csv", output=tmp_path / name, **SETTINGS)
    if len(name) > 255:
        with pytest.raises(shoal.FileError, match="not there"):
            shoal.protect(tmp_path / name, **SETTINGS)
