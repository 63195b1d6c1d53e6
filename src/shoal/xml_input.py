"""XML from outside, read with nothing switched on: no document types, no entities, no network, no other files.

A document type declaration is refused before a parser that would act on it sees the file: that is where entities
come from, and with them the bombs that a few lines make of gigabytes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, BinaryIO
from xml.parsers import expat

from shoal.errors import FileError, MissingExtra

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


def check_prolog(handle: BinaryIO, place: str) -> None:
    """Refuse a document type declaration, reading no further than the first element."""

    def declared(name: str, *_rest: object) -> None:
        raise FileError(
            f"{place} has a document type declaration (<!DOCTYPE ...>); entities and document types are not read, so "
            "remove it"
        )

    def reached(*_element: object) -> None:
        raise _ReachedError

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = declared
    parser.StartElementHandler = reached
    try:
        while part := handle.read(_PART):
            parser.Parse(part, False)
        parser.Parse(b"", True)
    except _ReachedError:
        return
    except (expat.ExpatError, ValueError, LookupError) as error:
        raise FileError(f"{place} is not well-formed XML: {_plain(str(error))}") from None


def parse_xml(path: Path, what: str) -> Any:
    """Parse a small XML file into lxml's tree, and return its root."""
    etree = lxml_etree(what)
    try:
        with path.open("rb") as handle:
            check_prolog(handle, f"'{path}'")
        return etree.parse(str(path), etree.XMLParser(**SAFE, remove_pis=True)).getroot()
    except etree.XMLSyntaxError as error:
        raise FileError(malformed(f"'{path}'", error)) from None
    except UnicodeDecodeError:
        raise FileError(f"'{path}' is not text in the encoding that it says it is in") from None
    except OSError as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"cannot read '{path}': {error.strerror or 'it is damaged'}") from None


def malformed(place: str, error: Any) -> str:
    """Say where XML is not well-formed: lxml's own words may show cells."""
    line, column = getattr(error, "position", (0, 0))
    return f"{place} is not well-formed XML: line {line}, column {column}"


def _plain(told: str) -> str:
    return told.replace("no element found", "there is no element in it")
