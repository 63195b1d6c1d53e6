"""Where the hierarchy of a column comes from, as a plan says it: a file, WordNet, or the values themselves."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from shoal.errors import PlanError
from shoal.plan.settings import Flag, Real, Settings, named

Form = Literal["leaf-to-root", "child-parent", "nested", "owl"]
SOURCES = ("file", "wordnet", "tree", "pairs", "order", "intervals", "prefixes", "flat")


class WordNetSettings(Settings):
    """Where the values of a column are in WordNet.

    Attributes
    ----------
    words : dict or str
        The word of each value that is not a word itself, ``technician`` or ``cleaner#3`` for its third sense as a
        noun; or a CSV or YAML file of values and words. The other values are looked up as they are, spaces and
        hyphens as underscores.
    parents : dict
        What to put above a value or word instead of what WordNet has above it, such as ``Taiwan: Asian_country``.
    version : {"3.0", "3.1"} or None
        Version of WordNet to look for; whichever is there by default.
    folder : str or None
        Folder of nltk's data, where it is not in one of nltk's own places.
    """

    section: ClassVar[str] = "wordnet."

    words: dict[str, str] | str = Field(default={})
    parents: dict[str, str] = Field(default={})
    version: Literal["3.0", "3.1"] | None = None
    folder: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _plain(cls, given: Any) -> Any:
        """``wordnet: true`` asks for it with nothing special about it."""
        return {} if given is True else given


class HierarchySettings(Settings):
    """Where a hierarchy comes from: one of :data:`SOURCES`.

    Attributes
    ----------
    file : str or None
        A CSV file with leaf-to-root rows or child-parent pairs, a YAML file of nested names, or an OWL file.
    form : {"leaf-to-root", "child-parent", "nested", "owl"} or None
        Form of the file; found by its ending and by looking at it where None.
    delimiter, encoding : str or None
        Of a CSV file; found by looking at it, and UTF-8.
    header : bool or None
        Whether the first line of a CSV file names its columns; found by looking at it where None.
    several_parents : {"error", "first", "all"}
        What to do with a name that has more than one parent: refuse, keep the first, or keep all. WordNet's first
        hypernym is taken where nothing is said.
    siblings : {"near", "given"}
        Order of siblings, for methods that cut a sorted column: near ones side by side, or as the source has them.
    wordnet : WordNetSettings or None
        Noun hypernyms of WordNet.
    tree : dict or list or None
        Nested names, as a YAML file has them.
    pairs : tuple of (str, str)
        Children and parents.
    order : tuple of str
        The values from the lowest to the highest: halves of the order, and halves of these, and so on.
    intervals : tuple of float
        Widths of intervals around numbers, each a multiple of the one before.
    prefixes : tuple of int or bool
        Lengths of the prefixes of codes, such as those of NACE, ICD, ISCO or postcodes, that stand above them; True
        takes every prefix.
    flat : bool
        One root above all values.
    distance : {"wu-palmer", "path", "information-content", "jiang-conrath"}
        How far apart the names are.

    Examples
    --------
    >>> HierarchySettings(file="country.csv").distance
    'wu-palmer'
    >>> HierarchySettings(file="country.csv", flat=True)
    Traceback (most recent call last):
    shoal.errors.PlanError: a hierarchy comes from one source, not from file and flat
    """

    section: ClassVar[str] = "hierarchy."

    file: str | None = None
    form: Form | None = None
    delimiter: str | None = None
    encoding: str | None = None
    header: Flag | None = None
    several_parents: Literal["error", "first", "all"] = "error"
    siblings: Literal["near", "given"] = "near"
    wordnet: WordNetSettings | None = None
    tree: Any = None
    pairs: tuple[tuple[str, str], ...] = ()
    order: tuple[str, ...] = ()
    intervals: tuple[Real, ...] = ()
    prefixes: tuple[int, ...] | bool = False
    flat: Flag = False
    distance: Literal["wu-palmer", "path", "information-content", "jiang-conrath"] = "wu-palmer"

    @field_validator("wordnet", mode="before")
    @classmethod
    def _by_name(cls, value: object) -> object:
        return named(value, "wordnet")

    @field_validator("prefixes", mode="before")
    @classmethod
    def _lengths(cls, value: object) -> object:
        lengths = value if isinstance(value, list | tuple) else [value]
        if not isinstance(value, bool) and not all(type(length) is int for length in lengths):
            raise PlanError("prefixes: give the lengths of prefixes, such as [1, 3], or true for all")
        return value if isinstance(value, bool) else tuple(lengths)

    @field_validator("file", mode="before")
    @classmethod
    def _path(cls, value: object) -> object:
        return str(value) if isinstance(value, Path) else value

    @field_validator("order", mode="before")
    @classmethod
    def _texts(cls, value: object) -> object:
        return [str(item) for item in value] if isinstance(value, list | tuple) else value

    @model_validator(mode="after")
    def _one_source(self) -> HierarchySettings:
        mistakes = []
        sources = [name for name in SOURCES if getattr(self, name)]
        if len(sources) != 1:
            mistakes.append(
                f"a hierarchy comes from one source, not from {' and '.join(sources)}"
                if sources
                else f"a hierarchy needs a source: {', '.join(SOURCES[:-1])} or {SOURCES[-1]}"
            )
        of_file = [name for name in ("form", "delimiter", "encoding", "header") if getattr(self, name) is not None]
        if of_file and not self.file:
            mistakes.append(f"{', '.join(of_file)}: has no effect without a file")
        in_text = [name for name in ("delimiter", "header") if getattr(self, name) is not None]
        if in_text and self.form in ("nested", "owl"):
            mistakes.append(f"{', '.join(in_text)}: has no effect on the form '{self.form}'")
        if self.several_parents == "first" and not (self.file or self.pairs):
            mistakes.append("several_parents: has no effect without a file")
        if self.several_parents == "all" and not (self.file or self.pairs or self.wordnet or self.tree):
            mistakes.append("several_parents: has no effect on a hierarchy that is made from the values")
        if self.siblings == "given" and (self.wordnet or self.order or self.intervals or self.prefixes or self.flat):
            mistakes.append("siblings: the source gives them no order, or one that is kept anyway")
        if self.delimiter is not None and (len(self.delimiter) != 1 or self.delimiter in '\r\n"'):
            mistakes.append("delimiter: must be a single character, and no quote or line end")
        if len(set(self.order)) < len(self.order):
            mistakes.append("order: names a value more than once")
        if any(width <= 0 for width in self.intervals):
            mistakes.append("intervals: widths must be above 0")
        elif any(wide <= w or wide % w for w, wide in zip(self.intervals, self.intervals[1:], strict=False)):
            mistakes.append("intervals: each width must be a multiple of the one before, and larger")
        lengths = self.prefixes if isinstance(self.prefixes, tuple) else ()
        if any(length < 1 for length in lengths) or list(lengths) != sorted(set(lengths)):
            mistakes.append("prefixes: lengths must be above 0, from the shortest to the longest")
        if mistakes:
            raise PlanError(mistakes)
        return self


def as_hierarchy_settings(source: object) -> HierarchySettings:
    """Return where a hierarchy comes from: a path, settings by name, or the hierarchy itself.

    >>> as_hierarchy_settings("country.csv").file
    'country.csv'
    """
    if isinstance(source, HierarchySettings):
        return source
    if isinstance(source, str | Path):
        return HierarchySettings(file=str(source))
    if hasattr(source, "as_settings"):  # a Hierarchy, which a plan knows nothing of, and writes down by its names
        return HierarchySettings(**source.as_settings())
    if isinstance(source, Mapping) and all(isinstance(name, str) for name in source):
        return HierarchySettings(**source)
    raise PlanError("a hierarchy is the path of a file, settings by name such as {'flat': True}, or a shoal.Hierarchy")
