"""Regions of a search of many records of any kind: what is cut apart comes together again, on any number of threads."""

from __future__ import annotations

import numpy as np

from shoal.kernels.watch import new_watch
from shoal.partition.search.budget import Budget
from shoal.partition.search.driver import search
from shoal.partition.semantic_mdav import sa_mdav
from shoal.partition.semantic_optimal import regions as regions_module
from shoal.partition.semantic_optimal import search_of
from shoal.partition.semantic_optimal.neighbours import near_records
from shoal.partition.semantic_optimal.regions import join_regions, regions_of
from shoal.partition.semantic_optimal.start import portions_of
from test_mixed_index import records

K = 3


def test_regions_hold_every_portion_once_and_no_group_is_cut(monkeypatch):
    monkeypatch.setattr(regions_module, "_WHOLE", 50)
    monkeypatch.setattr(regions_module, "_SIZE", 40)
    table = records(700, missing=True, repeated=True)
    problem = search_of(table, K, split=True).whole
    portions = portions_of(table, np.random.default_rng(0).integers(60, size=len(table)))
    near = near_records(table, 1)
    found = regions_of(problem, portions, near, (0, 1))
    assert len(found) > 3
    record, group, amount = join_regions([(own.records[own.portions[0]], *own.portions[1:]) for own in found])
    assert np.array_equal(np.bincount(record, amount), table.counts)

    def groups(portions):
        return sorted(
            tuple(sorted(zip(portions[0][portions[1] == g], portions[2][portions[1] == g], strict=True)))
            for g in np.unique(portions[1])
        )

    assert groups((record, group, amount)) == groups(portions)
    for own in found:
        assert np.array_equal(own.setting.values, table.values[own.records], equal_nan=True)
        for i, others in enumerate(own.neighbours):
            there = {int(own.records[other]) for other in others}
            assert there == set(near[own.records[i]].tolist()) & set(own.records.tolist()) or there == {own.records[i]}
    other = regions_of(problem, portions, near, (0, 2))
    assert sorted(map(len, other)) != sorted(map(len, found))  # borders move


def test_a_search_in_regions_is_the_same_on_any_number_of_threads_and_loses_less_than_its_start(monkeypatch):
    monkeypatch.setattr(regions_module, "_WHOLE", 300)
    monkeypatch.setattr(regions_module, "_SIZE", 100)
    table = records(900, missing=True, repeated=False)
    found = [search(search_of(table, K, split=True), 0, Budget(steps=60 * 900), threads) for threads in (1, 2, 5)]
    assert all(np.array_equal(one.groups, found[0].groups) for one in found)
    assert np.bincount(found[0].groups).min() >= K
    problem = search_of(table, K, split=True).whole
    start = problem.costs(portions_of(table, sa_mdav(table, K, new_watch(), dissolve=True))).sum()
    assert found[0].cost < 0.99 * start
