"""Columns before and after as counts: against numpy, and what is told with a threshold."""

from __future__ import annotations

import datetime
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.report.before_after import category_shape, column_changes, number_shape
from shoal.tables.table import open_table

LEAST = 10


def tables(before, after, name="x"):
    return tuple(open_table(pl.DataFrame({name: values})) for values in (before, after))


def numpy_counts(values, edges):
    inside = np.clip(values, edges[0], np.nextafter(edges[-1], -np.inf))
    return [int(((inside >= low) & (inside < high)).sum()) for low, high in pairwise(edges)]


@pytest.mark.parametrize("least", [0, LEAST])
@pytest.mark.parametrize("kind", ["normal", "tail", "whole", "few", "large"])
def test_counts_are_those_of_an_obvious_loop(kind, least):
    draw = np.random.default_rng(5)
    values = {
        "normal": draw.normal(size=400),
        "tail": draw.lognormal(10, 2, 400),
        "whole": draw.integers(-3000, 9000, 400),
        "few": draw.integers(1, 6, 400),
        "large": 1e15 + draw.normal(size=400),
    }[kind]
    released = np.round(values / 2) * 2
    shape = number_shape(*tables(values, released), "x", least)
    for side, numbers in ((shape.before, values), (shape.after, released)):
        assert side.counts == numpy_counts(numbers.astype(float), shape.edges)
        assert side.mean == pytest.approx(numbers.mean())
        assert side.deviation == pytest.approx((numbers - numbers[0]).std())
    assert shape.after.quantiles == pytest.approx(np.percentile(released, (0, 5, 25, 50, 75, 95, 100)))
    assert bool(shape.before.quantiles) == (least == 0)


def test_edges_are_round_numbers():
    values = np.random.default_rng(1).normal(40_000, 9000, 500)
    edges = number_shape(*tables(values, values), "x").edges
    assert {edge % 1000 for edge in edges} == {0.0}
    assert 20 < len(edges) < 60


def test_small_whole_numbers_have_a_bin_each():
    shape = number_shape(*tables([1, 2, 2, 5], [2, 2, 2, 5]), "x")
    assert (shape.edges, shape.before.counts) == ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [1, 2, 0, 0, 1])


def test_far_out_values_are_in_the_open_bins():
    values = [*range(1000), 10_000_000]
    shape = number_shape(*tables(values, values), "x")
    assert (shape.open_below, shape.open_above) == (False, True)
    assert shape.edges[-1] < 2000
    assert sum(shape.before.counts) == 1001


def test_missing_values_and_dates():
    days = [datetime.date(2020, 1, 1) + datetime.timedelta(days=d) for d in range(50)]
    shape = number_shape(*tables([None, *days], [None, None, *days[1:]]), "x")
    assert shape.date
    assert (shape.before.missing, shape.after.missing) == (1, 2)
    assert shape.edges[0] == datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC).timestamp() * 1000
    assert shape.before.counts == numpy_counts(np.arange(50) * 86_400_000.0 + shape.edges[0], shape.edges)


def test_a_column_without_values_or_with_one_has_a_shape():
    empty = number_shape(
        *tables(pl.Series([None, None], dtype=pl.Float64), pl.Series([None, None], dtype=pl.Float64)), "x"
    )
    assert (empty.edges, empty.before.counts, empty.before.mean) == ([], [], None)
    constant = number_shape(*tables([7.0, 7.0], [7.0, 7.0]), "x")
    assert constant.before.counts == [2]


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=200),
    st.integers(0, 2**32 - 1),
    st.sampled_from([1.0, 100.0, 1e5]),
)
def test_with_a_threshold_no_bin_is_about_fewer_originals(values, seed, unit):
    before = np.array(values)
    after = np.random.default_rng(seed).permutation(np.round(before / unit) * unit)
    shape = number_shape(*tables(before, after), "x", LEAST, 16)
    assert all(count >= LEAST for count in shape.before.counts)
    assert sum(shape.before.counts) == (len(before) if shape.edges else 0)
    assert shape.before.quantiles == []
    assert shape.before.mean is None or len(before) >= LEAST


def test_with_a_threshold_edges_come_from_the_release():
    draw = np.random.default_rng(2)
    after = np.round(draw.normal(50, 10, 500))
    near, far = (number_shape(*tables(after + shift, after), "x", LEAST, 16).edges for shift in (0.25, 1e5))
    alone = number_shape(*tables(after, after), "x", 0, 16).edges
    assert set(near) <= set(alone)
    assert set(far) <= set(alone)


def test_categories_are_counted_by_hand():
    before = ["a"] * 5 + ["b"] * 3 + ["c", None]
    after = ["a"] * 6 + ["b"] * 2 + [None, None]
    shape = category_shape(*tables(before, after), "x", most=2)
    assert (shape.labels, shape.before, shape.after) == (["a", "b"], [5, 3], [6, 2])
    assert (shape.others, shape.others_before, shape.others_after) == (1, 1, 0)
    assert (shape.missing_before, shape.missing_after) == (1, 2)


@given(st.lists(st.integers(1, 40), min_size=1, max_size=12), st.data())
def test_with_a_threshold_rare_categories_cannot_be_worked_out(sizes, data):
    before = [f"c{place}" for place, size in enumerate(sizes) for _ in range(size)]
    after = [data.draw(st.sampled_from(sorted(set(before)))) if len(before) < 60 else label for label in before]
    shape = category_shape(*tables(before, after), "x", LEAST)
    assert all(count >= LEAST for count in [*shape.before, *shape.after])
    for rest, whole in ((shape.others_before, len(before)), (shape.others_after, len(after))):
        assert rest == 0 or rest >= LEAST or rest == whole


def test_changes_are_counted():
    before = pl.DataFrame({"a": [1, 2, None, 4], "b": ["x", "y", "z", None], "gone": [1, 2, 3, 4], "c": [1, 2, 3, 4]})
    after = pl.DataFrame({"a": [1, 3, None, None], "b": ["x", "w", None, None], "c": ["1", "2", "3", "5"]})
    found = {change.name: change for change in column_changes(open_table(before), open_table(after))}
    assert (found["a"].changed, found["a"].suppressed, found["a"].missing_before, found["a"].missing_after) == (
        1,
        1,
        1,
        2,
    )
    assert (found["b"].changed, found["b"].suppressed) == (1, 1)
    assert not found["gone"].released
    assert found["c"].changed == 1


def test_many_zeros_are_told_by_themselves_and_bins_hold_the_rest():
    rng = np.random.default_rng(0)
    money = np.where(rng.random(400) < 0.6, 0.0, rng.lognormal(8, 1, 400))
    before, after = (open_table(pl.DataFrame({"x": x})) for x in (money, np.where(money > 0, money + 1, money)))
    shape = number_shape(before, after, "x")
    zeros = int((money == 0).sum())
    assert shape.zeros == (zeros, zeros)
    assert sum(shape.before.counts) == sum(shape.after.counts) == 400 - zeros
    assert shape.totals == (400, 400)
    assert shape.before.mean == pytest.approx(money.mean())  # of all values
    few = np.where(rng.random(400) < 0.02, 0.0, rng.lognormal(8, 1, 400))
    assert number_shape(*(open_table(pl.DataFrame({"x": few})) for _ in range(2)), "x").zeros is None
    ones = open_table(pl.DataFrame({"x": rng.integers(0, 3, 400)}))
    assert number_shape(ones, ones, "x").zeros is None  # 0 has a bin of its own


def test_zeros_of_few_originals_are_not_told():
    values = np.array([0.0] * 8 + [10.0 * i for i in range(1, 41)])
    table = open_table(pl.DataFrame({"x": values}))
    assert number_shape(table, table, "x").zeros == (8, 8)
    assert number_shape(table, table, "x", least=10).zeros is None


def test_names_that_only_the_release_has_are_shown_and_not_put_under_others():
    before = open_table(pl.DataFrame({"job": [f"job {i % 40}" for i in range(400)]}))
    after = open_table(pl.DataFrame({"job": ["health"] * 300 + ["office"] * 100}))
    shape = category_shape(before, after, "job")
    assert {"health", "office"} <= set(shape.labels)
    assert shape.others_after == 0
    assert len(shape.labels) == 20
