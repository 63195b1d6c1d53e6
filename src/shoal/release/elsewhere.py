"""A release that becomes no file: written to standard output, or to a table of a server in one transaction.

There is no place beside it for its manifest, which is written where ``manifest`` says, or not at all.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.errors import FileError
from shoal.plan.files_read import Inputs
from shoal.tables.files import Source, file_format, kept_cells, with_codes, write_file
from shoal.tables.files.places import STREAM, Address, is_stream, place_of
from shoal.tables.files.postgresql import check_new, written_postgresql
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


@contextmanager
def sent(
    frame: pl.DataFrame, place: Elsewhere, source: Source | None, released: Container[str], overwrite: bool
) -> Iterator[tuple[str, Path | None]]:
    """Send a release; what the block does happens before the last step, and where it fails nothing is sent.

    Gives what the release is called, and the file that will be sent, where it is one.
    """
    if isinstance(place, Address):
        kept = kept_cells(frame, source.frame, released) if source else {}
        coded = with_codes(frame, source, kept) if source else frame
        with written_postgresql(coded, place, source.form if source else None, overwrite):
            yield place.table or "", None
        return
    path = private_folder() / f"release{_ending(source)}"
    write_file(frame, path, source, released)
    yield "standard output", path
    send(path)


def _ending(source: Source | None) -> str:
    """Return the ending of what is sent: that of what was read where it can be written, and that of CSV otherwise."""
    if source is None or source.path is None or source.pieces or not file_format(source.path).write:
        return ".csv"
    return format_ending(source.path)
