"""Row-wise XML: an element for each record, and in it an element for each value, named after its variable.

::

    <Data>
      <Record><AGE>31</AGE><TOWN>Reus</TOWN></Record>
      <Record><AGE>45</AGE></Record>
    </Data>

A value is missing where its element is absent or empty. The names of the elements are the file's own; all of them may
be in one namespace. A file is read and written as a stream of records: memory holds the columns and never the tree.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import DataError, FileError, printable
from shoal.plan.reading import Reading
from shoal.plan.xml_input import feed, stream_parser
from shoal.tables.files.cells import CellForm, typed_column, typed_like, written

if TYPE_CHECKING:
    import polars as pl

_NAME = re.compile(r"[^\W\d][\w.-]*")
_NOT_XML = r"[\x00-\x08\x0B\x0C\x0E-\x1F]"
_ESCAPES = (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\r", "&#13;"))
_CHUNK = 20_000  # records that are strings at a time


@dataclass(frozen=True)
class RowForm:
    """How a row-wise XML file was written.

    Attributes
    ----------
    root, record : str
        Names of the outermost element and of a record.
    namespace : str
        Of all elements, or empty.
    attributes : tuple of (str, str)
        Attributes and namespace declarations of the outermost element, as they are written.
    cells : polars.DataFrame
        Every value as it was, as text; null where its element is absent.
    empty : bool
        Whether values are missing as empty elements, and not as absent ones.
    forms : dict
        How the cells of a column are written, where not plainly.
    """

    root: str
    record: str
    namespace: str
    attributes: tuple[tuple[str, str], ...]
    cells: pl.DataFrame
    empty: bool = False
    forms: dict[str, CellForm] = field(default_factory=dict)


def read_rows(path: Path) -> tuple[pl.DataFrame, RowForm]:
    """Read a row-wise XML file: its typed columns, and its form."""
    import polars as pl

    root, cells = read_row_cells(path)
    columns, forms = [], {}
    for column in cells:
        values, form, _ = typed_column(column.str.strip_chars(), ",", Reading())
        texts = column.set(column == "", None)
        columns.append(values if values.dtype != pl.String else texts)
        if form:
            forms[column.name] = form
    return pl.DataFrame(columns), RowForm(**root, cells=cells, forms=forms)


def read_rows_again(path: Path, frame: pl.DataFrame, form: RowForm | None) -> tuple[pl.DataFrame, RowForm]:
    """Read a file that ``frame`` was written to, with the types of the frame."""
    import polars as pl

    root, cells = read_row_cells(path)
    absent = pl.repeat(None, len(cells), dtype=pl.String, eager=True)
    cells = cells.select(cells[name] if name in cells.columns else absent.alias(name) for name in frame.columns)
    forms = form.forms if form else {}
    return typed_like(cells, frame, forms, ()), RowForm(**root, cells=cells, forms=forms)


def read_row_cells(path: Path) -> tuple[dict[str, Any], pl.DataFrame]:
    """Read a file's values as text, null where an element is absent, and what a form says of its elements."""
    reader = _Reader(path)
    with path.open("rb") as handle:
        feed(reader.parser, handle, f"'{path}'")
    cells = reader.cells()
    root = {
        "root": _local(reader.root),
        "record": _local(reader.record),
        "namespace": reader.root.rpartition(" ")[0],
        "attributes": tuple(reader.attributes),
        "empty": any(bool((column == "").any()) for column in cells),
    }
    return root, cells


def _local(name: str) -> str:
    return name.rpartition(" ")[2]


class _Reader:
    """Takes what the parser finds, and puts records away as columns, some at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.parser = stream_parser(f"'{path}'")
        self.parser.StartNamespaceDeclHandler = self.declared
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.text: list[str] = []
        self.parser.CharacterDataHandler = self.text.append
        self.root = self.record = ""
        self.attributes: list[tuple[str, str]] = []
        self.prefixes: dict[str, str] = {}
        self.depth = self.number = 0
        self.names: list[str] = []
        self.known: list[str] = []  # the elements of the record before, and where their values go
        self.places: list[int] = []
        self.straight = True
        self.tags: list[str] = []
        self.row: list[str] = []
        self.rows: list[list[str | None]] = []
        self.parts: list[pl.DataFrame] = []

    def declared(self, prefix: str | None, uri: str | None) -> None:
        if self.depth == 0:
            self.attributes.append((f"xmlns:{prefix}" if prefix else "xmlns", uri or ""))
            if prefix and uri:
                self.prefixes[uri] = prefix

    def start(self, name: str, attributes: list[str]) -> None:
        self.depth += 1
        if self.depth == 1:
            self.outermost(name, attributes)
        elif self.text and "".join(self.text).strip():
            self.refuse()
        elif attributes or self.depth > 3:
            self.number += 1
            self.refuse()
        elif self.depth == 2:
            self.record = self.record or name
            self.number += 1
            if name != self.record:
                raise FileError(
                    f"'{self.path}': '{printable(_local(name))}' is among the records, which are called "
                    f"'{_local(self.record)}'; all elements under the outermost one must be records"
                )
        self.text.clear()

    def outermost(self, name: str, attributes: list[str]) -> None:
        self.root = name
        space = name.rpartition(" ")[0]
        if space and ("xmlns", space) not in self.attributes:
            raise FileError(
                f"'{self.path}' has a prefix before the names of its elements; write it with a default namespace"
            )
        for key, value in zip(attributes[::2], attributes[1::2], strict=True):
            prefix = self.prefixes.get(key.rpartition(" ")[0], "")
            self.attributes.append((f"{prefix}:{_local(key)}" if prefix else _local(key), value))

    def end(self, name: str) -> None:
        self.depth -= 1
        if self.depth == 2:
            self.tags.append(name)
            self.row.append("".join(self.text) if len(self.text) != 1 else self.text[0])
        elif self.text and "".join(self.text).strip():
            self.refuse()
        elif self.depth == 1:
            self.put()
        self.text.clear()

    def refuse(self) -> None:
        raise FileError(
            f"'{self.path}', record {self.number}: a record must be elements with a text each and nothing else: no "
            "attributes, no elements in elements, no text between them"
        )

    def put(self) -> None:
        """Put a record away."""
        if self.tags != self.known:
            self.place()
        if self.straight and len(self.row) == len(self.names):
            self.rows.append([*self.row])
        else:
            row: list[str | None] = [None] * len(self.names)
            for place, value in zip(self.places, self.row, strict=True):
                row[place] = value
            self.rows.append(row)
        self.tags, self.row = [], []
        if len(self.rows) >= _CHUNK:
            self.put_away()

    def place(self) -> None:
        """Find out where the values of a record go whose elements are not those of the one before."""
        own = [_local(tag) for tag in self.tags]
        if len(set(own)) < len(own):
            raise FileError(f"'{self.path}', record {self.number}: a variable has two values")
        new = [name for name in own if name not in self.names]
        if new:
            self.put_away()
            self.names += new
        self.known = self.tags
        self.places = [self.names.index(name) for name in own]
        self.straight = self.places == [*range(len(own))]

    def put_away(self) -> None:
        import polars as pl

        if self.rows:
            columns = zip(*self.rows, strict=True)
            self.parts.append(
                pl.DataFrame([pl.Series(n, c, pl.String) for n, c in zip(self.names, columns, strict=True)])
            )
            self.rows = []

    def cells(self) -> pl.DataFrame:
        """Return all values as text."""
        import polars as pl

        self.put_away()
        if not self.number:
            raise DataError(f"'{self.path}' has no records")
        if not self.names:
            raise DataError(f"'{self.path}' has records without any value")
        return pl.concat(self.parts, how="diagonal")


def write_rows(frame: pl.DataFrame, path: Path, form: RowForm | None, kept: dict[str, pl.Series]) -> None:
    """Write a row-wise XML file in the given form; ``kept`` cells are written as they were."""
    import polars as pl

    form = form or RowForm("Data", "Record", "", (), pl.DataFrame())
    texts = row_texts(frame, form, kept)
    with path.open("w", encoding="utf-8", newline="\n") as handle:
        handle.write("<?xml version='1.0' encoding='UTF-8'?>\n")
        handle.write(f"{opening(form)}\n")
        for start in range(0, len(texts), _CHUNK):
            handle.writelines(f"  {line}\n" for line in row_elements(texts[start : start + _CHUNK], form.record))
        handle.write(f"</{form.root}>\n")


def opening(form: RowForm) -> str:
    """Return the start tag of the outermost element."""
    from xml.sax.saxutils import quoteattr  # late: it loads Python's network libraries

    return f"<{form.root}{''.join(f' {name}={quoteattr(value)}' for name, value in form.attributes)}>"


def row_texts(frame: pl.DataFrame, form: RowForm, kept: dict[str, pl.Series]) -> pl.DataFrame:
    """Return the values of a table as the texts that are written, null where there is no element."""
    import polars as pl

    bad = [name for name in frame.columns if not _is_name(name)]
    if bad:
        listed = ", ".join(f"'{printable(name)}'" for name in bad)
        raise FileError(f"these column names cannot be the names of XML elements: {listed}; rename them")
    columns = []
    for column in frame:
        texts = written(column, form.forms.get(column.name))
        if form.empty:
            texts = texts.fill_null("")
        if column.name in form.cells.columns and column.name in kept:
            texts = form.cells[column.name].zip_with(kept[column.name], texts)
        if bool(texts.str.contains(_NOT_XML).any()):
            raise FileError(f"column '{column.name}' has control characters, which XML cannot hold")
        columns.append(texts)
    return pl.DataFrame(columns)


def _is_name(name: str) -> bool:
    return _NAME.fullmatch(name) is not None and not name.lower().startswith("xml")


def can_be_element(column: pl.Series) -> bool:
    """Whether XML can hold a column, by its name and its type.

    >>> import polars as pl
    >>> can_be_element(pl.Series("a", [1])), can_be_element(pl.Series("a b", [1]))
    (True, False)
    """
    import polars as pl

    return _is_name(column.name) and not column.dtype.is_nested() and column.dtype not in (pl.Binary, pl.Object)


def row_elements(texts: pl.DataFrame, record: str) -> list[str]:
    """Return each record as its element.

    >>> import polars as pl
    >>> row_elements(pl.DataFrame({"A": ["1", None], "B": ["x<y", ""]}), "Record")
    ['<Record><A>1</A><B>x&lt;y</B></Record>', '<Record><B></B></Record>']
    """
    import polars as pl

    parts = [pl.lit(f"<{record}>")]
    for name in texts.columns:
        value = pl.col(name)
        for sign, escaped in _ESCAPES:
            value = value.str.replace_all(sign, escaped, literal=True)
        parts.append(pl.concat_str(pl.lit(f"<{name}>"), value, pl.lit(f"</{name}>")).fill_null(""))
    return texts.select(pl.concat_str(*parts, pl.lit(f"</{record}>")).alias("row"))["row"].to_list()


def row_documents(texts: pl.DataFrame, form: RowForm) -> Iterator[tuple[str, int]]:
    """Give documents of some records each, with how many they are, for an engine that holds a tree of them."""
    for start in range(0, len(texts), _CHUNK):
        lines = row_elements(texts[start : start + _CHUNK], form.record)
        yield f"{opening(form)}{''.join(lines)}</{form.root}>", len(lines)
