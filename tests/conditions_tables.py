"""Tables with several records of a person, and how tests of conditions on groups protect them."""

import numpy as np
import polars as pl
from hypothesis import settings

import shoal

CASES = settings(deadline=None, max_examples=60)


def visits(people=40, each=5, seed=1):
    """Records of people, those of each close together."""
    rng = np.random.default_rng(seed)
    n = people * each
    place = np.repeat(rng.normal(size=(people, 2)), each, axis=0) + 0.001 * rng.normal(size=(n, 2))
    return pl.DataFrame(
        {
            "patient": [f"p{i // each}" for i in range(n)],
            "x": place[:, 0],
            "y": place[:, 1],
            "side": [["east", "west"][i // each % 2] for i in range(n)],
            "kind": [["a", "b", "c"][i // each % 3] for i in range(n)],
        }
    )


def protect(table, k=5, columns=("x", "y"), **more):
    return shoal.protect(table, k, list(columns), identifiers="patient", **{"method": "mdav", **more})


def by_group(column, groups):
    parts = {}
    for value, group in zip(column.to_list(), groups.tolist(), strict=True):
        parts.setdefault(group, []).append(value)
    return list(parts.values())
