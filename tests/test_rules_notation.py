"""Both notations: what is read, what is refused, and that each can be written as the other."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from command_line import in_new_python
from schematron_files import FIGURES, ISO, OLD, pattern_of, write_schematron
from shoal.errors import PlanError, ShoalError
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
    variables_of,
)
from shoal.rules.grammar import parse_condition, parse_rule, parse_rules
from shoal.rules.rule import Rule
from shoal.rules.schematron import read_schematron
from shoal.rules.schematron_writing import as_schematron
from shoal.rules.simplify import simplified
from shoal.rules.writing import as_text, write_condition

A, B, C = map(Variable, "ABC")


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        (
            "T = A + B + 0.5 * C",
            Comparison(
                "=",
                Variable("T"),
                Arithmetic("+", Arithmetic("+", A, B), Arithmetic("*", Number(0.5), C)),
            ),
        ),
        ("A = B * C", Comparison("=", A, Arithmetic("*", B, C))),
        ("0 <= A <= 120", And((Comparison("<=", Number(0), A), Comparison("<=", A, Number(120))))),
        ("A in {F, M}", Member(A, (Text("F"), Text("M")))),
        ("if A < 1115 then B <= C", Implies(Comparison("<", A, Number(1115)), Comparison("<=", B, C))),
        ("A from original", Original("A")),
        ("A is integer", Integer(A)),
        ("A is not missing", Not(Missing("A"))),
        ("A in [0, 5]", And((Comparison("<=", Number(0), A), Comparison("<=", A, Number(5))))),
        ("A = B within 1", Comparison("<=", Call("abs", (Arithmetic("-", A, B),)), Number(1))),
        ("not (A < 1) or B = 2", Implies(Comparison("<", A, Number(1)), Comparison("=", B, Number(2)))),
        ("not (A < 1 or B > 2)", And((Comparison(">=", A, Number(1)), Comparison("<=", B, Number(2))))),
        ("A - B - C = 0", Comparison("=", Arithmetic("-", Arithmetic("-", A, B), C), Number(0))),
        ("-A * 2 > -3", Comparison(">", Arithmetic("*", Negative(A), Number(2)), Number(-3))),
        ("`hours-per-week` mod 1 = 0", Integer(Variable("hours-per-week"))),
        ("A in {Never married, self-emp, 01, -3, 'a, b'}", None),
        ("A = 'it''s'", Comparison("=", A, Text("it's"))),
        ("A in {F}", Comparison("=", A, Text("F"))),
    ],
)
def test_expressions_become_trees(text, tree):
    found = parse_condition(text)
    if tree is None:
        values = ("Never married", "self-emp", "01")
        assert found == Member(A, (*map(Text, values), Number(-3), Text("a, b")))
    else:
        assert found == tree


@pytest.mark.parametrize(
    ("text", "column", "told"),
    [
        ("A == B", 4, "write = once"),
        ("A + ", 5, "expected a value"),
        ("if A < 3 then", 14, "the rule ends here"),
        ("if A < 3 B = 2", 10, "expected 'then'"),
        ("foo(A) = 1", 1, "there is no function 'foo'"),
        ("flor(A) = 1", 1, "did you mean 'floor'?"),
        ("A", 1, "expected a condition"),
        ("A in {", 7, "expected a constant"),
        ("A in F", 6, "expected '{' or '['"),
        ("(A < B) + 1 = 2", 1, "expected a value here, and this is a condition"),
        ("A is", 5, "expected 'integer' or 'missing'"),
        ("1x = 2", 1, "this is no number"),
        ("A = 'x", 5, "a quote is left open"),
        (": A = 1", 1, "expected a name"),
        ("A < B C", 7, "expected an operator"),
        ("abs(A, B) = 1", 1, "takes one value, not 2"),
        ("A $ B", 3, "this character has no meaning"),
        ("A + 1 from original", 1, "expected a variable before 'from original'"),
        ("A <= B within 2", 8, "'within' belongs to a single '='"),
        ("in = 3", 1, "this is a word of the notation"),
        ("A = B" + " + B" * 300, 807, "use sum"),
        ("(" * 200 + "A", 51, "nested too deep"),
    ],
)
def test_a_mistake_is_pointed_at(text, column, told):
    with pytest.raises(PlanError) as caught:
        parse_rule(text, "rules.txt", 7)
    message, shown, caret = str(caught.value).split("\n")
    assert message.startswith(f"rules.txt, line 7, column {column}: ")
    assert told in message
    assert shown == "    " + text
    assert caret == "    " + " " * (column - 1) + "^"


def test_a_text_of_rules_has_names_comments_and_lines_that_go_on():
    rules = parse_rules("# all\nsum: T = A +\n    B  # parts\n\n'a: b': A >= 0\nB is integer\n", "r.txt")
    assert [rule.name for rule in rules] == ["sum", "a: b", "B is integer"]
    assert variables_of(rules[0].condition) == ("T", "A", "B")
    with pytest.raises(PlanError, match=r"(?s)r.txt, line 3, column 7.*r.txt, line 4") as caught:
        parse_rules("ok: A = 1\nsum: T = A +\n  B = = 3\nC <", "r.txt")
    assert len(caught.value.mistakes) == 2
    with pytest.raises(PlanError, match="rule 'x' is there 2 times"):
        parse_rules("x: A = 1\nx: B = 1")


# -- there and back ----------------------------------------------------------------------------------------------

NAMES = st.sampled_from(["A", "B", "TOTAL", "V10", "x_y", "näme"])
NUMBERS = st.one_of(st.integers(-(10**12), 10**12), st.floats(-1e9, 1e9).filter(lambda x: "e" not in repr(x))).map(
    lambda value: Number(int(value) if value == int(value) else value)
)
TEXTS = (
    st.text("abcXYZ019 -'\"{},é", min_size=1, max_size=6).filter(lambda t: t.strip() == t and "  " not in t).map(Text)
)


def _values(depth):
    leaf = st.one_of(NUMBERS, NAMES.map(Variable))
    if depth == 0:
        return leaf
    inner = _values(depth - 1)
    return st.one_of(
        leaf,
        st.builds(Arithmetic, st.sampled_from(["+", "-", "*"]), inner, inner),
        st.builds(Arithmetic, st.sampled_from(["/", "mod"]), inner, NAMES.map(Variable)),  # the parser computes 0 / 0
        inner.filter(lambda v: not isinstance(v, Number)).map(Negative),
        st.builds(Call, st.sampled_from(["abs", "round", "floor", "ceiling"]), inner.map(lambda v: (v,))),
        st.builds(
            Call, st.sampled_from(["sum", "min", "max", "count"]), st.lists(inner, min_size=1, max_size=3).map(tuple)
        ),
    )


def _conditions(depth):
    value = _values(2)
    leaf = st.one_of(
        st.builds(Comparison, st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), value, value),
        st.builds(Comparison, st.sampled_from(["=", "!=", "<"]), NAMES.map(Variable), TEXTS),
        st.builds(
            lambda a, b: Comparison("=", Call("string", (Variable(a),)), Call("string", (Variable(b),))), NAMES, NAMES
        ),
        st.builds(Member, NAMES.map(Variable), st.lists(TEXTS, min_size=1, max_size=3, unique=True).map(tuple)),
        st.builds(Member, NAMES.map(Variable), st.lists(NUMBERS, min_size=1, max_size=3, unique=True).map(tuple)),
        NAMES.map(Original),
        NAMES.map(Missing),
        NAMES.map(lambda name: Integer(Variable(name))),
    )
    if depth == 0:
        return leaf
    inner = _conditions(depth - 1)
    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    return st.one_of(leaf, several.map(And), several.map(Or), inner.map(Not), st.builds(Implies, inner, inner))


@given(_conditions(3))
@settings(max_examples=300, deadline=None)
def test_what_is_written_as_an_expression_reads_as_the_same_rule(condition):
    tree = simplified(condition)
    assert parse_condition(write_condition(tree)) == tree
    assert simplified(tree) == tree


@given(_conditions(3))
@settings(max_examples=200, deadline=None)
def test_what_is_written_as_schematron_reads_as_the_same_rule(tmp_path_factory, condition):
    pytest.importorskip("elementpath")
    tree = simplified(condition)
    path = tmp_path_factory.mktemp("rules") / "rules.sch"
    path.write_bytes(as_schematron([Rule("name: of it", tree, "text")]))
    (rule,) = read_schematron(path)
    assert rule.name == "name: of it"
    assert rule.condition == tree
    again = parse_rules(as_text([rule]))
    assert again[0].name == rule.name
    assert again[0].condition == tree


# -- the figures of Torra, Cano and Navarro-Arribas (2009) ---------------------------------------------------------

EXPECTED = {
    "EC-LC: V9+V10 = V14": "1 * V9 + 1 * V10 = V14",
    "EC-NLC: V5*V15 = V16": "V5 * V15 = V16",
    "EC-PV: V3 in [0, 7500]": "0 <= V3 <= 7500",
    "EC-LC: if V8 < 1115 then V13 <= V12": "if V8 < 1115 then V13 <= V12",
    "Value-domain restriction": "V1 from original",
}


def test_xpath_is_read_the_same_in_any_locale_that_another_library_has_set():
    """The engine of Schematron sets it; elementpath then failed once, and waited for a lock without end after that."""
    pytest.importorskip("elementpath")
    code = (
        "import locale; from shoal.rules.xpath import parse_xpath; locale.setlocale(locale.LC_COLLATE, '{}');"
        "print([parse_xpath('max((1, 2)) >= 1', {{}}, 'here').symbol for _ in range(2)])"
    )
    assert in_new_python(code.format("C")) == in_new_python(code.format("C.UTF-8")) == "['>=', '>=']"


@pytest.mark.parametrize("namespace", [ISO, OLD, ""])
def test_the_figures_as_they_stand(tmp_path, namespace):
    rules = read_schematron(write_schematron(tmp_path, FIGURES, namespace))
    assert {rule.name: write_condition(rule.condition) for rule in rules} == EXPECTED
    assert rules[-1].schematron.documents == ("microdata.xml",)


@pytest.mark.parametrize(
    ("test", "expression"),
    [
        ("if (V1 &gt; 3) then V2 &lt; 5 else true()", "if V1 > 3 then V2 < 5"),
        ("V1 = ('F', 'M')", "V1 in {F, M}"),
        ("V1 = 1 to 3", "V1 in {1, 2, 3}"),
        ("every $x in (V1, V2) satisfies $x &gt; 0", "V1 > 0 and V2 > 0"),
        ("some $x in (V1, V2), $y in (1, 2) satisfies $x = $y", "V1 = 1 or V1 = 2 or V2 = 1 or V2 = 2"),
        ("./V2 + V3 &gt;= -5", "V2 + V3 >= -5"),
        ("sum((V1, V2)) = number(V3)", "sum(V1, V2) = V3"),
        ("avg((V1, V2)) &lt; 3", "sum(V1, V2) / count(V1, V2) < 3"),
        ("exists(V1) and not(V2)", "V1 is not missing and V2 is missing"),
        ("normalize-space(V1) != ''", "V1 is not missing"),
        ("V1 castable as xs:integer", "V1 is integer"),
        ("number(V1) = round(number(V1))", "V1 is integer"),
        ("V1 = V2", "string(V1) = string(V2)"),
        ("V1/text() = 'F'", "V1 = 'F'"),
        ("current()/V1 div 2 &lt; 3", "V1 / 2 < 3"),
        ("V1 eq 'F' or number(V2) lt 3", "V1 = 'F' or V2 < 3"),
        ("V1 = document('microdata.xml')//Record/V1", "V1 from original"),
        ("number(V1) = document('m.xml')//V1/number(.)", "V1 from original"),
        ("some $o in document('m.xml')//V1 satisfies $o = V1", "V1 from original"),
        ("(V1, V2) = 3", "V1 = 3 or V2 = 3"),
        ("true() and V1 = 3", "V1 = 3"),
        ("matches(V1, '^[a-z]+$')", None),
        ("string-length(V1) = 3", None),
        ("V1 idiv 2 = 3", None),
        ("V1 = document('m.xml')//V2", None),
    ],
)
def test_what_xpath_means(tmp_path, test, expression):
    (rule,) = read_schematron(write_schematron(tmp_path, pattern_of(f'<assert test="{test}"/>')))
    assert (write_condition(rule.condition) if rule.condition else None) == expression


def test_reports_lets_contexts_and_the_order_of_rules(tmp_path):
    body = """
    <ns prefix="d" uri="urn:data"/>
    <let name="most" value="7500"/>
    <pattern id="several">
      <let name="least" value="-$most"/>
      <rule context="d:Record[V8 &lt; 1115]">
        <report test="V3 &lt; $least or V3 > $most"/>
        <assert id="own" test="d:V1 > 0"/>
      </rule>
      <rule context="d:Record"><assert test="V4 = 4"/></rule>
    </pattern>
    <pattern><rule context="Record/V2"><assert test="number(.) >= ../V1"/></rule></pattern>
    """
    rules = read_schematron(write_schematron(tmp_path, body))
    assert {rule.name: write_condition(rule.condition) for rule in rules} == {
        "several (1)": "if V8 < 1115 then V3 >= -7500 and V3 <= 7500",
        "own": "if V8 < 1115 then V1 > 0",
        "several (2)": "if V8 >= 1115 then V4 = 4",
        "number(.) >= ../V1": "V2 >= V1",
    }


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (pattern_of('<assert test="foo(V1)"/>'), r"rules.sch, line 1: .*at character 1: unknown function 'foo'"),
        (pattern_of('<assert test="V1 + = 2"/>'), "unexpected '='"),
        (pattern_of('<assert test="V1 = $limit"/>'), r"there is no variable '\$limit'"),
        (pattern_of('<assert test="x:V1 = 2"/>'), "prefix 'x' is not declared"),
        (pattern_of("<assert test=\"doc('/etc/passwd') = V1\"/>"), r"'doc\(\)' looks outside the record"),
        (pattern_of('<assert test="count(//Record) = 3"/>'), "a path from the root"),
        (pattern_of('<assert test="preceding-sibling::Record/V1 = V1"/>'), "looks outside the record"),
        (pattern_of('<assert test="document(V1)//a = V1"/>'), "in quotes"),
        (pattern_of("<assert/>"), "<assert> needs a test"),
        (pattern_of('<assert test="V1 = 1"><value-of select="nonsense("/></assert>'), "cannot understand the XPath"),
        ("<pattern><rule><assert test='V1 = 1'/></rule></pattern>", "<rule> needs a context"),
        (pattern_of('<assert test="V1 = 1"/>', "*"), "name the element that is a record"),
        (pattern_of('<assert test="V1 = 1"/>', "Record[doc('x.xml')//a = 1]"), r"'doc\(\)' looks outside the record"),
        (pattern_of('<assert test="V1 = 1"/>', "document('x.xml')//Record"), "a context has no document"),
        (pattern_of('<assert test="V1 = 1"/>', "doc('x.xml')//Record"), r"'doc\(\)' looks outside the record"),
        (pattern_of('<assert test="V1 = 1"/>', "Record[1]"), "about all records"),
        ("<ns prefix='1x' uri='urn:x'/>", "<ns> needs a prefix"),
        (pattern_of('<assert test="' + "V1 + " * 3000 + 'V1 = 0"/>'), "too long|too deep"),
        ("<include href='http://example.org/more.sch'/>", "<include>: other files are not read"),
        (pattern_of("<extends rule='a'/>"), "<extends>: abstract rules"),
        ("<pattern is-a='p'/>", "is-a"),
        ("<xsl:function xmlns:xsl='http://www.w3.org/1999/XSL/Transform' name='f'/>", "is XSLT"),
        ("<title>nothing</title>", "has no assert and no report"),
        (
            "<pattern><rule context='Record'><assert test='V1=1'/></rule><rule context='Record'/></pattern>",
            "this one never applies",
        ),
        (pattern_of('<assert id="a" test="V1 = 1"/><assert id="a" test="V2 = 1"/>'), "rule 'a' is there 2 times"),
    ],
)
def test_schematron_that_cannot_be_read(tmp_path, body, told):
    with pytest.raises(PlanError, match=told):
        read_schematron(write_schematron(tmp_path, body))


def test_all_mistakes_of_a_file_are_told(tmp_path):
    tests = '<assert test="foo(V1)"/><assert test="V1 = $x"/>'
    with pytest.raises(PlanError) as caught:
        read_schematron(write_schematron(tmp_path, pattern_of(tests)))
    assert len(caught.value.mistakes) == 2


BOMB = (
    """<!DOCTYPE schema [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c SYSTEM "file:///etc/passwd">]>"""
)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (BOMB + f"<schema xmlns='{ISO}'>&b;&c;</schema>", "document type declaration"),
        (f"<schema xmlns='{ISO}'><pattern></schema>", "not well-formed XML: line 1, column"),
        ("", "not well-formed XML: line 1, column 1: there is no element"),
        ("<html/>", "is not Schematron"),
        (b"<schema>\xff</schema>", "not well-formed XML|damaged"),
        ("<a>" * 300, "not well-formed XML"),
    ],
)
def test_files_that_are_not_schematron(tmp_path, text, told):
    pytest.importorskip("elementpath")
    path = tmp_path / "rules.sch"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ShoalError, match=told):
        read_schematron(path)
