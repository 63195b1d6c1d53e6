"""The propensity score: how well a model can tell original records from released ones.

Woo, Reiter, Oganian and Karr 2009. Both tables are put on top of each other, a logistic regression guesses for each
record the chance that it is released, and

    pMSE = mean of (chance - 1/2)^2

is 0 where the tables cannot be told apart and 1/4 where they always can. Snoke, Raab, Nowok, Dibben and Slavkovic
2018: were the release drawn at random from the records of the original, with replacement, pMSE would be (p - 1) / (8 N)
on average, p being the parameters of the model and N the records of both tables. The ratio to that is about 1 for such
a draw, and may be less where records are matched.

The terms of the model are those of the columns in their order, for a number its z-score and, where cells are missing in
either table, an indicator of that, for categories an indicator of each of the 20 most common but the first; then the
squares and products of the numbers. All are standardised over both tables, and a term of whose variance those before it
leave less than a millionth is left out: it says nothing new, and its coefficient would be that of rounding.

The fit is that of maximum likelihood without any penalty, by Newton's method on the terms made uncorrelated, O(N p^2) a
step, a chunk at a time. Where terms separate some of the records there is no maximum: the chances of those go to 0 and
1, and the fit ends where a step raises the likelihood by next to nothing, with pMSE at its limit to eight decimals.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from shoal.kernels.arrays import Floats, Ints
from shoal.measures.linkage import sample_rows
from shoal.measures.pairs import NumericPair, Pair

SAMPLE = 20_000  # records of each table that the model is fitted to where there are more than twice as many
_CATEGORIES = 20  # most common categories that have an indicator
_TERMS = 150  # terms of a model with products; where there would be more, it has none
COLLINEAR = 1e-6  # part of the variance of a term that those before it leave, at least
_WORK = 4e8  # records of a table times terms times terms, beyond which fewer records are taken
_STEPS = 100
_SETTLED = 1e-9  # log-likelihood a record that a step gains, about; it is taken, and the next would gain its square
_CHUNK = 1 << 15


class Propensity(NamedTuple):
    """How well the tables can be told apart.

    Attributes
    ----------
    pmse : float
        Mean squared error of the propensity, 0 to 0.25.
    ratio : float
        pMSE over what a random draw of the original's records would have.
    records : int
        Records of each table that were used.
    products : bool
        Whether the model has products of columns.
    """

    pmse: float
    ratio: float
    records: int
    products: bool


def propensity(pairs: Sequence[Pair], seed: int = 0) -> Propensity:
    """Fit a model of which table a record is from.

    >>> x = np.linspace(-1.0, 1.0, 50)
    >>> there = np.ones(50, dtype=bool)
    >>> propensity([NumericPair("x", x, x, there, there)]).pmse
    0.0
    """
    rows = sample_rows(len(pairs[0].original), _sample(pairs), seed)
    main, numbers = [], 0
    for pair in pairs:
        columns = _terms(pair, rows)
        main += columns
        numbers += isinstance(pair, NumericPair)
    numeric = [column for pair in pairs if isinstance(pair, NumericPair) for column in _terms(pair, rows)[:1]]
    products = len(main) + numbers * (numbers + 1) // 2 <= _TERMS
    if products:
        main += [numeric[i] * numeric[j] for i in range(numbers) for j in range(i, numbers)]
    design = np.column_stack([np.ones(2 * len(rows)), *main])
    design[:, 1:] -= design[:, 1:].mean(axis=0)
    spread = design[:, 1:].std(axis=0)
    design[:, 1:] /= np.where(spread > 0.0, spread, 1.0)
    labels = np.repeat([0.0, 1.0], len(rows))
    chances, parameters = fit_logistic(design, labels)
    pmse = float(((chances - 0.5) ** 2).mean())
    expected = max(parameters - 1, 1) / (8.0 * len(labels))
    return Propensity(pmse, pmse / expected, len(rows), products)


def _sample(pairs: Sequence[Pair]) -> int:
    """Return how many records of each table the model is fitted to at most: fewer where it has very many terms."""
    numbers = [pair for pair in pairs if isinstance(pair, NumericPair)]
    main = sum(2 - bool(pair.there.all() and pair.kept.all()) for pair in numbers)
    main += sum(min(pair.categories, _CATEGORIES) for pair in pairs if not isinstance(pair, NumericPair))
    products = len(numbers) * (len(numbers) + 1) // 2
    terms = max(main + products if main + products <= _TERMS else main, 1)  # categories without any value have none
    return min(SAMPLE, max(2 * terms, int(_WORK / terms**2)))


def _terms(pair: Pair, rows: Ints) -> list[Floats]:
    """Return the terms of one column, original records first."""
    both = np.concatenate((pair.original[rows], pair.released[rows])).astype(np.float64)
    if isinstance(pair, NumericPair):
        seen = np.concatenate((pair.there[rows], pair.kept[rows]))
        return [both] if seen.all() else [both, (~seen).astype(np.float64)]
    values, counts = np.unique(both, return_counts=True)
    common = values[np.argsort(-counts, kind="stable")[:_CATEGORIES]]
    # all but the most common: it is what the others are compared with
    return [(both == value).astype(np.float64) for value in common[1:]]


def fit_logistic(design: Floats, labels: Floats) -> tuple[Floats, int]:
    """Return the fitted chances of a logistic regression by maximum likelihood, and how many parameters it has.

    ``design`` (n, p) has standardised columns after one of ones; those that depend on the ones before are left out.
    """
    kept, root = _independent(design.T @ design / len(design))
    terms: Floats = np.ascontiguousarray(
        np.linalg.solve(root, design[:, kept].T).T, np.float64
    )  # uncorrelated, of variance 1
    p = terms.shape[1]
    beta = np.zeros(p)
    best, slope, hessian = _likelihood(terms, labels, beta)
    for _ in range(_STEPS):
        # where records are separated nothing bends in their direction any more: what is added to the diagonal changes
        # the way to the maximum, and not the maximum
        step = np.linalg.solve(hessian + 1e-13 * np.eye(p), slope)
        settled = float(slope @ step) < _SETTLED
        while True:
            loss, slope, hessian = _likelihood(terms, labels, beta + step)
            if loss <= best or float(np.abs(step).max()) < 1e-12:
                break
            step = 0.5 * step
        beta, best = beta + step, loss
        if settled:
            break
    return _chance(terms @ beta), len(kept)


def _independent(products: Floats) -> tuple[Ints, Floats]:
    """Return the columns that do not depend on those before them, and the root L of their products, L L^T.

    ``products`` (p, p) are the means of the products of standardised columns. O(p^3).

    >>> _independent(np.array([[1.0, 1.0, 0.6], [1.0, 1.0, 0.6], [0.6, 0.6, 1.0]]))[0]
    array([0, 2])
    """
    p = len(products)
    root, left, kept = np.zeros((p, p)), np.diag(products).copy(), list[int]()
    for j in range(p):
        if left[j] < COLLINEAR:
            continue
        m = len(kept)
        root[j:, m] = (products[j:, j] - root[j:, :m] @ root[j, :m]) / np.sqrt(left[j])
        left -= root[:, m] ** 2
        kept.append(j)
    return np.array(kept), root[kept, : len(kept)]


def _likelihood(terms: Floats, labels: Floats, beta: Floats) -> tuple[float, Floats, Floats]:
    """Return the negative log-likelihood a record, and its slope downwards and second derivatives."""
    n, p = terms.shape
    loss, slope, hessian = 0.0, np.zeros(p), np.zeros((p, p))
    for start in range(0, n, _CHUNK):
        x, y = terms[start : start + _CHUNK], labels[start : start + _CHUNK]
        linear = x @ beta
        chance = _chance(linear)
        slope += x.T @ (y - chance) / n
        hessian += (x * (chance * (1.0 - chance))[:, None]).T @ x / n
        loss += float((np.logaddexp(0.0, linear) - y * linear).sum()) / n
    return loss, slope, hessian


def _chance(linear: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(linear, -700.0, 700.0))))
