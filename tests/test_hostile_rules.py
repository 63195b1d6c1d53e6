"""Rules that somebody else wrote: refused or run in bounded work, in both notations."""

from __future__ import annotations

import contextlib
import time

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import DataError, PlanError, ShoalError
from shoal.rules.grammar import parse_rule, parse_rules

TABLE = pl.DataFrame({"A": [1, 2, 3, 4, 5, 6], "B": [2, 3, 4, 5, 6, 7]})


def nested(levels, terms):
    """Return sums of sums, in parentheses: a tree of levels times terms."""
    text = "A"
    for _ in range(levels):
        text = f"({text}{' + B' * terms})"
    return f"{text} > 0"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("not " * 5000 + "A > 0", "nested too deep"),
        ("-" * 5000 + "A > 0", "nested too deep"),
        ("(" * 5000 + "A" + ")" * 5000 + " > 0", "nested too deep"),
        ("not (" * 3000 + "A > 0" + ")" * 3000, "nested too deep"),
        ("if A > 0 then " * 3000 + "A > 0", "nested too deep"),
        ("abs(" * 3000 + "A" + ")" * 3000 + " > 0", "nested too deep"),
        (nested(40, 150), "nested too deep"),
        (f"A < {'9' * 10_000}", "larger than a computer counts with"),
        (f"A in {{{'9' * 10_000}}}", "larger than a computer counts with"),
        ("A < 1e999", "larger than a computer counts with"),
        (f"A = B within {'9' * 5000}", "larger than a computer counts with"),
    ],
    ids=["not", "minus", "parentheses", "not (", "if", "abs", "sums", "digits", "constant", "power", "within"],
)
def test_a_rule_that_nests_or_counts_without_end_is_refused(text, told):
    with pytest.raises(PlanError, match=told):
        parse_rule(text)
    with pytest.raises(PlanError, match=told):
        shoal.protect(TABLE, k=2, quasi_identifiers=["A"], method="mdav", rules=[text])


@pytest.mark.parametrize(
    "text",
    [
        "not " * 100 + "A > 0",
        "-" * 90 + "A > 0",
        "(" * 45 + "A" + ")" * 45 + " > 0",
        nested(2, 120),
        f"A < 1{'0' * 300}",
    ],
    ids=["not", "minus", "parentheses", "sums", "digits"],
)
def test_the_deepest_rule_that_is_read_can_be_kept(text):
    release = shoal.protect(TABLE, k=2, quasi_identifiers=["A", "B"], method="mdav", rules=[text])
    assert release.summary.rules[0].violations_after == 0


WORDS = "A B not ( ) - + * / mod if then and or in is { } [ ] , < = 1 1e9 'x' abs( : from"


@settings(max_examples=300)
@given(st.lists(st.sampled_from(WORDS.split())))
def test_any_words_are_a_rule_or_a_plan_error(words):
    with contextlib.suppress(PlanError):
        parse_rule(" ".join(words))


def test_a_rule_over_many_lines_is_read_in_time_that_grows_with_them():
    text = "A = B" + "\n" * 2 + "\n +1" * 100 + "\n \n" * 200_000 + "\nA > 0\n"
    started = time.perf_counter()
    assert [rule.place for rule in parse_rules(text, "r.txt")] == ["r.txt, line 1", "r.txt, line 400104"]
    assert time.perf_counter() - started < 10


def schematron(tmp_path, body, **attributes):
    told = "".join(f" {name.replace('_', ':')}='{value}'" for name, value in attributes.items())
    path = tmp_path / "r.sch"
    path.write_text(f"<schema xmlns='http://purl.oclc.org/dsdl/schematron'{told}>{body}</schema>", encoding="utf-8")
    return path


def asserting(test):
    escaped = test.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
    return f'<pattern><rule context="Record"><assert test="{escaped}"/></rule></pattern>'


def test_xinclude_is_refused(tmp_path):
    body = "<xi:include href='/etc/passwd' parse='text'/>" + asserting("A > 0")
    path = schematron(tmp_path, body, xmlns_xi="http://www.w3.org/2001/XInclude")
    with pytest.raises(PlanError, match="<include>: other files are not read"):
        shoal.read_rules(path)


ENDLESS = {
    "constant": "matches('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!', '^(a+)+$')",
    "cell": "matches(name, '^(a+)+$')",
    "alternatives": "matches(name, '^(a|aa)+$')",
    "replace": "replace(name, '(a+)+$', '') = ''",
    "loop": "sum(for $i in 1 to 100000000, $j in 1 to 100000000 return $i * $j) &gt; number(A)".replace("&gt;", ">"),
    "some": "some $i in 1 to 1000000000, $j in 1 to 1000000000 satisfies $i = -number(A)",
}


@pytest.mark.parametrize("test", ENDLESS.values(), ids=list(ENDLESS))
def test_a_rule_in_schematron_cannot_hang_a_run(tmp_path, monkeypatch, test):
    monkeypatch.setattr("shoal.rules.engine.ENGINE_SECONDS", 3.0)
    path = schematron(tmp_path, asserting(test))
    table = TABLE.with_columns(pl.lit("a" * 34 + "!").alias("name"))
    started = time.perf_counter()
    with pytest.raises(ShoalError, match="more than 3 seconds"):
        shoal.check_rules(table, path)
    assert time.perf_counter() - started < 40
    good = schematron(tmp_path, asserting("matches(name, '^a+!$')"))
    assert [finding.violations for finding in shoal.check_rules(table, good)] == [0]


DOUBLED = {
    "variables": (
        "<let name='v0' value='number(A)'/>"
        + "".join(f"<let name='v{i + 1}' value='$v{i} + $v{i}'/>" for i in range(40)),
        "$v40 > 0",
    ),
    "ifs": ("", f"{'if (' * 40}A > 0{') then A > 0 else B > 0' * 40}"),
    "quantifiers": ("", f"every {', '.join(f'$x{i} in (A, B)' for i in range(14))} satisfies $x0 > 0"),
}


@pytest.mark.parametrize(("lets", "test"), DOUBLED.values(), ids=list(DOUBLED))
def test_what_doubles_with_every_word_is_left_to_the_engine(tmp_path, monkeypatch, lets, test):
    monkeypatch.setattr("shoal.rules.engine.ENGINE_SECONDS", 10.0)
    path = schematron(tmp_path, lets + asserting(test))
    started = time.perf_counter()
    (rule,) = shoal.read_rules(path)
    assert time.perf_counter() - started < 10
    assert rule.condition is None
    assert [finding.violations for finding in shoal.check_rules(TABLE, path)] == [0]


@pytest.mark.parametrize("test", ["(" * 3000 + "A" + ")" * 3000 + " > 0", "-" * 3000 + "A = 0", f"A < {'9' * 10_000}"])
def test_xpath_that_nests_or_counts_without_end_is_refused(tmp_path, test):
    with pytest.raises(PlanError):
        shoal.check_rules(TABLE, schematron(tmp_path, asserting(test)))


def test_the_engine_tells_the_right_record(tmp_path):
    path = schematron(tmp_path, asserting("xs:integer(v) > 1"), xmlns_xs="http://www.w3.org/2001/XMLSchema")
    table = pl.DataFrame({"v": ["5"] * 20 + ["6"] * 20 + ["x"] + ["7"] * 9})
    with pytest.raises(DataError, match="in at least 1 record, the first is record 41 "):
        shoal.check_rules(table, path)
