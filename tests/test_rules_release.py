"""Rules on their way through a release: row-wise XML, refusals, the check of the file as written, the command line."""

from __future__ import annotations

import json
import sys

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import shoal
from command_line import manifest_of, run
from schematron_files import FIGURES, ISO, OLD, write_schematron
from shoal.errors import BrokenPromise, DataError, MissingExtra, PlanError, ShoalError
from xml_files import BOMB, write_xml

pytest.importorskip("saxonche")


@pytest.fixture
def census():
    """Sixteen variables that obey the five rules of the paper's figures."""
    rng = np.random.default_rng(1)
    n = 200
    table = {f"V{i}": rng.integers(1, 20_000, n) for i in range(1, 14)}
    table["V3"] = rng.integers(0, 7501, n)
    table["V8"] = rng.integers(0, 6000, n)
    table["V13"] = np.where(table["V8"] < 1115, np.minimum(table["V13"], table["V12"]), table["V13"])
    table["V14"] = table["V9"] + table["V10"]
    table["V15"] = 1 / table["V11"]
    table["V16"] = table["V5"] * table["V15"]
    return pl.DataFrame(table)


def pattern(test, name="own", context="Record"):
    return f'<pattern name="{name}"><rule context="{context}"><assert test="{test}"/></rule></pattern>'


# -- a release that keeps its rules --------------------------------------------------------------------------------


def engine_counts(data, rules, original):
    return {found.name: found.violations for found in shoal.check_rules(data, rules, original=original)}


@pytest.mark.parametrize("ending", ["xml", "csv", "parquet"])
def test_the_papers_rules_hold_in_the_file(tmp_path, census, ending):
    original = write_xml(census, tmp_path / "microdata.xml")
    if ending != "xml":
        original = tmp_path / f"microdata.{ending}"
        census.write_csv(original) if ending == "csv" else census.write_parquet(original)
    file = write_schematron(tmp_path, FIGURES, OLD)
    out, loose = tmp_path / f"out.{ending}", tmp_path / f"loose.{ending}"
    done = run("protect", original, "-o", out, "-k", 5, "-m", "mdav", "--all-numeric", "--rules", file, "--json")
    assert done.exit_code == 0, done.output
    rules = json.loads(done.stdout)["rules"]
    assert [rule["name"] for rule in rules] == [rule.name for rule in shoal.read_rules(file)]
    for rule in rules:
        assert {"name", "kind", "kept_by", "violations_before", "violations_after", "guaranteed"} <= set(rule)
        assert rule["guaranteed"]
        assert rule["violations_before"] == rule["violations_after"] == 0
    assert set(engine_counts(out, file, original).values()) == {0}
    shoal.protect(original, 5, method="mdav", all_numeric=True, output=loose)
    assert sum(engine_counts(loose, file, original).values()) > 200
    manifest = manifest_of(out)
    assert manifest["rules"]["name"] == "rules.sch"
    assert len(manifest["rules"]["sha256"]) == 64


def test_rules_in_a_plan_are_the_same_rules(tmp_path, census):
    path = tmp_path / "plan.yaml"
    path.write_text(
        "k: 5\nmethod: mdav\nquasi_identifiers: [V9, V10, V14]\nrules:\n  - total: V14 = V9 + V10\n  - V9 >= 0\n"
    )
    plan = shoal.Plan.load(path)
    assert plan.rules == ("total: V14 = V9 + V10", "V9 >= 0")
    assert shoal.Plan.from_yaml(plan.to_yaml()) == plan
    a = shoal.protect(census, plan=path)
    b = shoal.protect(census, plan=plan, rules={"total": "V14 = V9 + V10", "V9 >= 0": "V9 >= 0"})
    assert_frame_equal(a.data, b.data)
    assert [rule.name for rule in a.summary.rules] == ["total", "V9 >= 0"]
    assert (a.data["V14"] == a.data["V9"] + a.data["V10"]).all()
    assert [rule.name for rule in shoal.read_rules(path)] == ["total", "V9 >= 0"]


def test_rules_given_take_the_place_of_those_in_the_plan(tmp_path, census):
    file = tmp_path / "edits.rules"
    file.write_text("V9 >= 0\n")
    plan = shoal.Plan(k=5, quasi_identifiers=["V9", "V10"], method="mdav", rules=str(file))
    assert plan.rules_file == str(file)
    release = shoal.protect(census, plan=plan, rules=["V10 >= 0"])
    assert [rule.name for rule in release.summary.rules] == ["V10 >= 0"]


@pytest.mark.parametrize(
    ("rules", "told"),
    [
        (
            "unknown.rules",
            "rule 'V99 > 0' .unknown.rules, line 1.: column 'V99' is not in the table; did you mean 'V9'",
        ),
        ("bounds.rules", "'low' and 'high' contradict each other"),
        ("syntax.rules", "syntax.rules, line 1, column 5: write = once"),
        ("text.rules", "a number is compared with a text"),
        ("function.sch", "unknown function 'nonsense'"),
        ("malformed.sch", "is not well-formed XML: line 1"),
        ("bomb.sch", "document type declaration"),
        ("other.sch", "document.'towns.xml'. is not the original data, which is 'microdata.xml'"),
        ("context.sch", "context 'Row' is about 'Row', and the records are called 'Record'"),
        ("texts.sch", "numbers are compared as texts"),
        ("nothing.rules", "has no rule"),
        ("absent.rules", "is not there"),
        ("broken.rules", r"breaks rule 'V9 < 100' .* in \d+ records, the first is record \d+; .*keep-where-held"),
    ],
)
def test_bad_rules_are_told_and_nothing_is_written(tmp_path, census, rules, told):
    contents = {
        "unknown.rules": "V99 > 0",
        "bounds.rules": "low: V9 <= 3\nhigh: V9 >= 5",
        "syntax.rules": "V9 == 3",
        "text.rules": "V9 = 'F'",
        "function.sch": f'<schema xmlns="{ISO}">{pattern("nonsense(V1)")}</schema>',
        "malformed.sch": f'<schema xmlns="{ISO}"><pattern></schema>',
        "bomb.sch": f'{BOMB}<schema xmlns="{ISO}">&b;</schema>',
        "other.sch": f'<schema xmlns="{ISO}">' + pattern("V1 = document('towns.xml')//V1") + "</schema>",
        "context.sch": f'<schema xmlns="{ISO}">{pattern("V1 > 0", context="Row")}</schema>',
        "texts.sch": f'<schema xmlns="{ISO}">{pattern("V1 = V2")}</schema>',
        "nothing.rules": "# nothing\n",
        "broken.rules": "V9 < 100",
    }
    original = write_xml(census, tmp_path / "microdata.xml")
    if rules in contents:
        (tmp_path / rules).write_text(contents[rules])
    before = set(tmp_path.iterdir())
    with pytest.raises(ShoalError, match=f"(?s){told}"):
        shoal.protect(original, 5, method="mdav", all_numeric=True, rules=tmp_path / rules, output=tmp_path / "out.xml")
    assert set(tmp_path.iterdir()) == before
    done = run("protect", original, "-o", tmp_path / "out.xml", "-k", 5, "--all-numeric", "--rules", tmp_path / rules)
    assert done.exit_code == 2
    assert set(tmp_path.iterdir()) == before


def test_rules_can_be_kept_where_they_held(census):
    rules = ["V9 <= V10"]
    with pytest.raises(DataError, match="breaks rule 'V9 <= V10'"):
        shoal.protect(census, 5, ["V9", "V10"], method="mdav", rules=rules)
    release = shoal.protect(census, 5, ["V9", "V10"], method="mdav", rules=rules, broken_rules="keep-where-held")
    held = (census["V9"] <= census["V10"]).to_numpy()
    assert 0 < held.sum() < len(held)
    assert (release.data["V9"] <= release.data["V10"]).to_numpy()[held].all()
    (found,) = release.summary.rules
    assert found.violations_before == int((~held).sum())
    with pytest.raises(PlanError, match="broken_rules: has no effect without rules"):
        shoal.protect(census, 5, ["V9", "V10"], broken_rules="keep-where-held")


@pytest.mark.parametrize(
    ("rules", "told"),
    [
        (5, "rules: give a list of expressions"),
        ([5], "rules.0: must be a text"),
        (["V9 >= 0", "V9 >= 0"], "rule 'V9 >= 0' is there 2 times"),
        (["V9 >=", "V9 <"], "2 mistakes"),
        ("edits.doc.sch", "is not there"),
    ],
)
def test_rules_that_are_none(census, rules, told):
    with pytest.raises(ShoalError, match=told):
        shoal.protect(census, 5, ["V9"], rules=rules)


def test_mistakes_in_rules_are_told_with_all_others(census):
    with pytest.raises(PlanError) as caught:
        shoal.protect(census, 1, ["V9", "nothing"], method="mdva", rules=["V9 ==", "V99 > 0"])
    assert len(caught.value.mistakes) == 4
    with pytest.raises(PlanError) as caught:
        shoal.protect(census, 1, ["V9", "nothing"], method="mdva", rules=["V99 > 0", "V98 > V97"])
    assert len(caught.value.mistakes) == 6


def test_a_rule_about_a_column_that_is_removed_is_refused(census):
    with pytest.raises(PlanError, match="column 'V1' is an identifier and not in the release"):
        shoal.protect(census, 5, ["V9"], identifiers="V1", rules=["V1 <= V1"])


# -- the check of the file as written ------------------------------------------------------------------------------


def test_a_file_that_breaks_a_rule_does_not_appear(tmp_path, census, monkeypatch):
    release = shoal.protect(census, 5, ["V9", "V10", "V14"], method="mdav", rules=["V14 = V9 + V10"])
    write = shoal.release.release.write_file

    def careless(frame, path, source, released):
        write(frame.with_columns(V14=pl.col("V14") + (pl.int_range(pl.len()) == 7)), path, source, released)

    monkeypatch.setattr(shoal.release.release, "write_file", careless)
    for ending in ("csv", "xml", "parquet"):
        with pytest.raises(BrokenPromise, match=r"do not hold in the release: rule 'V14 = V9 \+ V10' in 1 record"):
            release.write(tmp_path / f"out.{ending}")
    assert not any(tmp_path.iterdir())


def test_the_engine_judges_the_file_by_itself(tmp_path, census, monkeypatch):
    file = write_schematron(tmp_path, FIGURES)
    original = write_xml(census, tmp_path / "microdata.xml")
    release = shoal.protect(original, 5, method="mdav", all_numeric=True, rules=file)
    monkeypatch.setattr(
        "shoal.rules.checking.evaluate", lambda condition, columns, domain=None: _everything_holds(columns)
    )
    write = shoal.release.release.write_file

    def careless(frame, path, source, released):
        write(frame.with_columns(V16=pl.col("V16") * (1 + 1e-15)), path, source, released)

    release.write(tmp_path / "good.xml")
    monkeypatch.setattr(shoal.release.release, "write_file", careless)
    with pytest.raises(BrokenPromise, match="EC-NLC"):
        release.write(tmp_path / "out.xml")
    assert not (tmp_path / "out.xml").exists()


def _everything_holds(columns):
    from shoal.rules.evaluate import Verdict

    length = len(next(iter(columns.values())).observed)
    return Verdict(np.ones(length, dtype=bool), np.zeros(length, dtype=bool))


def test_a_rule_without_translation_is_checked_and_not_guaranteed(tmp_path, census):
    census = census.with_columns(TOWN=pl.Series(["Reus", "Vic"] * 100))
    good = write_schematron(tmp_path, pattern("matches(TOWN, '^[A-Z][a-z]+$')"))
    release = shoal.protect(census, 5, ["V9", "V10"], method="mdav", rules=good, output=tmp_path / "out.csv")
    (found,) = release.summary.rules
    assert (found.kind, found.guaranteed, found.violations_after) == ("unclassified", False, 0)
    assert "checked, not guaranteed" in found.kept_by
    ends = census.with_columns(V9=pl.Series(np.arange(200) * 10 + 7))
    bad = write_schematron(tmp_path, pattern("ends-with(V9, '7')"))
    before = set(tmp_path.iterdir())
    for output in (None, tmp_path / "bad.csv"):
        with pytest.raises(DataError, match=r"rule 'own' is checked and not guaranteed, and \d+ records"):
            shoal.protect(ends, 5, ["V9", "V10"], method="mdav", rules=bad, output=output)
    assert set(tmp_path.iterdir()) == before


def test_equalities_to_the_files_rounding_are_no_violations(tmp_path):
    rng = np.random.default_rng(3)
    tax, rate = rng.integers(100, 999, 60) / 100, rng.integers(10, 99, 60) / 100
    table = pl.DataFrame({"TAX": tax, "RATE": rate, "RATIO": np.round(tax * rate, 2), "SUM": np.round(tax + rate, 2)})
    file = write_schematron(
        tmp_path,
        pattern("number(TAX) * number(RATE) = number(RATIO)", "product")
        + pattern("number(TAX) + number(RATE) = number(SUM)", "sum"),
    )
    found = {one.name: one for one in shoal.check_rules(table, file)}
    assert found["product"].violations == found["sum"].violations == 0
    assert found["product"].up_to_rounding > 30
    assert 0 < found["sum"].up_to_rounding < 60
    release = shoal.protect(table, 5, list(table.columns), method="mdav", rules=file, output=tmp_path / "out.csv")
    assert {rule.violations_after for rule in release.summary.rules} == {0}


def test_a_missing_value_makes_a_rule_idle_and_no_violation(tmp_path):
    table = pl.DataFrame({"A": [1, None, 3, 4], "B": [1, 2, None, 3]})
    for rules in (["A <= B"], write_schematron(tmp_path, pattern("number(A) &lt;= number(B)"))):
        (found,) = shoal.check_rules(table, rules)
        assert (found.violations, found.rows, found.not_applicable) == (1, [4], 2)


# -- the command line ----------------------------------------------------------------------------------------------


def test_rules_check_lists_rows_and_never_values(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text("A,B\n1,2\n987654,3\n4,\n987654,5\n")
    rules = tmp_path / "r.rules"
    rules.write_text("order: A <= B\nbig: A > 0\n")
    done = run("rules", "check", path, rules)
    assert done.exit_code == 1
    assert "987654" not in done.output
    told = json.loads(run("rules", "check", path, rules, "--json").stdout)
    assert [(one["name"], one["violations"], one["rows"], one["not_applicable"]) for one in told] == [
        ("order", 2, [2, 4], 1),
        ("big", 0, [], 0),
    ]
    assert "2 and 1 more" in " ".join(run("rules", "check", path, rules, "--rows", "1").output.split())
    rules.write_text("big: A > 0\n")
    assert run("rules", "check", path, rules).exit_code == 0
    rules.write_text("A from original\n")
    done = run("rules", "check", path, rules)
    assert done.exit_code == 2
    assert "--original" in done.output
    assert run("rules", "check", path, rules, "--original", path).exit_code == 0


def test_rules_convert_goes_both_ways(tmp_path):
    file = write_schematron(tmp_path, FIGURES)
    text, again = tmp_path / "r.rules", tmp_path / "again.sch"
    assert run("rules", "convert", file, "-o", text).exit_code == 0
    assert run("rules", "convert", text, "-o", again, "--record", "Row", "--original", "all.xml").exit_code == 0
    first, second = shoal.read_rules(file), shoal.read_rules(again)
    assert [(r.name, r.condition) for r in first] == [(r.name, r.condition) for r in second]
    assert second[-1].schematron.documents == ("all.xml",)
    assert {r.schematron.context for r in second} == {"Row"}
    odd = write_schematron(tmp_path, pattern("matches(A, 'x')"))
    done = run("rules", "convert", odd, "-o", tmp_path / "odd.rules")
    assert done.exit_code == 2
    assert "has no form as an expression" in done.output
    assert not (tmp_path / "odd.rules").exists()
    assert run("rules", "convert", odd, "-o", tmp_path / "odd.sch").exit_code == 0
    assert shoal.read_rules(tmp_path / "odd.sch")[0].schematron.test == "matches(A, 'x')"
    assert run("rules", "convert", odd, "-o", tmp_path / "odd.doc").exit_code == 2


def test_the_extra_is_named_where_it_is_missing(tmp_path, census, monkeypatch):
    file = write_schematron(tmp_path, FIGURES)
    monkeypatch.setitem(sys.modules, "saxonche", None)
    with pytest.raises(MissingExtra, match=r"pip install 'shoal\[rules\]'"):
        shoal.protect(census, 5, method="mdav", all_numeric=True, rules=file)
    monkeypatch.setitem(sys.modules, "lxml", None)
    with pytest.raises(MissingExtra, match=r"pip install 'shoal\[rules\]'"):
        shoal.read_rules(file)
    shoal.protect(census, 5, ["V9"], method="mdav", rules=["V9 >= 0"], accept={"V10": "V9 is V10 and V14 together"})


def test_rules_are_kept_in_a_sweep_and_results_are_of_the_file_as_it_is(tmp_path, census):
    file = write_schematron(tmp_path, FIGURES)
    asked = {"k": "5,8", "methods": ["mdav"], "all_numeric": True, "rules": str(file), "output": tmp_path / "sweep"}
    found = shoal.sweep(census, **asked, threads=2)
    for k, loss in zip(found.table["k"], found.table["information_loss"], strict=True):
        release = shoal.protect(census, k, method="mdav", all_numeric=True, rules=file)
        assert loss == pytest.approx(release.summary.information_loss)
    folder, flags = tmp_path / "told", ("-k", "5", "-m", "mdav", "--all-numeric", "--rules", file, "--json")
    census.write_csv(tmp_path / "microdata.csv")
    told = json.loads(run("sweep", tmp_path / "microdata.csv", "-o", folder, *flags).stdout)
    assert told["results"][0]["information_loss"] == pytest.approx(found.table["information_loss"][0])
    write_schematron(tmp_path, pattern("V9 >= 0"))
    again = shoal.sweep(census, **asked)
    assert again.reused == 0
    assert (again.table["information_loss"] < found.table["information_loss"]).all()
