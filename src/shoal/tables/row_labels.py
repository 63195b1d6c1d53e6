"""The index of a pandas table, which goes into the release with it: it can be a direct identifier as columns can.

Numbers without a name are what pandas itself gives to rows, also after sorting and selecting, and are left alone.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from shoal.errors import printable
from shoal.plan.roles import Kind
from shoal.tables.identifying import why_identifier
from shoal.tables.table import Table, open_table

_LEVEL = "level"
_ADVICE = "reset it (reset_index(drop=True)), or make it a column and give that a role"


def index_suspects(table: Table) -> list[str]:
    """Say which levels of the index of a pandas table look like direct identifiers, and what to do about them.

    >>> import polars as pl
    >>> index_suspects(open_table(pl.DataFrame({"a": [1]})))
    []
    """
    index: Any = getattr(table.native, "index", None)
    if not hasattr(index, "to_frame"):
        return []
    told = []
    for place, own in enumerate(index.names):
        level = open_table(index.get_level_values(place).to_frame(index=False, name=_LEVEL))
        if own is None and level.kind(_LEVEL) is Kind.NUMERIC:
            continue
        reason = why_identifier(replace(level.profile(_LEVEL), name="" if own is None else str(own)))
        if reason:
            called = "the index" if own is None else f"the index '{printable(str(own))}'"
            told.append(f"{called} looks like a direct identifier ({reason}); {_ADVICE}")
    return told
