"""Random tables with random rules that they satisfy, and a check of each rule that shares nothing with shoal's.

Columns are whole numbers, cents or floats, some with missing values; rules are of every kind, over columns that other
rules may need, too. ``broken`` looks at a release with numpy alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

Numbers = np.ndarray
Check = Callable[[dict[str, Numbers]], Numbers]  # which records satisfy a rule; NaN is missing


@dataclass
class RandomTable:
    """A table, its rules as expressions with their checks, and the columns that are released as they are."""

    columns: dict[str, Numbers] = field(default_factory=dict)
    rules: list[tuple[str, Check]] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)

    @property
    def frame(self) -> pl.DataFrame:
        """The table; whole numbers where all are."""
        return pl.DataFrame(self.columns)

    @property
    def quasi_identifiers(self) -> list[str]:
        """The columns that are not kept."""
        return [name for name in self.columns if name not in self.kept]

    def broken(self, released: pl.DataFrame) -> dict[str, int]:
        """Count the records of a release that break each rule; one that lacks a value of a rule keeps it."""
        found = {}
        known = {name: released[name].to_numpy() for name in released.columns}
        numbers = {name: v.astype(float) if v.dtype.kind in "iuf" else v for name, v in known.items()}
        for text, check in self.rules:
            with np.errstate(all="ignore"):
                good = check(numbers)
            needed = [v for name, v in numbers.items() if name in text and v.dtype.kind == "f"]
            missing = np.logical_or.reduce([np.isnan(v) for v in needed]) if needed else np.zeros(len(good), bool)
            found[text] = int((~good & ~missing).sum())
        return found


def random_table(seed: int, records: int = 60) -> RandomTable:
    """Draw columns that are free, rules that derive further columns from them, and rules about those that there are."""
    draw = np.random.default_rng(seed)
    made = RandomTable()
    for i in range(int(draw.integers(2, 5))):
        made.columns[f"c{i}"] = _free(draw, records)
    for _ in range(int(draw.integers(1, 5))):
        _RULES[int(draw.integers(len(_RULES)))](made, draw)
    if draw.random() < 0.2:  # after all rules: where a value is missing a rule does not apply
        name = made.quasi_identifiers[int(draw.integers(len(made.quasi_identifiers)))]
        values = made.columns[name].astype(float)
        values[draw.random(records) < 0.2] = np.nan
        made.columns[name] = values
    return made


def _free(draw: np.random.Generator, n: int) -> Numbers:
    kind = draw.integers(4)
    if kind == 0:
        return draw.integers(0, 40, n)
    if kind == 1:
        return np.where(draw.random(n) < 0.3, 0, np.rint(draw.lognormal(3, 1, n)).astype(np.int64) + 1)
    if kind == 2:
        return np.round(draw.lognormal(3, 1, n), 2)
    return draw.normal(10, 4, n)


def _some(made: RandomTable, draw: np.random.Generator, count: int) -> list[str]:
    names = [n for n in made.quasi_identifiers if made.columns[n].dtype.kind in "iuf"]
    return [str(name) for name in draw.choice(names, size=min(count, len(names)), replace=False)]


def _new(made: RandomTable, values: Numbers) -> str:
    name = f"d{len(made.columns)}"
    made.columns[name] = values
    return name


def _near(a: Numbers, b: Numbers, slack: float = 0.0) -> Numbers:
    return np.abs(a - b) <= slack + 1e-9 * (1.0 + np.abs(a) + np.abs(b))


def _total(made: RandomTable, draw: np.random.Generator) -> None:
    parts = _some(made, draw, int(draw.integers(2, 4)))
    total = _new(made, sum(made.columns[name] for name in parts))
    made.rules.append((f"{total} = {' + '.join(parts)}", lambda t: _near(t[total], sum(t[name] for name in parts))))


def _product(made: RandomTable, draw: np.random.Generator) -> None:
    a, b = (_some(made, draw, 2) * 2)[:2]
    product = _new(made, made.columns[a] * made.columns[b])
    made.rules.append((f"{product} = {a} * {b}", lambda t: _near(t[product], t[a] * t[b])))


def _share(made: RandomTable, draw: np.random.Generator) -> None:
    (a,) = _some(made, draw, 1)
    whole = _new(made, np.abs(made.columns[a]) + draw.integers(1, 50, len(made.columns[a])))
    share = _new(made, np.round(100 * made.columns[a] / made.columns[whole], 1))
    text = f"{share} = 100 * {a} / {whole} within 0.06"
    made.rules.append((text, lambda t: _near(t[share], 100 * t[a] / t[whole], 0.06)))


def _slack(made: RandomTable, draw: np.random.Generator) -> None:
    parts = _some(made, draw, 2)
    total = _new(made, np.rint(sum(made.columns[name] for name in parts)).astype(np.int64))
    text = f"{total} = {' + '.join(parts)} within 1"
    made.rules.append((text, lambda t: _near(t[total], sum(t[name] for name in parts), 1.0)))


def _order(made: RandomTable, draw: np.random.Generator) -> None:
    (a,) = _some(made, draw, 1)
    above = _new(made, made.columns[a] + draw.integers(0, 20, len(made.columns[a])))
    made.rules.append((f"{a} <= {above}", lambda t: t[a] <= t[above]))


def _bounds(made: RandomTable, draw: np.random.Generator) -> None:
    (a,) = _some(made, draw, 1)
    low, high = float(np.floor(made.columns[a].min())), float(np.ceil(made.columns[a].max()))
    made.rules.append((f"{low:g} <= {a} <= {high:g}", lambda t: (t[a] >= low) & (t[a] <= high)))


def _zeros(made: RandomTable, draw: np.random.Generator) -> None:
    (a,) = _some(made, draw, 1)
    n = len(made.columns[a])
    other = _new(made, np.where(made.columns[a] == 0, 0, draw.integers(0, 90, n)))
    made.rules.append((f"if {a} = 0 then {other} = 0", lambda t: (t[a] != 0) | (t[other] == 0)))


def _governed(made: RandomTable, draw: np.random.Generator) -> None:
    a, b = (_some(made, draw, 2) * 2)[:2]
    limit = float(np.round(np.quantile(made.columns[a], draw.uniform(0.1, 0.9))))
    n = len(made.columns[a])
    up = np.where(made.columns[a] < limit, draw.integers(0, 30, n), draw.integers(-30, 30, n))
    above = _new(made, made.columns[b] + up)
    text = f"if {a} < {limit:g} then {b} <= {above}"
    made.rules.append((text, lambda t: ~(t[a] < limit) | (t[b] <= t[above])))


def _listed(made: RandomTable, draw: np.random.Generator) -> None:
    n = len(next(iter(made.columns.values())))
    name = _new(made, draw.choice(np.array([1, 2, 5, 9]), n))
    made.rules.append((f"{name} in {{1, 2, 5, 9}}", lambda t: np.isin(t[name], [1, 2, 5, 9])))


def _original(made: RandomTable, draw: np.random.Generator) -> None:
    (a,) = _some(made, draw, 1)
    values = made.columns[a].astype(float)
    made.rules.append((f"{a} from original", lambda t: np.isin(t[a], values)))


def _kept(made: RandomTable, draw: np.random.Generator) -> None:
    n = len(next(iter(made.columns.values())))
    sex = np.where(draw.random(n) < 0.5, "M", "F")
    number, name = _new(made, np.where(sex == "M", 0, draw.integers(0, 9, n))), f"s{len(made.columns)}"
    made.columns[name] = sex
    made.kept.append(name)
    made.rules.append((f"if {name} = 'M' then {number} = 0", lambda t: (t[name] != "M") | (t[number] == 0)))


def _even(made: RandomTable, draw: np.random.Generator) -> None:
    n = len(next(iter(made.columns.values())))
    name = _new(made, 2 * draw.integers(0, 40, n))
    made.rules.append((f"{name} mod 2 = 0", lambda t: t[name] % 2 == 0))


_RULES: list[Callable[[RandomTable, np.random.Generator], Any]] = [
    _total, _product, _share, _slack, _order, _bounds, _zeros, _governed, _listed, _original, _kept, _even,
]  # fmt: skip
