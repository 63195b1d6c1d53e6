"""Rules written as R expressions for the package validate, and as CHECK constraints of SQL.

What a rule here says and the language does not is refused with the reason: values of the original, sums and counts of
those values that are there, whatever only an XPath engine can check, and the order of categories.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from shoal.errors import PlanError, printable
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
    Variable,
)
from shoal.rules.formulas import Untranslatable
from shoal.rules.rule import Rule


@dataclass(frozen=True)
class Language:
    """The words of a language.

    Attributes
    ----------
    comparisons : dict
        Its signs for ``=`` and ``!=``.
    both, either, negated : str
        Its words for and, or, not.
    member : str
        ``{value}`` is one of ``{constants}``.
    missing, whole : str
        ``{value}`` is missing, or a whole number.
    mod : str
        Remainder of ``{left}`` and ``{right}``; none where empty.
    divided : str
        Quotient of ``{left}`` and ``{right}``.
    name, text : callable
        Write a name and a text.
    """

    title: str
    comparisons: dict[str, str]
    both: str
    either: str
    negated: str
    member: str
    missing: str
    whole: str
    mod: str
    divided: str
    name: Callable[[str], str]
    text: Callable[[str], str]


def _r_name(name: str) -> str:
    if name.replace("_", "a").replace(".", "a").isalnum() and name[0].isalpha() and name.isascii():
        return name
    if "`" in name or "\n" in name:
        raise Untranslatable(f"column '{printable(name)}' has a name that R cannot have")
    return f"`{name}`"


def _r_text(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _sql_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _sql_text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


R = Language(
    "R", {"=": "==", "!=": "!="}, "&", "|", "!", "{value} %vin% c({constants})", "is.na({value})",
    "{value} %% 1 == 0", "", "{left} / {right}", _r_name, _r_text,
)  # fmt: skip
SQL = Language(
    "SQL", {"=": "=", "!=": "<>"}, "AND", "OR", "NOT ", "{value} IN ({constants})", "{value} IS NULL",
    "{value} = FLOOR({value})", "{left} % {right}", "1.0 * {left} / {right}", _sql_name, _sql_text,
)  # fmt: skip


def as_validate(rules: Sequence[Rule]) -> str:
    r"""Return rules as YAML of the R package validate.

    >>> from shoal.rules.grammar import parse_rule
    >>> print(as_validate([parse_rule("young: if age < 15 then income = 0")]), end="")
    rules:
    - expr: '!(age < 15) | income == 0'
      name: young
      label: ''
      description: ''
      meta: {}
    """
    import yaml

    written = [
        {"expr": text, "name": rule.name, "label": "", "description": "", "meta": {}}
        for rule, text in _written(rules, R)
    ]
    return yaml.safe_dump({"rules": written}, sort_keys=False, allow_unicode=True, width=1000)


def as_r(rules: Sequence[Rule]) -> str:
    """Return rules as R expressions, one a line, each below a comment with its name.

    >>> from shoal.rules.grammar import parse_rule
    >>> print(as_r([parse_rule("sums: T = A + B")]), end="")
    # sums
    T == A + B
    """
    named = ((rule, text, " ".join(printable(rule.name).split())) for rule, text in _written(rules, R))
    return "".join(text + "\n" if rule.name == rule.text else f"# {name}\n{text}\n" for rule, text, name in named)


def as_sql(rules: Sequence[Rule], table: str) -> str:
    """Return rules as CHECK constraints that are added to a table.

    >>> from shoal.rules.grammar import parse_rule
    >>> print(as_sql([parse_rule("sums: T = A + B")], "firms"), end="")
    ALTER TABLE "firms" ADD CONSTRAINT "sums" CHECK ("T" = "A" + "B");
    """
    return "".join(
        f"ALTER TABLE {_sql_name(table)} ADD CONSTRAINT {_sql_name(rule.name)} CHECK ({text});\n"
        for rule, text in _written(rules, SQL)
    )


def _written(rules: Sequence[Rule], language: Language) -> list[tuple[Rule, str]]:
    found, mistakes = [], []
    for rule in rules:
        try:
            if rule.condition is None:
                raise Untranslatable("only an XPath engine can check it")
            if rule.weight is not None:
                raise Untranslatable("it is a soft rule, which the language does not have")
            found.append((rule, _condition(rule.condition, language, 0)))
        except Untranslatable as reason:
            mistakes.append(
                f"rule '{rule.name}' ({rule.place}) has no form in {language.title}: {reason}; leave it out"
            )
    if mistakes:
        raise PlanError(mistakes)
    return found


def _condition(node: Condition, own: Language, level: int) -> str:
    """Write a condition where 0: anything may stand, 1: a part of or, 2: a part of and, 3: after not."""
    match node:
        case Implies(antecedent, consequent):
            return _condition(Or((Not(antecedent), consequent)), own, level)
        case Or(parts):
            return _enclosed(f" {own.either} ".join(_condition(part, own, 1) for part in parts), level > 1)
        case And(parts):
            return _enclosed(f" {own.both} ".join(_condition(part, own, 2) for part in parts), level > 2)
        case Not(operand):
            # both languages read a not as that of all that follows up to and; parentheses leave no doubt
            return f"{own.negated}({_condition(operand, own, 0)})"
        case Comparison(operator, left, right):
            return f"{_value(left, own, 0)} {own.comparisons.get(operator, operator)} {_value(right, own, 0)}"
        case Member(operand, values):
            constants = ", ".join(_value(value, own, 0) for value in values)
            return own.member.format(value=_value(operand, own, 2), constants=constants)
        case Integer(operand):
            return own.whole.format(value=_value(operand, own, 2))
        case Missing(name):
            return own.missing.format(value=own.name(name))
        case Original():
            raise Untranslatable("it is about the values of the original")
        case Unchanged():
            raise Untranslatable("it is about the total of the original")


def _value(node: Expression, own: Language, level: int) -> str:
    """Write a value where 0: a sum may stand, 1: a product, 2: a single value."""
    match node:
        case Number(value):
            return f"({value!r})" if value < 0 and level else repr(value)
        case Text(value):
            return own.text(value)
        case Variable(name):
            return own.name(name)
        case Negative(operand):
            return _enclosed(f"-{_value(operand, own, 2)}", level > 0)
        case Arithmetic("/" | "mod" as operator, left, right):
            form = own.divided if operator == "/" else own.mod
            if not form:
                raise Untranslatable("the remainder of a negative number has another sign there")
            return _enclosed(form.format(left=_value(left, own, 2), right=_value(right, own, 2)), level > 1)
        case Arithmetic(operator, left, right):
            product = operator == "*"
            text = f"{_value(left, own, int(product))} {operator} {_value(right, own, 1 + product)}"
            return _enclosed(text, level > int(product))
        case Call("round", (operand,)):
            return f"{_function('floor', own)}({_value(operand, own, 0)} + 0.5)"
        case Call("abs" | "floor" | "ceiling" as function, (operand,)):
            return f"{_function(function, own)}({_value(operand, own, 0)})"
        case Call("min" | "max" as function, arguments) if own is R:
            return f"p{function}({', '.join(_value(a, own, 0) for a in arguments)}, na.rm = TRUE)"
        case Call(function):
            raise Untranslatable(f"{function}() of the values that are there has no counterpart")
    raise TypeError(f"{type(node).__name__} is not a value")


def _function(name: str, own: Language) -> str:
    return name.upper() if own is SQL else name


def _enclosed(text: str, needed: bool) -> str:
    return f"({text})" if needed else text
