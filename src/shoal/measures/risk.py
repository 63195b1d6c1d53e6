"""Risk from keys that few records share: individual and global risk, with and without sampling weights.

Without weights the risk of a record is 1 / f, f being the number of records with its key: the release is the
population, and an intruder who knows the key guesses among f. The global risk is its mean.

With weights the release is a sample, and what counts is the number F of people with the key in the population.
Benedetti and Franconi 1998 take F given f as negative binomial with p = f / (sum of the weights), and the risk as

    E(1 / F | f) = (p^f / f) 2F1(f, f; f + 1; 1 - p) = p I_f,   I_f = integral of s^(f-1) / (p + q s) over (0, 1)

with q = 1 - p. I_1 = -ln(p) / q and I_(f+1) = (1 / f - p I_f) / q, which loses no digits for p <= 1/2; elsewhere,
and for f > 12, the series p / f (1 + q / (f + 1) + 2 q^2 / ((f + 1)(f + 2)) + ...) converges fast. O(keys).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.numbering import number_keys as number_values
from shoal.measures.keys import Keys

_BY_RECURRENCE = 12
_TERMS = 400


def individual_risk(keys: Keys, weights: Floats | None = None) -> Floats:
    """Return the risk of each key, between 0 and 1.

    >>> from shoal.measures.keys import number_keys
    >>> individual_risk(number_keys([np.array([1.0, 1.0, 2.0])]))
    array([0.5, 1. ])
    >>> individual_risk(number_keys([np.array([1.0, 1.0, 2.0])]), np.array([5.0, 5.0, 10.0])).round(4)
    array([0.1494, 0.2558])
    """
    if weights is None:
        return 1.0 / keys.sizes
    population = np.bincount(keys.of, weights=weights, minlength=len(keys.sizes))
    return benedetti_franconi(keys.sizes, np.minimum(keys.sizes / population, 1.0))


def benedetti_franconi(sizes: Ints, p: Floats) -> Floats:
    """Return E(1 / F | f) for keys of f records, sampled with probability p."""
    q = 1.0 - p
    risk = np.empty(len(p))
    few = (sizes <= _BY_RECURRENCE) & (p <= 0.5)
    risk[few] = _by_recurrence(sizes[few], p[few], q[few])
    rest = ~few
    f, x = sizes[rest].astype(np.float64), q[rest]
    term = total = np.ones(len(f))
    for n in range(1, _TERMS):
        term = term * x * n / (f + n)
        total = total + term
        if term.max(initial=0.0) < 1e-17:
            break
    risk[rest] = p[rest] / f * total
    return risk


def _by_recurrence(sizes: Ints, p: Floats, q: Floats) -> Floats:
    integral = -np.log(p) / q
    out = p * integral
    for f in range(1, int(sizes.max(initial=1))):
        integral = (1.0 / f - p * integral) / q
        out = np.where(sizes == f + 1, p * integral, out)
    return out


def global_risk(keys: Keys, weights: Floats | None = None) -> float:
    """Return the mean risk of the records in percent: the share that an intruder would be expected to find.

    >>> from shoal.measures.keys import number_keys
    >>> round(global_risk(number_keys([np.array([1.0, 1.0, 2.0])])), 4)
    66.6667
    """
    return 100.0 * float((individual_risk(keys, weights) * keys.sizes).sum() / keys.sizes.sum())


def risk_by_attribute(codes: Sequence[Ints], sizes: Ints, whole: float) -> list[dict[str, float]]:
    """Return for each column the global risk if it alone is known, and by how much its absence lowers the whole.

    ``codes`` are the values of the distinct keys in each column, numbered, ``sizes`` how many records have each key,
    and ``whole`` is the global risk of all columns in percent; sampling weights are not used. All columns but one are
    those before it and those after it, of which either alone mostly tells all keys apart. O(d keys).

    >>> risk_by_attribute([np.array([0, 0, 1]), np.array([0, 1, 0])], np.array([1, 1, 2]), 75.0)
    [{'risk_alone': 50.0, 'risk_added': 25.0}, {'risk_alone': 50.0, 'risk_added': 25.0}]
    """
    after = _growing(codes[:0:-1], len(sizes))[::-1]
    before = _growing(codes[:-1], len(sizes))
    found = []
    for own, left, right in zip(codes, before, after, strict=True):
        if left is None or right is None:  # what is left tells all keys apart
            without = whole
        elif len(codes) == 1:
            without = 0.0
        else:
            without = _shared_risk(left.astype(np.int64) * (int(right.max()) + 1) + right, sizes)
        found.append({"risk_alone": _shared_risk(own, sizes), "risk_added": whole - without})
    return found


def _growing(codes: Sequence[Ints], keys: int) -> list[NDArray[np.int32] | None]:
    """Number the combinations of no column, of the first, of the first two and so on; None once all keys differ."""
    so_far = np.zeros(keys, dtype=np.int64)
    found: list[NDArray[np.int32] | None] = [so_far.astype(np.int32)]
    for column in codes:
        if found[-1] is not None:
            so_far, first, _ = number_values(so_far * (int(column.max()) + 1) + column)
            found.append(so_far.astype(np.int32) if len(first) < keys else None)
        else:
            found.append(None)
    return found


def _shared_risk(values: Ints, sizes: Ints) -> float:
    """Return the global risk where keys with the same value cannot be told apart."""
    of, first, _ = number_values(values)
    together = np.bincount(of, weights=sizes, minlength=len(first)).astype(np.int64)
    return global_risk(Keys(of, together, first))
