"""The method ``semantic-optimal``: the groups that lose least, for columns of any kind, found by a search.

Start from the best of SA-MDAV and the Mondrian methods, and anneal over moves, swaps, and groups that are founded,
joined or dissolved, of distinct records with their frequencies. Few records are put together in every way there is. The
modules: ``start``, ``neighbours``, ``state``, ``annealing``, ``exact``, all of it run by ``search``.

The cost that is lowered is the loss of records of :mod:`shoal.measures.loss`, of what is released with the usual
aggregators.

Cost: O(codes + portions of two groups) for each step, whatever n; the start costs as much as SA-MDAV for some thousands
of distinct records, and as Mondrian for more.

Every group has at least k records: the start's have, and no change is made that leaves fewer.
"""

from __future__ import annotations

import time as clock
from dataclasses import replace

import numpy as np

from shoal.columns.mixed import Mixed
from shoal.kernels.arrays import Floats, Ints
from shoal.partition.semantic_optimal.search import Found, Tell, centre_of_all, problem_of, search, usual_passes

__all__ = ["Found", "Tell", "centre_of_all", "problem_of", "semantic_optimal", "solve", "usual_passes"]


def semantic_optimal(
    records: Mixed,
    k: int,
    watch: Ints,
    seed: int = 0,
    steps: int | None = None,
    time: float | None = None,
    split: bool = True,
) -> Ints:
    """Partition records into groups with the least loss that a search finds."""
    passes = None if steps is None else steps // len(records.counts)
    found = solve(records, k, seed, passes, time, split)
    return records.hand_out(*found.portions)


def solve(
    records: Mixed,
    k: int,
    seed: int,
    passes: int | None,
    time: float | None,
    split: bool,
    middle: Floats | None = None,
    tell: Tell | None = None,
) -> Found:
    """Search for the best groups, with so many proposals for each distinct record, for some seconds, or as suits.

    ``middle`` is the centre of the table where the records are a part of it.
    """
    problem = problem_of(records, k, split, middle)
    if passes is None and time is None:
        passes = usual_passes(len(records.counts))
    if time is not None:
        _compile(records, k, split)
    return search(problem, seed, passes, None if time is None else clock.monotonic() + time, tell)


def _compile(records: Mixed, k: int, split: bool) -> None:
    """Search a few records first: a time is for searching, not for compiling what has not been used before."""
    few = min(len(records.counts), 20)
    counts = np.full(few, k, dtype=np.int64)
    counts[::2] = 1
    part = replace(
        records,
        cells=records.cells[:few],
        counts=counts,
        order=records.order[:few],
        record=np.repeat(np.arange(few), counts),
    )
    search(problem_of(part, k, split), 0, 50, None)
