"""What a release must not tell beside its values: categories nobody has, how missing cells were marked, row labels."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from shoal.errors import PlanError

RARE = "rare"
TOWNS = [*"aabbaabbaabbaabbaabbaabb", RARE]
AGES = [20 + i % 7 for i in range(25)]
TOWN = {"k": 5, "quasi_identifiers": ["age", "town"], "method": "sa-mdav"}


def categorical(kind):
    """Return a table whose column ``town`` has a category of one record, and its categories after a release."""
    if kind == "polars Enum":
        enum = pl.Enum([RARE, "b", "a", "nobody"])
        return pl.DataFrame({"age": AGES, "town": pl.Series(TOWNS, dtype=enum)}), lambda t: t[
            "town"
        ].dtype.categories.to_list()
    if kind == "pandas ordered":
        column = pd.Categorical(TOWNS, categories=[RARE, "b", "a", "nobody"], ordered=True)
        return pd.DataFrame({"age": AGES, "town": column}), lambda t: t["town"].cat.categories.to_list()
    if kind == "pandas":
        return pd.DataFrame({"age": AGES, "town": pd.Categorical(TOWNS)}), lambda t: t["town"].cat.categories.to_list()
    column = pa.array(TOWNS).dictionary_encode()
    return pa.table({"age": AGES, "town": column}), lambda t: t["town"].combine_chunks().dictionary.to_pylist()


@pytest.mark.parametrize("kind", ["polars Enum", "pandas ordered", "pandas", "pyarrow"])
def test_a_category_that_no_released_record_has_is_not_in_the_type(tmp_path, kind):
    table, categories = categorical(kind)
    release = shoal.protect(table, **TOWN)
    values = release.data["town"].to_pylist() if kind == "pyarrow" else list(release.data["town"])
    assert RARE not in values
    assert set(categories(release.data)) == set(values)
    if kind in ("polars Enum", "pandas ordered"):
        assert categories(release.data) == [name for name in ("b", "a") if name in values]
    if kind == "pandas ordered":
        assert release.data["town"].cat.ordered
    path = tmp_path / "r.parquet"
    release.write(path)
    assert RARE.encode() not in path.read_bytes()
    assert set(pq.read_table(path)["town"].cast(pa.string()).to_pylist()) == set(values)


def test_the_categories_of_a_kept_column_stay():
    kept = pl.Series(["x"] * 25, dtype=pl.Enum(["x", "y"]))
    release = shoal.protect(pl.DataFrame({"age": AGES, "kept": kept}), k=5, quasi_identifiers="age", method="mdav")
    assert release.data.schema["kept"] == pl.Enum(["x", "y"])


def test_labels_and_missing_codes_of_a_released_spss_column(tmp_path):
    pyreadstat = pytest.importorskip("pyreadstat")
    path, output = tmp_path / "t.sav", tmp_path / "r.sav"
    frame = pl.DataFrame({"age": [*AGES[:-2], 98, 99], "sex": [1, 2] * 11 + [1, 1, 9]}).cast(pl.Float64)
    labels = {"age": {98.0: "refused", 99.0: "unknown", 26.0: "highest"}, "sex": {1.0: "m", 2.0: "f", 9.0: "refused"}}
    missing = {"age": [98.0, 99.0], "sex": [9.0]}
    pyreadstat.write_sav(frame, str(path), variable_value_labels=labels, missing_ranges=missing)
    release = shoal.protect(path, k=5, quasi_identifiers="age", method="mdav", output=output)
    assert any("marked in several ways in age" in note for note in release.summary.notes)
    again, metadata = pyreadstat.read_sav(str(output), user_missing=True, output_format="polars")
    assert again["age"].is_null().to_list() == release.data["age"].is_null().to_list()
    assert again["age"].tail(2).is_null().all()
    there = set(again["age"].drop_nulls())
    assert set(metadata.variable_value_labels.get("age", {})) == set(labels["age"]) & there
    assert "age" not in metadata.missing_ranges
    assert again["sex"].to_list() == frame["sex"].to_list()
    assert metadata.variable_value_labels["sex"] == labels["sex"]
    assert "sex" in metadata.missing_ranges


def test_missing_cells_of_a_released_column_have_one_mark_in_a_text_file(tmp_path):
    path, output = tmp_path / "t.csv", tmp_path / "r.csv"
    marks = ["REFUSED", "NA", "", " ", "NaN"]
    cells = [*marks, *map(str, AGES[5:])]
    path.write_text("age,kept\n" + "".join(f"{c},{m}\n" for c, m in zip(cells, cells, strict=True)), encoding="utf-8")
    release = shoal.protect(
        path,
        k=5,
        quasi_identifiers="age",
        confidential="kept",
        accept={"kept": "what is kept is looked at, too"},
        method="mdav",
        reading={"missing": ["NA", "REFUSED", "NaN"]},
        output=output,
    )
    written = [line.split(",") for line in output.read_text(encoding="utf-8").splitlines()[1:]]
    assert [line[0] for line in written[:5]] == ["NA"] * 5
    assert [line[1] for line in written[:5]] == marks
    assert any("marked in several ways in age" in note for note in release.summary.notes)


def test_nan_and_empty_are_not_told_apart_without_any_setting(tmp_path):
    path, output = tmp_path / "t.csv", tmp_path / "r.csv"
    cells = ["NaN", "nan", "", " ", *[f"{age}.5" for age in AGES]]
    path.write_text("x,age\n" + "".join(f"1,{cell}\n" for cell in cells), encoding="utf-8")
    shoal.protect(path, k=5, quasi_identifiers="age", method="mdav", output=output)
    written = [line.split(",")[1] for line in output.read_text(encoding="utf-8").splitlines()[1:]]
    assert written[:4] == [""] * 4


def test_absent_and_empty_elements_are_not_told_apart(tmp_path):
    path, output = tmp_path / "t.xml", tmp_path / "r.xml"
    ages = ["", "<age/>", "<age> </age>", "<age>NaN</age>", *[f"<age>{age}.5</age>" for age in AGES]]
    path.write_text(f"<D>{''.join(f'<R>{age}<x>1</x></R>' for age in ages)}</D>", encoding="utf-8")
    shoal.protect(path, k=5, quasi_identifiers="age", method="mdav", output=output)
    lines = [line.strip() for line in output.read_text(encoding="utf-8").splitlines() if "<R>" in line]
    assert len({line.replace("<x>1</x>", "") for line in lines[:4]}) == 1


@pytest.mark.parametrize(
    "column",
    [
        pl.Series("age", [None, float("nan"), *map(float, AGES)]),
        pd.Series([None, np.nan, pd.NA, *AGES], dtype=object, name="age"),
        pd.Series(pd.arrays.FloatingArray(np.array([0.0, np.nan, *AGES]), np.array([True] + [False] * 26)), name="age"),
        pa.array([None, float("nan"), *map(float, AGES)]),
    ],
    ids=["polars", "pandas objects", "pandas Float64", "pyarrow"],
)
def test_missing_cells_in_memory_have_one_mark(column):
    table = pa.table({"age": column}) if isinstance(column, pa.Array) else column.to_frame()
    asked = {"quasi_identifiers": "age", "k": 5}
    if str(getattr(column, "dtype", "")) == "object":
        release = shoal.protect(table, **asked, nominal="age", method="sa-mdav")
    else:
        release = shoal.protect(table, **asked, method="mdav")
    cells = release.data["age"].to_pylist() if isinstance(column, pa.Array) else list(release.data["age"])
    assert len({repr(cell) for cell in cells[: len(cells) - len(AGES)]}) == 1


NAMES = [f"person {i:02}" for i in range(60)]
LABELLED = pd.DataFrame({"age": [20 + i % 9 for i in range(60)]})


@pytest.mark.parametrize(
    "index",
    [
        pd.Index(NAMES, name="name"),
        pd.Index(NAMES),
        pd.Index([f"{name.replace(' ', '')}@example.org" for name in NAMES], name="x"),
        pd.Index(range(1000, 1060), name="person_id"),
        pd.MultiIndex.from_arrays([["a", "b"] * 30, NAMES], names=["town", "x"]),
    ],
    ids=["named", "unnamed", "contacts", "numbers with a name", "a level"],
)
def test_an_index_that_identifies_is_refused_and_inspect_tells_so(index):
    table = LABELLED.set_axis(index)
    with pytest.raises(PlanError, match=r"the index.* looks like a direct identifier .*reset_index"):
        shoal.protect(table, k=5, quasi_identifiers="age", method="mdav")
    found = shoal.inspect(table)
    assert any("looks like a direct identifier" in note for note in found.notes)
    assert "person 0" not in str(found.notes)


@pytest.mark.parametrize(
    "index",
    [
        pd.RangeIndex(60),
        pd.Index(np.random.default_rng(0).permutation(60)),
        pd.Index(["a", "b", "c"] * 20, name="town"),
        pd.date_range("2020-01-01", periods=60, name="day"),
    ],
    ids=["range", "shuffled", "towns", "days"],
)
def test_an_index_that_does_not_identify_stays(index):
    table = LABELLED.set_axis(index)
    release = shoal.protect(table, k=5, quasi_identifiers="age", method="mdav")
    assert release.data.index.equals(index)
    assert not shoal.inspect(table).notes


def external_pages(incomes, k=5, aggregator="mean"):
    """Return the release and external report of a table for each of some values of one record's income."""
    found = []
    for income in incomes:
        others = [1000.0 + 37 * (i * 7 % 59) for i in range(59)]
        table = pl.DataFrame({"age": [20 + i // 3 for i in range(60)], "income": [*others, income]})
        if aggregator == "suppressed":
            # the last five records have one group by age, in which the income is the only one
            table = table.with_columns(
                pl.when(pl.arange(0, 60) < 55).then("income").when(pl.arange(0, 60) == 59).then("income")
            )
            table = table.with_columns(pl.when(pl.arange(0, 60) >= 55).then(90).otherwise("age").alias("age"))
        release = shoal.protect(
            table,
            k=k,
            quasi_identifiers=["age", "income"] if aggregator == "suppressed" else ["income"],
            method="mdav",
            aggregators="median" if aggregator == "median" else None,
            strata=None,
        )
        found.append((release, shoal.report_page(release, "external")))
    return found


def test_a_suppressed_value_cannot_be_worked_out_from_the_external_report():
    (first, page), (second, other) = external_pages([4_321_987.0, 4_754_186.0], aggregator="suppressed")
    assert first.summary.suppressed_cells == 1
    assert first.data.equals(second.data)
    assert page == other


def test_the_highest_value_cannot_be_told_from_the_external_report():
    (first, page), (second, other) = external_pages([987_654_321.0, 1_086_419_753.0], aggregator="median")
    assert first.data.equals(second.data)
    assert page == other


def test_figures_that_many_records_make_up_are_still_told():
    draw = np.random.default_rng(0)
    table = pl.DataFrame({"x": draw.uniform(10, 20, 400).tolist(), "y": draw.uniform(0, 1, 400).tolist()})
    page = shoal.report_page(shoal.protect(table, k=4, quasi_identifiers=["x", "y"], method="mdav"), "external")
    assert "Mean 15 before, 15 after; deviation 2.9 before, 2.9 after" in page
    assert "not told" not in page


def test_a_manifest_names_files_without_folders_and_the_report_finds_them(tmp_path):
    inside = tmp_path / "secret-folder"
    inside.mkdir()
    table, jobs, rules = inside / "t.csv", inside / "jobs.csv", inside / "edits.rules"
    pl.DataFrame({"age": AGES, "job": ["baker", "smith", "clerk", "nurse", "cook"] * 5}).write_csv(table)
    jobs.write_text("baker;food\ncook;food\nsmith;work\nclerk;work\nnurse;work\nfood;all\nwork;all\n", encoding="utf-8")
    rules.write_text("age >= 0\n", encoding="utf-8")
    output = inside / "r.csv"
    release = shoal.protect(
        table, 5, ["age", "job"], method="sa-mdav", hierarchies={"job": jobs}, rules=rules, output=output
    )
    text = release.write(output).read_text(encoding="utf-8")
    assert "secret-folder" not in text
    manifest = json.loads(text)
    assert manifest["plan"]["hierarchies"]["job"]["file"] == "jobs.csv"
    assert manifest["hierarchies"]["job"] == {
        "name": "jobs.csv",
        "sha256": hashlib.sha256(jobs.read_bytes()).hexdigest(),
    }
    page = shoal.write_report(table, output, tmp_path / "r.html").read_text(encoding="utf-8")
    assert "is not where it was" not in page
