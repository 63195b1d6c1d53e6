"""Refinement of the groups of any method for columns of any kind, while that lowers the loss of records.

The changes are those of :mod:`annealing`, and none is made that costs more: equal records, all or some of them, move to
the group of a near record or change places with it, found a group with their nearest, join another group, or their
group is dissolved. Rounds go on until one gains less than a thousandth of all that was gained before it.

Cost: O(codes + portions of the groups concerned) a proposal, ten for each distinct record a round; some ten rounds.
Every group has at least k records: no change is made that leaves fewer. What the groups cost never rises.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.columns.mixed import Mixed
from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.watch import STOP
from shoal.partition.search.pace import Pace
from shoal.partition.semantic_optimal.mixed_search import MixedSearch
from shoal.partition.semantic_optimal.problem import Objective, problem_of

_PASSES = 10  # proposals for each distinct record in a round
_ROUNDS = 30
_WORTH = 1e-3  # part of the gain so far that a round must add for another one to follow
_STILL = 1e-9  # temperature, in units of what a group loses in the middle: no change costs more


@dataclass(frozen=True)
class RecordLoss:
    """What the loss of records depends on beside the records of a block.

    Attributes
    ----------
    objective : Objective
        What is lowered: the loss of records, about the centre of the table, which stands for what is suppressed.
    weights : float64 (n,) or None
        Sampling weights of the records.
    alike : bool
        Whether a column is released only for groups of which all records have it.
    """

    objective: Objective
    weights: Floats | None
    alike: bool


def refine_mixed(records: Mixed, groups: Ints, k: int, loss: RecordLoss, seed: int, watch: Ints) -> Ints:
    """Return groups (n,) of records of any kind, numbered from 0, that lose no more than those given."""
    problem = problem_of(records, k, True, objective=loss.objective, weights=loss.weights, alike=loss.alike)
    search = MixedSearch(problem, [np.arange(len(records))], [problem], groups, _STILL, _STILL)
    state = search.start(records.threads)
    started = least = search.cost(state)
    for turn in range(_ROUNDS):
        if search.finished(state) or watch[STOP] != 0:
            break
        found = search.cycle(state, _PASSES, (seed, turn), records.threads, Pace(None, search.lengths), None)
        assert found is not None  # there is no clock
        gain, state = least - search.cost(found), found
        least -= gain
        if gain <= _WORTH * (started - least):
            break
    return search.groups(state)
