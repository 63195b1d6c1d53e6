"""Plans from elsewhere: taken whole, never changed by being shown, and read as they say."""

from __future__ import annotations

from typing import Literal

import polars as pl
import pytest
import yaml
from forms import sent_back
from pydantic import Field
from visitors import Visitor

import command_line
import shoal
from shoal.app import draft, plan_fields

PAGES = ("/open", "/roles", "/meaning", "/choose", "/protect", "/export", "/history")
CHANGES = (
    "/protect",
    "/meaning/rules",
    "/meaning/order",
    "/meaning/distance",
    "/roles/role",
    "/roles/kind",
    "/roles/set",
)
BARE = {"k": 4, "quasi_identifiers": ["age", "height", "hours"], "identifiers": ["name"]}
PLANS = {
    "sets, weights and strata": {
        **BARE,
        "quasi_identifiers": [["age", "height"], ["hours"]],
        "weight": "weight",
        "strata": ["region"],
        "small_strata": "merge",
        "column_weights": {"age": 2.5},
        "decimals": {"*": 1, "age": "all"},
        "aggregators": {"age": "median", "*": "mean"},
        "scaling": "robust",
    },
    "categories": {
        **BARE,
        "quasi_identifiers": ["age", "region", "satisfied"],
        "hierarchies": {
            "region": {"tree": {"land": {"a": ["north", "south"], "b": ["east", "west"]}}, "siblings": "given"}
        },
        "orders": {"satisfied": [str(level) for level in range(10, 0, -1)]},
        "method": "sa-mdav",
        "options": {"rare": 2, "dissolve": True},
    },
    "rules": {
        **BARE,
        "rules": ["adult: age >= 18", "if hours > 80 then\n  age > 16"],
        "broken_rules": "keep-where-held",
        "product_rules": "geometric-means",
    },
    "conditions and blocks": {
        **BARE,
        "confidential": ["income"],
        "conditions": {"income": {"t": 0.3}},
        "accept": {"weight": "agreed with the owner"},
        "dominance": {"p": 10.0},
        "blocking": {"method": "2d-tree"},
        "missing_patterns": "ignored",
        "persons": [],
        "method": "v-mdav",
        "options": {"gamma": 0.2},
        "refine": True,
        "seed": 2**40,
    },
    "engine": {**BARE, "engine": {"name": "duckdb", "memory": "2GiB"}, "blocking": {"method": "2d-tree"}},
    "auto": {"k": 3, "quasi_identifiers": "auto", "set_size": 2, "identifiers": ["name"]},
    "options at their defaults": {**BARE, "method": "v-mdav", "options": {"gamma": 1.1}},
    "reading": {**BARE, "reading": {"missing": ["-1", "x, y"], "encoding": "utf-8"}},
}


def load(visitor, plan):
    text = plan if isinstance(plan, str) else yaml.safe_dump(plan, sort_keys=False)
    return visitor.post("/roles/plan", {"file": "plan.yaml", "text": text})


def stored(visitor):
    return shoal.Plan(**visitor.workspace.settings())


@pytest.mark.parametrize("name", list(PLANS))
def test_a_plan_is_taken_whole_and_no_page_or_form_that_comes_back_changes_it(with_example, name):
    plan = shoal.Plan(**PLANS[name])
    assert load(with_example, plan.to_yaml()).status_code == 303
    assert stored(with_example) == plan
    for page in PAGES:
        answer = with_example.get(page)
        assert answer.status_code == 200, page
        for action, fields in sent_back(answer.text, CHANGES):
            if not any(own in dict(fields) for own in ("how", "forget_file")):
                sent = with_example.post(action, dict(fields))
                assert sent.status_code == 303, (action, sent.text)
                assert stored(with_example) == plan, (page, action)
    assert with_example.workspace.settings() == draft.in_sets(plan.to_dict()), "not even written in another way"


class Later(shoal.Plan):
    """A plan of a later version, with settings that this one does not know."""

    nested: dict[str, dict[str, float]] = Field(default={})
    one_of: Literal["a", "b"] | None = None
    number_of: Literal[1, 2] = 1
    perhaps: bool | None = None
    amount: float = 0.0
    several: tuple[str, ...] | None = None
    either: int | str = 0


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"nested": {"households": {"id": 1e-9}}, "one_of": "b", "number_of": 2, "perhaps": False, "amount": 1e-07},
        {"perhaps": True, "several": [], "either": "12"},
        {"several": ["on", "2024-01-01", " x", "#"], "either": 7, "amount": 2.0},
    ],
)
def test_settings_that_the_application_has_never_seen_stay(with_example, monkeypatch, said):
    monkeypatch.setattr(shoal, "Plan", Later)
    plan = Later(**BARE, **said)
    assert load(with_example, plan.to_yaml()).status_code == 303
    forms = [form for page in ("/roles", "/protect") for form in sent_back(with_example.get(page).text, CHANGES)]
    assert any("setting_nested" in dict(fields) for _, fields in forms), "they can even be changed"
    for action, fields in forms:
        assert with_example.post(action, dict(fields)).status_code == 303
        assert Later(**with_example.workspace.settings()) == plan
    with_example.post("/roles/role", {"column": "1", "role": "confidential"})
    with_example.post("/protect", {"k": "9"})
    changed = Later(**with_example.workspace.settings())
    assert (changed.k, changed.confidential) == (9, ("age",))
    assert changed.model_copy(update={"k": 4, "confidential": (), "quasi_identifiers": plan.quasi_identifiers}) == plan


def test_a_setting_in_a_field_is_changed_by_what_is_typed(with_example, monkeypatch):
    monkeypatch.setattr(shoal, "Plan", Later)
    sent = {"setting_amount": "1e-7", "setting_perhaps": "false", "setting_number_of": "2", "setting_one_of": "b"}
    assert with_example.post("/protect", sent).status_code == 303
    found = {name: with_example.workspace.settings()[name] for name in ("amount", "perhaps", "number_of", "one_of")}
    assert found == {"amount": 1e-7, "perhaps": False, "number_of": 2, "one_of": "b"}
    with_example.post("/protect", {"setting_perhaps": "", "setting_number_of": "1", "setting_amount": ""})
    assert not {"perhaps", "number_of", "amount"} & set(with_example.workspace.settings())
    assert with_example.post("/protect", {"setting_amount": "much"}).status_code == 400


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("k: 3\nquasi_identifiers: [agee]", "column &#39;agee&#39; is not in the table; did you mean &#39;age&#39;?"),
        ("k: 1\nquasi_identifiers: [age]", "k"),
        ("k: 3\nquasi_identifiers: [age]\nhouseholdss: 1", "householdss"),
        ("k: [", "the plan"),
        ("", "the plan"),
        (
            "k: 3\nquasi_identifiers: [region]\nhierarchies: {region: {file: no.csv}}",
            "hierarchies.region.file: there is no",
        ),
        ("k: 3\nquasi_identifiers: [age]\nrules_file: no.rules", "rules_file: there is no"),
        ("k: 3\nquasi_identifiers: [age]\ncolumn_weights: {agee: 2}", "agee"),
    ],
)
def test_a_plan_that_does_not_fit_is_refused_and_nothing_changes(with_example, text, told):
    before = with_example.workspace.settings()
    answer = load(with_example, text)
    assert answer.status_code == 400
    assert told in answer.text
    assert with_example.workspace.settings() == before


def test_files_that_a_plan_names_are_found_beside_the_table(with_example):
    (with_example.workspace.folder / "tables" / "land.csv").write_text("north;a\nsouth;a\neast;a\nwest;a\n")
    assert load(with_example, "k: 3\nquasi_identifiers: [region]\nhierarchies: {region: land.csv}").status_code == 303
    file = stored(with_example).hierarchies["region"].file
    assert file == str(with_example.workspace.folder / "tables" / "land.csv"), "a run has another folder to look in"
    assert "This hierarchy does not fit" not in with_example.get("/meaning").text


@pytest.mark.parametrize(
    "more",
    ["rules_file: x.rules", "hierarchies: {region: {file: /etc/hostname}}", "engine: {name: spark, master: 'local[1]'}",
     "hierarchies: {region: {wordnet: {folder: /etc}}}"],
)  # fmt: skip
def test_a_plan_that_names_files_or_an_engine_is_refused_while_others_can_reach_it(tmp_path, more):
    visitor = Visitor(tmp_path / "workspace", password="herring", shared=True)
    try:
        visitor.post("/open/example")
        answer = load(visitor, f"k: 3\nquasi_identifiers: [region]\n{more}")
        assert answer.status_code == 400
        assert "others can reach" in answer.text
        assert visitor.post("/protect", {"setting_engine": "{name: spark}"}).status_code == 400
        assert "engine" not in visitor.workspace.settings()
    finally:
        visitor.close()


def test_quasi_identifiers_that_are_left_to_the_run_can_be_named(with_example):
    load(with_example, "k: 3\nquasi_identifiers: auto\nset_size: 2\nidentifiers: [name]")
    assert "The plan says <code>auto</code>" in with_example.get("/roles").text
    assert "nothing to protect" not in with_example.get("/roles/risk").text
    with_example.post("/roles/named")
    assert "age" in draft.quasi_identifiers(with_example.workspace.settings())
    assert stored(with_example).set_size is None


# reading


@pytest.fixture
def marked(visitor, tmp_path):
    path = tmp_path / "marked.csv"
    rows = [f"{i};{i},5;{'NA' if i % 7 == 0 else i};{-99 if i % 5 == 0 else i}\n" for i in range(1, 60)]
    path.write_text("age;height;pay;hours\n" + "".join(rows))
    visitor.desk.open(path)
    return visitor


def test_what_was_guessed_is_taken_back_and_what_is_asked_is_answered_with_one_click(marked):
    def offered():
        text = marked.get("/open").text
        return [dict(fields) for action, fields in sent_back(text, ["/open/mend"])]

    assert marked.desk.opened().frame["pay"].null_count() == 8
    assert {"name": "missing", "value": "NA", "how": "drop"} in offered()
    yes = {"name": "missing", "value": "-99", "how": "add"}
    assert yes in offered()
    marked.post("/open/mend", yes)
    assert marked.desk.opened().frame["hours"].null_count() == 11
    assert stored(marked).reading.missing == ("NA", "-99")
    marked.post("/open/mend", {"name": "missing", "value": "NA", "how": "drop"})
    assert marked.desk.opened().frame["pay"].dtype == pl.String, "it stays a value: nothing proposes it again by itself"
    assert stored(marked).reading.missing == ("-99",)
    assert {"name": "", "value": "", "how": "offered"} in offered()
    marked.post("/open/mend", {"how": "offered"})
    assert set(stored(marked).reading.missing) == {"NA", "-99"}
    assert marked.post("/open/mend", {"name": "header", "value": "x"}).status_code == 400


def test_a_decimal_comma_is_read_and_can_be_taken_back(marked):
    assert marked.desk.opened().frame["height"].dtype == pl.Float64
    fixes = [dict(fields) for _, fields in sent_back(marked.get("/open").text, ["/open/mend"])]
    back = next((fix for fix in fixes if fix["name"] == "decimal"), None)
    if back:
        marked.post("/open/mend", back)
        assert marked.desk.opened().frame["height"].dtype == pl.String


def test_roles_stay_when_a_file_is_read_in_another_way_and_can_be_undone(marked):
    marked.post("/roles/role", {"column": "0", "role": "confidential"})
    before = marked.workspace.settings()
    marked.post("/open/mend", {"name": "missing", "value": "-99", "how": "add"})
    assert stored(marked).confidential == ("age",)
    marked.post("/undo")
    assert marked.workspace.settings() == before
    marked.post("/open/reading", {"delimiter": "\t", "missing": ""})
    assert marked.workspace.settings().get("confidential") is None, "other columns have other roles"
    marked.post("/undo")
    assert marked.workspace.settings() == before
    assert marked.desk.opened().columns == ["age", "height", "pay", "hours"]


def test_a_plan_is_read_as_it_says_whatever_looking_proposes(marked):
    load(marked, "k: 3\nquasi_identifiers: [age]\nreading: {delimiter: ';'}")
    assert marked.desk.opened().frame["pay"].dtype == pl.String
    assert stored(marked).reading.missing == ()


def test_a_sheet_is_chosen_and_stays(visitor, tmp_path):
    pytest.importorskip("fastexcel")
    writer = pytest.importorskip("xlsxwriter")
    path = tmp_path / "book.xlsx"
    with writer.Workbook(str(path)) as book:
        for sheet in ("first", "second"):
            shoal.example(30).write_excel(book, worksheet=sheet)
    visitor.post("/open/path", {"path": str(path)})
    text = visitor.get("/open").text
    assert 'name="table"' in text
    visitor.post("/open/reading", {"table": "second"})
    assert visitor.desk.opened().records == 30
    assert visitor.workspace.settings()["reading"] == {"table": "second"}
    visitor.post("/open/mend", {"name": "missing", "value": "north", "how": "add"})
    assert visitor.workspace.settings()["reading"] == {"table": "second", "missing": ["north"]}


def test_a_packed_table_is_opened_and_its_release_is_packed_too(visitor, tmp_path):
    from shoal.app.endings import of_release

    path = tmp_path / "t.csv.zst"
    frame = shoal.example(30)
    pytest.importorskip("zstandard")
    import zstandard

    path.write_bytes(zstandard.ZstdCompressor().compress(frame.write_csv().encode()))
    assert visitor.post("/open/path", {"path": str(path)}).status_code == 303
    assert visitor.desk.opened().records == 30
    assert of_release(path) == ".csv.zst"
    assert visitor.get("/protect").status_code == 200


def test_every_field_of_the_plan_that_is_said_is_marked_as_such():
    said = {field.name for field in plan_fields.others(PLANS["conditions and blocks"]) if field.said}
    assert {"conditions", "accept", "dominance", "blocking", "missing_patterns", "persons", "refine", "seed"} <= said


def test_a_plan_is_given_at_the_start(tmp_path, monkeypatch):
    monkeypatch.setattr("shoal.app.server._run", lambda _, bound, *__: bound.close())
    monkeypatch.setattr("shoal.app.plot_scripts.PlotScripts.start", lambda _: None)
    shoal.example(30).write_csv(tmp_path / "t.csv")
    (tmp_path / "all.csv").write_text("north;a\nsouth;a\neast;a\nwest;a\n")
    (tmp_path / "plan.yaml").write_text("k: 3\nquasi_identifiers: [region]\nhierarchies: {region: all.csv}\n")
    monkeypatch.chdir(tmp_path)
    words = ["app", "t.csv", "--plan", "plan.yaml", "--workspace", "w", "--no-browser"]
    assert command_line.run(*words).exit_code == 0
    settings = yaml.safe_load((tmp_path / "w" / "plan.yaml").read_text())
    assert settings["hierarchies"]["region"]["file"] == str(tmp_path / "all.csv")
    for wrong, told in ((["app", "--plan", "plan.yaml", "--workspace", "v"], "no table"),
                        (["app", "t.csv", "--plan", "no.yaml", "--workspace", "v"], "cannot be read")):  # fmt: skip
        ended = command_line.run(*wrong, "--no-browser")
        assert ended.exit_code == 2
        assert told in ended.stderr
