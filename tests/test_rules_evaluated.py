"""Rules on columns against a plain loop over records in exact fractions, and against Saxon."""

from __future__ import annotations

import re
from fractions import Fraction
from math import trunc

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import DataError, PlanError
from shoal.rules.evaluate import Observations, evaluate
from shoal.rules.expression import (
    And,
    Arithmetic,
    Call,
    Comparison,
    Implies,
    Integer,
    Member,
    Missing,
    Negative,
    Not,
    Number,
    Or,
    Original,
    Text,
    Variable,
    walk,
)
from shoal.rules.grammar import parse_condition
from shoal.rules.rule import Rule
from shoal.rules.schematron import read_schematron
from shoal.rules.schematron_writing import as_schematron
from shoal.rules.simplify import simplified
from shoal.tables.files.rows import RowForm, row_documents, row_texts


class Undefined(Exception):  # noqa: N818 - a value, not a mistake
    """0 / 0 and the like, which fractions do not have."""


def slow_value(node, record):
    """Value of an expression in a record; None where one that it needs is missing."""
    match node:
        case Number(value):
            return Fraction(value)
        case Text(value):
            return value
        case Variable(name):
            return record[name]
        case Negative(operand):
            x = slow_value(operand, record)
            return None if x is None else -x
        case Arithmetic(operator, left, right):
            a, b = slow_value(left, record), slow_value(right, record)
            if a is None or b is None:
                return None
            if operator in ("/", "mod") and b == 0:
                raise Undefined
            return {
                "+": lambda: a + b,
                "-": lambda: a - b,
                "*": lambda: a * b,
                "/": lambda: a / b,
                "mod": lambda: a - b * trunc(a / b),
            }[operator]()
        case Call(function, arguments):
            values = [slow_value(argument, record) for argument in arguments]
            there = [x for x in values if x is not None]
            if function == "count":
                return Fraction(len(there))
            if not there:
                return None
            x = there[0]
            return {
                "abs": lambda: abs(x),
                "round": lambda: Fraction((x + Fraction(1, 2)).__floor__()),
                "floor": lambda: Fraction(x.__floor__()),
                "ceiling": lambda: Fraction(x.__ceil__()),
                "sum": lambda: sum(there, Fraction(0)),
                "min": lambda: min(there),
                "max": lambda: max(there),
            }[function]()
    raise TypeError(node)


def slow_comparison(operator, a, b, tolerance):
    equal = abs(a - b) <= tolerance if isinstance(a, Fraction) else a == b
    return {
        "=": equal,
        "!=": not equal,
        "<": a < b and not equal,
        "<=": a < b or equal,
        ">": a > b and not equal,
        ">=": a > b or equal,
    }[operator]


def tolerance_of(node, whole):
    """Half a unit for an equality of a lone variable that is written without decimals with something computed."""
    computed = [isinstance(side, Arithmetic | Call) and side_is_arithmetic(side) for side in (node.left, node.right)]
    alone = [isinstance(side, Variable) and whole for side in (node.left, node.right)]
    return Fraction(1, 2) if node.operator in ("=", "!=") and any(computed) and any(alone) else Fraction(0)


def side_is_arithmetic(node):
    """Whether a side is the result of arithmetic that can be rounded."""
    match node:
        case Arithmetic() | Call("sum"):
            return True
        case Call("abs" | "min" | "max", arguments):
            return any(side_is_arithmetic(argument) for argument in arguments)
        case Negative(operand):
            return side_is_arithmetic(operand)
    return False


def slow_verdict(node, record, domain, whole):
    """True, False, or None where a rule is not applicable."""

    def of(part):
        return slow_verdict(part, record, domain, whole)

    match node:
        case And(parts):
            found = [of(part) for part in parts]
            return False if False in found else None if None in found else True
        case Or(parts):
            found = [of(part) for part in parts]
            return True if True in found else None if None in found else False
        case Not(operand):
            found = of(operand)
            return None if found is None else not found
        case Implies(antecedent, consequent):
            return of(Or((Not(antecedent), consequent)))
        case Missing(name):
            return record[name] is None
        case Original(name):
            return None if record[name] is None else record[name] in domain[name]
        case Member(operand, values):
            x = slow_value(operand, record)
            return None if x is None else x in [slow_value(value, record) for value in values]
        case Integer(operand):
            x = slow_value(operand, record)
            return None if x is None else x == x.__floor__()
        case Comparison(operator, left, right):
            a, b = slow_value(left, record), slow_value(right, record)
            return None if a is None or b is None else slow_comparison(operator, a, b, tolerance_of(node, whole))
    raise TypeError(node)


NAMES = ("A", "B", "C", "D")
HALVES = st.integers(-6, 6).map(lambda n: Fraction(n, 2))
CONSTANTS = st.integers(-8, 8).map(lambda n: Number(n // 2 if n % 2 == 0 else n / 2))


@st.composite  # so that the strategy has a short name where hypothesis writes it
def numbers(draw, depth, division):
    return draw(_numbers(depth, division))


def _numbers(depth, division):
    leaf = st.one_of(CONSTANTS, st.sampled_from(NAMES).map(Variable))
    if depth == 0:
        return leaf
    inner = numbers(depth - 1, division)
    operators = ["+", "-", "*", "/", "mod"] if division else ["+", "-", "*"]
    return st.one_of(
        leaf,
        st.builds(Arithmetic, st.sampled_from(operators), inner, inner),
        inner.filter(lambda v: not isinstance(v, Number)).map(Negative),
        st.builds(Call, st.sampled_from(["abs", "round", "floor", "ceiling"]), inner.map(lambda v: (v,))),
        st.builds(
            Call,
            st.sampled_from(["sum", "min", "max", "count"]),
            st.lists(st.sampled_from(NAMES).map(Variable), min_size=1, max_size=3).map(tuple),
        ),
    )


@st.composite
def conditions(draw, depth, division=True):
    return draw(_conditions(depth, division))


def _conditions(depth, division):
    value = numbers(2, division)
    leaf = st.one_of(
        st.builds(Comparison, st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), value, value),
        st.builds(Member, value, st.lists(CONSTANTS, min_size=1, max_size=3, unique=True).map(tuple)),
        st.sampled_from(NAMES).map(Original),
        st.sampled_from(NAMES).map(Missing),
        value.map(Integer),
    )
    if depth == 0:
        return leaf
    inner = conditions(depth - 1, division)
    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    return st.one_of(leaf, several.map(And), several.map(Or), inner.map(Not), st.builds(Implies, inner, inner))


RECORDS = st.lists(
    st.fixed_dictionaries({name: st.one_of(st.none(), HALVES) for name in NAMES}), min_size=1, max_size=6
)


def as_observations(records, decimals=None):
    columns = {}
    for name in NAMES:
        observed = np.array([record[name] is not None for record in records])
        columns[name] = Observations(np.array([float(record[name] or 0) for record in records]), observed, decimals)
    return columns


@given(conditions(2), RECORDS, RECORDS, st.booleans())
@settings(max_examples=100, deadline=None)
def test_columns_give_what_a_loop_over_records_gives(condition, records, before, whole):
    if whole:
        records, before = ([{n: v and Fraction(trunc(v)) for n, v in r.items()} for r in t] for t in (records, before))
    domain = {name: {record[name] for record in before} - {None} for name in NAMES}
    decimals = 0 if whole else None
    for tree in (condition, simplified(condition)):
        verdict = evaluate(tree, as_observations(records, decimals), as_observations(before, decimals))
        for row, record in enumerate(records):
            try:
                expected = slow_verdict(condition, record, domain, whole)
            except Undefined:
                continue
            got = True if verdict.holds[row] else False if verdict.violated[row] else None
            assert got == expected, (tree, record)


def exact_in_an_engine(condition):
    """Whether an engine that compares to the last digit and knows no missing values is asked the same question.

    Missing values in sums have another meaning where all are missing, and domains are compared as texts.
    """
    return not any(isinstance(node, Call) and node.function in ("sum", "min", "max") for node in walk(condition))


@given(st.lists(conditions(2, division=False).filter(exact_in_an_engine), min_size=1, max_size=5), RECORDS, RECORDS)
@settings(max_examples=30, deadline=None)
def test_saxon_says_the_same_of_every_record_that_a_rule_applies_to(tmp_path_factory, trees, records, before):
    pytest.importorskip("saxonche")
    from shoal.rules.engine import engine_violations

    path = tmp_path_factory.mktemp("rules") / "rules.sch"
    path.write_bytes(as_schematron([Rule(f"rule {i}", simplified(tree), "") for i, tree in enumerate(trees)]))
    rules = read_schematron(path)
    form = RowForm("Data", "Record", "", (), pl.DataFrame())

    def documents(table):
        columns = {
            n: pl.Series([None if r[n] is None else float(r[n]) for r in table], dtype=pl.Float64) for n in NAMES
        }
        return row_documents(row_texts(pl.DataFrame(columns), form, {}), form)

    ((original, _),) = documents(before)
    broken = engine_violations(rules, documents(records), original)
    for rule in rules:
        verdict = evaluate(rule.condition, as_observations(records), as_observations(before))
        fails = np.zeros(len(records), dtype=bool)
        fails[broken[rule.name]] = True
        applies = verdict.holds | verdict.violated
        assert (fails == verdict.violated)[applies].all(), rule


def cells(values, decimals=None):
    return Observations(np.array(values), np.ones(len(values), dtype=bool), decimals)


def test_arithmetic_is_compared_up_to_its_rounding_and_totals_up_to_the_files():
    sums = {"T": cells([0.3]), "A": cells([0.1]), "B": cells([0.2])}
    assert evaluate(parse_condition("T = A + B"), sums).holds.all()
    assert evaluate(parse_condition("A + B <= T"), sums).holds.all()
    assert evaluate(parse_condition("A + B > T"), sums).violated.all()
    rounded = {"R": cells([0.33], 2), "A": cells([1.0]), "B": cells([3.0])}
    assert evaluate(parse_condition("R = A / B"), rounded).holds.all()
    assert evaluate(parse_condition("R = A / B"), rounded | {"R": cells([0.33])}).violated.all()
    assert evaluate(parse_condition("R = A / B"), rounded | {"R": cells([0.34], 2)}).violated.all()
    assert evaluate(parse_condition("R = 0.334"), {"R": cells([0.33], 2)}).violated.all()  # nothing is computed


def test_undefined_results_break_every_comparison_but_unequal():
    columns = {"A": cells([0.0]), "B": cells([0.0])}
    assert evaluate(parse_condition("A / B = 0"), columns).violated.all()
    assert evaluate(parse_condition("A / B >= 0 or A / B < 0"), columns).violated.all()
    assert evaluate(parse_condition("A / B != 0"), columns).holds.all()
    assert evaluate(parse_condition("not A / B = 0"), columns).holds.all()


def test_texts_and_dates():
    texts = {"S": Observations(np.array(["F", "x"], dtype=object), np.array([True, False]))}
    assert evaluate(parse_condition("S in {F, M}"), texts).holds.tolist() == [True, False]
    assert evaluate(parse_condition("S = 'M'"), texts).violated.tolist() == [True, False]
    days = {
        "BORN": cells(np.array(["2000-01-01", "2020-01-01"], dtype="datetime64[D]")),
        "DIED": cells(np.array(["2010-01-01", "2019-01-01"], dtype="datetime64[D]")),
    }
    assert evaluate(parse_condition("BORN <= DIED"), days).holds.tolist() == [True, False]
    assert evaluate(parse_condition("BORN < '2010-06-30'"), days).holds.tolist() == [True, False]
    assert evaluate(parse_condition("DIED from original"), days, {"DIED": days["BORN"]}).violated.all()


@pytest.mark.parametrize(
    "text", ["E > 3", "A <= E", "E + A = 2", "E = 'x'", "E in {a, b}", "E from original", "sum(E) = 1"]
)
@pytest.mark.parametrize("kind", [object, float])
def test_a_column_without_values_is_of_any_kind(text, kind):
    columns = {
        "A": cells([1.0]),
        "E": Observations(np.array([""], dtype=kind) if kind is object else np.zeros(1), np.zeros(1, dtype=bool)),
    }
    verdict = evaluate(parse_condition(text), columns)
    assert not verdict.holds.any()
    assert not verdict.violated.any()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("S + 1 = 2", "'S' is a text where a number is needed"),
        ("S = A", "a text is compared with a number|a number is compared with a text"),
        ("A = 'F'", "a number is compared with a text"),
        ("D = 'never'", "write it as '2024-12-31'"),
        ("string(A) = string(A)", "numbers are compared as texts"),
    ],
)
def test_what_cannot_be_compared(text, told):
    columns = {
        "S": cells(np.array(["F"], dtype=object)),
        "A": cells([1.0]),
        "D": cells(np.array(["2000-01-01"], dtype="datetime64[D]")),
    }
    with pytest.raises(DataError, match=told):
        evaluate(parse_condition(text), columns)


def test_the_engine_names_the_rule_and_never_shows_a_value(tmp_path, capfd):
    pytest.importorskip("saxonche")
    from shoal.rules.engine import check_engine, engine_violations

    path = tmp_path / "rules.sch"
    body = '<pattern name="cast"><rule context="Record"><assert test="xs:integer(A) idiv 2 = 1"/></rule></pattern>'
    path.write_text(f'<schema xmlns="http://purl.oclc.org/dsdl/schematron">{body}</schema>')
    rules = read_schematron(path)
    with pytest.raises(DataError, match=r"rule 'cast' .* in at least 1 record, .* record 2 \(error FORG0001") as caught:
        engine_violations(
            rules, [("<Data><Record><A>2</A></Record><Record><A>secret</A></Record></Data>", 2)], "<Data/>"
        )
    assert "secret" not in str(caught.value) + "".join(capfd.readouterr())
    path.write_text(path.read_text().replace("xs:integer(A) idiv 2 = 1", "A castable as xs:foo"))
    with pytest.raises(PlanError, match="rule 'cast' cannot be run by the engine"):
        check_engine(read_schematron(path))
    path.write_text(path.read_text().replace("A castable as xs:foo", "A = 2").replace('"Record"', '"/Other/Record"'))
    with pytest.raises(PlanError, match="context '/Other/Record' matches no record"):
        engine_violations(read_schematron(path), [("<Data><Record><A>1</A></Record></Data>", 1)], "<Data/>")


@pytest.mark.parametrize("text", ["1 > 2", "not (2 != 0)", "if 1 = 1 then 2 = 2", "'x' = 'x'"])
def test_a_rule_without_a_column_is_refused_wherever_rules_are_read(text):
    table = pl.DataFrame({"a": [1, 2, 3, 4]})
    told = rf"rule '{re.escape(text)}' \(rule 2, line 1\) names no column"
    for ask in (shoal.check_rules, shoal.localise_errors):
        with pytest.raises(shoal.PlanError, match=told):
            ask(table, ["a >= 0", text])
    with pytest.raises(shoal.PlanError, match=told):
        shoal.protect(table, 2, "a", method="mdav", rules=["a >= 0", text])
