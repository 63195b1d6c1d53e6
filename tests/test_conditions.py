"""Conditions on groups: k counts persons, nobody dominates, and groups that fail grow."""

from collections import Counter
from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from command_line import run
from shoal.columns.numbers import Column
from shoal.kernels.representatives import group_rows
from shoal.partition.conditions.centres import NumberCentres
from shoal.partition.conditions.dominance import NotDominated, NotOutweighed
from shoal.partition.conditions.growing import grow_groups
from shoal.partition.conditions.persons import EnoughPersons
from shoal.plan.dominance import Dominance
from shoal.tables.persons import identify
from shoal.tables.table import open_table

CASES = settings(deadline=None, max_examples=60)


def visits(people=40, each=5, seed=1):
    """Records of people, those of each close together."""
    rng = np.random.default_rng(seed)
    n = people * each
    place = np.repeat(rng.normal(size=(people, 2)), each, axis=0) + 0.001 * rng.normal(size=(n, 2))
    return pl.DataFrame(
        {
            "patient": [f"p{i // each}" for i in range(n)],
            "x": place[:, 0],
            "y": place[:, 1],
            "side": [["east", "west"][i // each % 2] for i in range(n)],
            "kind": [["a", "b", "c"][i // each % 3] for i in range(n)],
        }
    )


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


def protect(table, k=5, columns=("x", "y"), **more):
    return shoal.protect(table, k, list(columns), identifiers="patient", **{"method": "mdav", **more})


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


def by_group(column, groups):
    parts = {}
    for value, group in zip(column.to_list(), groups.tolist(), strict=True):
        parts.setdefault(group, []).append(value)
    return list(parts.values())


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


# dominance -----------------------------------------------------------------------------------------------------------


def incomes(top, n=60, seed=2):
    rng = np.random.default_rng(seed)
    income = rng.normal(30_000, 5_000, n).round()
    income[7] = top
    return pl.DataFrame({"age": rng.integers(20, 60, n), "income": income})


def test_a_mean_that_one_value_dominates_is_noted_without_the_value():
    release = shoal.protect(incomes(987_654_321.0), 5, ["age", "income"], method="mdav")
    assert release.summary.dominated_groups == {"income": 1}
    [note] = release.summary.notes
    assert note.startswith("a few records dominate 1 of 12 groups of 'income' (p % rule, p = 10)")
    assert "987" not in note
    assert release.manifest()["summary"]["dominated_groups"] == {"income": 1}


@pytest.mark.parametrize("rule", [{"p": 60}, {"n": 1, "share": 50}, {"n": 2, "share": 55, "p": 30}])
def test_dominated_groups_grow_until_nobody_dominates(rule):
    table = incomes(200_000.0)
    release = shoal.protect(table, 3, ["age", "income"], method="mdav", dominance={**rule, "action": "grow"})
    income = table["income"]
    for members in by_group(income, release.groups):
        assert not slow_dominated(members, [1.0] * len(members), rule)
    plain = shoal.protect(table, 3, ["age", "income"], method="mdav", dominance=rule)
    assert plain.summary.dominated_groups["income"] >= 1
    assert release.summary.dominated_groups == {}
    assert release.summary.merged_groups == plain.summary.groups - release.summary.groups > 0


def test_a_value_that_no_group_can_hide_is_refused_by_column_and_rule(tmp_path):
    with pytest.raises(shoal.DataError, match=r"column 'income' is dominated even where all .* \(p % rule, p = 10\)"):
        shoal.protect(
            incomes(987_654_321.0),
            5,
            ["age", "income"],
            method="mdav",
            dominance={"action": "grow"},
            output=tmp_path / "out.csv",
        )
    assert list(tmp_path.iterdir()) == []


def test_a_weight_that_makes_a_mean_one_records_own_is_noted_or_the_group_grows():
    rng = np.random.default_rng(4)
    table = pl.DataFrame({"income": rng.normal(30_000, 5_000, 60).round(), "w": [1.0] * 7 + [80.0] + [1.0] * 52})
    noted = shoal.protect(table, 6, "income", weight="w", method="mdav")
    assert noted.summary.outweighed_groups == 1
    assert any(
        note.startswith("one record has more than 90 % of the weight in 1 group") for note in noted.summary.notes
    )
    grown = shoal.protect(table, 6, "income", weight="w", method="mdav", dominance={"p": 1, "action": "grow"})
    assert grown.summary.outweighed_groups == 0
    for weights in by_group(table["w"], grown.groups):
        assert max(weights) <= 0.9 * sum(weights)
    table = table.with_columns(w=pl.Series([1.0] * 7 + [1e6] + [1.0] * 52))
    with pytest.raises(shoal.DataError, match="a record has more than 90 % of the weight of all records"):
        shoal.protect(table, 6, "income", weight="w", method="mdav", dominance={"action": "grow"})


def test_dates_are_not_dominated():
    days = [date(1970, 1, 1), date(1970, 1, 2), date(2020, 1, 1)] * 3
    release = shoal.protect(pl.DataFrame({"day": days}), 3, "day", method="mdav")
    assert release.summary.dominated_groups == {}


def slow_dominated(values, weights, rule):
    """Apply the rules as they are written, to values that are all there."""
    parts = sorted((abs(v) * w for v, w in zip(values, weights, strict=True)), reverse=True)
    found = False
    if rule.get("p") is not None and parts:
        others = parts[2:] if len(parts) != 2 else parts[1:]
        found |= sum(others) < rule["p"] / 100 * parts[0]
    if rule.get("n") is not None:
        found |= sum(parts[: rule["n"]]) > rule["share"] / 100 * sum(parts)
    return found


@CASES
@given(data=st.data())
def test_the_rules_of_dominance_are_what_they_say(data):
    n = data.draw(st.integers(3, 30))
    # multiples of a quarter below 2**10: sums are exact, so that no rounding decides
    whole = data.draw(st.booleans())
    numbers = st.integers(-1000, 1000) if whole else st.integers(-4000, 4000).map(lambda i: i / 4)
    zeros = data.draw(st.lists(st.just(0), max_size=n))
    values = (zeros + data.draw(st.lists(numbers, min_size=n, max_size=n)))[:n]
    observed = np.array(data.draw(st.lists(st.sampled_from([True, True, True, False]), min_size=n, max_size=n)))
    weights = data.draw(st.none() | st.lists(st.sampled_from([1.0, 2.0, 64.0]), min_size=n, max_size=n))
    groups = np.sort(np.array(data.draw(st.lists(st.integers(0, 5), min_size=n, max_size=n))))
    groups = np.unique(groups, return_inverse=True)[1].astype(np.int64)
    rule = data.draw(
        st.sampled_from([{"p": 10.0}, {"p": 100.0}, {"n": 1, "share": 50.0}, {"n": 2, "share": 75.0, "p": 25.0}])
    )
    trimmed, k = data.draw(st.booleans()), data.draw(st.integers(2, 3))
    origin = data.draw(st.integers(-500, 500)) if whole else 0
    held = np.array(values, dtype=np.int64 if whole else np.float64) - origin
    column = Column("x", np.where(observed, held, 0), observed, origin)
    given_weights = None if weights is None else np.array(weights)
    found = NotDominated(column, k, Dominance(**rule), given_weights, trimmed).failing(group_rows(groups))
    for group in range(int(groups.max()) + 1):
        rows = [row for row in range(n) if groups[row] == group and observed[row]]
        rows.sort(key=lambda row: values[row])
        expected = False
        if len(rows) >= k:
            drop = -(-len(rows) // 10) if trimmed and len(rows) >= 3 else 0
            kept = rows[drop : len(rows) - drop]
            own = [1.0] * n if weights is None else weights
            expected = slow_dominated([values[row] for row in kept], [own[row] for row in kept], rule)
        if trimmed and weights is not None and len({values[row] for row in rows}) < len(rows):
            continue  # which of equal values is left out is not told apart here, and their weights may differ
        assert bool(found[group]) == expected


def test_a_group_of_zeros_and_one_of_tiny_or_huge_values_are_judged_alike():
    for scale in (1.0, 1e-320, 1e-300, 1e300):
        values = np.array([0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 100.0, 1.0, 1.0]) * scale
        column = Column("x", values, np.ones(9, dtype=bool))
        found = NotDominated(column, 3, Dominance(p=10), np.full(9, 1e100)).failing(
            group_rows(np.repeat(np.arange(3), 3))
        )
        assert found.tolist() == [False, False, True]


# own values ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("aggregator", "expected"), [("median", 3), ("mode", 3), ("trimmed-mean", 3), ("mean", 0), ("geometric-mean", 0)]
)
def test_exact_values_of_one_record_are_counted(aggregator, expected):
    values = [1.0, 2.0, 4.0, 11.0, 12.0, 14.0, 31.0, 32.0, 34.0, 51.0, 51.0, 51.0]
    release = shoal.protect(pl.DataFrame({"x": values}), 3, "x", method="mdav", aggregators=aggregator)
    assert release.summary.own_values.get("x", 0) == expected
    told = f"'{aggregator}' releases the exact value of one record in 3 of 4 groups of 'x'; 'mean' does not"
    assert (told in release.summary.notes) == (expected > 0)


def test_own_values_are_counted_in_dates_and_not_in_categories():
    first = date(2020, 1, 1)
    days = [first + timedelta(days=d) for d in (0, 1, 3, 100, 101, 103)]
    table = pl.DataFrame({"day": days, "kind": ["a", "b", "c", "d", "e", "f"]})
    release = shoal.protect(table, 3, ["day", "kind"], aggregators={"day": "median"}, method="s-mdav")
    assert release.summary.own_values == {"day": 2}


def test_an_even_median_is_nobodys_own():
    values = [1.0, 2.0, 4.0, 8.0]
    release = shoal.protect(pl.DataFrame({"x": values}), 4, "x", method="mdav", aggregators="median")
    assert release.summary.own_values == {}


# growing -------------------------------------------------------------------------------------------------------------


@CASES
@given(data=st.data())
def test_growing_only_merges_inside_a_part_and_ends_with_no_failing_group(data):
    n = data.draw(st.integers(4, 40))
    draw = lambda most: np.array(data.draw(st.lists(st.integers(0, most), min_size=n, max_size=n)))  # noqa: E731
    part = draw(2)
    fine = np.unique(2 * part + draw(1), return_inverse=True)[1]
    groups = np.unique(10 * fine + draw(4), return_inverse=True)[1].astype(np.int64)
    person = draw(8)
    x = np.array(data.draw(st.lists(st.floats(-5, 5), min_size=n, max_size=n)))[:, None]
    least = data.draw(st.integers(1, 4))
    enough = EnoughPersons("id", person, least)
    try:
        grown = grow_groups(groups, [fine, part], [enough], lambda: NumberCentres(x))
    except shoal.DataError:
        assert min(len(set(person[part == one])) for one in set(part)) < least
        return
    assert len(set(zip(groups.tolist(), grown.tolist(), strict=True))) == len(set(groups))  # no group is torn
    for group in set(grown):
        inside = grown == group
        assert len(set(part[inside])) == 1
        assert len(set(person[inside])) >= least
        if len(set(fine[inside])) > 1:  # only where a finer part cannot have enough
            assert any(len(set(person[fine == one])) < least for one in set(fine[part == part[inside][0]]))


def test_groups_that_pass_are_returned_as_they_are():
    groups = np.array([0, 0, 1, 1])
    enough = EnoughPersons("id", np.array([0, 1, 0, 1]), 2)
    assert grow_groups(groups, [np.zeros(4, np.int64)], [enough], lambda: pytest.fail("nothing to compare")) is groups


def test_a_failing_group_joins_the_nearest():
    x = np.array([[0.0], [0.1], [5.0], [5.1], [6.0], [6.1]])
    person = np.array([0, 1, 2, 3, 4, 4])
    enough = EnoughPersons("id", person, 2)
    grown = grow_groups(np.repeat([0, 1, 2], 2), [np.zeros(6, np.int64)], [enough], lambda: NumberCentres(x))
    assert Counter(grown.tolist()).most_common()[0][1] == 4
    assert grown[2] == grown[4] != grown[0]


def test_one_that_needs_thousands_of_others_has_them_in_few_rounds():
    n = 40_000
    x = np.linspace(0.0, 1.0, n)[:, None]
    weights = np.ones(n)
    weights[0] = 90_000.0
    looked = []

    class Counted(NotOutweighed):
        def failing(self, groups):
            looked.append(len(groups.order))
            return super().failing(groups)

    grown = grow_groups(
        np.arange(n) // 4, [np.zeros(n, np.int64)], [Counted(weights)], lambda: NumberCentres(np.ascontiguousarray(x))
    )
    needed = np.sum(grown == grown[0])
    assert 10_000 <= needed <= 1.2 * 10_000
    assert len(looked) < 100


def test_many_failing_groups_find_their_partners_in_an_index_as_without_it(monkeypatch):
    rng = np.random.default_rng(8)
    x, person = rng.normal(size=(4000, 2)), np.repeat(np.arange(1000), 4)
    enough = EnoughPersons("id", person, 3)

    def grown():
        return grow_groups(np.arange(4000) // 4, [np.zeros(4000, np.int64)], [enough], lambda: NumberCentres(x))

    slowly = grown()
    monkeypatch.setattr("shoal.partition.conditions.centres._MANY", 0)
    assert np.array_equal(grown(), slowly)


def test_a_group_that_fails_in_the_end_is_a_broken_promise(monkeypatch):
    monkeypatch.setattr("shoal.release.grouping.grow_sets", lambda declared, groups, *_: groups)
    with pytest.raises(shoal.BrokenPromise, match="a group fails a condition"):
        protect(visits())


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
