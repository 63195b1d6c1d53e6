"""Columns before and after as counts: histograms, quantiles and frequencies, never rows.

Made for people, so that bins begin at round numbers; what lies far out is counted in the first and last bin, which are
then open. With ``least`` nothing is told about fewer original records than that: bins are those of the release, and are
joined until each holds enough originals, rare categories are put together, and quantiles of the original, which are
values of somebody, are left out. O(n log n) for each column.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from shoal.kernels.arrays import Flags, Floats, Ints
from shoal.plan.roles import MEASURABLE, Kind
from shoal.tables.table import Table

QUANTILES = (0, 5, 25, 50, 75, 95, 100)
_LARGEST_SHARE = 0.1  # of the sum of squares of a column that one value may have
_MANY_ZEROS = 0.1  # of the values of the original, beyond which zeros are told by themselves
OPEN = 1.0  # percent of the records at either end that may lie in an open bin
_MS = {"s": 1e3, "ms": 1.0, "us": 1e-3, "ns": 1e-6}
_DAY = 86_400_000.0
_TIME_STEPS = (
    *(1e3 * s for s in (1, 5, 15, 30, 60, 300, 900, 1800, 3600, 10800, 21600, 43200)),
    *(_DAY * d for d in (1, 2, 7, 14, 28, 91, 182, 365, 730, 1826, 3652, 7305, 18262, 36524)),
)


@dataclass(frozen=True)
class Side:
    """A column of numbers in one of the tables.

    Attributes
    ----------
    counts : list of int
        Records in each bin.
    missing : int
        Records without a value.
    mean, deviation : float or None
        Of the values; None where there are none.
    quantiles : list of float
        At ``QUANTILES`` percent; empty where they are not told.
    """

    counts: list[int]
    missing: int
    mean: float | None
    deviation: float | None
    quantiles: list[float]


@dataclass(frozen=True)
class NumberShape:
    """A column of numbers or dates before and after.

    Attributes
    ----------
    name : str
        Name of the column.
    date, whole : bool
        Whether its numbers are milliseconds since 1970, and whether they have no fractions.
    edges : list of float
        Where bins begin, and where the last one ends; empty where there is nothing to show.
    open_below, open_above : bool
        Whether the first bin holds lower values too, and the last one higher ones.
    before, after : Side
        The two tables.
    held_back : bool
        Whether figures of the original are not told: a value was suppressed, which could be worked out from them and
        the release, or a single one decides them. Never where everything may be told.
    zeros : tuple of int or None
        Values of the two tables that are exactly 0, where those are so many that they are told by themselves; bins hold
        the others then.
    """

    name: str
    date: bool
    whole: bool
    edges: list[float]
    open_below: bool
    open_above: bool
    before: Side
    after: Side
    held_back: bool = False
    zeros: tuple[int, int] | None = None

    @property
    def totals(self) -> tuple[int, int]:
        """Values of the two tables."""
        before, after = self.zeros or (0, 0)
        return sum(self.before.counts) + before, sum(self.after.counts) + after


@dataclass(frozen=True)
class CategoryShape:
    """A column of categories before and after.

    Attributes
    ----------
    name : str
        Name of the column.
    labels : list of str
        The categories that are most common in either table, commonest in the original first.
    before, after : list of int
        Their records in the two tables.
    others : int
        How many more categories there are.
    others_before, others_after, missing_before, missing_after : int
        Records in those, and without a category.
    """

    name: str
    labels: list[str]
    before: list[int]
    after: list[int]
    others: int = 0
    others_before: int = 0
    others_after: int = 0
    missing_before: int = 0
    missing_after: int = 0


@dataclass(frozen=True)
class ColumnChange:
    """What happened to a column: cells that differ, cells that are missing only now, and cells missing in each."""

    name: str
    kind: Kind
    type: str
    released: bool
    changed: int = 0
    suppressed: int = 0
    missing_before: int = 0
    missing_after: int = 0


Shape = NumberShape | CategoryShape


def shapes(
    original: Table, released: Table, numbers: Sequence[str], categories: Sequence[str], least: int = 0, bins: int = 40
) -> list[Shape]:
    """Return columns before and after, numbers first; with ``least`` without telling of fewer originals."""
    return [
        *(number_shape(original, released, name, least, bins) for name in numbers),
        *(category_shape(original, released, name, least) for name in categories),
    ]


def number_shape(original: Table, released: Table, name: str, least: int = 0, bins: int = 40) -> NumberShape:
    """Count the values of a column of numbers or dates in bins.

    >>> import polars as pl
    >>> from shoal.tables.table import open_table
    >>> before, after = (open_table(pl.DataFrame({"x": x})) for x in ([1, 2, 2, 9], [2, 2, 2, 9]))
    >>> shape = number_shape(before, after, "x")
    >>> shape.edges[:3], shape.before.counts[:3], shape.after.counts[:3]
    ([1.0, 2.0, 3.0], [1, 2, 0], [0, 3, 0])
    """
    (was, there, whole), (now, kept, _) = _values(original, name), _values(released, name)
    date = original.kind(name) is Kind.DATE
    zeros = None if date else _zeros(was, now, whole, least, bins)
    binned = (was, now) if zeros is None else (was[was != 0.0], now[now != 0.0])
    both = binned[1] if least else np.concatenate(binned)
    edges = _edges(both, bins, whole, date)
    counted = [_count(values, edges) for values in binned]
    if least:
        cuts = _joined(counted[0], least)
        edges = edges[cuts]
        counted = [np.add.reduceat(counts, cuts[:-1]) if len(cuts) else counts[:0] for counts in counted]
    sides = [
        _side(values, counts, int((~seen).sum()), least if values is was else 0)
        for values, counts, seen in zip((was, now), counted, (there, kept), strict=True)
    ]
    outside = (len(edges) > 0 and bool((both < edges[0]).any()), len(edges) > 0 and bool((both > edges[-1]).any()))
    if least:  # that an original lies outside is not told: ends are always open
        outside = (len(edges) > 0, len(edges) > 0)
    held_back = least > 0 and (bool((there & ~kept).any()) or _decided_by_one(was))
    return NumberShape(name, date, whole, edges.tolist(), *outside, sides[0], sides[1], held_back, zeros)


def _zeros(was: Floats, now: Floats, whole: bool, least: int, bins: int) -> tuple[int, int] | None:
    """Count the zeros of both tables where many values of the original are 0 and these have no bin of their own."""
    counts = int((was == 0.0).sum()), int((now == 0.0).sum())
    others = len(was) - counts[0], len(now) - counts[1]
    if counts[0] < max(_MANY_ZEROS * len(was), 1, least) or not min(others) or others[0] < least:
        return None
    edges = _edges(np.concatenate((was, now)), bins, whole, False)
    alone = whole and len(edges) > 1 and bool((np.diff(edges) <= 1.0).all())
    return None if alone else counts


def _decided_by_one(values: Floats) -> bool:
    """Whether one of the values makes up a tenth of their sum of squares, or more: then that tells it."""
    if not len(values):
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        away = np.abs(values - values.mean())
        largest = away.max()
        share = 1.0 / np.square(away / largest).sum() if largest > 0.0 else 0.0
    return not share < _LARGEST_SHARE


def category_shape(original: Table, released: Table, name: str, least: int = 0, most: int = 20) -> CategoryShape:
    """Count the categories of a column; those beyond ``most``, and rare ones with ``least``, are put together."""
    was, now = (_categories(table, name) for table in (original, released))
    missing = was.pop(None, 0), now.pop(None, 0)
    every = sorted(set(was) | set(now), key=lambda label: (-was[label], -now[label], str(label)))
    if len(every) > most:
        # by either table, so that names which the release alone has, such as those of a hierarchy, are not all others
        common = set(sorted(every, key=lambda label: (-max(was[label], now[label]), every.index(label)))[:most])
        shown = [label for label in every if label in common]
    else:
        shown = every
    if least:
        shown = [label for label in shown if was[label] >= least and now[label] >= least]
        while shown and any(0 < sum(c[x] for x in every if x not in shown) < least for c in (was, now)):
            shown = shown[:-1]  # what is left out must not follow from what is shown
    rest = [label for label in every if label not in set(shown)]
    return CategoryShape(
        name,
        [str(label) for label in shown],
        [was[label] for label in shown],
        [now[label] for label in shown],
        len(rest),
        sum(was[label] for label in rest),
        sum(now[label] for label in rest),
        *missing,
    )


def column_changes(original: Table, released: Table) -> list[ColumnChange]:
    """Say of every column of the original what happened to it."""
    return [_change(original, released, name) for name in original.names]


def _change(original: Table, released: Table, name: str) -> ColumnChange:
    kind, dtype = original.kind(name), str(original.frame[name].dtype)
    if name not in released.names:
        return ColumnChange(name, kind, dtype, False)
    if kind in MEASURABLE and released.kind(name) is kind:
        was, there, now, kept = *_all_values(original, name), *_all_values(released, name)
        differs = was != now
    elif Kind.OTHER in (kind, released.kind(name)):  # lists and the like, which have no numbers
        cells = [table.cells(name) for table in (original, released)]
        (there, kept), texts = (seen for _, seen in cells), [list(map(str, values)) for values, _ in cells]
        differs = np.fromiter((a != b for a, b in zip(*texts, strict=True)), bool, len(there))
    else:
        numbers: dict[str, int] = {}
        (old, there), (new, kept) = (_texts(table, name, numbers) for table in (original, released))
        differs = old != new
    return ColumnChange(
        name,
        kind,
        dtype,
        True,
        int((differs & there & kept).sum()),
        int((there & ~kept).sum()),
        int((~there).sum()),
        int((~kept).sum()),
    )


def _texts(table: Table, name: str, numbers: dict[str, int]) -> tuple[Ints, Flags]:
    """Number the values of a column by what they are as texts, alike for all tables that share ``numbers``."""
    factor = table.factor(name)
    of_label = np.array([numbers.setdefault(str(label), len(numbers)) for label in factor.labels] or [0])
    return of_label[factor.codes], factor.observed


def _all_values(table: Table, name: str) -> tuple[Floats, Flags]:
    """Return a column as floats, dates in milliseconds, and which values there are."""
    column = table.column(name)
    numbers = column.values.astype(np.float64) * column.step + float(column.origin)
    dtype = table.frame[name].dtype
    if isinstance(dtype, nw.Date):
        numbers *= _DAY
    elif isinstance(dtype, nw.Datetime):
        numbers *= _MS[dtype.time_unit]
    return numbers, column.observed


def _values(table: Table, name: str) -> tuple[Floats, Flags, bool]:
    """Return the values that there are, which these are, and whether they have no fractions."""
    numbers, seen = _all_values(table, name)
    return numbers[seen], seen, bool((numbers == np.rint(numbers)).all())


def _categories(table: Table, name: str) -> Counter[Any]:
    """Count the categories of a column as texts; None is the missing ones."""
    factor = table.factor(name)
    counts = np.bincount(factor.codes[factor.observed], minlength=len(factor.labels)).tolist()
    found: Counter[Any] = Counter({None: int((~factor.observed).sum())})
    for label, count in zip(factor.labels, counts, strict=True):
        found[str(label)] += count
    return +found


def _side(values: Floats, counts: Ints, missing: int, least: int) -> Side:
    if len(values) < max(least, 1):
        return Side(counts.tolist(), missing, None, None, [])
    shifted = values - values[0]  # so that neither a large offset costs digits
    unit = float(np.abs(shifted).max()) or 1.0  # nor squares of large numbers overflow
    mean, deviation = float((shifted / unit).mean() * unit + values[0]), float((shifted / unit).std() * unit)
    found = [] if least else np.percentile(values, QUANTILES).tolist()
    return Side(counts.tolist(), missing, mean, deviation, found)


def _edges(values: Floats, bins: int, whole: bool, date: bool) -> Floats:
    """Return round numbers between which most of the values lie."""
    if not len(values):
        return np.empty(0)
    low, high = float(values.min()), float(values.max())
    near, far = np.percentile(values, (OPEN, 100.0 - OPEN)).tolist()
    if 2.0 * (far - near) < high - low < np.inf and far > near:
        low, high = near, far
    if not np.isfinite(high - low) or high <= low:
        half = max(0.5, abs(low) * 1e-6)
        return np.array([low - half, low + half])
    least = (high - low) / bins
    edges: Floats = np.empty(0)
    if least >= np.finfo(np.float64).tiny:
        step = _step(least, whole, date)
        first = np.floor(low / step)
        edges = (first + np.arange(int(np.floor(high / step) - first) + 2)) * step
    if not len(edges) or (np.diff(edges) <= 0.0).any():  # so small or large that no round ones lie between them
        edges = np.unique(np.linspace(low, high, bins + 1))
    return edges


def _step(least: float, whole: bool, date: bool) -> float:
    """Return the smallest round width of bins that is not below the least."""
    if date and least <= _TIME_STEPS[-1]:
        return next(step for step in _TIME_STEPS if step >= least)
    power = 10.0 ** np.floor(np.log10(least))
    step = float(next(part * power for part in (1.0, 2.0, 5.0, 10.0) if part * power >= least * (1.0 - 1e-9)))
    return max(1.0, step) if whole else step


def _count(values: Floats, edges: Floats) -> Ints:
    """Count values in bins; those outside belong to the first and the last."""
    if len(edges) < 2:
        return np.zeros(0, dtype=np.int64)
    place = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)
    return np.bincount(place, minlength=len(edges) - 1)


def _joined(counts: Ints, least: int) -> Ints:
    """Return the edges that stay where bins are joined from the left until each has enough records."""
    cuts, held = [0], 0
    for place, count in enumerate(counts.tolist(), start=1):
        held += count
        if held >= least:
            cuts.append(place)
            held = 0
    if len(cuts) == 1:
        return np.empty(0, dtype=np.int64)
    cuts[-1] = len(counts)
    return np.array(cuts)
