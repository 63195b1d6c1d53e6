"""Kept columns that give back a quasi-identifier: refused, unless the plan accepts them with a reason.

- A copy: the original stands beside the released value. A multiple of it, plus a constant, is one in another unit.
- A column that determines it: each of its values, which ten records have on average, goes with one of the
  quasi-identifier, such as the name of a degree with its years. A column with hardly any value twice determines
  everything, which tells nobody anything, and is no finding of this kind.
- Two columns whose sum or difference it is.

Candidates are found in a sample of records drawn at random, and compared in all of them, so that a column that differs
anywhere is none. Quasi-identifiers of which too few records have another than the most common value are left out: they
could be told by chance.

Cost: O(n) for each candidate; O(s) for each pair of columns, and each pair of kept ones with a quasi-identifier, in a
sample of s.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations, islice

import narwhals as nw
import numpy as np

from shoal.errors import counted, printable
from shoal.kernels.arrays import Flags, Floats, Ints
from shoal.measures.determination import FEWEST, OTHERS
from shoal.plan.plan import Plan
from shoal.plan.roles import MEASURABLE, Kind
from shoal.release.kept_finding import KeptFinding
from shoal.tables.disguised import is_number
from shoal.tables.table import Table, open_table

_SAMPLE = 1000  # records in which columns must agree to be compared in all
_REPEATED = 10  # records for each value of a column that determines another
_NEAR = 1e-9  # of the range, what rounding may make of a multiple or a sum
_SUMS = 20_000  # pairs of kept columns, and pairs of quasi-identifiers, that are added up


def kept_and_hidden(plan: Plan, table: Table) -> tuple[list[str], list[str]]:
    """Return the columns of a table that are kept and can be compared, and the quasi-identifiers."""
    hidden = [name for part in plan.quasi_identifiers for name in part]
    kept = [name for name in table.names if name not in {*hidden, *plan.replaced}]
    return [name for name in kept if table.kind(name) is not Kind.OTHER and _has_equals(table, name)], hidden


def _has_equals(table: Table, name: str) -> bool:
    """Whether values can be told to be equal, which lists in a column of objects cannot."""
    if table.frame.get_column(name).dtype != nw.Object:
        return True
    values, observed = table.cells(name)
    return all(isinstance(value, Hashable) for value, there in zip(values, observed, strict=True) if there)


def sampled(table: Table, records: int) -> Table:
    """Return so many records of a table, always the same of a table of some length, in random order."""
    rows = np.random.default_rng(0).permutation(len(table))[:records]
    return open_table(table.frame[rows.tolist()].to_native())


def giving_back(plan: Plan, table: Table) -> list[KeptFinding]:
    """Return the kept columns that give back a quasi-identifier, with the reasons that the plan accepts them for.

    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [20 + i % 30 for i in range(60)]}).with_columns(born=2020 - pl.col("age"))
    >>> [(one.kind, one.columns, one.of) for one in giving_back(Plan(k=3, quasi_identifiers="age"), open_table(people))]
    [('scaled', ['born'], ['age'])]
    """
    kept, hidden = kept_and_hidden(plan, table)
    if not kept or len(table) < FEWEST:
        return []
    sample = _Columns(sampled(table, _SAMPLE))
    whole = _Columns(table)
    found: list[KeptFinding] = []
    for name in kept:
        for other in hidden:
            kind = next((kind for kind in _KINDS if _KINDS[kind](sample, name, other)), None)
            if kind and _says_something(table, other) and _KINDS[kind](whole, name, other):
                found.append(KeptFinding(kind, [name], [other], *_counts(whole, name, other)))
                break
    found += _sums_of_kept(sample, whole, kept, hidden, {name for one in found for name in one.columns})
    return [replace(one, reason=next((plan.accept[n] for n in one.columns if n in plan.accept), "")) for one in found]


def sums_kept(plan: Plan, table: Table) -> list[KeptFinding]:
    """Return the kept columns that are the sum or the difference of two quasi-identifiers."""
    kept, hidden = kept_and_hidden(plan, table)
    if not kept or len(table) < FEWEST:
        return []
    sample, whole = _Columns(sampled(table, _SAMPLE)), _Columns(table)
    found = []
    for a, b, name in islice(_triples(sample, hidden, kept), _SUMS):
        if _adds_up(sample, a, b, name) and _adds_up(whole, a, b, name) and _says_something(table, name):
            found.append(KeptFinding("sum", [name], [a, b], len(table), len(table)))
    return found


def giving_back_mistakes(plan: Plan, found: Sequence[KeptFinding], records: int) -> list[str]:
    """Say which columns stand in the way, and which are accepted that do not."""
    mistakes = [
        f"{_in_words(one)}, in all {counted(records, 'record')}: whoever reads it has the original; remove it "
        "(identifiers, or --drop), make it a quasi-identifier too, or say why it may stay (accept, or --accept "
        "COLUMN=REASON)"
        for one in found
        if not one.reason
    ]
    known = {name for one in found for name in one.columns}
    mistakes += [
        f"accept: column '{printable(name)}' is no copy of a quasi-identifier that is kept, nor gives one back, so "
        "this has no effect; leave it out"
        for name in plan.accept
        if name not in known
    ]
    return mistakes


def giving_back_notes(found: Sequence[KeptFinding]) -> list[str]:
    """Say which columns were accepted, and why."""
    return [_accepted(one) for one in found if one.reason]


def _in_words(one: KeptFinding) -> str:
    if one.kind == "sum of kept":
        return f"columns {_named(one)} are kept, and {_relation(one)}"
    return f"column {_named(one)} is kept and {_relation(one)}"


def _accepted(one: KeptFinding) -> str:
    kept = "are kept although" if one.kind == "sum of kept" else "is kept although it"
    relation = _relation(one).replace("the quasi-identifier ", "")
    return f"{_named(one)} {kept} {relation}: {printable(one.reason)}"


def _named(one: KeptFinding) -> str:
    return " and ".join(f"'{printable(name)}'" for name in one.columns)


def _relation(one: KeptFinding) -> str:
    of = f"the quasi-identifier '{printable(one.of[0])}'"
    return {
        "copy": f"is {of} itself",
        "scaled": f"is {of} in another unit",
        "determines": f"determines {of}",
        "sum of kept": f"their sum or difference is {of}",
    }[one.kind]


class _Columns:
    """Columns of a table, each read once."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self._numbers: dict[str, tuple[Floats, Flags]] = {}
        self._codes: dict[str, tuple[Ints, Flags]] = {}
        self._measurable: dict[str, bool] = {}

    def measurable(self, name: str) -> bool:
        """Whether a column has numbers or dates, or texts of numbers."""
        if name not in self._measurable:
            kind = self.table.kind(name)
            texts = kind is Kind.NOMINAL and all(is_number(str(label)) for label in self.table.factor(name).labels)
            self._measurable[name] = kind in MEASURABLE or texts
        return self._measurable[name]

    def plain(self, name: str) -> tuple[Floats, Flags]:
        """Return the numbers of a column as floats, and which there are."""
        if self.table.kind(name) in MEASURABLE:
            values, observed = self.table.numbers(name)
            return np.where(observed, values, 0).astype(np.float64), observed
        factor = self.table.factor(name)
        numbers = np.array([float(label) for label in factor.labels] or [0.0])
        return np.where(factor.observed, numbers[factor.codes], 0.0), factor.observed

    def numbers(self, name: str) -> tuple[Floats, Flags]:
        """Return the numbers or dates of a column from its least, as floats, and which there are."""
        if name not in self._numbers:
            if self.table.kind(name) in MEASURABLE:
                values, observed = self.table.numbers(name)
            else:
                values, observed = self.plain(name)
            observed = observed & np.isfinite(values)
            least = values[observed].min() if observed.any() else 0
            with np.errstate(over="ignore", invalid="ignore"):
                self._numbers[name] = np.where(observed, values - least, 0).astype(np.float64), observed
        return self._numbers[name]

    def codes(self, name: str) -> tuple[Ints, Flags]:
        """Return numbers for the values of a column, and which there are."""
        if name not in self._codes:
            factor = self.table.factor(name)
            self._codes[name] = factor.codes, factor.observed
        return self._codes[name]


def _is_copy(columns: _Columns, name: str, other: str) -> bool:
    """Whether two columns have the same values wherever they have any, and have them in the same records."""
    if columns.measurable(name) != columns.measurable(other):
        return False
    table = columns.table
    if table.kind(name) in MEASURABLE and table.kind(other) in MEASURABLE:
        (one, there), (two, seen) = table.numbers(name), table.numbers(other)
        return np.array_equal(there, seen) and np.array_equal(one[there], two[there])
    if columns.measurable(name):
        (one, there), (two, seen) = columns.plain(name), columns.plain(other)
        return np.array_equal(there, seen) and np.array_equal(one[there], two[there])
    (cells, there), (others, seen) = table.cells(name), table.cells(other)
    same = np.array_equal(there, seen)
    return same and all(a == b for a, b, have in zip(cells, others, there.tolist(), strict=True) if have)


def _is_scaled(columns: _Columns, name: str, other: str) -> bool:
    """Whether one column of numbers is a multiple of another, plus a constant, wherever both have any."""
    if not columns.measurable(name) or not columns.measurable(other):
        return False
    (one, there), (two, seen) = columns.numbers(name), columns.numbers(other)
    both = there & seen
    if both.sum() < FEWEST or both.sum() < 0.5 * seen.sum():
        return False
    x, y = one[both], two[both]
    low, high = int(np.argmin(x)), int(np.argmax(x))
    if x[low] == x[high] or len(np.unique(y[:_SAMPLE])) < 3:  # any two values are a multiple of any two others
        return False
    with np.errstate(over="ignore", invalid="ignore"):  # values so far apart are no multiples that a number can hold
        slope = (y[high] - y[low]) / (x[high] - x[low])
        off = np.abs(y[low] + slope * (x - x[low]) - y).max()
        return bool(slope != 0.0 and np.isfinite(slope) and off <= _NEAR * (y.max() - y.min()))


def _determines(columns: _Columns, name: str, other: str) -> bool:
    """Whether each value of a column goes with one value of another, and has some records."""
    (one, there), (two, seen) = columns.codes(name), columns.codes(other)
    both = there & seen
    if both.sum() < FEWEST or both.sum() < 0.5 * seen.sum():
        return False
    first = np.full(int(one.max()) + 1, -1)
    first[one[both]] = two[both]
    different = int((first >= 0).sum())
    return different > 1 and _REPEATED * different <= both.sum() and bool((first[one[both]] == two[both]).all())


_KINDS = {"copy": _is_copy, "scaled": _is_scaled, "determines": _determines}


def _counts(columns: _Columns, name: str, other: str) -> tuple[int, int]:
    """Return how many records can be given back their value, and of how many that were looked at."""
    both = columns.codes(name)[1] & columns.codes(other)[1]
    return int(both.sum()), len(both)


def _triples(sample: _Columns, pairs: Sequence[str], sums: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Return two columns of numbers and what may be their sum or difference."""
    parts = [name for name in pairs if sample.table.kind(name) is Kind.NUMERIC]
    for a, b in combinations(parts, 2):
        for name in sums:
            if sample.table.kind(name) is Kind.NUMERIC:
                yield a, b, name


def _adds_up(columns: _Columns, a: str, b: str, name: str) -> bool:
    """Whether a column is the sum or the difference of two others that both vary, wherever all have a number."""
    (x, has_x), (y, has_y), (z, has_z) = columns.plain(a), columns.plain(b), columns.plain(name)
    all_three = has_x & has_y & has_z
    if all_three.sum() < FEWEST or all_three.sum() < 0.5 * has_z.sum():
        return False
    x, y, z = x[all_three], y[all_three], z[all_three]
    if min(np.ptp(x), np.ptp(y), np.ptp(z)) == 0.0:
        return False
    near = _NEAR * max(np.abs(x).max(), np.abs(y).max(), np.abs(z).max())
    return any(np.abs(z - made).max() <= near for made in (x + y, x - y, y - x))


def _sums_of_kept(
    sample: _Columns, whole: _Columns, kept: Sequence[str], hidden: Sequence[str], told: set[str]
) -> list[KeptFinding]:
    """Return pairs of kept columns whose sum or difference is a quasi-identifier."""
    found = []
    rest = [name for name in kept if name not in told]
    for a, b, name in islice(_triples(sample, rest, hidden), _SUMS):
        if _adds_up(sample, a, b, name) and _says_something(whole.table, name) and _adds_up(whole, a, b, name):
            found.append(KeptFinding("sum of kept", [a, b], [name], len(whole.table), len(whole.table)))
    return found


def _says_something(table: Table, name: str) -> bool:
    """Whether enough records have another value than the most common one."""
    factor = table.factor(name)
    counts = np.bincount(factor.codes[factor.observed]) if factor.observed.any() else np.zeros(1, dtype=np.int64)
    return int(counts.sum()) >= FEWEST and int(counts.sum() - counts.max()) >= OTHERS
