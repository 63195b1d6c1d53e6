"""Growing: groups that do not satisfy a condition join others of their part until all do."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from conditions_tables import CASES, protect, visits
from shoal.partition.conditions.centres import NumberCentres
from shoal.partition.conditions.dominance import NotOutweighed
from shoal.partition.conditions.growing import grow_groups
from shoal.partition.conditions.persons import EnoughPersons

# growing -------------------------------------------------------------------------------------------------------------


@CASES
@given(data=st.data())
def test_growing_only_merges_inside_a_part_and_ends_with_no_failing_group(data):
    n = data.draw(st.integers(4, 40))
    draw = lambda most: np.array(data.draw(st.lists(st.integers(0, most), min_size=n, max_size=n)))  # noqa: E731
    part = draw(2)
    fine = np.unique(2 * part + draw(1), return_inverse=True)[1]
    groups = np.unique(10 * fine + draw(4), return_inverse=True)[1].astype(np.int64)
    person = draw(8)
    x = np.array(data.draw(st.lists(st.floats(-5, 5), min_size=n, max_size=n)))[:, None]
    least = data.draw(st.integers(1, 4))
    enough = EnoughPersons("id", person, least)
    try:
        grown = grow_groups(groups, [fine, part], [enough], lambda: NumberCentres(x))
    except shoal.DataError:
        assert min(len(set(person[part == one])) for one in set(part)) < least
        return
    assert len(set(zip(groups.tolist(), grown.tolist(), strict=True))) == len(set(groups))  # no group is torn
    for group in set(grown):
        inside = grown == group
        assert len(set(part[inside])) == 1
        assert len(set(person[inside])) >= least
        if len(set(fine[inside])) > 1:  # only where a finer part cannot have enough
            assert any(len(set(person[fine == one])) < least for one in set(fine[part == part[inside][0]]))


def test_groups_that_pass_are_returned_as_they_are():
    groups = np.array([0, 0, 1, 1])
    enough = EnoughPersons("id", np.array([0, 1, 0, 1]), 2)
    assert grow_groups(groups, [np.zeros(4, np.int64)], [enough], lambda: pytest.fail("nothing to compare")) is groups


def test_a_failing_group_joins_the_nearest():
    x = np.array([[0.0], [0.1], [5.0], [5.1], [6.0], [6.1]])
    person = np.array([0, 1, 2, 3, 4, 4])
    enough = EnoughPersons("id", person, 2)
    grown = grow_groups(np.repeat([0, 1, 2], 2), [np.zeros(6, np.int64)], [enough], lambda: NumberCentres(x))
    assert Counter(grown.tolist()).most_common()[0][1] == 4
    assert grown[2] == grown[4] != grown[0]


def test_one_that_needs_thousands_of_others_has_them_in_few_rounds():
    n = 40_000
    x = np.linspace(0.0, 1.0, n)[:, None]
    weights = np.ones(n)
    weights[0] = 90_000.0
    looked = []

    class Counted(NotOutweighed):
        def failing(self, groups):
            looked.append(len(groups.order))
            return super().failing(groups)

    grown = grow_groups(
        np.arange(n) // 4, [np.zeros(n, np.int64)], [Counted(weights)], lambda: NumberCentres(np.ascontiguousarray(x))
    )
    needed = np.sum(grown == grown[0])
    assert 10_000 <= needed <= 1.2 * 10_000
    assert len(looked) < 100


def test_many_failing_groups_find_their_partners_in_an_index_as_without_it(monkeypatch):
    rng = np.random.default_rng(8)
    x, person = rng.normal(size=(4000, 2)), np.repeat(np.arange(1000), 4)
    enough = EnoughPersons("id", person, 3)

    def grown():
        return grow_groups(np.arange(4000) // 4, [np.zeros(4000, np.int64)], [enough], lambda: NumberCentres(x))

    slowly = grown()
    monkeypatch.setattr("shoal.partition.conditions.centres._MANY", 0)
    assert np.array_equal(grown(), slowly)


def test_a_group_that_fails_in_the_end_is_a_broken_promise(monkeypatch):
    monkeypatch.setattr("shoal.release.grouping.grow_sets", lambda declared, groups, *_: groups)
    with pytest.raises(shoal.BrokenPromise, match="a group fails a condition"):
        protect(visits())
