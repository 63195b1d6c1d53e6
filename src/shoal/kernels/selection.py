"""Selecting the nearest, the best, the median: small sorted lists, the tournament tree, quickselect.

Ties go to the lowest row.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel


@kernel
def insert_nearest(distance: float, row: int, count: int, rows: Ints, distances: Floats) -> None:
    """Insert a record into the list of the ``count`` nearest, sorted by (distance, row), if it belongs there."""
    last = count - 1
    if distance > distances[last] or (distance == distances[last] and row > rows[last]):
        return
    q = last
    while q > 0 and (distance < distances[q - 1] or (distance == distances[q - 1] and row < rows[q - 1])):
        distances[q], rows[q] = distances[q - 1], rows[q - 1]
        q -= 1
    distances[q], rows[q] = distance, row


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
