"""The expression notation of rules: text to tree, with errors that point at the place.

::

    rule        = [ name ":" ] [ "prefer" [ NUMBER ] ] condition
    condition   = "if" condition "then" condition | disjunction
    disjunction = conjunction { "or" conjunction }
    conjunction = negation { "and" negation }
    negation    = "not" negation | test
    test        = sum { compare sum } [ "within" NUMBER ]
                | sum [ "not" ] "in" ( "{" constant { "," constant } "}" | "[" sum "," sum "]" )
                | sum "is" [ "not" ] ( "integer" | "missing" )
                | variable "from" "original"
                | "sum" "(" variable ")" "unchanged"
    compare     = "=" | "!=" | "<" | "<=" | ">" | ">="
    sum         = product { ( "+" | "-" ) product }
    product     = factor { ( "*" | "/" | "mod" ) factor }
    factor      = "-" factor | NUMBER | TEXT | variable | function "(" sum { "," sum } ")" | "(" condition ")"
    variable    = NAME | "`" any characters "`"
    constant    = NUMBER | TEXT | a word, which may have spaces and hyphens in it

A chain ``0 <= A <= B`` is both comparisons. ``A = B within 1`` is ``abs(A - B) <= 1``. ``A in [0, 5]`` is the interval
with its ends. A text is in single or double quotes; a name is letters, digits, ``_`` and ``.``, and anything else in
backquotes. What is in parentheses is a condition or a sum, as its place demands.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import NoReturn

from shoal.errors import PlanError, did_you_mean
from shoal.plan.limits import DEEPEST_RULE
from shoal.rules.expression import (
    FUNCTIONS,
    VALUES,
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
    deeper_than,
    walk,
)
from shoal.rules.preferring import preference
from shoal.rules.rule import Rule, name_mistakes
from shoal.rules.simplify import simplified
from shoal.rules.tokens import Pointed, Token, as_number, cut_rules, number_of, pointing, tokens_of

_COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")
_DEEPEST_TREE = 250  # levels of the tree of a rule, in which a sum of n terms has n: far from Python's own limit
_LONGEST = 200  # terms of a sum or product, which are nested too


def parse_rule(text: str, place: str = "", line: int = 1, shown: bool = True) -> Rule:
    """Parse one rule, with or without a name before it.

    Parameters
    ----------
    text : str
        The rule.
    place : str
        Where it is, for messages.
    line : int
        Number of its first line there.
    shown : bool
        Whether messages show its text. Not that of a file: a plan may name any file, and who reads the message need
        not be allowed to read it.

    >>> parse_rule("adult: AGE >= 18").condition
    Comparison(operator='>=', left=Variable(name='AGE'), right=Number(value=18))
    """
    try:
        bare, weight = preference(text)
        parser = _Parser(bare, shown)
        name = parser.name()
        condition = parser.condition_to_the_end()
    except Pointed as error:
        raise PlanError(pointing(text, error, place, line, shown)) from None
    body = " ".join(text[parser.body :].split())
    where = f"{place}, line {line}" if place else f"line {line}"
    return Rule(name or body, condition, body, where, in_file=not shown, weight=weight)


def parse_condition(text: str) -> Condition:
    """Parse a condition without a name.

    >>> parse_condition("not A = B")
    Comparison(operator='!=', left=Variable(name='A'), right=Variable(name='B'))
    """
    try:
        parser = _Parser(text)
        return parser.condition_to_the_end()
    except Pointed as error:
        raise PlanError(pointing(text, error, "", 1)) from None


def parse_rules(text: str, place: str = "", shown: bool = True) -> list[Rule]:
    r"""Parse a text of rules: one a line, ``#`` begins a comment, an indented line continues the one before it.

    >>> [rule.name for rule in parse_rules("# bounds\nage: 0 <= AGE <= 120\nA <= B")]
    ['age', 'A <= B']
    """
    rules, mistakes = [], []
    for number, rule in cut_rules(text):
        try:
            rules.append(parse_rule(rule, place, number, shown))
        except PlanError as error:
            mistakes += error.mistakes
    mistakes += name_mistakes(rules)
    if mistakes:
        raise PlanError(mistakes)
    return rules


class _Parser:
    """Reads one rule by recursive descent."""

    def __init__(self, text: str, shown: bool = True) -> None:
        self.text = text
        self.shown = shown
        self.tokens = tokens_of(text)
        self.at = 0
        self.depth = 0
        self.body = 0

    @property
    def token(self) -> Token:
        return self.tokens[self.at]

    def take(self, *texts: str) -> str | None:
        """Go past the next token if it is one of some signs or keywords, and return it."""
        if self.token.kind in ("sign", "keyword") and self.token.text in texts:
            self.at += 1
            return self.tokens[self.at - 1].text
        return None

    def expect(self, text: str, why: str) -> None:
        if self.take(text) is None:
            self.fail(f"expected '{text}' {why}")

    def fail(self, message: str, token: Token | None = None) -> NoReturn:
        token = token or self.token
        if token.kind == "end" and message.startswith("expected"):
            message += ", and the rule ends here"
        raise Pointed(message, token.start)

    def name(self) -> str | None:
        """Read the name before a colon, which may have anything in it but a colon."""
        for place, token in enumerate(self.tokens):
            if token.kind == "sign" and token.text == ":":
                name = self.text[: token.start].strip()
                if len(self.tokens) > 1 and place == 1 and self.tokens[0].kind in ("text", "quoted"):
                    name = self.tokens[0].text
                if not name:
                    raise Pointed("expected a name before ':'", token.start)
                self.at, self.body = place + 1, token.end
                return name
        return None

    def condition_to_the_end(self) -> Condition:
        start = self.token
        found = self.as_condition(self.condition(), start)
        if self.token.kind != "end":
            twice = self.token.text == "=" and self.tokens[self.at - 1].text == "="
            told = "expected an operator, 'and' or 'or' before this, or the end of the rule"
            self.fail("write = once for equality" if twice else told)
        if not isinstance(found, Unchanged) and any(isinstance(node, Unchanged) for node in walk(found)):
            self.fail("'unchanged' is about all records, and is a rule by itself", start)
        if deeper_than(_DEEPEST_TREE, found):
            self.fail("the rule is nested too deep; cut it into several", start)
        return simplified(found)

    def as_condition(self, node: Expression, start: Token) -> Condition:
        if isinstance(node, VALUES):
            self.fail("expected a condition here, and this is a value; compare it with something", start)
        return node

    def as_value(self, node: Expression, start: Token) -> Value:
        if not isinstance(node, VALUES):
            self.fail("expected a value here, and this is a condition", start)
        return node

    def condition(self) -> Expression:
        self.depth += 1
        if self.depth > DEEPEST_RULE:
            self.fail("this is nested too deep")
        try:
            if self.take("if"):
                start = self.token
                antecedent = self.as_condition(self.condition(), start)
                self.expect("then", "after the condition of 'if'")
                start = self.token
                return Implies(antecedent, self.as_condition(self.condition(), start))
            return self.joined("or")
        finally:
            self.depth -= 1

    def joined(self, word: str) -> Expression:
        """Read conditions that are joined by ``or``, each of conditions that are joined by ``and``."""
        start = self.token
        first = self.joined("and") if word == "or" else self.negation()
        if self.token.text != word or self.token.kind != "keyword":
            return first
        parts = [self.as_condition(first, start)]
        while self.take(word):
            start = self.token
            parts.append(self.as_condition(self.joined("and") if word == "or" else self.negation(), start))
        return Or(tuple(parts)) if word == "or" else And(tuple(parts))

    def negation(self) -> Expression:
        negations = 0
        while self.take("not"):
            negations += 1
            if negations > DEEPEST_RULE:
                self.fail("this is nested too deep")
        start = self.token
        found = self.test()
        for _ in range(negations):
            found = Not(self.as_condition(found, start))
        return found

    def test(self) -> Expression:
        start = self.token
        first = self.sum()
        if self.token.text in _COMPARISONS and self.token.kind == "sign":
            return self.chain(self.as_value(first, start))
        if self.take("is"):
            return self.kind_test(self.as_value(first, start), start)
        if self.take("from"):
            self.expect("original", "after 'from'")
            if not isinstance(first, Variable):
                self.fail("expected a variable before 'from original'", start)
            return Original(first.name)
        if self.token.kind == "name" and self.token.text == "unchanged":
            match first:
                case Call("sum", (Variable(name),)):
                    self.at += 1
                    return Unchanged(name)
            self.fail("expected the sum of one variable before 'unchanged', such as sum(A)", start)
        negated = self.token.text == "not" and self.tokens[self.at + 1].text == "in"
        if negated:
            self.at += 1
        if self.take("in"):
            found = self.membership(self.as_value(first, start))
            return Not(found) if negated else found
        return first

    def chain(self, left: Value) -> Condition:
        """Read ``= value`` or ``<= value <= value``, and ``within`` after it."""
        parts: list[Comparison] = []
        while operator := self.take(*_COMPARISONS):
            if self.token.text == "=" and self.token.kind == "sign":
                self.fail("write = once for equality" if operator == "=" else f"'{operator}' stands alone")
            start = self.token
            right = self.as_value(self.sum(), start)
            parts.append(Comparison(operator, left, right))  # type: ignore[arg-type]
            left = right
        if self.take("within"):
            if len(parts) > 1 or parts[0].operator != "=":
                self.fail("'within' belongs to a single '='", self.tokens[self.at - 1])
            token = self.token
            if token.kind == "name":
                self.fail("rules across the records of a household are not kept; write one about single records")
            if token.kind != "number":
                self.fail("expected a number after 'within'")
            self.at += 1
            difference = Arithmetic("-", parts[0].left, parts[0].right)
            return Comparison("<=", Call("abs", (difference,)), Number(number_of(token.text, token.start)))
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def kind_test(self, value: Value, start: Token) -> Condition:
        negated = self.take("not") is not None
        found: Condition
        if self.take("integer"):
            found = Integer(value)
        elif self.take("missing"):
            if not isinstance(value, Variable):
                self.fail("expected a variable before 'is missing'", start)
            found = Missing(value.name)
        else:
            self.fail("expected 'integer' or 'missing' after 'is'")
        return Not(found) if negated else found

    def membership(self, value: Value) -> Condition:
        if self.take("["):
            start = self.token
            low = self.as_value(self.sum(), start)
            self.expect(",", "between the ends of the interval")
            start = self.token
            high = self.as_value(self.sum(), start)
            self.expect("]", "after the interval")
            return And((Comparison("<=", low, value), Comparison("<=", value, high)))
        self.expect("{", "or '[' after 'in'")
        values: list[Number | Text] = []
        while True:
            values.append(self.constant())
            if not self.take(","):
                break
        self.expect("}", "after the constants")
        return Member(value, tuple(dict.fromkeys(values)))

    def constant(self) -> Number | Text:
        """Read a constant of a set: a quoted text, a number, or everything up to the next comma."""
        first = self.token
        if first.kind == "end" or (first.kind == "sign" and first.text in ("}", ",")):
            self.fail("expected a constant")
        while self.token.kind != "end" and not (self.token.kind == "sign" and self.token.text in ("}", ",")):
            self.at += 1
        last = self.tokens[self.at - 1]
        if first is last and first.kind == "text":
            return Text(first.text)
        words = self.text[first.start : last.end]
        number = as_number(words, first.start)
        if number is not None:
            return Number(number)
        return Text(" ".join(words.split()))

    def sum(self) -> Expression:
        return self.operations(("+", "-"), self.product)

    def product(self) -> Expression:
        return self.operations(("*", "/", "mod"), self.factor)

    def operations(self, operators: tuple[str, ...], part: Callable[[], Expression]) -> Expression:
        start = self.token
        found: Expression = part()
        for number in count():
            operator = self.take(*operators)
            if operator is None:
                break
            if number == _LONGEST:
                self.fail("there are too many terms; use sum(A, B, ...)", self.tokens[self.at - 1])
            left = self.as_value(found, start)
            second = self.token
            right = self.as_value(part(), second)
            found = Arithmetic(operator, left, right)  # type: ignore[arg-type]
        return found

    def factor(self) -> Expression:
        self.depth += 1
        if self.depth > DEEPEST_RULE:
            self.fail("this is nested too deep")
        try:
            if self.take("-"):
                start = self.token
                value = self.as_value(self.factor(), start)
                return Number(-value.value) if isinstance(value, Number) else Negative(value)
            return self.atom()
        finally:
            self.depth -= 1

    def atom(self) -> Expression:
        token = self.token
        if self.take("("):
            found = self.condition()
            self.expect(")", "to close the one before it")
            return found
        if token.kind in ("keyword", "sign", "end"):
            self.fail("expected a value" + (", and this is a word of the notation" if token.kind == "keyword" else ""))
        self.at += 1
        if token.kind == "number":
            return Number(number_of(token.text, token.start))
        if token.kind == "text":
            return Text(token.text)
        if token.kind == "name" and self.take("("):
            return self.call(token)
        return Variable(token.text)

    def call(self, token: Token) -> Call:
        if token.text not in FUNCTIONS:
            named = f"function '{token.text}'{did_you_mean(token.text, FUNCTIONS)}" if self.shown else "such function"
            self.fail(f"there is no {named} (there are {', '.join(FUNCTIONS)})", token)
        arguments: list[Value] = []
        while True:
            start = self.token
            arguments.append(self.as_value(self.sum(), start))
            if not self.take(","):
                break
        self.expect(")", f"after the values of '{token.text}'")
        most = FUNCTIONS[token.text][1]
        if most is not None and len(arguments) > most:
            self.fail(f"'{token.text}' takes one value, not {len(arguments)}", token)
        return Call(token.text, tuple(arguments))
