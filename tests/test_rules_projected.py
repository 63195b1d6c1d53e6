"""What rules are made of: kinds, projection to the nearest point, bounds, and totals in order."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import lsq_linear

import shoal
from shoal.rules.classify import Equation, classify
from shoal.rules.deriving import derive
from shoal.rules.grammar import parse_rule
from shoal.rules.projection import nearest_points

KINDS = {
    "T = A + 0.5 * B": "linear",
    "A + B <= C": "linear",
    "A + B = C within 2": "linear",
    "R = A * B": "multiplicative",
    "R * B = A / 3": "multiplicative",
    "0 <= A <= 7": "possible values",
    "A in {1, 2}": "possible values",
    "SEX in {F, M}": "possible values",
    "A is integer": "possible values",
    "A <= B": "governing",
    "if A < 3 then B <= C": "governing",
    "not A < 3 or B <= C": "governing",
    "TOWN from original": "original domain",
    "R = (A + B) * C": "unclassified",
    "A * A <= B": "unclassified",
    "A mod 2 = 0": "unclassified",
}


@pytest.mark.parametrize("text", KINDS)
def test_kinds(text):
    assert classify(parse_rule(text)).kind == KINDS[text]


@given(st.integers(0, 10**6))
def test_projection_is_the_nearest_point(seed):
    draw = np.random.default_rng(seed)
    d, p, q = 4, int(draw.integers(0, 3)), int(draw.integers(1, 4))
    inside = draw.normal(size=d)
    matrix, limits = draw.normal(size=(p, d)), draw.normal(size=(q, d))
    ends = limits @ inside + draw.random(q)
    target, scale = draw.normal(size=d) * 3, draw.random(d) + 0.5
    found = nearest_points(target[None], scale, (matrix, (matrix @ inside)[None]), (limits, ends[None]))[0]
    # the nearest point lies where some inequalities are equations: try all
    best = np.inf
    for count in range(q + 1):
        for some in itertools.combinations(range(q), count):
            both = np.concatenate([matrix, limits[list(some)]]) * scale
            gap = np.concatenate([matrix @ inside, ends[list(some)]]) - both / scale @ target
            move = np.linalg.pinv(both) @ gap
            if np.allclose(both @ move, gap) and (limits @ (target + scale * move) <= ends + 1e-9).all():
                best = min(best, move @ move)
    move = (found - target) / scale
    assert np.abs(matrix @ (found - inside)).max(initial=0.0) < 1e-6
    assert (limits @ found <= ends + 1e-3).all()
    assert move @ move == pytest.approx(best, rel=1e-2, abs=1e-3)


def test_bounds_are_those_of_lsq_linear():
    draw = np.random.default_rng(0)
    targets = draw.normal(size=(20, 3))
    limits = np.concatenate([np.eye(3), -np.eye(3)])
    ends = np.concatenate([[0.5, 0.4, 0.3], [0.5, 0.4, 0.3]])
    found = nearest_points(targets, np.ones(3), (np.empty((0, 3)), np.empty((20, 0))), (limits, np.tile(ends, (20, 1))))
    for target, point in zip(targets, found, strict=True):
        solved = lsq_linear(np.eye(3), target, bounds=([-0.5, -0.4, -0.3], [0.5, 0.4, 0.3]))
        assert point == pytest.approx(solved.x, abs=1e-6)


def equations(*texts):
    return [part for text in texts for part in classify(parse_rule(text)).parts if isinstance(part, Equation)]


def test_totals_of_totals_are_derived_in_order():
    found = derive(equations("T = A + B", "U = T + C", "P = U * R"), {}, set())
    assert [d.name for d in found.derived] == ["T", "U", "P"]


def test_equations_without_a_column_of_their_own_are_brought_to_echelon_form():
    found = derive(equations("A + B = C + D", "A + C = B + D", "A + D = B + C"), {}, set())
    assert len({d.name for d in found.derived}) == 3


def test_a_column_from_a_list_is_not_derived():
    assert [d.name for d in derive(equations("T = A + B"), {}, {"T"}).derived] == ["A"]


def test_half_of_a_whole_number_makes_it_even_or_derived():
    whole = {name: Fraction(1) for name in "TAC"}
    found = derive(equations("T = A + 0.5 * C"), whole, set())
    assert [d.name for d in found.derived] == ["C"]  # C = 2 (T - A) is whole whatever T and A are
    held = derive(equations("T = A + 0.5 * C"), whole, {"C"})
    assert held.derived[0].name in "TA"


def test_small_whole_programs_find_the_nearest_numbers():
    """A group whose rounded mean breaks a sum with limits takes the nearest whole numbers, found by trying all."""
    table = pl.DataFrame(
        {"A": [0, 1, 0, 1], "B": [1, 0, 1, 0], "C": [1, 1, 0, 0]}, schema=dict.fromkeys("ABC", pl.Int64)
    )
    rules = ["A + B = 1", "A + B + C <= 2", "A <= 1"]
    data = shoal.protect(table, 4, ["A", "B", "C"], rules=rules, method="mdav").data
    tuples = set(data.rows())
    assert len(tuples) == 1
    found = tuples.pop()
    allowed = [t for t in itertools.product(range(2), repeat=3) if t[0] + t[1] == 1 and sum(t) <= 2]
    assert found in allowed
    assert sum(abs(v - 0.5) for v in found) == min(sum(abs(v - 0.5) for v in t) for t in allowed)
