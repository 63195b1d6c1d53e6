"""Guesses that single out one record fall with k; without any other system."""

from __future__ import annotations

import numpy as np
import pandas as pd

import shoal


def singled_out(original, released):
    """How many guesses from released records fit one original record only, as a part of the original records.

    A guess says of every column whether it is at least, or at most, what was released, by the side of the median (M.
    Giomi, F. Boenisch, C. Wehmeyer and B. Tasnadi, PoPETs 2023), without their control group.
    """
    x, y = original.to_numpy(), np.unique(released.to_numpy(), axis=0)
    middle = np.median(x, axis=0)
    fits = np.ones((len(y), len(x)), dtype=bool)
    for j in range(x.shape[1]):
        high = y[:, j] > middle[j]
        fits &= np.where(high[:, None], x[None, :, j] >= y[:, None, j], x[None, :, j] <= y[:, None, j])
    return (fits.sum(axis=1) == 1).sum() / len(x)


def test_singling_out_falls_with_k():
    rng = np.random.default_rng(3)
    table = pd.DataFrame(rng.normal(size=(600, 4)), columns=list("abcd"))
    found = [singled_out(table, table)]
    for k in (2, 5, 20):
        found.append(singled_out(table, pd.DataFrame(shoal.protect(table, k, list("abcd"), method="mdav").data)))
    assert found == sorted(found, reverse=True)
    assert found[0] > 4 * found[-1]
