"""The tables of benchmarks/digests.py: the reference sets, the example, and generated ones that try what is awkward."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from functools import cache
from typing import Any

import numpy as np
import polars as pl

import shoal
from published import DATA, data_folder

JOBS = {
    "work": {
        "craft": ["baker", "smith", {"builder": ["mason", "roofer"]}],
        "office": {"clerk": ["typist", "teller"], "head": ["manager", "director"]},
        "care": ["nurse", "doctor"],
    }
}
FOLDER = data_folder().resolve()
LEVELS = ("none", "primary", "secondary", "higher", "doctorate")
_ADULT = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship", "race",
    "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income",
)  # fmt: skip
_SCHOOLING = (
    "Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad", "Some-college", "Assoc-voc",
    "Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate",
)  # fmt: skip


@dataclass(frozen=True)
class Table:
    """A table, and what every case on it asks for: roles, hierarchies, orders."""

    data: pl.DataFrame
    asked: dict[str, Any] = field(default_factory=dict)


@cache
def table(name: str) -> Table:
    """Return a table by its name."""
    return TABLES[name]()


def _casc(name: str) -> Table:
    data = pl.read_csv(FOLDER / "casc" / f"{name}.csv").drop(DATA[name])
    return Table(data, {"quasi_identifiers": data.columns})


def _example(records: int = 1000, **asked: Any) -> Table:
    roles = {"quasi_identifiers": ["age", "height", "hours", "income"], "identifiers": "name"}
    return Table(shoal.example(records), roles | asked)


def _adult(names: list[str], records: int = 2000, **asked: Any) -> Table:
    """Return records of Adult without missing values, the same in every version of numpy and polars."""
    path = FOLDER / "adult" / "adult.data"
    lines = [line.split(", ") for line in path.read_text(encoding="utf-8").splitlines() if line and "?" not in line]
    lines = lines[:: len(lines) // records][:records]
    columns: dict[str, list[Any]] = dict(zip(_ADULT, map(list, zip(*lines, strict=True)), strict=True))
    data = pl.DataFrame({n: list(map(int, v)) if v[0].lstrip("-").isdigit() else v for n, v in columns.items()})
    return Table(data.select(*names, "income"), {"quasi_identifiers": names, "confidential": "income"} | asked)


def adult_hierarchies(*names: str, **how: Any) -> dict[str, Any]:
    """Return where the hierarchies of columns of Adult are."""
    folder = FOLDER / "adult" / "hierarchies"
    return {name: {"file": str(folder / f"adult_hierarchy_{name}.csv"), **how} for name in names}


def _numbers(values: np.ndarray, **asked: Any) -> Table:
    data = pl.DataFrame({f"v{j}": values[:, j] for j in range(values.shape[1])})
    return Table(data, {"quasi_identifiers": data.columns} | asked)


def _normal(n: int, d: int = 3, seed: int = 0, **asked: Any) -> Table:
    return _numbers(np.random.default_rng(seed).normal(size=(n, d)), **asked)


def _ties(n: int) -> Table:
    """Whole numbers of few values, a third of the records copies of others."""
    draw = np.random.default_rng(1)
    values = draw.integers(0, [4, 12, 40], size=(n, 3))
    copies = draw.integers(0, n, size=(2, n // 3))
    values[copies[0]] = values[copies[1]]
    return _numbers(values)


def _missing(n: int = 400, d: int = 4) -> Table:
    """Numbers of which some are missing, in a few records all."""
    draw = np.random.default_rng(2)
    values = draw.normal(size=(n, d)).round(2)
    there = draw.random((n, d)) > [0.05, 0.2, 0.4, 0.0][:d]
    there[draw.choice(n, 7, replace=False)] = False
    data = {
        f"v{j}": [float(x) if o else None for x, o in zip(values[:, j], there[:, j], strict=True)] for j in range(d)
    }
    return Table(pl.DataFrame(data), {"quasi_identifiers": list(data)})


def _strata(n: int, labels: int, **asked: Any) -> Table:
    """Strata of unequal sizes, the last ones of a few records where there are many of them."""
    draw = np.random.default_rng(3)
    shares = 0.6 ** np.arange(labels)
    data = _normal(n, 3, 4).data.with_columns(
        area=pl.Series([f"a{s}" for s in draw.choice(labels, n, p=shares / shares.sum())]),
        half=pl.Series(draw.integers(0, 2, n)),
    )
    return Table(data, {"quasi_identifiers": ["v0", "v1", "v2"], "strata": "area"} | asked)


def _dates(n: int = 500) -> Table:
    draw = np.random.default_rng(5)
    days, seconds = draw.integers(0, 20_000, n), draw.integers(0, 10**8, n)
    gone = draw.random(n) < 0.03
    data = pl.DataFrame(
        {
            "born": [date(1940, 1, 1) + timedelta(int(d)) for d in days],
            "seen": [
                None if g else datetime(2020, 1, 1) + timedelta(seconds=int(s))
                for s, g in zip(seconds, gone, strict=True)
            ],
            "pay": np.round(np.exp(draw.normal(8, 0.5, n)), 2),
        }
    )
    return Table(data, {"quasi_identifiers": data.columns})


def _types(n: int = 300) -> Table:
    """Columns of many types, which the release must keep."""
    draw = np.random.default_rng(6)
    values = draw.normal(size=(n, 6))
    data = pl.DataFrame(
        {
            "tiny": pl.Series(np.clip(np.rint(30 * values[:, 0]), -128, 127).astype(np.int8)),
            "unsigned": pl.Series(np.rint(np.exp(5 + values[:, 1])).astype(np.uint32)),
            "single": pl.Series(values[:, 2].astype(np.float32)),
            "money": pl.Series(np.round(100 * values[:, 3], 2)).cast(pl.Decimal(12, 2)),
            "moment": pl.Series(np.rint(1e8 * values[:, 4]).astype(np.int64)).cast(pl.Datetime("ms", "UTC")),
            "far": pl.Series((10**15 + np.rint(1000 * values[:, 5])).astype(np.int64)),
            "kept": pl.Series([f"answer {i % 7}" for i in range(n)]).cast(pl.Categorical),
        }
    )
    return Table(data, {"quasi_identifiers": data.columns[:-1], "confidential": "kept"})


def _mixed(n: int, gaps: bool = False) -> Table:
    """A number, a whole number, an ordinal, a nominal, a true-or-false and a semantic column."""
    draw = np.random.default_rng(7)
    hierarchy = shoal.load_hierarchy({"tree": JOBS})
    jobs = [name for name in hierarchy.names if name != "work"]
    level = np.clip(np.rint(draw.normal(2, 1, n)), 0, 4).astype(int)
    columns: dict[str, list[Any]] = {
        "pay": np.round(np.exp(draw.normal(7 + 0.2 * level, 0.4)), 1).tolist(),
        "age": np.clip(draw.gamma(9.0, 5.0, n), 16, 90).astype(int).tolist(),
        "level": [LEVELS[i] for i in level],
        "town": [("Aix", "Bonn", "Cork", "Delft")[i] for i in draw.choice(4, n, p=[0.5, 0.3, 0.15, 0.05])],
        "owner": (draw.random(n) < 0.3).tolist(),
        "job": [jobs[i] for i in draw.integers(0, len(jobs), n)],
    }
    if gaps:
        columns = {
            name: [None if g else v for v, g in zip(values, draw.random(n) < 0.08, strict=True)]
            for name, values in columns.items()
        }
    data = pl.DataFrame(columns).with_columns(weight=pl.Series(np.round(draw.uniform(1, 5, n), 1)))
    return Table(
        data,
        {
            "quasi_identifiers": list(columns),
            "orders": {"level": list(LEVELS)},
            "hierarchies": {"job": {"tree": JOBS}},
        },
    )


def _few_kinds(n: int = 60) -> Table:
    """So few distinct records that the best groups are found at once."""
    draw = np.random.default_rng(8)
    data = pl.DataFrame({"job": [("baker", "smith", "nurse", "teller")[i] for i in draw.integers(0, 4, n)]})
    return Table(data, {"quasi_identifiers": "job", "hierarchies": {"job": {"tree": JOBS}}})


def _zero_inflated(n: int = 1000) -> Table:
    draw = np.random.default_rng(9)
    values = np.round(np.exp(draw.normal(6, 1.5, size=(n, 3))), 1)
    return _numbers(np.where(draw.random((n, 3)) < [0.7, 0.4, 0.1], 0.0, values))


def _accounts(broken: bool = False, n: int = 400) -> Table:
    """Parts and their total, a product, limits and a condition, that hold; where broken, not in all records."""
    draw = np.random.default_rng(10)
    parts = np.rint(np.exp(draw.normal(6, 0.7, size=(n, 2)))).astype(np.int64)
    rate = np.round(draw.uniform(0.1, 0.4, n), 3)
    sales = np.exp(draw.normal(7, 0.5, n))
    staff = draw.integers(0, 4, n)
    data = pl.DataFrame(
        {
            "wages": parts[:, 0],
            "other": parts[:, 1],
            "costs": parts.sum(axis=1),
            "rate": rate,
            "sales": sales,
            "tax": sales * rate,
            "staff": staff,
            "bonus": np.where(staff == 0, 0, draw.integers(1, 50, n)),
        }
    )
    if broken:
        odd = pl.int_range(pl.len()) % 40 == 0
        data = data.with_columns(
            costs=pl.col("costs") + odd.cast(pl.Int64),
            tax=pl.when(odd).then(1.0).otherwise("tax"),
            rate=pl.when(odd).then(0.5).otherwise("rate"),
            bonus=pl.when(odd.shift(1, fill_value=False)).then(9).otherwise("bonus"),
        )
    return Table(data, {"quasi_identifiers": data.columns})


def _constant() -> Table:
    values = np.random.default_rng(11).normal(size=(200, 3))
    values[:, 1] = 7.0
    return _numbers(values)


TABLES: dict[str, Callable[[], Table]] = {
    "tarragona": lambda: _casc("tarragona"),
    "census": lambda: _casc("census"),
    "eia": lambda: _casc("eia"),
    "example": _example,
    "weighted": lambda: _example(400, weight="weight"),
    "adult": lambda: _adult(
        ["age", "hours-per-week", "education", "workclass", "occupation", "native-country", "sex"],
        orders={"education": list(_SCHOOLING)},
        hierarchies=adult_hierarchies("workclass", "occupation", "native-country"),
    ),
    "adult-meaning": lambda: _adult(
        ["occupation", "native-country"], hierarchies=adult_hierarchies("occupation", "native-country")
    ),
    "adult-ordered": lambda: _adult(
        ["age", "education", "hours-per-week", "capital-gain"], orders={"education": list(_SCHOOLING)}
    ),
    "normal-6000": lambda: _normal(6000),
    "normal-4900": lambda: _normal(4900),
    "ties": lambda: _ties(1500),
    "ties-6000": lambda: _ties(6000),
    "missing": _missing,
    "many-missing": lambda: _missing(40_000, 2),
    "strata": lambda: _strata(600, 4),
    "small-strata": lambda: _strata(400, 12, small_strata="merge"),
    "refused-strata": lambda: _strata(400, 12),
    "dates": _dates,
    "types": _types,
    "sets": lambda: _normal(500, 6, 12, quasi_identifiers=[["v0", "v1", "v2"], ["v3", "v4"], ["v5"]]),
    "mixed": lambda: _mixed(800),
    "mixed-missing": lambda: _mixed(300, gaps=True),
    "few-kinds": _few_kinds,
    "zero-inflated": _zero_inflated,
    "one-column": lambda: _normal(700, 1, 13),
    "constant": _constant,
    "equal": lambda: _numbers(np.ones((50, 2))),
    "nine": lambda: _normal(9, 2, 14),
    "four": lambda: _normal(4, 2, 15),
    "small": lambda: _normal(150, 3, 16),
    "accounts": _accounts,
    "accounts-broken": lambda: _accounts(broken=True),
}
