"""Columns that are kept as they are, and what they give away: a quasi-identifier in another form, or single records.

Looked at in a sample of 2000 records drawn at random, always the same ones of a table of some length, and in at most
10 000 pairs of columns, so that it costs little in any table; for those that tell something, all records are counted.
Findings and notes name columns and counts; nothing is refused, since a figure that is kept for research may well be
what makes a release of use. What is refused is found by :mod:`.giving_back`, and combinations by :mod:`.singling_out`.
Documented in docs/conditions.md.
"""

from __future__ import annotations

from itertools import islice, product
from typing import Any

import numpy as np

from shoal.errors import counted, printable
from shoal.measures.determination import FEWEST, Seen, equal, score
from shoal.plan.plan import Plan
from shoal.plan.roles import MEASURABLE
from shoal.release.giving_back import kept_and_hidden, sampled
from shoal.release.kept_finding import KeptFinding
from shoal.tables.disguised import is_number
from shoal.tables.table import Table

SAMPLE = 2000  # records that are looked at
PAIRS = 10_000  # pairs of columns that are
TOLD = 0.95  # score from which a column tells another
SINGLE = 0.5  # part of the records whose value nobody else has, from which that is noted
_MARGIN = 0.05  # by which that part may be lower in the sample
_LISTED = 10  # columns that a note names


def kept_notes(plan: Plan, table: Table) -> list[str]:
    """Say which kept columns tell a quasi-identifier, or tell records apart by themselves.

    >>> import polars as pl
    >>> from shoal.tables.table import open_table
    >>> ages = [20 + 3 * i % 41 for i in range(60)]
    >>> people = open_table(pl.DataFrame({"age": ages, "born": [2020 - age for age in ages]}))
    >>> kept_notes(Plan(k=3, quasi_identifiers="age"), people)[0][:63]
    "kept columns tell quasi-identifiers: 'born' tells 'age' (100 %)"
    """
    return kept_found(plan, table)[1]


def kept_found(plan: Plan, table: Table) -> tuple[list[KeptFinding], list[str]]:
    """Return what kept columns tell of quasi-identifiers, and of single records, with the notes that say so."""
    kept, hidden = kept_and_hidden(plan, table)
    if not kept or len(table) < FEWEST:
        return [], []
    sample = sampled(table, SAMPLE)
    seen = {name: _seen(sample, name) for name in (*kept, *hidden)}
    telling, told = _telling([seen[name] for name in kept], [seen[name] for name in hidden], len(sample))
    single, alone = _single(table, [seen[name] for name in kept])
    found = [_given_back(table, *names) for names in telling]
    found += [KeptFinding("unique", [name], [], count, records) for name, count, records in single]
    return found, told + alone


def _given_back(table: Table, name: str, other: str) -> KeptFinding:
    """Count the records whose quasi-identifier follows from a kept column, wholly or to a tenth."""
    known, hidden = table.factor(name), table.factor(other)
    both = known.observed & hidden.observed
    of, values = known.codes[both], hidden.codes[both].astype(np.float64)
    tenth = 0.1 * len(hidden.labels)
    if table.kind(other) in MEASURABLE:
        numbers, _ = table.numbers(other)
        values = (numbers[both] - numbers[both].min()).astype(np.float64)
        tenth = 0.1 * float(values.max())
    counts = np.bincount(of)
    low, high = np.full(len(counts), np.inf), np.full(len(counts), -np.inf)
    np.minimum.at(low, of, values)
    np.maximum.at(high, of, values)
    shared, width = counts > 1, high - low  # a value that one record has tells nobody what goes with it
    if table.kind(other) not in MEASURABLE:
        pairs = np.unique(of * (int(values.max()) + 1) + values.astype(np.int64))
        width = np.bincount(pairs // (int(values.max()) + 1), minlength=len(counts)) - 1.0
    exact = int(counts[shared & (width == 0.0)].sum())
    near = int(counts[shared & (width > 0.0) & (width <= tenth)].sum())
    return KeptFinding("tells", [name], [other], exact, int(both.sum()), narrowed=near)


def _seen(sample: Table, name: str) -> Seen:
    if sample.kind(name) in MEASURABLE:
        numbers, observed = sample.numbers(name)
        codes = np.unique(numbers, return_inverse=True)[1]
        return Seen(name, codes, observed, np.asarray(numbers, dtype=np.float64))
    values, observed = sample.cells(name)
    numbered: dict[Any, int] = {}
    there = observed.tolist()
    try:
        listed = [numbered.setdefault(value, len(numbered)) if o else 0 for value, o in zip(values, there, strict=True)]
    except TypeError:  # values without a hash, in a column of objects
        texts = [repr(value) for value in values]
        listed = [numbered.setdefault(text, len(numbered)) if o else 0 for text, o in zip(texts, there, strict=True)]
    as_numbers = None
    if all(isinstance(value, str) and is_number(value) for value in numbered):
        as_numbers = np.array([float(v) if o else 0.0 for v, o in zip(values, there, strict=True)])
    return Seen(name, np.array(listed, dtype=np.int64), observed, as_numbers)


def _telling(kept: list[Seen], hidden: list[Seen], records: int) -> tuple[list[tuple[str, str]], list[str]]:
    """Return which columns tell a quasi-identifier, the surest first, as many as are named, and say so."""
    found = []
    for known, other in islice(product(kept, hidden), PAIRS):
        sure = 2.0 if equal(known, other) else score(known, other)
        if sure >= TOLD:
            names = f"'{printable(known.name)}'", f"'{printable(other.name)}'"
            # cut, not rounded: 100 % is for what is exact
            percent = f"{np.floor(min(sure, 1.0) * 1000.0 + 1e-6) / 10.0:g} %"
            how = f"{names[0]} is {names[1]} itself" if sure > 1.0 else f"{names[0]} tells {names[1]} ({percent})"
            found.append((-sure, how, (known.name, other.name)))
    if not found:
        return [], []
    found.sort(key=lambda one: one[0])
    rest = f" and {counted(len(found) - _LISTED, 'more pair')}" if len(found) > _LISTED else ""
    listed = ", ".join(how for _, how, _ in found[:_LISTED])
    return [names for _, _, names in found[:_LISTED]], [
        f"kept columns tell quasi-identifiers: {listed}{rest}; seen in {counted(records, 'record')}; remove them, or "
        "make them quasi-identifiers too"
    ]


def _single(table: Table, kept: list[Seen]) -> tuple[list[tuple[str, int, int]], list[str]]:
    """Return in which columns most records have a value that no other has, and say so."""
    found: list[tuple[str, int, int]] = []
    more = 0
    for column in kept:
        there = int(column.observed.sum())
        counts = np.bincount(column.codes[column.observed]) if there else np.zeros(1)
        if (counts == 1).sum() < (SINGLE - _MARGIN) * max(there, FEWEST):
            continue
        if len(found) == _LISTED:  # counting in all records costs more than the rest together
            more += 1
            continue
        alone, observed = table.alone(column.name)
        if observed >= FEWEST and alone >= SINGLE * observed:
            found.append((column.name, alone, observed))
    if not found:
        return [], []
    listed = ", ".join(f"'{printable(name)}' {alone} of {observed}" for name, alone, observed in found)
    rest = f" and more in {counted(more, 'other column')}" if more else ""
    return found, [
        "records that are the only ones with their value of a kept column, so that whoever knows it finds them: "
        f"{listed}{rest}; round them, or make them quasi-identifiers"
    ]
