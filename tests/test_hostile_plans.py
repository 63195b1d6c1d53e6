"""Plans and hierarchies that somebody else wrote: refused in bounded work; no error shows what is in other files."""

from __future__ import annotations

import contextlib
import os
import time

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import shoal
from shoal.columns.hierarchy import load_hierarchy
from shoal.columns.hierarchy.nested import read_nested
from shoal.errors import DataError, FileError, PlanError, ShoalError
from shoal.plan import limits
from shoal.plan.hierarchies import HierarchySettings
from shoal.plan.loading import load_settings, plan_settings
from shoal.plan.plan import Plan

BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in zip("abcdefg", "bcdefgh", strict=True)
)
TABLE = pl.DataFrame({"age": [30, 31, 33, 60, 62, 64], "job": list("aabbcc")})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"{BOMB}k: 3\nquasi_identifiers: *h\n", "has a YAML alias (*name) in line 2"),
        ("k: 3\nquasi_identifiers: &q [age, *q]\n", "has a YAML alias (*name) in line 2"),
        ("k: &k 3\nseed: *k\n", "has a YAML alias (*name) in line 2"),
        (f"k: 3\nquasi_identifiers: {'[' * 5000}age{']' * 5000}\n", "nested more than 100 levels deep in line 2"),
        ("".join("  " * i + "a:\n" for i in range(3000)), "nested more than 100 levels deep in line 101"),
        (f"k: {'9' * 10_000}\n", "has a number of more than 400 characters in line 1"),
        (f"k: {':'.join(['10'] * 10_000)}\n", "k: must be a whole number, and not a text"),
        ("k: !!timestamp 2020-99-99\n", "looks like a number or a date and is none"),
        ("k: !!python/object/apply:os.system [ls]\n", "the plan is not valid YAML in line 1"),
        ('k: "\\UFFFFFFFF"\n', "the plan is not valid YAML"),
    ],
    ids=["bomb", "recursive", "alias", "lists", "names", "digits", "base 60", "date", "python", "escape"],
)
def test_a_plan_that_expands_nests_or_counts_without_end_is_refused(text, told):
    started = time.perf_counter()
    with pytest.raises(PlanError) as caught:
        Plan.from_yaml(text)
    assert told in str(caught.value)
    assert time.perf_counter() - started < 5


@pytest.mark.parametrize(
    "command", ["protect IN -o OUT.csv --plan PLAN", "rules check IN PLAN", "sweep IN --plan PLAN"]
)
def test_every_command_that_reads_a_plan_refuses_one_with_aliases(tmp_path, command):
    from typer.testing import CliRunner

    from shoal.cli import program

    plan, table = tmp_path / "p.yaml", tmp_path / "t.csv"
    plan.write_text(f"{BOMB}k: 3\nquasi_identifiers: [age]\nrules: *h\n", encoding="utf-8")
    TABLE.write_csv(table)
    words = command.replace("IN", str(table)).replace("PLAN", str(plan)).replace("OUT", str(tmp_path / "out")).split()
    result = CliRunner().invoke(program, words)
    assert result.exit_code == 2
    assert "has a YAML alias" in result.stderr


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ('k: "5"', "k: must be a whole number, and not a text"),
        ("k: true", "k: must be a whole number, and not true or false"),
        ("k: 5.5", "k: must be a whole number"),
        ("k: 1.0e+400", "k: must be a finite number"),
        (f"k: 1{'0' * 300}", "k: must be at most 1000000000"),
        ('seed: "1"', "seed: must be a whole number, and not a text"),
        (f"seed: {2**63}", f"seed: must be at most {2**63 - 1}"),
        ('refine: "yes"', "refine: must be true or false, and not a text"),
        ("refine: 1", "refine: must be true or false, and not a number"),
        ('column_weights: {age: "2"}', "column_weights.age: must be a number, and not a text"),
        ("column_weights: {age: .inf}", "column_weights.age: must be a finite number"),
        ("blocking: {method: spread-tree, size: 99999999999999999999}", "must be at most 1000000000000"),
    ],
)
def test_a_setting_of_another_kind_is_refused_and_not_converted(setting, told):
    base = {"k": "k: 3", "quasi_identifiers": "quasi_identifiers: [age]"}
    base.pop(setting.partition(":")[0], None)
    with pytest.raises(PlanError) as caught:
        Plan.from_yaml("\n".join([*base.values(), setting]))
    assert told in str(caught.value)


@pytest.mark.parametrize(
    "word", ["no", "on", "y", "010", "007", "1:30", "2020-01-01", "1_000", "0x1F", "0o7", "<<", "="]
)
def test_words_and_codes_in_a_plan_stay_what_they_are(word):
    plan = Plan.from_yaml(f"k: 3\nquasi_identifiers: [{word}]\norders: {{{word}: [{word}, a]}}\n")
    assert plan.quasi_identifiers == ((word,),)
    assert plan.orders == {word: (word, "a")}


@pytest.mark.parametrize(
    ("word", "value"), [("5", 5), ("-0", 0), ("1e-3", 1e-3), ("1E5", 1e5), (".5", 0.5), ("5.", 5.0), ("true", True)]
)
def test_numbers_in_decimals_and_true_are_read(word, value):
    found = plan_settings(f"option: {word}")["option"]
    assert (found, type(found)) == (value, type(value))


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["C"]), min_size=1), min_size=2, unique=True))
@example(["1e3", "1e-3", "no", "010", "1:30", "2020-01-01", "null", "~", "1_000", ".5", "true", "-"])
def test_a_plan_with_any_texts_comes_back_from_yaml(texts):
    plan = Plan(k=3, quasi_identifiers=texts, orders={texts[0]: texts})
    assert Plan.from_yaml(plan.to_yaml()) == plan


def test_seconds_without_end_are_refused():
    with pytest.raises(PlanError, match="option 'time' must be at most 1000000000000"):
        shoal.protect(TABLE, 3, "age", options={"time": 1e99})


@settings(max_examples=300)
@given(st.text(alphabet="ab1:.-[]{},&*!?|>'\"\\#%@`<\n\t eE_0~=u", max_size=60))
def test_any_text_is_a_plan_or_a_plan_error(text):
    with contextlib.suppress(PlanError):
        assert isinstance(plan_settings(text), dict)


@settings(max_examples=100)
@given(st.text(alphabet="ab1:.-[]{},&*!?'\"\\#\n\t e~", max_size=60))
def test_any_text_is_a_hierarchy_or_a_data_error(text):
    with contextlib.suppress(DataError):
        read_nested(text)


@pytest.mark.parametrize("kind", ["plan", "hierarchy", "words", "rules", "schematron"])
def test_what_a_plan_names_must_be_a_file_of_a_bounded_size(tmp_path, monkeypatch, kind):
    ending = {"plan": "yaml", "hierarchy": "csv", "words": "csv", "rules": "rules", "schematron": "sch"}[kind]
    path = tmp_path / f"x.{ending}"

    def read():
        if kind == "plan":
            return load_settings(path)
        if kind == "hierarchy":
            return load_hierarchy(path)
        if kind == "words":
            return load_hierarchy({"wordnet": {"words": str(path)}}, ["a"])
        return shoal.read_rules(path)

    os.mkfifo(path)
    with pytest.raises(FileError, match="a device or pipe"):
        read()
    path.unlink()
    path.symlink_to("/dev/zero")
    with pytest.raises(FileError, match="a device or pipe"):
        read()
    path.unlink()
    with path.open("wb") as handle:
        handle.truncate(limits.LARGEST_HIERARCHY + 1)  # without content, and so without cost
    with pytest.raises(FileError, match="which is the most that is read"):
        read()


SECRETS = [
    "root:$6$SECRET:19000:0:99999:7:::",
    "token = SECRET",
    "SECRET;SECRET2;x",
    "x,SECRET",
    '"SECRET',
    "SECRET(1)",
]


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("name", ["x", "x.csv", "x.yaml", "x.owl", "x.rules", "x.txt", "x.sch", "x.xml"])
def test_an_error_about_a_file_that_a_plan_names_shows_nothing_of_its_lines(tmp_path, name, secret):
    path = tmp_path / name
    path.write_text(f"{secret}\n{secret}\n a: b: {secret}\n", encoding="utf-8")
    for asked in ({"hierarchies": {"job": str(path)}}, {"rules": path}):
        with pytest.raises(ShoalError) as caught:
            shoal.protect(TABLE, k=2, quasi_identifiers=["age", "job"], method="sa-mdav", **asked)
        assert "SECRET" not in str(caught.value)


def test_a_hierarchy_that_is_a_chain_is_refused_by_its_depth(tmp_path):
    chain = tmp_path / "h.csv"
    chain.write_text("".join(f"v{i};v{i + 1}\n" for i in range(5000)), encoding="utf-8")
    started = time.perf_counter()
    with pytest.raises(DataError, match="is 5001 names deep, and 200 is the most; leave out some levels"):
        load_hierarchy(chain)
    assert time.perf_counter() - started < 5
    chain.write_text("".join(f"v{i};v{i + 1}\n" for i in range(199)), encoding="utf-8")
    assert load_hierarchy(chain).height == 200


def test_an_error_about_many_values_or_many_mistakes_is_short(tmp_path):
    with pytest.raises(DataError) as caught:
        load_hierarchy({"tree": {"top": ["a"]}}, [f"value {i}" for i in range(100_000)])
    assert "'value 19' and 99980 more" in str(caught.value)
    assert len(str(caught.value)) < 1000
    rows = tmp_path / "h.csv"
    rows.write_text("a;;b\n" * 10_000, encoding="utf-8")
    with pytest.raises(DataError) as caught:
        load_hierarchy(rows)
    assert len(caught.value.mistakes) >= 10_000
    assert len(str(caught.value)) < 5000


@pytest.mark.parametrize(
    "settings",
    [{"delimiter": "ab"}, {"delimiter": ""}, {"delimiter": "\n"}, {"encoding": "undefined"}, {"encoding": "a\0b"}],
    ids=repr,
)
def test_a_delimiter_or_encoding_that_is_none_is_refused(tmp_path, settings):
    path = tmp_path / "h.csv"
    path.write_text("a;b\nc;b\n", encoding="utf-8")
    with pytest.raises(ShoalError, match=r"delimiter: must be a single character|there is no encoding|is not in undef"):
        load_hierarchy({"file": str(path), **settings})


def test_numbers_that_would_be_written_out_with_a_billion_zeros_are_none():
    for value in ("1e999999999", "1e-999999999", "9" * 5000):
        with pytest.raises(DataError, match="these values are none"):
            load_hierarchy({"intervals": [10]}, [value])


ODD = [
    "7",
    "-1",
    "1.5",
    "true",
    "null",
    "text",
    "[]",
    "{}",
    "[1, 2]",
    "[[a], [b]]",
    "{a: 1}",
    "{1: 2}",
    "2020-01-01",
    "!!binary aGk=",
]


@pytest.mark.parametrize("setting", sorted(Plan.model_fields))
def test_any_setting_of_any_kind_is_taken_or_refused_in_words(tmp_path, setting):
    path = tmp_path / "p.yaml"
    base = {"k": "2", "quasi_identifiers": "[age]", "method": "mdav"}
    for value in ODD:
        given = {**base, setting: value}
        path.write_text("".join(f"{name}: {text}\n" for name, text in given.items()), encoding="utf-8")
        with contextlib.suppress(ShoalError):
            shoal.protect(TABLE, plan=path)
        with contextlib.suppress(ShoalError):
            shoal.read_rules(path)


@pytest.mark.parametrize("setting", sorted(HierarchySettings.model_fields))
def test_any_hierarchy_of_any_kind_is_taken_or_refused_in_words(tmp_path, setting):
    for value in ODD:
        with contextlib.suppress(ShoalError):
            given = plan_settings(f"job: {{{setting}: {value}}}")["job"]
            load_hierarchy(given, ["a", "b"])
        with contextlib.suppress(ShoalError):
            load_hierarchy({"tree": {"top": ["a", "b"]}, **given}, ["a", "b"])
