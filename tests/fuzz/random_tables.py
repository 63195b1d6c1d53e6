"""Random tables for the fuzzer: columns of every type, with gaps, repeats, constants and extremes, in every form.

What a column is made of is drawn; the cells then come from a generator with a drawn seed, so that a table of many
records takes few draws and shrinks well. Cells of columns that no plan names the values of have a mark in them by which
an error that shows one is found.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import numpy as np
import polars as pl
from hypothesis import strategies as st

from file_forms import FEW_TYPES, held, write

MARK = "zq"  # in every text that no message may show
LEVELS = ("low", "mid", "high", "top")
TREE = {"thing": [{"beast": ["ox", "ape", "eel"]}, {"plant": ["oak", "fig"]}, "rock"]}
NODES = ("ox", "ape", "eel", "oak", "fig", "rock", "beast", "plant", "thing")
FORMS = ("polars", "pandas", "nullable pandas", "pyarrow", "csv", "parquet", "arrow", "pieces", *FEW_TYPES)
_WHOLE = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64)
_NAMES = ("{}", "{}", "{}", "{} x", "Ü{}", "{}.y", "{}-z", "{},w", 'q"{}')


@dataclass(frozen=True)
class RandomColumn:
    """A column: its cells as polars holds them, and what a plan can take it for."""

    cells: pl.Series
    kind: str  # number, date, nominal, coded, ordinal, semantic, or kept where it can only be that


@dataclass(frozen=True, eq=False)
class Edit:
    """An edit rule that holds in the table, and the same as an expression of polars."""

    text: str
    broken: pl.Expr


@dataclass(frozen=True)
class RandomTable:
    """A table, what its columns are, and which edit rules hold in it."""

    frame: pl.DataFrame
    kinds: dict[str, str]
    weight: str | None
    person: str | None
    strata: tuple[str, ...]
    edits: tuple[Edit, ...]
    form: str


def _whole_numbers(draw, rng, n):
    dtype = draw(st.sampled_from(_WHOLE))
    low, high = _limits(dtype)
    how = draw(st.sampled_from(["few", "spread", "extreme"]))
    if how == "few":
        pool = draw(st.lists(st.integers(max(low, -3), 9), min_size=1, max_size=6))
    elif how == "spread":
        pool = [int(v) for v in rng.integers(max(low, -1000), min(high, 1000), size=n, endpoint=True)]
    else:
        pool = draw(st.lists(st.integers(low, high) | st.sampled_from([low, high, 0]), min_size=1, max_size=8))
    return _picked(rng, pool, n), dtype


def _limits(dtype):
    """Return the least and the largest number that a type of whole numbers holds."""
    bits = int(str(dtype).lstrip("UInt"))
    return (0, 2**bits - 1) if str(dtype).startswith("U") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def _floats(draw, rng, n):
    dtype = draw(st.sampled_from([pl.Float64, pl.Float64, pl.Float32]))
    width = 64 if dtype is pl.Float64 else 32
    how = draw(st.sampled_from(["few", "normal", "log-normal", "extreme"]))
    if how == "few":
        pool = draw(st.lists(st.sampled_from([-1.5, -0.0, 0.0, 0.1, 1 / 3, 2.0, 7.25]), min_size=1, max_size=5))
    elif how == "normal":
        pool = (draw(st.sampled_from([0.0, 1e6])) + rng.normal(size=n)).tolist()
    elif how == "log-normal":
        pool = np.exp(draw(st.sampled_from([1.0, 4.0])) * rng.normal(size=n)).tolist()
    else:
        infinite = draw(st.integers(0, 30)) == 0
        pool = draw(st.lists(st.floats(width=width, allow_nan=False, allow_infinity=infinite), min_size=1, max_size=8))
    return [float(np.float32(v)) if width == 32 else v for v in _picked(rng, pool, n)], dtype


def _decimals(draw, rng, n):
    pool = draw(st.lists(st.integers(-(10**6), 10**6).map(lambda v: Decimal(v).scaleb(-2)), min_size=1, max_size=8))
    return _picked(rng, pool, n), pl.Decimal(12, 2)


def _dates(draw, rng, n):
    pool = draw(st.lists(st.dates(date(1900, 1, 1), date(2100, 12, 31)), min_size=1, max_size=8))
    return _picked(rng, pool, n), pl.Date


def _times(draw, rng, n):
    step = draw(
        st.sampled_from([timedelta(days=1), timedelta(minutes=1), timedelta(seconds=1), timedelta(microseconds=1)])
    )
    zone = draw(st.sampled_from([None, None, "UTC"]))
    start = datetime(2020, 2, 27, tzinfo=UTC if zone else None)
    pool = [start + step * int(v) for v in rng.integers(0, 10**6 if step < timedelta(days=1) else 10**4, size=n)]
    unit = "us" if step < timedelta(milliseconds=1) else draw(st.sampled_from(["ms", "us", "ns"]))
    return _picked(rng, pool, n), pl.Datetime(unit, zone)


def _texts(draw, rng, n):
    labels = [f"{MARK}{i}{tail}" for i, tail in enumerate(["", " b", "ß", "#,;", '"x"', "\n=1"])]
    labels = labels[: draw(st.integers(1, len(labels)))]
    kind = draw(st.sampled_from([pl.String, pl.String, pl.Categorical, pl.Enum([*labels, f"{MARK}never"])]))
    return _picked(rng, labels, n), kind


def _codes(draw, rng, n):
    return _picked(rng, draw(st.lists(st.integers(1, 99), min_size=1, max_size=6)), n), pl.Int64


def _booleans(draw, rng, n):
    return _picked(rng, draw(st.sampled_from([[True, False], [True]])), n), pl.Boolean


def _ordinals(draw, rng, n):
    kind = draw(st.sampled_from([pl.String, pl.Enum(LEVELS)]))
    return _picked(rng, LEVELS[: draw(st.integers(1, len(LEVELS)))], n), kind


def _nodes(draw, rng, n):
    return _picked(rng, NODES[: draw(st.integers(1, len(NODES)))], n), pl.String


def _odd(draw, rng, n):
    how = draw(st.sampled_from(["list", "bytes", "duration", "clock"]))
    if how == "list":
        return [[int(v)] * int(v % 3) for v in rng.integers(0, 5, size=n)], pl.List(pl.Int64)
    if how == "bytes":
        return [bytes([int(v)]) for v in rng.integers(0, 255, size=n)], pl.Binary
    if how == "duration":
        return [timedelta(seconds=int(v)) for v in rng.integers(0, 10**6, size=n)], pl.Duration("us")
    return [(datetime(2020, 1, 1) + timedelta(seconds=int(v))).time() for v in rng.integers(0, 86400, size=n)], pl.Time


def _picked(rng, pool, n):
    return [pool[int(i)] for i in rng.integers(0, len(pool), size=n)]


_MAKERS = {
    "whole": (_whole_numbers, "number"),
    "float": (_floats, "number"),
    "decimal": (_decimals, "number"),
    "date": (_dates, "date"),
    "time": (_times, "date"),
    "text": (_texts, "nominal"),
    "boolean": (_booleans, "nominal"),
    "code": (_codes, "coded"),
    "ordinal": (_ordinals, "ordinal"),
    "node": (_nodes, "semantic"),
    "odd": (_odd, "kept"),
}
_NUMBERS = ["whole", "float", "float", "date", "decimal", "time"]


def _column(draw, rng, n, what, *, gaps=True):
    maker, kind = _MAKERS[what]
    cells, dtype = maker(draw, rng, n)
    share = draw(st.sampled_from([0.0, 0.0, 0.0, 0.05, 0.3, 0.9, 1.0])) if gaps else 0.0
    missing = rng.random(n) < share
    series = pl.Series([None if gone else cell for cell, gone in zip(cells, missing, strict=True)], dtype=dtype)
    if dtype in (pl.Float32, pl.Float64) and share and draw(st.booleans()):
        series = series.fill_null(float("nan"))
    return RandomColumn(series, kind)


def _ruled(draw, rng, n):
    """Return columns of numbers in which edit rules hold, and the rules."""
    unit = draw(st.sampled_from([1, 1, 0.25]))
    a, b = (rng.integers(0, draw(st.sampled_from([3, 50, 10**6])), size=n) for _ in range(2))
    b = np.where(a == 0, 0, b)
    dtype = pl.Int64 if unit == 1 else pl.Float64
    columns = {name: pl.Series((v * unit).tolist(), dtype=dtype) for name, v in (("ra", a), ("rb", b), ("rt", a + b))}
    if draw(st.integers(0, 3)) == 0:
        columns["rb"] = pl.Series(
            [None if gone else v for v, gone in zip(columns["rb"], rng.random(n) < 0.2, strict=True)], dtype=dtype
        )
    one, two, total = pl.col("ra"), pl.col("rb"), pl.col("rt")
    top = float(columns["rt"].max())
    original = columns["rb"].drop_nulls().cast(pl.Float64).unique().to_list()  # gaps make floats of numpy's integers
    known = [
        Edit("rt = ra + rb", (total - one - two).abs() > 1e-9 * total.abs()),
        Edit("ra <= rt", one > total),
        Edit("ra >= 0", one < 0),
        Edit(f"rt <= {top!r}", total > top),
        Edit("if ra = 0 then rb = 0", (one == 0) & (two != 0)),
        Edit("rb from original", ~two.cast(pl.Float64).is_in(original)),
    ]
    return columns, tuple(draw(st.lists(st.sampled_from(known), min_size=1, max_size=3, unique=True)))


SIZES = (2, 3, 5, 8, 12, 20, 20, 35, 60, 150)
LARGE_SIZES = (4999, 5000, 5500, 6001, 6500)  # round the sizes from which on the index and another search are used


@st.composite
def tables(draw, sizes=SIZES):
    """Draw a table of one of some sizes, with its roles for those columns that have one by nature."""
    n = draw(st.sampled_from(sizes))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    form = draw(st.sampled_from(FORMS))
    mixed = draw(st.booleans())
    every = [name for name in _MAKERS if name != "odd"]
    whats = draw(st.lists(st.sampled_from(every if mixed else _NUMBERS), min_size=1, max_size=5))
    made = {draw(st.sampled_from(_NAMES)).format(f"c{i}"): _column(draw, rng, n, what) for i, what in enumerate(whats)}
    frame, kinds = {name: c.cells for name, c in made.items()}, {name: c.kind for name, c in made.items()}
    edits: tuple[Edit, ...] = ()
    if draw(st.integers(0, 4)) == 0:
        ruled, edits = _ruled(draw, rng, n)
        frame |= ruled
        kinds |= dict.fromkeys(ruled, "number")
    for i in range(draw(st.integers(0, 2))):  # what will be kept
        odd = form in ("polars", "parquet", "arrow") and draw(st.booleans())
        frame[f"kept{i}"] = _column(draw, rng, n, "odd" if odd else draw(st.sampled_from(every))).cells
        kinds[f"kept{i}"] = "kept"
    weight = person = None
    if draw(st.integers(0, 3)) == 0:
        weight = "w"
        pool = draw(st.sampled_from([[1], [1, 2, 3], [0.5, 1.25, 100.0], [1e-3, 1.0, 1e6]]))
        frame["w"], kinds["w"] = pl.Series(_picked(rng, pool, n)), "kept"
    if draw(st.integers(0, 2)) == 0:
        person = "person_id"
        different = draw(st.sampled_from([n // 2 + 1, 4 * n, n // 3 + 1, 1]))
        ids = [f"{MARK}p{int(v)}" for v in rng.integers(0, different, size=n)]
        frame["person_id"] = pl.Series([None if rng.random() < 0.05 else v for v in ids], dtype=pl.String)
        kinds["person_id"] = "kept"
    strata: tuple[str, ...] = ()
    if draw(st.integers(0, 3)) == 0:
        strata = ("s",)
        frame["s"], kinds["s"] = pl.Series(_picked(rng, ["stratum a", "stratum b"], n)), "kept"
    whole = pl.DataFrame(frame)
    if form in FEW_TYPES:
        narrow = held(whole, form)
        # what has no value is text there, and a plan that takes it for anything else is refused
        empty = {name for name in kinds if narrow[name].null_count() == n and kinds[name] != "semantic"}
        whole, form = (whole, "parquet") if set(made) <= empty else (narrow, form)
        kinds |= dict.fromkeys(empty, "kept") if whole is narrow else {}
    return RandomTable(whole, kinds, weight, person, strata, edits, form)


def in_its_form(table, folder):
    """Return a table as ``protect`` takes it: a dataframe, or the path of a file in a folder."""
    frame, form = table.frame, table.form
    if form == "polars":
        return frame
    if form == "pandas":
        return frame.to_pandas()
    if form == "nullable pandas":
        return frame.to_pandas(use_pyarrow_extension_array=True)
    if form == "pyarrow":
        return frame.to_arrow()
    return write(frame, form, folder)
