"""Simulated annealing of groups of distinct records.

Proposals: portions that move to a neighbouring group, change places with a neighbour, found a group with their nearest,
or join another group together; groups that are dissolved into their neighbours. Equal records are separated only where
``split`` allows it: then a rare record can fill its group up with a few of a frequent one, which is cheaper than to
give itself up where it has more than half of the k records. Costs are those of :mod:`state`.

Cost: O(codes + portions of the groups concerned) a proposal. Every group has at least k records or none: a proposal
that would leave fewer is not made.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.draws import Stream, draw, uniform
from shoal.kernels.given_away import Limits, Room, meets, room_of
from shoal.kernels.watch import DONE, STOP
from shoal.partition.semantic_optimal.state import Room as GroupRoom
from shoal.partition.semantic_optimal.state import Setting, State, cost_with, room_for, transfer

_MOVE, _SWAP, _FOUND, _DISSOLVE = 0.45, 0.75, 0.9, 0.97  # shares of the proposals, added up; the rest joins two groups
_TRIED = 8  # neighbours that a record of a dissolved group looks at


class Undo(NamedTuple):
    """The transfers of a change of several records: record, from, to and how many (t,), and what homes cost before."""

    record: Ints
    left: Ints
    joined: Ints
    many: Ints
    cost: Floats


@kernel
def anneal(
    setting: Setting,
    limits: Limits | None,
    neighbours: Ints,
    split: bool,
    state: State,
    steps: int,
    hot: float,
    cold: float,
    stream: Stream,
    watch: Ints,
) -> None:
    """Change a state by so many proposals while the temperature falls from hot to cold.

    ``neighbours`` (m, l) are records near each record, nearest first. With ``limits`` all groups meet these.
    """
    k, m = setting.k, len(setting.values)
    most = 4 * k + 4 * m + 8
    undo = Undo(
        np.empty(most, np.int64),
        np.empty(most, np.int64),
        np.empty(most, np.int64),
        np.empty(most, np.int64),
        np.empty(most),
    )
    units = np.empty((2, m), np.int64)
    counting = None if limits is None else room_of(limits, 1)
    room = room_for(setting.metric)
    _propose(setting, limits, neighbours, split, state, steps, hot, cold, stream, watch, room, undo, units, counting)


@kernel(counted=False)
def _propose(  # noqa: PLR0915 - a search loop in one piece
    setting: Setting,
    limits: Limits | None,
    neighbours: Ints,
    split: bool,
    state: State,
    steps: int,
    hot: float,
    cold: float,
    stream: Stream,
    watch: Ints,
    room: GroupRoom,
    undo: Undo,
    units: Ints,
    counting: Room | None,
) -> None:
    """Change a state by proposals, in rooms for a group, for what is undone, and for records to count (2, m)."""
    record, amount, group = state.record, state.amount, state.group
    following, also = state.following, state.also
    heads, firsts, sizes, costs = state.heads, state.firsts, state.sizes, state.costs
    spare_groups, free = state.spare_groups, state.free
    k, m, near = setting.k, len(setting.values), neighbours.shape[1]
    done_rec, done_from, done_to, done_many, done_cost = undo
    fall = np.log(cold / hot) / max(steps, 1)
    for step in range(steps):
        if step % 1024 == 0:
            watch[DONE] += 1024
            if watch[STOP] != 0:
                return
        bar = -hot * np.exp(fall * step) * np.log(uniform(stream))  # what a change may cost at this temperature
        rec = draw(stream, m)
        p = firsts[rec]
        while also[p] >= 0 and uniform(stream) < 0.5:
            p = also[p]
        a, mine = group[p], amount[p]
        u = uniform(stream)
        other = neighbours[rec, int(near * u * u)]
        q = firsts[other]
        while also[q] >= 0 and uniform(stream) < 0.5:
            q = also[q]
        b, theirs = group[q], amount[q]
        kind = uniform(stream)
        if kind < _SWAP and a == b:
            continue
        if kind < _SWAP:
            many, back = mine, 0
            if kind < _MOVE:
                if sizes[a] - many < k and sizes[a] != many:
                    many = sizes[a] - k if split else 0
                if many == 0:
                    continue
            else:
                back = theirs
                if split:  # as few as are needed in return
                    back = min(theirs, max(1, k - (sizes[a] - mine)))
                if sizes[a] - many + back < k or sizes[b] + many - back < k:
                    continue
            if free[0] < 2:
                continue
            other_back = other if back > 0 else -1
            cost_a, most = 0.0, costs[a] + costs[b] + bar
            if sizes[a] - many + back > 0:
                cost_a = cost_with(setting, state, room, a, rec, -many, other_back, back, most)
            if cost_a > most:
                continue
            cost_b = cost_with(setting, state, room, b, rec, many, other_back, -back, most - cost_a)
            if not _taken(cost_a + cost_b - costs[a] - costs[b], bar):
                continue
            transfer(setting, state, rec, a, b, many)
            if back > 0:
                transfer(setting, state, other, b, a, back)
            if (
                limits is not None
                and counting is not None
                and (
                    _breaks(limits, state, a, units[0], units[1], counting)
                    or _breaks(limits, state, b, units[0], units[1], counting)
                )
            ):
                if back > 0:
                    transfer(setting, state, other, a, b, back)
                transfer(setting, state, rec, b, a, many)
                continue
            costs[a], costs[b] = cost_a, cost_b
            continue
        count, valid, change = 0, True, 0.0
        if kind < _FOUND:
            if free[1] == 0 or free[0] < near + 2:
                continue
            g = spare_groups[free[1] - 1]
            need = k
            for t in range(-1, near):
                if need <= 0:
                    break
                who = rec if t < 0 else neighbours[rec, t]
                if t >= 0 and uniform(stream) < 0.1:
                    continue
                p = firsts[who]
                while p >= 0 and need > 0:
                    h, there, onward = group[p], amount[p], also[p]
                    if h != g:
                        many = there
                        if sizes[h] - many < k and sizes[h] != many:
                            many = sizes[h] - k if split else 0
                        if split and t >= 0:
                            least = min(many, need)
                            if sizes[h] - least >= k:
                                many = least
                        if many > 0:
                            transfer(setting, state, who, h, g, many)
                            done_rec[count], done_from[count], done_to[count], done_many[count] = who, h, g, many
                            count += 1
                            need -= many
                    p = onward
                if t < 0 and count == 0:
                    break
            valid = need <= 0 and count > 0
        elif kind < _DISSOLVE:
            if sizes[a] > 4 * k:
                continue
            p, change = heads[a], -costs[a]
            while p >= 0 and valid:
                who, many, onward = record[p], amount[p], following[p]
                home, least = -1, bar - change  # a home that adds more than is left is none
                for t in range(min(near, _TRIED)):
                    h = group[firsts[neighbours[who, t]]]
                    if h not in (a, home):
                        grown = cost_with(setting, state, room, h, who, many, -1, 0, costs[h] + least) - costs[h]
                        if grown < least:
                            home, least = h, grown
                if home < 0:
                    valid = False
                    break
                transfer(setting, state, who, a, home, many)
                done_rec[count], done_from[count], done_to[count], done_many[count] = who, a, home, many
                done_cost[count] = costs[home]
                costs[home] += least
                change += least
                count += 1
                p = onward
        else:
            if a == b or sizes[a] > 4 * k:
                continue
            p = heads[a]
            while p >= 0:
                who, many, onward = record[p], amount[p], following[p]
                transfer(setting, state, who, a, b, many)
                done_rec[count], done_from[count], done_to[count], done_many[count] = who, a, b, many
                count += 1
                p = onward
        if valid and not _FOUND <= kind < _DISSOLVE:
            for t in range(2 * count):
                h = done_from[t // 2] if t % 2 == 0 else done_to[t // 2]
                if _first_time(done_from, done_to, t, h):
                    change += cost_with(setting, state, room, h, -1, 0, -1, 0, np.inf) - costs[h]
        fits = valid and _taken(change, bar)
        if limits is not None and counting is not None and fits:
            for t in range(2 * count):
                h = done_from[t // 2] if t % 2 == 0 else done_to[t // 2]
                if fits and _first_time(done_from, done_to, t, h):
                    fits = not _breaks(limits, state, h, units[0], units[1], counting)
        if fits:
            for t in range(2 * count):
                h = done_from[t // 2] if t % 2 == 0 else done_to[t // 2]
                if _first_time(done_from, done_to, t, h):
                    costs[h] = cost_with(setting, state, room, h, -1, 0, -1, 0, np.inf)
        else:
            for t in range(count - 1, -1, -1):
                transfer(setting, state, done_rec[t], done_to[t], done_from[t], done_many[t])
                if _FOUND <= kind < _DISSOLVE:
                    costs[done_to[t]] = done_cost[t]


@kernel(counted=False)
def _breaks(limits: Limits, state: State, g: int, units: Ints, amounts: Ints, counting: Room) -> bool:
    """Whether a group that is not empty does not meet what is asked of it."""
    count, p = 0, state.heads[g]
    while p >= 0:
        units[count], amounts[count] = state.record[p], state.amount[p]
        count += 1
        p = state.following[p]
    return count > 0 and not meets(limits, units[:count], amounts[:count], counting)


@kernel(counted=False)
def _first_time(done_from: Ints, done_to: Ints, t: int, h: int) -> bool:
    """Whether a group is not among the ends of the transfers before place ``t``."""
    found = False
    for s in range(t):
        found |= (done_from[s // 2] if s % 2 == 0 else done_to[s // 2]) == h
    return not found


@kernel(inline=True, counted=False)
def _taken(change: float, bar: float) -> bool:
    """Whether a change is made: one that saves something, or costs something below the bar."""
    return change < -1e-12 or 0.0 < change < bar
