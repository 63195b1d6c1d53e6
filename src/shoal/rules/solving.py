"""The nearest tuple of whole numbers that keeps linear rules: a small mixed-integer program a group.

Distance is the sum of absolute differences in standard deviations, so that the program is linear; HiGHS solves it.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.arrays import Floats
from shoal.rules.settling import Settling


def solve_group(settling: Settling, target: Floats, place: int) -> Floats | None:
    """Return the numbers (d,) nearest to a target that keep the linear parts; None where there are none.

    ``place`` is that of the group among those of the settling. Columns that take values from a list are held at the
    nearest of them.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    matrix, constants = settling.linear
    limits, ends = settling.limits[0], settling.limits[1][place]
    d = len(target)
    units = np.ones(d)
    whole = np.zeros(d)
    low, high = np.full(d, -np.inf), np.full(d, np.inf)
    costs = np.zeros(d)
    for j, column in enumerate(settling.columns):
        if not column.numeric or settling.scale[j] == 0.0:
            low[j] = high[j] = target[j]
            continue
        costs[j] = 1.0 / settling.scale[j]
        if column.name in settling.grids:
            units[j], whole[j] = float(settling.grids[column.name]), 1.0
        if column.name in settling.system.lists:
            low[j] = high[j] = _from_list(settling, column.name, target[j])
    # the variables are x = target + units * (steps away), and e >= |x - target|
    start = np.where(whole > 0.0, units * np.rint(target / units), target)
    start = np.where(low == high, low, start)
    away = start - target
    one, gap = np.eye(d), constants - matrix @ start
    rules = [
        LinearConstraint(np.hstack([matrix * units, np.zeros_like(matrix)]), gap, gap),
        LinearConstraint(np.hstack([limits * units, np.zeros_like(limits)]), ub=ends - limits @ start),
    ]
    sides = [
        LinearConstraint(np.hstack([one * units, -one]), ub=-away),
        LinearConstraint(np.hstack([-one * units, -one]), ub=away),
    ]
    held = low == high
    moves = Bounds(
        np.concatenate([np.where(held, 0.0, -np.inf), np.zeros(d)]),
        np.concatenate([np.where(held, 0.0, np.inf), np.full(d, np.inf)]),
    )
    found = milp(
        np.concatenate([np.zeros(d), costs]),
        integrality=np.concatenate([whole, np.zeros(d)]),
        bounds=moves,
        constraints=[r for r in rules if len(r.A)] + sides,
        options={"node_limit": 10_000},
    )
    if not found.success:
        return None
    steps = np.where(whole > 0.0, np.rint(found.x[:d]), found.x[:d])
    return np.asarray(start + units * steps)


def _from_list(settling: Settling, name: str, number: float) -> float:
    allowed = settling.system.lists[name]
    return float(allowed[np.argmin(np.abs(allowed - number))]) if len(allowed) else number
