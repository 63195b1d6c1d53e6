"""Measures of categories by their meaning, against loops over records, and what the paper says of its data."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
import slow_measures as slow
from command_line import run
from shoal.columns.hierarchy import grow
from slow_hierarchy import trees

PLACES = [("Spain", "Europe"), ("France", "Europe"), ("Europe", "world"), ("Japan", "Asia"), ("Asia", "world")]
JOBS = [("baker", "craft"), ("smith", "craft"), ("craft", "work"), ("clerk", "office"), ("office", "work")]
BEFORE = pl.DataFrame(
    {
        "place": ["Spain", "Spain", "France", "Japan", "Japan", "France", "Europe", None],
        "job": ["baker", "clerk", "baker", "smith", "clerk", "office", "clerk", "clerk"],
    }
)
AFTER = pl.DataFrame(
    {
        "place": ["Europe", "Spain", "Europe", "world", "Spain", None, "Europe", None],
        "job": ["baker", "clerk", "craft", "craft", "clerk", "clerk", "clerk", None],
    }
)


def measured(before=BEFORE, after=AFTER, **options):
    options.setdefault("hierarchies", {"place": grow(PLACES), "job": grow(JOBS)})
    return shoal.measure(before, after, ["place", "job"], **options)


def test_the_loss_is_that_of_the_definition():
    found = measured()
    kinds = [("semantic", dict(tree), grow(tree).names) for tree in (PLACES, JOBS)]
    expected = slow.losses(kinds, BEFORE.rows(), AFTER.rows())
    sse, sst = expected["record"]
    assert (found.semantic_sse, found.semantic_sst) == pytest.approx((sse, sst))
    assert found.semantic_loss == found.record_loss == pytest.approx(100 * sse / sst)
    for name, (own, whole) in zip(("place", "job"), expected["column"], strict=True):
        assert found.by_column[name]["information_loss"] == pytest.approx(100 * own / whole)
    assert found.information_loss == found.category_loss == pytest.approx(expected["table"])


def test_cells_are_counted_by_what_became_of_them():
    found = measured()
    for j, (name, tree) in enumerate((("place", dict(PLACES)), ("job", dict(JOBS)))):
        rows = zip(BEFORE.rows(), AFTER.rows(), strict=True)
        expected = Counter(slow.fate(tree, before[j], after[j]) for before, after in rows if before[j] is not None)
        assert found.by_column[name]["generalised_cells"] == expected["generalised"]
        assert found.by_column[name]["replaced_cells"] == expected["replaced"]
        assert found.by_column[name]["suppressed_cells"] == expected["suppressed"]
    assert found.generalised_cells == 5
    assert found.root_cells == 1
    assert found.replaced_cells == 2
    assert found.suppressed_cells == 2


def test_combinations_are_counted():
    found = measured()
    before, after = Counter(BEFORE.rows()), Counter(AFTER.rows())
    assert found.distinct_before == len(before)
    assert found.distinct_after == len(after)
    assert found.introduced_combinations == len(set(after) - set(before))
    assert found.lost_combinations == len(set(before) - set(after))
    assert found.introduced_records == sum(count for key, count in after.items() if key not in before)
    changed = sum(a != b for a, b in zip(BEFORE.rows(), AFTER.rows(), strict=True))
    assert found.changed_records == 100 * changed / len(BEFORE)
    assert found.global_risk == pytest.approx(100 * len(after) / len(AFTER))


@settings(max_examples=30)
@given(trees(10), trees(10), st.data())
def test_the_loss_of_any_release_is_that_of_the_definition(one, two, data):
    grown = {name: grow(pairs, root=root) for name, (pairs, root) in zip(("place", "job"), (one, two), strict=True)}
    nodes = [tree.names for tree in grown.values()]
    kinds = [("semantic", dict(pairs), names) for (pairs, _), names in zip((one, two), nodes, strict=True)]
    rows = st.lists(st.tuples(*(st.sampled_from([*names, None]) for names in nodes * 2)), min_size=2, max_size=12)
    drawn = data.draw(rows)
    before, after = [row[:2] for row in drawn], [row[2:] for row in drawn]
    frames = [
        pl.DataFrame(table, schema={"place": pl.String, "job": pl.String}, orient="row") for table in (before, after)
    ]
    found = measured(*frames, hierarchies=grown)
    expected = slow.losses(kinds, before, after)
    assert (found.semantic_sse, found.semantic_sst) == pytest.approx(expected["record"], abs=1e-9)
    assert found.information_loss == pytest.approx(expected["table"], abs=1e-6)


def test_categories_without_a_hierarchy_are_equal_or_not():
    found = measured(hierarchies=None)
    differs = [
        [before is not None and after is not None and before != after for before, after in zip(*pair, strict=True)]
        for pair in zip(BEFORE.rows(), AFTER.rows(), strict=True)
    ]
    assert found.generalised_cells == 0
    assert found.replaced_cells == sum(map(sum, differs))
    assert found.semantic_loss > 0


@pytest.mark.parametrize("distance", ["path", "information-content", "jiang-conrath"])
def test_other_distances_change_the_loss(distance, tmp_path):
    (tmp_path / "place.csv").write_text("".join(f"{child};{parent}\n" for child, parent in PLACES))
    source = {"file": tmp_path / "place.csv"}
    plain, other = (
        measured(hierarchies={"place": source | more, "job": grow(JOBS)}) for more in ({}, {"distance": distance})
    )
    assert plain.semantic_loss == pytest.approx(measured().semantic_loss)
    assert other.semantic_loss != pytest.approx(plain.semantic_loss)


def test_values_that_are_not_in_the_hierarchy_are_listed():
    wrong = AFTER.with_columns(pl.col("place").replace("Spain", "Span"))
    with pytest.raises(shoal.DataError, match=r"column 'place': 1 value is not in the hierarchy: 'Span', did you mean"):
        measured(BEFORE, wrong)


def test_a_hierarchy_of_a_column_that_is_not_measured_is_an_error():
    with pytest.raises(shoal.PlanError, match="hierarchies: column 'age' is not a quasi-identifier"):
        measured(hierarchies={"age": grow(JOBS)})


def test_the_command_line_takes_hierarchies(tmp_path):
    for name, frame in (("before", BEFORE), ("after", AFTER)):
        frame.write_csv(tmp_path / f"{name}.csv")
    (tmp_path / "place.csv").write_text("".join(f"{child};{parent}\n" for child, parent in PLACES))
    (tmp_path / "job.yaml").write_text("work: {craft: [baker, smith], office: [clerk]}\n")
    words = ["measure", "before.csv", "after.csv", "-q", "place,job", "--json"]
    words += ["--hierarchy", "place=place.csv", "--hierarchy", "job=job.yaml"]
    words = [str(tmp_path / word) if word.startswith(("before", "after")) else word for word in words]
    words = [word.replace("=", f"={tmp_path}/") for word in words]
    result = run(*words)
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["semantic_loss"] == pytest.approx(measured().semantic_loss)


def test_the_global_risk_of_adult_is_that_of_the_paper(reference_data):
    """Veltmann (2022), Table 5: 394 combinations of 30162 records, 1.31 %."""
    from shoal.measures.keys import number_keys
    from shoal.measures.risk import global_risk

    table = pl.read_csv(reference_data / "adult" / "adult.data", has_header=False, separator=",")
    table = table.with_columns(pl.col(pl.String).str.strip_chars()).filter(
        ~pl.any_horizontal(pl.col(pl.String) == "?") & pl.nth(1).is_not_null()
    )
    assert len(table) == 30162
    pair = table.select(pl.nth(6), pl.nth(13))
    codes = [np.unique(pair[name], return_inverse=True)[1].astype(np.float64) for name in pair.columns]
    keys = number_keys(codes)
    assert len(keys.sizes) == 394
    assert f"{global_risk(keys):.2f}" == "1.31"
    assert (int((keys.sizes < 2).sum()), int(keys.sizes[keys.sizes < 5].sum())) == (84, 497)
