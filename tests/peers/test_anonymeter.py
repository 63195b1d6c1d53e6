"""Singling out, as anonymeter attacks a release (M. Giomi, F. Boenisch, C. Wehmeyer and B. Tasnadi, PoPETs 2023).

A guess is a condition on one or some columns that exactly one released record fits, where records that are equal count
once; it succeeds where exactly one original record fits it. What agreement means here:

- the guesses that succeed are those that all guesses of its kind, written down here, come to: all of them on single
  columns, and on several, which it draws at random, nearly all and no others;
- the original as its own release is singled out by every guess, as k = 1 says, and a release by the fewer the larger
  its k is;
- guesses on a column that is kept are its values that occur once: as many as our finding counts.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import shoal

evaluators = pytest.importorskip("anonymeter.evaluators", reason="anonymeter is not there: make test-peers")
NAMES = list("abcd")


def table(n=300, seed=3):
    return pd.DataFrame(np.random.default_rng(seed).normal(size=(n, 4)).round(2), columns=NAMES)


def released(k, how):
    if k == 1:
        return table()
    sets = [[name] for name in NAMES] if how == "univariate" else NAMES
    release = shoal.protect(table(), k, sets, method=how)
    if how != "univariate":
        assert release.measure().k_anonymity >= k
    return pd.DataFrame(release.data)


def attacked(original, data, mode, attacks, columns=2):
    """The guesses of the attack that succeed."""
    found = evaluators.SinglingOutEvaluator(
        ori=original, syn=data, n_attacks=attacks, n_cols=columns, max_attempts=40_000, seed=1
    )
    return found.evaluate(mode=mode)


def fitting(rows, columns, seen, middle):
    """How many rows fit each guess: at least what was seen where that is above the middle, at most that otherwise."""
    own, high = rows[None][:, :, columns], seen > middle[columns]
    return np.where(high[:, None], own >= seen[:, None], own <= seen[:, None]).all(axis=2).sum(axis=1)


def all_of_several(original, data, columns=2):
    """How many guesses on several columns there are, and how many of them succeed."""
    x, y = np.unique(original.to_numpy(), axis=0), np.unique(data.to_numpy(), axis=0)
    middle = np.median(y, axis=0)
    made = succeeded = 0
    for some in map(list, combinations(range(x.shape[1]), columns)):
        seen = np.unique(y[:, some], axis=0)
        singled = fitting(y, some, seen, middle) == 1
        made += int(singled.sum())
        succeeded += int((singled & (fitting(x, some, seen, middle) == 1)).sum())
    return made, succeeded


def all_of_one(original, data):
    """The same for single columns: at most the least, at least the greatest, and values that occur once."""
    x, y = np.unique(original.to_numpy(), axis=0), np.unique(data.to_numpy(), axis=0)
    succeeded = 0
    for j in range(x.shape[1]):
        if (y[:, j] == y[:, j].min()).sum() == 1:
            succeeded += (x[:, j] <= y[:, j].min()).sum() == 1
        if (y[:, j] == y[:, j].max()).sum() == 1:
            succeeded += (x[:, j] >= y[:, j].max()).sum() == 1
        values, counts = np.unique(y[:, j], return_counts=True)
        succeeded += sum((x[:, j] == value).sum() == 1 for value in values[counts == 1])
    return int(succeeded)


@pytest.mark.parametrize("how", ["mdav", "univariate"])
@pytest.mark.parametrize("k", [1, 2, 5])
def test_guesses_that_succeed_are_those_of_all(k, how):
    data = released(k, how)
    assert len(attacked(table(), data, "univariate", 5000).queries()) == all_of_one(table(), data)
    made, succeeded = all_of_several(table(), data)
    theirs = len(attacked(table(), data, "multivariate", 5000).queries())
    assert 0.9 * succeeded <= theirs <= succeeded
    assert (succeeded == made) == (k == 1)


def test_the_original_is_singled_out_by_every_guess_and_a_release_less_the_larger_k_is():
    assert shoal.measure(table(), table(), quasi_identifiers=NAMES).k_anonymity == 1
    risks = [attacked(table(), released(k, "mdav"), "multivariate", 60).risk() for k in (1, 2, 10)]
    assert risks[0].ci[0] <= 1.0 <= risks[0].ci[1] + 1e-9
    assert risks[0].ci[0] > risks[1].ci[1]
    assert [risk.value for risk in risks] == sorted((risk.value for risk in risks), reverse=True)


def test_kept_values_that_occur_once_are_guessed():
    original = table().assign(code=np.concatenate([np.arange(200), np.repeat(np.arange(200, 250), 2)]).astype(str))
    release = shoal.protect(original, 3, NAMES, method="mdav")
    unique = next(found for found in release.summary.kept_columns if found.kind == "unique")
    assert unique.columns == ["code"]
    queries = attacked(original, pd.DataFrame(release.data), "univariate", 5000).queries()
    assert sum("code" in str(one) for one in queries) == unique.records == 200
