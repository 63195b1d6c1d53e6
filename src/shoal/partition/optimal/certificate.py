"""The lower bound of a table: groups do not cross blocks, so the bounds of the blocks add up.

In each block prices come first (:mod:`.bound`), then cuts (:mod:`.cutting`) and branches (:mod:`.branching`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
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
    is one block, ``seen`` the groups that a search has seen in each. An interruption leaves what is proved until then.
    """
    parts = blocks_by_number(problem.blocks)
    shares = np.array([len(rows) ** 2 for rows in parts], dtype=np.float64)
    owns = [np.unique(groups[rows], return_inverse=True)[1].astype(np.int64) for rows in parts]
    proofs: list[Bound | Tree | None] = [None] * len(parts)
    alone = len(parts) == 1

    def keep(place: int, proof: Bound | Tree) -> None:
        proofs[place] = proof
        tell(sum(own.value for own in proofs if own))

    interrupted = False
    try:
        for i, rows in enumerate(parts):
            now = time.monotonic()
            end = now + (until - now) * float(shares[i] / shares[i:].sum())
            values = np.ascontiguousarray(problem.values[rows])
            block = _Block(values, problem.k, owns[i], seen[i] if seen else no_groups(), threads)
            proofs[i] = _prove_block(block, now, end, enough if alone else None, partial(keep, i))
    except KeyboardInterrupt:
        interrupted = True
    proved = _joined(problem, groups, parts, owns, proofs)
    return proved._replace(complete=proved.complete and not interrupted, interrupted=interrupted)


def _joined(
    problem: Problem, groups: Ints, parts: list[Ints], owns: list[Ints], proofs: list[Bound | Tree | None]
) -> Proved:
    """Return the proof of a table from those of its blocks; of a block without one nothing but 0 is proved.

    ``owns`` are the groups of each block in the partition that is known.
    """
    proved, complete, prices, penalties, branches, labels = 0.0, True, np.zeros(len(problem)), [], [], []
    for rows, own, proof in zip(parts, owns, proofs, strict=True):
        labels.append(proof.groups if isinstance(proof, Tree) else own)
        if isinstance(proof, Tree) and (proof.root.parts is not None or proof.listed is not None):
            proved, complete = proved + proof.value, complete and proof.value >= proof.cost * (1.0 - ENOUGH)
            branches.append(Branches(rows, _fork(proof.root, rows, proof.listed is not None), _listing(proof, rows)))
            continue
        bound = proof.root.node.bound if isinstance(proof, Tree) else proof
        complete = complete and bound is not None and bound.complete
        if bound is not None:
            proved += bound.value
            prices[rows] = bound.prices
            penalties += penalties_of(bound, rows)
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
    block: _Block, now: float, end: float, enough: float | None, keep: Callable[[Bound | Tree], object]
) -> Bound | Tree:
    """Return the bound of a block, or the tree of branches where it came to that; better and better ones on the way."""
    half = (now + end) / 2
    how: dict[str, Any] = {"enough": enough, "keep": keep}
    found = lower_bound(block.values, block.k, block.seen, block.groups, until=half, threads=block.threads, **how)
    if found.rounds == 0 or (enough is not None and found.value >= enough):
        return found
    table = cutting_of(block.values, block.k, block.groups, block.threads, end)
    if block.k > LARGEST_K:
        return raised_by_sets(table, root_of(found), **how).bound
    root = raised(table, root_of(found), **how)
    if root.relaxed is None or (enough is not None and root.bound.value >= enough):
        return root.bound
    groups, cost = best_of_seen(table, root, block.groups, table.known)
    table = replace(table, known=cost)
    return branched_in_list(table, root, groups, **how) or branched(table, root, groups, **how)


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
