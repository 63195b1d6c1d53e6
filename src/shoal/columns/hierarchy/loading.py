"""One way to get a hierarchy: a file of any form, WordNet, or the values; all that is wrong with it is told at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from shoal.columns.hierarchy.from_values import flat, intervals, name_of, ordered, prefixes
from shoal.columns.hierarchy.growing import Found, grow
from shoal.columns.hierarchy.owl import read_owl
from shoal.columns.hierarchy.rows import read_rows
from shoal.columns.hierarchy.tree import Hierarchy
from shoal.columns.hierarchy.wordnet import from_wordnet
from shoal.errors import DataError, counted, with_hints
from shoal.plan.hierarchies import Form, HierarchySettings, as_hierarchy_settings
from shoal.plan.limits import LARGEST_HIERARCHY, LARGEST_YAML, read_small

_ENDINGS: dict[str, Form] = {".yaml": "nested", ".yml": "nested", ".owl": "owl", ".rdf": "owl", ".xml": "owl"}


def load_hierarchy(
    source: str | Path | Mapping[str, Any] | HierarchySettings | Hierarchy, values: Iterable[object] | None = None
) -> Hierarchy:
    """Read or make a hierarchy, and check that it is a tree and has all values.

    Parameters
    ----------
    source : path, dict, HierarchySettings or Hierarchy
        A CSV file of leaf-to-root rows or child-parent pairs, a YAML file of nested names, an OWL file; or settings,
        see :class:`shoal.plan.hierarchies.HierarchySettings`, such as ``{"flat": True}``.
    values : iterable, optional
        The distinct values of the column, which must all be in it. Needed by ``flat``, ``intervals``,
        ``prefixes`` and ``wordnet`` without words.

    Raises
    ------
    DataError
        All that is wrong: two parents, cycles, more than one root, values that are not covered.
    FileError
        The file cannot be read.

    Examples
    --------
    >>> places = load_hierarchy({"tree": {"world": {"Europe": ["Spain", "France"], "Asia": ["Japan"]}}})
    >>> places.names
    ('world', 'Europe', 'Spain', 'France', 'Asia', 'Japan')
    >>> load_hierarchy(places, ["Spain", "Jappan"])
    Traceback (most recent call last):
    shoal.errors.DataError: 1 value is not in the hierarchy: 'Jappan', did you mean 'Japan'?
    """
    texts = None if values is None else [name_of(value) for value in values]
    if isinstance(source, Hierarchy):
        return check_covered(source, texts)
    settings = as_hierarchy_settings(source)
    return check_covered(_made(settings, texts), texts)


def _made(settings: HierarchySettings, values: list[str] | None) -> Hierarchy:
    """Make the hierarchy that settings describe."""
    if settings.file:
        return _read(Path(settings.file), settings)
    if settings.tree:
        from shoal.columns.hierarchy.nested import read_tree  # late: only trees and files of this form need YAML

        return _grown(read_tree(settings.tree), settings.several_parents, settings.siblings)
    if settings.pairs:
        return _grown(Found(list(settings.pairs), None, []), settings.several_parents, settings.siblings)
    if settings.order:
        return ordered(settings.order)
    if values is None and not (settings.wordnet and settings.wordnet.words):
        raise DataError("this hierarchy is made from the values of a column; give them")
    if settings.wordnet:
        return from_wordnet(values or (), settings.wordnet, settings.several_parents == "all")
    if settings.prefixes:
        return prefixes(values or (), () if isinstance(settings.prefixes, bool) else settings.prefixes)
    return flat(values or ()) if settings.flat else intervals(values or (), settings.intervals)


def _read(path: Path, settings: HierarchySettings) -> Hierarchy:
    form = settings.form or _ENDINGS.get(path.suffix.lower(), "leaf-to-root")
    data = read_small(path, "the hierarchy", LARGEST_YAML if form == "nested" else LARGEST_HIERARCHY)
    try:
        if form == "owl":
            return _grown(read_owl(data), settings.several_parents, settings.siblings)
        text = _decoded(data, path, settings.encoding)
        if form == "nested":
            from shoal.columns.hierarchy.nested import read_nested

            return _grown(read_nested(text), settings.several_parents, settings.siblings)
        most = 2 if form == "child-parent" else None
        found = read_rows(text, settings.delimiter, settings.header, most)
        return _grown(found, settings.several_parents, settings.siblings)
    except DataError as error:
        raise DataError([f"hierarchy '{path.name}': {mistake}" for mistake in error.mistakes]) from None


def _grown(found: Found, several: str, siblings: str) -> Hierarchy:
    """Make the tree of pairs; what is wrong with the file and with the tree is told together."""
    pairs, mistakes = found.pairs, found.mistakes
    if several == "first":
        first: dict[str, str] = {}
        for child, parent in pairs:
            first.setdefault(child, parent)
        pairs = list(first.items())
    try:
        grown = grow(pairs, found.root, found.places, siblings == "given", several == "all")
    except DataError as error:
        raise DataError(mistakes + error.mistakes) from None
    if mistakes:
        raise DataError(mistakes)
    return grown


def _decoded(data: bytes, path: Path, encoding: str | None) -> str:
    try:
        return data.decode(encoding or "utf-8-sig")
    except UnicodeError:
        raise DataError(f"is not in {encoding or 'UTF-8'}; give its encoding, such as cp1252") from None
    except (LookupError, ValueError):
        raise DataError(f"there is no encoding '{encoding}' of text") from None


def uncovered(hierarchy: Hierarchy, values: Iterable[str]) -> list[str]:
    """Return the values that are not in a hierarchy, in their order."""
    return [value for value in dict.fromkeys(values) if value not in hierarchy]


def check_covered(hierarchy: Hierarchy, values: Iterable[str] | None) -> Hierarchy:
    """Return the hierarchy if it has all values; otherwise an error lists those it has not, the first of many.

    This message shows values, because nobody can add to a file what is not named.
    """
    lost = uncovered(hierarchy, values or ())
    if lost:
        verb = "is" if len(lost) == 1 else "are"
        told = with_hints(lost, hierarchy.names)
        raise DataError(f"{counted(len(lost), 'value')} {verb} not in the hierarchy: {told}")
    return hierarchy
