"""The lower bound of a table: groups do not cross blocks, so the bounds of the blocks add up.

In each block prices come first (:mod:`.bound`), then cuts (:mod:`.cutting`) and branches (:mod:`.branching`).
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shoal.kernels.arrays import Floats, Ints
from shoal.partition.optimal.bound import LARGEST, Bound, lower_bound
from shoal.partition.optimal.branching import ENOUGH, Branch, Tree, best_of_seen, branched, branched_in_list
from shoal.partition.optimal.cutting import LARGEST_K, cutting_of, raised, root_of
from shoal.partition.optimal.problem import Problem, blocks_by_number
from shoal.partition.optimal.seen_groups import SeenGroups, no_groups
from shoal.partition.optimal.set_cutting import raised_by_sets
from shoal.partition.search.found import Branches, Fork, Leaf, Listing, Penalty, Proved
from shoal.partition.search.searchable import TellBound, join_blocks


def why_no_bound(problem: Problem) -> str | None:
    """Say why no bound can be proved; None if it can."""
    if problem.objective is not None or problem.observed is not None:
        return "it is proved for complete columns released as means, without sampling weights"
    largest = int(np.bincount(problem.blocks).max())
    if largest > LARGEST and problem.values.shape[1] > 1:
        return f"it is proved for up to {LARGEST} records that are partitioned together, and here they are {largest}"
    return None


def prove(
    problem: Problem,
    groups: Ints,
    until: float,
    threads: int,
    *,
    enough: float | None = None,
    tell: TellBound = float,
    seen: list[SeenGroups] | None = None,
) -> Proved:
    """Return a lower bound, and the prices that prove it, until a moment of the monotonic clock.

    Blocks share the time by the squares of their sizes; in each the bound of the plain relaxation is raised by cuts and
    then by branches, for at least half of the time, where k is small. ``enough`` is a bound at which to end where there
    is one block, ``seen`` the groups that a search has seen in each.
    """
    parts = blocks_by_number(problem.blocks)
    shares = np.array([len(rows) ** 2 for rows in parts], dtype=np.float64)
    proved, complete, prices, penalties, branches = 0.0, True, np.zeros(len(problem)), [], []
    labels = []
    alone = len(parts) == 1
    for i, rows in enumerate(parts):
        now = time.monotonic()
        end = now + (until - now) * float(shares[i] / shares[i:].sum())
        values = np.ascontiguousarray(problem.values[rows])
        own = np.unique(groups[rows], return_inverse=True)[1].astype(np.int64)
        block = _Block(values, problem.k, own, seen[i] if seen else no_groups(), threads)
        goal, told = (enough, tell) if alone else (None, float)
        found, tree = _prove_block(block, now, end, goal, told)
        labels.append(own if tree is None else tree.groups)
        if tree is None or (tree.root.parts is None and tree.listed is None):
            proved, complete = proved + found.value, complete and found.complete
            prices[rows] = found.prices
            penalties += penalties_of(found, rows)
        else:
            proved, complete = proved + tree.value, complete and tree.value >= tree.cost * (1.0 - ENOUGH)
            branches.append(Branches(rows, _fork(tree.root, rows, tree.listed is not None), _listing(tree, rows)))
    better = join_blocks(parts, labels)
    cost, known = problem.cost(better), problem.cost(groups)
    found_better = (better, cost) if cost < known * (1.0 - 1e-12) else (None, None)
    return Proved(proved, complete, prices, tuple(penalties), tuple(branches), *found_better)


@dataclass(frozen=True)
class _Block:
    """What is known of a block: values (m, d), k, a partition (m,), the groups seen, and threads to use."""

    values: Floats
    k: int
    groups: Ints
    seen: SeenGroups
    threads: int


def _prove_block(
    block: _Block, now: float, end: float, enough: float | None, tell: TellBound
) -> tuple[Bound, Tree | None]:
    """Return the bound of a block, and the tree of branches where it came to that."""
    half = (now + end) / 2
    how: dict[str, Any] = {"threads": block.threads, "enough": enough, "tell": tell}
    found = lower_bound(block.values, block.k, block.seen, block.groups, until=half, **how)
    if found.rounds == 0 or (enough is not None and found.value >= enough):
        return found, None
    table = cutting_of(block.values, block.k, block.groups, block.threads, end)
    if block.k > LARGEST_K:
        return raised_by_sets(table, root_of(found), enough=enough, tell=tell).bound, None
    root = raised(table, root_of(found), enough=enough, tell=tell)
    if root.relaxed is None or (enough is not None and root.bound.value >= enough):
        return root.bound, None
    groups, cost = best_of_seen(table, root, block.groups, table.known)
    table = replace(table, known=cost)
    tree = branched_in_list(table, root, groups, enough=enough, tell=tell)
    if tree is None:
        tree = branched(table, root, groups, enough=enough, tell=tell)
    return root.bound, tree


def _listing(tree: Tree, rows: Ints) -> Listing | None:
    """Return what says which groups count in branches, in rows of the whole table."""
    if tree.listed is None:
        return None
    return Listing(tree.listed.prices, tuple(penalties_of(tree.listed, rows)), tree.limit)


def _fork(branch: Branch, rows: Ints, proofs: bool) -> Any:
    """Return a branch with its parts, in rows of the whole table, and with what is proved in each that was divided."""
    bound = branch.node.bound
    leaf = Leaf(bound.prices, tuple(penalties_of(bound, rows)))
    if branch.pair is None or branch.parts is None:
        return leaf
    a, b = branch.pair
    parts = [_fork(part, rows, proofs) for part in branch.parts]
    return Fork((int(rows[a]), int(rows[b])), parts[0], parts[1], leaf if proofs else None)


def penalties_of(found: Bound, rows: Ints) -> list[Penalty]:
    """Return the cuts of a bound with their multipliers, in rows of the whole table."""
    sets = zip(found.cuts.sets(), found.cuts.steps, found.multipliers, strict=True)
    return [Penalty(rows[list(own)], int(every), float(multiplier)) for own, every, multiplier in sets]
