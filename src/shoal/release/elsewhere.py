"""A release that becomes no file: written to standard output, or to a table of a server in one transaction.

The manifest of a table is in a table beside it, committed with it. There is no place beside standard output. For both
``manifest`` names a file for it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import FileError
from shoal.plan.files_read import Inputs
from shoal.tables.files import Source, file_format, kept_cells, with_codes, write_file
from shoal.tables.files.places import STREAM, Address, is_stream, place_of
from shoal.tables.files.postgresql import check_new, manifest_table, written_postgresql
from shoal.tables.files.streams import private_folder, send
from shoal.tables.files.writing_whole import check_target, format_ending

if TYPE_CHECKING:
    import polars as pl

Elsewhere = str | Address


def elsewhere(output: str | Path) -> Elsewhere | None:
    """Return where a release goes if that is not a file: ``-`` or an address."""
    if is_stream(output):
        return STREAM
    place = place_of(output)
    return place if isinstance(place, Address) else None


def check_elsewhere(place: Elsewhere, overwrite: bool, form: object = None) -> None:
    """Refuse a table that a release cannot be written to, before any work is done."""
    if isinstance(place, Address):
        check_new(place, form, overwrite)


def check_manifest(
    manifest: str | Path | None, place: Elsewhere | None, inputs: Inputs = (), overwrite: bool = True
) -> None:
    """Refuse a place for a manifest where it has one already: beside its file."""
    if manifest is None:
        return
    if place is None:
        raise FileError("manifest: has no effect where a release is a file, whose manifest is beside it; leave it out")
    if Path(manifest).suffix.lower() != ".json":
        raise FileError(f"'{manifest}': a manifest is written to a file that ends in .json")
    check_target(Path(manifest), inputs, overwrite)


@dataclass
class Sending:
    """A release on its way.

    Attributes
    ----------
    name : str
        What it is called in its manifest.
    file : Path or None
        The file that will be sent, where it is one.
    tell : callable
        Takes the manifest, for the place beside the release, where there is one.
    arrived : str
        What is to be said of the release once it is where it was sent, and nothing before.
    """

    name: str
    file: Path | None
    tell: Callable[[Mapping[str, Any]], None]
    arrived: str = ""


@contextmanager
def sent(
    frame: pl.DataFrame, place: Elsewhere, source: Source | None, released: Container[str], overwrite: bool
) -> Iterator[Sending]:
    """Send a release; what the block does happens before the last step, and where it fails nothing is sent."""
    if isinstance(place, Address):
        kept = kept_cells(frame, source.frame, released) if source else {}
        coded = with_codes(frame, source, kept) if source else frame
        name = place.table or ""
        with written_postgresql(coded, place, source.form if source else None, overwrite) as write:
            # no other signs: a database may have any encoding
            sending = Sending(name, None, lambda manifest: write(json.dumps(manifest, ensure_ascii=True)))
            yield sending
        sending.arrived = f"the table '{name}' was written, with its manifest in '{manifest_table(name)}'"
        return
    path = private_folder() / f"release{_ending(source)}"
    write_file(frame, path, source, released)
    sending = Sending("standard output", path, lambda _: None)
    yield sending
    send(path)
    sending.arrived = "the release was sent to standard output"


def _ending(source: Source | None) -> str:
    """Return the ending of what is sent: that of what was read where it can be written, and that of CSV otherwise."""
    if source is None or source.path is None or source.pieces or not file_format(source.path).write:
        return ".csv"
    return format_ending(source.path)
