"""shoal.measure: its ends, what it accepts and refuses, the release and the command line."""

from __future__ import annotations

import datetime
import json
import math

import numpy as np
import polars as pl
import pytest

import shoal
from command_line import run

REQUIRED = [
    *("information_loss", "pil", "il1s", "dbrl", "interval_disclosure", "dr", "score", "global_risk", "k_anonymity"),
]
QUASI = ["age", "height", "hours", "income"]


@pytest.fixture(scope="module")
def survey():
    return shoal.example(200)


@pytest.fixture(scope="module")
def release(survey):
    return shoal.protect(survey, 5, QUASI, identifiers="name", confidential=["satisfied"], method="mdav")


@pytest.fixture
def files(tmp_path, survey, release):
    survey.write_csv(tmp_path / "survey.csv")
    release.data.write_csv(tmp_path / "release.csv")
    return tmp_path / "survey.csv", tmp_path / "release.csv"


def without_time(found):
    return {name: value for name, value in found.to_dict().items() if name != "seconds"}


def plain(value):
    if isinstance(value, dict):
        return all(isinstance(key, str) and plain(part) for key, part in value.items())
    if isinstance(value, list):
        return all(map(plain, value))
    return value is None or isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))


# the ends


@pytest.mark.parametrize("columns", [QUASI, ["age", "income", "region"], ["height"]], ids=["numbers", "mixed", "one"])
def test_a_table_that_was_not_changed_has_lost_nothing_and_scores_50(survey, columns):
    distinct = survey.unique(columns, maintain_order=True).drop_nulls(columns)
    found = shoal.measure(distinct, distinct, columns)
    assert (found.information_loss, found.pil, found.il1s, found.suppressed_cells) == (0.0, 0.0, 0.0, 0)
    assert (found.dbrl, found.interval_disclosure, found.interval_records_sd) == (100.0, 100.0, 100.0)
    assert found.score == 50.0
    assert found.kolmogorov_smirnov == found.wasserstein == found.eigenvalue_difference == 0.0
    assert found.pmse == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(("name", "distinct"), [("tarragona", 832), ("census", 1080)])
def test_the_reference_sets_score_50_unprotected_and_less_protected(reference_data, name, distinct):
    table = pl.read_csv(reference_data / "casc" / f"{name}.csv")
    assert len(table.unique()) == distinct
    found = shoal.measure(table, table)
    # equal records share their links: two of Tarragona's records are copies of others
    assert found.dbrl == pytest.approx(100 * distinct / len(table))
    assert found.score == pytest.approx(50.0, abs=0.1)
    assert shoal.protect(table, 5, table.columns, method="mdav").measure().score < 45.0


def test_everything_replaced_by_the_mean_or_mode_has_lost_100(survey):
    survey = survey.with_columns(pl.col("age", "height").cast(pl.Float64))
    means = survey.with_columns(pl.col("age", "height").mean(), region=pl.lit(survey["region"].mode()[0]))
    found = shoal.measure(survey, means, ["age", "height", "region"])
    assert found.information_loss == pytest.approx(100.0)
    assert found.numeric_loss == pytest.approx(100.0)
    assert found.category_loss == 100.0
    assert found.dbrl == pytest.approx(100 / 200)
    assert found.k_anonymity == 200
    assert found.pil_parts["mean"] == pytest.approx(0.0, abs=1e-6)
    assert found.pil_parts["variance"] == found.pil_parts["correlation"] == pytest.approx(100.0)
    assert found.coefficients_kept == 0.0


def test_everything_suppressed_has_lost_everything(survey):
    nothing = survey.with_columns(pl.lit(None).cast(survey[name].dtype).alias(name) for name in ("age", "region"))
    found = shoal.measure(survey, nothing, ["age", "region"])
    assert found.information_loss == pytest.approx(100.0)
    assert found.pil == 100.0
    assert found.suppressed_cells == 400
    assert (found.interval_disclosure, found.kolmogorov_smirnov, found.wasserstein) == (0.0, 1.0, None)
    assert found.dbrl == pytest.approx(0.5)
    assert plain(found.to_dict())


# what comes back


def test_figures_are_plain_and_each_has_a_sentence(release):
    found = release.measure()
    assert plain(found.to_dict())
    assert json.loads(json.dumps(found.to_dict())) == found.to_dict()
    assert set(REQUIRED) <= set(found)
    assert set(shoal.MEASURES) <= set(found)
    assert all(m.sentence.endswith(".") and m.name == name for name, m in shoal.MEASURES.items())
    assert len(found) == len(list(found))
    assert found["dbrl"] == found.dbrl
    with pytest.raises(KeyError):
        found["nothing"]
    assert list(found.by_column) == QUASI


def test_a_release_measures_itself_against_what_went_in(survey, release):
    direct = shoal.measure(survey, release.data, QUASI, confidential="satisfied")
    assert without_time(release.measure()) == without_time(direct)
    assert release.measure(known="age").dbrl < direct.dbrl
    assert release.measure().confidential == ["satisfied"]


def test_the_number_of_threads_changes_nothing(release):
    assert without_time(release.measure(threads=1)) == without_time(release.measure(threads=3))


def test_measures_that_do_not_apply_are_none_and_a_note_says_why(survey):
    texts = shoal.measure(survey, survey, ["region"])
    for name in ("pil", "il1s", "interval_disclosure", "dr", "score", "numeric_loss", "coefficients_kept"):
        assert texts[name] is None
    assert any("there are no numbers" in note for note in texts.notes)
    assert texts.information_loss == 0.0
    numbers = shoal.measure(survey, survey, ["age"])
    assert (numbers.category_loss, numbers.table_distance, numbers.l_diversity) == (None, None, None)
    assert numbers.correlation_difference is None
    assert any("there are no categories" in note for note in numbers.notes)
    assert any("no confidential columns" in note for note in numbers.notes)


def test_without_quasi_identifiers_all_columns_of_both_are_taken(survey, release):
    found = shoal.measure(survey, release.data, confidential="satisfied", weight="weight")
    assert found.quasi_identifiers == [*QUASI, "region"]
    assert found.numeric == QUASI
    assert found.categorical == ["region"]
    assert any("all columns of both tables" in note for note in found.notes)
    assert any(note.endswith("not measured: name") for note in found.notes)


def test_any_kind_of_table_gives_the_same_figures(survey, release):
    expected = without_time(shoal.measure(survey, release.data, [*QUASI, "region"]))
    for convert in (lambda t: t.to_pandas(), lambda t: t.to_arrow()):
        found = without_time(shoal.measure(convert(survey), convert(release.data), [*QUASI, "region"]))
        assert found.keys() == expected.keys()
        for name in REQUIRED:
            assert found[name] == pytest.approx(expected[name], rel=1e-9), name


def test_whole_numbers_may_be_released_as_fractions_and_dates_in_other_units():
    days = [datetime.date(2020, 1, 1) + datetime.timedelta(days=d) for d in (0, 2, 10, 14)]
    before = pl.DataFrame({"n": [10**15, 10**15 + 2, 10**15 + 4, 10**15 + 8], "day": days})
    after = pl.DataFrame({"n": [1e15 + 1, 1e15 + 1, 1e15 + 6, 1e15 + 6], "day": days}).with_columns(
        pl.col("day").cast(pl.Datetime("ns"))
    )
    found = shoal.measure(before, after)
    assert found.by_column["n"]["information_loss"] == pytest.approx(100 * (1 + 1 + 4 + 4) / 35)
    assert found.by_column["day"]["information_loss"] == 0.0


def test_numbers_that_were_released_as_text_are_compared_as_categories():
    before = pl.DataFrame({"age": [20, 21, 40, 41]})
    after = pl.DataFrame({"age": ["20-29", "20-29", "40", "41"]})
    found = shoal.measure(before, after)
    assert found.categorical == ["age"]
    assert found.by_column["age"]["changed_cells"] == 50.0
    assert any("compared as categories" in note for note in found.notes)


def test_a_constant_column_plays_no_part_unless_it_was_changed():
    before = pl.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "c": [5.0] * 4})
    same = shoal.measure(before, before)
    assert (same.score, same.information_loss) == (50.0, 0.0)
    assert any("constant in the original" in note for note in same.notes)
    changed = shoal.measure(before, before.with_columns(c=pl.lit(6.0)))
    assert changed.by_column["c"]["pil"] == pytest.approx(100 * 2 / 3)


# what is refused


def test_all_mistakes_are_told_at_once(survey, release):
    with pytest.raises(shoal.PlanError) as caught:
        shoal.measure(survey, release.data, ["agee", "hours"], confidential=["hours", "name"], weight="w", known="x")
    text = str(caught.value)
    assert "column 'agee' is not in the original; did you mean 'age'?" in text
    assert "confidential: column 'name' is not in the release" in text
    assert "'hours' is a quasi-identifier and confidential" in text
    assert "weight: column 'w' is in neither table" in text
    assert "known: column 'x' is not in the original" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"threads": 0}, "threads: must be at least 1"),
        ({"quasi_identifiers": []}, "name at least one column"),
        ({"quasi_identifiers": ["age", "age"]}, "column 'age' is named twice"),
        ({"reading": {"delimiter": ";"}}, "reading: delimiter has no effect on any of the tables"),
        ({"quasi_identifiers": ["age"], "population": pl.DataFrame({"ag": [1]})}, "population: column 'age' is not in"),
    ],
)
def test_wrong_arguments_are_refused(survey, arguments, message):
    with pytest.raises(shoal.PlanError, match=message):
        shoal.measure(survey, survey, **arguments)


def test_tables_that_do_not_fit_are_refused(survey):
    with pytest.raises(shoal.DataError, match="the original has 200 records and the release 199"):
        shoal.measure(survey, survey[:199], ["age"])
    with pytest.raises(shoal.DataError, match="1 record; there is nothing to measure"):
        shoal.measure(survey[:1], survey[:1], ["age"])
    with pytest.raises(shoal.DataError, match="no column in common"):
        shoal.measure(survey.select("age"), survey.select("hours"))
    lists = pl.DataFrame({"x": [[1], [2]]})
    with pytest.raises(shoal.DataError, match="column 'x' is neither numbers, dates nor categories"):
        shoal.measure(lists, lists, ["x"])
    infinite = pl.DataFrame({"x": [1.0, math.inf]})
    with pytest.raises(shoal.DataError, match="infinite"):
        shoal.measure(infinite, infinite)
    with pytest.raises(shoal.FileError, match="give it the ending"):
        shoal.measure(survey, survey, ["age"], output="figures.txt")


# the command line


def test_the_command_prints_one_json_object(files, survey, release):
    result = run("measure", *files, "-q", ",".join(QUASI), "--confidential", "satisfied", "--json")
    assert result.exit_code == 0
    assert result.stdout.count("\n") == 1
    found = json.loads(result.stdout)
    direct = release.measure()
    for name in REQUIRED:
        assert found[name] == pytest.approx(direct[name], rel=1e-9)
    assert found["l_diversity"] == direct.l_diversity
    assert result.stderr.startswith("note: ")


def test_the_command_prints_sentences_and_writes_a_file(files, tmp_path):
    out = tmp_path / "figures.json"
    result = run("measure", *files, "-q", "age,hours", "-q", "region", "--known", "age", "-o", out)
    assert result.exit_code == 0
    assert "record linkage (DBRL)" in result.stdout
    assert "SCORE" in result.stdout
    assert "l-diversity" not in result.stdout
    assert "region" in result.stdout
    written = json.loads(out.read_text())
    assert written["quasi_identifiers"] == ["age", "hours", "region"]
    assert written["known"] == ["age"]


def test_every_option_of_the_command_has_its_effect(files, tmp_path, survey):
    population = tmp_path / "people.csv"
    pl.concat([survey, survey]).write_csv(population)
    words = ["-q", "age,region", "--weight", "weight", "--blocking", "region", "--population", population]
    result = run("measure", *files, *words, "--threads", 1, "--json")
    found = json.loads(result.stdout)
    direct = shoal.measure(*files, ["age", "region"], weight="weight", blocking="region", population=population)
    assert {n: v for n, v in found.items() if n != "seconds"} == without_time(direct)
    assert found["delta_presence"][1] >= 0.5
    assert direct.global_risk < shoal.measure(*files, ["age", "region"]).global_risk


def test_marks_of_missing_values_are_read(tmp_path):
    (tmp_path / "a.csv").write_text("x;y\n1;2\n3;4\n5;6\n7;8\n")
    (tmp_path / "b.csv").write_text("x;y\n1;2\n*;4\n5;*\n7;8\n")
    result = run("measure", tmp_path / "a.csv", tmp_path / "b.csv", "--missing", "*", "--delimiter", ";", "--json")
    assert json.loads(result.stdout)["suppressed_cells"] == 2


def test_a_mistake_ends_with_status_2_and_writes_nothing(files, tmp_path):
    out = tmp_path / "figures.json"
    result = run("measure", *files, "-q", "agee", "-o", out)
    assert result.exit_code == 2
    assert "did you mean 'age'?" in result.stderr
    assert not out.exists()
    assert run("measure", files[0], tmp_path / "nothing.csv").exit_code == 2


def test_no_value_of_a_cell_is_in_an_error_or_note(tmp_path):
    secret = pl.DataFrame({"x": [123456789.5, 2.0], "t": ["topsecret", "b"]})
    with pytest.raises(shoal.DataError) as caught:
        shoal.measure(secret, secret[:1])
    found = shoal.measure(secret, secret.with_columns(x=pl.lit("123456789.5")))
    for text in (str(caught.value), *found.notes):
        assert "topsecret" not in text
        assert "123456789" not in text


def test_a_million_cells_need_no_matrix_of_distances():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(30_000, 2))
    table = pl.DataFrame({"a": x[:, 0], "b": x[:, 1]})
    assert shoal.measure(table, table).dbrl == 100.0


@pytest.mark.parametrize(
    "table",
    [
        pl.DataFrame({"x": [1.0, 2.0]}),
        pl.DataFrame({"x": [None, None, None], "y": [1, 2, 3]}, schema={"x": pl.Float64, "y": pl.Int64}),
        pl.DataFrame({"x": [None, None], "y": [None, None]}, schema={"x": pl.String, "y": pl.Float64}),
        pl.DataFrame({"x": [1.0] * 5, "y": ["a"] * 5}),
        pl.DataFrame({"x": [True, False, None]}),
        pl.DataFrame({f"column {j}": np.random.default_rng(j).normal(size=70) for j in range(60)}),
        pl.DataFrame({"<b>'x'\"": [1e300, -1e300, 0.0], "y\n": [1e-300, 0.0, 2e-300]}),
        pl.DataFrame({"x": [0, 2**63 - 1, 5], "y": pl.Series([2**63, 2**63 + 5, 2**63 + 9], dtype=pl.UInt64)}),
    ],
    ids=["two rows", "empty column", "nothing", "constant", "true or false", "60 columns", "extremes", "64 bits"],
)
def test_unusual_tables_are_measured(table):
    found = shoal.measure(table, table)
    assert plain(found.to_dict())
    assert found.information_loss == 0.0
    assert found.score in (None, pytest.approx(50.0)) or found.dbrl < 100.0
    assert found.suppressed_cells == 0


def test_tables_that_can_be_told_apart_perfectly_have_the_largest_pmse():
    x = np.arange(100.0)
    assert shoal.measure(pl.DataFrame({"x": x}), pl.DataFrame({"x": x + 1000.0})).pmse == pytest.approx(0.25, abs=0.01)
