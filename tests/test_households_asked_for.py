"""Households in plans, on the command line, in tables of any kind, in reports; what is refused, and what is checked."""

from __future__ import annotations

import json

import pandas as pd
import polars as pl
import pytest

import shoal
from command_line import manifest_of, run
from given_away_by_definition import equal_distance, kept
from household_tables import HOUSEHOLD, PERSON, fewest_households, inside, same_members, survey
from shoal.app import draft
from shoal.release.household_checks import check_households
from shoal.tables.households import read_households
from shoal.tables.table import open_table

ASKED = {"k": 3, "quasi_identifiers": [*HOUSEHOLD, *PERSON], "method": "mdav"}
REFUSED = {
    "an engine": ({"engine": "memory"}, shoal.PlanError, "household: all members of a household must be in one place"),
    "rules": ({"rules": ["rooms >= 1"]}, shoal.PlanError, "rules: are not kept together with household"),
    "persons": ({"persons": "pno", "identifiers": "pno"}, shoal.PlanError, "persons: k counts households"),
    "two roles": ({"identifiers": "hid"}, shoal.PlanError, "column 'hid' has 2 roles: identifier, household"),
    "no such column": ({"household": "hd"}, shoal.PlanError, "column 'hd' is not in the table; did you mean 'hid'"),
    "no such setting": ({"household": {"id": "hid", "sizes": "x"}}, shoal.PlanError, "no setting 'household.sizes'"),
    "no such release": (
        {"household": {"id": "hid", "release": "new"}},
        shoal.PlanError,
        "household.release: must be 'renumbered', 'same' or 'removed'",
    ),
    "a varying variable": (
        {"household": {"id": "hid", "variables": ["rooms", "age"]}},
        shoal.DataError,
        "household.variables: column 'age' differs between members, or is missing for some of them, in ",
    ),
    "a kept variable": (
        {"household": {"id": "hid", "variables": "region"}},
        shoal.PlanError,
        "household.variables: column 'region' is not a quasi-identifier",
    ),
    "a variable twice": (
        {"household": {"id": "hid", "variables": ["rooms", "rooms"]}},
        shoal.PlanError,
        "household.variables: column 'rooms' is named 2 times",
    ),
    "strata inside": ({"strata": "sex"}, shoal.DataError, "strata: column 'sex' differs between members"),
    "an idle weight": (
        {"quasi_identifiers": PERSON, "household": {"id": "hid", "weight": "weight"}},
        shoal.PlanError,
        "household.weight: has no effect without a variable of households",
    ),
    "conditions": (
        {"conditions": {"tenure": {"distinct": 2}}},
        shoal.PlanError,
        "conditions: are asked of groups",
    ),
    "a time": ({"method": "optimal", "options": {"time": 1}}, shoal.PlanError, "options: 'time' would hold for househ"),
    "a bound": ({"method": "optimal", "options": {"bound": 1}}, shoal.PlanError, "options: 'bound' would hold for hou"),
    "blocking": (
        {"blocking": {"method": "spread-tree", "columns": ["age"]}},
        shoal.PlanError,
        "blocking.columns: every set of quasi-identifiers needs one of its own",
    ),
    "too few": ({"k": 200}, shoal.DataError, "size.* of households are that of fewer than k = 200"),
    "records that are no households": (
        {"household": "row", "confidential": "hid"},
        shoal.DataError,
        "no two records have the same value",
    ),
    "a missing household": (
        {"household": "gap", "confidential": "hid"},
        shoal.DataError,
        "household: column 'gap' is missing in 1 record",
    ),
}


def table_of(name):
    table = survey().with_row_index("row", 100)
    gap = pl.when(pl.col("row") == 105).then(None).otherwise(pl.col("hid"))
    return table.with_columns(gap=gap).drop([other for other in ("row", "gap") if other != name])


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_kept_is_refused_before_any_work(tmp_path, case):
    changed, error, words = REFUSED[case]
    asked = {**ASKED, "household": "hid", **changed}
    with pytest.raises(error, match=words):
        shoal.protect(table_of(asked["household"]), **asked, output=tmp_path / "out.csv")
    assert not list(tmp_path.iterdir())


def test_conditions_are_kept_where_all_variables_are_those_of_members():
    table = survey()
    release = shoal.protect(table, 3, PERSON, household="hid", method="mdav", conditions={"sex": {"distinct": 2}})
    assert fewest_households(table, release.data, [PERSON]) >= 3
    assert release.summary.conditions[0].reached["distinct"] >= 2


def test_conditions_hold_for_those_who_know_a_member_and_the_size_of_her_household():
    """Readers who count rows know sizes: records that share released values and size keep what is asked."""
    table = survey()
    asked = {"sex": {"entropy": 1.7}, "tenure": {"distinct": 2, "t": 0.4}}
    release = shoal.protect(table, 3, PERSON, household="hid", method="mdav", conditions=asked)
    seen = release.data.select(PERSON).with_columns(table["sex"], table["tenure"], size=pl.len().over(table["hid"]))
    parts = seen.partition_by(*PERSON, "size")
    assert len(parts) > 10
    every = table["tenure"].to_list()
    for part in parts:
        assert kept(part["sex"].to_list(), asked["sex"], lambda _: 0.0)
        assert kept(part["tenure"].to_list(), asked["tenure"], lambda group: equal_distance(group, every))


def test_a_key_of_persons_who_move_between_households_needs_a_word():
    table = survey().with_columns(person_id=pl.int_range(pl.len()) % 40)
    asked = {**ASKED, "household": "hid", "identifiers": "person_id"}
    with pytest.raises(shoal.DataError, match="persons: 'person_id' has a value in several households"):
        shoal.protect(table, **asked)
    assert shoal.protect(table, **asked, persons=[]).summary.persons == {}
    inside_one = table.with_columns(person_id=pl.col("hid") * 10 + pl.col("pno") // 3)  # of one household each
    shoal.protect(inside_one, **asked)
    shoal.protect(table.drop("person_id"), **{**asked, "identifiers": "pno"})  # numbers the members of each


@pytest.mark.parametrize("ids", ["int64", "uint16", "float64", "text", "category"])
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_numbers_are_drawn_anew_in_tables_of_any_kind(library, ids):
    table = survey()
    kind = {"uint16": pl.UInt16, "float64": pl.Float64, "text": pl.String, "category": pl.Categorical}.get(
        ids, pl.Int64
    )
    numbers = table["hid"] - 89_000 if ids == "uint16" else table["hid"]
    table = table.with_columns(hid=numbers.cast(pl.String).cast(kind) if ids == "category" else numbers.cast(kind))
    given = {"pandas": pl.DataFrame.to_pandas, "polars": lambda t: t, "pyarrow": pl.DataFrame.to_arrow}[library](table)
    if library == "pandas":
        given.index = given.index[::-1]
    release = shoal.protect(given, **ASKED, household="hid")
    assert type(release.data) is type(given)
    assert open_table(release.data).types() == open_table(given).types()
    out = open_table(release.data).to_polars()
    assert same_members(table, out)
    assert {str(int(float(one))) for one in out["hid"].to_list()} == {str(i + 1) for i in range(120)}
    assert fewest_households(table, out, [HOUSEHOLD, PERSON]) >= 3


def test_a_type_that_holds_no_new_numbers_is_refused():
    table = survey()
    small = table.with_columns(hid=((pl.col("hid") - 90_000) // 7 - 60).cast(pl.Int8))
    shoal.protect(small, **ASKED, household="hid")
    many = survey(200).with_columns(hid=((pl.col("hid") - 90_000) // 7 - 100).cast(pl.Int8))
    with pytest.raises(shoal.DataError, match="which does not hold numbers from 1 to 200; convert it"):
        shoal.protect(many, **ASKED, household="hid")
    names = table["hid"].cast(pl.String)
    fixed = table.with_columns(hid=names.cast(pl.Enum(names.unique())))
    with pytest.raises(shoal.DataError, match="convert it to text or whole numbers, or remove it"):
        shoal.protect(fixed, **ASKED, household="hid")
    kept = shoal.protect(fixed, **ASKED, household={"id": "hid", "release": "removed"})
    assert "hid" not in kept.data.columns


def test_the_seed_decides_the_numbers_and_nothing_else():
    table = survey()
    one, same, other = (shoal.protect(table, **ASKED, household="hid", seed=seed).data for seed in (1, 1, 2))
    assert one.equals(same)
    assert one["hid"].to_list() != other["hid"].to_list()
    assert one.drop("hid").equals(other.drop("hid"))
    shifted = shoal.protect(table.with_columns(hid=pl.col("hid") * 3 + 1), **ASKED, household="hid", seed=1)
    assert shifted.data.equals(one)  # the old numbers play no part


def test_numbers_are_kept_or_removed_as_asked(tmp_path):
    table = survey()
    same = shoal.protect(table, **ASKED, household={"id": "hid", "release": "same"})
    assert same.data["hid"].equals(table["hid"])
    assert any("'hid' is released as it was" in note for note in same.summary.notes)
    gone = shoal.protect(table, **ASKED, household={"id": "hid", "release": "removed"}, output=tmp_path / "out.csv")
    assert "hid" not in pl.read_csv(tmp_path / "out.csv").columns
    assert fewest_households(table, gone.data, [HOUSEHOLD, PERSON]) >= 3


def test_old_numbers_are_in_no_file(tmp_path):
    """Cells that are kept are written as they were: leading zeros of old numbers must not come back."""
    table = survey().with_columns(hid=pl.format("0{}", "hid"))
    table.write_csv(tmp_path / "in.csv")
    shoal.protect(tmp_path / "in.csv", **ASKED, household="hid", output=tmp_path / "out.csv")
    written = (tmp_path / "out.csv").read_text() + (tmp_path / "out.csv.manifest.json").read_text()
    assert not any(old in written for old in set(table["hid"].to_list()))


def test_variables_can_be_named_and_none_can_be():
    table = survey()
    none = shoal.protect(table, **ASKED, household={"id": "hid", "variables": []})
    assert none.plan.quasi_identifiers == ((*HOUSEHOLD, *PERSON),)
    assert fewest_households(table, none.data, [[*HOUSEHOLD, *PERSON]]) >= 3
    one = shoal.protect(table, **ASKED, household={"id": "hid", "variables": "rent"})
    assert one.plan.quasi_identifiers == (("rent",), ("rooms", *PERSON))
    assert inside(table, one.data, ["rent"])
    assert not inside(table, one.data, ["rooms"])


def test_the_command_line_and_a_plan_say_the_same(tmp_path):
    table, out = survey(), tmp_path / "out.csv"
    table.write_csv(tmp_path / "in.csv")
    words = ["-k", 3, "-q", "rooms,rent,age,wage", "-m", "mdav", "--household", "hid", "--seed", 4]
    words += ["--household-size", "merged", "--household-variables", "rent,rooms", "--household-weight", "weight"]
    done = run("protect", tmp_path / "in.csv", "-o", out, *words, "--household-release", "renumbered")
    assert done.exit_code == 0, done.stderr
    assert "k counts households: 120 households of 'hid'; released once for each: 'rooms' and 'rent'" in done.stderr
    said = {"id": "hid", "size": "merged", "variables": ["rent", "rooms"], "weight": "weight"}
    direct = shoal.protect(tmp_path / "in.csv", **ASKED, household=said, seed=4)
    assert pl.read_csv(out).equals(direct.data)
    manifest = manifest_of(out)
    assert manifest["plan"]["household"] == said
    assert manifest["summary"]["household"]["households"] == 120
    plan = shoal.Plan(**manifest["plan"])
    assert plan == shoal.Plan.from_yaml(plan.to_yaml())
    (tmp_path / "plan.yaml").write_text(plan.to_yaml())
    again = shoal.protect(tmp_path / "in.csv", plan=tmp_path / "plan.yaml")
    assert again.data.equals(direct.data)
    idle = run("protect", tmp_path / "in.csv", "-o", tmp_path / "b.csv", *words[:6], "--household-size", "merged")
    assert "--household-size: has no effect without --household" in idle.stderr
    empty = run("protect", tmp_path / "in.csv", "-o", tmp_path / "b.csv", *words[:8], "--household-variables", "")
    assert "--household-variables: names no column" in empty.stderr


def test_a_sweep_counts_households(tmp_path):
    table = survey()
    found = shoal.sweep(table, [3, 4], ["mdav"], [[*HOUSEHOLD, *PERSON]], household="hid")
    assert [one.k for one in found.results] == [3, 4]
    loss = shoal.protect(table, **ASKED, household="hid").summary.information_loss
    assert found.results[0].information_loss == pytest.approx(loss)


@pytest.mark.parametrize("edition", ["internal", "external"])
def test_both_editions_of_a_report_tell_what_k_counts(tmp_path, edition):
    release = shoal.protect(survey(), **ASKED, household="hid")
    release.report(tmp_path / "report.html", edition=edition)
    text = (tmp_path / "report.html").read_text()
    assert "k counts households, told apart by hid; their numbers were drawn anew." in text
    assert "Released once for each household: &#39;rooms&#39; and &#39;rent&#39;." in text
    assert "is that of at least 3 households, of 120." in text
    assert "k does not hold for whoever knows several members" in text


BREAKS = {
    "taken apart": (lambda t: t.with_columns(hid=pl.int_range(pl.len())), "a household was taken apart"),
    "put together": (lambda t: t.with_columns(hid=pl.lit(1)), "put together with another"),
    "a member's own": (
        lambda t: t.with_columns(rooms=pl.when(pl.int_range(pl.len()) == t.height - 1).then(99).otherwise("rooms")),
        "members of a household have different values of 'rooms' and 'rent'",
    ),
    "too few": (
        lambda t: t.with_columns(age=pl.when(pl.int_range(pl.len()) == 5).then(99).otherwise("age")),
        "a combination of released values is that of 1 household, fewer than k = 3",
    ),
}


@pytest.mark.parametrize("case", BREAKS)
def test_a_broken_release_is_seen(case):
    breaks, words = BREAKS[case]
    table = survey()
    release = shoal.protect(table, **ASKED, household="hid")
    found = read_households(open_table(table), "hid")
    found = type(found)(found.name, found.codes, found.first, found.sizes, HOUSEHOLD)
    sets = release.plan.quasi_identifiers
    before = check_households(release.plan, sets, found, open_table(table), open_table(release.data))
    assert before == release.summary.household
    with pytest.raises(shoal.BrokenPromise, match=words):
        check_households(release.plan, sets, found, open_table(table), open_table(breaks(release.data)))


def test_households_that_stand_out_by_all_members_are_counted():
    table = survey()
    release = shoal.protect(table, **ASKED, household="hid")
    whole = {}
    names = [*HOUSEHOLD, *PERSON]
    for one, *key in zip(table["hid"].to_list(), *(release.data[name].to_list() for name in names), strict=True):
        whole.setdefault(one, []).append(tuple(key))
    alike = [tuple(sorted(members)) for members in whole.values()]
    assert release.summary.household.recognisable == sum(alike.count(one) < 3 for one in alike)
    assert json.loads(json.dumps(release.manifest()))["summary"]["household"]["recognisable"] > 0


def test_inspect_proposes_households_and_the_application_knows_the_role(tmp_path):
    survey(largest=9).write_csv(tmp_path / "in.csv")
    found = shoal.inspect(tmp_path / "in.csv")
    assert str(next(p.role for p in found.proposals if p.profile.name == "hid")) == "household"
    plan = found.plan(3)
    assert plan.household.id == "hid"
    shoal.protect(tmp_path / "in.csv", plan=plan, method="sa-mdav")
    settings = draft.proposed(found, 3)
    assert draft.roles(settings)["hid"] == "household"
    draft.give_role(settings, ["hid"], "identifier")
    assert "household" not in settings
    draft.give_role(settings, ["hid"], "household")
    assert draft.plan_of(settings).household.id == "hid"
    settings["household"] |= {"weight": "weight", "variables": ["rooms", "rent"]}
    settings.pop("weight", None)
    assert draft.roles(settings)["weight"] == "weight"
    draft.give_role(settings, ["weight", "rent"], "kept")
    assert settings["household"] == {"id": "hid", "variables": ["rooms"]}
    once = pd.DataFrame({"hid": range(50), "x": range(50)})
    assert str(shoal.inspect(once).proposals[0].role) == "identifier"  # no two records of one


def test_an_interruption_leaves_households_whole():
    """Whoever ends the search of households early has their best so far, and members that are only started."""
    calls = []

    def tell(done, words=""):
        calls.append(done)
        if len(calls) == 2:
            raise KeyboardInterrupt

    table = survey(400)
    asked = {**ASKED, "method": "optimal", "options": {"steps": 5_000_000}, "household": "hid"}
    release = shoal.protect(table, **asked, progress=tell)
    assert any("interrupted" in note for note in release.summary.notes)
    assert fewest_households(table, release.data, [HOUSEHOLD, PERSON]) >= 3
    assert release.summary.steps[1] == 0
    assert "plan_again" not in release.manifest()


def test_a_plan_of_a_release_makes_it_again():
    table = survey(missing=0.1)
    first = shoal.protect(table, **{**ASKED, "quasi_identifiers": ["age", "rooms", "wage", "rent"]}, household="hid")
    again = shoal.protect(table, plan=first.plan)
    assert again.plan == first.plan
    assert again.data.equals(first.data)
    everything = shoal.protect(
        table.drop("region", "tenure", "sex"), 3, household="hid", all_numeric=True, method="mdav"
    )
    assert "hid" not in {name for part in everything.plan.quasi_identifiers for name in part}


def test_a_sample_of_a_sweep_would_take_households_apart():
    with pytest.raises(shoal.PlanError, match="sample: would take households apart"):
        shoal.sweep(survey(), [3], ["mdav"], [[*HOUSEHOLD, *PERSON]], household="hid", sample=100)
