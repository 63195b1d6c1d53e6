"""Each aggregator against a slow and obvious version, group by group, in plain Python."""

import math
import statistics
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
import shoal.aggregate.numbers
from shoal.aggregate.numbers import AGGREGATORS, aggregator_mistake
from shoal.columns.numbers import Column
from shoal.kernels.representatives import group_rows

CASES = settings(deadline=None, max_examples=50)


def repeated(values, weights):
    """Return each value as often as its weight says: what a weight means."""
    return [value for value, weight in zip(values, weights, strict=True) for _ in range(weight)]


def slow_mean(values, weights):
    many = [Fraction(v) for v in repeated(values, weights)]
    return float(sum(many) / len(many))


def slow_median(values, weights):
    return statistics.median(repeated(values, weights))


def slow_geometric_mean(values, weights):
    return statistics.geometric_mean(repeated(values, weights))


def slow_trimmed_mean(values, weights):
    pairs = sorted(zip(values, weights, strict=True), key=lambda pair: pair[0])
    drop = -(-len(pairs) // 10) if len(pairs) >= 3 else 0
    kept = pairs[drop : len(pairs) - drop]
    return slow_mean([v for v, _ in kept], [w for _, w in kept])


def slow_mode(values, weights):
    many = repeated(values, weights)
    middle = sum(Fraction(v) for v in many) / len(many)
    return min(set(many), key=lambda v: (-many.count(v), abs(Fraction(v) - middle), v))


def slow_quantile(values, weights, part):
    many = sorted(repeated(values, weights))
    return many[math.ceil(part * len(many)) - 1]


SLOW = {
    "mean": slow_mean,
    "weighted-mean": slow_mean,
    "median": slow_median,
    "geometric-mean": slow_geometric_mean,
    "trimmed-mean": slow_trimmed_mean,
    "mode": slow_mode,
    "minimum": lambda values, weights: min(values),
    "lower-quartile": lambda values, weights: slow_quantile(values, weights, Fraction(1, 4)),
    "upper-quartile": lambda values, weights: slow_quantile(values, weights, Fraction(3, 4)),
    "maximum": lambda values, weights: max(values),
}

NUMBERS = st.one_of(
    st.integers(1, 9).map(float),  # many ties
    st.floats(2.0**-10, 2.0**20, width=32),
)


@st.composite
def tables(draw):
    """Return values, which are observed, groups and weights of up to 40 records."""
    records = draw(
        st.lists(
            st.tuples(NUMBERS, st.sampled_from([True, True, True, False]), st.integers(0, 4), st.integers(1, 5)),
            min_size=1,
            max_size=40,
        )
    )
    values, observed, groups, weights = zip(*records, strict=True)
    return list(values), list(observed), np.array(groups), list(weights)


def aggregate(column, groups, *how):
    return shoal.aggregate.numbers.aggregate(column, group_rows(groups), *how)


def column_of(values, observed=None, origin=0, whole=False):
    """Return a column as tables give it: floats, or whole differences from an origin; 0 where missing."""
    seen = np.ones(len(values), dtype=bool) if observed is None else np.array(observed)
    numbers = np.array(values, dtype=np.int64) - origin if whole else np.array(values, dtype=float)
    return Column("x", np.where(seen, numbers, 0), seen, origin)


def members(groups, observed):
    """Return the observed rows of each group that has any."""
    found = {}
    for row, group in enumerate(groups.tolist()):
        if observed[row]:
            found.setdefault(group, []).append(row)
    return found


def test_every_aggregator_has_a_slow_version_here():
    assert set(SLOW) == set(AGGREGATORS)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("aggregator", SLOW)
@CASES
@given(table=tables(), k=st.integers(1, 6), whole=st.booleans())
def test_aggregators_give_what_the_slow_versions_give(aggregator, weighted, table, k, whole):
    values, observed, groups, weights = table
    values = [float(round(v) + 1) for v in values] if whole else values
    weights = weights if weighted else [1] * len(values)
    column = column_of(values, observed, whole=whole)

    released, there = aggregate(column, groups, k, aggregator, np.array(weights, dtype=float) if weighted else None)

    expected_there = [False] * len(values)
    for rows in members(groups, observed).values():
        if len(rows) < k:
            continue
        own = [values[row] for row in rows]
        slow = SLOW[aggregator](own, [weights[row] for row in rows])
        for row in rows:
            expected_there[row] = True
            assert released[row] == pytest.approx(slow, rel=1e-9, abs=0.5 + 1e-6 if whole else 0.0)
            assert min(own) <= released[row] <= max(own)
            assert released[row] == released[rows[0]]
            assert not whole or released[row] == np.rint(released[row])
    assert there.tolist() == expected_there
    assert (released[~there] == 0.0).all()


@pytest.mark.parametrize("aggregator", SLOW)
@CASES
@given(value=st.floats(1e-300, 1e300), size=st.integers(1, 30))
def test_equal_values_come_out_exactly(aggregator, value, size):
    weights = np.linspace(0.1, 7.3, size)
    released, there = aggregate(column_of([value] * size), np.zeros(size, dtype=np.int64), 1, aggregator, weights)
    assert there.all()
    assert released.tolist() == [value] * size


@pytest.mark.parametrize("aggregator", [name for name in SLOW if name != "geometric-mean"])
@CASES
@given(
    steps=st.lists(st.integers(0, 2**20), min_size=2, max_size=20), origin=st.sampled_from([10**9, 10**18, -(10**12)])
)
def test_a_large_offset_changes_nothing(aggregator, steps, origin):
    groups = np.arange(len(steps)) % 2
    column = column_of([step + origin for step in steps], origin=origin + steps[0], whole=True)
    released = aggregate(column, groups, 1, aggregator)[0] + steps[0]
    for group in (0, 1):
        own = [float(step) for step, its_group in zip(steps, groups, strict=True) if its_group == group]
        assert released[groups == group] == pytest.approx(SLOW[aggregator](own, [1] * len(own)), abs=0.5)


@pytest.mark.parametrize("aggregator", SLOW)
@pytest.mark.parametrize("weight", [0.1, 1 / 3, 7.7])
def test_equal_weights_are_as_good_as_none(aggregator, weight):
    """Also far down a long table, where sums of weights have lost digits."""
    rng = np.random.default_rng(1)
    values = rng.integers(1, 100, 20_000).astype(float)
    groups = np.arange(len(values)) // 4
    with_weights = aggregate(column_of(values), groups, 3, aggregator, np.full(len(values), weight))[0]
    without = aggregate(column_of(values), groups, 3, aggregator)[0]
    np.testing.assert_allclose(with_weights, without, rtol=1e-12)


@pytest.mark.parametrize(
    ("observed", "k", "released"),
    [
        (0, 3, []),  # nothing was there: nothing is suppressed
        (1, 3, []),
        (2, 3, []),
        (3, 3, [4.0] * 3),
        (4, 3, [5.0] * 4),
        (2, 2, [3.0] * 2),
    ],
)
def test_a_group_with_some_but_fewer_than_k_observed_values_is_suppressed(observed, k, released):
    column = column_of([2.0, 4.0, 6.0, 8.0], [row < observed for row in range(4)])
    values, there = aggregate(column, np.zeros(4, dtype=np.int64), k, "mean")
    assert values[there].tolist() == released
    assert (values[~there] == 0.0).all()


def test_suppression_is_for_each_column_and_counted():
    table = pl.DataFrame(
        {"x": [1.0, 2.0, 3.0, 6.0], "few": [1.0, None, 3.0, None], "none": [None, None, None, None], "part": ["p"] * 4},
        schema_overrides={"none": pl.Float64},
    )
    release = shoal.protect(table, k=3, quasi_identifiers=["x", "few", "none"], method="mdav")
    assert release.data["x"].to_list() == [3.0] * 4
    assert release.data["few"].to_list() == [None] * 4
    assert release.data["none"].to_list() == [None] * 4
    assert release.summary.suppressed_cells == 2
    assert any(note.startswith("2 cells suppressed") for note in release.summary.notes)
    assert release.summary.loss_by_column["few"] == pytest.approx(100.0)


@pytest.mark.parametrize("low", [0.0, -1.0])
def test_a_geometric_mean_of_what_is_not_positive_is_refused_by_name(low):
    column = column_of([low, low, 2.0])
    assert "column 'x'" in aggregator_mistake(column, "geometric-mean")
    with pytest.raises(
        shoal.DataError, match=r"column 'x': a geometric mean needs values above 0, and 2 values are not"
    ):
        aggregate(column, np.zeros(3, dtype=np.int64), 3, "geometric-mean")
    table = pl.DataFrame({"debt": [low, low, 2.0], "y": [low, 1.0, 2.0]})
    with pytest.raises(shoal.DataError) as caught:
        shoal.protect(table, k=3, quasi_identifiers=["debt", "y"], aggregators="geometric-mean")
    assert [mistake.split(":")[0] for mistake in caught.value.mistakes] == ["column 'debt'", "column 'y'"]


def test_missing_values_do_not_count_as_not_positive():
    column = column_of([4.0, 1.0, 0.0, 2.0], [True, True, False, True])
    released, _ = aggregate(column, np.zeros(4, dtype=np.int64), 3, "geometric-mean")
    assert released[0] == pytest.approx(2.0)


def test_dates_have_no_geometric_mean():
    table = pl.DataFrame({"born": ["2020-01-01", "2020-01-02"]}).with_columns(pl.col("born").str.to_date())
    with pytest.raises(shoal.DataError, match="column 'born': dates have no geometric mean"):
        shoal.protect(table, k=2, quasi_identifiers="born", aggregators="geometric-mean")


@pytest.mark.parametrize("method", ["mdav", "univariate", "individual-ranking"])
@pytest.mark.parametrize("aggregator", ["median", "mode", "trimmed-mean"])
def test_every_method_respects_the_aggregator(method, aggregator):
    values = [1.0, 2.0, 2.0, 9.0, 1.0, 3.0]
    table = pl.DataFrame({"x": values, "y": values[::-1]})
    data = shoal.protect(table, k=6, quasi_identifiers=["x", "y"], method=method, aggregators={"x": aggregator}).data
    assert data["x"].to_list() == pytest.approx([SLOW[aggregator](values, [1] * 6)] * 6)
    assert data["y"].to_list() == [3.0] * 6
