"""Numbers, dates and times in the guise of text never become categories without a word; said how, they are read."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from command_line import run
from shoal.tables.files.cells import CellForm

SETTINGS = {"k": 3, "method": "mdav"}
VALUES = [1200, 950, 12000, 1234567, 80, 3300, 45000, 7, 2500, 610, 1900, 8800]


def grouped(value, mark, decimals=""):
    return f"{value:,}".replace(",", mark) + decimals


# how the numbers are written: each is refused, and read with these settings
WRITTEN = {
    "commas": ([grouped(v, ",") for v in VALUES], {"thousands": ","}),
    "points and commas": ([grouped(v, ".", ",50") for v in VALUES], {"thousands": ".", "decimal": ","}),
    "commas and points": ([grouped(v, ",", ".50") for v in VALUES], {"thousands": ","}),
    "spaces": ([grouped(v, " ") for v in VALUES], {"thousands": " "}),
    "no-break spaces": ([grouped(v, "\u00a0") for v in VALUES], {"thousands": " "}),
    "apostrophes": ([grouped(v, "'") for v in VALUES], {"thousands": "'"}),
    "dollars": ([f"${v}" for v in VALUES], {"signs": ["$"]}),
    "negative dollars": ([f"-${v}" for v in VALUES], {"signs": ["$"]}),
    "dollars and commas": ([f"${grouped(v, ',')}" for v in VALUES], {"thousands": ",", "signs": ["$"]}),
    "euros": ([f"{v} €" for v in VALUES], {"signs": ["€"]}),
    "EUR": ([f"EUR {v}" for v in VALUES], {"signs": ["EUR"]}),
    "per cent": ([f"{v}%" for v in VALUES], {"signs": ["%"]}),
    "thousands, k": ([f"{v}k" for v in VALUES], {"signs": ["k"]}),
    "kilograms": ([f"{v} kg" for v in VALUES], {"signs": ["kg"]}),
    "per cent with a space": ([f"{v / 8} %" for v in VALUES], {"signs": ["%"]}),
}
# what no setting of reading helps with: refused
UNREADABLE = {
    "parentheses": ([f"({v})" for v in VALUES], "negative numbers in parentheses"),
    "trailing minus": ([f"{v}-" for v in VALUES], "an odd minus sign"),
    "minus sign": ([f"\u2212{v}" for v in VALUES], "an odd minus sign"),
    "lakhs": ([f"{1 + v % 9},20,{100 + v % 900}" for v in VALUES], "write them without separators"),
    "k and M": ([f"{v}{'kM'[i % 2]}" for i, v in enumerate(VALUES)], "bring them to one unit"),
    "two currencies": ([f"{'$€'[i % 2]}{v}" for i, v in enumerate(VALUES)], "bring them to one unit"),
    "leap second": (["2016-12-31 23:59:60", *[f"2016-12-{d:02} 10:00:00" for d in range(1, 12)]], "leap seconds"),
    "leap second, UTC": (
        ["2016-12-31T23:59:60Z", *[f"2016-12-{d:02}T10:00:00Z" for d in range(1, 12)]],
        "leap seconds",
    ),
    "days or months": ([f"0{d % 9 + 1}/03/2020" for d in range(12)], "write them as 2020-12-31"),
    "year of two digits": ([f"{d + 1}.12.84" for d in range(12)], "write them as 2020-12-31"),
    "names of months": ([f"{d + 1} Jan 2020" for d in range(12)], "write them as 2020-12-31"),
    "names of months, joined": ([f"{d + 10}-Sep-84" for d in range(12)], "write them as 2020-12-31"),
    "names of months first": ([f"March {d + 1}, 2020" for d in range(12)], "write them as 2020-12-31"),
    "names of months, SAS": ([f"{d + 10}JUN2020" for d in range(12)], "write them as 2020-12-31"),
    "time of day": ([f"{h:02}:30" for h in range(12)], "times of day"),
    "time of day, am": ([f"{h}:30 am" for h in range(1, 13)], "times of day"),
}
FRAMES = {
    "polars": lambda texts: pl.DataFrame({"v": texts}),
    "pandas": lambda texts: pd.DataFrame({"v": texts}),
    "pandas objects": lambda texts: pd.DataFrame({"v": pd.Series(texts, dtype=object)}),
    "pyarrow": lambda texts: pa.table({"v": texts}),
    "categorical": lambda texts: pl.DataFrame({"v": pl.Series(texts, dtype=pl.Categorical)}),
}


def write(folder, texts, delimiter=";", name="t.csv"):
    path = folder / name
    path.write_text("v\n" + "".join(f'"{text}"\n' if delimiter in text else f"{text}\n" for text in texts))
    return path


@pytest.mark.parametrize("how", [*WRITTEN, *UNREADABLE])
@pytest.mark.parametrize("method", [None, "mdav"])
def test_a_file_of_them_is_refused_with_the_option_that_helps(tmp_path, how, method):
    texts, expected = (WRITTEN | UNREADABLE)[how]
    with pytest.raises(shoal.DataError) as caught:
        shoal.protect(write(tmp_path, texts, ","), 3, "v", method=method)
    told = str(caught.value)
    assert "column 'v' holds" in told
    assert "name it as nominal" in told
    if isinstance(expected, str):
        assert expected in told
    else:
        for name, value in expected.items():
            assert f"--{name} '{value if isinstance(value, str) else value[0]}'" in told
            assert f"{name}" in told.split("in `reading`", maxsplit=1)[0]
    assert not any(text in told for text in texts)


@pytest.mark.parametrize("how", [*WRITTEN, *UNREADABLE])
@pytest.mark.parametrize("frame", FRAMES)
def test_a_table_of_them_is_refused_too_unless_they_are_said_to_be_names(frame, how):
    table = FRAMES[frame]((WRITTEN | UNREADABLE)[how][0])
    with pytest.raises(shoal.DataError, match=r"column 'v' holds .* name it as nominal"):
        shoal.protect(table, 3, "v")
    assert shoal.protect(table, 3, "v", nominal="v", method="sa-mdav").summary.groups >= 1


@pytest.mark.parametrize("how", WRITTEN)
def test_said_how_they_are_written_they_are_numbers_and_come_back_in_the_same_form(tmp_path, how):
    texts, reading = WRITTEN[how]
    for delimiter in (",", ";"):
        path = write(tmp_path, texts, delimiter)
        release = shoal.protect(path, quasi_identifiers="v", reading={**reading, "delimiter": delimiter}, **SETTINGS)
        numbers = np.array([value(text, reading) for text in texts])
        read = np.array(release.original["v"].to_list(), dtype=float)
        np.testing.assert_allclose(read, numbers)
        groups = release.groups
        means = np.array([numbers[groups == group].mean() for group in groups])
        written = max(decimals(text, reading) for text in texts)
        np.testing.assert_allclose(release.data["v"].to_numpy(), np.round(means, written))
        release.write(tmp_path / "out.csv")
        out = [cell.strip('"') for cell in (tmp_path / "out.csv").read_text().splitlines()[1:]]
        np.testing.assert_allclose([value(text, reading) for text in out], release.data["v"].to_numpy())
        shape = _shape(texts[0])
        assert {_shape(text) for text in out} == {shape}
        again = shoal.protect(
            tmp_path / "out.csv", quasi_identifiers="v", reading={**reading, "delimiter": delimiter}, **SETTINGS
        )
        assert again.data["v"].to_list() == release.data["v"].to_list()


def value(text, reading):
    """Return the number that a text stands for."""
    decimal = reading.get("decimal", ".")
    return float("".join("." if sign == decimal else sign for sign in text if sign.isdigit() or sign in ("-", decimal)))


def decimals(text, reading):
    """Return how many digits of a text stand behind its mark of decimals."""
    return sum(map(str.isdigit, text.partition(reading.get("decimal", "."))[2]))


def _shape(text):
    """Return what is before the first and behind the last digit."""
    first = next(i for i, sign in enumerate(text) if sign.isdigit())
    last = max(i for i, sign in enumerate(text) if sign.isdigit())
    return text[:first], text[last + 1 :]


@pytest.mark.parametrize("how", [*WRITTEN, *UNREADABLE])
def test_all_numeric_does_not_leave_them_out_without_a_word(how):
    texts = (WRITTEN | UNREADABLE)[how][0]
    table = pl.DataFrame({"v": texts, "w": range(12)})
    with pytest.raises(shoal.DataError, match=r"column 'v' holds .*, and is not among all numeric columns"):
        shoal.protect(table, all_numeric=True, **SETTINGS)
    assert shoal.protect(table, all_numeric=True, confidential="v", **SETTINGS).data["v"].to_list() == texts


@given(
    numbers=st.lists(st.integers(-(10**9), 10**9) | st.decimals(-(10**6), 10**6, places=2), min_size=3, max_size=12),
    thousands=st.sampled_from([",", ".", " ", "'"]),
    sign=st.sampled_from(["", "$", "EUR", "%", "kg"]),
    behind=st.booleans(),
    delimiter=st.sampled_from([",", ";", "|"]),
)
def test_numbers_written_in_any_form_are_read_as_what_they_are(
    tmp_path_factory, numbers, thousands, sign, behind, delimiter
):
    decimal = "," if thousands == "." else "."
    folder = tmp_path_factory.mktemp("forms")
    texts = []
    for number in numbers:
        size = f"{abs(number):,}".translate(str.maketrans({",": thousands, ".": decimal}))
        texts.append(f"{'-' * (number < 0)}{'' if behind else sign}{size}{sign if behind else ''}")
    reading = {"thousands": thousands, "decimal": decimal, "signs": [sign] if sign else [], "delimiter": delimiter}
    path = write(folder, texts, delimiter)
    release = shoal.protect(path, quasi_identifiers="v", reading=reading, **SETTINGS)
    assert release.original["v"].to_list() == [float(number) for number in numbers]
    release.write(folder / "out.csv")
    again = shoal.protect(folder / "out.csv", quasi_identifiers="v", reading=reading, **SETTINGS)
    assert again.original["v"].to_list() == release.data["v"].to_list()


def test_large_released_numbers_have_separators_where_the_column_has_them(tmp_path):
    path = write(tmp_path, ["1,000,000", "2,000,000", "3,000,000", "900", "1,100", "1,000"], ",")
    release = shoal.protect(path, quasi_identifiers="v", reading={"thousands": ","}, **SETTINGS)
    release.write(tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "v\n" + '"2,000,000"\n' * 3 + '"1,000"\n' * 3


@pytest.mark.parametrize(
    "number", [0, 7, -7, 999, 1000, -1000, 1234567, 1.5, -1234.25, 1e-7, -2.5e-9, 1e22, 123456789.125]
)
@pytest.mark.parametrize(
    "form",
    [
        CellForm(thousands=","),
        CellForm(decimal=","),
        CellForm(decimal=",", thousands="."),
        CellForm(thousands=" ", before="$"),
        CellForm(decimal=",", thousands="'", behind=" %"),
    ],
)
def test_what_is_written_in_a_form_is_read_back(form, number):
    column = pl.Series([number])
    assert form.read(form.write(column)).cast(column.dtype).to_list() == [number]


def test_commas_that_could_be_either_are_not_guessed_unless_another_column_tells(tmp_path):
    path = tmp_path / "t.csv"
    rows = [(f"{i + 1},{i}50", f"{i},5") for i in range(9)]
    path.write_text("v;w\n" + "".join(f"{v};{i}\n" for i, (v, _) in enumerate(rows)))
    with pytest.raises(shoal.DataError, match="--thousands ',' or --decimal ','"):
        shoal.protect(path, quasi_identifiers=["v", "w"], **SETTINGS)
    for reading, value in (({"decimal": ","}, 1.05), ({"thousands": ","}, 1050)):
        release = shoal.protect(path, quasi_identifiers=["v", "w"], reading=reading, **SETTINGS)
        assert release.original["v"][0] == value
    path.write_text("v;w\n" + "".join(f"{v};{w}\n" for v, w in rows))
    release = shoal.protect(path, quasi_identifiers=["v", "w"], **SETTINGS)
    assert release.original["v"][0] == 1.05


def test_points_that_could_be_either_are_not_guessed_in_a_file_with_decimal_commas(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("v;w\n" + "".join(f"{i + 1}.{i}50;{i},5\n" for i in range(9)))
    with pytest.raises(shoal.DataError, match=r"--thousands '\.' or --decimal '\.'"):
        shoal.protect(path, quasi_identifiers=["v", "w"], **SETTINGS)
    release = shoal.protect(path, quasi_identifiers=["v", "w"], reading={"thousands": "."}, **SETTINGS)
    assert release.original["v"][0] == 1050
    assert release.original["w"][0] == 0.5
    release = shoal.protect(path, quasi_identifiers="v", reading={"decimal": "."}, **SETTINGS)
    assert release.original["v"][0] == 1.05


def test_other_texts_among_numbers_in_a_guise_are_told(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("v;w\n" + "".join(f"{'NA' if i == 4 else f'{i},5'};{i}\n" for i in range(12)))
    with pytest.raises(shoal.DataError, match=r"1 other text among them; if those mark .* --missing"):
        shoal.protect(path, quasi_identifiers=["v", "w"], **SETTINGS)
    release = shoal.protect(path, quasi_identifiers=["v", "w"], reading={"missing": "NA"}, **SETTINGS)
    assert release.original["v"].dtype == pl.Float64


@pytest.mark.parametrize(
    "words",
    [
        ["1-4", "5-9", "10-14", "15-19"],
        ["north", "south", "east"],
        ["A1", "B2", "C3"],
        ["S", "M", "L", "4K"],
        ["<5", "5 to 9", "10+"],
        ["flat 1", "flat 2", "flat 3"],
        ["12 kg", "none", "heavy"],
        ["SW1A 1AA", "N1 9GU", "EC1 2BB"],
        ["1.2.3", "1.0.0", "2.10.1"],
        ["79.1.7", "29.5.6", "15.2.4"],
        ["10.0.21.18", "10.1.22.12", "10.2.20.14"],
        ["686-170-8402", "902-351-6548", "472-859-7234"],
        ["1 March Street", "2 May Road", "3 June Lane"],
    ],
    ids=str,
)
def test_names_stay_names(words):
    table = pl.DataFrame({"v": words * 4})
    assert shoal.protect(table, 3, "v", method="sa-mdav").data["v"].dtype == pl.String


def test_a_column_that_is_kept_is_written_as_it_was(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("v;w\n" + "".join(f"$1,{i}00;{i}\n" for i in range(9)))
    release = shoal.protect(path, quasi_identifiers="w", reading={"thousands": ",", "signs": ["$"]}, **SETTINGS)
    release.write(tmp_path / "out.csv")
    assert [line.split(";")[0] for line in (tmp_path / "out.csv").read_text().splitlines()][1:] == [
        f"$1,{i}00" for i in range(9)
    ]


@pytest.mark.parametrize("zone", ["Z", "+02:00", "-0930", "+01"])
@pytest.mark.parametrize("gap", ["T", " "])
@pytest.mark.parametrize("seconds", [":00", ":00.250", ""])
def test_times_in_a_zone_are_times_and_come_back_in_it(tmp_path, zone, gap, seconds):
    texts = [f"2024-01-{day:02}{gap}10:00{seconds}{zone}" for day in (1, 3, 2, 20, 22, 21)]
    release = shoal.protect(write(tmp_path, texts), quasi_identifiers="v", **SETTINGS)
    assert release.original["v"].dtype == pl.Datetime("us", "UTC")
    sign = -1 if zone[0] == "-" else 1
    hours, minutes = (int(zone[1:3]), int(zone[3:].strip(":") or 0)) if zone != "Z" else (0, 0)
    shift = timezone(sign * timedelta(hours=hours, minutes=minutes))
    first = datetime(2024, 1, 1, 10, 0, 0, 250_000 if "25" in seconds else 0, tzinfo=shift)
    assert release.original["v"][0] == first
    release.write(tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text().splitlines() == ["v", *[texts[2]] * 3, *[texts[5]] * 3]


def test_times_of_several_offsets_are_moments_released_in_utc_and_that_is_told(tmp_path):
    texts = [f"2024-03-{day:02}T10:00:00+0{1 + (day > 15)}:00" for day in (1, 3, 2, 20, 22, 21)]
    release = shoal.protect(write(tmp_path, texts), quasi_identifiers="v", **SETTINGS)
    assert release.original["v"].dt.hour().to_list() == [9, 9, 9, 8, 8, 8]
    release.write(tmp_path / "out.csv")
    moments = ["2024-03-02T09:00:00Z", "2024-03-21T08:00:00Z"]
    assert (tmp_path / "out.csv").read_text().splitlines()[1:] == [m for m in moments for _ in range(3)]
    assert any("several offsets from UTC" in note and note.endswith("v") for note in release.summary.notes)


def test_times_in_a_zone_go_through_xml_and_parquet(tmp_path):
    texts = [f"2024-01-{day:02}T10:00:00Z" for day in (1, 3, 2, 20, 22, 21)]
    path = tmp_path / "t.xml"
    path.write_text("<Data>" + "".join(f"<Record><v>{text}</v></Record>" for text in texts) + "</Data>")
    release = shoal.protect(path, quasi_identifiers="v", **SETTINGS)
    release.write(tmp_path / "out.xml")
    assert (tmp_path / "out.xml").read_text().count(f"<v>{texts[2]}</v>") == 3
    release.write(tmp_path / "out.parquet")
    assert pl.read_parquet(tmp_path / "out.parquet")["v"].dtype == pl.Datetime("us", "UTC")


OBJECTS = {
    "Decimal": [Decimal(i) / 4 for i in range(12)],
    "Decimal with gaps": [*[Decimal(i) / 4 for i in range(11)], None],
    "Fraction": [Fraction(i, 3) for i in range(12)],
    "int": [*range(11), 2**70],
    "int and text": [*range(11), "NA"],
    "date": [date(2020, 1, 1 + i) for i in range(12)],
    "time": [time(i) for i in range(12)],
}


@pytest.mark.parametrize("what", OBJECTS)
def test_python_objects_are_refused_as_numbers_and_dates_and_kept_otherwise(what):
    cells = pd.Series(OBJECTS[what], dtype=object)
    table = pd.DataFrame({"v": cells, "w": range(12)})
    with pytest.raises(shoal.DataError) as caught:
        shoal.protect(table, 3, ["v", "w"])
    assert "column 'v' holds" in str(caught.value)
    assert "convert it to" in str(caught.value)
    release = shoal.protect(table, quasi_identifiers="w", confidential="v", **SETTINGS)
    assert release.data["v"].dtype == object
    assert release.data["v"].equals(cells)


def test_numbers_that_somebody_made_categories_of_are_names():
    table = pd.DataFrame({"v": pd.Categorical([1, 2, 3] * 4)})
    release = shoal.protect(table, 3, "v", method="sa-mdav")
    assert set(release.data["v"]) <= {1, 2, 3}


def test_reading_is_said_on_the_command_line_and_stands_in_the_plan(tmp_path):
    path = write(tmp_path, [f"${grouped(v, ',')}" for v in VALUES], ",")
    out = tmp_path / "out.csv"
    refused = run("protect", path, "-o", out, "-k", 3, "-q", "v")
    assert refused.exit_code != 0
    assert not out.exists()
    done = run("protect", path, "-o", out, "-k", 3, "-q", "v", "-m", "mdav", "--thousands", ",", "--signs", "$")
    assert done.exit_code == 0, done.stderr
    plan = shoal.Plan(k=3, quasi_identifiers="v", method="mdav", reading={"thousands": ",", "signs": "$"})
    again = shoal.protect(path, plan=shoal.Plan.from_yaml(plan.to_yaml()))
    again.write(tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_text() == out.read_text()


@pytest.mark.parametrize(
    ("reading", "mistake"),
    [
        ({"thousands": ",", "decimal": ","}, "reading.thousands: is the mark of decimals"),
        ({"signs": [""]}, "reading.signs"),
        ({"signs": ["4"]}, "reading.signs"),
        ({"decimal": ";"}, "reading.decimal"),
        ({"thousands": "x"}, "reading.thousands"),
    ],
)
def test_marks_that_cannot_be_are_refused(reading, mistake):
    with pytest.raises(shoal.PlanError, match=mistake):
        shoal.Plan(k=3, quasi_identifiers="v", reading=reading)
