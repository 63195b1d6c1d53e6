"""The check of a file can fail: every kind of damage to a good release is seen."""

from __future__ import annotations

import copy

import numpy as np
import polars as pl
import pytest

import shoal
from random_tables import Edit
from read_back import ReadBack, cells_of_frame

ASKED = {
    "k": 3,
    "quasi_identifiers": [["a", "b", "job"]],
    "identifiers": ["person_id"],
    "strata": ["s"],
    "method": "mdav-generic",
    "dominance": {"p": 5, "action": "grow"},
}
KINDS = {"a": "number", "b": "number", "job": "nominal", "kept": "kept", "s": "kept", "person_id": "kept"}


def table():
    n = 24
    return pl.DataFrame(
        {
            "a": [i * i % 29 for i in range(n)],
            "b": [None if i in (3, 4) else 1.5 * (i % 7) for i in range(n)],
            "job": ["xyz"[i % 3] for i in range(n)],
            "kept": [i / 3 for i in range(n)],
            "s": ["uv"[i % 2] for i in range(n)],
            "person_id": [f"p{i % 12}" for i in range(n)],
        }
    )


@pytest.fixture(scope="module")
def good():
    return shoal.protect(table(), **ASKED)


def check(release, change=None, *, groups=None, asked=ASKED, weights=None, edits=()):
    released = copy.deepcopy(cells_of_frame(release.data))
    if change:
        change(released)
    groups = release.groups if groups is None else groups
    original = cells_of_frame(table())
    ReadBack(original, dict(table().schema), released, asked, KINDS, groups, False).check(["person_id"], weights, edits)


def test_a_good_release_passes(good):
    check(good)


def one_cell(name, value):
    def change(released):
        released[name][5] = value(released[name][5])

    return change


def whole_groups(name, value):
    def change(released):
        released[name] = [None if v is None else value(v) for v in released[name]]

    return change


def without_last_row(released):
    for column in released.values():
        column.pop()


def another_order(released):
    released["a"] = released.pop("a")


def rows_turned(released):
    for name, column in released.items():
        released[name] = column[1:] + column[:1]


DAMAGES = {
    "another number": one_cell("a", lambda v: v + 1),
    "a number a little off": whole_groups("b", lambda v: v * (1 + 1e-6)),
    "all numbers off by one": whole_groups("a", lambda v: v + 1),
    "another category": one_cell("job", lambda v: "x" if v != "x" else "y"),
    "a category that is not there": whole_groups("job", lambda _: "w"),
    "a suppressed cell": one_cell("a", lambda _: None),
    "an invented value": lambda released: released["b"].__setitem__(3, 1.0),
    "a kept value": one_cell("kept", lambda v: v + 1e-9),
    "a kept value that is missing": one_cell("kept", lambda _: None),
    "a record less": without_last_row,
    "columns in another order": another_order,
    "a column less": lambda released: released.pop("kept"),
    "an identifier": lambda released: released.update(person_id=["p"] * 24),
    "rows in another order": rows_turned,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_seen(good, damage):
    with pytest.raises(AssertionError):
        check(good, DAMAGES[damage])


def test_a_small_group_is_seen(good):
    groups = good.groups.copy()
    groups[0] = groups.max() + 1
    with pytest.raises(AssertionError):
        check(good, groups=groups)


def test_too_few_persons_are_seen():
    release = shoal.protect(table(), **{**ASKED, "persons": [], "quasi_identifiers": [["s"]], "strata": []})
    asked = {**ASKED, "quasi_identifiers": [["s"]], "strata": [], "k": 7}
    with pytest.raises(AssertionError, match="fewer than k values of person_id"):
        ReadBack(
            cells_of_frame(table()),
            dict(table().schema),
            cells_of_frame(release.data),
            asked,
            {**KINDS, "s": "nominal"},
            release.groups,
            False,
        ).k_over_every_key(["person_id"])


def test_a_dominated_group_is_seen():
    release = shoal.protect(table(), **{**ASKED, "dominance": {"p": 5}})
    strict = {**ASKED, "dominance": {"n": 1, "share": 10, "action": "grow"}}
    with pytest.raises(AssertionError, match="dominated"):
        check(release, asked=strict)


def test_weights_that_were_not_used_are_seen(good):
    with pytest.raises(AssertionError, match="not the mean"):
        check(good, weights=[1 + 5 * (i % 3) for i in range(24)])


def test_a_broken_rule_is_seen():
    original = pl.DataFrame({"ra": [1, 2, 3, 4], "rb": [1, 1, 1, 1], "rt": [2, 3, 4, 5]})
    released = {"ra": [2, 2, 3, 3], "rb": [1, 1, 1, 1], "rt": [3, 3, 5, 5]}
    asked = {"k": 2, "quasi_identifiers": [["ra", "rb", "rt"]], "rules": ["rt = ra + rb"]}
    back = ReadBack(
        cells_of_frame(original),
        dict(original.schema),
        released,
        asked,
        dict.fromkeys(original.columns, "number"),
        np.array([0, 0, 1, 1]),
        False,
    )
    edit = Edit("rt = ra + rb", pl.col("rt") != pl.col("ra") + pl.col("rb"))
    with pytest.raises(AssertionError, match="breaks rt = ra"):
        back.check([], None, (edit,))
