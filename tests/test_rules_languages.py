"""Rules of other languages: R validate and CHECK constraints read, written, and refused with the reason."""

from __future__ import annotations

import math
import sqlite3

import numpy as np
import polars as pl
import pytest

import shoal
from command_line import run
from shoal.rules.evaluate import Observations, evaluate
from shoal.rules.grammar import parse_condition, parse_rules
from shoal.rules.languages import as_r, as_sql, as_validate
from shoal.rules.r_validate import parse_validate
from shoal.rules.sql_checks import parse_checks
from shoal.rules.writing import write_condition

VALIDATE = """\
rules:
- expr: staff >= 0
  name: staff
  label: number of staff
  description: |
    Nobody has a negative number of staff.
  created: 2020-11-01 12:00:00
  origin: command-line
  meta:
    language: validate 1.0.1
    severity: error
- expr: if (size == "small") turnover + other.rev <= 1e6
  name: small
  label: ''
  description: ''
  meta: {}
options:
  raise: none
  lin.eq.eps: 1.0e-08
"""


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("a + b == t", "a + b = t"),
        ("if (a < 15 && b != 0) t <= 2 * a", "if a < 15 and b != 0 then t <= 2 * a"),
        ("!(a > 1) | b > 2", "if a > 1 then b > 2"),
        ("!a > 1", "a <= 1"),
        ('kind %in% c("x", "y z")', "kind in {x, 'y z'}"),
        ("a %vin% 1:4", "a in {1, 2, 3, 4}"),
        ("is.na(a) | a >= -2.5", "a is missing or a >= -2.5"),
        ("!is.na(`a b`)", "`a b` is not missing"),
        ("a %% 1 == 0", "a is integer"),
        ("a %% 2 == 0", "a mod 2 = 0"),
        ("in_range(a, min = 0, max = 9)", "0 <= a <= 9"),
        ("abs(t - (a + b)) <= 1e-8", "abs(t - (a + b)) <= 1e-08"),
        ("pmax(a, b, na.rm = TRUE) <= t", "max(a, b) <= t"),
        ("a^2 <= t", "a * a <= t"),
        ("smoker == TRUE", "smoker = 'true'"),
        ("if (smoker) a > 0", "if smoker = 'true' then a > 0"),
        ("if (a > 0) b > 0 else b == 0", "(if a > 0 then b > 0) and (if a <= 0 then b = 0)"),
    ],
)
def test_expressions_of_r_are_read_as_what_they_mean(text, meant):
    (rule,) = parse_validate(text, "edits.R")
    assert write_condition(rule.condition) == meant
    assert rule.text == text


def test_a_text_of_r_goes_on_over_lines_and_has_names_for_parts():
    rules = parse_validate("# all\ntotal := a +\n b  # both\ntotal <= 10\nif (a > 0)\n  b > 0\n", "edits.R")
    assert [write_condition(rule.condition) for rule in rules] == ["a + b <= 10", "if a > 0 then b > 0"]
    assert [rule.place for rule in rules] == ["edits.R, line 4", "edits.R, line 5"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("mean(a) > 0", "'mean' is about a whole column"),
        ("sum(a) == 3", "'sum' is about a whole column"),
        ("is.numeric(a)", "'is.numeric' is about the type"),
        ("a ~ b", "about several records"),
        ("round(a) == a", "halves to the even number"),
        ("a %% 2 == 1", "remainder"),
        ("pmin(a, b) > 0", "na.rm"),
        ('grepl("x", a)', "a function of R"),
        ("a^0.5 > 1", "a power"),
        ("a + 1", "a value stands where a condition is needed"),
        ("a > 0 b > 1", "goes on after the condition"),
    ],
)
def test_a_rule_of_r_without_a_form_is_refused_with_its_place_and_the_reason(text, reason):
    with pytest.raises(shoal.PlanError, match=r"edits.R, line 2 has no form.*") as error:
        parse_validate(f"a > 0\n{text}\nb > 0\n", "edits.R")
    assert reason in str(error.value)


def firms(n=40):
    rng = np.random.default_rng(1)
    staff, turnover = rng.integers(0, 50, n), rng.integers(0, 900, n)
    size = np.where(staff < 10, "small", "large")
    return pl.DataFrame({"staff": staff, "turnover": turnover, "other.rev": rng.integers(0, 99, n), "size": size})


def test_a_file_of_validate_is_read_checked_kept_and_written_again(tmp_path):
    path = tmp_path / "edits.yaml"
    path.write_text(VALIDATE)
    rules = shoal.read_rules(path)
    assert [(rule.name, rule.place) for rule in rules] == [
        ("staff", "edits.yaml, rule 1"),
        ("small", "edits.yaml, rule 2"),
    ]
    assert [found.violations for found in shoal.check_rules(firms(), path)] == [0, 0]
    release = shoal.protect(firms(), 4, ["staff", "turnover", "other.rev"], method="mdav", rules=path)
    assert [rule.violations_after for rule in release.summary.rules] == [0, 0]
    for ending in ("yaml", "R", "rules", "sql"):
        again = tmp_path / f"again.{ending}"
        assert run("rules", "convert", path, "-o", again).exit_code == 0
        assert [rule.condition for rule in shoal.read_rules(again)] == [rule.condition for rule in rules]
    (tmp_path / "bad.yaml").write_text(VALIDATE.replace("staff >= 0", "var(staff) >= 0"))
    done = run("rules", "convert", tmp_path / "bad.yaml", "-o", tmp_path / "never.rules")
    assert done.exit_code != 0
    assert "rule 1 ('staff')" in done.output
    assert not (tmp_path / "never.rules").exists()


def test_a_plan_may_name_a_file_of_validate_or_sql(tmp_path):
    (tmp_path / "edits.yaml").write_text(VALIDATE)
    (tmp_path / "edits.sql").write_text("CREATE TABLE firms (staff INT CHECK (staff >= 0));")
    for name in ("edits.yaml", "edits.sql"):
        plan = shoal.Plan(k=4, quasi_identifiers=["staff"], rules=str(tmp_path / name))
        assert shoal.protect(firms(), plan=plan, method="mdav").summary.rules[0].violations_after == 0


SQL = """
-- of the firms
CREATE TABLE public.firms (
  id integer PRIMARY KEY,
  a integer NOT NULL CHECK (a >= 0),
  "b c" numeric(10, 2) CONSTRAINT range CHECK ("b c" BETWEEN 0 AND 9.5),
  kind varchar(3) CHECK (kind IN ('x', 'y''s')),
  CONSTRAINT dumped CHECK (((kind)::text = ANY ((ARRAY['x'::character varying, 'z'::character varying])::text[]))),
  CONSTRAINT cases CHECK (CASE WHEN a = 0 THEN "b c" = 0 ELSE TRUE END),
  CHECK (NOT (a > 3) OR t IS NOT NULL),
  CONSTRAINT share CHECK ("b c" / a < 0.5)
);
ALTER TABLE ONLY public.firms ADD CONSTRAINT sums CHECK ((a + firms.b) = t); -- and
INSERT INTO firms VALUES (1, 2, 3, 'x');
"""


def test_check_constraints_are_read_from_create_and_alter_table():
    found = {rule.name: write_condition(rule.condition) for rule in parse_checks(SQL, "firms.sql")}
    assert found == {
        "check_1": "a >= 0",
        "range": "0 <= `b c` <= 9.5",
        "check_3": "kind in {x, 'y''s'}",
        "dumped": "kind in {x, z}",
        "cases": "if a = 0 then `b c` = 0",
        "check_6": "if a > 3 then t is not missing",
        "share": "`b c` / a < 0.5",
        "sums": "a + b = t",
    }


@pytest.mark.parametrize(
    ("check", "reason"),
    [
        ("a / b > 1", "division of whole numbers"),
        ("name LIKE 'x%'", "letters of a text"),
        ("a > (SELECT max(a) FROM t)", "'select' has no counterpart"),
        ("ROUND(a) = a", "ROUND"),
        ("flag IS TRUE", "IS TRUE"),
        ("upper(name) = 'X'", "a function has no counterpart"),
        ("GREATEST(a, b) > 0", "GREATEST"),
        ("CASE WHEN a > 0 THEN b > 0 ELSE b = 0 END", "another ELSE than TRUE"),
        ("(a)::integer = a", "casts to whole numbers"),
    ],
)
def test_a_constraint_without_a_form_is_refused_by_name_with_the_reason(check, reason):
    with pytest.raises(shoal.PlanError, match=r"constraint 'odd' has no form") as error:
        parse_checks(f"CREATE TABLE t (a INT, CHECK (a > 0), CONSTRAINT odd CHECK ({check}))", "t.sql")
    assert reason in str(error.value)


def test_constraints_of_several_tables_or_of_none_are_refused():
    with pytest.raises(shoal.PlanError, match="of 2 tables"):
        parse_checks("CREATE TABLE t (a INT CHECK (a > 0)); CREATE TABLE u (b INT CHECK (b > 0));", "t.sql")
    with pytest.raises(shoal.PlanError, match="no CHECK constraint"):
        parse_checks("CREATE TABLE t (a INT NOT NULL);", "t.sql")


WRITTEN = [
    "a + b = t",
    "if a < 3 then b <= 2 * (t - 1)",
    "a in {1, 2, 3} or s = 'it''s'",
    "not (a < 2 and b > 3)",
    "a is missing or b is not missing",
    "a is integer",
    "-a + 3 >= b / (t - 2.5)",
    "a mod 3 = 1",
    "round(a / 4) <= 0",
    "if a > 2 and (b = 1 or t = 4) then s not in {x}",
    "abs(a - b) <= 2",
]


@pytest.mark.parametrize("text", WRITTEN)
def test_a_database_judges_a_written_constraint_as_we_judge_the_rule(text):
    """SQLite is the other judge; a constraint is violated where it is 0, and not where it is NULL."""
    rng = np.random.default_rng(7)
    numbers = {name: rng.integers(-4, 6, 300).astype(float) for name in "abt"}
    seen = {name: rng.random(300) < 0.85 for name in "abts"}
    texts = rng.choice(["x", "it's"], 300).astype(object)
    columns = {name: Observations(numbers[name], seen[name]) for name in "abt"} | {"s": Observations(texts, seen["s"])}
    ours = evaluate(parse_condition(text), columns).violated
    check = as_sql(parse_rules(text), "t").partition("CHECK (")[2].removesuffix(");\n")
    database = sqlite3.connect(":memory:")
    database.create_function("FLOOR", 1, lambda x: None if x is None else math.floor(x))
    database.execute("CREATE TABLE t (a REAL, b REAL, t REAL, s TEXT)")
    rows = [
        tuple(None if not seen[n][i] else texts[i] if n == "s" else numbers[n][i] for n in "abts") for i in range(300)
    ]
    database.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", rows)
    theirs = [row[0] == 0 for row in database.execute(f"SELECT ({check}) FROM t ORDER BY rowid")]
    assert ours.tolist() == theirs
    assert 0 < ours.sum() < 300 or text == "a is integer"


@pytest.mark.parametrize("text", [t for t in WRITTEN if "mod" not in t and "round" not in t])
def test_what_is_written_for_r_is_read_as_the_same_rule(text):
    (rule,) = parse_rules(text)
    assert parse_validate(as_r([rule]), "again.R")[0].condition == rule.condition
    (again,) = parse_checks(as_sql([rule], "t"), "again.sql") if "/" not in text else [rule]
    assert again.condition == rule.condition


@pytest.mark.parametrize(
    ("text", "reason"),
    [("a from original", "values of the original"), ("count(a, b) > 1", "count()"), ("sum(a, b) > 1", "sum()")],
)
def test_a_rule_that_a_language_has_no_words_for_is_refused_when_writing(text, reason):
    for write in (as_validate, as_r, lambda rules: as_sql(rules, "t")):
        with pytest.raises(shoal.PlanError, match="has no form in") as error:
            write(parse_rules(f"odd: {text}"))
        assert reason in str(error.value)


@pytest.mark.parametrize("text", ["/*" * 20_000, "[a" * 20_000, "'" * 19_999, "(" * 20_000, "a > (\n" * 5_000])
def test_a_hostile_text_is_refused_in_bounded_work(text):
    for parse in (parse_checks, parse_validate):
        with pytest.raises(shoal.PlanError):
            parse(f"CREATE TABLE t (a INT CHECK (a > {text}", "hostile")
