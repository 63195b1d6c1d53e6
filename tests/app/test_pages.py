"""Pages without a browser: what each shows and changes."""

from __future__ import annotations

import errno

import polars as pl
import pytest

import shoal
from shoal.app import draft, plan_fields, trees
from shoal.app.two_columns import maps
from small_wordnet import write_small_wordnet


def settings(visitor):
    return visitor.workspace.settings()


def place(visitor, name):
    return str(visitor.desk.opened().columns.index(name))


# open


def test_a_file_is_opened_by_its_path_paged_and_never_changed(visitor, tmp_path):
    path = tmp_path / "people.csv"
    pl.DataFrame({"age": range(100), "town": ["A", None] * 50}).write_csv(path)
    before = path.read_bytes()
    assert visitor.post("/open/path", {"path": str(path)}).status_code == 303
    first, last = visitor.get("/open").text, visitor.get("/open?from=90").text
    assert "Rows 1 to 25 of 100" in first
    assert '<td class="missing">missing</td>' in first
    assert "Rows 76 to 100 of 100" in last
    assert visitor.get("/open?from=10000000").text.count("<tr>") == last.count("<tr>")
    assert path.read_bytes() == before


@pytest.mark.parametrize("path", ["", "/nowhere.csv", "/etc", "/etc/hostname", "people.exe", "\x00.csv"])
def test_a_path_that_is_no_table_is_told(visitor, path):
    answer = visitor.post("/open/path", {"path": path})
    assert answer.status_code == 400
    assert "That is not possible" in answer.text


def test_a_bad_file_is_told_with_ways_to_read_it(visitor, tmp_path):
    path = tmp_path / "loehne.csv"
    path.write_bytes("größe;löhne\n1,5;2\n2,5;3\n".encode("utf-16"))
    visitor.post("/open/path", {"path": str(path)})
    text = visitor.get("/open").text
    if "cannot be read" in text:
        assert "utf-16" in text
        visitor.post("/open/reading", {"encoding": "utf-16"})
    assert visitor.desk.opened().columns == ["größe", "löhne"]
    damaged = tmp_path / "damaged.parquet"
    damaged.write_bytes(b"PAR1 nothing of it")
    visitor.post("/open/path", {"path": str(damaged)})
    assert "This file cannot be read as it is" in visitor.get("/open").text


def test_a_wrong_delimiter_is_mended_with_one_click(visitor, tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age|pay\n30|1\n40|2\n")
    visitor.desk.open(path, {"delimiter": ","})
    assert "Delimiter: bar" in visitor.get("/open").text
    visitor.post("/open/reading", {"delimiter": "|"})
    assert visitor.desk.opened().columns == ["age", "pay"]
    assert settings(visitor)["reading"] == {"delimiter": "|"}


def test_texts_for_missing_values_are_proposed_and_in_the_plan(visitor, tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age,pay\n" + "".join(f"{i},{'NA' if i % 7 == 0 else i * 10}\n" for i in range(60)))
    visitor.desk.open(path)
    assert settings(visitor)["reading"] == {"missing": ["NA"]}
    assert "taken for missing values" in visitor.get("/open").text


def test_an_upload_is_opened_and_one_that_is_damaged_is_told(visitor):
    sent = visitor.client.post("/open/upload", content=b"a,b\n1,2\n3,4\n", headers={"X-File-Name": "t.csv"})
    assert sent.json() == {"next": "/open"}
    assert visitor.desk.opened().records == 2
    bad = visitor.client.post("/open/upload", content=b"PAR1", headers={"X-File-Name": "t.parquet"})
    assert "next" in bad.json()
    assert "cannot be read" in visitor.get("/open").text


def test_a_full_disk_refuses_an_upload_and_a_change(with_example, monkeypatch):
    before = settings(with_example)
    monkeypatch.setattr(type(with_example.workspace), "space", lambda self: 0)
    sent = with_example.client.post("/open/upload", content=b"a\n1\n", headers={"X-File-Name": "t.csv"})
    assert sent.status_code == 413
    assert "room for" in sent.json()["error"]

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("shoal.app.workspace.write_text", full)
    answer = with_example.post("/protect", {"k": "7"})
    assert answer.status_code == 507
    assert "No space left" in answer.text
    assert settings(with_example) == before


def test_pages_lead_to_open_where_nothing_is(visitor):
    for path in ("/roles", "/meaning", "/choose", "/protect", "/compare", "/export"):
        assert visitor.get(path).headers["location"] == "/open"
    assert visitor.get("/history").status_code == 200


# roles


def test_roles_are_changed_for_one_and_for_many_and_undone(with_example):
    visitor = with_example
    assert settings(visitor)["identifiers"] == ["name"]
    visitor.post(
        "/roles/role", {"column": [place(visitor, "age"), place(visitor, "satisfied")], "role": "confidential"}
    )
    assert settings(visitor)["confidential"] == ["age", "satisfied"]
    assert "nominal" not in settings(visitor), "what was said of a quasi-identifier goes with it"
    visitor.post("/roles/role", {"column": place(visitor, "age"), "role": "quasi-identifier"})
    assert "age" in settings(visitor)["quasi_identifiers"][0]
    visitor.post("/undo")
    visitor.post("/undo")
    assert "confidential" not in settings(visitor)
    assert settings(visitor)["nominal"] == ["satisfied"]


@pytest.mark.parametrize("role", list(draft.ROLES))
@pytest.mark.parametrize("name", ["name", "age", "region", "weight", "satisfied"])
def test_every_role_fits_every_column_and_gives_a_plan_or_a_reason(with_example, name, role):
    with_example.post("/roles/role", {"column": place(with_example, name), "role": role})
    assert draft.roles(settings(with_example)).get(name, draft.KEPT) == role
    assert draft.why_not(settings(with_example)) == []
    shoal.Plan(**settings(with_example))


def test_kinds_and_sets(with_example):
    visitor = with_example
    for kind, setting in (("ordinal", "orders"), ("semantic", "hierarchies"), ("nominal", "nominal")):
        visitor.post("/roles/kind", {"column": place(visitor, "satisfied"), "kind": kind})
        assert "satisfied" in settings(visitor)[setting]
        assert draft.why_not(settings(visitor)) == []
    visitor.post("/roles/set", {"column": place(visitor, "age"), "set": "1"})
    assert settings(visitor)["quasi_identifiers"][1] == ["age"]
    visitor.post("/roles/set", {"column": place(visitor, "age"), "set": "0"})
    assert len(settings(visitor)["quasi_identifiers"]) == 1
    assert visitor.post("/roles/set", {"column": place(visitor, "age"), "set": "9"}).status_code == 400
    assert visitor.post("/roles/role", {"column": "999", "role": "kept"}).status_code == 404


def test_the_risk_before_is_that_of_the_table(with_example):
    text = with_example.get("/roles/risk").text
    names = draft.quasi_identifiers(settings(with_example))
    survey = with_example.desk.opened().frame
    counts = survey.group_by(names).len().get_column("len")
    assert f"{(counts == 1).sum():,}" in text
    assert f"{counts.filter(counts < 5).sum():,}" in text
    with_example.post("/roles/role", {"column": list("01234567"), "role": "kept"})
    assert "nothing to protect" in with_example.get("/roles/risk").text


# hierarchies and rules


def test_a_hierarchy_is_made_edited_and_written_into_the_plan(with_example):
    visitor, column = with_example, place(with_example, "region")
    visitor.post("/meaning/source", {"column": column, "source": "flat"})
    assert settings(visitor)["hierarchies"]["region"] == {"flat": True}
    change = {"column": column, "how": "add", "node": "*", "other": "coast"}
    assert visitor.post("/meaning/tree", change).status_code == 303
    visitor.post("/meaning/tree", {"column": column, "how": "move", "node": "north", "other": "coast"})
    visitor.post("/meaning/tree", {"column": column, "how": "rename", "node": "*", "other": "land"})
    visitor.post("/meaning/distance", {"column": column, "distance": "path"})
    source = settings(visitor)["hierarchies"]["region"]
    assert ["north", "coast"] in source["pairs"]
    assert ["coast", "land"] in source["pairs"]
    assert source["distance"] == "path"
    assert draft.why_not(settings(visitor)) == []
    text = "land\n  sea\n    north\n    south\n  east\n  west"
    visitor.post("/meaning/tree", {"column": column, "text": text})
    assert settings(visitor)["hierarchies"]["region"]["distance"] == "path"
    before = settings(visitor)
    lacking = visitor.post("/meaning/tree", {"column": column, "text": "land\n  north\n  south"})
    assert lacking.status_code == 400
    assert "not in the hierarchy" in lacking.text
    assert settings(visitor) == before
    visitor.post("/meaning/source", {"column": column, "source": ""})
    assert "hierarchies" not in settings(visitor)


def test_a_hierarchy_from_a_file_becomes_part_of_the_plan(with_example):
    text = "north;up;all\neast;up;all\nsouth;down;all\nwest;down;all\n"
    sent = {"column": place(with_example, "region"), "file": "../../x/region.csv", "text": text}
    assert with_example.post("/meaning/file", sent).status_code == 303
    assert ["north", "up"] in [list(pair) for pair in settings(with_example)["hierarchies"]["region"]["pairs"]]
    assert (with_example.workspace.folder / "hierarchies" / "region.csv").read_text() == text
    plan = shoal.Plan(**settings(with_example))
    assert shoal.load_hierarchy(plan.hierarchies["region"]).height == 3


@pytest.mark.parametrize(
    ("how", "node", "other", "told"),
    [
        ("move", "a", "b", "below itself"),
        ("move", "top", "a", "topmost"),
        ("rename", "a", "c", "already"),
        ("add", "a", "b", "already"),
        ("remove", "top", "", "topmost"),
    ],
)
def test_changes_that_a_tree_does_not_take(how, node, other, told):
    pairs = [("a", "top"), ("b", "a"), ("c", "top")]
    with pytest.raises(shoal.DataError, match=told):
        trees.CHANGES[how](pairs, node, other)


def test_an_order_is_taken_and_wrong_ones_are_told(with_example):
    column = place(with_example, "satisfied")
    with_example.post("/meaning/source", {"column": column, "source": "order"})
    assert settings(with_example)["orders"]["satisfied"] == [str(level) for level in range(1, 11)]
    with_example.post("/meaning/order", {"column": column, "text": "1\n1\n"})
    assert "give at least two values, each once" in with_example.get("/meaning").text


def test_rules_are_checked_while_typed_and_taken(with_example):
    text = "adult: age >= 18\nhours <= 40\nage >= and\nagee > 1"
    told = with_example.post("/meaning/rules/check", {"text": text}).text
    survey = with_example.desk.opened().frame
    assert "holds in all records" in told
    assert f"{(survey['hours'] > 40).sum()} records break it" in told
    assert "column 8: expected a value" in told
    assert "did you mean &#39;age&#39;" in told
    with_example.post("/meaning/rules", {"text": "adult: age >= 18", "broken": "keep-where-held"})
    assert settings(with_example)["rules"] == ["adult: age >= 18"]
    assert settings(with_example)["broken_rules"] == "keep-where-held"
    with_example.post("/meaning/rules", {"text": "", "broken": "keep-where-held"})
    assert {"rules", "broken_rules"} & set(settings(with_example)) == set()
    with_example.post("/meaning/rules/file", {"file": "bounds.rules", "text": "# bounds\nage >= 18\n"})
    assert "age >= 18" in settings(with_example)["rules"][0]


# protect


def test_every_setting_of_a_plan_has_a_field_or_a_page():
    fields = {field.name for field in plan_fields.others({})}
    assert fields | plan_fields.ELSEWHERE == set(shoal.Plan.model_fields)
    assert all(plan_fields.documented().get(name) for name in fields), "each says what it does"


def test_settings_are_taken_by_their_fields_and_left_out_at_their_defaults(with_example):
    visitor = with_example
    sent = {"setting_missing_patterns": "ignored", "setting_refine": "true", "setting_aggregators": "{'*': median}"}
    assert visitor.post("/protect", sent).status_code == 303
    assert settings(visitor)["missing_patterns"] == "ignored"
    assert settings(visitor)["refine"] is True
    assert settings(visitor)["aggregators"] == {"*": "median"}
    visitor.post(
        "/protect", {"setting_missing_patterns": "counted", "setting_refine": "false", "setting_aggregators": ""}
    )
    assert {"missing_patterns", "refine", "aggregators"} & set(settings(visitor)) == set()
    assert visitor.post("/protect", {"setting_aggregators": "{"}).status_code == 400


def test_a_method_takes_its_options_and_another_one_forgets_them(with_example):
    visitor = with_example
    visitor.post("/roles/role", {"column": [place(visitor, "region"), place(visitor, "satisfied")], "role": "kept"})
    visitor.post("/protect", {"k": "7", "method": "v-mdav"})
    visitor.post("/protect", {"k": "7", "method": "v-mdav", "option_gamma": "1.1"})
    assert settings(visitor)["options"] == {"gamma": 1.1}
    assert visitor.post("/protect", {"method": "v-mdav", "option_gamma": "x"}).status_code == 400
    visitor.post("/protect", {"method": "mdav"})
    assert "options" not in settings(visitor)
    assert settings(visitor)["k"] == 7


def test_a_plan_that_does_not_fit_is_not_run(with_example):
    with_example.post("/roles/role", {"column": list("01234567"), "role": "kept"})
    assert "there is no quasi-identifier yet" in with_example.get("/protect").text
    assert with_example.post("/protect/run").status_code == 400
    assert with_example.desk.runs.all() == []


def test_what_was_done_is_there_after_the_server_was_started_again(with_example):
    from visitors import Visitor

    with_example.post("/protect", {"k": "9"})
    with_example.close()
    later = Visitor(with_example.workspace.folder)
    try:
        assert settings(later)["k"] == 9
        assert later.workspace.can_undo()
        assert "Rows 1 to 25 of 1,000" in later.get("/open").text
    finally:
        later.close()


# maps


def test_a_map_counts_every_record_with_both_values_once():
    before = pl.DataFrame({"x": [1.0, 2.0, 3.0, None], "y": ["a", "a", None, "b"]})
    after = pl.DataFrame({"x": [2.0, 2.0, 2.0, 2.0], "y": ["a", "a", "a", "a"]})
    first, second = maps(before, after, "x", "y")
    assert sum(cell["records"] for cell in first["datasets"]["cells"]) == 3
    assert [cell["records"] for cell in second["datasets"]["cells"]] == [4]
    assert {cell["y"] for cell in first["datasets"]["cells"]} == {"a", "(missing)"}


@pytest.fixture
def jobs(visitor, tmp_path):
    path = tmp_path / "jobs.csv"
    pl.DataFrame({"job": ["technician", "cleaner#3", "executive", "IT"] * 10, "age": range(40)}).write_csv(path)
    visitor.desk.open(path)
    return visitor


def test_a_hierarchy_from_wordnet(jobs, tmp_path):
    pytest.importorskip("nltk", reason="the extra wordnet is not installed")
    folder, column = write_small_wordnet(tmp_path / "nltk_data"), place(jobs, "job")
    before = settings(jobs)
    asked = {"column": column, "source": "wordnet", "folder": str(folder)}
    lacking = jobs.post("/meaning/source", asked)
    assert lacking.status_code == 400
    assert "is not a noun of WordNet" in lacking.text
    assert settings(jobs) == before
    assert jobs.post("/meaning/source", asked | {"words": "IT = technician\n"}).status_code == 303
    source = settings(jobs)["hierarchies"]["job"]
    assert source == {"wordnet": {"words": {"IT": "technician"}, "folder": str(folder)}}
    text = jobs.get("/meaning").text
    assert 'data-node="skilled_worker"' in text
    assert "IT = technician</textarea>" in text
    jobs.post("/meaning/tree", {"column": column, "how": "remove", "node": "skilled_worker"})
    assert settings(jobs)["hierarchies"]["job"]["pairs"], "edited, it is in the plan by its names"
    assert "skilled_worker" not in str(settings(jobs)["hierarchies"])
    shoal.protect(jobs.desk.opened().frame, plan=shoal.Plan(**settings(jobs)))


def test_a_column_of_many_values_has_all_of_them_in_its_order_and_its_tree(visitor, tmp_path):
    path = tmp_path / "many.csv"
    pl.DataFrame({"code": [f"c{i:03d}" for i in range(300)] * 3, "age": range(900)}).write_csv(path)
    visitor.desk.open(path)
    for source in ("order", "flat"):
        visitor.post("/meaning/source", {"column": "0", "source": source})
        assert visitor.get("/meaning").status_code == 200
    change = {"column": "0", "how": "add", "node": "*", "other": "new"}
    assert visitor.post("/meaning/tree", change).status_code == 303
    assert len(settings(visitor)["hierarchies"]["code"]["pairs"]) == 301
    visitor.post("/meaning/source", {"column": "0", "source": "order"})
    assert len(settings(visitor)["orders"]["code"]) == 300
