"""CHECK constraints of SQL, from the text of CREATE TABLE and ALTER TABLE.

A constraint that is not false is kept, as a rule here that is not violated: a comparison with NULL is neither in both.
Only CHECK is read: NOT NULL, keys and the types of columns are no edit rules. What databases do differently (a division
of whole numbers, rounding, GREATEST with NULL) and what is about other records (subqueries) or about letters (LIKE) is
refused. Dumps of PostgreSQL can be read: casts, and ``= ANY (ARRAY[...])``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from shoal.errors import PlanError, counted, printable
from shoal.rules.expression import (
    Arithmetic,
    ArithmeticOperator,
    Call,
    Comparison,
    Condition,
    Expression,
    Implies,
    Integer,
    Member,
    Missing,
    Not,
    Number,
    Text,
    Value,
    Variable,
    walk,
)
from shoal.rules.formulas import Formula, Piece, Untranslatable, between, cut
from shoal.rules.rule import Rule, name_mistakes
from shoal.rules.simplify import simplified

_PIECES = re.compile(
    r"""
    (?P<space>\s+|--[^\n]*|/\*(?:.*?\*/|.*\Z))
  | (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
  | '(?P<text>(?:[^']|'')*)'
  | "(?P<quoted>(?:[^"]|"")*)" | `(?P<quoted2>[^`]*)` | \[(?P<quoted3>[^\W\d][^\[\]\n']*)\](?!\s*\[)
  | (?P<name>[^\W\d][\w$]*)
  | (?P<sign>::|<=|>=|<>|!=|==|\|\||[-+*/%()<>=,;.\[\]])
  | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_FRACTIONS = ("real", "float", "double", "numeric", "decimal", "dec", "number", "money")
_TYPES = re.compile(r"(?:numeric|decimal|double|real|float\d*|int\d*|integer|bigint|smallint|text|character|varchar|"
                    r"bpchar|date|boolean|bool|char)\Z")  # fmt: skip
_CONSTRAINTS = ("constraint", "primary", "unique", "foreign", "check", "exclude", "index", "key", "like")
_KINDS = {"quoted2": "quoted", "quoted3": "quoted"}


def parse_checks(text: str, place: str) -> list[Rule]:
    """Return the CHECK constraints of the table in a text of SQL, or all reasons why some have no form here.

    >>> rules = parse_checks("CREATE TABLE t (a INT CHECK (a >= 0), CONSTRAINT sums CHECK (a + b = c))", "t.sql")
    >>> [(rule.name, rule.text) for rule in rules]
    [('check_1', 'a >= 0'), ('sums', 'a + b = c')]
    """
    try:
        pieces = [Piece(_KINDS.get(p.kind, p.kind), p.text, p.line) for p in cut(text, _PIECES)]
    except Untranslatable as reason:
        raise PlanError(f"{place}: {reason}") from None
    tables: dict[str, dict[str, str]] = {}
    found: list[tuple[str, Sequence[Piece], str]] = []
    for statement in _statements(pieces):
        words = [p.text.casefold() for p in statement[:3] if p.kind == "name"]
        if words[:1] in (["create"], ["alter"]) and "table" in words:
            name = _table_name(statement)
            tables.setdefault(name.casefold(), {}).update(_types(statement))
            found += [(constraint, body, name.casefold()) for constraint, body in _checks(statement, place)]
    checked = list(dict.fromkeys(name for _, _, name in found))
    if len(checked) > 1:
        raise PlanError(f"{place}: has CHECK constraints of {counted(len(checked), 'table')}; keep those of one")
    rules: list[Rule] = []
    mistakes: list[str] = []
    for number, (given, body, name) in enumerate(found, start=1):
        called = given or f"check_{number}"
        where = f"line {body[0].line}"
        try:
            condition = _SqlFormula([*body, Piece("end", "", body[-1].line)], tables[name]).whole()
        except Untranslatable as reason:
            mistakes.append(
                f"{place}, {where}: constraint '{printable(called)}' has no form as a rule of one record: {reason}; "
                "leave it out"
            )
            continue
        rules.append(Rule(called, simplified(_whole(condition)), _shown(body), f"{place}, {where}", in_file=True))
    mistakes += name_mistakes(rules)
    if mistakes:
        raise PlanError(mistakes)
    if not rules:
        raise PlanError(f"'{place}' has no CHECK constraint in a CREATE TABLE or ALTER TABLE")
    return rules


def _statements(pieces: Sequence[Piece]) -> list[list[Piece]]:
    found: list[list[Piece]] = [[]]
    for piece in pieces:
        if piece.kind == "sign" and piece.text == ";":
            found.append([])
        elif piece.kind != "end":
            found[-1].append(piece)
    return [statement for statement in found if statement]


def _table_name(statement: Sequence[Piece]) -> str:
    """Return the name of the table that a statement is about, without its schema."""
    words = ("create", "alter", "table", "if", "not", "exists", "only", "temporary", "temp", "global", "local")
    at = 0
    while at < len(statement) and statement[at].kind == "name" and statement[at].text.casefold() in words:
        at += 1
    while at + 2 < len(statement) and statement[at + 1].text == ".":
        at += 2
    return statement[at].text if at < len(statement) else ""


def _types(statement: Sequence[Piece]) -> dict[str, str]:
    """Return the type of each column that a CREATE TABLE declares, by name in small letters."""
    found, depth, first = {}, 0, False
    for at, piece in enumerate(statement):
        if piece.kind == "sign" and piece.text in "()":
            depth += 1 if piece.text == "(" else -1
            first = depth == 1 and piece.text == "("
        elif piece.kind == "sign" and piece.text == "," and depth == 1:
            first = True
        elif first:
            first = False
            named = piece.kind == "quoted" or (piece.kind == "name" and piece.text.casefold() not in _CONSTRAINTS)
            if named and at + 1 < len(statement) and statement[at + 1].kind == "name":
                found[piece.text.casefold()] = statement[at + 1].text.casefold()
    return found


def _checks(statement: Sequence[Piece], place: str) -> list[tuple[str, Sequence[Piece]]]:
    """Return what stands in the parentheses of each CHECK, with the name of the constraint."""
    found = []
    for at, piece in enumerate(statement):
        if piece.kind != "name" or piece.text.casefold() != "check":
            continue
        if at + 2 >= len(statement) or statement[at + 1].text != "(":
            continue
        named = at >= 2 and statement[at - 2].kind == "name" and statement[at - 2].text.casefold() == "constraint"
        depth, end = 1, at + 2
        while end < len(statement) and depth:
            depth += {"(": 1, ")": -1}.get(statement[end].text, 0) if statement[end].kind == "sign" else 0
            end += 1
        if depth:
            raise PlanError(f"{place}, line {piece.line}: the parentheses of a CHECK do not close")
        if end > at + 3:
            found.append((statement[at - 1].text if named else "", statement[at + 2 : end - 1]))
    return found


def _shown(body: Sequence[Piece]) -> str:
    """Return the pieces of a constraint as a text."""
    marks = {"text": "'{}'", "quoted": '"{}"'}
    text = " ".join(marks.get(piece.kind, "{}").format(piece.text) for piece in body)
    return re.sub(r"(?<=\() | (?=[),])| ?(\.|::|[][]) ?", lambda found: found.group(1) or "", text)


class _SqlFormula(Formula):
    """A formula of SQL."""

    either, both, negated = ("or",), ("and",), ("not",)
    comparisons = {"=": "=", "==": "=", "<>": "!=", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}  # noqa: RUF012

    def __init__(self, pieces: Sequence[Piece], types: Mapping[str, str]) -> None:
        super().__init__(pieces)
        self.types = types

    def other_test(self, left: Expression) -> Expression:
        if self.take("is"):
            return self.is_test(left)
        negated = self.take("not") is not None
        found: Condition
        if self.take("between"):
            low = self.as_value(self.sum())
            self.expect("and")
            found = between(self.as_value(left), low, self.as_value(self.sum()))
        elif self.take("in"):
            self.expect("(")
            found = self.member(left, self.arguments())
        elif self.take("like", "ilike", "similar", "regexp", "rlike", "glob", "collate"):
            self.fail("it is about the letters of a text")
        elif negated:
            self.fail(f"'not' stands where it has no meaning in line {self.piece.line}")
        else:
            return left
        return Not(found) if negated else found

    def comparison(self) -> Expression:
        start = self.at
        left = self.sum()
        if self.sees("=") and self.pieces[self.at + 1].text.casefold() == "any":
            self.at += 2
            return self.member(left, self.array())
        self.at = start
        return super().comparison()

    def array(self) -> list[Expression]:
        """Read ``(ARRAY['a', 'b'])`` with the casts that PostgreSQL writes."""
        opened = 0
        while self.take("("):
            opened += 1
        self.expect("array")
        self.expect("[")
        found = [self.sum()]
        while self.take(","):
            found.append(self.sum())
        self.expect("]")
        self.casts()
        for _ in range(opened):
            self.expect(")")
            self.casts()
        return found

    def is_test(self, left: Expression) -> Condition:
        negated = self.take("not") is not None
        found: Condition
        if self.take("null"):
            if not isinstance(left, Variable):
                self.fail("IS NULL is asked of something computed")
            found = Missing(left.name)
        elif self.take("true", "false"):
            self.fail("IS TRUE is false for NULL, where a rule here does not apply; write = TRUE")
        else:
            self.fail("IS stands before something that is neither NULL nor NOT NULL")
        return Not(found) if negated else found

    def member(self, left: Expression, values: Sequence[Expression]) -> Condition:
        if not values or not all(isinstance(one, Number | Text) for one in values):
            self.fail("IN has something that is no constant")
        constants = tuple(dict.fromkeys(one for one in values if isinstance(one, Number | Text)))
        return Member(self.as_value(left), constants)

    def product(self) -> Expression:
        found = self.factor()
        while sign := self.take("*", "/", "%"):
            operators: dict[str, ArithmeticOperator] = {"*": "*", "/": "/", "%": "mod"}
            right = self.factor()
            if sign == "/" and not (self.fraction(found) or self.fraction(right)):
                self.fail("a division of whole numbers is cut off in some databases; write 1.0 * a / b")
            found = self.joined(operators[sign], found, right)
        if self.sees("||"):
            self.fail("it puts texts together")
        return found

    def fraction(self, node: Expression) -> bool:
        """Whether a value has decimals, so that a division by it, or of it, is not cut off."""
        return any(
            (isinstance(one, Number) and isinstance(one.value, float))
            or (isinstance(one, Variable) and self.types.get(one.name.casefold(), "") in _FRACTIONS)
            for one in walk(node)
        )

    def factor(self) -> Expression:
        found = super().factor()
        self.casts()
        return found

    def casts(self) -> None:
        """Go past casts, which change no value that they can hold."""
        while self.take("::"):
            if not (self.piece.kind == "name" and _TYPES.match(self.piece.text.casefold())):
                self.fail("it casts to a type that may change values")
            if self.piece.text.casefold() in ("int", "integer", "bigint", "smallint", "int4", "int8", "date"):
                self.fail("it casts to whole numbers or dates, which may change values")
            self.at += 1
            while self.take("varying", "precision"):
                pass
            if self.take("("):
                while not self.take(")"):
                    if self.piece.kind == "end":
                        self.fail("a cast does not end")
                    self.at += 1
            while self.take("["):
                self.expect("]")

    def atom(self) -> Expression:
        piece = self.piece
        if self.take("("):
            found = self.expression()
            self.expect(")")
            return found
        if self.take("case"):
            return self.case()
        self.at += 1
        if piece.kind == "number":
            number = self.number(piece.text)
            return Number(float(number.value)) if "." in piece.text else number
        if piece.kind == "text":
            return Text(piece.text.replace("''", "'"))
        if piece.kind == "name":
            word = piece.text.casefold()
            if word in ("true", "false"):
                return Text(word)
            if word in ("date", "timestamp") and self.piece.kind == "text":
                return self.atom()
            if word in ("null", "select", "exists", "array", "any", "all", "interval", "current_date"):
                self.fail(f"'{word}' has no counterpart")
            if self.take("("):
                return self.call(word)
        if piece.kind in ("name", "quoted"):
            while self.take("."):  # the name of the table before that of the column
                piece = self.piece
                self.at += 1
            return Variable(piece.text.replace('""', '"'))
        raise Untranslatable(f"line {piece.line} has a sign that has no counterpart, or ends too soon")

    def case(self) -> Expression:
        """Read ``CASE WHEN a THEN b ELSE TRUE END``; another ELSE would be taken for NULL, too."""
        self.expect("when")
        when = self.as_condition(self.expression())
        self.expect("then")
        then = self.as_condition(self.expression())
        self.expect("else")
        if not self.take("true"):
            self.fail("CASE has another ELSE than TRUE, which databases take where the condition is NULL")
        self.expect("end")
        return Implies(when, then)

    def call(self, function: str) -> Expression:
        """Read a function."""
        names = {"abs": "abs", "floor": "floor", "ceil": "ceiling", "ceiling": "ceiling"}
        given = self.arguments()
        if function in names and len(given) == 1:
            return Call(names[function], (self.as_value(given[0]),))
        if function == "mod" and len(given) == 2:
            return self.joined("mod", given[0], given[1])
        if function == "round":
            self.fail("ROUND of databases takes negative halves down; write FLOOR(x + 0.5)")
        if function in ("greatest", "least"):
            self.fail("GREATEST and LEAST with NULL are NULL in some databases and not in others")
        raise Untranslatable("a function has no counterpart")


def _whole(condition: Condition) -> Condition:
    """Return ``x = FLOOR(x)`` as the rule that asks for whole numbers."""

    def asks(one: Value, other: Value) -> bool:
        return isinstance(other, Call) and other.function == "floor" and other.arguments == (one,)

    match condition:
        case Comparison("=", left, right) if asks(left, right):
            return Integer(left)
        case Comparison("=", Arithmetic("mod", left, Number(1)), Number(0)):
            return Integer(left)
    return condition
