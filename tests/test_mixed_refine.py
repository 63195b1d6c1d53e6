"""Refining the groups of methods for columns of any kind: the record loss of what is released falls, k holds."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.partition.methods import METHODS

K = 3
TREE = {"job": {"health": ["nurse", "doctor", "carer"], "food": ["cook", "baker"], "office": ["clerk", "lawyer"]}}
SETTINGS = {"hierarchies": {"job": {"tree": TREE}}, "orders": {"school": ["low", "mid", "high"]}}
METHODS_OF_ANY_KIND = [name for name, one in METHODS.items() if one.mixed and one.search is None and len(one.kinds) > 3]


def people(n: int, missing: bool, repeated: bool) -> pl.DataFrame:
    rng = np.random.default_rng([n, missing, repeated])
    jobs = [job for part in TREE["job"].values() for job in part]
    table = pl.DataFrame(
        {
            "age": rng.integers(20, 30 if repeated else 90, n),
            "pay": np.round(rng.lognormal(size=n), 0 if repeated else 3),
            "job": rng.choice(jobs, n),
            "school": rng.choice(["low", "mid", "high"], n),
            "sex": rng.choice(["f", "m"], n),
            "weight": rng.integers(1, 5, n).astype(float),
        }
    )
    if missing:
        table = table.with_columns(
            pl.when(pl.Series(rng.random(n) < 0.1)).then(None).otherwise(pl.col(name)).alias(name)
            for name in ("age", "job", "sex")
        )
    return table


def protect(table: pl.DataFrame, method: str, **settings: object) -> shoal.Release:
    quasi = [name for name in table.columns if name != "weight"]
    return shoal.protect(
        table, K, quasi, method=method, aggregators={"job": "centroid"}, **SETTINGS, **{"confidential": [], **settings}
    )


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weights"])
@pytest.mark.parametrize("repeated", [False, True], ids=["", "repeated"])
@pytest.mark.parametrize("missing", [False, True], ids=["", "missing"])
@pytest.mark.parametrize("method", METHODS_OF_ANY_KIND)
def test_refining_lowers_the_record_loss_and_keeps_k(method, missing, repeated, weighted):
    table = people(150, missing, repeated)
    settings = {"weight": "weight"} if weighted else {}
    table = table if weighted else table.drop("weight")
    plain = protect(table, method, **settings)
    refined = protect(table, method, refine=True, **settings)
    # equal records with different weights count with the mean of them in the search
    slack = 1.02 if weighted else 1.0 + 1e-9
    assert refined.summary.record_loss <= slack * plain.summary.record_loss
    assert refined.summary.record_loss < 0.97 * plain.summary.record_loss or refined.summary.record_loss < 1.0
    assert np.bincount(refined.groups).min() >= K


def test_refined_groups_are_the_same_for_any_number_of_threads_and_in_regions():
    table = people(6200, missing=False, repeated=False).drop("weight")
    one = protect(table, "mondrian-ordered", refine=True, threads=1)
    two = protect(table, "mondrian-ordered", refine=True, threads=3)
    assert np.array_equal(one.groups, two.groups)
    assert one.summary.record_loss < 0.8 * protect(table, "mondrian-ordered").summary.record_loss


def test_blocks_are_refined_by_themselves():
    table = people(600, missing=True, repeated=False).drop("weight")
    blocking = {"method": "univariate", "columns": ["pay"], "size": 200}
    plain, refined = (protect(table, "sa-mdav", refine=on, blocking=blocking) for on in (False, True))
    assert refined.summary.record_loss < plain.summary.record_loss


def test_what_refining_does_not_look_at_is_refused():
    table = people(60, missing=False, repeated=False).drop("weight")
    with pytest.raises(shoal.PlanError, match="column 'job' where it is released as centroid or least-squares, not as"):
        shoal.protect(table, K, table.columns, method="mondrian-mixed", refine=True, **SETTINGS)
    with pytest.raises(shoal.PlanError, match="refine: does not look at which combinations occur"):
        shoal.protect(table, K, table.columns, method="sa-mdav", refine=True, combinations="observed", **SETTINGS)
    with pytest.raises(shoal.PlanError, match="refine: has no effect with method 'semantic-optimal'"):
        protect(table, "semantic-optimal", refine=True)
