"""Cells of text to columns of numbers, dates, times, true and false, and back to the way in which they were written.

A column is numeric if every cell is a number; one with leading zeros (``007``) or more digits than an integer holds is
text, since it would not survive. Where a comma or point could separate thousands or decimals, the column stays text:
which of the two would be a factor of 1000.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from shoal.errors import FileError
from shoal.plan.reading import Reading

if TYPE_CHECKING:
    import polars as pl

_DATES = ("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y")
_TIMES = (
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%d %H:%M",
    "%Y-%m-%dT%H:%M",
    "%Y-%m-%d %H:%M:%S%.f",
    "%Y-%m-%dT%H:%M:%S%.f",
)
_FULL_YEAR = r"^\s*(\d{4}[-/]|\d\d?[./]\d\d?[./]\d{4}\s*$)"
_ZONE = r"([Zz]|[+-]\d{2}(?::?\d{2})?)$"
_ZONED = r"^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d{2}(:?\d{2})?)$"
_UTC = "Z"
_LEAP = r":\d\d:60(\.\d*)?([Zz]|[+-]\d{2}(:?\d{2})?)?$"
_LEADING_ZERO = r"^[+-]?0\d"
_LOOK = 100  # cells looked at before a type is tried on a whole column
_SEPARATORS = {" ": "[ \u00a0\u202f\u2009]", "'": "['\u2019]", ",": ",", ".": r"\."}


@dataclass(frozen=True)
class CellForm:
    """How the cells of a column are written.

    Attributes
    ----------
    decimal, thousands : str
        Marks of decimals and between thousands; the second is empty where there is none.
    before, behind : str
        Sign or unit before and behind every number, with its spaces.
    date : str or None
        Format of dates and times.
    zone : str or None
        What stands behind times in a zone: ``Z`` or their common offset; None for times without one.
    """

    decimal: str = "."
    thousands: str = ""
    before: str = ""
    behind: str = ""
    date: str | None = None
    zone: str | None = None

    def write(self, column: pl.Series) -> pl.Series:
        """Format numbers, dates or times as text."""
        import polars as pl

        if self.date:
            moments = column
            if self.zone is not None:
                shift = timedelta(minutes=_minutes(self.zone))
                moments = column.dt.replace_time_zone(None) + shift
            return moments.dt.strftime(self.date) + (self.zone or "")
        texts = column.cast(pl.String)
        if self == CellForm():
            return texts
        size = texts.str.strip_prefix("-")
        whole = size.str.extract(r"^(\d*)", 1)
        rest = size.str.replace(r"^\d*", "").str.replace(".", self.decimal, literal=True)
        if self.thousands:
            whole = _grouped(whole, self.thousands)
        return texts.str.extract("^(-?)", 1) + self.before + whole + rest + self.behind

    def read(self, texts: pl.Series) -> pl.Series:
        """Return cells of text as texts of plain numbers; null where one is not written in this form."""
        import polars as pl

        mark = _SEPARATORS.get(self.thousands, "")
        point = pl.escape_regex(self.decimal)
        grouped = rf"\d{{1,3}}(?:{mark}\d{{3}})+(?:{point}\d+)?|" if mark else ""
        body = rf"({grouped}\d+(?:{point}\d*)?(?:[eE][+-]?\d+)?|{point}\d+)"
        shape = rf"^([+-]?){pl.escape_regex(self.before)}([+-]?){body}{pl.escape_regex(self.behind)}$"
        parts = texts.str.extract_groups(shape).struct.unnest()
        number = parts["3"]
        if mark:
            number = number.str.replace_all(mark, "")
        if self.decimal != ".":
            number = number.str.replace(self.decimal, ".", literal=True)
        return parts["1"] + parts["2"] + number


PLAIN = CellForm()


def _grouped(digits: pl.Series, mark: str) -> pl.Series:
    """Put a mark between thousands."""
    turned = digits.str.reverse().str.replace_all(r"(\d{3})", f"${{1}}{mark}")
    return turned.str.reverse().str.strip_prefix(mark)


def typed_cells(
    cells: Mapping[str, pl.Series], delimiter: str, reading: Reading
) -> tuple[dict[str, pl.Series], dict[str, CellForm]]:
    """Give columns of texts their types, and say how those are written that are not text.

    What one column tells about commas decides for the others: ``1,234`` is below two where another has ``0,5``, and
    ``1.234`` is then text.
    """
    typed, forms, doubtful = {}, {}, []
    for name, texts in cells.items():
        typed[name], form, doubt = typed_column(texts, delimiter, reading)
        if form:
            forms[name] = form
        if doubt:
            doubtful.append(name)
    comma = reading.decimal == "," or any(form.decimal == "," for form in forms.values())
    if not comma:
        return typed, forms
    for name in doubtful:
        decided = reading.model_copy(update={"decimal": ","})
        typed[name], form, _ = typed_column(cells[name], delimiter, decided)
        if form:
            forms[name] = form
    if reading.decimal is None and reading.thousands is None:
        for name, column in typed.items():
            if column.dtype.is_float() and name not in forms and _points_group(cells[name]):
                typed[name] = _without_empty(cells[name])
    return typed, forms


def _points_group(texts: pl.Series) -> bool:
    """Whether every point of a column could separate thousands."""
    texts = _without_empty(texts).drop_nulls()
    return bool(
        texts.str.contains(r"^[+-]?[1-9]\d{0,2}(\.\d{3})?$").all() and texts.str.contains(".", literal=True).any()
    )


def _without_empty(texts: pl.Series) -> pl.Series:
    return texts.set(texts == "", None)


def typed_column(values: pl.Series, delimiter: str, reading: Reading) -> tuple[pl.Series, CellForm | None, bool]:
    """Give a column of texts its type; also how its cells are written, and whether its commas are in doubt."""
    import polars as pl

    values = _without_empty(values)
    look = values.drop_nulls().head(_LOOK)
    if len(look) == 0:
        return values.cast(pl.Float64), None, False
    if not look.str.contains(_LEADING_ZERO).any():
        if reading.decimal != "," and reading.thousands != ".":
            plain = _numbers(values, look)
            if plain is not None:
                return plain, None, False
        for form in _numerals(values, look[0], delimiter, reading):
            first = form.read(look)
            read = None if first.null_count() else _numbers(form.read(values), first, like=values)
            if read is None:
                continue
            if form == CellForm(decimal=",") and reading.decimal is None and _commas_group(values):
                return values, None, True
            return read, form, False
    if look.str.to_lowercase().is_in(["true", "false"]).all():
        truth = values.str.to_lowercase().replace_strict({"true": True, "false": False}, default=None)
        if truth.null_count() == values.null_count():
            return truth.cast(pl.Boolean), None, False
    return *_dated(values, look), False


def _numbers(texts: pl.Series, look: pl.Series, like: pl.Series | None = None) -> pl.Series | None:
    """Return texts as numbers where all of them, as many as in ``like``, are numbers that survive."""
    import polars as pl

    missing = (texts if like is None else like).null_count()

    def holds(kind: pl.DataType | type[pl.DataType]) -> pl.Series | None:
        if look.cast(kind, strict=False).null_count():
            return None
        typed = texts.cast(kind, strict=False)
        return typed if typed.null_count() == missing else None

    whole = holds(pl.Int64)
    if whole is not None:
        return None if texts.str.contains(_LEADING_ZERO).any() else whole
    real = holds(pl.Float64)
    if real is None or texts.str.contains(_LEADING_ZERO).any() or not texts.str.contains(r"[^\d+-]").any():
        return None
    return real


def _numerals(values: pl.Series, first: str, delimiter: str, reading: Reading) -> list[CellForm]:
    """Return the forms in which the numbers of a column may be written, beside the plain one."""
    if reading.decimal:
        decimals = [reading.decimal]
    elif reading.thousands in (",", "."):
        decimals = ["." if reading.thousands == "," else ","]
    else:
        decimals = ["."] if delimiter == "," else [".", ","]
    before, behind = _signs(first, reading.signs)
    forms = [CellForm(decimal, "", before, behind) for decimal in decimals]
    if reading.thousands:
        marks = values.str.extract(rf"\d({_SEPARATORS[reading.thousands]})\d{{3}}", 1).drop_nulls()
        forms = [replace(form, thousands=reading.thousands) for form in forms] if len(marks) else forms
    return [form for form in forms if form != PLAIN]


def _signs(cell: str, signs: tuple[str, ...]) -> tuple[str, str]:
    """Return which of some signs stand before and behind the number in a cell, with the spaces between."""
    bare = cell.lstrip("+-")
    before = behind = ""
    for sign in sorted(signs, key=len, reverse=True):
        if not before and bare.startswith(sign):
            rest = bare[len(sign) :]
            before = sign + rest[: len(rest) - len(rest.lstrip())]
        elif not behind and bare.endswith(sign):
            rest = bare[: len(bare) - len(sign)]
            behind = rest[len(rest.rstrip()) :] + sign
    return before, behind


def _commas_group(texts: pl.Series) -> bool:
    """Whether every comma of a column could separate thousands."""
    texts = texts.drop_nulls()
    return bool(texts.str.contains(r"^[+-]?(\d+|[1-9]\d{0,2}(,\d{3})+)$").all())


def _dated(values: pl.Series, look: pl.Series) -> tuple[pl.Series, CellForm | None]:
    """Give a column of texts the type of dates or times if exactly one format fits all of it."""
    import polars as pl

    if values.str.contains(_LEAP).any():  # which would be taken for the second after
        return values, None
    # 84 would be taken for the year 84, and versions such as 1.2.3 for dates
    if not look.str.contains(_FULL_YEAR).all() or not values.str.contains(_FULL_YEAR).all():
        return values, None
    for kind, formats in ((pl.Date, _DATES), (pl.Datetime("us"), _TIMES)):
        fitting = []
        for pattern in formats:
            if look.str.strptime(kind, pattern, strict=False).null_count() == 0:
                dates = values.str.strptime(kind, pattern, strict=False)
                if dates.null_count() == values.null_count():
                    fitting.append((dates, pattern))
        if len(fitting) == 1 or (fitting and kind != pl.Date):  # times without fractions fit both of their formats
            return fitting[0][0], CellForm(date=fitting[0][1])
    return _in_a_zone(values, look) or (values, None)


def _in_a_zone(values: pl.Series, look: pl.Series) -> tuple[pl.Series, CellForm] | None:
    """Read times with ``Z`` or an offset behind them as moments; those of several offsets are written in UTC."""
    if not look.str.contains(_ZONED).all() or not values.drop_nulls().str.contains(_ZONED).all():
        return None
    zones = values.str.extract(_ZONE, 1).drop_nulls().unique().to_list()
    if any(abs(_minutes(zone)) >= 24 * 60 for zone in zones):
        return None
    moments, form = _dated(values.str.replace(_ZONE, ""), look.str.replace(_ZONE, ""))
    if form is None:
        return None
    form = replace(form, zone=zones[0] if len(zones) == 1 else _UTC)
    return _as_moments(moments, values), form


def _as_moments(local: pl.Series, texts: pl.Series) -> pl.Series:
    """Return local times as moments, by the zone at the end of their texts."""
    import polars as pl

    zones = texts.str.extract(_ZONE, 1)
    minutes = {zone: _minutes(zone) for zone in zones.drop_nulls().unique().to_list()}
    shift = zones.replace_strict(minutes, default=None, return_dtype=pl.Int64)
    ahead = (shift * 60_000_000).cast(pl.Duration("us"))
    return (local - ahead).dt.replace_time_zone("UTC")


def _minutes(zone: str) -> int:
    """Return by how many minutes an offset is ahead of UTC.

    >>> _minutes("Z"), _minutes("+02:00"), _minutes("-0930")
    (0, 120, -570)
    """
    digits = zone[1:].replace(":", "")
    minutes = int(digits[:2] or 0) * 60 + int(digits[2:] or 0)
    return -minutes if zone[0] == "-" else minutes


def several_zones(cells: pl.Series, form: CellForm | None) -> bool:
    """Whether the times of a column have more than one offset."""
    return form is not None and form.zone == _UTC and cells.str.extract(_ZONE, 1).drop_nulls().n_unique() > 1


def typed_like(
    cells: pl.DataFrame, frame: pl.DataFrame, forms: Mapping[str, CellForm], missing: tuple[str, ...]
) -> pl.DataFrame:
    """Give columns of text the types of a table that they were written from."""
    import polars as pl

    columns = []
    for name, column, like in zip(cells.columns, (column.alias("") for column in cells), frame, strict=True):
        bare = column.str.strip_chars()
        texts = column.set(bare.is_in(["", *missing]), None)
        bare = texts.str.strip_chars()
        kind, form = like.dtype, forms.get(name, PLAIN)
        if kind.is_numeric():
            numbers = bare if form == PLAIN else form.read(bare)
            if numbers.null_count() != bare.null_count():
                raise pl.exceptions.InvalidOperationError("a number is not written in the form of its column")
            typed = numbers.cast(kind if kind.is_integer() else pl.Float64)
        elif kind == pl.Date:
            typed = bare.str.to_date(form.date)
        elif kind == pl.Datetime:
            unit: Any = getattr(kind, "time_unit", "us")
            if form.zone is None:
                typed = bare.str.to_datetime(form.date, time_unit=unit)
            else:
                typed = _as_moments(bare.str.replace(_ZONE, "").str.to_datetime(form.date, time_unit=unit), bare)
        elif kind == pl.Boolean:
            typed = bare.str.to_lowercase() == "true"
        else:
            typed = texts
        columns.append(typed.alias(name))
    return pl.DataFrame(columns)


def written(column: pl.Series, form: CellForm | None) -> pl.Series:
    """Format the values of a column as text."""
    import polars as pl

    if form and (column.dtype.is_numeric() or form.date):
        return form.write(column.alias("")).alias(column.name)
    if column.dtype.is_nested() or column.dtype in (pl.Binary, pl.Object, pl.Duration):
        raise FileError(f"column '{column.name}' has type {column.dtype}, which a text file cannot hold")
    return column.cast(pl.String)
