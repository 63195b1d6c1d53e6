"""What measure and report take from the manifest or a plan, and rows that do not belong together."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import shoal
from command_line import run

JOBS = "cook,service\nwaiter,service\nclerk,office\nnurse,health\ndoctor,health\nservice,*\noffice,*\nhealth,*\n"


@pytest.fixture
def made(tmp_path):
    """A weighted table with a hierarchy and another delimiter, and its release with the manifest beside it."""
    rng = np.random.default_rng(3)
    n = 120
    table = pl.DataFrame(
        {
            "name": [f"person {i}" for i in range(n)],
            "age": rng.integers(18, 90, n),
            "job": rng.choice(["cook", "waiter", "clerk", "nurse", "doctor"], n),
            "ill": rng.choice(["yes", "no"], n),
            "w": rng.lognormal(0, 1, n).round(3) + 0.1,
        }
    )
    table.write_csv(tmp_path / "people.csv", separator=";")
    (tmp_path / "jobs.csv").write_text(JOBS)
    (tmp_path / "plan.yaml").write_text(
        "k: 4\nmethod: s-mdav\nquasi_identifiers: [age, job]\nidentifiers: [name]\nconfidential: [ill]\nweight: w\n"
        f"hierarchies: {{job: '{tmp_path / 'jobs.csv'}'}}\nreading: {{delimiter: ';'}}\ncolumn_weights: {{age: 2}}\n"
    )
    shoal.protect(tmp_path / "people.csv", plan=tmp_path / "plan.yaml", output=tmp_path / "release.csv")
    return tmp_path


def figures(found):
    return {name: value for name, value in found.to_dict().items() if name not in ("notes", "seconds")}


def test_measure_takes_from_the_manifest_what_release_measure_takes_from_the_plan(made):
    release = shoal.protect(made / "people.csv", plan=made / "plan.yaml")
    found = shoal.measure(made / "people.csv", made / "release.csv")
    assert figures(found) == figures(release.measure())
    assert (found.quasi_identifiers, found.weight, found.confidential) == (["age", "job"], "w", ["ill"])
    assert found.semantic == ["job"]
    assert any("manifest" in note for note in found.notes)


def test_measure_takes_a_plan_where_there_is_no_manifest(made):
    with_manifest = shoal.measure(made / "people.csv", made / "release.csv")
    (made / "release.csv.manifest.json").unlink()
    assert shoal.measure(made / "people.csv", made / "release.csv", reading={"delimiter": ";"}).weight is None
    by_path = shoal.measure(made / "people.csv", made / "release.csv", plan=made / "plan.yaml")
    by_plan = shoal.measure(made / "people.csv", made / "release.csv", plan=shoal.Plan.load(made / "plan.yaml"))
    assert figures(by_path) == figures(by_plan) == figures(with_manifest)


def test_what_is_said_to_measure_wins_over_the_manifest(made):
    found = shoal.measure(made / "people.csv", made / "release.csv", ["age"], confidential="job", weight="w")
    assert (found.quasi_identifiers, found.confidential, found.semantic) == (["age"], ["job"], [])
    flat = shoal.measure(made / "people.csv", made / "release.csv", nominal="job", column_weights={"age": 1.0})
    assert flat.semantic == []
    assert flat.information_loss == pytest.approx(np.mean([own["information_loss"] for own in flat.by_column.values()]))


def test_a_manifest_of_another_release_is_left_out(made):
    released = made / "release.csv"
    rows = released.read_text().splitlines()
    released.write_text("\n".join([*rows[:-1], rows[-2]]) + "\n")
    found = shoal.measure(made / "people.csv", released, "age", reading={"delimiter": ";"})
    assert found.weight is None
    assert any("another release" in note for note in found.notes)


def test_a_hierarchy_that_is_not_that_of_the_release_is_told(made):
    told = "the hierarchy of 'job' is another than that of the release"
    assert not any(told in note for note in shoal.measure(made / "people.csv", made / "release.csv").notes)
    (made / "jobs.csv").write_text(JOBS.replace("waiter,service", "waiter,office"))
    found = shoal.measure(made / "people.csv", made / "release.csv")
    assert found.semantic == ["job"]
    assert any(told in note for note in found.notes)


def test_the_command_measures_by_the_manifest_or_by_a_plan(made):
    done = run("measure", made / "people.csv", made / "release.csv", "--json")
    found = json.loads(done.stdout)
    assert found["weight"] == "w"
    (made / "release.csv.manifest.json").unlink()
    again = run("measure", made / "people.csv", made / "release.csv", "--plan", made / "plan.yaml", "--json")
    assert json.loads(again.stdout)["information_loss"] == found["information_loss"]
    shown = run("measure", made / "people.csv", made / "release.csv", "--plan", made / "plan.yaml", "--interval", "5")
    assert "inside an interval of 5 %" in shown.stdout


def test_a_report_takes_a_plan_or_hierarchies_where_there_is_no_manifest(made):
    (made / "release.csv.manifest.json").unlink()
    shoal.write_report(made / "people.csv", made / "release.csv", made / "by_plan.html", plan=made / "plan.yaml")
    assert "Groups of at least k = 4 records" in (made / "by_plan.html").read_text()
    shoal.write_report(
        made / "people.csv",
        made / "release.csv",
        made / "by_hand.html",
        ["age", "job"],
        hierarchies={"job": made / "jobs.csv"},
        reading={"delimiter": ";"},
    )
    page = (made / "by_hand.html").read_text()
    assert "loss of meaning" in page
    assert "└── " in page
    done = run(
        *("report", made / "people.csv", made / "release.csv", "-o", made / "by_command.html", "-q", "age,job"),
        *("--hierarchy", f"job={made / 'jobs.csv'}", "--delimiter", ";"),
    )
    assert done.exit_code == 0
    assert "loss of meaning" in (made / "by_command.html").read_text()


def survey(n=300):
    table = shoal.example(n).drop("name")
    return table, shoal.protect(table, 5, ["age", "height"]).data


def test_a_shuffled_release_is_refused_with_the_columns_that_were_kept():
    table, released = survey()
    shuffled = released.sample(fraction=1.0, shuffle=True, seed=1)
    with pytest.raises(shoal.DataError, match="do not belong together") as error:
        shoal.measure(table, shuffled, ["age", "height"])
    kept = [name for name in table.columns if name not in ("age", "height")]
    differ = int((table[kept[0]] != shuffled[kept[0]]).sum())
    assert f"'{kept[0]}' differs in {differ} of 300 records" in str(error.value)


def test_one_kept_column_that_is_as_it_was_shows_that_rows_belong_together():
    table, released = survey()
    other = released.with_columns(pl.col("hours").reverse())
    assert shoal.measure(table, other, ["age", "height"]).notes
    changed = released.with_columns(pl.exclude("age", "height").shuffle(seed=1))
    with pytest.raises(shoal.DataError):
        shoal.measure(table, changed, ["age", "height"])
    noisy = table.select("age", "height", "hours"), released.select("age", "height", pl.col("hours") + 1)
    assert any("cannot be seen" in note for note in shoal.measure(*noisy, ["age", "height"]).notes)


def test_without_a_kept_column_a_loss_above_that_of_the_centre_asks_for_the_order():
    table, released = survey()
    before, after = table.select("age", "height"), released.select("age", "height")
    assert not any("same order" in note for note in shoal.measure(before, after).notes)
    shuffled = after.sample(fraction=1.0, shuffle=True, seed=1)
    found = shoal.measure(before, shuffled)
    assert found.information_loss > 150.0
    assert any("same order" in note for note in found.notes)
