"""One body of tests over pandas, polars and pyarrow: what goes in comes out, by position."""

from decimal import Decimal

import narwhals as nw
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import shoal
from small_tables import cells

NULLABLE = {
    pa.int8(): pd.Int8Dtype(),
    pa.int16(): pd.Int16Dtype(),
    pa.int32(): pd.Int32Dtype(),
    pa.int64(): pd.Int64Dtype(),
    pa.uint8(): pd.UInt8Dtype(),
    pa.uint16(): pd.UInt16Dtype(),
    pa.uint32(): pd.UInt32Dtype(),
    pa.uint64(): pd.UInt64Dtype(),
    pa.float32(): pd.Float32Dtype(),
    pa.float64(): pd.Float64Dtype(),
    pa.string(): pd.StringDtype(),
    pa.bool_(): pd.BooleanDtype(),
}
CONSTRUCTORS = {
    "pandas": lambda table: table.to_pandas(date_as_object=False),
    "pandas-nullable": lambda table: table.to_pandas(types_mapper=NULLABLE.get, date_as_object=False),
    "pandas-arrow": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": pl.from_arrow,
    "pyarrow": lambda table: table,
}
WITHOUT_ARROW = (CONSTRUCTORS["pandas"], CONSTRUCTORS["pandas-nullable"])
ZONE = "Europe/Madrid"
TYPES = [
    *(pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()),
    *(pa.float32(), pa.float64(), pa.date32(), pa.decimal128(9, 2)),
    *(pa.timestamp(unit) for unit in ("s", "ms", "us", "ns")),
    *(pa.timestamp(unit, ZONE) for unit in ("ms", "us", "ns")),
]


@pytest.fixture(params=CONSTRUCTORS)
def constructor(request):
    """Make a table of each kind from an Arrow table."""
    return CONSTRUCTORS[request.param]


@pytest.fixture(params=TYPES, ids=str)
def kind(request):
    return request.param


def arrow(numbers, kind):
    """Return numbers, or None, as an Arrow array of any type."""
    if pa.types.is_decimal(kind):
        return pa.array([None if n is None else Decimal(n) for n in numbers], kind)
    return pa.array(numbers, pa.int32() if pa.types.is_date32(kind) else pa.int64()).cast(kind)


def types(table):
    return table.schema if hasattr(table, "schema") else list(table.dtypes.items())


def three_strata(kind, values):
    """Return a table of three strata that, with k = 3, are one group each; its rows take turns."""
    return pa.table({"x": arrow(values, kind), "part": ["a", "b", "c"] * 4, "note": [f"row {n}" for n in range(12)]})


def protect_three(table, columns=("x",), **settings):
    return shoal.protect(
        table, k=3, quasi_identifiers=list(columns), strata=["part"], confidential="note", method="mdav", **settings
    )


def skip_without_type(constructor, kind):
    if pa.types.is_decimal(kind) and constructor in WITHOUT_ARROW:
        pytest.skip("only Arrow columns hold decimals in pandas")


def test_values_types_rows_and_order_come_back_in_the_same_kind_of_table(constructor, kind):
    skip_without_type(constructor, kind)
    values = [10, 70, 101, 12, 70, 103, 11, 70, 101, 11, 70, 103]
    table = constructor(three_strata(kind, values))
    before = cells(table, "x")

    data = protect_three(table).data

    assert type(data) is type(table)
    assert types(data) == types(table)
    expected = three_strata(kind, [11, 70, 102] * 4)
    assert cells(data, "x") == cells(constructor(expected), "x")
    assert cells(data, "note") == cells(table, "note")
    assert cells(data, "part") == cells(table, "part")
    assert cells(table, "x") == before


def test_missing_stays_missing_and_too_few_observed_are_suppressed(constructor, kind):
    skip_without_type(constructor, kind)
    values = [10, 70, None, 12, None, None, None, None, None, 11, 72, None]
    table = constructor(three_strata(kind, values))

    release = protect_three(table, missing_patterns="ignored")

    expected = [11, None, None, 11, None, None, None, None, None, 11, None, None]
    assert cells(release.data, "x") == cells(constructor(three_strata(kind, expected)), "x")
    assert types(release.data) == types(table)
    assert release.summary.suppressed_cells == 2


INDEXES = {
    "shuffled": lambda n: pd.Index([(i * 7) % n for i in range(n)]),
    "filtered": lambda n: pd.Index(range(0, 3 * n, 3)),
    "duplicate": lambda n: pd.Index([0, 1] * (n // 2)),
    "text": lambda n: pd.Index([f"r{i % 20}" for i in range(n)], name="part"),
    "several levels": lambda n: pd.MultiIndex.from_product([["u", "v"], range(n // 2)]),
    "dates": lambda n: pd.date_range("2020-01-01", periods=n)[::-1],
}


@pytest.mark.parametrize("index", INDEXES)
def test_the_pandas_index_changes_no_value_and_comes_back(index):
    plain = shoal.example(60).to_pandas().drop(columns="name")
    labelled = plain.set_index(INDEXES[index](60))
    columns = ["age", "height", "income"]

    first, second = (
        shoal.protect(table, k=4, quasi_identifiers=columns, strata="region", small_strata="merge", method="mdav")
        for table in (plain, labelled)
    )

    pd.testing.assert_frame_equal(second.data.reset_index(drop=True), first.data)
    pd.testing.assert_index_equal(second.data.index, labelled.index)
    assert second.groups.tolist() == first.groups.tolist()


def test_a_filtered_pandas_table_gives_what_its_copy_gives():
    whole = shoal.example(120).to_pandas().drop(columns="name")
    some = whole[whole["region"].isin(["north", "east"])]
    by_position = some.reset_index(drop=True)
    columns = ["age", "height", "income"]

    first, second = (
        shoal.protect(table, k=5, quasi_identifiers=columns, method="mdav") for table in (some, by_position)
    )

    pd.testing.assert_frame_equal(first.data.reset_index(drop=True), second.data)


def test_pandas_columns_that_are_not_named_by_text_are_refused():
    with pytest.raises(shoal.DataError, match="column names"):
        shoal.protect(pd.DataFrame({0: [1.0, 2.0, 3.0], 1: [4.0, 4.0, 7.0]}), k=3, all_numeric=True)


def test_every_library_gives_the_same_numbers():
    survey = shoal.example(80).drop("name").to_arrow()
    released = {
        name: shoal.protect(
            make(survey),
            k=4,
            quasi_identifiers=["age", "height", "income"],
            weight="weight",
            confidential="region",
            method="mdav",
        )
        for name, make in CONSTRUCTORS.items()
    }
    first = released.pop("polars")
    for other in released.values():
        assert other.groups.tolist() == first.groups.tolist()
        for column in ("age", "height", "income"):
            assert cells(other.data, column) == cells(first.data, column)
        assert other.summary.sse == first.summary.sse


BIG = {
    "int64 near its end": (pa.int64(), [2**63 - 1, 2**63 - 3, 2**63 - 2], 2**63 - 2),
    "int64 near its start": (pa.int64(), [-(2**63), 2 - 2**63, 1 - 2**63], 1 - 2**63),
    "uint64 near its end": (pa.uint64(), [2**64 - 1, 2**64 - 3, 2**64 - 2], 2**64 - 2),
    "uint64 on both sides of 2^63": (pa.uint64(), [2**63 - 2, 2**63 + 2, 2**63 + 3], 2**63 + 1),
    "more digits than a float": (pa.int64(), [10**17 + 1, 10**17 + 5, 10**17 + 3], 10**17 + 3),
}


@pytest.mark.parametrize("case", BIG)
def test_big_integers_keep_their_digits(constructor, case):
    kind, values, mean = BIG[case]
    table = constructor(pa.table({"x": pa.array(values, kind)}))
    assert cells(shoal.protect(table, k=3, quasi_identifiers="x", method="mdav").data, "x") == [mean] * 3


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (pa.int64(), [0, 0, 0, 2**53 + 1, 2**53 + 1, 2**53 + 1]),
        (pa.float64(), [1e17, 1e17, 1e17, 0.1, 0.1, 0.1]),
        (pa.timestamp("ns"), [0, 0, 0, 2**60 + 1, 2**60 + 1, 2**60 + 1]),
    ],
    ids=["integers", "floats", "nanoseconds"],
)
def test_groups_of_equal_values_stay_exactly_what_they_are(constructor, kind, values):
    table = constructor(pa.table({"x": pa.array(values, kind)}))
    assert cells(shoal.protect(table, k=3, quasi_identifiers="x", method="mdav").data, "x") == cells(table, "x")


REFUSED = {
    "true and false": ([True, False, True, True], "true or false"),
    "text": (["low", "high", "low", None], "is text"),
    "a few texts among numbers": (["1", "2", "n/a", "4"], "has text in 1 of 4 cells, the first in record 3"),
    "numbers as text": (["1", "2", "3", "4"], "numbers as text"),
    "infinity": ([1.0, float("inf"), float("-inf"), 2.0], "has 2 infinite values"),
    "lists": ([[1], [2], [3], [4]], "cannot average"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_has_no_mean_is_refused_as_a_quasi_identifier(constructor, what):
    values, message = REFUSED[what]
    if what == "lists" and constructor in WITHOUT_ARROW:
        pytest.skip("pandas has no type for lists")
    table = constructor(pa.table({"answer": values}))
    with pytest.raises(shoal.DataError, match=rf"column 'answer' .*{message}"):
        shoal.protect(table, k=2, quasi_identifiers="answer", method="mdav")


def test_lists_are_kept_as_they_are(constructor):
    table = constructor(pa.table({"x": [1.0, 2.0, 6.0], "parts": [[1], [], [2, 3]]}))
    before = cells(table, "parts")
    data = shoal.protect(table, k=3, quasi_identifiers="x", method="mdav").data
    assert cells(data, "parts") == before
    assert cells(data, "x") == [3.0] * 3


def test_a_column_that_is_missing_throughout_stays_so(constructor):
    table = constructor(pa.table({"x": [1.0, 2.0, 3.0], "none": pa.array([None] * 3, pa.float64())}))
    release = shoal.protect(table, k=3, quasi_identifiers=["x", "none"], method="mdav")
    assert cells(release.data, "none") == [None] * 3
    assert cells(release.data, "x") == [2.0] * 3
    assert release.summary.suppressed_cells == 0


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame([[1, 2, 3]] * 4, columns=["a", "b", "a"]),
        pa.Table.from_arrays([pa.array([1, 2, 3, 4])] * 3, names=["a", "b", "a"]),
    ],
    ids=["pandas", "pyarrow"],
)
def test_duplicate_column_names_are_refused(table):
    with pytest.raises(shoal.DataError, match=r"column name 'a' occurs 2 times"):
        shoal.protect(table, k=2, quasi_identifiers="b")


@pytest.mark.parametrize(
    ("thing", "hint"),
    [
        (nw.from_native(pl.LazyFrame({"a": [1, 2]})), r"call \.collect\(\) first"),
        ([1, 2, 3], "pass a pandas, polars or pyarrow table, or a path"),
        (pd.Series([1, 2, 3]), "pass a pandas, polars or pyarrow table, or a path"),
        (None, "pass a pandas, polars or pyarrow table, or a path"),
    ],
    ids=["narwhals lazy", "list", "series", "nothing"],
)
def test_what_is_no_table_in_memory_is_refused_with_a_hint(thing, hint):
    with pytest.raises(shoal.DataError, match=hint):
        shoal.protect(thing, k=2, quasi_identifiers="a")


def test_kinds_of_columns_are_found_in_every_library(constructor):
    table = constructor(
        pa.table(
            {
                "number": [1.5, 2.5],
                "day": arrow([1, 2], pa.date32()),
                "moment": arrow([1, 2], pa.timestamp("us", ZONE)),
                "word": ["a", "b"],
                "yes": [True, False],
            }
        )
    )
    kinds = {p.profile.name: str(p.profile.kind) for p in shoal.inspect(table).proposals}
    assert kinds == {"number": "numeric", "day": "date", "moment": "date", "word": "nominal", "yes": "boolean"}
