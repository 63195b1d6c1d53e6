"""XML from outside, read with nothing switched on: no document types, no entities, no network, no other files.

A document type declaration is refused before a parser that would act on it sees the file: that is where entities
come from, and with them the bombs that a few lines make of gigabytes.
"""

from __future__ import annotations

import io
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO
from xml.parsers import expat

from shoal.errors import FileError, MissingExtra
from shoal.plan.limits import read_small

SAFE = {  # arguments of every lxml parser
    "resolve_entities": False,
    "no_network": True,
    "load_dtd": False,
    "dtd_validation": False,
    "huge_tree": False,
}
_PART = 1 << 16


class _ReachedError(Exception):
    """The first element."""


def lxml_etree(what: str) -> Any:
    """Return lxml's module of trees, or say what it takes to have it."""
    try:
        from lxml import etree
    except ImportError:
        raise MissingExtra(what, "rules") from None
    return etree


def stream_parser(place: str) -> Any:
    """Return an expat parser for a stream that refuses document types."""

    def declared(*_declaration: object) -> None:
        raise FileError(
            f"{place} has a document type declaration (<!DOCTYPE ...>); entities and document types are not read, so "
            "remove it"
        )

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartDoctypeDeclHandler = declared
    parser.ordered_attributes = True
    parser.buffer_text = True
    parser.buffer_size = _PART
    return parser


def feed(parser: Any, handle: BinaryIO, place: str) -> None:
    """Parse a stream to its end, or say where it is not well-formed."""
    try:
        parser.ParseFile(handle)
    except expat.ExpatError as error:
        raise FileError(malformed(place, (error.lineno, error.offset + 1), expat.ErrorString(error.code))) from None
    except (ValueError, LookupError):
        raise FileError(f"{place} is in an encoding that is not known; write it in UTF-8") from None


def check_prolog(handle: BinaryIO, place: str) -> None:
    """Refuse a document type declaration, reading no further than the first element."""

    def reached(*_element: object) -> None:
        raise _ReachedError

    parser = stream_parser(place)
    parser.StartElementHandler = reached
    with suppress(_ReachedError):
        feed(parser, handle, place)


def parse_xml(path: Path, what: str, most: int) -> Any:
    """Parse an XML file of at most some bytes into lxml's tree, and return its root."""
    etree = lxml_etree(what)
    data = read_small(path, "the file", most)
    check_prolog(io.BytesIO(data), f"'{path}'")
    try:
        return etree.fromstring(data, etree.XMLParser(**SAFE, remove_pis=True))
    except etree.XMLSyntaxError as error:
        raise FileError(malformed(f"'{path}'", error.position)) from None
    except (UnicodeDecodeError, ValueError):
        raise FileError(f"'{path}' is not text in the encoding that it says it is in") from None


def malformed(place: str, at: tuple[int, int], reason: str | None = None) -> str:
    """Say where XML is not well-formed, with a reason that shows none of it."""
    told = (reason or "").replace("no element found", "there is no element, or not its end")
    return f"{place} is not well-formed XML: line {at[0]}, column {at[1]}{': ' + told if told else ''}"
