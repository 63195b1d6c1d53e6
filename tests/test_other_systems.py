"""Figures of other systems on our releases: k, l and t by pycanon, and singling out by the attack of anonymeter.

pycanon is no dependency: it asks for older versions of scipy and typer than shoal is tested with. Its measures need
nothing but numpy and pandas, so ``pip install --no-deps pycanon`` makes these tests run. anonymeter needs numpy 1: the
guesses of its attack are written down here after M. Giomi, F. Boenisch, C. Wehmeyer and B. Tasnadi, A unified framework
for quantifying privacy risk in synthetic data, PoPETs 2023, without its control group.
"""

from __future__ import annotations

import importlib

import numpy as np
import pandas as pd
import pytest

import shoal
from given_away_by_definition import people

CASES = [
    ({"method": "mdav"}, None),
    ({"method": "mdav"}, {"t": 0.2}),
    ({"method": "k-first"}, {"t": 0.15}),
    ({"method": "t-first"}, {"t": 0.1}),
    ({"method": "p-sensitive"}, {"distinct": 3}),
    ({"method": "optimal", "options": {"steps": 3000}}, {"entropy": 2.2, "distinct": 3}),
]


def anonymity():
    try:
        return importlib.import_module("pycanon.anonymity")
    except ImportError:
        pytest.skip("pycanon is not there: pip install --no-deps pycanon")


@pytest.mark.parametrize(("how", "asked"), CASES, ids=str)
@pytest.mark.parametrize("k", [3, 6])
def test_k_l_and_t_are_those_of_pycanon(how, asked, k):
    theirs = anonymity()
    table = people(200, seed=5).select("x", "y", "pay", "kind").to_pandas()
    table["pay"] = table["pay"].astype(float)
    given = {"conditions": {"pay": asked}} if asked else {"confidential": "pay"}
    release = shoal.protect(table, k, ["x", "y"], **how, **given)
    data, quasi = pd.DataFrame(release.data), ["x", "y"]
    assert theirs.k_anonymity(data, quasi) == release.summary.smallest_group
    measured = release.measure()
    assert theirs.k_anonymity(data, quasi) == measured.k_anonymity
    for found in release.summary.conditions:
        own = {"distinct": theirs.l_diversity(data, quasi, ["pay"]), "t": theirs.t_closeness(data, quasi, ["pay"])}
        for name in set(found.reached) & set(own):
            assert found.reached[name] == pytest.approx(own[name], abs=1e-6)
        if "entropy" in found.reached:  # theirs is rounded down to a whole number
            assert int(found.reached["entropy"] + 1e-9) == theirs.entropy_l_diversity(data, quasi, ["pay"])


def singled_out(original, released):
    """How many guesses from released records fit one original record only, as a part of the original records.

    A guess says of every column whether it is at least, or at most, what was released, by the side of the median.
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
