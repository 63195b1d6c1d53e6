"""Simulated annealing of groups of distinct records.

Proposals: portions that move to a neighbouring group, change places with a neighbour, found a group with their nearest,
or join another group together; groups that are dissolved into their neighbours. Equal records are separated only where
``split`` allows it: then a rare record can fill its group up with a few of a frequent one, which is cheaper than to
give itself up where it has more than half of the k records. Costs are those of :mod:`state`.

Cost: O(codes + portions of the groups concerned) a proposal. Every group has at least k records or none: a proposal
that would leave fewer is not made.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.arrays import Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.draws import Stream, draw, uniform
from shoal.kernels.given_away import Limits, Room, meets, room_of
from shoal.kernels.watch import DONE, STOP
from shoal.partition.semantic_optimal.state import Setting, State, cost_with, room_for, transfer

_MOVE, _SWAP, _FOUND, _DISSOLVE = 0.45, 0.75, 0.9, 0.97  # shares of the proposals, added up; the rest joins two groups
_TRIED = 8  # neighbours that a record of a dissolved group looks at


@kernel
def anneal(  # noqa: PLR0915 - a search loop in one piece
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
    record, amount, group = state.record, state.amount, state.group
    following, also = state.following, state.also
    heads, firsts, sizes, costs = state.heads, state.firsts, state.sizes, state.costs
    spare_groups, free = state.spare_groups, state.free
    k, m, near = setting.k, len(setting.values), neighbours.shape[1]
    room = room_for(setting.metric)
    done_rec = np.empty(4 * k + 4 * m + 8, np.int64)
    done_from, done_to, done_many = np.empty_like(done_rec), np.empty_like(done_rec), np.empty_like(done_rec)
    units, many_of = np.empty(m, np.int64), np.empty(m, np.int64)
    if limits is not None:
        counting = room_of(limits, 1)
    fall = np.log(cold / hot) / max(steps, 1)
    for step in range(steps):
        if step % 1024 == 0:
            watch[DONE] += 1024
            if watch[STOP] != 0:
                return
        temperature = hot * np.exp(fall * step)
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
            cost_a = 0.0
            if sizes[a] - many + back > 0:
                cost_a = cost_with(setting, state, room, a, rec, -many, other_back, back)
            cost_b = cost_with(setting, state, room, b, rec, many, other_back, -back)
            if not _taken(cost_a + cost_b - costs[a] - costs[b], temperature, stream):
                continue
            transfer(setting, state, rec, a, b, many)
            if back > 0:
                transfer(setting, state, other, b, a, back)
            if limits is not None and (
                _breaks(limits, state, a, units, many_of, counting)
                or _breaks(limits, state, b, units, many_of, counting)
            ):
                if back > 0:
                    transfer(setting, state, other, a, b, back)
                transfer(setting, state, rec, b, a, many)
                continue
            costs[a], costs[b] = cost_a, cost_b
            continue
        count, valid = 0, True
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
            p = heads[a]
            while p >= 0 and valid:
                who, many, onward = record[p], amount[p], following[p]
                home, least = -1, np.inf
                for t in range(min(near, _TRIED)):
                    h = group[firsts[neighbours[who, t]]]
                    if h not in (a, home):
                        grown = (
                            cost_with(setting, state, room, h, who, many, -1, 0) - costs[h]
                        )  # of a home that others have joined, more than it is: a guess that suffices
                        if grown < least:
                            home, least = h, grown
                if home < 0:
                    valid = False
                    break
                transfer(setting, state, who, a, home, many)
                done_rec[count], done_from[count], done_to[count], done_many[count] = who, a, home, many
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
        change = 0.0
        if valid:
            for t in range(2 * count):
                h = done_from[t // 2] if t % 2 == 0 else done_to[t // 2]
                if _first_time(done_from, done_to, t, h):
                    now = cost_with(setting, state, room, h, -1, 0, -1, 0)
                    change += now - costs[h]
        fits = valid and _taken(change, temperature, stream)
        if limits is not None and fits:
            for t in range(2 * count):
                h = done_from[t // 2] if t % 2 == 0 else done_to[t // 2]
                if fits and _first_time(done_from, done_to, t, h):
                    fits = not _breaks(limits, state, h, units, many_of, counting)
        if fits:
            for t in range(2 * count):
                h = done_from[t // 2] if t % 2 == 0 else done_to[t // 2]
                if _first_time(done_from, done_to, t, h):
                    costs[h] = cost_with(setting, state, room, h, -1, 0, -1, 0)
        else:
            for t in range(count - 1, -1, -1):
                transfer(setting, state, done_rec[t], done_to[t], done_from[t], done_many[t])


@kernel
def _breaks(limits: Limits, state: State, g: int, units: Ints, amounts: Ints, counting: Room) -> bool:
    """Whether a group that is not empty does not meet what is asked of it."""
    count, p = 0, state.heads[g]
    while p >= 0:
        units[count], amounts[count] = state.record[p], state.amount[p]
        count += 1
        p = state.following[p]
    return count > 0 and not meets(limits, units[:count], amounts[:count], counting)


@kernel
def _first_time(done_from: Ints, done_to: Ints, t: int, h: int) -> bool:
    """Whether a group is not among the ends of the transfers before place ``t``."""
    found = False
    for s in range(t):
        found |= (done_from[s // 2] if s % 2 == 0 else done_to[s // 2]) == h
    return not found


@kernel
def _taken(change: float, temperature: float, stream: Stream) -> bool:
    """Whether a change is taken at this temperature."""
    if change <= 0.0:
        return change < -1e-12
    return change < 36.0 * temperature and uniform(stream) < np.exp(-change / temperature)
