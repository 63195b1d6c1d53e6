"""Tables of any kind to columns of numbers, and back: same kind, rows, order, index and types.

A pandas, polars or pyarrow table goes in and the same kind comes out. Released values are put into a copy of
the original column by position, never by label, so that types, missing cells and the index stay what they were.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import narwhals as nw
import numpy as np

from shoal.columns.categories import AnyColumn, Category, Factor
from shoal.columns.numbers import Column
from shoal.errors import DataError, counted
from shoal.kernels.arrays import Flags, Floats, Ints, Numbers
from shoal.plan.roles import Kind
from shoal.tables.decimals import NOTHING_SAID, Precision
from shoal.tables.disguised import is_number
from shoal.tables.factors import Named, check_holds, factorise, holder, nullable
from shoal.tables.identifying import Profile, looks_like_contact
from shoal.tables.released_columns import put_into_pandas, put_into_polars, put_into_pyarrow

if TYPE_CHECKING:
    import polars as pl

_EXACT = 2.0**52  # units of the last decimal up to which a float is nearest to no other decimal
_FIXED = "Enum"  # polars' type of fixed categories
_SAMPLE = 1000  # values whose form is looked at when a column is profiled


@dataclass(frozen=True)
class Table:
    """A table of any kind that narwhals can wrap.

    Attributes
    ----------
    native
        The table as it was given.
    frame : narwhals.DataFrame
        A view of it.
    precision : Precision
        What is known about decimals beside the types of the columns.
    """

    native: Any
    frame: nw.DataFrame[Any]
    precision: Precision = NOTHING_SAID

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return self.frame.columns

    def __len__(self) -> int:
        return len(self.frame)

    def to_polars(self) -> pl.DataFrame:
        """Return the table as a polars frame; a column of values of several types becomes text."""
        import polars as pl

        try:
            return self.frame.to_polars()
        except Exception:  # pyarrow and polars raise different errors for such columns
            return pl.DataFrame([_one_type(self.series(name)).alias(name) for name in self.names])

    def types(self, incomplete: Collection[str] = ()) -> list[tuple[str, str]]:
        """Names and types of the columns, as the table's own library tells them, an Enum without its categories.

        Whole numbers and true or false of numpy hold no missing value: in columns that are to be ``incomplete`` they
        are told as the type of pandas that does.
        """
        if _library(self.frame) == "pyarrow":
            return [(field.name, str(field.type)) for field in self.native.schema]
        own = zip(self.names, self.native.dtypes, strict=True)
        kinds = [(name, nullable(kind) if name in incomplete else kind) for name, kind in own]
        return [(str(name), _FIXED if str(kind).startswith(_FIXED) else str(kind)) for name, kind in kinds]

    def series(self, name: str) -> nw.Series[Any]:
        """Return a column; nameless where polars would take its name for a pattern, even in its own methods."""
        series = self.frame.get_column(name)  # indexing tells first what kind of index it was given
        return series.alias("") if name.startswith("^") else series

    def kind(self, name: str) -> Kind:
        """Kind of a column, from its type."""
        return _kind(self.frame.get_column(name).dtype)

    def profile(self, name: str) -> Profile:
        """Describe a column without showing its values."""
        series = self.series(name)
        kind = _kind(series.dtype)
        observed = _observed(series)
        distinct = 0
        whole = consecutive = contact = False
        if kind is Kind.NUMERIC:
            numbers = np.unique(_numbers(series, observed)[0][observed])
            distinct = len(numbers)
            finite = numbers[np.isfinite(numbers)]
            whole = len(finite) > 0 and bool((finite == np.rint(finite)).all())
            numbered = whole and distinct == int(observed.sum())
            consecutive = numbered and float(finite[-1] - finite[0]) == distinct - 1
        elif kind is not Kind.OTHER:
            values = [v for v, o in zip(series.to_list(), observed.tolist(), strict=True) if o]
            distinct = _distinct(values)
        if kind is Kind.NOMINAL:
            texts = [str(v) for v in values[:_SAMPLE]]
            contact = len(texts) > 0 and sum(map(looks_like_contact, texts)) > 0.8 * len(texts)
        return Profile(
            name=name,
            kind=kind,
            type=str(series.dtype),
            records=len(self),
            missing=int((~observed).sum()),
            distinct=distinct,
            whole=whole,
            consecutive=consecutive,
            contact_like=contact,
        )

    def column(self, name: str) -> Column:
        """Return the numbers of a column; raises DataError where it has none."""
        series = self.series(name)
        kind = _kind(series.dtype)
        if kind is Kind.BOOLEAN:
            raise DataError(
                f"column '{name}' is true or false, which has no mean; give it another role, or convert it to "
                "0 and 1 to treat it as a number"
            )
        if kind not in (Kind.NUMERIC, Kind.DATE):
            raise DataError(_not_numeric(series, name))
        observed = _observed(series)
        numbers, whole = _numbers(series, observed)
        self._check_digits(name, numbers[observed], whole)
        infinite = int((~np.isfinite(numbers[observed])).sum()) if not whole else 0
        if infinite:
            raise DataError(f"column '{name}' has {counted(infinite, 'infinite value')}; make them missing or finite")
        if not observed.any():
            return Column(name, np.zeros_like(numbers, dtype=np.int64 if whole else np.float64), observed)
        if _too_wide(numbers[observed]):
            raise DataError(f"column '{name}' spans more than its type can hold differences of; rescale it")
        if not whole:
            return Column(name, numbers, observed, decimals=self.decimals(name))
        origin = numbers[np.argmax(observed)].item()
        with np.errstate(over="ignore"):
            differences = np.where(observed, (numbers - numbers.dtype.type(origin)).view(np.int64), 0)
        step = _time_step(series.dtype, differences)
        return Column(name, differences // step, observed, origin, step)

    def numbers(self, name: str) -> tuple[Any, Flags]:
        """Return the numbers or dates of a column as integers or floats, anything where missing, and which it has."""
        series = self.series(name)
        observed = _observed(series)
        return _numbers(series, observed)[0], observed

    def rough_numbers(self, name: str) -> Floats:
        """Return the numbers or dates of a column as floats, near enough to put them in order; 0 where missing."""
        numbers, observed = self.numbers(name)
        return np.where(observed, np.asarray(numbers, dtype=np.float64), 0.0)

    def alone(self, name: str) -> tuple[int, int]:
        """Count the records with a value that no other has, and those with any."""
        series = self.series(name)
        observed = _observed(series)
        try:
            single = np.asarray(series.is_unique().to_numpy(), dtype=bool)
        except Exception:  # libraries raise different errors for values that have no hash
            return 0, int(observed.sum())
        return int((single & observed).sum()), int(observed.sum())

    def decimals(self, name: str) -> int | None:
        """Return with how many decimals the numbers of a column are held and released; None where that is not fixed.

        >>> import polars as pl
        >>> table = open_table(pl.DataFrame({"A": [1.5], "B": [2]}))
        >>> table.decimals("A"), table.decimals("B")
        (None, 0)
        """
        return self.precision.of(name, self.frame[name])

    def _check_digits(self, name: str, numbers: Any, whole: bool) -> None:
        """Refuse numbers of more digits than can be averaged without losing any."""
        decimals = self.decimals(name)
        if decimals is None or whole or not len(numbers):
            return
        if self.frame[name].dtype.is_integer():
            raise DataError(f"column '{name}' has whole numbers that 64 bits do not hold; rescale it")
        fixed = isinstance(self.frame[name].dtype, nw.Decimal)
        if fixed and not float(np.abs(numbers).max()) * 10.0**decimals < _EXACT:
            raise DataError(
                f"column '{name}' has decimal numbers of more than 15 digits, which cannot be averaged without losing "
                "some; round or rescale it"
            )

    def factor(self, name: str) -> Factor:
        """Return the categories of a column of any type as codes by first appearance."""
        series = self.series(name)
        return factorise(series, _observed(series))

    def check_holds(self, column: Category, occurring: int) -> None:
        """Refuse a column whose type cannot hold what may be released for it."""
        check_holds(self.frame[column.name], column.names, occurring)

    def holds(self, name: str) -> Callable[[str], Any]:
        """Return what gives the name of a category as a column holds it, and None where its type cannot."""
        return holder(self.frame[name].dtype)

    def why_not_numeric(self, name: str) -> str:
        """Explain what stands in the way of treating a column as numbers, without showing a value."""
        return _not_numeric(self.series(name), name)

    def cells(self, name: str) -> tuple[list[Any], Flags]:
        """Return the values of a column as they are, and which there are."""
        series = self.series(name)
        return series.to_list(), _observed(series)

    def codes(self, names: Sequence[str]) -> tuple[Ints, list[str]]:
        """Number the combinations of some columns by first appearance; a missing value is a value of its own.

        Returns the number of each record's combination, and a label for each.
        """
        parts = []
        for name in names:
            values, observed = self.cells(name)
            parts.append([v if o else None for v, o in zip(values, observed.tolist(), strict=True)])
        seen: dict[tuple[Any, ...], int] = {}
        keys = zip(*parts, strict=True)
        try:
            codes = np.fromiter((seen.setdefault(key, len(seen)) for key in keys), np.int64, len(self))
        except TypeError:  # values without a hash
            nested = [f"'{name}' ({self.frame[name].dtype})" for name in names if self.kind(name) is Kind.OTHER]
            raise DataError(
                f"lists and structs cannot be strata: {', '.join(nested)}; give them another role"
            ) from None
        labels = [
            ", ".join(f"{n} = {'missing' if v is None else v}" for n, v in zip(names, key, strict=True)) for key in seen
        ]
        return codes, labels

    def replace(self, released: Mapping[str, tuple[AnyColumn, Numbers, Flags]], drop: Sequence[str]) -> Any:
        """Return a table like this one with released columns in their places and some columns removed.

        ``released`` maps names to the original column, the released values from its origin or codes of categories,
        and which of them there are. All cells of a released column without a value are null, whatever marked them
        before: NaN, null and others would tell records of a group apart.
        """
        library = _library(self.frame)
        put = {"pandas": put_into_pandas, "polars": put_into_polars, "pyarrow": put_into_pyarrow}[library]
        columns: dict[str, tuple[Any, Flags, Flags]] = {}
        for name, (column, values, observed) in released.items():
            if isinstance(column, Category):
                columns[name] = (Named(values.astype(np.int64), column.names), observed, ~observed)
                continue
            unsigned = self.frame[name].dtype.is_unsigned_integer()
            columns[name] = (_from_origin(column, values, unsigned), observed, ~observed)
        return put(self.native, columns, list(drop))


def open_table(data: object, precision: Precision = NOTHING_SAID) -> Table:
    """Wrap a pandas, polars or pyarrow table."""
    if isinstance(data, nw.DataFrame):
        data = data.to_native()
    if isinstance(data, nw.LazyFrame) or "lazy" in type(data).__name__.lower():
        raise DataError(_not_a_table(data))
    names = [*getattr(data, "column_names", getattr(data, "columns", ()))]
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise DataError(
            [f"column name '{name}' occurs {names.count(name)} times; rename the columns" for name in twice]
        )
    unnamed = [name for name in names if not isinstance(name, str)]
    if unnamed:
        raise DataError(f"{counted(len(unnamed), 'column name')} not text, which the column names must be; rename them")
    try:
        frame: nw.DataFrame[Any] = nw.from_native(cast("Any", data), eager_only=True)
    except TypeError:
        raise DataError(_not_a_table(data)) from None
    if _library(frame) not in ("pandas", "polars", "pyarrow"):
        raise DataError(_not_a_table(data))
    return Table(data, frame, precision)


def _not_a_table(data: object) -> str:
    what = f"{type(data).__module__.split('.')[0]}.{type(data).__name__}"
    hint = "call .collect() first" if "lazy" in what.lower() else "pass a pandas, polars or pyarrow table, or a path"
    return f"cannot protect a {what}: {hint}"


def _one_type(series: nw.Series[Any]) -> pl.Series:
    """Return a series as a polars one, as text where its values are of several types."""
    import polars as pl

    try:
        return series.to_polars()
    except Exception:  # as above
        cells = zip(series.to_list(), _observed(series).tolist(), strict=True)
        return pl.Series(series.name, [str(value) if there else None for value, there in cells])


def _library(frame: nw.DataFrame[Any]) -> str:
    return str(frame.implementation.name).lower()


def _kind(dtype: nw.dtypes.DType) -> Kind:
    if dtype.is_numeric():
        return Kind.NUMERIC
    if isinstance(dtype, nw.Date | nw.Datetime):
        return Kind.DATE
    if isinstance(dtype, nw.Boolean):
        return Kind.BOOLEAN
    if isinstance(dtype, nw.String | nw.Categorical | nw.Enum | nw.Object):
        return Kind.NOMINAL
    return Kind.OTHER


def _observed(series: nw.Series[Any]) -> Flags:
    """Which values are neither null nor NaN."""
    floats = series.dtype.is_float()
    if not series.null_count():  # each question to the library of a table costs more than a small table's numbers
        return ~np.isnan(np.asarray(series.to_numpy(), np.float64)) if floats else np.ones(len(series), dtype=bool)
    observed: Flags = ~np.asarray(series.is_null().to_numpy(), dtype=bool)
    if floats:  # comparing floats of 16 bits is wrong in some versions of Arrow
        observed &= ~np.asarray(series.cast(nw.Float64).is_nan().fill_null(False).to_numpy(), dtype=bool)
    return observed


def _distinct(values: list[Any]) -> int:
    """Count distinct values of any type."""
    try:
        return len(set(values))
    except TypeError:  # lists and other values without a hash
        return len({repr(value) for value in values})


def _numbers(series: nw.Series[Any], observed: Flags) -> tuple[Any, bool]:
    """Return values as integers or floats with anything where missing, and whether they must stay whole."""
    dtype = series.dtype
    if isinstance(dtype, nw.Date):
        return _filled(series.dt.timestamp("ms"), np.int64) // 86_400_000, True
    if isinstance(dtype, nw.Datetime):
        unit = "ms" if dtype.time_unit == "s" else dtype.time_unit
        ticks = _filled(series.dt.timestamp(unit), np.int64)
        return (ticks // 1000 if dtype.time_unit == "s" else ticks), True
    if isinstance(dtype, nw.Int128 | nw.UInt128):
        rough = np.where(observed, _filled(series.cast(nw.Float64), np.float64), 0.0)
        if bool((np.abs(rough) < 2.0**63).all()):
            return _filled(series.cast(nw.Int64), np.int64), True
        return rough, False
    if dtype.is_integer():
        return _filled(series, np.uint64 if dtype.is_unsigned_integer() else np.int64), True
    return np.where(observed, _filled(series.cast(nw.Float64), np.float64), 0.0), False


def _filled(series: nw.Series[Any], dtype: type[np.generic]) -> Any:
    """Return values as an array, 0 where null."""
    return np.asarray((series.fill_null(0) if series.null_count() else series).to_numpy(), dtype=dtype)


def _time_step(dtype: nw.dtypes.DType, differences: Ints) -> int:
    """Return the unit that times are given in, in ticks: days, minutes or seconds where all differences are whole."""
    if not isinstance(dtype, nw.Datetime):
        return 1
    second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[dtype.time_unit]
    return next((step for step in (86400 * second, 60 * second, second) if not (differences % step).any()), 1)


def _too_wide(numbers: Any) -> bool:
    """Whether differences of numbers do not fit into their type."""
    limit = np.finfo(np.float64).max if numbers.dtype.kind == "f" else np.iinfo(np.int64).max
    return bool(numbers.max().item() - numbers.min().item() > limit)


def _from_origin(column: Column, values: Numbers, unsigned: bool) -> Any:
    """Return released values as numbers of the original's type: exact integers, or floats."""
    if not column.whole:
        return values
    differences = (values * column.step).view(np.uint64)
    numbers = differences + np.uint64(column.origin % 2**64)  # wraps as two's complement does
    return numbers if unsigned else numbers.view(np.int64)


def _not_numeric(series: nw.Series[Any], name: str) -> str:
    """Explain what stands in the way of treating a column as numbers, without showing a value."""
    if _kind(series.dtype) is not Kind.NOMINAL:
        return f"column '{name}' has type {series.dtype}, which this method cannot average; give it another role"
    cells = zip(series.to_list(), _observed(series).tolist(), strict=True)
    values = {row: str(v) for row, (v, o) in enumerate(cells, start=1) if o}
    rows = [row for row, v in values.items() if not is_number(v)]
    if not rows:
        return f"column '{name}' holds numbers as text; convert it to a numeric type"
    if len(rows) < 0.5 * len(values):
        there = f"text in {len(rows)} of {counted(len(values), 'cell')}, the first in record {rows[0]}"
        marks = "if they mark missing values, say so (missing=[...] in `reading`, or --missing)"
        return f"column '{name}' has {there}; correct them, or, {marks}"
    return f"column '{name}' is text, and this method needs numbers; give it another role"
