"""Files in and out: text in every form comes back in that form, and output appears whole or not at all."""

import csv
import gzip
from datetime import date
from pathlib import Path

import pandas as pd
import polars as pl
import pytest

import shoal


def protect_bytes(folder, content, columns="x", name="in.csv", out=None, method="mdav", **settings):
    """Protect a file with the given bytes, k = 3; return the bytes of the release and the Release."""
    source, target = folder / name, folder / (out or f"out-{name}")
    source.write_bytes(content)
    release = shoal.protect(source, k=3, quasi_identifiers=columns, method=method, output=target, **settings)
    return target.read_bytes(), release


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", "~"])
def test_a_text_file_comes_back_with_its_delimiter(tmp_path, delimiter):
    content = "x,word\n1,a\n2,b\n6,c\n".replace(",", delimiter).encode()
    settings = {"reading": {"delimiter": "~"}} if delimiter == "~" else {}
    out, _ = protect_bytes(tmp_path, content, **settings)
    assert out.decode() == "x,word\n3,a\n3,b\n3,c\n".replace(",", delimiter)


@pytest.mark.parametrize(
    ("encoding", "given", "notes"),
    [
        ("utf-8", False, 0),
        ("utf-8-sig", False, 0),
        ("utf-16", False, 0),
        ("latin-1", False, 1),
        ("latin-1", True, 0),
        ("shift_jis", True, 0),
    ],
)
def test_a_text_file_comes_back_in_its_encoding(tmp_path, encoding, given, notes):
    word = "語" if encoding == "shift_jis" else "é"
    content = f"x,word\n1,{word}\n2,b\n6,c\n".encode(encoding)
    settings = {"reading": {"encoding": encoding}} if given else {}
    out, release = protect_bytes(tmp_path, content, **settings)
    assert out == f"x,word\n3,{word}\n3,b\n3,c\n".encode(encoding)
    assert len([note for note in release.summary.notes if "is not in UTF-8 and was read as" in note]) == notes


@pytest.mark.parametrize(
    ("encoding", "error", "message"),
    [("utf-8", shoal.FileError, "not in utf-8"), ("latin1x", shoal.DataError, "did you mean 'latin-1'")],
)
def test_a_wrong_encoding_is_refused(tmp_path, encoding, error, message):
    with pytest.raises(error, match=message):
        protect_bytes(tmp_path, "x,w\n1,é\n2,b\n3,c\n".encode("latin-1"), reading={"encoding": encoding})


FORMS = {
    "decimal comma": ("x;y\n1,5;a\n2,5;b\n5;c\n", "x;y\n3,0;a\n3,0;b\n3,0;c\n"),
    "decimal point": ("x,y\n1.5,a\n2.5,b\n5,c\n", "x,y\n3.0,a\n3.0,b\n3.0,c\n"),
    "whole numbers": ("x,y\n1,a\n2,b\n5,c\n", "x,y\n3,a\n3,b\n3,c\n"),
    "spaces round numbers": ("x,y\n 1,a\n2 ,b\n 5 ,c\n", "x,y\n3,a\n3,b\n3,c\n"),
    "other cells verbatim": (
        "x,y,z,u,w\n1,1.50,007,1e3,TRUE\n2,2.5,012,+4, false \n6,,100,0.10,True\n",
        "x,y,z,u,w\n3,1.50,007,1e3,TRUE\n3,2.5,012,+4, false \n3,,100,0.10,True\n",
    ),
    "quoted delimiters and line ends": ('x,y\n1,"a,b"\n2,"c\nd"\n6,"e""f"\n', 'x,y\n3,"a,b"\n3,"c\nd"\n3,"e""f"\n'),
    "carriage returns": ("x,y\r\n1,a\r\n2,b\r\n6,c\r\n", "x,y\r\n3,a\r\n3,b\r\n3,c\r\n"),
    "blank lines at the end": ("x,y\n1,a\n2,b\n6,c\n\n\n", "x,y\n3,a\n3,b\n3,c\n"),
    "no line end at the end": ("x,y\n1,a\n2,b\n6,c", "x,y\n3,a\n3,b\n3,c\n"),
    "missing cells": ("x,y\n1,a\n,b\n2,\n6,c\n", "x,y\n3,a\n,b\n3,\n3,c\n"),
    "a long cell": (f"x,y\n1,{'a' * 140_000}\n2,b\n6,c\n", f"x,y\n3,{'a' * 140_000}\n3,b\n3,c\n"),
    "a column without values": ("x,y\n1,\n2,\n6,\n", "x,y\n3,\n3,\n3,\n"),
    "one column": ("x\n1\n2\n6\n", "x\n3\n3\n3\n"),
}  # fmt: skip


DATES = {
    "year-month-day": ["2020-01-30", "2020-02-01", "2020-01-31"],
    "year/month/day": ["2020/01/30", "2020/02/01", "2020/01/31"],
    "day.month.year": ["30.01.2020", "01.02.2020", "31.01.2020"],
    "day/month/year": ["30/01/2020", "01/02/2020", "31/01/2020"],
    "month/day/year": ["01/30/2020", "02/01/2020", "01/31/2020"],
    "seconds": ["2020-01-30 10:00:00", "2020-01-30 10:00:04", "2020-01-30 10:00:02"],
    "seconds with T": ["2020-01-30T10:00:00", "2020-01-30T10:00:04", "2020-01-30T10:00:02"],
    "minutes": ["2020-01-30 10:00", "2020-01-30 10:04", "2020-01-30 10:02"],
    "parts of a second": ["2020-01-30 10:00:00.250", "2020-01-30 10:00:00.750", "2020-01-30 10:00:00.500"],
}


@pytest.mark.parametrize("form", DATES)
def test_dates_and_times_are_written_as_the_file_wrote_them(tmp_path, form):
    content = "x\n" + "".join(f"{moment}\n" for moment in DATES[form])
    out, _ = protect_bytes(tmp_path, content.encode())
    assert out.decode().split("\n") == ["x", *[DATES[form][-1]] * 3, ""]


@pytest.mark.parametrize("form", FORMS)
def test_values_are_written_as_the_file_wrote_them(tmp_path, form):
    before, after = FORMS[form]
    out, release = protect_bytes(tmp_path, before.encode(), missing_patterns="ignored")
    assert out.decode() == after
    assert release.summary.suppressed_cells == 0


def test_an_empty_cell_in_quotes_is_missing_too(tmp_path):
    out, _ = protect_bytes(tmp_path, b'"x","y"\n"1","a"\n"","b"\n"2",""\n"6","c"\n', missing_patterns="ignored")
    assert list(csv.reader(out.decode().splitlines())) == [["x", "y"], ["3", "a"], ["", "b"], ["3", ""], ["3", "c"]]


def test_released_cells_of_a_group_are_written_alike(tmp_path):
    out, _ = protect_bytes(tmp_path, b"x,y\n1.0,a\n2.00,b\n3.0,c\n")
    assert len({line.split(",")[0] for line in out.decode().splitlines()[1:]}) == 1


def test_suppressed_cells_are_written_as_empty_ones(tmp_path):
    out, release = protect_bytes(tmp_path, b"x,y,z\n1,7,a\n2,,b\n6,9,c\n", ["x", "y"])
    assert out == b"x,y,z\n3,,a\n3,,b\n3,,c\n"
    assert release.summary.suppressed_cells == 2


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".csv.gz"])
def test_a_single_column_keeps_the_records_whose_value_is_missing(tmp_path, ending):
    import pandas as pd

    table = pl.DataFrame({"name": list("abcdefg"), "x": [1.0, None, 2.0, 3.0, None, None, None]})
    out = tmp_path / f"r{ending}"
    shoal.protect(table, 3, "x", identifiers="name", persons=[], method="mdav", output=out)
    assert len(pd.read_csv(out)) == len(pl.read_csv(out)) == 7
    again = shoal.protect(out, 3, "x", method="mdav", output=tmp_path / f"again{ending}").data
    assert again["x"].to_list() == [2.0, None, 2.0, 2.0, None, None, None]
    assert (tmp_path / f"again{ending}").read_bytes() == out.read_bytes()


def test_texts_that_mark_missing_values_stay_where_kept_and_are_one_where_released(tmp_path):
    content = "x,y,z\n1,?,NA\n2,5,u\n6,NA,NA\nNA,8,?\n"
    how = {"reading": {"missing": ["NA", "?"]}, "missing_patterns": "ignored"}
    out, release = protect_bytes(tmp_path, content.encode(), ["x", "y"], **how)
    assert out.decode() == "x,y,z\n3,NA,NA\n3,NA,u\n3,NA,NA\nNA,NA,?\n"
    assert release.summary.suppressed_cells == 2


def test_a_file_without_header_stays_without(tmp_path):
    out, release = protect_bytes(tmp_path, b"1,a\n2,b\n6,c\n", "column_1", reading={"header": False})
    assert out == b"3,a\n3,b\n3,c\n"
    assert release.data.columns == ["column_1", "column_2"]


def test_leading_zeros_and_too_many_digits_are_text(tmp_path):
    content = f"x,zip,long\n1,007,{10**20}\n2,123,1\n6,456,2\n".encode()
    for column in ("zip", "long"):
        with pytest.raises(shoal.DataError, match=f"'{column}' holds numbers as text"):
            protect_bytes(tmp_path, content, column)


def test_dates_that_could_be_read_in_two_ways_are_not_guessed(tmp_path):
    with pytest.raises(shoal.DataError, match="'x' holds dates as text"):
        protect_bytes(tmp_path, b"x,y\n01/02/2020,a\n02/03/2020,b\n03/04/2020,c\n", method=None)


@pytest.mark.parametrize("form", ["{day}.12.84", "{day}/12/84", "12/{day}/84", "84-12-{day}"])
def test_years_of_two_digits_are_not_taken_for_those_of_the_first_century(tmp_path, form):
    cells = "".join(f"{form.format(day=day)},a\n" for day in range(20, 26))
    with pytest.raises(shoal.DataError, match="'x' holds dates as text"):
        protect_bytes(tmp_path, f"x,y\n{cells}".encode(), method=None)


def test_versions_in_a_file_are_names_and_no_dates(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x\n" + "1.12.1\n1.12.2\n1.11.3\n" * 3)
    assert shoal.protect(path, 3, "x", method="sa-mdav").data["x"].to_list() == ["1.12.1", "1.12.2", "1.11.3"] * 3


def test_gzip_in_and_out_has_the_same_content_and_the_same_bytes_each_time(tmp_path):
    content = gzip.compress(b"x,y\n1,a\n2,b\n6,c\n")
    first, _ = protect_bytes(tmp_path, content, name="in.csv.gz")
    second, _ = protect_bytes(tmp_path, content, name="in.csv.gz")
    plain, _ = protect_bytes(tmp_path, content, name="in.csv.gz", out="out.csv")
    assert gzip.decompress(first) == plain == b"x,y\n3,a\n3,b\n3,c\n"
    assert first == second


BAD = {
    "empty": (b"", shoal.DataError, "is empty"),
    "only blank lines": (b"\n \n\n", shoal.DataError, "is empty"),
    "header only": (b"x,y\n", shoal.DataError, "has 0 records, fewer than k = 3"),
    "a short line": (b"x,y\n1,a\n2\n3,c\n", shoal.FileError, "1 line without 2 fields, the first is line 3"),
    "a short line with semicolons": (b"x;y\n1;a\n2\n3;c\n", shoal.FileError, "1 line without 2 fields"),
    "a long line": (b"x,y\n1,a\n2,b,c\n3,d\n", shoal.FileError, "fields"),
    "a blank line between records": (b"x,y\n1,a\n\n2,b\n3,c\n", shoal.FileError, "line 3"),
    "duplicate names": (b"x,y,x\n1,2,3\n", shoal.DataError, "column name 'x' occurs 2 times"),
    "a column without a name": (b"x,,y\n1,2,3\n", shoal.DataError, "a column has no name"),
    "infinity": (b"x,y\n1,a\ninf,b\n3,c\n", shoal.DataError, "'x' has 1 infinite value"),
    "text among numbers": (b"x,y\n1,a\n2,b\nmany,c\n", shoal.DataError, "'x' has text in 1 of 3 cells, .* record 3"),
    "an open quote": (b'x,y\n1,"a\n2,b\n6,c\n', shoal.FileError, r"in\.csv"),
    "old line ends": (b"x,y\r1,a\r2,b\r6,c\r", shoal.FileError, r"in\.csv"),
}


@pytest.mark.parametrize("what", BAD)
def test_a_bad_text_file_is_refused_and_nothing_is_written(tmp_path, what):
    content, error, message = BAD[what]
    with pytest.raises(error, match=message):
        protect_bytes(tmp_path, content)
    assert names_in(tmp_path) == ["in.csv"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("in.docx", "the ending '.docx' is none of .csv"),
        ("in", "the ending '' is none of"),
        ("in.parquet.gz", "the ending"),
        ("in.sav.gz", "the ending"),
        ("missing.csv", "not there"),
        ("folder.csv", "a folder"),
        ("bad.parquet", "cannot read"),
        ("bad.arrow", "cannot read"),
        ("bad.csv.gz", "not a gzip file"),
        ("bad.sav", "cannot read"),
    ],
)
def test_a_file_that_cannot_be_read_is_a_file_error(tmp_path, name, message):
    (tmp_path / "folder.csv").mkdir()
    if not name.startswith(("missing", "folder")):
        (tmp_path / name).write_bytes(b"neither this nor that")
    with pytest.raises(shoal.FileError, match=message):
        shoal.protect(tmp_path / name, k=3, quasi_identifiers="x")


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("in.csv", "is the original"),
        ("../here/in.csv", "is the original"),
        ("out.docx", "the ending '.docx' is none of"),
        ("out.parquet.gz", "the ending"),
        ("out.sas7bdat", "can be read but not written"),
        ("nowhere/out.csv", "is not there; make it first"),
        ("folder.csv", "is a folder"),
    ],
)
def test_an_output_that_cannot_be_written_is_refused_before_any_work(tmp_path, monkeypatch, target, message):
    folder = tmp_path / "here"
    (folder / "folder.csv").mkdir(parents=True)
    monkeypatch.setattr("shoal.pipeline.read", lambda *_: pytest.fail("work was done"))
    with pytest.raises(shoal.FileError, match=message):
        protect_bytes(folder, b"x,y\n1,a\n2,b\n6,c\n", out=target)
    assert (folder / "in.csv").read_bytes() == b"x,y\n1,a\n2,b\n6,c\n"


FRAME = pl.DataFrame(
    {
        "x": pl.Series([1, 2, 6], dtype=pl.Int16),
        "day": [date(2020, 1, 1), date(2020, 1, 2), date(2020, 1, 6)],
        "word": pl.Series(["a", None, "c"], dtype=pl.Categorical),
        "parts": [[1], [], [2, 3]],
    }
)
WRITERS = {".parquet": "write_parquet", ".arrow": "write_ipc", ".feather": "write_ipc", ".csv": "write_csv"}


def read_back(path):
    return pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_ipc(path)


@pytest.mark.parametrize("ending", [".parquet", ".arrow", ".feather"])
def test_columnar_files_keep_types_and_other_columns(tmp_path, ending):
    source, target = tmp_path / f"in{ending}", tmp_path / f"out{ending}"
    getattr(FRAME, WRITERS[ending])(source)
    shoal.protect(source, k=3, quasi_identifiers=["x", "day"], output=target, method="mdav")
    back = read_back(target)
    assert back.schema == FRAME.schema
    assert back["x"].to_list() == [3, 3, 3]
    assert back["day"].to_list() == [date(2020, 1, 3)] * 3
    assert back.select("word", "parts").equals(FRAME.select("word", "parts"))


def test_formats_can_be_changed_on_the_way(tmp_path):
    content = b"x;day;zip\n1,5;01.02.2020;007\n2,5;02.02.2020;012\n5;03.02.2020;100\n"
    protect_bytes(tmp_path, content, ["x", "day"], out="out.parquet")
    back = pl.read_parquet(tmp_path / "out.parquet")
    assert back.to_dict(as_series=False) == {
        "x": [3.0] * 3,
        "day": [date(2020, 2, 2)] * 3,
        "zip": ["007", "012", "100"],
    }
    shoal.protect(
        tmp_path / "out.parquet", k=3, quasi_identifiers=["x", "day"], output=tmp_path / "back.csv", method="mdav"
    )
    assert (tmp_path / "back.csv").read_bytes() == (
        b"x,day,zip\n3.0,2020-02-02,007\n3.0,2020-02-02,012\n3.0,2020-02-02,100\n"
    )


def test_a_list_cannot_go_into_a_text_file(tmp_path):
    FRAME.write_parquet(tmp_path / "in.parquet")
    with pytest.raises(shoal.FileError, match=r"column 'parts' has type .* which a text file cannot hold"):
        shoal.protect(tmp_path / "in.parquet", k=3, quasi_identifiers="x", output=tmp_path / "out.csv")
    assert names_in(tmp_path) == ["in.parquet"]


def test_a_table_in_memory_can_be_written_whatever_its_other_columns_hold(tmp_path):
    table = pd.DataFrame({"x": [1, 2, 6], "mixed": [1, "a", 2.5]}, index=[5, 5, 7])
    shoal.protect(table, k=3, quasi_identifiers="x", output=tmp_path / "out.csv", method="mdav")
    assert (tmp_path / "out.csv").read_text() == "x,mixed\n3,1\n3,a\n3,2.5\n"


@pytest.mark.parametrize("ending", [".parquet", ".sav"])
def test_how_to_read_text_has_no_effect_on_other_files(tmp_path, ending):
    with pytest.raises(shoal.PlanError, match="reading: delimiter has no effect"):
        protect_bytes(tmp_path, b"", name=f"in{ending}", reading={"delimiter": ";"})


LABELLED = pl.DataFrame({"x": [1.0, 2.0, 6.0, 99.0], "sex": [1.0, 2.0, 98.0, 1.0], "word": ["a", "b", "c", "d"]})
LABELS = {"x": "Age in years", "sex": "Sex of the person", "word": "A word"}


@pytest.mark.parametrize("ending", [".sav", ".zsav", ".dta", ".xpt"])
def test_statistical_files_keep_labels(tmp_path, ending):
    pyreadstat = pytest.importorskip("pyreadstat")
    source, target = tmp_path / f"in{ending}", tmp_path / f"out{ending}"
    values = {} if ending == ".xpt" else {"variable_value_labels": {"sex": {1.0: "male", 2.0: "female"}}}
    write = {".dta": pyreadstat.write_dta, ".xpt": pyreadstat.write_xport}.get(ending, pyreadstat.write_sav)
    read = {".dta": pyreadstat.read_dta, ".xpt": pyreadstat.read_xport}.get(ending, pyreadstat.read_sav)
    write(LABELLED, str(source), column_labels=LABELS, file_label="a study", **values)

    shoal.protect(source, k=4, quasi_identifiers="x", output=target, method="mdav")

    frame, metadata = read(str(target), output_format="polars")
    assert frame["x"].to_list() == [27.0] * 4
    assert frame.select("sex", "word").equals(LABELLED.select("sex", "word"))
    assert metadata.column_names_to_labels == LABELS
    assert metadata.file_label == "a study"
    if values:
        assert metadata.variable_value_labels["sex"] == {1: "male", 2: "female"}


def test_codes_of_missing_values_in_spss_stay_where_kept_and_are_missing_where_released(tmp_path):
    pyreadstat = pytest.importorskip("pyreadstat")
    source, target = tmp_path / "in.sav", tmp_path / "out.sav"
    codes = {"x": [99], "sex": [{"lo": 97, "hi": 98}]}
    pyreadstat.write_sav(LABELLED, str(source), missing_ranges=codes)

    how = {"method": "mdav", "missing_patterns": "ignored"}
    release = shoal.protect(source, k=3, quasi_identifiers="x", output=target, **how)

    assert release.data["x"].to_list() == [3.0, 3.0, 3.0, None]
    frame, metadata = pyreadstat.read_sav(str(target), output_format="polars", user_missing=True)
    assert frame["x"].to_list() == [3.0, 3.0, 3.0, None]
    assert frame["sex"].to_list() == LABELLED["sex"].to_list()
    assert set(metadata.missing_ranges) == {"sex"}


def fail(*_, **__):
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize(
    "broken",
    [
        "shoal.release.release.write_file",
        "shoal.release.release.checksum",
        "shoal.tables.files.os.open",
    ],
)
def test_a_failure_while_writing_leaves_nothing_behind(tmp_path, monkeypatch, broken):
    (tmp_path / "out.csv").write_text("an earlier release")
    monkeypatch.setattr(broken, fail)
    with pytest.raises(shoal.FileError, match="No space left on device; nothing was written"):
        protect_bytes(tmp_path, b"x,y\n1,a\n2,b\n6,c\n", out="out.csv")
    assert names_in(tmp_path) == ["in.csv", "out.csv"]
    assert (tmp_path / "out.csv").read_text() == "an earlier release"


def test_table_and_manifest_appear_both_or_not_at_all(tmp_path):
    (tmp_path / "out.csv.manifest.json").mkdir()
    with pytest.raises(shoal.FileError):
        protect_bytes(tmp_path, b"x,y\n1,a\n2,b\n6,c\n", out="out.csv")
    assert names_in(tmp_path) == ["in.csv", "out.csv.manifest.json"]


def test_a_folder_that_cannot_be_written_to_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("shoal.tables.files.os.access", lambda path, _: Path(path) != tmp_path)
    with pytest.raises(shoal.FileError, match="cannot be written to; choose another one"):
        protect_bytes(tmp_path, b"x,y\n1,a\n2,b\n6,c\n")
    assert names_in(tmp_path) == ["in.csv"]
