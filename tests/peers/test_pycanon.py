"""k, l and t of our releases as pycanon measures them (J. Sáinz-Pardo and Á. López, Scientific Data 9, 2022).

Its measures agree with ours but for these, each of which is shown here:

- the l of its entropy is rounded down to a whole number;
- its c of recursive (c, l)-diversity comes from the counts in rising order, so that it compares the rarest value of a
  group with the others, where the definition compares the most frequent one; ours follows the definition;
- it drops records whose quasi-identifier is missing, and a confidential value that is missing is no value.
"""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest

import shoal
from given_away_by_definition import by_group, people

anonymity = pytest.importorskip("pycanon.anonymity", reason="pycanon is not there: make test-peers")

CASES = [
    ({"method": "mdav"}, None),
    ({"method": "mdav"}, {"t": 0.2}),
    ({"method": "k-first"}, {"t": 0.15}),
    ({"method": "t-first"}, {"t": 0.1}),
    ({"method": "p-sensitive"}, {"distinct": 3}),
    ({"method": "optimal", "options": {"steps": 3000}}, {"entropy": 2.2, "distinct": 3}),
    ({"method": "mdav"}, {"recursive": [2.5, 2]}),
]
QUASI = ["x", "y"]


def release_of(column, how, asked, k):
    table = people(200, seed=5).select("x", "y", "pay", "kind").to_pandas()
    table["pay"] = table["pay"].astype(float)
    given = {"conditions": {column: asked}} if asked else {"confidential": column}
    release = shoal.protect(table, k, QUASI, **how, **given)
    return release, pd.DataFrame(release.data)


@pytest.mark.parametrize(("how", "asked"), CASES, ids=str)
@pytest.mark.parametrize("column", ["pay", "kind"])
@pytest.mark.parametrize("k", [3, 6])
def test_k_l_and_t_are_the_same(column, how, asked, k):
    if column == "kind":
        if how["method"] in ("k-first", "t-first"):
            pytest.skip("needs numbers in an order")
        asked = {"t": 0.45} if asked and "t" in asked else asked
        asked = {"entropy": 1.6, "distinct": 2} if asked and "entropy" in asked else asked
    release, data = release_of(column, how, asked, k)
    assert anonymity.k_anonymity(data, QUASI) == release.summary.smallest_group == release.measure().k_anonymity
    for found in release.summary.conditions:
        theirs = {
            "distinct": anonymity.l_diversity(data, QUASI, [column]),
            "t": anonymity.t_closeness(data, QUASI, [column]),
        }
        for name in set(found.reached) & set(theirs):
            assert found.reached[name] == pytest.approx(theirs[name], abs=1e-6)
        if "entropy" in found.reached:
            assert int(found.reached["entropy"] + 1e-9) == anonymity.entropy_l_diversity(data, QUASI, [column])


def test_its_recursive_diversity_is_that_of_the_rarest_value():
    release, data = release_of("pay", {"method": "mdav"}, {"recursive": [2.5, 2]}, 5)
    c, least = anonymity.recursive_c_l_diversity(data, QUASI, ["pay"])
    counts = [sorted(Counter(group).values()) for group in by_group(data["pay"].tolist(), release.groups)]
    assert least == min(map(len, counts)) >= 2
    assert c == max(math.floor(own[0] / sum(own[least - 1 :]) + 1) for own in counts)
    by_definition = max(own[-1] / sum(own[: len(own) - 1]) for own in counts)
    assert release.summary.conditions[0].reached["recursive"] == pytest.approx(by_definition)
    assert by_definition < 2.5


def test_it_drops_records_with_a_missing_quasi_identifier():
    ages = pd.DataFrame({"age": [30.0, 30.0, np.nan], "ill": ["a", "b", "c"]})
    assert anonymity.k_anonymity(ages, ["age"]) == 2
    assert shoal.measure(ages, ages, quasi_identifiers=["age"]).k_anonymity == 1
