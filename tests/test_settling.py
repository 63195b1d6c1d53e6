"""Records are given back to near groups: less is lost, sizes stay, and every group keeps what it kept."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from given_away_by_definition import by_group, kept, ordered_distance
from shoal.columns.numbers import Column
from shoal.kernels.given_away import excess, meets, room_of
from shoal.partition.conditions.centres import NumberCentres
from shoal.partition.conditions.confidential import LittleGivenAway
from shoal.partition.conditions.distributions import distribution_of
from shoal.partition.conditions.matched_cells import matched_cells
from shoal.partition.conditions.settling import settle_groups
from shoal.plan.conditions import ConfidentialCondition


def asked_of(pay, missing=None, **asked):
    there = np.ones(len(pay), dtype=bool) if missing is None else ~missing
    return LittleGivenAway([distribution_of(Column("pay", pay, there))], [ConfidentialCondition(**asked)]).limits


@pytest.mark.parametrize("asked", [{"t": 0.2}, {"t": 0.12, "distinct": 4}, {"entropy": 3.0}], ids=str)
@pytest.mark.parametrize("passes", [1, 8])
@given(seed=st.integers(0, 1000), tied=st.booleans())
def test_groups_keep_what_they_kept_and_lose_less(asked, passes, seed, tied):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(150, 2))
    pay = x[:, 0] + rng.normal(size=150)
    pay = np.round(3 * pay) if tied else pay
    groups = matched_cells(x, np.argsort(np.argsort(pay)).astype(float), 10)
    parts = rng.integers(0, 2, 150)
    found = settle_groups(NumberCentres(x), groups, asked_of(pay, **asked), parts, passes)
    values = pay.tolist()

    def far(group):
        return ordered_distance(group, values)

    before, after = by_group(values, groups), by_group(values, found)
    if all(kept(group, asked, far) for group in before):
        assert all(kept(group, asked, far) for group in after)
    assert sorted(map(len, before)) == sorted(map(len, after))
    assert reference.sse(x, found) <= reference.sse(x, groups) + 1e-9
    for g in range(groups.max() + 1):  # a record of one kind makes room for one of the same
        assert sorted(parts[groups == g]) == sorted(parts[found == g])


@given(seed=st.integers(0, 10_000), size=st.integers(1, 60), gaps=st.booleans(), t=st.floats(0.01, 0.6))
def test_a_group_meets_what_is_asked_where_nothing_is_missed(seed, size, gaps, t):
    rng = np.random.default_rng(seed)
    pay = np.round(rng.normal(size=80) * rng.choice([1, 5, 100]))
    missing = rng.random(80) < 0.2 if gaps else None
    limits = asked_of(pay, missing, t=t)
    rows = rng.choice(80, size, replace=False)
    room = room_of(limits, size)
    values = [None if gaps and missing[i] else pay[i] for i in range(80)]
    far = ordered_distance([values[i] for i in rows], values)
    if abs(far - t) > 1e-7:
        assert meets(limits, rows, room.ones, room) == (far < t)
        assert (excess(limits, rows, room.ones, room) == 0.0) == (far < t)
