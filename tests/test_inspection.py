"""What inspect proposes for tables like those that people have: each role is sensible, and the plan runs as it is."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

import shoal
from command_line import run
from shoal.tables.missing_codes import CERTAIN, DOUBTFUL
from tables_like_those_of_people import (
    CATEGORY,
    IDENTIFIER,
    MISSING,
    QUASI,
    READING,
    TABLES,
    WEIGHT,
    N,
    holes,
    write,
)


def roles_of(found, types):
    """Return the roles, with categories as a role of their own."""
    return {
        p.profile.name: CATEGORY
        if p.role == QUASI
        and (
            p.nominal or p.hierarchy or not (types[p.profile.name].is_numeric() or types[p.profile.name].is_temporal())
        )
        else str(p.role)
        for p in found.proposals
    }


@pytest.mark.parametrize("name", TABLES)
def test_every_role_is_sensible_and_the_plan_runs_as_it_is(tmp_path, name):
    path, expected = write(name, tmp_path)
    found = shoal.inspect(path)
    plan = found.plan(k=5)
    assert sorted(plan.reading.missing) == sorted(MISSING.get(name, ()))
    settings = plan.reading.model_dump(exclude_defaults=True)
    settings.pop("missing", None)
    assert settings == READING.get(name, {})
    found.write(tmp_path / "plan.yaml", k=5)
    release = shoal.protect(path, plan=tmp_path / "plan.yaml", method="sa-mdav", output=tmp_path / "out.csv")
    assert roles_of(found, release.original.schema) == expected
    assert release.summary.smallest_group >= 5
    assert not {column for column, role in expected.items() if role == IDENTIFIER} & set(release.data.columns)


def test_a_plan_runs_with_its_own_method_too(tmp_path):
    path, _ = write("household_survey", tmp_path)
    shoal.inspect(path).write(tmp_path / "plan.yaml")
    done = run("protect", path, "-o", tmp_path / "out.csv", "--plan", tmp_path / "plan.yaml", "--steps", 100)
    assert done.exit_code == 0, done.stderr
    assert "semantic-optimal" in done.stdout


@pytest.mark.parametrize("mark", [*CERTAIN, *DOUBTFUL])
def test_the_usual_texts_for_missing_values_are_proposed_where_the_rest_are_numbers(tmp_path, mark):
    rng = np.random.default_rng(1)
    path = tmp_path / "t.csv"
    values = holes(rng, rng.integers(0, 5000, 100), mark, 0.2)
    path.write_text("x,y\n" + "".join(f"{v},{w}\n" for v, w in zip(values, rng.integers(0, 900, 100), strict=True)))
    found = shoal.inspect(path)
    if mark in ("nan", "NaN"):  # read as missing without being told
        assert found.reading.missing in ((), (mark,))
    else:
        assert found.reading.missing == (mark,)
        assert any(mark in note and "'x'" in note for note in found.notes)
        assert mark in json.dumps(found.plan().to_dict())
    assert found.proposals[0].profile.kind == "numeric"
    assert found.proposals[0].profile.missing == values.count(mark)
    assert not found.proposals[0].nominal
    shoal.protect(path, plan=found.plan(), method="mdav")


@pytest.mark.parametrize("mark", CERTAIN)
def test_among_names_certain_marks_are_proposed(tmp_path, mark):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "".join(f"{['red', 'green', mark][i % 3]},{i}\n" for i in range(60)))
    assert shoal.inspect(path).reading.missing == (mark,)


@pytest.mark.parametrize("mark", DOUBTFUL)
def test_among_names_doubtful_marks_are_only_asked_about(tmp_path, mark):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "".join(f"{['some', 'all', mark][i % 3]},{i * i % 7}.5\n" for i in range(60)))
    found = shoal.inspect(path)
    assert found.reading.missing == ()
    assert any(note.startswith(f"does {mark} mark missing values in 'x'?") for note in found.notes)


def test_namibia_is_not_missing(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("country,y\n" + "".join(f"{['NA', 'ZA', 'BW', 'AO'][i % 4]},{i * i % 7}.5\n" for i in range(60)))
    found = shoal.inspect(path)
    assert found.reading.missing == ()
    assert any("does NA mark missing values in 'country'?" in note for note in found.notes)


@pytest.mark.parametrize("code", [-9, -99, -999, -9999, -8, -98, 99, 999, 9999, 998])
@pytest.mark.parametrize("memory", [False, True])
def test_numbers_for_missing_values_are_asked_about_and_never_applied(tmp_path, code, memory):
    rng = np.random.default_rng(2)
    values = np.where(rng.random(200) < 0.1, code, rng.integers(0, 60, 200))
    table = pl.DataFrame({"x": values, "y": rng.normal(size=200)})
    table.write_csv(tmp_path / "t.csv")
    found = shoal.inspect(table if memory else tmp_path / "t.csv")
    count = int((values == code).sum())
    questions = [note for note in found.notes if note.startswith("does")]
    assert len(questions) == 1
    assert questions[0].startswith(f"does {code} mark missing values in 'x' ({count} records)?")
    assert found.reading.missing == ()
    assert found.proposals[0].profile.missing == 0
    assert f"# {questions[0]}" in found.to_yaml()


@pytest.mark.parametrize(
    "values",
    [
        np.arange(200) % 100,  # 99 is the next after 98
        np.arange(200) % 91 + 9,
        -np.arange(200),
        np.random.default_rng(0).normal(0, 100, 200).round(),
        np.arange(200) % 10,
        np.exp(np.random.default_rng(0).normal(8, 2, 200)).round(),
    ],
    ids=["0 to 99", "9 to 99", "negative", "both signs", "digits", "money"],
)
def test_ordinary_numbers_raise_no_question(values):
    assert not [note for note in shoal.inspect(pl.DataFrame({"x": values})).notes if note.startswith("does")]


def test_value_labels_make_categories_of_numbers(tmp_path):
    pyreadstat = pytest.importorskip("pyreadstat")
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(
        {
            "q17": rng.integers(1, 15, N).astype(float),
            "pay": rng.integers(900, 9000, N).astype(float),
            "wt": rng.uniform(1, 5, N),
        }
    )
    frame.loc[:20, "pay"] = 99999.0
    labels = {"q17": {float(i): f"answer {i}" for i in range(1, 15)}, "pay": {99999.0: "no answer"}}
    missing = {"pay": [{"lo": 99999.0, "hi": 99999.0}]}
    for path, more in ((tmp_path / "t.sav", {"missing_ranges": missing}), (tmp_path / "t.dta", {})):
        write_file = pyreadstat.write_sav if path.suffix == ".sav" else pyreadstat.write_dta
        formats = {"variable_format": {"q17": "F3.0", "pay": "F6.0"}} if path.suffix == ".sav" else {}
        write_file(frame, str(path), variable_value_labels=labels, **formats, **more)
        found = shoal.inspect(path)
        by_name = {p.profile.name: p for p in found.proposals}
        assert (by_name["q17"].role, by_name["q17"].nominal) == (QUASI, True)
        assert "labels" in by_name["q17"].reason
        assert (by_name["pay"].role, by_name["pay"].nominal) == (QUASI, False)
        assert by_name["wt"].role == WEIGHT
        asked = [note for note in found.notes if "does 99999 mark" in note]
        assert len(asked) == (path.suffix == ".dta")  # declared in SPSS
        shoal.protect(path, plan=found.plan(), method="sa-mdav")


@pytest.mark.parametrize("index", ["named", "names"])
def test_an_identifier_in_a_pandas_index_is_seen(index):
    table = pd.DataFrame({"age": np.arange(60) % 7 + 30})
    table.index = (
        pd.Index(np.arange(60) + 7, name="person_id") if index == "named" else [f"Person {i}" for i in range(60)]
    )
    found = shoal.inspect(table)
    assert any(note.startswith("the index") and "direct identifier" in note for note in found.notes)
    assert "the index" in found.to_yaml()


def test_texts_for_missing_values_in_memory_are_told_and_not_put_into_the_plan():
    rng = np.random.default_rng(5)
    table = pd.DataFrame({"x": holes(rng, rng.choice(["a", "b"], 100), "NA"), "y": rng.normal(size=100)})
    found = shoal.inspect(table)
    assert any("does NA mark missing values in 'x'? If so, make them missing before" in note for note in found.notes)
    shoal.protect(table, plan=found.plan(), method="sa-mdav")


def test_a_sampling_weight_beside_a_height_is_a_weight_and_the_weight_of_a_body_is_not():
    rng = np.random.default_rng(6)
    height = rng.normal(170, 10, 300)
    survey = pl.DataFrame({"height": height, "weight": rng.uniform(50, 100, 300)})
    body = pl.DataFrame({"height": height, "weight": height - 100 + rng.normal(0, 10, 300)})
    assert [str(shoal.inspect(table).proposals[1].role) for table in (survey, body)] == [WEIGHT, QUASI]
    kilos = pl.DataFrame({"weight_kg": rng.uniform(50, 100, 300)})
    assert str(shoal.inspect(kilos).proposals[0].role) == QUASI


def test_dates_that_cannot_be_read_are_categories_and_their_guise_is_told(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("when,y\n" + "".join(f"0{i % 9 + 1}/03/2020,{i % 11}.5\n" for i in range(90)))
    found = shoal.inspect(path)
    assert found.proposals[0].nominal
    assert "dates as text" in found.proposals[0].reason
    shoal.protect(path, plan=found.plan(), method="sa-mdav")


def test_no_value_but_a_usual_code_is_shown(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(
        "x,y\n" + "".join(f"{'SECRET' if i % 2 else 'NA'},{-99 if i % 3 else 7654321}\n" for i in range(60))
    )
    found = shoal.inspect(path)
    shown = json.dumps(found.to_dict()) + found.to_yaml() + run("inspect", path).output
    assert "SECRET" not in shown
    assert "7654321" not in shown


def test_a_printed_inspection_has_a_line_for_each_column_and_for_each_note():
    table = pl.DataFrame({"age": [30, 31, 99, 52] * 10, "person_id": range(40)})
    found = shoal.inspect(table)
    lines = str(found).splitlines()
    assert lines[0] == "40 records"
    assert " ".join(lines[1].split()) == "age numeric quasi-identifier: a number that could single somebody out"
    assert lines[2].startswith("person_id  numeric  identifier: ")
    assert lines[3:] == [f"note: {note}" for note in found.notes]


def test_categories_are_quasi_identifiers_and_codes_in_levels_have_the_hierarchy_of_their_prefixes():
    table = pl.DataFrame(
        {
            "nace": ["10.11", "10.12", "46.1", "47.11"] * 15,
            "city": ["Rome", "Oslo", "Bonn"] * 20,
            "postcode": ["north", "south"] * 30,  # no codes, whatever the name says
            "isco": [2111, 2112, 5120] * 20,
        }
    )
    found = shoal.inspect(table)
    assert [str(p.role) for p in found.proposals] == [QUASI] * 4
    assert [p.hierarchy for p in found.proposals] == [{"prefixes": True}, None, None, {"prefixes": True}]
    assert not any("distances" in p.reason for p in found.proposals)
    release = shoal.protect(table, plan=found.plan(5))
    assert release.summary.smallest_group >= 5
    assert set(release.data["nace"]) <= set(shoal.load_hierarchy({"prefixes": True}, table["nace"].unique()).names)
