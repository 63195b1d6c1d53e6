"""How small a group can be that meets a condition on a confidential column: a proof before any work.

- p different values, or an entropy of that of e: at least p, or e, records.
- Recursive (c, l)-diversity: l - 1 records, and more than 1 / c.
- t: the distribution function of a group of g records goes up in steps of 1 / g, so that at a share q of the table it
  is off by the distance from q to the nearest multiple of 1 / g, at least. Added up over an order, or over the ways up
  of a tree, no group of g is nearer to the table. In an order, and where values are equal or not and their shares are
  rounded so that they add up, some group is as near: the bound is exact for one group. For n different numbers it is
  (n + g) (n - g) / (4 n (n - 1) g), the bound of Soria-Comas et al. (2015), where n is an odd
  multiple of g, and more otherwise.

Every condition holds for the union of groups that meet it, so that it can be met at all where all records that may be
together meet it as one group. That is looked at by :func:`shoal.release.conditions.check_possible`, and is exact.

Cost: O(m) for each size, of m values; at most some thousand sizes are looked at.
"""

from __future__ import annotations

import math

import numpy as np

from shoal.kernels.given_away import SLACK
from shoal.partition.conditions.distributions import Distribution
from shoal.plan.conditions import ConfidentialCondition

_WORK = 1 << 27  # nodes times sizes that are looked at


def least_size(values: Distribution, asked: ConfidentialCondition) -> int:
    """Return a number of records that no group meeting the condition is below.

    >>> from shoal.columns.numbers import Column
    >>> from shoal.partition.conditions.distributions import distribution_of
    >>> pay = distribution_of(Column("pay", np.arange(100), np.ones(100, dtype=bool)))
    >>> least_size(pay, ConfidentialCondition(t=0.05)), least_size(pay, ConfidentialCondition(distinct=3))
    (5, 3)
    """
    sizes = [1]
    if asked.distinct is not None:
        sizes.append(asked.distinct)
    if asked.entropy is not None:
        sizes.append(math.ceil(asked.entropy - 1e-6))
    if asked.recursive is not None:
        c, place = asked.recursive
        rest = max(math.floor(1.0 / c), 1)
        sizes.append(place - 1 + (rest if c * rest > 1.0 else rest + 1))
    if asked.t is not None:
        sizes.append(_least_near(values, asked.t, max(sizes)))
    return max(sizes)


def nearest_possible(values: Distribution, size: int) -> float:
    """Return a distance from the table that no group of so many records, all with a value, is below."""
    shares = values.shares()
    if values.ordered:
        steps = shares[:-1] * size
        off = np.abs(steps - np.rint(steps)) / size
        return float(off.sum()) / max(values.known - 1, 1)
    if values.distance == "equal":
        rest = np.sort(shares * size - np.floor(shares * size + 1e-12))
        up = round(float(rest.sum()))  # so many shares are rounded up, those with the largest rests
        return float(np.maximum(rest[: len(rest) - up], 0.0).sum()) / size
    steps = shares * size
    return float((values.length * np.abs(steps - np.rint(steps))).sum()) / size


def _least_near(values: Distribution, t: float, least: int) -> int:
    """Return the first size at which a group can be near enough, or the last that there was time to look at."""
    if values.ordered and values.counts[values.known :].any():
        return least  # a group of missing values is at no distance
    records = len(values.codes)
    tried = max(_WORK // max(len(values.counts), len(values.parent), 1), 64)
    for size in range(least, min(records, least + tried)):
        if nearest_possible(values, size) <= t + SLACK:
            return size
    return min(records, least + tried)
