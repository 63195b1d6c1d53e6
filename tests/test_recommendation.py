"""What a sweep recommends: the front and the knee by their definitions, limits, and the words for them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
import shoal.cli
from shoal.sweeps import Result, Sweep
from shoal.sweeps.recommendation import Axes
from shoal.sweeps.trade_off import knee, pareto_front
from sweep_tables import beaten

FIGURES = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), min_size=1, max_size=25)


def result(k, risk, loss, method="mdav", options=None, **errors):
    """Return a result with figures of one's own; risk is dbrl, loss is information_loss."""
    plan = shoal.Plan(k=k, quasi_identifiers=["x"], method=method, options=options or {})
    return Result(
        plan, information_loss=loss, record_loss=None, pil=None, il1s=loss, dbrl=risk, interval_disclosure=None,
        dr=None, score=None, global_risk=100 / k, k_anonymity=k, groups=9, smallest_group=k, largest_group=k,
        suppressed_cells=0, seconds=0.1, errors=errors,
    )  # fmt: skip


@given(FIGURES)
def test_the_front_is_what_no_point_beats(points):
    risk, loss = np.array(points, dtype=float).T
    front = pareto_front(risk, loss).tolist()
    assert sorted(front) == [i for i, one in enumerate(points) if not any(beaten(one, other) for other in points)]
    assert [risk[place] for place in front] == sorted(risk[front], reverse=True)


@given(FIGURES)
def test_the_knee_is_the_point_of_the_front_farthest_below_its_chord(points):
    risk, loss = np.array(points, dtype=float).T
    front = pareto_front(risk, loss)
    x, y = loss[front], risk[front]
    found = knee(y, x)
    if len(set(zip(x, y, strict=True))) < 3:
        assert found is None
        return
    x, y = (x - x[0]) / (x[-1] - x[0]), (y - y[-1]) / (y[0] - y[-1])
    start, along = np.array([x[0], y[0]]), np.array([x[-1] - x[0], y[-1] - y[0]])
    distances = []
    for at in zip(x, y, strict=True):
        offset = np.array(at) - start
        foot = start + along * (offset @ along) / (along @ along)
        away = np.array(at) - foot
        distances.append(np.hypot(*away) * (1 if away.sum() < 0 else -1))  # below is towards the origin
    if max(distances) < 1e-9:
        assert found is None
    else:
        assert distances[found] == pytest.approx(max(distances))


def test_the_knee_does_not_depend_on_the_units_of_the_axes():
    risk, loss = np.array([48.0, 29, 16, 9, 3]), np.array([3.0, 5.5, 9, 12, 21])
    assert knee(risk, loss) == knee(1000 * risk + 7, loss / 50 - 3) == 2


# words


def test_the_knee_is_recommended_with_what_its_neighbours_would_change():
    points = [result(2, 40, 3), result(5, 10.1, 5.5, "iv-mdav"), result(6, 4.1, 7.2, "iv-mdav"), result(8, 3.2, 9.5)]
    found = Sweep([*points, result(7, 5, 9), result(20, 1, 30)])
    assert found.recommended is found.knee is points[2]
    assert found.recommendation == (
        "k = 6 with iv-mdav: record linkage 4.1 %, information loss 7.2 %. It is the knee of the front, the point "
        "farthest below the line that joins its ends. Going to k = 8 with mdav buys 0.9 points of risk for 2.3 points "
        "of loss; going back to k = 5 saves 1.7 points of loss for 6.0 points of risk."
    )


def test_neighbours_of_the_same_k_are_passed_over():
    same = result(6, 4.05, 7.3, "ldf")
    found = Sweep([result(2, 40, 3), result(6, 4.1, 7.2), same, result(8, 3.2, 9.5), result(20, 1, 30)])
    assert "Going to k = 8 buys 0.9 points of risk" in found.recommendation


LADDER = [result(2, 40, 3), result(4, 20, 6), result(6, 8, 9), result(9, 4, 14), result(9, 4, 15, "ldf")]


@pytest.mark.parametrize(
    ("limits", "place", "said"),
    [
        (
            {"max_risk": 10},
            2,
            "It has the least loss of the 3 combinations with record linkage of at most 10 %. Going to",
        ),
        ({"max_risk": 4}, 3, "the 2 combinations with record linkage of at most 4 %. Going back to k = 6 saves 5.0"),
        ({"max_loss": 3}, 0, "It is the only combination with information loss of at most 3 %. Going to"),
        ({"max_loss": 7}, 1, "It has the least risk of the 2 combinations with information loss of at most 7 %"),
        (
            {"max_risk": 50, "max_loss": 7},
            0,
            "least loss of the 2 combinations with record linkage of at most 50 % and",
        ),
    ],
)
def test_within_limits_the_best_is_recommended(limits, place, said):
    found = Sweep(LADDER, Axes(**limits))
    assert found.recommended is LADDER[place]
    assert found.nearest is None
    assert said in found.recommendation


@pytest.mark.parametrize(
    ("limits", "place"),
    [
        ({"max_risk": 1}, 3),
        ({"max_loss": 1}, 0),
        ({"max_risk": 2, "max_loss": 5}, 2),
        ({"max_risk": 0, "max_loss": 1}, 2),
    ],
)
def test_where_no_combination_is_within_the_limits_the_nearest_is_named(limits, place):
    found = Sweep(LADDER, Axes(**limits))
    assert found.recommended is None
    assert found.nearest is LADDER[place]
    assert found.recommendation.startswith("None of the 5 combinations has ")
    assert f"The nearest is k = {LADDER[place].k} with mdav: record linkage " in found.recommendation


def test_a_front_without_a_knee_recommends_nothing():
    found = Sweep([result(2, 40, 3), result(4, 30, 13), result(6, 20, 23)])
    assert (found.knee, found.recommended, len(found.front)) == (None, None, 3)
    assert "no knee" in found.recommendation
    assert "max_risk" in found.recommendation


def test_one_that_beats_all_others_is_recommended():
    best = result(6, 8, 9, "v-mdav", {"gamma": 1.1})
    found = Sweep([result(6, 9, 9), best])
    assert found.recommendation == (
        "k = 6 with v-mdav:gamma=1.1: record linkage 8.0 %, information loss 9.0 %. No other combination has less of "
        "either."
    )


def test_the_same_results_can_be_judged_by_other_axes():
    found = Sweep(LADDER).judge(risk="global_risk", loss="il1s", max_risk=20)
    assert found.recommended is LADDER[2]
    assert found.recommendation.startswith("k = 6 with mdav: global risk 16.7 %, IL1s 9.0 %.")
    none = Sweep(LADDER).judge(risk="dr")
    assert (none.recommended, none.front) == (None, [])
    assert none.recommendation == "No recommendation: disclosure risk cannot be measured on these columns."
    with pytest.raises(shoal.PlanError, match="did you mean 'global_risk'"):
        found.judge(risk="global-risk")
