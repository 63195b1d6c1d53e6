"""How far the distribution of each column has moved, and the shape of all columns together."""

from __future__ import annotations

import numpy as np

from shoal.kernels.arrays import Floats
from shoal.kernels.ordering import distribution_distances
from shoal.measures.moments import Moments


def kolmogorov_smirnov_and_wasserstein(original: Floats, released: Floats) -> tuple[float, float]:
    """Return the two distances of the distributions of a column, from its sorted values in both tables.

    The largest difference of the distribution functions, between 0 and 1, and the area between them, in the units of
    the values: standard deviations of the original. Where one table has no value, they are as far apart as can be:
    1 and infinity.

    >>> kolmogorov_smirnov_and_wasserstein(np.array([0.0, 1.0]), np.array([0.0, 2.0]))
    (0.5, 0.5)
    """
    if not len(original) or not len(released):
        return (0.0, 0.0) if len(original) == len(released) else (1.0, float("inf"))
    largest, area = distribution_distances(original, released)
    return float(largest), float(area)


def correlation_differences(original: Moments, released: Moments) -> Floats:
    """Return the absolute differences of the correlations (d, d).

    A correlation that only the release does not have counts as 0 there; one that the original does not have is NaN.
    """
    return np.abs(original.correlations - np.nan_to_num(released.correlations))


def eigenvalue_difference(original: Moments, released: Moments) -> float:
    """Return the change of the eigenvalues of the covariance matrix, in percent of their sum.

    Columns are in standard deviations of the original, so that its matrix is that of the correlations. Eigenvalues
    are compared in order of size.

    >>> from shoal.measures.moments import joint_moments
    >>> x = np.array([[1.0, 1.0], [-1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]])
    >>> eigenvalue_difference(joint_moments(x), joint_moments(x * [1.0, 0.0]))
    50.0
    """
    before = np.linalg.eigvalsh(np.nan_to_num(original.m11))
    after = np.linalg.eigvalsh(np.nan_to_num(released.m11))
    total = float(np.abs(before).sum())
    return 100.0 * float(np.abs(before - after).sum()) / total if total > 0.0 else 0.0
