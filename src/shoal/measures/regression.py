"""Regression coefficients kept: whether an analyst of the release would draw the same lines.

Each column of numbers is regressed on all others by least squares, in both tables, and the 95 % confidence intervals
of each coefficient are compared (Karr, Kohnen, Oganian, Reiter and Sanil 2006):

    overlap = (common / width of the original's + common / width of the release's) / 2

with ``common`` the length of the part that both intervals share, 0 where they share none. 100 % is the same interval,
0 % none in common. Records that have all the numbers are used in each table. A column that depends on those before
it in the original is left out as a predictor; where the release alone is dependent, the overlap is 0.
O(n d^2) for the moments, O(d^4) for the lines.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.arrays import Floats

_WIDTH = 1.959963984540054  # of a 95 % interval to each side, in standard errors
_DEPENDENT = 1e-9  # share of the variance that is left of a dependent column


class Lines(NamedTuple):
    """Coefficients and standard errors of the regression of each column on the others (d, d); NaN where not used."""

    coefficients: Floats
    errors: Floats


def overlaps(original: Floats, released: Floats, counts: tuple[int, int]) -> Floats:
    """Return the overlap of each coefficient (d, d) in percent, from the covariances of the columns in both tables.

    Entry (i, j) is the coefficient of column j in the regression of column i; NaN where there is none.

    >>> same = np.array([[1.0, 0.5], [0.5, 1.0]])
    >>> round(float(overlaps(same, same, (100, 100))[0, 1]), 9)
    100.0
    """
    used = independent_columns(original)
    before, after = regression_lines(original, counts[0], used), regression_lines(released, counts[1], used)
    a, b = _WIDTH * before.errors, _WIDTH * after.errors
    low = np.maximum(before.coefficients - a, after.coefficients - b)
    high = np.minimum(before.coefficients + a, after.coefficients + b)
    common = np.maximum(high - low, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        shared = 50.0 * (common / (2.0 * a) + common / (2.0 * b))
    # an interval of no width is a line that fits exactly: kept if it is the same line
    exact = (a == 0.0) | (b == 0.0)
    same = np.abs(before.coefficients - after.coefficients) <= 1e-9
    shared = np.where(exact, np.where(same & (a == b), 100.0, 0.0), shared)
    shared = np.where(np.isnan(after.coefficients), 0.0, shared)
    return np.where(np.isnan(before.coefficients), np.nan, shared)


def independent_columns(covariance: Floats) -> list[int]:
    """Return the columns that do not depend on those before them: by Cholesky's root, row after row, in O(d^3).

    >>> independent_columns(np.array([[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.0, 0.0, 1.0]]))
    [0, 2]
    """
    root, left = np.zeros_like(covariance), np.diag(covariance).copy()
    found: list[int] = []
    for j, own in enumerate(np.diag(covariance)):
        if own <= 0.0 or left[j] <= _DEPENDENT * own:
            continue
        m = len(found)
        root[:, m] = (covariance[:, j] - root[:, :m] @ root[j, :m]) / np.sqrt(left[j])
        left -= root[:, m] ** 2
        found.append(j)
    return found


def regression_lines(covariance: Floats, count: int, used: list[int]) -> Lines:
    """Regress each column on the ``used`` others, from a covariance matrix over ``count`` records."""
    d = len(covariance)
    coefficients, errors = np.full((d, d), np.nan), np.full((d, d), np.nan)
    for i in range(d):
        others = [j for j in used if j != i]
        free = count - len(others) - 1
        if not others or free < 1 or covariance[i, i] <= 0.0:
            continue
        part = covariance[np.ix_(others, others)]
        if len(independent_columns(part)) < len(others):
            continue
        inverse = np.linalg.inv(part)
        line = inverse @ covariance[others, i]
        left = max(float(covariance[i, i] - line @ covariance[others, i]), 0.0)
        left = 0.0 if left < _DEPENDENT * covariance[i, i] else left
        coefficients[i, others] = line
        errors[i, others] = np.sqrt(left / free * np.diag(inverse))
    return Lines(coefficients, errors)
