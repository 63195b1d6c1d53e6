"""Tables of persons in households, and what a release of them must keep, counted without code of shoal."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl

HOUSEHOLD, PERSON = ("rooms", "rent"), ("age", "wage")


def survey(households=120, seed=1, largest=4, missing=0.0):
    """Return a survey of households: those with many members last, members side by side."""
    rng = np.random.default_rng(seed)
    sizes = np.sort(rng.integers(1, largest + 1, households))
    n = int(sizes.sum())

    def of_each(values):
        return np.repeat(np.asarray(values), sizes)

    rent = np.exp(rng.normal(6.5, 0.4, households)).round(2)
    wage = np.exp(rng.normal(7.5, 0.6, n)).round(1)
    gaps = rng.random(households) < missing
    return pl.DataFrame(
        {
            "hid": of_each(90_000 + 7 * rng.permutation(households)),
            "pno": np.concatenate([np.arange(size) + 1 for size in sizes]),
            "region": of_each(rng.choice(["east", "west"], households)),
            "tenure": of_each(rng.choice(["own", "rent", "free"], households)),
            "rooms": of_each(rng.integers(1, 9, households)),
            "rent": [None if gap else value for gap, value in zip(of_each(gaps), of_each(rent), strict=True)],
            "weight": of_each(rng.uniform(50, 300, households).round(1)),
            "sex": rng.choice(["f", "m"], n),
            "age": rng.integers(0, 95, n),
            "wage": [None if gap else value for gap, value in zip(rng.random(n) < missing, wage, strict=True)],
        }
    )


def fewest_households(original, released, sets, *, sizes=True, hid="hid"):
    """Return the fewest households of a key of some set, missing cells and the size of the household included."""
    ids = original[hid].to_list()
    size = Counter(ids)
    fewest = len(size)
    for names in sets:
        homes = {}
        for one, *key in zip(ids, *(released[name].to_list() for name in names), strict=True):
            homes.setdefault((*key, size[one] if sizes else None), set()).add(one)
        fewest = min(fewest, *map(len, homes.values()))
    return fewest


def inside(original, released, names, hid="hid"):
    """Return whether all members of each household have the same values of some columns."""
    seen = {}
    rows = zip(original[hid].to_list(), *(released[name].to_list() for name in names), strict=True)
    return all(seen.setdefault(one, key) == key for one, *key in rows)


def same_members(original, released, hid="hid"):
    """Return whether two columns of numbers tell the same households apart."""
    pairs = set(zip(original[hid].to_list(), released[hid].to_list(), strict=True))
    return len(pairs) == original[hid].n_unique() == released[hid].n_unique()
