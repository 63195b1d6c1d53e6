"""Rules written as Schematron, with tests in XPath 2.

Variables that are compared with a number or with each other are numbers, ``number(V)``; those compared with a text are
texts, and so are those inside ``string(...)``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shoal.errors import PlanError
from shoal.plan.xml_input import lxml_etree
from shoal.rules.expression import (
    And,
    Arithmetic,
    Call,
    Comparison,
    Condition,
    Expression,
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
    Unchanged,
    Value,
    Variable,
    walk,
)
from shoal.rules.rule import Rule
from shoal.rules.schematron import NAMESPACES
from shoal.rules.xpath import CURRENT, ORIGINAL

_PRODUCTS = ("*", "/", "mod")


def as_schematron(rules: Sequence[Rule], record: str = "Record", original: str = "microdata.xml") -> bytes:
    """Return rules as an ISO Schematron file.

    Parameters
    ----------
    rules : sequence of Rule
        The rules.
    record : str
        Name of the element that is a record in the microdata.
    original : str
        Name of the original data, for rules about its values.

    Examples
    --------
    >>> from shoal.rules.grammar import parse_rules
    >>> print(as_schematron(parse_rules("A <= 5")).decode())
    <?xml version='1.0' encoding='UTF-8'?>
    <schema xmlns="http://purl.oclc.org/dsdl/schematron" queryBinding="xslt2">
      <pattern>
        <title>A &lt;= 5</title>
        <rule context="Record">
          <assert test="number(A) &lt;= 5">A &lt;= 5</assert>
        </rule>
      </pattern>
    </schema>
    <BLANKLINE>
    """
    etree = lxml_etree("writing rules as Schematron")
    schema = etree.Element(f"{{{NAMESPACES[0]}}}schema", nsmap={None: NAMESPACES[0]}, queryBinding="xslt2")
    prefixes = {pair for rule in rules if rule.schematron for pair in rule.schematron.namespaces if pair[0] != "xs"}
    for prefix, uri in sorted(prefixes):
        _child(etree, schema, "ns", prefix=prefix, uri=uri)
    mistakes = [
        f"rule '{rule.name}' ({rule.place}) has no form in Schematron: it is "
        f"{'about the total of a column' if rule.weight is None else 'a soft rule'}; leave it out"
        for rule in rules
        if isinstance(rule.condition, Unchanged) or rule.weight is not None
    ]
    if mistakes:
        raise PlanError(mistakes)
    for rule in rules:
        pattern = _child(etree, schema, "pattern")
        _child(etree, pattern, "title").text = rule.name
        if rule.condition is not None:
            place = _child(etree, pattern, "rule", context=record)
            if any(isinstance(node, Original) for node in walk(rule.condition)):
                _child(etree, place, "let", name="original", value=f"document({_quoted(original)})")
            test = _child(etree, place, "assert", test=write_xpath(rule.condition, record))
        else:
            test = _as_it_was(etree, pattern, rule)
        test.text = rule.text
    return bytes(etree.tostring(schema, xml_declaration=True, encoding="UTF-8", pretty_print=True))


def _child(etree: Any, parent: Any, tag: str, /, **attributes: str) -> Any:
    return etree.SubElement(parent, f"{{{NAMESPACES[0]}}}{tag}", **attributes)


def _as_it_was(etree: Any, pattern: Any, rule: Rule) -> Any:
    """Write a rule that has no translation as its own file has it."""
    own = rule.schematron
    if own is None:
        raise TypeError("a rule has a condition or comes from Schematron")
    for context in own.before:
        _child(etree, _child(etree, pattern, "rule", context=context), "assert", test="true()")
    place = _child(etree, pattern, "rule", context=own.context)
    named = f"document({_quoted(own.documents[0])})" if own.documents else ""
    for name, value in own.lets:
        _child(etree, place, "let", name=name, value=_named_again(value, named))
    return _child(etree, place, "report" if own.negated else "assert", test=_named_again(own.test, named))


def _named_again(text: str, document: str) -> str:
    return text.replace(f"${ORIGINAL} ", document).replace(f"${CURRENT} ", "current()")


def write_xpath(condition: Condition, record: str = "Record") -> str:
    """Return a condition as an XPath 2 test; ``$original`` stands for the original data.

    >>> from shoal.rules.grammar import parse_condition
    >>> write_xpath(parse_condition("if SEX = 'F' then A + B >= 0"))
    "not(SEX = 'F') or number(A) + number(B) >= 0"
    """
    return _Writer(record).condition(condition, 0)


class _Writer:
    def __init__(self, record: str) -> None:
        self.record = record

    def condition(self, node: Condition, level: int) -> str:
        """Write a condition where 0: ``or`` may stand, 1: ``and``, 2: neither."""
        match node:
            case Implies(antecedent, consequent):
                alone = 2 if isinstance(consequent, Or | Implies) else 1
                text = f"not({self.condition(antecedent, 0)}) or {self.condition(consequent, alone)}"
                return _enclosed(text, level > 0)
            case Or(parts):
                return _enclosed(" or ".join(self.condition(part, 1) for part in parts), level > 0)
            case And(parts):
                return _enclosed(" and ".join(self.condition(part, 2) for part in parts), level > 1)
            case Not(Missing(name)):
                return f"exists({name}[. != ''])"
            case Not(operand):
                return f"not({self.condition(operand, 0)})"
            case Missing(name):
                return f"empty({name}[. != ''])"
            case Integer(operand):
                value = self.value(operand, 0)
                return f"{value} = floor({value})"
            case Unchanged():
                raise TypeError("a rule about a total has no XPath")
            case Original(name):
                # index-of is an error where the record has no such element; a comparison holds for none
                return f"$original//{self.record}/{name} = {name}"
            case Member(operand, values):
                numbers = all(isinstance(value, Number) for value in values)
                listed = ", ".join(self.value(value, 0) for value in values)
                return f"{self.value(operand, 0, numbers)} = ({listed})"
            case Comparison(operator, left, right):
                numbers = not isinstance(left, Text) and not isinstance(right, Text)
                return f"{self.value(left, 0, numbers)} {operator} {self.value(right, 0, numbers)}"

    def value(self, node: Expression, level: int, numbers: bool = True) -> str:
        """Write a value where 0: a sum may stand, 1: a product, 2: a single value."""
        match node:
            case Number(value):
                return repr(value)
            case Text(value):
                return _quoted(value)
            case Variable(name):
                return f"number({name})" if numbers else name
            case Negative(operand):
                return f"-{self.value(operand, 2)}"
            case Arithmetic(operator, left, right):
                product = operator in _PRODUCTS
                word = "div" if operator == "/" else operator
                text = f"{self.value(left, int(product))} {word} {self.value(right, 1 + product)}"
                return _enclosed(text, level > int(product))
            case Call("string", (operand,)):
                return f"string({self.value(operand, 0, False)})"
            case Call("abs" | "round" | "floor" | "ceiling" as function, (operand,)):
                return f"{function}({self.value(operand, 0)})"
            case Call(function, arguments):
                return f"{function}(({', '.join(self.part(argument) for argument in arguments)}))"
        raise TypeError(f"{type(node).__name__} is not a value")

    def part(self, node: Value) -> str:
        """Write a part of a sum: a variable without a value is none."""
        return f"{node.name}[. != '']" if isinstance(node, Variable) else self.value(node, 0)


def _enclosed(text: str, needed: bool) -> str:
    return f"({text})" if needed else text


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
