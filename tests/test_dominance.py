"""Dominance and own values: what one record makes of a representative is noted, or its group grows."""

from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from conditions_tables import CASES, by_group
from shoal.columns.numbers import Column
from shoal.kernels.representatives import group_rows
from shoal.partition.conditions.dominance import NotDominated
from shoal.plan.dominance import Dominance

# dominance -----------------------------------------------------------------------------------------------------------


def incomes(top, n=60, seed=2):
    rng = np.random.default_rng(seed)
    income = rng.normal(30_000, 5_000, n).round()
    income[7] = top
    return pl.DataFrame({"age": rng.integers(20, 60, n), "income": income})


def test_a_mean_that_one_value_dominates_is_noted_without_the_value():
    release = shoal.protect(incomes(987_654_321.0), 5, ["age", "income"], method="mdav")
    assert release.summary.dominated_groups == {"income": 1}
    [note] = release.summary.notes
    assert note.startswith("a few records dominate 1 of 12 groups of 'income' (p % rule, p = 10)")
    assert "987" not in note
    assert release.manifest()["summary"]["dominated_groups"] == {"income": 1}


@pytest.mark.parametrize("rule", [{"p": 60}, {"n": 1, "share": 50}, {"n": 2, "share": 55, "p": 30}])
def test_dominated_groups_grow_until_nobody_dominates(rule):
    table = incomes(200_000.0)
    release = shoal.protect(table, 3, ["age", "income"], method="mdav", dominance={**rule, "action": "grow"})
    income = table["income"]
    for members in by_group(income, release.groups):
        assert not slow_dominated(members, [1.0] * len(members), rule)
    plain = shoal.protect(table, 3, ["age", "income"], method="mdav", dominance=rule)
    assert plain.summary.dominated_groups["income"] >= 1
    assert release.summary.dominated_groups == {}
    assert release.summary.merged_groups == plain.summary.groups - release.summary.groups > 0


def test_a_value_that_no_group_can_hide_is_refused_by_column_and_rule(tmp_path):
    with pytest.raises(shoal.DataError, match=r"column 'income' is dominated even where all .* \(p % rule, p = 10\)"):
        shoal.protect(
            incomes(987_654_321.0),
            5,
            ["age", "income"],
            method="mdav",
            dominance={"action": "grow"},
            output=tmp_path / "out.csv",
        )
    assert list(tmp_path.iterdir()) == []


def test_a_weight_that_makes_a_mean_one_records_own_is_noted_or_the_group_grows():
    rng = np.random.default_rng(4)
    table = pl.DataFrame({"income": rng.normal(30_000, 5_000, 60).round(), "w": [1.0] * 7 + [80.0] + [1.0] * 52})
    noted = shoal.protect(table, 6, "income", weight="w", method="mdav")
    assert noted.summary.outweighed_groups == 1
    assert any(
        note.startswith("one record has more than 90 % of the weight in 1 group") for note in noted.summary.notes
    )
    grown = shoal.protect(table, 6, "income", weight="w", method="mdav", dominance={"p": 1, "action": "grow"})
    assert grown.summary.outweighed_groups == 0
    for weights in by_group(table["w"], grown.groups):
        assert max(weights) <= 0.9 * sum(weights)
    table = table.with_columns(w=pl.Series([1.0] * 7 + [1e6] + [1.0] * 52))
    with pytest.raises(shoal.DataError, match="a record has more than 90 % of the weight of all records"):
        shoal.protect(table, 6, "income", weight="w", method="mdav", dominance={"action": "grow"})


def test_dates_are_not_dominated():
    days = [date(1970, 1, 1), date(1970, 1, 2), date(2020, 1, 1)] * 3
    release = shoal.protect(pl.DataFrame({"day": days}), 3, "day", method="mdav")
    assert release.summary.dominated_groups == {}


def slow_dominated(values, weights, rule):
    """Apply the rules as they are written, to values that are all there."""
    parts = sorted((abs(v) * w for v, w in zip(values, weights, strict=True)), reverse=True)
    found = False
    if rule.get("p") is not None and parts:
        others = parts[2:] if len(parts) != 2 else parts[1:]
        found |= sum(others) < rule["p"] / 100 * parts[0]
    if rule.get("n") is not None:
        found |= sum(parts[: rule["n"]]) > rule["share"] / 100 * sum(parts)
    return found


@CASES
@given(data=st.data())
def test_the_rules_of_dominance_are_what_they_say(data):
    n = data.draw(st.integers(3, 30))
    # multiples of a quarter below 2**10: sums are exact, so that no rounding decides
    whole = data.draw(st.booleans())
    numbers = st.integers(-1000, 1000) if whole else st.integers(-4000, 4000).map(lambda i: i / 4)
    zeros = data.draw(st.lists(st.just(0), max_size=n))
    values = (zeros + data.draw(st.lists(numbers, min_size=n, max_size=n)))[:n]
    observed = np.array(data.draw(st.lists(st.sampled_from([True, True, True, False]), min_size=n, max_size=n)))
    weights = data.draw(st.none() | st.lists(st.sampled_from([1.0, 2.0, 64.0]), min_size=n, max_size=n))
    groups = np.sort(np.array(data.draw(st.lists(st.integers(0, 5), min_size=n, max_size=n))))
    groups = np.unique(groups, return_inverse=True)[1].astype(np.int64)
    rule = data.draw(
        st.sampled_from([{"p": 10.0}, {"p": 100.0}, {"n": 1, "share": 50.0}, {"n": 2, "share": 75.0, "p": 25.0}])
    )
    trimmed, k = data.draw(st.booleans()), data.draw(st.integers(2, 3))
    origin = data.draw(st.integers(-500, 500)) if whole else 0
    held = np.array(values, dtype=np.int64 if whole else np.float64) - origin
    column = Column("x", np.where(observed, held, 0), observed, origin)
    given_weights = None if weights is None else np.array(weights)
    found = NotDominated(column, k, Dominance(**rule), given_weights, trimmed).failing(group_rows(groups))
    for group in range(int(groups.max()) + 1):
        rows = [row for row in range(n) if groups[row] == group and observed[row]]
        rows.sort(key=lambda row: values[row])
        expected = False
        if len(rows) >= k:
            drop = -(-len(rows) // 10) if trimmed and len(rows) >= 3 else 0
            kept = rows[drop : len(rows) - drop]
            own = [1.0] * n if weights is None else weights
            expected = slow_dominated([values[row] for row in kept], [own[row] for row in kept], rule)
        if trimmed and weights is not None and len({values[row] for row in rows}) < len(rows):
            continue  # which of equal values is left out is not told apart here, and their weights may differ
        assert bool(found[group]) == expected


def test_a_group_of_zeros_and_one_of_tiny_or_huge_values_are_judged_alike():
    for scale in (1.0, 1e-320, 1e-300, 1e300):
        values = np.array([0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 100.0, 1.0, 1.0]) * scale
        column = Column("x", values, np.ones(9, dtype=bool))
        found = NotDominated(column, 3, Dominance(p=10), np.full(9, 1e100)).failing(
            group_rows(np.repeat(np.arange(3), 3))
        )
        assert found.tolist() == [False, False, True]


# own values ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("aggregator", "expected"), [("median", 3), ("mode", 3), ("trimmed-mean", 3), ("mean", 0), ("geometric-mean", 0)]
)
def test_exact_values_of_one_record_are_counted(aggregator, expected):
    values = [1.0, 2.0, 4.0, 11.0, 12.0, 14.0, 31.0, 32.0, 34.0, 51.0, 51.0, 51.0]
    release = shoal.protect(pl.DataFrame({"x": values}), 3, "x", method="mdav", aggregators=aggregator)
    assert release.summary.own_values.get("x", 0) == expected
    told = f"'{aggregator}' releases the exact value of one record in 3 of 4 groups of 'x'; 'mean' does not"
    assert (told in release.summary.notes) == (expected > 0)


def test_own_values_are_counted_in_dates_and_not_in_categories():
    first = date(2020, 1, 1)
    days = [first + timedelta(days=d) for d in (0, 1, 3, 100, 101, 103)]
    table = pl.DataFrame({"day": days, "kind": ["a", "b", "c", "d", "e", "f"]})
    release = shoal.protect(table, 3, ["day", "kind"], aggregators={"day": "median"}, method="s-mdav")
    assert release.summary.own_values == {"day": 2}


def test_an_even_median_is_nobodys_own():
    values = [1.0, 2.0, 4.0, 8.0]
    release = shoal.protect(pl.DataFrame({"x": values}), 4, "x", method="mdav", aggregators="median")
    assert release.summary.own_values == {}
