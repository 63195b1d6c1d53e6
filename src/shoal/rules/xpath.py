"""XPath parsed by a real parser, and what a rule may not do in it.

Rules are about one record: an expression that looks at other records, other files or the network is refused here,
before any engine sees it. The one document that it may name is the original data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from shoal.errors import MissingExtra, PlanError, printable

ORIGINAL = "shoal-original"  # the variable that stands for document('...') in the engine
CURRENT = "shoal-current"
_ELSEWHERE = (
    *("doc", "doc-available", "collection", "uri-collection", "unparsed-text", "unparsed-text-lines", "root"),
    *("id", "idref", "element-with-id", "resolve-uri", "static-base-uri", "base-uri", "document-uri"),
    *("position", "last", "generate-id"),
)
_AWAY = (
    *("parent", "ancestor", "ancestor-or-self", "following", "following-sibling"),
    *("preceding", "preceding-sibling", "namespace"),
)
_DEEPEST = 300  # levels of an expression, in which a sum of n terms has n: far from Python's own limit
_BINDERS = {"for", "some", "every"}


@cache
def _parser_class() -> Any:
    try:
        from elementpath import XPath2Parser
        from elementpath.tdop import Parser as TokenParser
    except ImportError:
        raise MissingExtra("rules in Schematron", "rules") from None

    class SchematronParser(XPath2Parser):
        """XPath 2 with the two functions of XSLT that Schematron files use."""

        def parse(self, source: str) -> Any:
            """Parse, and evaluate nothing: what a rule would compute is the engine's, where it can be stopped."""
            if self.tokenizer is None:
                self.tokenizer = self.create_tokenizer(self.symbol_table)
            token = TokenParser.parse(self, source)
            if token.label in ("sequence type", "function test"):
                raise token.error("XPST0003", "not allowed in XPath expression")
            return token

    def nothing(self: Any, context: Any = None) -> list[Any]:
        """Stand in for a value when the parser tries an expression out."""
        return []

    for name, arguments in (("document", (1, 2)), ("current", 0)):
        function: Any = SchematronParser.function(name, nargs=arguments)
        function.evaluate = function.select = nothing
    return SchematronParser


def parse_xpath(text: str, namespaces: Mapping[str, str], place: str) -> Any:
    """Parse an XPath expression into elementpath's tokens, or say in a PlanError what is wrong with it."""
    parser_class = _parser_class()
    from elementpath.collations import UNICODE_CODEPOINT_COLLATION
    from elementpath.exceptions import ElementPathError

    # by the locale of the process, which other libraries set, texts would be in another order than in the engine; and
    # where that locale is not installed, a lock of elementpath stays closed for good
    parser = parser_class(namespaces=dict(namespaces), default_collation=UNICODE_CODEPOINT_COLLATION)

    try:
        token = parser.parse(text)
    except ElementPathError as error:
        told = str(error).rpartition("] ")[2] or str(error)
        if "<class" in told:
            told = "a value has the wrong type"
        column = str(error).rpartition("column ")[2].partition(":")[0]
        where = f", at character {column}" if column.isdigit() else ""
        shown = printable(" ".join(text.split()))
        raise PlanError(f"{place}: cannot understand the XPath '{shown}'{where}: {told}") from None
    except RecursionError:
        raise PlanError(f"{place}: the XPath is nested too deep") from None
    except (ValueError, OverflowError):
        raise PlanError(f"{place}: the XPath has a number that is longer than a computer counts with") from None
    level = [token]
    for _ in range(_DEEPEST):
        level = [below for one in level for below in one]
        if not level:
            return token
    raise PlanError(f"{place}: the XPath is nested too deep; use sum((A, B, ...)), or several rules")


def mistakes_of(token: Any, known: frozenset[str], place: str, rooted: bool = False) -> list[str]:
    """Say what an expression does that a rule may not: unknown variables, other records, other files.

    ``known`` are the names of the ``let`` variables that it may use. A context may be ``rooted``, a path from the root.
    """
    bound = set(known)
    for part in token.iter():
        if part.symbol in _BINDERS:
            bound |= {str(child.value) for child in part if child.symbol == "$"}
    mistakes = []
    for part in token.iter():
        if part.symbol == "$" and str(part.value) not in bound:
            mistakes.append(f"{place}: there is no variable '${part.value}'; define it with <let>")
        elif part.symbol in _ELSEWHERE and part.label == "function":
            mistakes.append(f"{place}: '{part.symbol}()' looks outside the record, which a rule may not")
        elif part.symbol in _AWAY and part.label == "axis":
            mistakes.append(f"{place}: '{part.symbol}::' looks outside the record, which a rule may not")
        elif part.symbol in ("/", "//") and len(part) == 1 and not rooted:
            mistakes.append(f"{place}: a path from the root ('{part.symbol}...') looks at other records")
        elif part.symbol == "document" and not (len(part) == 1 and part[0].symbol == "(string)"):
            mistakes.append(f"{place}: write document('...') with the name of the original data in quotes")
    return list(dict.fromkeys(mistakes))


def documents_of(token: Any) -> list[str]:
    """Return the names that ``document('...')`` is given."""
    return [str(part[0].value) for part in token.iter() if part.symbol == "document"]


def names_of(token: Any, lets: Mapping[str, Any]) -> Iterator[str]:
    """Give the names of elements in an expression that are children of the record, as far as that can be told."""
    if token.symbol in ("/", "//") and len(token) == 2 and from_document(token, lets):
        return
    if token.symbol == "(name)":
        yield str(token.value)
    elif token.symbol == ":":
        yield str(token[1].value)
    elif token.symbol in ("$", "instance", "castable", "cast", "treat"):
        yield from names_of(token[0], lets) if token.symbol != "$" else ()
    else:
        for part in token:
            yield from names_of(part, lets)


def from_document(token: Any, lets: Mapping[str, Any]) -> bool:
    """Whether a path begins at the original data."""
    while token.symbol in ("/", "//", "[", "(") and len(token):
        token = token[0]
    if token.symbol == "$" and str(token.value) in lets:
        return from_document(lets[str(token.value)], lets)
    return bool(token.symbol == "document")


def for_engine(text: str, token: Any) -> str:
    """Return an expression in which variables that the engine is given stand for ``document('...')``, ``current()``."""
    found = [part for part in token.iter() if part.symbol in ("document", "current") and part.label == "function"]
    for part in sorted(found, key=lambda p: int(p.span[0]), reverse=True):
        last = part[0].span[1] if len(part) else part.span[1]
        name = ORIGINAL if part.symbol == "document" else CURRENT
        text = f"{text[: part.span[0]]}${name} {text[text.index(')', last) + 1 :]}"
    return text
