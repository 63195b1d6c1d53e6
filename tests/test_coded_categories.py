"""Codes of categories that are whole numbers: hierarchies, orders, names and the mode, in every library."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import shoal
from command_line import run
from shoal.columns.hierarchy import distance_matrix
from shoal.tables.table import open_table

REGIONS = {"tree": {"all": {"north": ["1", "2"], "south": ["3", "4"]}}}
NUMBERED = {"tree": {"0": {"10": ["11", "12"], "20": ["21", "22"]}}}
ONLY_CODES = (
    "released as codes, never as names above them that the type of the column cannot hold, such as the root: region"
)
LIBRARIES = {
    "polars": pl.DataFrame,
    "polars small": lambda columns: pl.DataFrame(columns).with_columns(pl.col("region").cast(pl.UInt8)),
    "pandas": pd.DataFrame,
    "pandas nullable": lambda columns: pd.DataFrame(columns).astype({"region": "Int16"}),
    "pandas arrow": lambda columns: pa.table(columns).to_pandas(types_mapper=pd.ArrowDtype),
    "pandas floats": lambda columns: pd.DataFrame(columns).astype({"region": float}),
    "pyarrow": pa.table,
}


def columns_of(codes=(1, 2, 3, 4), n=60):
    rng = np.random.default_rng(5)
    return {"region": rng.choice(codes, n), "pay": rng.normal(size=n).round(3)}


def cells(table, name):
    return table.column(name).to_pylist() if isinstance(table, pa.Table) else list(table[name])


@pytest.fixture(params=LIBRARIES)
def library(request):
    return LIBRARIES[request.param]


@pytest.mark.parametrize("aggregator", [None, "centroid", "least-squares", "mode"])
def test_codes_with_a_hierarchy_of_names_are_released_as_codes_and_that_is_told(library, aggregator):
    table = library(columns_of())
    settings = {"aggregators": {"region": aggregator}} if aggregator else {}
    release = shoal.protect(table, 4, ["region", "pay"], method="sa-mdav", hierarchies={"region": REGIONS}, **settings)
    assert open_table(release.data).types() == open_table(table).types()
    assert set(cells(release.data, "region")) <= {1, 2, 3, 4}
    assert ONLY_CODES in release.summary.notes
    assert release.measure().information_loss == pytest.approx(release.summary.information_loss)


@pytest.mark.parametrize(("codes", "nearest"), [([1, 1, 2, 3], 1), ([4, 3, 4, 3, 4], 4), ([1, 3, 4, 2, 2, 3, 3], 3)])
def test_the_code_released_is_the_one_with_the_least_summed_distance(codes, nearest):
    hierarchy = shoal.load_hierarchy(REGIONS)
    at = hierarchy.codes_of([str(code) for code in codes])
    summed = distance_matrix(hierarchy)[at].sum(axis=0)
    best = min(set(codes), key=lambda code: summed[hierarchy.codes_of([str(code)])[0]])
    assert best == nearest
    release = shoal.protect(
        pl.DataFrame({"region": codes}), len(codes), "region", method="sa-mdav", hierarchies={"region": REGIONS}
    )
    assert release.data["region"].to_list() == [nearest] * len(codes)


def test_codes_above_codes_are_released_where_they_are_numbers_too(library):
    table = library(columns_of((11, 12, 21, 22)))
    settings = {"hierarchies": {"region": NUMBERED}, "aggregators": {"region": "least-common-subsumer"}}
    release = shoal.protect(table, 4, ["region", "pay"], method="sa-mdav", **settings)
    released = set(cells(release.data, "region"))
    assert released <= {0, 10, 20, 11, 12, 21, 22}
    assert released & {0, 10, 20}
    assert ONLY_CODES not in release.summary.notes


def test_a_code_above_that_the_type_cannot_hold_is_not_released():
    table = pl.DataFrame(columns_of()).with_columns(pl.col("region").cast(pl.Int8))
    tree = {"tree": {"1000": {"100": ["1", "2"], "101": ["3", "4"]}}}
    release = shoal.protect(table, 4, "region", method="sa-mdav", hierarchies={"region": tree})
    assert release.data["region"].dtype == pl.Int8
    assert ONLY_CODES in release.summary.notes


def test_a_subsumer_that_no_code_is_must_be_asked_for_on_text(library):
    settings = {"hierarchies": {"region": REGIONS}, "method": "sa-mdav"}
    for aggregators in ({"region": "least-common-subsumer"}, "least-common-subsumer"):
        with pytest.raises(shoal.DataError, match="cannot hold the names above its values"):
            shoal.protect(library(columns_of()), 4, ["region", "pay"], aggregators=aggregators, **settings)


def test_a_method_that_releases_subsumers_takes_the_centroid_where_the_type_holds_no_others():
    settings = {"hierarchies": {"region": REGIONS}, "method": "mondrian-mixed"}
    release = shoal.protect(pl.DataFrame(columns_of()), 4, ["region", "pay"], **settings)
    assert release.data["region"].dtype == pl.Int64
    assert ONLY_CODES in release.summary.notes


def test_names_match_codes_of_a_float_column_with_missing_cells():
    table = pd.DataFrame(columns_of())
    table["region"] = table["region"].astype(float).where(table.index % 7 > 0)
    release = shoal.protect(table, 4, ["region", "pay"], method="sa-mdav", hierarchies={"region": REGIONS})
    assert release.data["region"].dtype == np.float64
    assert set(release.data["region"].dropna()) <= {1.0, 2.0, 3.0, 4.0}
    assert shoal.inspect_hierarchy(REGIONS, table, "region").distinct == 4


def test_an_order_may_have_codes_that_do_not_occur(library):
    table = library(columns_of((1, 2, 4)))
    release = shoal.protect(table, 4, ["region", "pay"], method="sa-mdav", orders={"region": ["1", "2", "3", "4"]})
    assert set(cells(release.data, "region")) <= {1, 2, 3, 4}


@pytest.mark.parametrize(
    "options",
    [
        ["--nominal", "region"],
        ["-a", "region=mode"],
        ["--nominal", "region", "-a", "region=mode"],
        ["--hierarchy", "region=h.csv"],
        ["--hierarchy", "region=h.csv", "-a", "region=mode"],
        ["--order", "region=1,2,3,4"],
    ],
    ids=" ".join,
)
def test_codes_are_categories_on_the_command_line(tmp_path, monkeypatch, options):
    monkeypatch.chdir(tmp_path)
    pl.DataFrame(columns_of()).write_csv("t.csv")
    (tmp_path / "h.csv").write_text("1;north;all\n2;north;all\n3;south;all\n4;south;all\n")
    checked = run("hierarchy", "check", "h.csv", "--data", "t.csv", "--column", "region")
    assert checked.exit_code == 0
    assert "never as names above them" in checked.stderr
    done = run("protect", "t.csv", "-o", "r.csv", "-k", "4", "-q", "region,pay", *options, "--steps", "200")
    assert done.exit_code == 0, done.stderr
    released = pl.read_csv("r.csv")["region"]
    assert released.dtype == pl.Int64
    assert set(released) <= {1, 2, 3, 4}
    assert ("never as names above" in done.stderr) == ("--hierarchy" in options)


def test_a_plan_has_codes_with_a_hierarchy(tmp_path):
    pl.DataFrame(columns_of()).write_csv(tmp_path / "t.csv")
    plan = shoal.Plan(k=4, quasi_identifiers=["region", "pay"], hierarchies={"region": REGIONS}, method="sa-mdav")
    again = shoal.Plan.from_yaml(plan.to_yaml())
    release = shoal.protect(tmp_path / "t.csv", plan=again)
    assert release.data["region"].dtype == pl.Int64
