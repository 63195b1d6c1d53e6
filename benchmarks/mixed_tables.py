"""Records of any kind, numbers beside categories with hierarchies: made-up ones with hidden traits, and Adult."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from published import data_folder

TREES = {"job": (6, 5, 4), "place": (8, 6), "school": (4, 4)}  # names below each name, level by level
NUMBERS = ("age", "income", "hours")
# place in the file, and name
ADULT_NUMBERS = {0: "age", 4: "education-num", 12: "hours-per-week"}
ADULT_NAMES = {1: "workclass", 5: "marital-status", 6: "occupation"}


def mixed_table(records: int, seed: int) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Return a table of three numbers and of categories, and the hierarchies of these.

    Traits are normal; income is skewed, and ages and hours are whole numbers. A name is that of the quantile of a trait
    with noise, so that near names have near traits.
    """
    rng = np.random.default_rng([seed, records])
    traits = rng.normal(size=(records, 2))
    data: dict[str, Any] = {
        "age": np.clip(np.round(45.0 + 15.0 * traits[:, 0]), 16, 95).astype(np.int64),
        "income": np.round(np.exp(10.0 + 0.5 * traits[:, 1] + 0.5 * rng.normal(size=records)), -1),
        "hours": np.clip(np.round(36.0 + 8.0 * rng.normal(size=records)), 1, 80).astype(np.int64),
    }
    hierarchies = {}
    for at, (name, widths) in enumerate(TREES.items()):
        leaves = int(np.prod(widths))
        level = 0.8 * traits[:, at % 2] + 0.6 * rng.normal(size=records)
        code = np.minimum((leaves * (np.argsort(np.argsort(level)) / records)).astype(np.int64), leaves - 1)
        data[name] = np.array([_name(name, leaf, widths) for leaf in range(leaves)])[code]
        hierarchies[name] = {"tree": {name: _below(name, widths)}}
    return pl.DataFrame(data), hierarchies


def adult_table() -> tuple[pl.DataFrame, dict[str, Any]]:
    """Return numbers and categories of the 30162 records of Adult without missing values, and hierarchies of these."""
    folder = data_folder() / "adult"
    table = pl.read_csv(folder / "adult.data", has_header=False).with_columns(pl.col(pl.String).str.strip_chars())
    table = table.filter(~pl.any_horizontal(pl.col(pl.String) == "?") & pl.nth(1).is_not_null())
    table = table.select(
        *(pl.nth(at).cast(pl.Int64).alias(name) for at, name in ADULT_NUMBERS.items()),
        *(pl.nth(at).alias(name) for at, name in ADULT_NAMES.items()),
    )
    return table, {name: str(folder / "hierarchies" / f"adult_hierarchy_{name}.csv") for name in ADULT_NAMES.values()}


def _name(root: str, leaf: int, widths: tuple[int, ...]) -> str:
    """Return the name of a leaf: the places on the way down to it."""
    places: list[int] = []
    for width in reversed(widths):
        places.insert(0, leaf % width)
        leaf //= width
    return ".".join([root, *map(str, places)])


def _below(root: str, widths: tuple[int, ...]) -> Any:
    """Return what is below a name, as a tree of names."""
    names = [f"{root}.{place}" for place in range(widths[0])]
    if len(widths) == 1:
        return names
    return {name: _below(name, widths[1:]) for name in names}
