"""The trade-off of risk and loss: which points are not beaten, and where their curve bends.

Pareto front: a point is beaten where another one is at most as high in both and lower in one. What is not beaten by any
is the front.

Knee: risk and loss are scaled so that the front reaches from 0 to 1 in both. Its two ends are joined by a straight
line, the chord, and the knee is the point of the front that lies farthest below it, at a right angle. This is the
definition of Das 1999 ("On characterizing the 'knee' of the Pareto curve based on normal-boundary intersection",
Structural Optimization 18, 107-115) for two goals. A front that never comes below its chord has no knee.

Cost: n log n for the front, linear for the knee.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.arrays import Floats, Ints

_LEAST = 1e-9  # of the scaled axes: what is closer to the chord than that lies on it


def pareto_front(risk: Floats, loss: Floats) -> Ints:
    """Return the places of the points that no other beats, from the highest risk to the lowest.

    Points that are equal in both are both on it, in their order.

    >>> pareto_front(np.array([9.0, 5.0, 6.0, 1.0]), np.array([1.0, 2.0, 3.0, 8.0]))
    array([0, 1, 3])
    """
    order = np.lexsort((np.arange(len(risk)), loss, risk))
    front: list[int] = []
    best = np.inf
    for place in order.tolist():
        same = front and risk[place] == risk[front[-1]] and loss[place] == loss[front[-1]]
        if loss[place] < best or same:
            front.append(place)
            best = loss[place]
    by_risk = np.array(front, dtype=np.int64)
    return by_risk[np.argsort(-risk[by_risk], kind="stable")]


def knee(risk: Floats, loss: Floats) -> int | None:
    """Return the place of the knee among the points of a front, or None where it has none; the first of several.

    >>> knee(np.array([9.0, 5.0, 1.0]), np.array([1.0, 2.0, 9.0])), knee(np.array([9.0, 1.0]), np.array([1.0, 9.0]))
    (1, None)
    """
    if len(risk) < 3 or np.ptp(risk) == 0.0 or np.ptp(loss) == 0.0:
        return None
    below = 1.0 - (risk - risk.min()) / np.ptp(risk) - (loss - loss.min()) / np.ptp(loss)
    place = int(np.argmax(below))
    return place if below[place] > _LEAST else None
