"""PIL, the probabilistic information loss: how surprising a released statistic would be as an estimate of the original.

Mateo-Sanz, Domingo-Ferrer and Sebé 2005. For a statistic t of the original with standard error s, and t' of the
release,

    PIL = 100 (2 Phi(|t' - t| / s) - 1)

which is between 0 and 100. It is averaged over the quantiles from 5 % to 95 %, the means, the variances, the
covariances and the correlations, and these five averages have the same weight. Standard errors are asymptotic
(Stuart and Ord, Kendall's Advanced Theory of Statistics), with moments of the original about its mean:

    mean          sqrt(m2 / n)
    variance      sqrt((m4 - m2^2) / n)
    covariance    sqrt((m22 - m11^2) / n)
    correlation   sqrt((m22 (1 + r^2 / 2) + r^2 (m40 + m04) / 4 - r (m31 + m13)) / n), moments of z-scores
    quantile q    half the distance of the quantiles q - e and q + e, e = sqrt(q (1 - q) / n)

The last is the interval of Woodruff 1952; it needs no density, which ties would not have. Where an error is 0, PIL
is 0 if nothing changed and 100 if something did. O(n log n) a column for the quantiles, O(n d^2) for the rest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import erf

from shoal.kernels.arrays import Floats
from shoal.measures.moments import Moments

QUANTILES = np.arange(5, 100, 5) / 100.0
PARTS = ("quantiles", "mean", "variance", "covariance", "correlation")
_SAME = 1e-9  # in standard deviations: what rounding may do to a statistic that did not change


@dataclass(frozen=True)
class MomentLoss:
    """PIL of means and variances by column, and of covariances and correlations by pair of columns i < j."""

    mean: Floats
    variance: Floats
    covariance: Floats
    correlation: Floats


def surprise(difference: Floats, error: Floats) -> Floats:
    """Return 100 (2 Phi(|difference| / error) - 1) for each entry; NaN where the difference is.

    >>> surprise(np.array([0.0, 1.959964, 1.0]), np.array([1.0, 1.0, 0.0])).round(3)
    array([  0.,  95., 100.])
    """
    loss = np.where(np.isnan(difference), np.nan, 100.0)
    certain = ~(error > 0.0)
    loss[certain & (np.abs(difference) <= _SAME)] = 0.0
    z = np.abs(difference[~certain]) / error[~certain]
    loss[~certain] = 100.0 * erf(z / np.sqrt(2.0))
    return loss


def quantile_loss(original: Floats, released: Floats) -> float:
    """Return PIL of the quantiles of a column, from its sorted values in both tables.

    >>> quantile_loss(np.arange(100.0), np.arange(100.0))
    0.0
    """
    if not len(original):
        return 0.0
    if not len(released):
        return 100.0
    reach = np.sqrt(QUANTILES * (1.0 - QUANTILES) / len(original))
    low, high = np.clip(QUANTILES - reach, 0.0, 1.0), np.clip(QUANTILES + reach, 0.0, 1.0)
    error = 0.5 * (sorted_quantiles(original, high) - sorted_quantiles(original, low))
    difference = sorted_quantiles(released, QUANTILES) - sorted_quantiles(original, QUANTILES)
    return float(surprise(difference, error).mean())


def sorted_quantiles(values: Floats, at: Floats) -> Floats:
    """Return quantiles of sorted values, linear between two of them.

    >>> sorted_quantiles(np.array([1.0, 2.0, 4.0]), np.array([0.0, 0.75]))
    array([1., 3.])
    """
    place = at * (len(values) - 1)
    below = np.floor(place).astype(np.int64)
    above = np.minimum(below + 1, len(values) - 1)
    return np.asarray(values[below] + (place - below) * (values[above] - values[below]))


def moment_loss(original: Moments, released: Moments) -> MomentLoss:
    """Return PIL of means, variances, covariances and correlations.

    A statistic that the original does not have, such as the correlation of a constant column, is NaN; one that only
    the release does not have is a loss of 100.
    """
    own = np.diag_indices_from(original.counts)
    counts = np.maximum(original.counts, 1.0)
    mean = _compared(original.means[own], released.means[own], np.sqrt(original.m20[own] / counts[own]))
    variance_error = np.sqrt(np.maximum(original.m40 - original.m20**2, 0.0) / counts)[own]
    variance = _compared(original.m20[own], released.m20[own], variance_error)
    pairs = np.triu_indices_from(counts, 1)
    covariance_error = np.sqrt(np.maximum(original.m22 - original.m11**2, 0.0) / counts)[pairs]
    covariance = _compared(original.m11[pairs], released.m11[pairs], covariance_error)
    correlation = _compared(
        original.correlations[pairs], released.correlations[pairs], correlation_errors(original)[pairs]
    )
    return MomentLoss(mean, variance, covariance, correlation)


def correlation_errors(moments: Moments) -> Floats:
    """Return the standard errors of the correlations; NaN where there is no correlation."""
    r, v = moments.correlations, moments.m20
    with np.errstate(invalid="ignore", divide="ignore"):
        m22 = moments.m22 / (v * v.T)
        m31 = moments.m31 / np.sqrt(v**3 * v.T)
        m40 = moments.m40 / v**2
        spread = m22 * (1.0 + r * r / 2.0) + r * r * (m40 + m40.T) / 4.0 - r * (m31 + m31.T)
    return np.sqrt(np.maximum(spread, 0.0) / np.maximum(moments.counts, 1.0))


def _compared(original: Floats, released: Floats, error: Floats) -> Floats:
    loss = surprise(released - original, np.nan_to_num(error))
    loss[np.isnan(released)] = 100.0
    loss[np.isnan(original)] = np.nan
    return loss
