"""One of several tables: sheets of a workbook, tables of a database."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.errors import DataError, did_you_mean, listed

_NAMED = 20  # tables that one message names


def chosen(asked: str | None, there: Sequence[str], where: str, what: str) -> str:
    """Return the table that was asked for, or the only one; ``what`` is a sheet or a table.

    >>> chosen(None, ["persons"], "register.xlsx", "sheet")
    'persons'
    """
    if not there:
        raise DataError(f"'{where}' has no {what}")
    if asked is None and len(there) == 1:
        return there[0]
    if asked is None:
        raise DataError(
            f"'{where}' has {len(there)} {what}s; say which with table (--table): {listed(there, most=_NAMED)}"
        )
    if asked not in there:
        raise DataError(
            f"'{where}' has no {what} '{asked}'{did_you_mean(asked, there)}; it has {listed(there, most=_NAMED)}"
        )
    return asked


def quoted(name: str) -> str:
    """Return a name of SQL in its quotes, with those inside it doubled."""
    return '"' + name.replace('"', '""') + '"'
