"""Who is who: the persons that identifiers tell apart, where these have a value in several records.

Where the plan does not say which identifiers tell persons apart, the names of the columns decide. A key counts: an
``id``, an e-mail address, an account, a ``patient``; each by itself, since a record may name two persons. Names and
addresses do not, since two people may have one name, and neither does anything else, since any column may be removed as
an identifier. Where these have a few records each, as persons with several records would, they are doubtful; names and
addresses all together. What numbers the records of each value of another key, such as the persons of a household from
1, is no key of its own: the first of every household are not one person.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from shoal.kernels.arrays import Flags, Ints
from shoal.kernels.numbering import number_keys
from shoal.plan.roles import Kind
from shoal.tables.identifying import is_key, is_name, looks_like_contact
from shoal.tables.table import Table

_SAMPLE = 1000  # values whose form is looked at
_FEW = (1.5, 20.0)  # records of a value, on average, between which an identifier may well tell persons apart
_FEWER = 10  # times as many values as a column has that numbers the records of each of them


@dataclass(frozen=True)
class Persons:
    """The persons of an identifier that repeats, or of several together.

    Attributes
    ----------
    name : str
        The identifier.
    codes : int64 (n,)
        Number of each record's person, from 0. Records without a value have one number of their own, the last.
    count : int
        How many persons have a value.
    kind : {"person", "household"}
        What they are.
    """

    name: str
    codes: Ints
    count: int
    kind: str = "person"


@dataclass(frozen=True)
class Identified:
    """What the identifiers of a table come to.

    Attributes
    ----------
    persons : list of Persons
        Those that k counts.
    doubtful : list of str
        Identifiers that repeat and do not count, although they may tell persons apart.
    within : dict of str to str
        Identifiers that do not count since they number the records of each value of another, and which.
    """

    persons: list[Persons]
    doubtful: list[str]
    within: dict[str, str] = field(default_factory=dict)


def identify(table: Table, identifiers: Sequence[str], named: Sequence[str] | None = None) -> Identified:
    """Return the persons that k counts: those of the identifiers that are ``named``, or of those that look like it.

    >>> import polars as pl
    >>> from shoal.tables.table import open_table
    >>> visits = open_table(pl.DataFrame({"patient": ["a", "a", "b"], "visit": [1, 2, 3]}))
    >>> [(one.name, one.count) for one in identify(visits, ["patient", "visit"]).persons]
    [('patient', 2)]
    """
    if named is not None:
        # whoever names an identifier counts by it, also where nothing of it repeats but that it is missing
        return Identified([one for name in named if (one := _repeating(table, name, missing=True))], [])
    found = [one for name in identifiers if (one := _repeating(table, name))]
    keys = [one for one in found if is_key(one.name) or _contacts(table, one.name)]
    names = [one for one in found if is_name(one.name) and one not in keys]
    others = [one for one in found if one not in keys and one not in names and _nameable(table, one.name)]
    doubtful = [one.name for one in (*([_together(names)] if names and not keys else []), *others) if _doubtful(one)]
    within = {one.name: key.name for one in keys for key in keys if _numbers_within(one, key)}
    return Identified([one for one in keys if one.name not in within], doubtful, within)


def _numbers_within(one: Persons, key: Persons) -> bool:
    """Whether an identifier numbers the records of each value of a key, as persons of a household are numbered.

    No two records of a value have the same number, and there are no more numbers than the value with the most records
    needs. Two keys of persons are like that only where one met all of the other kind, each once; that there must be far
    fewer numbers than values leaves such keys alone in small tables, and never takes both away.
    """
    if one.count * _FEWER > key.count or one.count != int(np.bincount(key.codes).max()):
        return False
    pairs = key.codes * (one.count + 1) + one.codes
    return len(np.unique(pairs)) == len(pairs)


def _doubtful(one: Persons) -> bool:
    """Whether there are a few records for each value."""
    return _FEW[0] * one.count <= len(one.codes) <= _FEW[1] * one.count


def _repeating(table: Table, name: str, missing: bool = False) -> Persons | None:
    """Return the persons of an identifier; None where none has two records, ``missing`` values counted if asked for."""
    values = table.series(name)
    try:
        if int(values.n_unique()) == len(values):
            return None
        factor = table.factor(name)
        codes, observed, count = factor.codes, factor.observed, len(factor.labels)
    except Exception:  # lists, structs and objects, of which the libraries cannot count the distinct
        codes, observed, count = _by_text(*table.cells(name))
    alone = int(observed.sum()) == count
    if alone and not (missing and len(observed) - count > 1):
        return None
    return Persons(name, np.where(observed, codes, count).astype(np.int64), count)


def _by_text(cells: list[Any], observed: Flags) -> tuple[Ints, Flags, int]:
    seen: dict[str, int] = {}
    pairs = zip(cells, observed.tolist(), strict=True)
    codes = [seen.setdefault(repr(cell), len(seen)) if there else 0 for cell, there in pairs]
    return np.array(codes, dtype=np.int64), observed, len(seen)


def _together(parts: Sequence[Persons]) -> Persons:
    """Return the persons of several identifiers together; a missing value is a value here."""
    codes = parts[0].codes
    for one in parts[1:]:
        codes = number_keys(codes * (one.count + 1) + one.codes)[0]
    return Persons(", ".join(one.name for one in parts), codes, int(codes.max()) + 1)


def _contacts(table: Table, name: str) -> bool:
    """Whether most of the first values have the form of an e-mail address, a telephone number or the like."""
    if table.kind(name) is not Kind.NOMINAL:
        return False
    texts = [value for value in table.series(name).head(_SAMPLE).to_list() if isinstance(value, str)]
    return len(texts) > 0 and sum(map(looks_like_contact, texts)) > 0.8 * len(texts)


def _nameable(table: Table, name: str) -> bool:
    """Whether values are texts, whole numbers or of some other type that can name a person."""
    series = table.series(name)
    return not (series.dtype.is_float() or series.dtype.is_decimal() or table.kind(name) in (Kind.DATE, Kind.BOOLEAN))
