"""Whether the rows of two tables belong together, by the columns that are not measured and were kept as they are.

Rows are compared by position, so a release in another order gives figures that are wrong without looking wrong. A
column that was kept tells: it is the same in both tables, row by row, or it has the same values in other rows.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from shoal.errors import DataError, counted, listed
from shoal.kernels.arrays import Floats
from shoal.plan.roles import MEASURABLE, Kind
from shoal.tables.table import Table

_NAMED = 5  # columns that a message names
ABOVE = 100.0  # percent of loss beyond which a note asks whether rows belong together


def check_rows(original: Table, released: Table, measured: Collection[str], notes: list[str]) -> bool:
    """Return whether a column that is not measured shows that rows belong together.

    Raises DataError where it shows that they do not: none is as it was, and one has all its values in other rows.
    """
    moved: dict[str, int] = {}
    other: dict[str, int] = {}
    for name in original.names:
        if name in measured or name not in released.names or Kind.OTHER in (original.kind(name), released.kind(name)):
            continue
        try:
            before, after = _comparable(original, released, name)
        except DataError:
            continue
        if (before == before[0]).all():
            continue  # of one value, which is in the same rows in any order
        differ = int((before != after).sum())
        if not differ:
            return True
        same = bool((np.sort(before) == np.sort(after)).all())
        (moved if same else other)[name] = differ
    n = counted(len(original), "record")
    if moved:
        rows = "; ".join(f"'{name}' differs in {count} of {n}" for name, count in list(moved.items())[:_NAMED])
        raise DataError(
            f"the rows of the tables do not belong together: {listed(moved, _NAMED)} "
            f"{'has' if len(moved) == 1 else 'have'} the same values in both, but in other rows ({rows}); put both "
            "tables into the same order, or name the columns as quasi-identifiers if their values were exchanged"
        )
    if other:
        rows = "; ".join(f"'{name}' in {count} of {n}" for name, count in list(other.items())[:_NAMED])
        notes.append(
            f"no column that is not measured is as it was ({rows}), so that the rows of both tables belong together "
            "cannot be seen; check that they are in the same order"
        )
    return False


def loss_note(loss: float, verified: bool) -> list[str]:
    """Ask whether rows belong together where nothing shows it and every cell at its centre would have lost less."""
    if verified or loss <= ABOVE:
        return []
    return [
        f"the loss is above {ABOVE:.0f} %, worse than every cell at the centre of its column, and no kept column shows "
        "that the rows of both tables belong together; check that they are in the same order"
    ]


def _comparable(original: Table, released: Table, name: str) -> tuple[Floats, Floats]:
    """Return a column of both tables as numbers that are equal where the cells are; missing ones are, too."""
    kind = original.kind(name)
    if kind in MEASURABLE and released.kind(name) is kind and _type(original, name) == _type(released, name):
        columns = [table.column(name) for table in (original, released)]
        values = [column.values.astype(np.float64) * column.step + float(column.origin) for column in columns]
        before, after = (np.where(column.observed, own, np.inf) for column, own in zip(columns, values, strict=True))
        return before, after
    numbers: dict[str, int] = {}
    found = []
    for table in (original, released):
        codes, labels = table.codes([name])
        found.append(np.array([numbers.setdefault(label, len(numbers)) for label in labels], np.float64)[codes])
    return found[0], found[1]


def _type(table: Table, name: str) -> str:
    return str(table.frame[name].dtype)
