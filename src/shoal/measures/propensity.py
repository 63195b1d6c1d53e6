"""The propensity score: how well a model can tell original records from released ones.

Woo, Reiter, Oganian and Karr 2009. Both tables are put on top of each other, a logistic regression guesses for each
record the chance that it is released, and

    pMSE = mean of (chance - 1/2)^2

is 0 where the tables cannot be told apart and 1/4 where they always can. Snoke, Raab, Nowok, Dibben and Slavkovic
2018: were the release drawn at random from the records of the original, with replacement, pMSE would be (p - 1) / (8 N)
on average, p being the parameters of the model and N the records of both tables. The ratio to that is about 1 for such
a draw, and may be less where records are matched.

The model has numbers, their squares and products; of categories an indicator for each of the most common; an
indicator of missing values where there are any. Fitted by Newton's method, O(N p^2) a step, a chunk at a time.
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
_STEPS = 30
_CHUNK = 1 << 15
_RIDGE = 1e-6  # keeps chances away from 0 and 1 where the tables can be separated


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
    rows = sample_rows(len(pairs[0].original), SAMPLE, seed)
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
    """Return the fitted chances of a logistic regression, and how many parameters can be told apart.

    A penalty of a millionth keeps the fit finite where the labels can be separated or columns depend on each other.
    """
    n, p = design.shape
    beta = steady = np.zeros(p)
    rank = int(np.linalg.matrix_rank(design.T @ design / n, hermitian=True, tol=1e-9))
    best = np.inf
    for _ in range(_STEPS):
        hessian, slope, loss = np.eye(p) * _RIDGE, -_RIDGE * beta, 0.5 * _RIDGE * float(beta @ beta)
        for start in range(0, n, _CHUNK):
            x, y = design[start : start + _CHUNK], labels[start : start + _CHUNK]
            linear = x @ beta
            chance = _chance(linear)
            slope += x.T @ (y - chance) / n
            hessian += (x * (chance * (1.0 - chance))[:, None]).T @ x / n
            loss += float((np.logaddexp(0.0, linear) - y * linear).sum()) / n
        if loss > best:  # the step was too long
            beta = 0.5 * (steady + beta)
            continue
        settled, best, steady = best - loss < 1e-10, loss, beta
        if settled:
            break
        beta = beta + np.linalg.solve(hessian, slope)
    return _chance(design @ steady), rank


def _chance(linear: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(linear, -50.0, 50.0))))
