"""Keys of records a column at a time: the same as comparing whole records, and what is made of them."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.measures import keys, linkage
from shoal.measures.keys import number_keys
from shoal.measures.risk import global_risk, risk_by_attribute

tables = st.integers(1, 5).flatmap(
    lambda d: st.lists(st.tuples(*[st.sampled_from((-0.0, 0.0, 1.0, 2.5, -7.0))] * d), min_size=1, max_size=30)
)


def by_comparing(rows):
    """Number records by first appearance."""
    seen = {}
    return [seen.setdefault(tuple(value + 0.0 for value in row), len(seen)) for row in rows]


@given(tables)
def test_keys_are_those_of_comparing_whole_records(rows):
    found = number_keys([np.array(column) for column in zip(*rows, strict=True)])
    expected = by_comparing(rows)
    assert found.of.tolist() == expected
    assert found.sizes.tolist() == [expected.count(key) for key in range(max(expected) + 1)]
    assert found.first.tolist() == [expected.index(key) for key in range(max(expected) + 1)]


def test_records_that_share_a_signature_are_still_told_apart(monkeypatch):
    monkeypatch.setattr(keys, "_signatures", lambda columns: np.zeros(len(columns[0]), dtype=np.uint64))
    found = number_keys([np.array([1.0, 2.0, 1.0]), np.array([5.0, 5.0, 5.0])])
    assert (found.of.tolist(), found.sizes.tolist(), found.first.tolist()) == ([0, 1, 0], [2, 1], [0, 1])


@given(tables)
def test_the_risk_without_a_column_is_that_of_the_keys_of_the_others(rows):
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    whole = number_keys(columns)
    codes = [number_keys([column[whole.first]]).of for column in columns]
    found = risk_by_attribute(codes, whole.sizes, global_risk(whole))
    for j, own in enumerate(found):
        others = [column for i, column in enumerate(columns) if i != j]
        without = global_risk(number_keys(others)) if others else 0.0
        assert own["risk_alone"] == global_risk(number_keys([columns[j]]))
        assert own["risk_added"] == global_risk(whole) - without


def test_linkage_of_many_columns_samples_records_where_it_would_take_long_and_says_so(monkeypatch):
    rng = np.random.default_rng(0)
    before = pl.DataFrame({f"x{j}": rng.normal(size=1500) for j in range(17)})
    after = before.with_columns(pl.all().round(0))
    whole = shoal.measure(before, after)
    monkeypatch.setattr(linkage, "_LOOKS_IN_INDEX", 1.0)
    sample = shoal.measure(before, after)
    assert whole.linkage["dbrl"]["records"] == 1500
    assert sample.linkage["dbrl"]["records"] == linkage._FEWEST
    assert sample.dbrl == pytest.approx(whole.dbrl, abs=5.0 * sample.linkage["dbrl"]["error"])
    assert any("dbrl is from a random sample of 500" in note for note in sample.notes)
    narrow = before.select(before.columns[:16])
    assert shoal.measure(narrow, narrow.with_columns(pl.all().round(0))).linkage["dbrl"]["records"] == 1500
