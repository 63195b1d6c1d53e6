"""What a group of records of any kind would cost after a change: as found anew from its records, and within limits."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.partition.semantic_optimal import search_of
from shoal.partition.semantic_optimal.start import portions_of
from shoal.partition.semantic_optimal.state import cost_of_portions, cost_with, fill, open_state, room_for
from test_mixed_index import records

K, GROUPS = 3, 30


@pytest.mark.parametrize("lower", ["information", "records"])
@pytest.mark.parametrize("missing", [False, True])
def test_a_change_costs_what_its_groups_cost_and_more_than_a_limit_only_where_they_do(lower, missing):
    table = records(300, missing=missing, repeated=True)
    setting = search_of(table, K, split=True, lower=lower).whole.setting
    rng = np.random.default_rng(0)
    record, group, amount = portions_of(table, rng.integers(GROUPS, size=len(table)))
    m, d = setting.values.shape
    state = open_state(m, d, int(setting.metric.start[d]), GROUPS)
    fill(setting, state, record, group, amount)
    room, above = room_for(setting.metric), 0
    for _ in range(200):
        own, stranger = rng.integers(len(record)), rng.integers(m)
        g, one, many = group[own], record[own], -amount[own]
        change = (one, many, stranger, 2)
        now = np.append(amount, 2)
        now[own] = 0
        kept = now > 0
        portions = np.append(record, stranger)[kept], np.append(group, g)[kept], now[kept]
        expected = cost_of_portions(setting, *portions, GROUPS)[g]
        full = cost_with(setting, state, room, g, *change, np.inf)
        assert full == pytest.approx(expected, rel=1e-9, abs=1e-9)
        for limit in (0.2 * full, 0.8 * full, full, 2.0 * full):
            found = cost_with(setting, state, room, g, *change, limit)
            assert found == full if full <= limit else limit < found <= full * (1.0 + 1e-12)
            above += found < full
    assert above > 20  # limits spare some of the work
