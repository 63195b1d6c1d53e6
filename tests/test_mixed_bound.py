"""The lower bound for columns of any kind: no partition costs less, by looking at all of few records."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import shoal
from all_partitions import partitions
from shoal.errors import PlanError
from shoal.partition.semantic_optimal.bound import LARGEST, lower_bound
from shoal.partition.semantic_optimal.cheap_groups import Neighbourhood, cheap_groups
from shoal.partition.semantic_optimal.problem import objective_of, problem_of
from shoal.partition.semantic_optimal.start import portions_of
from test_mixed_methods import draw

KINDS = ["numbers", "one hierarchy", "categories", "mixed", "numbers missing", "categories missing", "mixed missing"]
TREE = {"job": {"health": ["nurse", "doctor"], "food": ["cook", "baker", "butcher"]}}


def cell(metric, j, a, b):
    """Distance of two cells that are there, from the table of the column."""
    if metric.kinds[j] == 0:
        return abs(a - b)
    return metric.tables[metric.offset[j] + int(a) * metric.width[j] + int(b)]


def cost(problem, rows):
    """What a group of rows costs by definition: each record its cells' distances from what is released."""
    records, metric, objective = problem.records, problem.records.metric, problem.objective
    values = records.values[records.record[rows]]
    weights = problem.weights[records.record[rows]]
    released = []
    for j in range(values.shape[1]):
        there = ~np.isnan(values[:, j])
        if there.sum() < (len(rows) if problem.alike else problem.k):
            released.append(objective.middle[j])
        elif metric.kinds[j] == 0:
            released.append(np.average(values[there, j], weights=weights[there]))
        else:
            sums = [
                sum(w * cell(metric, j, a, c) for a, w in zip(values[there, j], weights[there], strict=True))
                for c in range(metric.width[j])
            ]
            released.append(int(np.flatnonzero(np.array(sums) <= min(sums) + 1e-9 * there.sum())[0]))
    total = 0.0
    for own in values:
        off = np.array([0.0 if np.isnan(a) else cell(metric, j, a, released[j]) for j, a in enumerate(own)])
        total += (objective.of_records @ off) ** 2 + objective.of_columns @ off**2
    return total


@pytest.mark.parametrize("lower", ["information", "records"])
@pytest.mark.parametrize("kind", KINDS)
def test_no_partition_of_a_few_records_is_below_the_bound_and_most_bounds_are_reached(kind, lower):
    reached = []
    for seed, (k, n) in enumerate([(2, 7), (3, 9), (3, 8), (4, 9), (2, 8)]):
        _, records = draw(kind, n, seed)
        weights = np.random.default_rng(seed).lognormal(0.0, 0.5, len(records.counts))[records.record]
        problem = problem_of(
            records,
            k,
            True,
            objective=objective_of(records, lower),
            weights=weights if seed % 2 else None,
            alike=seed == 2,
        )
        known = {}

        def group_cost(rows, problem=problem, known=known):
            return known.setdefault(tuple(rows), cost(problem, np.array(rows)))

        least = min(sum(map(group_cost, groups)) for groups in partitions(list(range(n)), k))
        everything = portions_of(records, np.zeros(n, dtype=np.int64))
        found = lower_bound(problem, everything, time.monotonic() + 60.0, 1)
        assert found.value <= least * (1.0 + 1e-9) + 1e-12
        reached.append(found.value >= least * (1.0 - 1e-4) - 1e-9)
    assert sum(reached) >= 3


@pytest.mark.parametrize("lower", ["information", "records"])
@pytest.mark.parametrize("kind", ["numbers", "mixed", "mixed missing"])
def test_every_group_that_costs_less_than_its_prices_is_found(kind, lower):
    rng = np.random.default_rng(4)
    for seed in range(3):
        _, records = draw(kind, 9, seed)
        problem = problem_of(records, 2, True, objective=objective_of(records, lower))
        usual = cost(problem, np.arange(9)) / 9
        prices = usual * rng.uniform(-0.2, 1.0, len(records.counts))
        here = Neighbourhood(problem.setting, records.counts)
        sets = cheap_groups(here, prices, 1, lambda: False)
        assert sets is not None
        found = {tuple(own) for size in sets for own in size.tolist()}
        for mask in range(1 << 9):
            rows = np.flatnonzero([mask >> i & 1 for i in range(9)])
            if len(rows) >= 2 and cost(problem, rows) < prices[records.record[rows]].sum() - 1e-9:
                assert tuple(sorted(records.record[rows].tolist())) in found


def test_the_bound_holds_for_equal_records_that_stay_together():
    _, records = draw("categories", 9, 1)
    split = problem_of(records, 3, True)
    everything = portions_of(records, np.zeros(9, dtype=np.int64))
    together = replace(split, split=False)
    found = lower_bound(together, everything, time.monotonic() + 60.0, 1)
    assert found.value == lower_bound(split, everything, time.monotonic() + 60.0, 1).value


def people(n, seed=0):
    rng = np.random.default_rng(seed)
    jobs = np.array(["nurse", "doctor", "cook", "baker", "butcher"])
    return pl.DataFrame({"age": rng.normal(size=n), "pay": rng.lognormal(size=n), "job": rng.choice(jobs, n)})


@pytest.mark.parametrize("lower", ["information", "records"])
def test_a_release_tells_its_bound_and_gap(lower):
    table = people(60)
    asked = {"k": 3, "quasi_identifiers": table.columns, "hierarchies": {"job": {"tree": TREE}}}
    summary = shoal.protect(table, **asked, options={"bound": 30.0, "lower": lower}).summary
    loss = summary.information_loss if lower == "information" else summary.record_loss
    assert 0.9 * loss < summary.bound <= loss * (1.0 + 1e-9)
    assert summary.gap == pytest.approx(100.0 * (1.0 - summary.bound / loss), abs=1e-6)


def test_what_is_lowered_is_the_loss_that_was_asked_for():
    table = people(200, 1)
    asked = {"k": 3, "quasi_identifiers": table.columns, "hierarchies": {"job": {"tree": TREE}}}
    of = {
        lower: shoal.protect(table, **asked, options={"steps": 100_000, "lower": lower}).summary
        for lower in ("information", "records")
    }
    assert of["information"].information_loss < of["records"].information_loss
    assert of["records"].record_loss < of["information"].record_loss


def test_a_small_table_is_near_the_bound_by_default_on_any_number_of_threads():
    table = people(150, 2)
    asked = {"k": 3, "quasi_identifiers": table.columns, "hierarchies": {"job": {"tree": TREE}}}
    one = shoal.protect(table, **asked, options={"steps": 150_000, "bound": 60.0}, threads=1)
    assert one.summary.gap < 2.0
    other = shoal.protect(table, **asked, options={"steps": 150_000}, threads=3)
    assert one.data.equals(other.data)


def test_a_bound_that_cannot_be_proved_is_refused():
    rng = np.random.default_rng(0)
    large = pl.DataFrame({"age": rng.normal(size=LARGEST + 1), "town": rng.choice(["a", "b"], LARGEST + 1)})
    with pytest.raises(PlanError, match=f"up to {LARGEST} distinct records"):
        shoal.protect(large, 3, ["age", "town"], options={"bound": 1.0})
    uneven = pl.DataFrame({"town": ["a", "b"] * 10, "w": np.arange(1.0, 21.0)})
    with pytest.raises(PlanError, match="equal sampling weights"):
        shoal.protect(uneven, 3, ["town"], weight="w", options={"bound": 1.0})


def test_a_certificate_of_categories_is_refused_before_anything_is_written(tmp_path):
    path = tmp_path / "proof.json"
    with pytest.raises(PlanError, match="knows numbers only"):
        shoal.protect(people(30), 3, ["age", "job"], options={"bound": 1.0}, certificate=path)
    release = shoal.protect(people(30), 3, ["age", "job"], options={"bound": 5.0})
    with pytest.raises(PlanError, match="knows numbers only"):
        release.certificate(path)
    assert not path.exists()
