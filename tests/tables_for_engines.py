"""A table with columns of all kinds, plans that reach every part of an engine, and a digest of a release."""

from __future__ import annotations

import hashlib
import json
from datetime import date, datetime, timedelta

import numpy as np
import polars as pl

N = 1500
_OWN = ("seconds", "peak_memory_mib")  # entries of a summary that no two runs share


def _table():
    rng = np.random.default_rng(16)
    holes = rng.random((N, 2)) < 0.08
    frame = pl.DataFrame(
        {
            "a": rng.normal(size=N),
            "b": rng.lognormal(size=N).round(2),
            "c": rng.integers(-50, 50, size=N),
            "m": rng.normal(size=N),
            "i": rng.integers(0, 1000, size=N).astype(np.int32),
            "d": [date(2020, 1, 1) + timedelta(days=int(x)) for x in rng.integers(0, 900, size=N)],
            "t": [datetime(2020, 1, 1) + timedelta(minutes=int(x)) for x in rng.integers(0, 90_000, size=N)],
            "o": rng.choice(["low", "middle", "high"], size=N),
            "j": rng.choice(["baker", "smith", "clerk", "lawyer", "judge"], size=N),
            "g": rng.choice(["north", "south", "west"], size=N),
            "w": rng.uniform(1.0, 4.0, size=N),
            "p": rng.integers(0, 600, size=N),
        }
    )
    # columns for rules: a total of two parts, and what is 0 or more by region
    one, two = rng.integers(0, 90, size=N), rng.integers(0, 40, size=N)
    frame = frame.with_columns(x=pl.Series(one), y=pl.Series(two), z=pl.Series(one + two))
    # most records are equal in these
    equal = rng.random(N) < 0.8
    frame = frame.with_columns(
        e=pl.when(pl.Series(equal)).then(1.0).otherwise(pl.Series(rng.normal(size=N).round(3))),
        f=pl.when(pl.Series(equal)).then(2).otherwise(pl.Series(rng.integers(0, 9, size=N))),
    )
    return frame.with_columns(
        m=pl.when(pl.Series(holes[:, 0])).then(None).otherwise("m"),
        i=pl.when(pl.Series(holes[:, 1])).then(None).otherwise("i"),
    )


TABLE = _table()
_TREE = {"tree": {"work": {"craft": ["baker", "smith"], "office": ["clerk", {"law": ["lawyer", "judge"]}]}}}
_CUT = {"method": "2d-tree", "size": 120}
PLANS = {
    "numbers": {"quasi_identifiers": ["a", "b", "c"]},
    "missing": {"quasi_identifiers": ["a", "m", "i"]},
    "missing ignored": {"quasi_identifiers": ["a", "m"], "missing_patterns": "ignored"},
    "one column": {"quasi_identifiers": ["m"]},
    "dates": {"quasi_identifiers": ["d", "t", "a"]},
    "weights": {"quasi_identifiers": ["a", "b"], "weight": "w"},
    "strata": {"quasi_identifiers": ["a", "b"], "strata": ["g", "o"]},
    "strata and missing": {"quasi_identifiers": ["a", "m"], "strata": ["g"], "weight": "w"},
    "sets": {"quasi_identifiers": [["a", "b"], ["c", "m"]]},
    "by column": {"quasi_identifiers": ["a", "c"], "method": "individual-ranking"},
    "univariate": {"quasi_identifiers": ["a", "b"], "blocking": {"method": "univariate", "size": 200}},
    "fractions": {"quasi_identifiers": ["a", "b"], "decimals": {"a": 2}, "aggregators": {"b": "median"}},
    "scaled by range": {"quasi_identifiers": ["a", "c"], "scaling": "range"},
    "not scaled": {"quasi_identifiers": ["a", "c"], "scaling": "none"},
    "dominance": {"quasi_identifiers": ["a", "b"], "dominance": {"p": 10, "action": "grow"}},
    "persons": {"quasi_identifiers": ["a", "b"], "identifiers": ["p"], "persons": ["p"]},
    "search": {"quasi_identifiers": ["a", "b"], "method": "optimal", "options": {"steps": 3000}},
    "seed": {"quasi_identifiers": ["a", "b"], "method": "two-step-ga", "seed": 7},
    "mixed": {
        "quasi_identifiers": ["a", "o", "j"],
        "orders": {"o": ["low", "middle", "high"]},
        "hierarchies": {"j": _TREE},
        "method": "s-mdav",
        "blocking": {**_CUT, "columns": ["a"]},
    },
    "rules": {
        "quasi_identifiers": ["x", "y", "z"],
        "rules": ["total: z = x + y", "if g = 'north' then x <= 95", "x from original", "y < 30 or x >= 0"],
    },
    "rules where held": {
        "quasi_identifiers": ["a", "x", "y"],
        "rules": ["small: x <= 60", "if y > 20 then x < 80", "a <= 3.5"],
        "broken_rules": "keep-where-held",
    },
    "rules and sets": {
        "quasi_identifiers": [["a", "x"], ["y", "m"]],
        "rules": ["x >= 0", "if a > 1 then x < 95", "y <= 40 or m > 9"],
        "strata": ["g"],
    },
    "blocks of a hierarchy": {
        "quasi_identifiers": ["a", "j"],
        "hierarchies": {"j": _TREE},
        "method": "s-mdav",
        "blocking": {"method": "categories", "size": 400},
    },
    "categories alone": {
        "quasi_identifiers": ["o", "g"],
        "orders": {"o": ["low", "middle", "high"]},
        "method": "k-modes",
        "blocking": {"method": "categories", "columns": ["o"], "size": 100},
    },
    "spread tree": {"quasi_identifiers": ["a", "b", "m"], "blocking": {"method": "spread-tree", "size": 150}},
    "spread tree in strata": {
        "quasi_identifiers": ["a", "c"],
        "strata": ["g"],
        "blocking": {"method": "spread-tree", "size": 100},
    },
    "equal records": {"quasi_identifiers": ["e", "f"], "blocking": {"method": "2d-tree", "size": 60}},
    "conditions": {
        "quasi_identifiers": ["a", "b"],
        "confidential": ["j", "g"],
        "conditions": {"j": {"distinct": 3, "entropy": 2.0}, "g": {"recursive": [3.0, 2]}},
    },
    "near": {
        "quasi_identifiers": ["a", "b"],
        "confidential": ["g", "j", "m"],
        "hierarchies": {"j": _TREE},
        "conditions": {"g": {"t": 0.3}, "j": {"t": 0.35, "distinct": 2}, "m": {"t": 0.2}},
    },
    "nominal": {"quasi_identifiers": ["g", "a"], "method": "k-modes", "blocking": {**_CUT, "columns": ["a"]}},
}
PLANS = {name: {"k": 4, "method": "mdav", "blocking": _CUT, **plan} for name, plan in PLANS.items()}

# what a table may have, each by several methods in blocks of several kinds
_NUMBERS = (("mdav", "2d-tree"), ("v-mdav", "univariate"), ("optimal", "spread-tree"))
_OTHERS = (("s-mdav", "2d-tree"), ("k-modes", "spread-tree"), ("sa-mdav", "categories"))
MATRIX = {
    f"{kind}, {method}, {blocking}": {
        **{name: value for name, value in PLANS[plan].items() if name not in ("method", "blocking")},
        "method": method,
        "options": {"steps": 2000} if method == "optimal" else {},
        "blocking": {"method": blocking, "size": 150, "columns": columns[blocking]},
    }
    for kind, plan, ways, columns in (
        ("numeric", "numbers", _NUMBERS, {"2d-tree": [], "univariate": ["a"], "spread-tree": ["a", "b"]}),
        ("missing", "missing", _NUMBERS, {"2d-tree": ["a", "m"], "univariate": ["m"], "spread-tree": []}),
        ("weights", "weights", _NUMBERS, {"2d-tree": ["b"], "univariate": ["b"], "spread-tree": []}),
        ("strata", "strata", _NUMBERS, {"2d-tree": [], "univariate": ["a"], "spread-tree": ["b"]}),
        ("rules", "rules", _NUMBERS, {"2d-tree": [], "univariate": ["x"], "spread-tree": ["x", "y"]}),
        ("mixed", "mixed", _OTHERS, {"2d-tree": ["a"], "spread-tree": ["a"], "categories": ["j"]}),
    )
    for method, blocking in ways
}


def digest(frame):
    """A digest of a release by column and row: names, types, values to the last bit, and what is missing."""
    whole = hashlib.sha256()
    for name in sorted(frame.columns):
        column = frame[name]
        whole.update(f"{name} {column.dtype}".encode())
        whole.update(column.is_null().to_numpy().tobytes())
        if column.dtype == pl.String:
            whole.update(repr(column.to_list()).encode())
        else:
            whole.update(column.to_physical().fill_null(0).to_numpy().tobytes())
    return whole.hexdigest()


def told(release, frame, manifest):
    """What two engines must agree on: all cells, the summary but time and memory, and the sizes of groups."""
    summary = {name: value for name, value in release.summary.to_dict().items() if name not in _OWN}
    return json.loads(json.dumps([digest(frame), summary, manifest["group_sizes"]]))


def parquet_folder(folder):
    """Write the table as three files of different row groups."""
    where = folder / "in"
    where.mkdir()
    for name, (start, stop, rows) in {"a": (0, 400, 64), "b": (400, 401, 10), "c": (401, N, 500)}.items():
        TABLE[start:stop].write_parquet(where / f"{name}.parquet", row_group_size=rows)
    return where
