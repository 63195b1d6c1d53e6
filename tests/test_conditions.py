"""k counts persons where a removed key repeats; plans and the command line ask for conditions alike."""

import numpy as np
import polars as pl
import pytest

import shoal
from command_line import run
from conditions_tables import by_group, protect, visits
from shoal.plan.dominance import Dominance
from shoal.tables.persons import identify
from shoal.tables.table import open_table


def fewest(table, groups, name="patient"):
    """Return the fewest persons of a group, in any set."""
    who = table[name].to_list()
    fewest = []
    for own in np.atleast_2d(groups.T):
        members = {}
        for person, group in zip(who, own.tolist(), strict=True):
            members.setdefault(group, set()).add(person)
        fewest.append(min(map(len, members.values())))
    return min(fewest)


# persons -------------------------------------------------------------------------------------------------------------


WAYS = {
    "mdav": {},
    "optimal": {"method": "optimal"},
    "semantic-optimal": {"method": "semantic-optimal", "columns": ["x", "kind"]},
    "every column by itself": {"method": "individual-ranking"},
    "two sets": {"columns": [["x"], ["y"]]},
    "refined": {"refine": True},
    "blocks": {"blocking": {"method": "spread-tree", "size": 40, "repair": True}},
    "strata": {"strata": "side"},
    "rules": {"rules": ["if x < 0 then x <= 0"]},
    "dominance": {"dominance": {"p": 1, "action": "grow"}},
}


@pytest.mark.parametrize("way", WAYS)
def test_every_group_has_k_persons_where_a_key_repeats(way):
    table = visits()
    release = protect(table, **WAYS[way])
    assert fewest(table, release.groups) >= 5
    assert release.summary.persons == {"patient": 40}
    assert release.summary.merged_groups > 0
    assert "k counts persons: 40 persons of identifier 'patient' in 200 records" in " ".join(release.summary.notes)
    if "strata" in WAYS[way]:
        assert all(len(set(part)) == 1 for part in by_group(table["side"], release.groups))


def test_without_counting_persons_groups_are_those_of_single_people():
    table = visits()
    release = protect(table, persons=[])
    assert fewest(table, release.groups) == 1
    assert release.summary.persons == {}


def test_an_identifier_that_every_record_has_for_itself_changes_nothing():
    table = visits().with_columns(patient=pl.Series([f"p{i}" for i in range(200)]))
    counted, not_counted = protect(table), protect(table, persons=[])
    assert counted.data.equals(not_counted.data)
    assert counted.groups.tolist() == not_counted.groups.tolist()
    assert counted.summary.notes == not_counted.summary.notes
    assert "grow" not in counted.timings


def test_records_without_an_identifier_count_as_one_person_together():
    table = pl.DataFrame({"id": ["a", "a", "b", None, None, None, "c", "d"], "x": [0.0, 0.1, 1, 1.1, 5, 5.1, 9, 9.1]})
    release = shoal.protect(table, 2, "x", identifiers="id", method="mdav")
    for members in by_group(table["id"].fill_null("nobody"), release.groups):
        assert len(set(members)) >= 2


def test_a_named_identifier_counts_where_nothing_repeats_but_that_it_is_missing():
    table = pl.DataFrame({"id": ["a", "b", None, None, None, None, "c", "d"], "x": [1, 2, 10, 11, 20, 21, 30, 31]})
    release = shoal.protect(table, 2, "x", identifiers="id", persons="id", method="mdav")
    for members in by_group(table["id"].fill_null("nobody"), release.groups):
        assert len(set(members)) >= 2
    assert release.summary.persons == {"id": 4}


@pytest.mark.parametrize("method", ["mdav", "optimal", "semantic-optimal", "individual-ranking"])
@pytest.mark.parametrize("patterns", ["counted", "ignored"])
def test_missing_cells_do_not_tell_fewer_than_k_persons_apart(method, patterns):
    rng = np.random.default_rng(6)
    table = visits(people=30, each=4).drop("side", "kind")
    gone = {name: rng.random(120) < 0.2 for name in ("x", "y")}
    table = table.with_columns(
        pl.when(pl.Series(gone[name])).then(None).otherwise(pl.col(name)).alias(name) for name in gone
    )
    release = protect(table, k=3, method=method, missing_patterns=patterns, options=None)
    sets = [["x"], ["y"]] if method == "individual-ranking" else [["x", "y"]]
    for columns in sets:
        people = {}
        for person, key in zip(table["patient"].to_list(), release.data.select(columns).rows(), strict=True):
            people.setdefault(key, set()).add(person)
        if patterns == "counted":  # every key as it stands in the file
            assert min(map(len, people.values())) >= 3
    for name in ("x", "y"):  # and every released value
        owners = {}
        for person, value in zip(table["patient"].to_list(), release.data[name].to_list(), strict=True):
            owners.setdefault(value, set()).add(person)
        owners.pop(None, None)
        assert min(map(len, owners.values())) >= 3


def test_a_released_value_stands_for_k_persons_where_others_are_missing():
    x = [0.0, 0.1, 0.2, 0.3, 5.0, 5.1, 5.2, 5.3, 9.0, 9.1, 9.2, 9.3]
    y = [1.0, 1.1, None, None, 2.0, 2.1, 2.2, 2.3, 3.0, 3.1, 3.2, 3.3]
    who = ["a", "a", "b", "b", "c", "d", "c", "d", "e", "f", "e", "f"]
    table = pl.DataFrame({"patient": who, "x": x, "y": y})
    release = protect(table, k=2, missing_patterns="ignored")
    owners = {}
    for person, value, group in zip(who, release.data["y"].to_list(), release.groups.tolist(), strict=True):
        if value is not None:
            owners.setdefault(group, set()).add(person)
    assert all(len(people) >= 2 for people in owners.values())


def test_a_stratum_of_too_few_persons_is_refused_by_name_or_merged():
    table = visits().with_columns(side=pl.Series(["east"] * 190 + ["west"] * 10))
    with pytest.raises(
        shoal.DataError,
        match=r"fewer than k = 5 persons of identifier 'patient' \(which repeats\): 'side = west' \(2 per",
    ):
        protect(table, strata="side")
    release = protect(table, strata="side", small_strata="merge")
    assert release.summary.merged_strata == 1
    assert fewest(table, release.groups) >= 5


def test_a_table_of_too_few_persons_is_refused_and_nothing_is_written(tmp_path):
    with pytest.raises(shoal.DataError, match="k = 5 counts the persons of identifier 'patient', which repeats"):
        protect(visits(people=4), output=tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []


def test_keys_count_each_by_itself_and_names_only_where_they_are_named():
    rng = np.random.default_rng(3)
    columns = {
        "patient_id": [i % 50 for i in range(100)],
        "contact": [f"d{i % 10}@example.org" for i in range(100)],
        "first_name": [["Ada", "Max", "Eva"][i % 3] for i in range(100)],
        "surname": [f"s{i % 40}" for i in range(100)],
        "visit": list(range(100)),
        "ward": [f"w{i % 25}" for i in range(100)],
        "x": rng.normal(size=100),
    }
    table = open_table(pl.DataFrame(columns))
    found = identify(table, list(columns)[:-1])
    assert [(one.name, one.count) for one in found.persons] == [("patient_id", 50), ("contact", 10)]
    assert found.doubtful == ["ward"]
    assert identify(table, ["first_name", "surname"]).doubtful == []  # 100 combinations
    assert identify(table, ["surname"]).doubtful == ["surname"]
    named = identify(table, list(columns)[:-1], ["surname", "visit"])
    assert [(one.name, one.count) for one in named.persons] == [("surname", 40)]


def households(count=60, seed=4):
    rng = np.random.default_rng(seed)
    sizes = np.append(rng.integers(1, 6, count - 1), 6)
    columns = {
        "household_id": np.repeat(np.arange(count) + 700, sizes),
        "person_no": np.concatenate([np.arange(size) + 1 for size in sizes]),
        "age": rng.integers(0, 90, sizes.sum()),
        "hours": rng.integers(0, 60, sizes.sum()),
    }
    return pl.DataFrame(columns)


def test_the_number_of_a_person_within_her_household_is_no_key_unless_it_is_named():
    asked = {"k": 5, "quasi_identifiers": ["age", "hours"], "identifiers": ["household_id", "person_no"]}
    release = shoal.protect(households(), **asked, method="mdav")
    assert release.summary.persons == {"household_id": 60}
    told = "k does not count 'person_no', which numbers the records of each 'household_id'"
    assert any(told in note for note in release.summary.notes)
    named = shoal.protect(households(), **asked, persons=["household_id", "person_no"], method="mdav")
    assert named.summary.persons == {"household_id": 60, "person_no": 6}
    assert named.summary.information_loss > release.summary.information_loss


@pytest.mark.parametrize("change", ["twice", "gaps", "few households"])
def test_a_key_that_does_not_number_the_records_of_another_counts(change):
    table = households(59 if change == "few households" else 60)  # 6 numbers are more than a tenth of 59
    numbers = table["person_no"].to_list()
    if change == "twice":
        numbers[table["household_id"].to_list().index(759) + 1] = 1  # two of one household
    if change == "gaps":
        numbers[0] = 99  # more numbers than the largest household has persons
    table = table.with_columns(person_no=pl.Series(numbers))
    found = identify(open_table(table), ["household_id", "person_no"])
    assert [one.name for one in found.persons] == ["household_id", "person_no"]
    assert found.within == {}


@pytest.mark.parametrize("library", ["polars", "pandas", "pyarrow"])
@pytest.mark.parametrize("values", [["a", "b", "a", None], [1, 2, 1, None], [[1], [2], [1], None]])
def test_persons_are_told_apart_in_any_table(library, values):
    frame = pl.DataFrame({"id": values})
    table = {"polars": lambda: frame, "pandas": frame.to_pandas, "pyarrow": frame.to_arrow}[library]()
    [persons] = identify(open_table(table), ["id"]).persons
    assert persons.count == 2
    assert persons.codes.tolist() == [0, 1, 0, 2]


def test_an_identifier_that_may_tell_persons_apart_is_noted():
    table = visits().rename({"patient": "ward"})
    release = shoal.protect(table, 5, ["x", "y"], identifiers="ward", method="mdav")
    assert "k counts records, although 'ward' repeats" in release.summary.notes[0]


# plan and command line -----------------------------------------------------------------------------------------------


def test_the_command_line_and_a_plan_ask_for_the_same(tmp_path):
    table, out = tmp_path / "visits.csv", tmp_path / "out.csv"
    visits().drop("side", "kind").write_csv(table)
    words = [
        "protect",
        table,
        "-o",
        out,
        "-k",
        5,
        "-q",
        "x,y",
        "--drop",
        "patient",
        "-m",
        "mdav",
        "--persons",
        "patient",
    ]
    result = run(*words, "--dominance", "n=1,share=90", "--dominance", "p=1", "--dominance-action", "grow")
    assert result.exit_code == 0, result.output
    rule = {"n": 1, "share": 90, "p": 1, "action": "grow"}
    direct = protect(table, persons="patient", dominance=rule)
    assert pl.read_csv(out).equals(direct.data)
    again = shoal.Plan.from_yaml(direct.plan.to_yaml())
    assert again == direct.plan
    assert again.dominance == Dominance(**rule)
    assert again.persons == ("patient",)
    assert run(*words[:-1], "none", "--force").exit_code == 0
    nothing = run(*words[:-1], "", "--force")
    assert nothing.exit_code == 2
    assert "--persons: names no identifier" in nothing.output
    assert pl.read_csv(out).equals(protect(table, persons=[]).data)


MISTAKES = {
    "half a rule": ({"dominance": {"n": 1}}, "dominance: n and share belong together"),
    "no rule": ({"dominance": 10}, "dominance: give p, n and share, or action by name"),
    "a text": ({"dominance": {"p": "10"}}, "dominance.p: must be a number"),
    "another action": ({"dominance": {"action": "warn"}}, "dominance.action: must be 'note' or 'grow'"),
    "persons that are kept": ({"persons": "side"}, "persons: 'side' is not an identifier"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_mistakes_are_sentences(case):
    asked, sentence = MISTAKES[case]
    with pytest.raises(shoal.PlanError) as caught:
        protect(visits(), **asked)
    assert any(mistake.startswith(sentence) for mistake in caught.value.mistakes)
