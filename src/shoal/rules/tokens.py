"""The words of the expression notation, and messages that point at a place in it."""

from __future__ import annotations

import re
from dataclasses import dataclass

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


def as_number(text: str) -> int | float | None:
    """Return a plain number, None for anything else: a leading zero, as in ``007``, makes a text.

    >>> as_number("1.5"), as_number("-3"), as_number("007")
    (1.5, -3, None)
    """
    if not _PLAIN_NUMBER.fullmatch(text):
        return None
    text = text.replace(" ", "")
    return int(text) if text.lstrip("+-").isdigit() else float(text)


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


def pointing(text: str, error: Pointed, place: str, line: int) -> str:
    """Return a message that shows the line of a rule and points at the place in it."""
    before = text[: error.place]
    start = before.rfind("\n") + 1
    shown = text[start:].split("\n", 1)[0].replace("\t", " ")
    column = error.place - start
    where = f"{place or 'rule'}, line {line + before.count(chr(10))}, column {column + 1}"
    return f"{where}: {error.message}\n    {shown}\n    {' ' * column}^"
