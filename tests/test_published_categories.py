"""Table 5 of A. Veltmann (UPC, 2022): Adult by occupation and native country, with the hierarchies of WordNet 3.1.

The figures with the hierarchies are not in its text, so the cells come out nearly and not exactly: which of the two
hypernyms of a person was taken, and where some countries were put, is read off from what comes nearest.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import shoal

pytest.importorskip("nltk", reason="the extra wordnet is not installed")
WORDS = Path(__file__).resolve().parents[1] / "benchmarks" / "hierarchies"
TABLE_5 = {  # global risk and loss in percent at k = 2, 6, 10, as printed
    "sa-mondrian": {2: (1.08, 0.082), 6: (0.66, 0.434), 10: (0.48, 0.710)},
    "mondrian-ordered": {2: (1.08, 0.101), 6: (0.65, 0.526), 10: (0.46, 0.847)},
    "sa-mdav": {2: (1.16, 0.084), 6: (0.78, 0.608), 10: (0.60, 1.116)},
}


@pytest.fixture(scope="module")
def adult(reference_data):
    if not (reference_data / "nltk_data").is_dir():
        pytest.skip("WordNet 3.1 not found in the reference data")
    table = pl.read_csv(reference_data / "adult" / "adult.data", has_header=False)
    table = table.with_columns(pl.col(pl.String).str.strip_chars())
    table = table.filter(~pl.any_horizontal(pl.col(pl.String) == "?") & pl.nth(1).is_not_null())
    table = table.select(pl.nth(6).alias("occupation"), pl.nth(13).alias("country"))
    wordnet = {"folder": str(reference_data / "nltk_data"), "version": "3.1"}
    jobs = wordnet | {"words": str(WORDS / "adult-occupation-words.csv"), "parents": {"person": "causal_agent"}}
    places = wordnet | {"words": str(WORDS / "adult-country-words.csv"), "parents": {"Taiwan": "asian_country"}}
    return table, {"occupation": {"wordnet": jobs}, "country": {"wordnet": places}}


@pytest.fixture(scope="module")
def found(adult):
    table, hierarchies = adult
    return {
        (method, k): shoal.protect(table, k, table.columns, method=method, hierarchies=hierarchies).summary
        for method, row in TABLE_5.items()
        for k in row
    }


@pytest.mark.parametrize("method", TABLE_5)
def test_adult_comes_near_to_the_paper(found, method):
    for k, (risk, loss) in TABLE_5[method].items():
        summary = found[method, k]
        assert summary.distinct_before == 394
        assert summary.smallest_group >= k
        assert summary.global_risk == pytest.approx(risk, abs=0.05)
        assert summary.record_loss == pytest.approx(loss, rel=0.4)


def test_the_paper_s_order_of_the_methods_comes_out(found):
    """SA-Mondrian below the simple Mondrian, SA-MDAV with the highest risk, and with the highest loss at k = 10."""
    others = ("sa-mondrian", "mondrian-ordered")
    for k in (2, 6, 10):
        assert found["sa-mondrian", k].record_loss < found["mondrian-ordered", k].record_loss
        assert found["sa-mdav", k].global_risk > max(found[method, k].global_risk for method in others)
    assert found["sa-mdav", 10].record_loss > max(found[method, 10].record_loss for method in others)


def test_a_shuffle_of_the_rows_changes_nothing(adult, found):
    """Siblings from WordNet were in the order of the rows: SA-Mondrian lost from 0.370 to 0.475 % at k = 6."""
    table, hierarchies = adult
    shuffled = table.sample(fraction=1.0, shuffle=True, seed=5)
    summary = shoal.protect(shuffled, 6, table.columns, method="sa-mondrian", hierarchies=hierarchies).summary
    assert summary.record_loss == pytest.approx(found["sa-mondrian", 6].record_loss)
    assert summary.groups == found["sa-mondrian", 6].groups
    assert summary.record_loss < 0.37
