"""Branch and price: the bound rises where it is lowest, by deciding of pairs of records whether they are together.

Where cuts do not help any more, the linear problem still takes parts of groups, and so there are pairs of records that
are together in part. For one such pair there are two branches (:mod:`.decisions`), each with a bound of its own; the
lower one is the bound of both. The branch with the lowest bound is the next to be divided, so the bound of all rises
all the time, and it is proved whenever the time is over. A branch whose bound reaches the cost of a partition known
needs no look: where all of them do, that is the optimum.

Which pair: of some with about half of their records together, the one for which both branches are highest, by the
linear problem on the groups seen. The best partition made of the groups seen is found by an integer program, at the
beginning and now and then: a bound can only reach the cost of what is known.

Sources: C. Barnhart, E. L. Johnson, G. L. Nemhauser, M. W. P. Savelsbergh and P. H. Vance, Branch-and-price: column
generation for solving huge integer programs, Operations Research 46, 1998.
"""

from __future__ import annotations

import heapq
import itertools
import math
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from shoal.partition.optimal.bound import Bound, untold
from shoal.partition.optimal.cuts import counts_of
from shoal.partition.optimal.cutting import Cutting, Node, raised
from shoal.partition.optimal.decisions import Decisions, Pair, allowed
from shoal.partition.optimal.listing import list_groups, raised_in_list, reduced_costs, that_count
from shoal.partition.optimal.program import Program
from shoal.partition.optimal.seen_groups import SeenGroups, matrix_of, no_groups, take_groups

if TYPE_CHECKING:
    from shoal.kernels.arrays import Ints

ENOUGH = 1e-5  # part of the cost of the best partition known within which a branch needs no look
_PATIENCE = (2, 0.03)  # how often in a row cuts of a branch may close less than this part of what is missing
_TRIED = 12  # pairs for which both branches are tried
_PART = 1e-6  # least share of a group that counts
_AGAIN = 8  # divisions after which groups seen on the way are put together again, and after twice as many, and so on
_TO_CHECK = 1e-7  # part of the cost known by which a bound in a list is lowered: a check of it rounds more coarsely
_PROGRAM = 20.0  # seconds of the integer program, at most


@dataclass
class Branch:
    """A node of the tree: what is proved in it, and where it was divided, the pair and both branches."""

    node: Node
    pair: Pair | None = None
    parts: tuple[Branch, Branch] | None = None


@dataclass(frozen=True)
class Tree:
    """A tree of branches, what no partition costs less than, and the best partition that was found.

    Where only some groups count in branches, ``listed`` is what is proved of all groups, and ``limit`` the cost below
    which partitions are made of those listed.
    """

    root: Branch
    value: float
    groups: Ints
    cost: float
    listed: Bound | None = None
    limit: float = math.inf


KeepTree = Callable[[Tree], object]  # is given the tree of branches before each division


def leaves_of(branch: Branch) -> list[Branch]:
    """Return the branches that were not divided."""
    return [branch] if branch.parts is None else [leaf for part in branch.parts for leaf in leaves_of(part)]


def branched_in_list(
    own: Cutting, root: Node, groups: Ints, *, enough: float | None = None, keep: KeepTree = untold
) -> Tree | None:
    """Divide branches in which only those groups count that better partitions are made of; None where they are many."""
    best, cost = groups, own.known
    limit = cost * (1.0 - ENOUGH)
    listed = list_groups(own, root.bound, limit) if root.bound.value < limit else None
    if listed is None:
        return None
    node = Node(Decisions(), replace(root.bound, seen=listed), root.cuts)
    best, cost = best_of_seen(own, node, best, cost)
    if cost * (1.0 - ENOUGH) < limit:
        # a better partition makes the list shorter
        limit = max(cost * (1.0 - ENOUGH), root.bound.value)
        node = replace(node, bound=replace(root.bound, seen=that_count(own, listed, root.bound, limit)))
    own = replace(own, known=cost)
    node = raised_in_list(own, node, limit)

    def whole(tree: Tree) -> Tree:
        value = tree.value if tree.value >= limit else tree.value - _TO_CHECK * own.known
        return replace(tree, value=value, listed=root.bound, limit=limit)

    return whole(branched(own, node, best, enough=enough, keep=lambda tree: keep(whole(tree)), limit=limit))


def branched(
    own: Cutting,
    root: Node,
    groups: Ints,
    *,
    enough: float | None = None,
    keep: KeepTree = untold,
    limit: float | None = None,
) -> Tree:
    """Divide branches until the bound reaches the best partition that is known, or ``enough``, or the time is over.

    With a ``limit`` the groups seen are all that partitions below it are made of, and nothing is priced. What is proved
    before each division is given to ``keep``.
    """
    first = Branch(root)
    best, cost = _whole(root, len(groups), own.known) or (groups, own.known)
    numbers, divided = itertools.count(), 0
    heap = [(root.bound.value, next(numbers), first)]
    while not own.over():
        keep(_tree(first, best, cost))
        if not heap or heap[0][0] >= _goal(cost, enough):
            break
        _, _, branch = heapq.heappop(heap)
        node = branch.node
        pair = None if node.relaxed is None else _pair(own, node)
        if pair is None:
            # nothing is left to be decided: its bound is that of a partition, or its time was over
            heapq.heappush(heap, (node.bound.value, next(numbers), branch))
            break
        parts = []
        seen = node.bound.seen if limit is None else that_count(own, node.bound.seen, node.bound, limit)
        for decisions in node.decisions.both(pair):
            kept = take_groups(seen, np.flatnonzero(allowed(decisions, seen, len(best))))
            child = Node(decisions, replace(node.bound, seen=kept), node.cuts, basis=node.basis)
            if limit is None:
                child = raised(own, child, enough=_goal(cost, enough), patience=_PATIENCE)
            else:
                child = raised_in_list(own, child, limit)
            whole = _whole(child, len(best), cost)
            if whole is not None:
                best, cost = whole
            parts.append(Branch(child))
            heapq.heappush(heap, (child.bound.value, next(numbers), parts[-1]))
        divided += 1
        if divided >= _AGAIN and divided & (divided - 1) == 0:
            lower = min(parts, key=lambda part: part.node.bound.value)
            best, cost = best_of_seen(own, lower.node, best, cost)
        branch.pair, branch.parts = pair, (parts[0], parts[1])
        # its parts have what they need of it
        branch.node = replace(node, bound=replace(node.bound, seen=no_groups()), relaxed=None, basis=None)
    return _tree(first, best, cost)


def _tree(first: Branch, groups: Ints, cost: float) -> Tree:
    """Return what is proved by the branches so far."""
    return Tree(first, min(leaf.node.bound.value for leaf in leaves_of(first)), groups, cost)


def _goal(cost: float, enough: float | None) -> float:
    """Return the bound from which a branch needs no look."""
    goal = cost * (1.0 - ENOUGH)
    return goal if enough is None else min(goal, enough)


def _pair(own: Cutting, node: Node) -> Pair | None:
    """Return the pair to decide: of those that are together in part, the one with the highest branches."""
    assert node.relaxed is not None
    seen, shares, prices = node.bound.seen, node.relaxed.shares, node.relaxed.prices
    held: dict[Pair, float] = defaultdict(float)
    for g in np.flatnonzero(shares > _PART):
        rows = np.sort(seen.rows[seen.starts[g] : seen.starts[g + 1]]).tolist()
        for pair in itertools.combinations(rows, 2):
            held[pair] += float(shares[g])
    weights = {
        pair: (0.25 - (part - 0.5) ** 2) * max(1e-9, float(prices[pair[0]] + prices[pair[1]]))
        for pair, part in held.items()
        if 1e-4 < part < 1.0 - 1e-4
    }
    tried = sorted(weights, key=lambda pair: (-weights[pair], pair))[:_TRIED]
    if len(tried) < 2:
        return tried[0] if tried else None
    n = len(prices)
    closed = [np.flatnonzero(~allowed(decisions, seen, n)) for pair in tried for decisions in Decisions().both(pair)]
    program = Program(seen, node.cuts, np.full(n, own.known), node.basis)
    relaxed = program.solve(own.until)
    if relaxed is None:
        return tried[0]
    values = np.array(program.values_without(closed, own.until)).reshape(-1, 2)
    gains = np.clip(values - relaxed.value, 1e-6 * own.known, own.known)
    return tried[int((gains.min(axis=1) ** 0.8 * gains.max(axis=1) ** 0.2).argmax())]


def _whole(node: Node, n: int, cost: float) -> tuple[Ints, float] | None:
    """Return the partition that the linear problem of a branch takes, and its cost, if it is one and a better one."""
    if node.relaxed is None or node.relaxed.value >= cost:
        return None
    taken = np.flatnonzero(node.relaxed.shares > 1.0 - 1e-5)
    return _partition(node.bound.seen, taken, n, cost)


def _partition(seen: SeenGroups, taken: Ints, n: int, cost: float) -> tuple[Ints, float] | None:
    """Return groups as a partition with what it costs, if it is one and costs less."""
    groups = np.full(n, -1, dtype=np.int64)
    for number, g in enumerate(taken):
        groups[seen.rows[seen.starts[g] : seen.starts[g + 1]]] = number
    total = float(seen.costs[taken].sum())
    whole = (groups >= 0).all() and int(np.diff(seen.starts)[taken].sum()) == n
    return (groups, total) if whole and total < cost else None


def best_of_seen(own: Cutting, node: Node, groups: Ints, cost: float) -> tuple[Ints, float]:
    """Return the best partition that the groups seen make, by an integer program, where it costs less."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    seen, n = node.bound.seen, len(groups)
    left = np.inf if own.until is None else own.until - time.monotonic()
    useful = np.flatnonzero(reduced_costs(seen, node.bound) <= cost - node.bound.value)
    if len(useful) == 0:
        return groups, cost
    few = take_groups(seen, useful)
    scale = float(few.costs.mean()) or 1.0
    rows = [LinearConstraint(matrix_of(few, n), 1, 1)]
    if len(node.bound.cuts):
        rows.append(LinearConstraint(counts_of(node.bound.cuts, few, n), -np.inf, node.bound.cuts.most))
    solved = milp(
        few.costs / scale,
        constraints=rows,
        integrality=np.ones(len(few)),
        bounds=Bounds(0, 1),
        options={"time_limit": max(0.1, min(_PROGRAM, left / 4)), "mip_rel_gap": ENOUGH},
    )
    if solved.x is None:
        return groups, cost
    return _partition(few, np.flatnonzero(solved.x > 0.5), n, cost) or (groups, cost)
