"""Edit rules on categories: kept where they bind numbers and names together, whatever the kind of the column."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import shoal

RULES = ["if age < 18 then married = 'no'", "sex in {F, M}", "size in {1, 2, 3}"]


def people(n=300, seed=0):
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 90, n)
    return pl.DataFrame(
        {
            "age": age,
            "sex": rng.choice(["F", "M"], n),
            "size": rng.choice([1, 2, 3], n),
            "married": np.where(age < 18, "no", rng.choice(["yes", "no"], n)),
        }
    )


@pytest.mark.parametrize("method", ["semantic-optimal", "mdav-generic", "k-modes", "mondrian-mixed"])
@pytest.mark.parametrize("nominal", [[], ["size"]], ids=["size as a number", "size as a name"])
def test_rules_over_numbers_and_names_hold_in_the_release(method, nominal):
    table = people()
    release = shoal.protect(
        table,
        k=5,
        quasi_identifiers=["age", "sex", "size", "married"],
        nominal=nominal,
        rules=RULES,
        method=method,
        options={"steps": 20_000} if method == "semantic-optimal" else {},
    )
    out = release.data
    assert out.filter((pl.col("age") < 18) & (pl.col("married") != "no")).is_empty()
    assert set(out["sex"]) <= {"F", "M"}
    assert set(out["size"]) <= {1, 2, 3}
    assert out.schema == table.schema
    assert release.summary.smallest_group >= 5
    assert [rule.violations_after for rule in release.summary.rules] == [0, 0, 0]
    assert all(rule.guaranteed for rule in release.summary.rules)


def test_the_antecedent_of_few_records_is_kept_with_categories():
    """Three minors among 300, and k = 10: their stratum cannot stand alone, and the rule holds all the same."""
    table = people(seed=1).with_columns(age=pl.when(pl.int_range(0, 300) < 3).then(15).otherwise(pl.col("age") + 20))
    table = table.with_columns(married=pl.when(pl.col("age") < 18).then(pl.lit("no")).otherwise(pl.col("married")))
    release = shoal.protect(
        table, k=10, quasi_identifiers=["age", "sex", "married"], rules=RULES[:2], method="mdav-generic"
    )
    assert release.data.filter((pl.col("age") < 18) & (pl.col("married") != "no")).is_empty()
    assert release.summary.smallest_group >= 10
