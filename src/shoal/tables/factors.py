"""Categories in and out of tables: text, true or false, categoricals of all kinds, and numbers that are names.

Codes are made by each library's own means, since a column may have millions of rows and few values. Released names go
into a column of the same type; a type that cannot hold a name that was not there before is an error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from shoal.columns.categories import Factor
from shoal.errors import DataError, printable
from shoal.kernels.arrays import Flags, Ints


@dataclass(frozen=True)
class Named:
    """Released categories: the code of each record, and what the codes stand for."""

    codes: Ints
    names: tuple[Any, ...]


def factorise(series: nw.Series[Any], observed: Flags) -> Factor:
    """Number the values of a column by first appearance; 0 where missing."""
    library = str(series.implementation.name).lower()
    native = series.to_native()
    if library == "pandas":
        import pandas as pd  # only where the user has it already

        codes, labels = pd.factorize(native.array if hasattr(native, "array") else native)
        return Factor(np.where(observed, codes, 0).astype(np.int64), observed, [_plain(label) for label in labels])
    if library == "pyarrow":
        import pyarrow as pa

        if not isinstance(native.type, pa.DictionaryType):
            native = native.dictionary_encode()
        native = native.unify_dictionaries() if hasattr(native, "unify_dictionaries") else native
        array = native.combine_chunks() if isinstance(native, pa.ChunkedArray) else native
        if isinstance(array, pa.ChunkedArray):
            array = array.chunk(0) if array.num_chunks else pa.DictionaryArray.from_arrays([], [])
        keys = np.asarray(array.indices.fill_null(0).to_numpy(zero_copy_only=False), dtype=np.int64)
        return _numbered(keys, observed, lambda rows: array.take(pa.array(rows)).to_pylist())
    import polars as pl

    if native.dtype == pl.String:
        native = native.cast(pl.Categorical)  # which numbers the texts, in whatever order
    if isinstance(native.dtype, pl.Categorical | pl.Enum):
        keys = native.to_physical().cast(pl.Int64).fill_null(0).to_numpy()
    else:
        keys = native.rank("dense").cast(pl.Int64).fill_null(0).to_numpy()
    return _numbered(np.asarray(keys, dtype=np.int64), observed, lambda rows: native.gather(rows).to_list())


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label


def _numbered(keys: Ints, observed: Flags, labels_of: Callable[[Ints], list[Any]]) -> Factor:
    """Number keys by first appearance, without those of missing values; equal labels get one number."""
    from shoal.kernels.numbering import number_keys

    there = np.flatnonzero(observed)
    numbers, first, _ = number_keys(keys[there] if len(there) < len(keys) else keys)
    labels = labels_of(there[first])
    same: dict[Any, int] = {}
    number = np.array([same.setdefault(label, len(same)) for label in labels] or [0], dtype=np.int64)
    codes = np.zeros(len(keys), dtype=np.int64)
    codes[there] = number[numbers] if len(same) < len(labels) else numbers
    return Factor(codes, observed, list(same))


def check_holds(series: nw.Series[Any], names: tuple[Any, ...], occurring: int) -> None:
    """Refuse names that the type of a column cannot hold: those from ``occurring`` on do not occur in it."""
    if occurring in (0, len(names)):
        return
    dtype = series.dtype
    fixed = isinstance(dtype, nw.Enum)
    if fixed and set(names) <= set(dtype.categories):  # type: ignore[attr-defined]
        return
    if fixed:
        raise DataError(
            f"column '{series.name}' is an Enum without the names above its values, which a release may hold; convert "
            "it to text, or add the names of the hierarchy to its categories"
        )
    if not isinstance(dtype, nw.String | nw.Categorical | nw.Object) and any(isinstance(n, str) for n in names):
        raise DataError(
            f"column '{series.name}' has type {dtype}, and a release may hold names of its order, which are text; "
            "convert it to text"
        )


def holder(dtype: nw.dtypes.DType) -> Callable[[str], Any]:
    """Return what gives a name as a column of some type holds it, and None for one that it cannot hold.

    A fixed set of categories is not looked at: that it lacks a name can be mended, and is an error.

    >>> holder(nw.Int16())("12"), holder(nw.Int16())("north"), holder(nw.String())("north")
    (12, None, 'north')
    """
    if not dtype.is_numeric():
        return (lambda name: name) if isinstance(dtype, nw.String | nw.Categorical | nw.Object | nw.Enum) else _none
    bits = re.search(r"\d+", str(dtype))
    unsigned = dtype.is_unsigned_integer()
    size = int(bits[0]) - (not unsigned) if dtype.is_integer() and bits else 24

    def number(name: str) -> int | float | None:
        if not re.fullmatch(r"0|-?[1-9]\d{0,38}", name):
            return None
        value = int(name)
        if not (0 if unsigned else -(2**size)) <= value < 2**size:
            return None
        return value if dtype.is_integer() else float(value)

    return number


def _none(_: str) -> None:
    return None


def codes_only(names: Sequence[str]) -> str:
    """Say that names above the codes of some columns are never released.

    >>> codes_only(["region"])
    'released as codes, never as names above them that the type of the column cannot hold, such as the root: region'
    """
    listed = ", ".join(map(printable, names))
    return (
        "released as codes, never as names above them that the type of the column cannot hold, such as the root: "
        f"{listed}"
    )


def nullable(kind: Any) -> Any:
    """Return the pandas type that holds missing values beside what a type holds; the same where it does so itself.

    >>> nullable(np.dtype("uint8")), nullable(np.dtype(bool)), nullable(np.dtype(float))
    ('UInt8', 'boolean', dtype('float64'))
    """
    # floats would hold them, too, but whole numbers would not stay whole, and true and false would become numbers
    if isinstance(kind, np.dtype) and kind.kind in "biu":
        bits = 8 * kind.itemsize
        return {"b": "boolean", "i": f"Int{bits}", "u": f"UInt{bits}"}[kind.kind]
    return kind


def put_pandas(old: Any, released: Named, put: Flags, suppress: Flags) -> Any:
    """Return a pandas column with released names in some cells and nothing in others."""
    import pandas as pd

    if isinstance(old.dtype, pd.CategoricalDtype):
        known = old.dtype.categories
        used = np.unique(released.codes[put])
        new = [released.names[code] for code in used if released.names[code] not in known]
        kind = pd.CategoricalDtype([*known, *new], ordered=old.dtype.ordered) if new else old.dtype
        place = pd.Index(kind.categories).get_indexer(pd.Index(list(released.names)))
        codes = np.where(put, place[released.codes], -1)
        # a category that no released record has tells what a record of the original had
        filled = pd.Categorical.from_codes(codes, dtype=kind)
        return pd.Series(filled.remove_unused_categories(), index=old.index)
    if suppress.any():
        old = old.astype(nullable(old.dtype))
    array = old.array.copy()
    if isinstance(old.dtype, pd.ArrowDtype):
        filled = put_pyarrow(array.__arrow_array__(), old.dtype.pyarrow_dtype, released, put, suppress)
        return pd.Series(filled.to_pandas(types_mapper=pd.ArrowDtype).array, index=old.index, dtype=old.dtype)
    names = np.empty(len(released.names), dtype=object)
    names[:] = released.names
    cells = names[released.codes[put]]
    array[put] = cells if old.dtype == object else pd.array(cells, dtype=old.dtype)
    if suppress.any():
        array[suppress] = getattr(old.dtype, "na_value", None if old.dtype == object else np.nan)
    # objects stay objects: left to itself, pandas would make text of them
    return pd.Series(array, index=old.index, dtype=old.dtype, copy=False)


def put_polars(old: Any, released: Named, put: Flags, suppress: Flags) -> Any:
    """Return a polars column with released names in some cells and nothing in others."""
    import polars as pl

    textual = old.dtype in (pl.String, pl.Categorical) or old.dtype == pl.Enum
    names = pl.Series(old.name, list(released.names), dtype=pl.String if textual else None)
    used = np.zeros(len(released.names), dtype=bool)
    used[released.codes[put]] = True
    # a name that is not released need not fit into the type
    names = pl.select(pl.when(pl.Series(used)).then(names).otherwise(None)).to_series().cast(old.dtype)
    new = names.gather(released.codes).zip_with(pl.Series(put), old)
    new = pl.select(pl.when(pl.Series(suppress)).then(None).otherwise(new).alias(old.name)).to_series()
    if not isinstance(old.dtype, pl.Enum):
        return new
    # a category that no released record has tells what a record of the original had
    there = set(new.unique().to_list())
    return new.cast(pl.String).cast(pl.Enum([name for name in old.dtype.categories if name in there]))


def put_pyarrow(old: Any, kind: Any, released: Named, put: Flags, suppress: Flags) -> Any:
    """Return a pyarrow column with released names in some cells and nothing in others."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(kind, pa.DictionaryType):
        inner = put_pyarrow(old.cast(kind.value_type), kind.value_type, released, put, suppress)
        encoded = (inner if isinstance(inner, pa.ChunkedArray) else pa.chunked_array([inner])).dictionary_encode()
        return encoded.cast(kind)
    names = pa.array(list(released.names)).cast(kind)
    new = pc.if_else(pa.array(put), names.take(pa.array(released.codes)), old)
    return pc.if_else(pa.array(suppress), pa.scalar(None, kind), new)
