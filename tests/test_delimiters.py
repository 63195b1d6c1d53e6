"""The delimiter of a text file is found by looking, also beside decimal commas; what is cut unevenly says where."""

import itertools

import pytest

import shoal
from command_line import run
from shoal.plan.delimited import find_delimiter

EUROPEAN = "age;income;hours;height;assets\n" + "45,0;22153,5;44,0;161,8;10322,12\n28,5;18000,0;40,5;170,1;0,5\n" * 60


def written(folder, content, newline="\n"):
    path = folder / "table.csv"
    path.write_bytes(content.replace("\n", newline).encode())
    return path


def quoted(cell):
    return '"' + cell.replace('"', '""') + '"'


def test_semicolons_are_found_beside_as_many_decimal_commas(tmp_path):
    path = written(tmp_path, EUROPEAN)
    frame = shoal.read_table(path)
    assert frame.columns == ["age", "income", "hours", "height", "assets"]
    assert all(kind.is_float() for kind in frame.dtypes)
    assert frame.row(0) == (45.0, 22153.5, 44.0, 161.8, 10322.12)
    out = tmp_path / "out.csv"
    shoal.protect(path, k=3, quasi_identifiers=frame.columns, output=out)
    lines = out.read_text().splitlines()
    assert lines[0] == "age;income;hours;height;assets"
    assert len(lines) == 121
    assert all(line.count(";") == 4 and "," in line and "." not in line for line in lines[1:])


@pytest.mark.parametrize("delimiter", [";", ",", "\t", "|"])
@pytest.mark.parametrize("decimal", [",", "."])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_every_delimiter_is_found_beside_every_mark_of_decimals(tmp_path, delimiter, decimal, newline):
    # quoted texts with other delimiters and line breaks, names with one, and blank lines at the end
    odd = ["plain", "a;b", "a,b,c", "a\tb|c", "two\nlines", 'said "so", twice']
    numbers = ["1.5", "22.25", "300.5", "4.75", "50.5", "6.5"]
    for text, widths, end in itertools.product(odd, (2, 3, 6), ("", "\n", "\n\n  \n")):
        names = [*(f"n{place}" for place in range(widths - 1)), quoted(f"{text} of it")]
        rows = [
            [*(numbers[(row + place) % 6].replace(".", decimal) for place in range(widths - 1)), quoted(text)]
            for row in range(12)
        ]
        cut = [[quoted(cell) if delimiter in cell and cell[0] != '"' else cell for cell in row] for row in rows]
        content = "\n".join(delimiter.join(row) for row in [names, *cut]) + "\n" + end
        frame = shoal.read_table(written(tmp_path, content, newline))
        assert (frame.width, len(frame)) == (widths, 12), (text, widths, end)
        assert frame["n0"].dtype.is_float() is not (delimiter == decimal == ",")
        assert frame[:, -1].to_list() == [text.replace("\n", newline)] * 12


@pytest.mark.parametrize(
    ("content", "columns"),
    [
        ("town\nReus\nValls\n", ["town"]),
        ("note\n" + "one; two\n" + "three\n" * 5, ["note"]),
        ('note\n"one, two"\n"three, four"\n', ["note"]),
        ("age; in years\n45\n46\n47\n", ["age; in years"]),
        ("a;b,c;d\n1,5;2;3,5\n4,5;5;6\n", ["a", "b,c", "d"]),
        ("a,b,c\n1,x;y,2\n2,y;z,3\n", ["a", "b", "c"]),
        ("a\tb\tc\n1,5\t2,5\t\n1,5\t\t\n", ["a", "b", "c"]),
        ("a;b\n1,5;\n;2,5\n", ["a", "b"]),
        ('a;b\n1,5;"x\n\n,"\n2,5;"y"\n', ["a", "b"]),
    ],
)
def test_a_delimiter_that_does_not_cut_the_names_alike_is_none(tmp_path, content, columns):
    assert shoal.read_table(written(tmp_path, content)).columns == columns


@pytest.mark.parametrize("rows", ["1,5;2,5\n3,5;4,5\n", "1;2,5\n3;4,5\n", " 1,5 ;x\n-3,5;y\n"])
def test_without_names_commas_inside_of_numbers_are_decimals(tmp_path, rows):
    assert shoal.read_table(written(tmp_path, rows), {"header": False}).width == 2


def test_without_names_a_comma_beside_text_is_the_delimiter(tmp_path):
    assert shoal.read_table(written(tmp_path, "a;b,2,x\nc;d,4,y\n"), {"header": False}).width == 3


def test_a_mark_inside_of_quotes_is_none_also_beside_a_ragged_line(tmp_path):
    path = written(tmp_path, 'a;"b, c, d"\n' + '1;"x, y, z"\n' * 20)
    assert shoal.read_table(path).columns == ["a", "b, c, d"]
    path.write_text(path.read_text() + '1;2;"x, y, z"\n')
    with pytest.raises(shoal.FileError, match=r"1 line without 2 fields, the first is line 22; .* ';'") as failed:
        shoal.read_table(path)
    assert "every line has" not in str(failed.value)


def test_of_several_that_cut_alike_the_one_with_most_fields_is_taken(tmp_path):
    assert shoal.read_table(written(tmp_path, "a|b;c;d\n1|2;x;3\n4|5;y;6\n")).columns == ["a|b", "c", "d"]


def test_the_last_row_of_a_part_of_a_text_does_not_count():
    part = 'a;b\n1,5;2\n3,5;"x\n'
    assert find_delimiter(part + "y", ",;", whole=False) == ";"
    assert find_delimiter("a;b\n1;2\n3", ",;", whole=False) == ";"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (
            EUROPEAN + "1,5;2\n",
            "1 line without 5 fields, the first is line 122; the delimiter ';' was found by looking",
        ),
        (EUROPEAN.replace("44,0", "44;0", 1), "1 line without 5 fields, the first is line 2; the delimiter ';'"),
        ("a,b\n1,2\n3\n", "1 line without 2 fields, the first is line 3; the delimiter ',' was found by looking"),
        ("Income of 2024\na;b\n1,5;2\n3,5;4\n", "3 lines without 1 field, the first is line 2; the delimiter ';'"),
    ],
)
def test_lines_that_are_cut_unevenly_name_the_delimiter(tmp_path, content, told):
    with pytest.raises(shoal.FileError) as failed:
        shoal.read_table(written(tmp_path, content))
    assert told in str(failed.value)
    assert "--delimiter" in str(failed.value)


def test_another_delimiter_that_fits_is_named(tmp_path):
    path = written(tmp_path, EUROPEAN)
    answer = run("inspect", path, "--delimiter", ",")
    assert answer.exit_code
    assert "120 lines without 1 field, the first is line 2; the delimiter ',' was given; " in answer.stderr
    assert "with ';' every line has 5 fields" in answer.stderr
    assert "--delimiter ';' (delimiter=';' in `reading`)" in answer.stderr
    assert "22153" not in answer.stderr
    assert shoal.read_table(path, {"delimiter": ";"}).width == 5


def test_a_single_column_of_decimal_commas_is_told_how_to_be_read(tmp_path):
    path = written(tmp_path, "income\n1200,5\n1300,25\n")
    with pytest.raises(shoal.FileError, match=r"2 lines without 1 field, .* with ';' every line has 1 field"):
        shoal.read_table(path)
    assert shoal.read_table(path, {"delimiter": ";"})["income"].to_list() == [1200.5, 1300.25]


def test_a_delimiter_that_makes_one_column_of_everything_is_not_proposed(tmp_path):
    with pytest.raises(shoal.FileError, match="correct the lines, or name the delimiter") as failed:
        shoal.read_table(written(tmp_path, "a,b\n1,2\n3\n"))
    assert "every line has" not in str(failed.value)


def test_a_quote_left_open_above_much_text_is_told(tmp_path):
    told = "a cell has more than 131072 characters; correct it if a quote is left open"
    path = written(tmp_path, 'x,y\n1,"a\n' + "2,b\n" * 60_000)
    with pytest.raises(shoal.FileError, match=told):
        shoal.read_table(path)
    path = written(tmp_path, 'x,y\n1,a\n2\n"' + "b" * 140_000 + '",c\n')  # the short line must not pass
    with pytest.raises(shoal.FileError, match=told):
        shoal.read_table(path)


def test_a_first_line_longer_than_what_is_looked_at_is_read(tmp_path):
    names = [f"column_{place}" + 200 * "x" for place in range(1500)]
    path = written(tmp_path, ";".join(names) + "\n" + ";".join(["1,5"] * 1500) + "\n")
    assert path.stat().st_size > 1 << 18
    frame = shoal.read_table(path)
    assert frame.columns == names
    assert frame.row(0) == (1.5,) * 1500


def test_inspect_takes_commas_for_decimals_where_points_are_between_thousands(tmp_path):
    rows = "".join(f"{20 + place % 3};{1 + place},{100 + place};1.{200 + place},50\n" for place in range(30))
    found = shoal.inspect(written(tmp_path, "age;km;pay\n" + rows))
    assert (found.reading.thousands, found.reading.decimal) == (".", ",")
    assert found.table["km"][0] == 1.1
    assert found.table["pay"][0] == 1200.5


def test_inspect_says_which_columns_of_numbers_stay_text(tmp_path):
    rows = "".join(f"{1 + place},{100 + place},{100 + place};1.{200 + place},50\n" for place in range(30))
    found = shoal.inspect(written(tmp_path, "far;pay\n" + rows))
    assert found.table["pay"][0] == 1200.5
    notes = [note for note in found.notes if note.startswith("column 'far' holds numbers as text")]
    assert len(notes) == 1
    assert "--thousands ','" in notes[0]
