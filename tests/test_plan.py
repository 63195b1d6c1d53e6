"""The Plan: there and back, every mistake at once, and the same from Python and from the command line."""

import polars as pl
import pytest

import shoal
from command_line import manifest_of, run
from shoal.plan.plan import Plan
from shoal.plan.reading import Reading

FULL = {
    "k": 4,
    "quasi_identifiers": [["age", "income"], ["height"]],
    "identifiers": ["name"],
    "confidential": ["satisfied"],
    "weight": "weight",
    "strata": ["region"],
    "small_strata": "merge",
    "missing_patterns": "ignored",
    "method": "v-mdav",
    "options": {"gamma": 1.1},
    "aggregators": {"income": "median", "*": "trimmed-mean"},
    "scaling": "range",
    "reading": {"delimiter": ";", "encoding": "latin-1", "missing": ["NA", "?"], "header": False},
    "seed": 7,
}


@pytest.fixture(scope="module")
def survey():
    return shoal.example(40)


def mistakes_of(call, *args, **settings):
    """Return the mistakes that a call is refused with."""
    with pytest.raises(shoal.PlanError) as caught:
        call(*args, **settings)
    assert all(mistake in str(caught.value) for mistake in caught.value.mistakes)
    return caught.value.mistakes


@pytest.mark.parametrize("settings", [FULL, {"k": 2, "quasi_identifiers": "größe"}], ids=["full", "short"])
def test_a_plan_goes_to_yaml_and_back(tmp_path, settings):
    plan = Plan(**settings)
    path = tmp_path / "plan.yaml"
    path.write_text(plan.to_yaml(), encoding="utf-8")
    assert Plan.load(path) == Plan.from_yaml(plan.to_yaml()) == plan
    assert Plan(**plan.to_dict()) == plan


def test_what_was_asked_for_is_all_in_the_plan():
    plain = Plan(**FULL).to_dict()
    assert plain == FULL


@pytest.mark.parametrize("name", ["yes", "null", "1", "2020-01-01", "a: b", "*", "größe", "#x"])
def test_awkward_column_names_survive_yaml(name):
    plan = Plan(k=2, quasi_identifiers=[name], strata=["part"])
    assert Plan.from_yaml(plan.to_yaml()).quasi_identifiers == ((name,),)


@pytest.mark.parametrize(
    ("given", "sets"),
    [("a", (("a",),)), (["a", "b"], (("a", "b"),)), ([["a"], ["b", "c"]], (("a",), ("b", "c")))],
)
def test_quasi_identifiers_are_sets_of_columns(given, sets):
    assert Plan(k=2, quasi_identifiers=given).quasi_identifiers == sets


ALONE = {
    "k below 2": ({"k": 1}, "k: "),
    "k is no number": ({"k": "five"}, "k: "),
    "no k": ({"k": None}, "k: "),
    "a negative seed": ({"seed": -1}, "seed: "),
    "no columns": ({"quasi_identifiers": []}, "quasi_identifiers: name at least one column"),
    "an empty set": ({"quasi_identifiers": [["a"], []]}, "quasi_identifiers: name at least one column"),
    "an unknown setting": ({"quasi_identifers": ["b"]}, "there is no setting 'quasi_identifers'; did you mean "),
    "an unknown scaling": ({"scaling": "zscore"}, "scaling: "),
    "two roles": ({"identifiers": ["a"]}, "column 'a' has 2 roles: quasi-identifier, identifier; give it one"),
    "in two sets": (
        {"quasi_identifiers": [["a"], ["a", "b"]]},
        "column 'a' is named 2 times as quasi-identifier; name it once",
    ),
    "merging without strata": ({"small_strata": "merge"}, "small_strata: has no effect without strata"),
    "a number that marks missing values": (
        {"reading": {"missing": ["NA", -9]}},
        "reading.missing.1: must be a text; put it in quotes",
    ),
    "an unknown way to read": (
        {"reading": {"delimeter": ";"}},
        "there is no setting 'reading.delimeter'; did you mean 'delimiter'?",
    ),
}


@pytest.mark.parametrize("what", ALONE)
def test_a_mistake_in_a_plan_is_told_in_a_sentence(what):
    changed, sentence = ALONE[what]
    mistakes = mistakes_of(Plan, **({"k": 3, "quasi_identifiers": ["a"]} | changed))
    assert len(mistakes) == 1
    assert mistakes[0].startswith(sentence)


@pytest.mark.parametrize("text", ["k: [", "- k", "5", "", "{1: 2}"])
def test_what_is_no_plan_in_yaml_is_refused(text):
    [mistake] = mistakes_of(Plan.from_yaml, text)
    assert mistake.startswith("the plan ")


def test_a_plan_that_is_not_there_is_a_file_error(tmp_path):
    with pytest.raises(shoal.FileError, match=r"cannot read the plan '.*none\.yaml'"):
        Plan.load(tmp_path / "none.yaml")


def test_all_mistakes_are_told_at_once(survey):
    mistakes = mistakes_of(
        shoal.protect,
        survey,
        k=1,
        quasi_identifiers=["aeg", "incom", "height"],
        identifiers=["nam"],
        confidential=["height", "satisfied"],
        strata="regoin",
        method="mdaw",
        options={"gama": 1.0},
        aggregators={"height": "meen"},
        scaling="zscore",
    )
    told = "\n".join(mistakes)
    for expected in [
        "column 'aeg' is not in the table; did you mean 'age'?",
        "column 'incom' is not in the table; did you mean 'income'?",
        "column 'nam' is not in the table; did you mean 'name'?",
        "column 'regoin' is not in the table; did you mean 'region'?",
        "there is no method 'mdaw'; did you mean 'mdav'?",
        "there is no aggregator 'meen'; did you mean 'mean'?",
        "k: ",
        "scaling: ",
        "column 'height' has 2 roles: quasi-identifier, confidential; give it one",
    ]:
        assert expected in told
    assert len(mistakes) == len(set(mistakes))


def test_mistakes_of_the_plan_and_reasons_in_the_data_come_together(survey):
    mistakes = mistakes_of(
        shoal.protect,
        survey,
        k=50,
        quasi_identifiers=["age", "region", "heigth"],
        identifiers="name",
        method="mdav",
    )
    assert len(mistakes) == 3
    for expected in ("did you mean 'height'?", "column 'region' is text", "40 records, fewer than k = 50"):
        assert any(expected in mistake for mistake in mistakes)


SETTINGS = {
    "a method's misspelt option": (
        {"method": "v-mdav", "options": {"gama": 1.1}},
        "method 'v-mdav' has no option 'gama'; did you mean 'gamma'? (it has gamma)",
    ),
    "an option of another method": (
        {"options": {"gamma": 1.1}},
        "method 'optimal' has no option 'gamma' (it has steps",
    ),
    "an option of the wrong kind": (
        {"method": "v-mdav", "options": {"gamma": "big"}},
        "method 'v-mdav': option 'gamma' takes a number, not 'big'",
    ),
    "an option out of range": (
        {"method": "iv-mdav", "options": {"candidates": 4}},
        "method 'iv-mdav': option 'candidates' must be at most 3, not 4",
    ),
    "an option that is none of its choices": (
        {"method": "univariate", "options": {"by": "pcs"}},
        "method 'univariate': option 'by' takes one of pca, sum, not 'pcs'; did you mean 'pca'?",
    ),
    "an unknown method": ({"method": "MDAV2"}, "there is no method 'MDAV2'; did you mean 'mdav'?"),
    "an unknown aggregator": ({"aggregators": "medain"}, "there is no aggregator 'medain'; did you mean 'median'?"),
    "weighted means without weights": (
        {"aggregators": "weighted-mean"},
        "aggregator 'weighted-mean' needs a column of weights",
    ),
    "an aggregator of a column that is kept": (
        {"aggregators": {"satisfied": "median"}},
        "aggregators: column 'satisfied' is not a quasi-identifier",
    ),
    "an aggregator for the others where there are none": (
        {"aggregators": {"age": "mean", "height": "mean", "*": "median"}},
        "aggregators: '*'",
    ),
    "how to read a table in memory": ({"reading": {"delimiter": ";"}}, "reading: has no effect on a table"),
    "an unknown way to read": ({"reading": {"delimeter": ";"}}, "there is no setting 'reading.delimeter'; did you"),
    "a way to read that is no list of settings": ({"reading": "latin-1"}, "reading: "),
    "a number for a column": ({"quasi_identifiers": 3}, "quasi_identifiers"),
    "a mapping for a column": ({"quasi_identifiers": [[{"age": 1}]]}, "quasi_identifiers"),
    "a list for an aggregator": ({"aggregators": {"age": ["mean"]}}, "aggregators"),
    "a list for a weight": ({"weight": ["weight"]}, "weight: "),
    "all numeric columns beside named ones": ({"all_numeric": True}, "name the quasi-identifiers or ask for all"),
}


@pytest.mark.parametrize("what", SETTINGS)
def test_a_setting_without_effect_or_meaning_is_an_error(survey, what):
    changed, sentence = SETTINGS[what]
    settings = {"k": 3, "quasi_identifiers": ["age", "height"], "identifiers": "name"} | changed
    mistakes = mistakes_of(shoal.protect, survey, **settings)
    assert len(mistakes) == 1
    assert mistakes[0].startswith(sentence)


def test_what_is_given_beside_a_plan_takes_precedence(survey, tmp_path):
    plan = Plan(k=3, quasi_identifiers=["age"], identifiers=["name"], seed=5, aggregators="median")
    path = tmp_path / "plan.yaml"
    path.write_text(plan.to_yaml())
    for start in (plan, path, str(path)):
        release = shoal.protect(survey, 4, plan=start, quasi_identifiers=["height"], seed=0)
        assert release.plan == Plan(
            k=4, quasi_identifiers=["height"], identifiers=["name"], method="optimal", seed=0, aggregators="median"
        )
        assert release.summary.k == 4


def test_a_plan_in_a_file_is_checked_against_the_table_as_a_whole(survey, tmp_path):
    path = tmp_path / "plan.yaml"
    path.write_text("k: 3\nquasi_identifiers: [aeg]\nmetod: mdav\nidentifiers: [name]\n")
    told = "\n".join(mistakes_of(shoal.protect, survey, plan=path))
    assert "column 'aeg' is not in the table; did you mean 'age'?" in told
    assert "there is no setting 'metod'; did you mean 'method'?" in told


SAME = {
    "short": ({"k": 3, "quasi_identifiers": ["age"], "identifiers": ["name"]}, "-k 3 -q age --drop name"),
    "full": (
        FULL | {"reading": {"delimiter": ";", "missing": ["NA", "?"]}, "options": {"gamma": 1.1}},
        "-k 4 -q age,income -q height --drop name --keep satisfied --weight weight --strata region "
        "--small-strata merge --missing-patterns ignored -m v-mdav -O gamma=1.1 -a income=median -a trimmed-mean "
        "--scaling range --seed 7 "
        "--delimiter ; --missing NA,?",
    ),
    "every kind of option": (
        {
            "k": 3,
            "quasi_identifiers": ["age", "height"],
            "identifiers": ["name"],
            "method": "iv-mdav",
            "options": {"candidates": 3, "cap": True, "gamma": 1.0},
        },
        "-k 3 -q age,height --drop name -m iv-mdav -O candidates=3 -O cap=true -O gamma=1",
    ),
    "refined": (
        {"k": 3, "quasi_identifiers": ["age", "height"], "identifiers": ["name"], "method": "mdav", "refine": True},
        "-k 3 -q age,height --drop name -m mdav --refine",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", SAME)
def test_python_and_the_command_line_build_the_same_plan(tmp_path, survey, case):
    settings, arguments = SAME[case]
    table = tmp_path / "table.csv"
    survey.write_csv(table, separator=";")

    release = shoal.protect(table, output=tmp_path / "python.csv", **settings)
    words = arguments.split()
    result = run("protect", table, "-o", tmp_path / "command.csv", *words)

    assert result.exit_code == 0, result.output
    plans = [manifest_of(tmp_path / f"{way}.csv")["plan"] for way in ("python", "command")]
    assert plans[0] == plans[1] == release.plan.to_dict()
    assert (tmp_path / "python.csv").read_bytes() == (tmp_path / "command.csv").read_bytes()


def test_all_numeric_names_every_column_in_the_plan():
    table = pl.DataFrame(
        {"a": [1, 2, 3], "b": [1.0, 2.0, 4.0], "word": ["x", "y", "z"], "w": [1, 1, 2], "c": [3, 2, 1]}
    )
    release = shoal.protect(table, k=3, all_numeric=True, weight="w", confidential="c")
    assert release.plan == Plan(k=3, quasi_identifiers=["a", "b"], method="optimal", weight="w", confidential="c")


def test_how_to_read_is_the_same_as_a_mapping_or_a_value(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text("x;y\n1;a\n2;b\n3;NA\n")
    plans = [
        shoal.protect(path, k=3, quasi_identifiers="x", reading=reading, method="mdav").plan
        for reading in (Reading(missing=("NA",)), {"missing": ["NA"]})
    ]
    assert plans[0] == plans[1]
    assert plans[0].to_dict()["reading"] == {"missing": ["NA"]}


@pytest.mark.parametrize(
    ("setting", "asked"),
    [
        ("persons", {"identifiers": ["id"], "persons": ["id", "id"]}),
        ("nominal", {"nominal": ["a", "a"]}),
        ("blocking.columns", {"blocking": {"method": "spread-tree", "columns": ["a", "a"]}}),
    ],
)
def test_a_column_that_is_named_twice_in_a_list_is_a_mistake(setting, asked):
    name = "id" if setting == "persons" else "a"
    with pytest.raises(shoal.PlanError, match=rf"^{setting}: column '{name}' is named 2 times; name it once$"):
        Plan(k=3, quasi_identifiers=["a", "b"], **asked)
