"""Row-wise XML comes back as it was, whatever its texts, and is read in parts."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import shoal
from shoal.errors import FileError, ShoalError
from shoal.plan.reading import Reading
from shoal.tables.files import read_file, rows
from shoal.tables.files.again import read_again
from xml_files import BOMB, write_xml

# -- row-wise XML --------------------------------------------------------------------------------------------------


def test_xml_in_gives_the_same_xml_out(tmp_path):
    lines = [
        "<?xml version='1.0' encoding='UTF-8'?>",
        '<people xmlns="urn:people" xmlns:x="urn:x" x:note="a &amp; b" year="2024">',
        *(
            f"  <person><name>N{i} &lt;&amp;&gt; é</name><age>{20 + i}</age><code>00{i}</code>"
            f"{'' if i == 3 else f'<born>1990-01-{10 + i}</born>'}<size>1.50</size></person>"
            for i in range(9)
        ),
        "</people>",
    ]
    path = tmp_path / "people.xml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    source = read_file(path, Reading())
    assert source.frame.schema == {
        "name": pl.String,
        "age": pl.Int64,
        "code": pl.String,
        "born": pl.Date,
        "size": pl.Float64,
    }
    assert source.frame["born"].null_count() == 1
    release = shoal.protect(path, 3, ["age"], method="mdav", confidential=["name", "code"], output=tmp_path / "out.xml")
    out = (tmp_path / "out.xml").read_text(encoding="utf-8").splitlines()
    assert out[:2] == lines[:2]
    assert out[-1] == lines[-1]
    for i, (before, after) in enumerate(zip(lines[2:-1], out[2:-1], strict=True)):
        assert after == before.replace(f"<age>{20 + i}</age>", f"<age>{release.data['age'][i]}</age>")


def test_suppressed_values_are_absent_or_empty_as_the_file_has_it(tmp_path):
    for missing, expected in (("", "<b>"), ("<b></b>", "<b></b>")):
        values = ["<b>1</b>", "<b>2</b>", "<b>3</b>", missing]
        lines = "".join(f"<r><a>{i}</a>{value}</r>" for i, value in enumerate(values))
        path = tmp_path / "in.xml"
        path.write_text(f"<d>{lines}</d>")
        shoal.protect(path, 4, ["a", "b"], method="mdav", output=tmp_path / "out.xml")
        text = (tmp_path / "out.xml").read_text()
        assert text.count(expected) == (4 if missing else 0)
        assert text.count("<a>") == 4


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "not well-formed XML"),
        ("<d><r><a>1</a></d>", "not well-formed XML: line 1, column"),
        ("<d/>", "has no records"),
        ("<d><r/></d>", "records without any value"),
        ("<d><r><a>1</a><a>2</a></r></d>", "record 1: a variable has two values"),
        ("<d><r><a><b>1</b></a></r></d>", "no elements in elements"),
        ("<d><r i='1'><a>1</a></r></d>", "no attributes"),
        ("<d><r><a x='1'>1</a></r></d>", "no attributes"),
        ("<d><r>text<a>1</a></r></d>", "no text between them"),
        ("<d><r><a>1</a>text</r></d>", "no text between them"),
        ("<d><r><a>1</a></r><s><a>1</a></s></d>", "'s' is among the records, which are called 'r'"),
        ("<p:d xmlns:p='urn:p'><p:r><p:a>1</p:a></p:r></p:d>", "write it with a default namespace"),
        (BOMB + "<d><r><a>&b;</a></r></d>", "document type declaration"),
        ("<!DOCTYPE d SYSTEM 'http://example.org/x.dtd'><d><r><a>1</a></r></d>", "document type declaration"),
        ("<d><r><a>&undefined;</a></r></d>", "not well-formed XML"),
        ("<?xml version='1.0' encoding='no-such'?><d/>", "encoding|not well-formed"),
    ],
)
def test_xml_that_is_no_table_of_rows(tmp_path, text, told):
    path = tmp_path / "in.xml"
    path.write_text(text)
    with pytest.raises(ShoalError, match=told):
        shoal.protect(path, 2, "a", output=tmp_path / "out.xml")
    assert list(tmp_path.iterdir()) == [path]


def test_names_and_texts_that_xml_cannot_hold(tmp_path):
    with pytest.raises(FileError, match="cannot be the names of XML elements: 'a b', '1'"):
        write_xml(pl.DataFrame({"a b": [1], "1": [2]}), tmp_path / "x.xml")
    with pytest.raises(FileError, match="column 'a' has control characters"):
        write_xml(pl.DataFrame({"a": ["\x01"]}), tmp_path / "x.xml")


CELL = st.one_of(st.none(), st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=5))


@given(st.lists(st.fixed_dictionaries({"a": CELL, "b-c": CELL, "é": CELL}), min_size=1, max_size=8))
@settings(max_examples=100, deadline=None)
def test_any_texts_come_back_from_xml(tmp_path_factory, records):
    frame = pl.DataFrame(records, schema=dict.fromkeys(["a", "b-c", "é"], pl.String))
    path = tmp_path_factory.mktemp("xml") / "t.xml"
    rows.write_rows(frame.with_columns(n=pl.lit("1")), path, None, {})
    root, cells = rows.read_row_cells(path)
    assert (root["root"], root["record"]) == ("Data", "Record")
    again = cells.select(
        cells[name] if name in cells.columns else pl.lit(None, pl.String).alias(name) for name in frame.columns
    )
    assert_frame_equal(again, frame)


def test_a_large_file_is_read_in_parts(tmp_path, monkeypatch):
    monkeypatch.setattr(rows, "_CHUNK", 7)
    frame = pl.DataFrame({"a": range(50), "b": [None if i % 3 else f"t{i}" for i in range(50)]})
    path = write_xml(frame, tmp_path / "t.xml")
    assert_frame_equal(read_file(path, Reading()).frame, frame)


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "xml", "parquet", "arrow"])
def test_a_file_is_read_again_as_it_is(tmp_path, ending):
    frame = pl.DataFrame(
        {"i": [1, None, 3], "f": [0.1, 2.0, None], "t": ["x", None, "y"], "b": [True, False, None]}
    ).with_columns(
        d=pl.Series(["2024-01-02", None, "2024-03-04"]).str.to_date(),
        m=pl.Series(["2024-01-02 03:04:05", None, "2024-03-04 05:06:07"]).str.to_datetime(),
    )
    path = tmp_path / f"t.{ending}"
    shoal.tables.files.write_file(frame, path, None, set())
    assert_frame_equal(read_again(path, frame, None, Reading()).frame, frame)
