"""Made-up tables that are searched as large ones are, by the kind of their distribution."""

from __future__ import annotations

import numpy as np

from shoal.partition.optimal.problem import Problem


def drawn_table(kind: str, n: int, d: int) -> np.ndarray:
    """Return n scaled records of d columns."""
    rng = np.random.default_rng([n, d])
    if kind == "normal":
        x = rng.normal(size=(n, d))
    elif kind == "clusters":
        centres = 10.0 * rng.normal(size=(40, d))
        x = centres[rng.integers(len(centres), size=n)] + rng.normal(size=(n, d))
    elif kind == "integers":
        x = np.round(3.0 * rng.normal(size=(n, d)))
    else:
        x = rng.standard_t(1.5, size=(n, d))
    return (x - x.mean(axis=0)) / x.std(axis=0)


def problem_of(x: np.ndarray, k: int, blocks: np.ndarray | None = None) -> Problem:
    """Return the problem of records that may be in blocks."""
    return Problem(x, None, np.zeros(len(x), dtype=np.int64) if blocks is None else blocks, None, k)
