"""The nearest point that keeps linear equations and inequalities, for many groups at once.

Distances are in standard deviations of the columns. Equations alone have a closed form; with inequalities it is
Dykstra's alternating projection (Boyle and Dykstra 1986), which converges to the nearest point of an intersection of
convex sets, one closed form a set. An equation that is not linear is replaced by its tangent at the last point, and
the projection repeated (Gauss-Newton). A column whose scale is 0 stays where it is. O(rounds (p + q) d) a group for p
equations and q inequalities.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from shoal.kernels.arrays import Flags, Floats

_ROUNDS, _TURNS = 20, 100  # after each turn of rounds only the points that still move go on
_TANGENTS = 12
_NEAR = 1e-9  # in standard deviations: closer than any file tells

Tangent = Callable[[Floats], tuple[Floats, Floats]]


def nearest_points(
    targets: Floats,
    scale: Floats,
    equations: tuple[Floats, Floats],
    halves: tuple[Floats, Floats],
    tangent: Tangent | None = None,
) -> Floats:
    """Return the points nearest to targets that keep equations and inequalities.

    Parameters
    ----------
    targets : float64 (m, d)
        Where each group would be without rules.
    scale : float64 (d,)
        Standard deviations of the columns; 0 for one that may not move.
    equations : float64 (p, d) and (m, p)
        ``matrix @ x = constants``.
    halves : float64 (q, d) and (m, q)
        ``matrix @ x <= constants``; a constant of infinity is no limit.
    tangent : function, optional
        From points (m, d) to the slopes (m, r, d) and constants (m, r) of further equations that are not linear.

    Examples
    --------
    >>> one, none = np.ones((1, 2)), (np.empty((0, 2)), np.empty((1, 0)))
    >>> nearest_points(np.array([[1.0, 2.0]]), np.ones(2), (one, np.array([[5.0]])), none)
    array([[2., 3.]])
    >>> limit = (np.array([[0.0, 1.0]]), np.array([[2.5]]))
    >>> nearest_points(np.array([[1.0, 2.0]]), np.ones(2), (one, np.array([[5.0]])), limit).round(6)
    array([[2.5, 2.5]])
    """
    points = targets
    for _ in range(_TANGENTS if tangent else 1):
        matrix, constants = equations[0] * scale, equations[1] - targets @ equations[0].T
        if tangent:
            slopes, ends = tangent(points)
            ends = ends - np.einsum("mrd,md->mr", slopes, targets)
            shared = np.broadcast_to(matrix, (len(targets), *matrix.shape))
            matrix = np.concatenate([shared, slopes * scale], axis=1)
            constants = np.concatenate([constants, ends], axis=1)
        moves = _moves(matrix, constants, halves[0] * scale, halves[1] - targets @ halves[0].T)
        found = targets + scale * moves
        if not tangent:
            return found
        still = np.abs(found - points) <= _NEAR * scale
        points = found
        if still.all():
            break
    return points


def _moves(matrix: Floats, constants: Floats, limits: Floats, ends: Floats) -> Floats:
    """Return the shortest moves from 0 to where ``matrix @ y = constants`` and ``limits @ y <= ends``; d columns."""
    m, d = len(constants), matrix.shape[-1]
    onto = _onto(matrix, constants)
    moves = onto(np.zeros((m, d)))
    kept = (limits**2).sum(axis=1) > 0.0
    limits, ends = limits[kept], ends[:, kept]
    outside = (moves @ limits.T > ends).any(axis=1)
    if not outside.any():
        return moves
    left = np.flatnonzero(outside)
    pushed = np.zeros((len(left), len(limits)))
    for _ in range(_TURNS):
        own = matrix[left] if matrix.ndim == 3 else matrix
        moves[left], pushed, moving = _dykstra(_onto(own, constants[left]), moves[left], pushed, limits, ends[left])
        left, pushed = left[moving], pushed[moving]
        if not len(left):
            break
    return moves


def _dykstra(
    onto: Callable[[Floats], Floats], y: Floats, pushed: Floats, limits: Floats, ends: Floats
) -> tuple[Floats, Floats, Flags]:
    """Alternate between the equations and each inequality; each remembers how far it has pushed a point.

    Returns the points, how far they were pushed, and which still move.
    """
    lengths = (limits**2).sum(axis=1)
    for _ in range(_ROUNDS):
        before = y
        for i in range(len(limits)):
            y = y + pushed[:, i, None] * limits[i]
            pushed[:, i] = np.maximum((y @ limits[i] - ends[:, i]) / lengths[i], 0.0)
            y = y - pushed[:, i, None] * limits[i]
        y = onto(y)
    return y, pushed, np.abs(y - before).max(axis=1) > _NEAR


def _onto(matrix: Floats, constants: Floats) -> Callable[[Floats], Floats]:
    """Return the projection onto ``matrix @ y = constants``; contradictions are met in the sense of least squares."""
    if matrix.shape[-2] == 0:
        return lambda y: y
    if matrix.ndim == 2:
        back = np.linalg.pinv(matrix)  # (d, p)
        return lambda y: y - (y @ matrix.T - constants) @ back.T
    gram = matrix @ matrix.swapaxes(1, 2)
    p = gram.shape[-1]
    size = np.maximum(np.trace(gram, axis1=1, axis2=2), 1e-300)[:, None, None]
    gram = gram + 1e-13 * size * np.eye(p)  # slopes may be parallel or 0 at a point

    def nearest(y: Floats) -> Floats:
        gap = (matrix @ y[:, :, None])[:, :, 0] - constants
        pull = np.linalg.solve(gram, gap[:, :, None])
        return y - (matrix.swapaxes(1, 2) @ pull)[:, :, 0]

    return nearest
