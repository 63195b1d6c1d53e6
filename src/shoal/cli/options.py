"""Options that several commands have, and how the words of the command line become settings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

import shoal

Input = Annotated[Path, typer.Argument(metavar="IN", help="CSV, Parquet, Arrow IPC; SPSS, Stata or SAS file.")]
Delimiter = Annotated[str | None, typer.Option(help="Delimiter of a text file; found by looking at it.")]
Encoding = Annotated[str | None, typer.Option(help="Encoding of a text file; found by looking at it.")]
Missing = Annotated[list[str] | None, typer.Option(help="Texts that mark missing values, e.g. NA,?")]
NoHeader = Annotated[bool, typer.Option("--no-header", help="The first line of a text file is a record.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


def names(given: Sequence[str] | None) -> list[str] | None:
    """Split comma-separated names."""
    if not given:
        return None
    return [name.strip() for part in given for name in part.split(",") if name.strip()]


def pairs(given: Sequence[str], flag: str) -> dict[str, str]:
    """Split name=value pairs."""
    pairs = {}
    for part in given:
        name, equals, value = part.partition("=")
        if not equals:
            raise shoal.PlanError(f"{flag} {part}: write it as name=value")
        pairs[name.strip()] = value.strip()
    return pairs


def reading_of(
    delimiter: str | None, encoding: str | None, missing: list[str] | None, no_header: bool
) -> dict[str, Any] | None:
    """Return how a text file is to be read, where anything was said about it."""
    reading: dict[str, Any] = {}
    if delimiter is not None:
        reading["delimiter"] = delimiter.replace("\\t", "\t")
    if encoding is not None:
        reading["encoding"] = encoding
    if missing:
        reading["missing"] = names(missing)
    if no_header:
        reading["header"] = False
    return reading or None
