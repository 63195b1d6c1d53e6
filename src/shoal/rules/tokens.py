"""The words of the expression notation, and messages that point at a place in it."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from shoal.plan.limits import LONGEST_NUMBER

_SHOWN = 1000  # characters of a rule before and after the place that a message points at
KEYWORDS = frozenset(
    ("if", "then", "and", "or", "not", "in", "is", "from", "original", "integer", "missing", "within", "mod")
)
_TOKEN = re.compile(
    r"(?P<space>\s+)"
    r"|(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))"
    r"|(?P<name>[^\W\d][\w.]*)"
    r"|`(?P<quoted>[^`\n]+)`"
    r"|'(?P<single>(?:[^'\n]|'')*)'"
    r'|"(?P<double>(?:[^"\n]|"")*)"'
    r"|(?P<sign><=|>=|!=|[-+*/(){}\[\],:=<>])"
)
PLAIN_NAME = re.compile(r"[^\W\d][\w.]*")
_PLAIN_NUMBER = re.compile(r"[+-]? *(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")


@dataclass(frozen=True)
class Token:
    """A word of a rule: a number, name, quoted name, text, sign or keyword, or the end."""

    kind: str
    text: str
    start: int
    end: int


class Pointed(Exception):  # noqa: N818 - becomes a PlanError with its place
    """What is wrong, and at which character."""

    def __init__(self, message: str, place: int) -> None:
        self.message, self.place = message, place
        super().__init__(message)


def tokens_of(text: str) -> list[Token]:
    """Cut a rule into its words.

    >>> [token.text for token in tokens_of("A<= 5")]
    ['A', '<=', '5', '']
    """
    found = []
    place = 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise Pointed(_unreadable(text[place]), place)
        kind = match.lastgroup or ""
        content = match.group(kind)
        if kind in ("single", "double"):
            quote = text[place]
            kind, content = "text", content.replace(quote * 2, quote)
        if kind == "name" and content in KEYWORDS:
            kind = "keyword"
        if kind != "space":
            found.append(Token(kind, content, place, match.end()))
        place = match.end()
    return [*found, Token("end", "", len(text), len(text))]


def _unreadable(sign: str) -> str:
    if sign in "'\"`":
        return "a quote is left open"
    if sign.isdigit() or sign == ".":
        return "this is no number; put a name or text that begins with a digit in backquotes or quotes"
    return "this character has no meaning here; put names with unusual characters in backquotes"


def as_number(text: str, place: int = 0) -> int | float | None:
    """Return a plain number, None for anything else: a leading zero, as in ``007``, makes a text.

    >>> as_number("1.5"), as_number("-3"), as_number("007")
    (1.5, -3, None)
    """
    if not _PLAIN_NUMBER.fullmatch(text):
        return None
    return number_of(text.replace(" ", ""), place)


def number_of(text: str, place: int = 0) -> int | float:
    """Return the number that a text of digits at some place is; one that is larger than any float is refused.

    >>> number_of("12"), number_of("1.5")
    (12, 1.5)
    """
    number = float(text) if len(text) <= LONGEST_NUMBER else math.inf
    if not math.isfinite(number):
        raise Pointed("this number is larger than a computer counts with; write a smaller one", place)
    whole = text.lstrip("+-").isdigit() and -(2**63) <= (exact := int(text)) < 2**64
    return exact if whole else number


def without_comment(line: str) -> str:
    """Cut a line at its first ``#`` outside quotes.

    >>> without_comment("A = '#' # a comment")
    "A = '#' "
    """
    quote = ""
    for place, sign in enumerate(line):
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "'\"`":
            quote = sign
        elif sign == "#":
            return line[:place]
    return line


def cut_rules(text: str) -> list[tuple[int, str]]:
    r"""Cut a text into rules, each with the number of its first line; comments are left out, lines keep their places.

    >>> cut_rules("A = 1 # one" + chr(10) + "  + 2")
    [(1, 'A = 1\n  + 2')]
    """
    starts: list[tuple[int, list[str]]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        bare = without_comment(line).rstrip()
        if not bare.strip():
            continue
        if bare[0].isspace() and starts:
            first, lines = starts[-1]
            lines += [""] * (number - first - len(lines)) + [bare]
        else:
            starts.append((number, [bare]))
    return [(number, "\n".join(lines)) for number, lines in starts]


def pointing(text: str, error: Pointed, place: str, line: int, shown: bool = True) -> str:
    """Return a message that tells the place in a rule, and where its text may be ``shown``, points at it."""
    before = text[: error.place]
    start = before.rfind("\n") + 1
    column = error.place - start
    where = f"{place or 'rule'}, line {line + before.count(chr(10))}, column {column + 1}"
    if not shown:
        return f"{where}: {error.message}"
    # a rule of one line without end is a message without end
    first = max(column - _SHOWN, 0)
    part = text[start + first :].split("\n", 1)[0][: 2 * _SHOWN].replace("\t", " ")
    return f"{where}: {error.message}\n    {part}\n    {' ' * (column - first)}^"
