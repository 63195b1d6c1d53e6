"""Cells that hold several values: they are told, spread over columns, and put together again."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import shoal
from shoal.tables.set_valued import mark_of_sets

ILL = ["E11;I10", "I10", "E11", "I10;E11;J45", "J45", "J45;I10"] * 5


def test_a_column_of_sets_is_refused_with_what_to_do_and_without_a_value():
    table = pl.DataFrame({"icd": ILL, "age": range(30)})
    with pytest.raises(shoal.DataError, match=r"several values with ';' between them.*spread_sets") as told:
        shoal.protect(table, 3, ["icd", "age"])
    assert "E11" not in str(told.value)
    as_names = shoal.protect(table, 3, ["icd", "age"], nominal="icd", method="sa-mdav")
    assert as_names.summary.smallest_group >= 3
    found = shoal.inspect(table).proposals[0]
    assert (str(found.role), found.nominal) == ("quasi-identifier", True)
    assert "several values in a cell" in found.reason


@pytest.mark.parametrize(
    "names",
    [
        ["Doe, Ann", "Doe, Bob", "Roe, Ann", "Roe, Bob", "Poe, Ann"],
        ["Rome; Italy", "Oslo; Norway", "Bergen; Norway"],
        ["a", "b", "c;d"],
        ["a;", "b;", "a;b", "a", "b"],
        ["red", "green"],
        [],
    ],
)
def test_names_with_marks_in_them_are_no_sets(names):
    assert mark_of_sets(names) is None


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, pa.table])
def test_sets_come_back_as_they_were(make):
    cells = ["E11;I10", None, "", "I10"]
    table = make({"id": [1, 2, 3, 4], "icd": cells, "age": [5, 6, 7, 8]})
    spread = shoal.spread_sets(table, "icd")
    names = list(getattr(spread, "column_names", spread.columns))
    assert names == ["id", "icd: E11", "icd: I10", "age"]
    assert list(pl.DataFrame(spread)["icd: E11"]) == ["yes", None, "no", "no"]
    back = shoal.gather_sets(spread, "icd")
    assert type(back) is type(table)
    assert pl.DataFrame(back).to_dict(as_series=False)["icd"] == cells


def test_an_index_stays_where_it_was():
    table = pd.DataFrame({"icd": ["a;b", "b"]}, index=[7, 9])
    assert shoal.gather_sets(shoal.spread_sets(table, "icd"), "icd").index.tolist() == [7, 9]


def test_a_group_has_the_values_of_at_least_half_of_its_records():
    cells = ["E11;I10", "E11", "E11;I10;J45", "I10"]
    spread = shoal.spread_sets(pl.DataFrame({"icd": cells}), "icd")
    release = shoal.protect(spread, 4, spread.columns, method="sa-mdav")
    assert set(shoal.gather_sets(release.data, "icd")["icd"]) == {"E11;I10"}


def test_k_holds_for_the_sets_that_are_released():
    spread = shoal.spread_sets(pl.DataFrame({"icd": ILL}), "icd")
    for method in ("sa-mdav", "semantic-optimal"):
        options = {"steps": 2000} if method == "semantic-optimal" else None
        release = shoal.protect(spread, 4, spread.columns, method=method, options=options)
        assert shoal.gather_sets(release.data, "icd")["icd"].value_counts()["count"].min() >= 4


def test_what_cannot_be_spread_is_told():
    table = pl.DataFrame({"icd": ["a"], "icd: a": ["yes"], "n": [1], "none": [None]})
    with pytest.raises(shoal.DataError, match="did you mean 'icd'"):
        shoal.spread_sets(table, "icf")
    with pytest.raises(shoal.DataError, match="already; rename it"):
        shoal.spread_sets(table, "icd")
    with pytest.raises(shoal.DataError, match="is not text"):
        shoal.spread_sets(table, "n")
    with pytest.raises(shoal.DataError, match="holds no values"):
        shoal.spread_sets(table, "none")
    with pytest.raises(shoal.DataError, match="no columns 'x: "):
        shoal.gather_sets(table, "x")
