"""Selecting the nearest, the best, the median: small sorted lists and heaps, the tournament tree, quickselect.

Ties go to the lowest row.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel

_SORTED = 24  # so many nearest records are kept sorted: moving them is faster than a heap


@kernel
def insert_nearest(distance: float, row: int, count: int, rows: Ints, distances: Floats) -> None:
    """Insert a record among the ``count`` nearest by (distance, row), of which the last is the farthest, if it belongs.

    Few are kept sorted. Of many only a heap is kept, its root at the end, which :func:`sort_nearest` sorts when all
    are in: inserting takes O(log count) instead of O(count).
    """
    last = count - 1
    if not _precedes(distance, row, distances[last], rows[last]):
        return
    if count > _SORTED:
        _sink(distance, row, count, count, rows, distances)
        return
    q = last
    while q > 0 and _precedes(distance, row, distances[q - 1], rows[q - 1]):
        distances[q], rows[q] = distances[q - 1], rows[q - 1]
        q -= 1
    distances[q], rows[q] = distance, row


@kernel
def sort_nearest(count: int, rows: Ints, distances: Floats) -> None:
    """Sort what :func:`insert_nearest` has kept, nearest first."""
    if count <= _SORTED:
        return
    last = count - 1
    for size in range(last, 0, -1):  # the farthest of the heap goes where the heap ended, at the front
        at = last - size
        distance, row = distances[at], rows[at]
        distances[at], rows[at] = distances[last], rows[last]
        _sink(distance, row, size, count, rows, distances)
    for t in range(count // 2):
        distances[t], distances[last - t] = distances[last - t], distances[t]
        rows[t], rows[last - t] = rows[last - t], rows[t]


@kernel
def _sink(distance: float, row: int, size: int, count: int, rows: Ints, distances: Floats) -> None:
    """Put a record in the place of the root of a heap of ``size``, which lies at the end of ``count``, backwards."""
    last, node = count - 1, 0
    while True:
        child = 2 * node + 1
        if child >= size:
            break
        at = last - child
        if child + 1 < size and _precedes(distances[at], rows[at], distances[at - 1], rows[at - 1]):
            child, at = child + 1, at - 1
        if not _precedes(distance, row, distances[at], rows[at]):
            break
        distances[last - node], rows[last - node] = distances[at], rows[at]
        node = child
    distances[last - node], rows[last - node] = distance, row


@kernel
def _precedes(distance: float, row: int, other_distance: float, other: int) -> bool:
    """Whether a record is nearer than another; of those as far, the one with the lower row is."""
    return distance < other_distance or (distance == other_distance and row < other)


@kernel
def select_rank(keys: Floats, order: Ints, low: int, high: int, rank: int) -> None:
    """Reorder keys from low to high so that the one at ``rank`` is in its sorted place, none before it larger."""
    while low < high:
        a, b, c = keys[low], keys[(low + high) // 2], keys[high]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = low, high
        while i <= j:
            while keys[i] < pivot:
                i += 1
            while keys[j] > pivot:
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if rank <= j:
            high = j
        elif rank >= i:
            low = i
        else:
            return


def open_tournament(n: int) -> Floats:
    """Return an empty tournament over n players: all lose, with minus infinity.

    Player i sits at leaf ``width + i`` of a complete binary tree; every inner node holds the larger score of
    its two children. Reading the winner and changing a score both take O(log n).
    """
    width = 1
    while width < n:
        width *= 2
    return np.full(2 * width, -np.inf)


@kernel
def set_score(tournament: Floats, player: int, score: float) -> None:
    """Change the score of a player."""
    node = tournament.shape[0] // 2 + player
    tournament[node] = score
    while node > 1:
        node //= 2
        larger = max(tournament[2 * node], tournament[2 * node + 1])
        if tournament[node] == larger:  # so are those above
            return
        tournament[node] = larger


@kernel
def score_of(tournament: Floats, player: int) -> float:
    """Return the score of a player."""
    return float(tournament[tournament.shape[0] // 2 + player])


@kernel
def winner(tournament: Floats) -> int:
    """Return the player with the highest score, the lowest number among equals."""
    width = tournament.shape[0] // 2
    node = 1
    while node < width:
        node *= 2
        if tournament[node] < tournament[node + 1]:
            node += 1
    return int(node - width)
