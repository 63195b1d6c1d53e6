"""One loss: by its definition on tables of any kind, and the same figure wherever it is told."""

from __future__ import annotations

import json
import re

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import shoal
import slow_measures as slow
from shoal.cli import program
from shoal.columns.hierarchy import grow

TREE = {"job": {"health": ["nurse", {"doctor": ["surgeon"]}], "food": ["cook", "baker"], "farm": ["farmer"]}}
PARENTS = {
    "health": "job", "food": "job", "farm": "job", "nurse": "health", "doctor": "health", "surgeon": "doctor",
    "cook": "food", "baker": "food", "farmer": "farm",
}  # fmt: skip
LEVELS = ["none", "school", "college"]
KINDS = {
    "age": ("number",),
    "day": ("number",),
    "town": ("nominal",),
    "code": ("nominal",),
    "school": ("ordinal", LEVELS),
    "job": ("semantic", PARENTS, shoal.load_hierarchy({"tree": TREE}).names),
}
SAID = {"hierarchies": {"job": {"tree": TREE}}, "orders": {"school": LEVELS}, "nominal": ["code"]}
SCHEMA = {"age": pl.Int64, "day": pl.Date, "town": pl.String, "code": pl.Int64, "school": pl.String, "job": pl.String}
CELLS = [
    st.integers(-20, 20),
    st.integers(0, 400),
    st.sampled_from(["A", "B", "C", "D"]),
    st.integers(1, 4),
    st.sampled_from(LEVELS),
    st.sampled_from(list(KINDS["job"][2])),
]
RECORDS = st.tuples(*(st.none() | cells for cells in CELLS))


def frame(rows):
    return pl.DataFrame(rows, schema={**SCHEMA, "day": pl.Int32}, orient="row").with_columns(
        pl.col("day").cast(pl.Date)
    )


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(RECORDS, RECORDS), min_size=2, max_size=15),
    st.dictionaries(st.sampled_from(list(KINDS)), st.floats(0.1, 10.0)),
)
def test_the_loss_of_any_release_of_any_kind_is_that_of_the_definition(rows, weights):
    before, after = ([pair[side] for pair in rows] for side in (0, 1))
    found = shoal.measure(frame(before), frame(after), list(KINDS), column_weights=weights, scaling="range", **SAID)
    expected = slow.losses(list(KINDS.values()), before, after, [weights.get(name, 1.0) for name in KINDS])
    assert found.information_loss == pytest.approx(expected["table"], rel=1e-9, abs=1e-9)
    assert found.information_loss == pytest.approx(100 * found.sse / found.sst if found.sst else 0.0)
    for name, (sse, sst) in zip(KINDS, expected["column"], strict=True):
        assert found.by_column[name]["information_loss"] == pytest.approx(100 * sse / sst if sst else 0.0, abs=1e-9)
    sse, sst = expected["record"]
    assert found.record_loss == pytest.approx(100 * sse / sst if sst else 0.0, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("holes", [0.0, 0.2])
def test_on_numbers_it_is_the_squared_error_of_z_scores(holes):
    rng = np.random.default_rng(3)
    x = rng.lognormal(size=(200, 4)) * [1, 1e6, 1e-6, 10] + [0, 1e9, 0, -5]
    y = x + rng.normal(size=x.shape) * x.std(axis=0) / 3
    if holes:
        x[rng.random(x.shape) < holes] = np.nan
        y[rng.random(x.shape) < holes] = np.nan
    before, after = (pl.DataFrame(m, schema=list("abcd")).fill_nan(None) for m in (x, y))
    found = shoal.measure(before, after)
    assert found.information_loss == pytest.approx(slow.information_loss(x, y), rel=1e-9)
    assert found.sst == pytest.approx((~np.isnan(x)).sum(), rel=1e-12)
    assert found.record_loss is None


def people(records=160, seed=0, holes=0.1):
    rng = np.random.default_rng(seed)
    table = pl.DataFrame(
        {
            "age": rng.integers(18, 80, records),
            "day": rng.integers(0, 400, records),
            "town": rng.choice(["A", "B", "C", "D"], records, p=[0.5, 0.2, 0.2, 0.1]),
            "code": rng.integers(1, 5, records),
            "school": rng.choice(LEVELS, records),
            "job": rng.choice(["nurse", "surgeon", "cook", "baker", "farmer"], records),
        }
    ).with_columns(pl.col("day").cast(pl.Int32).cast(pl.Date))
    missing = {name: rng.random(records) < holes for name in table.columns}
    return table.with_columns(
        pl.when(pl.Series(gone)).then(None).otherwise(pl.col(name)).alias(name) for name, gone in missing.items()
    )


def told_by(page):
    """The loss wherever a report tells it: in its sentence, its tile and its table of measures."""
    places = [
        "Information loss: ",
        'information loss</span><span class="figure">',
        'information loss</th><td class="n">',
    ]
    return [float(re.search(place + r"([\d.]+)\s%", page)[1]) for place in places]


def check_it_is_told_alike(table, folder, k, method, said, scaling=None):
    """Compare summary, measure, sweep, command line and report of the same release; returns its summary."""
    path = folder / "table.csv"
    table.write_csv(path)
    names = table.columns
    more = {} if scaling is None else {"scaling": scaling}
    release = shoal.protect(path, k, names, method=method, output=folder / "release.csv", **said, **more)
    summary, measured = release.summary, release.measure()
    loss, record = summary.information_loss, summary.record_loss
    assert measured.information_loss == pytest.approx(loss, rel=1e-12)
    assert measured.record_loss == pytest.approx(record, rel=1e-9)
    assert {name: own["information_loss"] for name, own in measured.by_column.items()} == pytest.approx(
        summary.loss_by_column, rel=1e-12
    )
    files = (path, folder / "release.csv")
    again = shoal.measure(*files, names, **said, **more)
    assert (again.information_loss, again.record_loss) == pytest.approx((loss, record), rel=1e-9)
    (row,) = shoal.sweep(path, str(k), [method], names, **said, **more).results
    assert (row.information_loss, row.record_loss) == pytest.approx((loss, record), rel=1e-12)
    pytest.importorskip("jinja2", reason="the extra report is not installed")
    for page in (shoal.report_page(release), shoal.write_report(*files, folder / "report.html").read_text()):
        assert told_by(page) == [round(loss, 2)] * 3
    return summary


@pytest.mark.parametrize("method", ["sa-mondrian", "mondrian-mixed", "mdav-generic"])
@pytest.mark.parametrize(
    "more", [{}, {"column_weights": {"age": 3, "job": 0.5}}], ids=["columns alike", "columns weighted"]
)
def test_the_loss_is_told_alike_everywhere(tmp_path, method, more):
    summary = check_it_is_told_alike(people(), tmp_path, 4, method, {**SAID, **more})
    assert summary.suppressed_cells > 0
    assert summary.information_loss != pytest.approx(summary.record_loss, rel=1e-3)


def test_the_loss_is_told_alike_with_another_scaling_and_sets(tmp_path):
    table = people(holes=0.0)
    check_it_is_told_alike(table, tmp_path, 3, "sa-mondrian", SAID, scaling="range")
    sets = [["age", "town"], ["day", "code", "school", "job"]]
    release = shoal.protect(table, 3, sets, method="sa-mondrian", **SAID)
    measured = release.measure()
    assert measured.information_loss == pytest.approx(release.summary.information_loss, rel=1e-12)
    assert measured.record_loss == pytest.approx(release.summary.record_loss, rel=1e-12)


def test_the_loss_of_adult_with_hierarchies_is_told_alike(reference_data, tmp_path):
    names = {0: "age", 1: "work", 3: "education", 5: "marital", 6: "job", 9: "sex", 12: "hours"}
    table = pl.read_csv(reference_data / "adult" / "adult.data", has_header=False)
    table = table.with_columns(pl.col(pl.String).str.strip_chars().replace("?", None)).filter(pl.nth(1).is_not_null())
    table = table.select(pl.nth(place).alias(name) for place, name in names.items())
    table = table.with_columns(pl.col("age", "hours").cast(pl.String).str.strip_chars().cast(pl.Int64)).head(3000)
    tree = {
        "any": {
            "manual": ["Craft-repair", "Machine-op-inspct", "Transport-moving", "Handlers-cleaners", "Farming-fishing"],
            "office": ["Adm-clerical", "Exec-managerial", "Prof-specialty", "Sales", "Tech-support"],
            "service": ["Other-service", "Protective-serv", "Priv-house-serv", "Armed-Forces"],
        }
    }
    married = ["Married-civ-spouse", "Married-AF-spouse", "Married-spouse-absent"]
    marital = {"any": {"married": married, "single": ["Never-married", "Divorced", "Separated", "Widowed"]}}
    schools = ["Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad", "Some-college"]
    schools += ["Assoc-voc", "Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate"]
    (tmp_path / "job.yaml").write_text(json.dumps(tree))
    said = {
        "hierarchies": {"job": tmp_path / "job.yaml", "marital": {"tree": marital}},
        "orders": {"education": schools},
        "column_weights": {"job": 2},
    }
    summary = check_it_is_told_alike(table, tmp_path, 5, "sa-mondrian", said)
    assert summary.information_loss != pytest.approx(summary.record_loss, rel=0.01)


def test_the_command_line_measures_columns_as_what_they_are(tmp_path):
    table = people()
    (tmp_path / "job.yaml").write_text(json.dumps(TREE))
    release = shoal.protect(
        table, 4, table.columns, method="sa-mondrian", scaling="range", column_weights={"age": 3}, **SAID
    )
    for name, one in (("before", table), ("after", release.data)):
        one.write_csv(tmp_path / f"{name}.csv")
    words = ["measure", str(tmp_path / "before.csv"), str(tmp_path / "after.csv"), "-q", ",".join(table.columns)]
    words += ["--hierarchy", f"job={tmp_path / 'job.yaml'}", "--order", f"school={','.join(LEVELS)}"]
    words += ["--nominal", "code", "--column-weight", "age=3", "--scaling", "range", "--json"]
    result = CliRunner().invoke(program, words)
    assert result.exit_code == 0, result.stderr
    told = json.loads(result.stdout)
    assert told["information_loss"] == pytest.approx(release.summary.information_loss, rel=1e-9)
    assert told["record_loss"] == pytest.approx(release.summary.record_loss, rel=1e-9)
    assert "code" in told["categorical"]


def test_a_sweep_does_not_use_results_of_another_hierarchy_file(tmp_path, monkeypatch):
    monkeypatch.setattr("shoal.sweeps.outcome.can_draw", lambda: False)  # which takes longer than all else
    table = people(holes=0.0).select("job", "age")
    file = tmp_path / "job.yaml"
    asked = {"k": "3,4", "methods": ["sa-mondrian"], "quasi_identifiers": ["job", "age"]}

    def swept(tree):
        file.write_text(json.dumps(tree))
        return shoal.sweep(table, **asked, hierarchies={"job": file}, output=tmp_path / "sweep")

    first, same = swept(TREE), swept(TREE)
    assert (first.reused, same.reused) == (0, 2)
    other = swept({"job": {"one": ["nurse", "cook", "farmer"], "two": ["surgeon", "baker"]}})
    assert other.reused == 0
    assert [r.information_loss for r in other.results] != [r.information_loss for r in first.results]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"orders": {"age": ["1", "2"]}}, "not in the given order"),
        ({"orders": {"size": ["S", "M"]}}, "orders: column 'size' is not a quasi-identifier"),
        ({"orders": {"town": ["A"]}}, "orders.town: give at least two values"),
        ({"nominal": "size"}, "nominal: column 'size' is not a quasi-identifier"),
        ({"column_weights": {"age": 0}}, "column_weights.age: must be above 0"),
        ({"nominal": "town", "hierarchies": {"town": grow([("A", "x")])}}, "column 'town' is in hierarchies and in"),
        ({"scaling": "ranges"}, "scaling: there is no 'ranges'; did you mean 'range'?"),
        ({"scaling": "range", "nominal": "age"}, "scaling: has no effect without both numbers and categories"),
    ],
)
def test_what_is_said_about_columns_is_checked(said, words):
    table = people(40, holes=0.0).select("age", "town")
    with pytest.raises((shoal.PlanError, shoal.DataError), match=re.escape(words)):
        shoal.measure(table, table, **said)
