"""What the name of a table stands for: a file, standard input or output, or an address; and what is refused.

A password that is part of an address is in no message, manifest or report: :attr:`Address.shown` leaves out user,
password and options.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from shoal.errors import FileError, without_secrets

STREAM = "-"
"""Standard input or output; a file of that name is ``./-``."""

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")
_SERVERS = ("postgresql", "postgres")
_FILES = ("sqlite", "duckdb")


@dataclass(frozen=True)
class Address:
    """A database on a server.

    Attributes
    ----------
    uri : str
        What its driver is given, which may have a password in it.
    table : str or None
        The table that is named behind ``#``.
    shown : str
        Host and database, for messages.
    """

    uri: str = field(repr=False)
    table: str | None
    shown: str


def is_stream(name: object) -> bool:
    """Whether a name stands for standard input or output."""
    return isinstance(name, str) and name == STREAM


def place_of(name: str | Path) -> Path | Address:
    """Return the file or the address that a name stands for, or refuse it with what to do instead.

    >>> place_of("postgresql://ada:secret@db.example/census#persons").shown
    'postgresql://db.example/census'
    >>> place_of("sqlite:///data/register.db").as_posix()  # three slashes: from here; four: from the root
    'data/register.db'
    """
    found = _SCHEME.match(str(name)) if isinstance(name, str) else None
    scheme = found[1].lower() if found else ""
    if found is None:
        return Path(name)
    try:
        parts = urlsplit(str(name))
    except ValueError:
        raise FileError("the address of a database is not a valid one; write postgresql://USER@HOST/DATABASE") from None
    if scheme in _SERVERS:
        uri = str(name).partition("#")[0]
        return Address(uri, unquote(parts.fragment) or None, without_secrets(uri))
    if scheme in _FILES or scheme == "file":
        return Path(unquote(parts.path if scheme == "file" else parts.path.removeprefix("/")))
    what = "a database of this kind" if scheme in _OTHER_SERVERS else f"an address that begins with {scheme}:"
    raise FileError(f"{what} is not read; {_INSTEAD_OF.get(scheme, _COPY)}")


_COPY = "download or copy the file first, and name the copy"
_OTHER_SERVERS = ("mysql", "mariadb", "mssql", "oracle", "snowflake", "bigquery")
_INSTEAD_OF = dict.fromkeys(
    _OTHER_SERVERS, "write the table to a Parquet or CSV file with its own tools, and name that"
)
