"""The calls of sdcMicro whose results are recorded in results/sdcmicro_recorded.json, made with shoal.

R is not needed: what sdcMicro's functions gave is in that file, with their commits and versions. Numbers are floats, as
they are in R: nothing is rounded to whole numbers. With strata sdcMicro scales each by itself, and so is done here.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np
import polars as pl

import shoal
from published import data_folder
from record import RESULTS, Recorder

METHODS = {"mdav": "mdav", "onedims": "individual-ranking", "pca": "univariate", "rmd": "optimal"}
"""The method of shoal in the place of sdcMicro's; the first two are the same, the others lose less."""

COLUMNS = ["age", "height", "hours", "income"]


def recorded() -> dict[str, Any]:
    """Return what was recorded of sdcMicro."""
    found: dict[str, Any] = json.loads((RESULTS / "sdcmicro_recorded.json").read_text())
    return found


def table_of(name: str) -> tuple[pl.DataFrame, list[str]]:
    """Return a table and the columns that are protected."""
    if name == "example":
        return shoal.example().drop("name").drop_nulls().with_columns(pl.col(COLUMNS).cast(pl.Float64)), COLUMNS
    found = pl.read_csv(data_folder() / "casc" / f"{name}.csv").cast(pl.Float64)
    return found, found.columns


def released(call: dict[str, Any]) -> tuple[np.ndarray, np.ndarray, str]:
    """Return the original, the release of the same call with shoal, and the MD5 of its groups where it has one set."""
    table, columns = table_of(call["table"])
    settings = {"method": METHODS[call["method"]], "decimals": {"*": "all"}, "progress": False}
    numbers, digest = table.select(columns).to_numpy(), ""
    if not call["strata"]:
        release = shoal.protect(table, call["aggr"], columns, **settings)
        if release.groups.ndim == 1:
            digest = hashlib.md5(",".join(map(str, release.groups)).encode(), usedforsecurity=False).hexdigest()
        return numbers, release.data.select(columns).to_numpy(), digest
    after = np.empty_like(numbers)
    for own in table[call["strata"]].unique(maintain_order=True):
        rows = (table[call["strata"]] == own).to_numpy()
        part = shoal.protect(table.filter(pl.col(call["strata"]) == own), call["aggr"], columns, **settings)
        after[rows] = part.data.select(columns).to_numpy()
    return numbers, after, digest


def figures(x: np.ndarray, xm: np.ndarray) -> dict[str, float]:
    """Return information loss, and sdcMicro's dRisk and dUtility by their definitions."""
    z, deviation = x - x.mean(axis=0), x.std(axis=0, ddof=1)
    outside = np.abs(x - xm) > 0.05 * xm.std(axis=0, ddof=1)
    return {
        "loss": float(100 * (((x - xm) / deviation) ** 2).sum() / ((z / deviation) ** 2).sum()),
        "dRisk": float((outside.sum(axis=1) <= 1).mean()),
        "IL1": float((np.abs(x - xm) / deviation * np.sqrt(2)).mean()),
    }


def run(quick: bool) -> None:
    """Make every call that has its like here."""
    recorder = Recorder("sdcmicro", quick)
    for call in recorded()["calls"]:
        if call["method"] not in METHODS or "error" in call or (quick and call["aggr"] > 3):
            continue
        x, xm, digest = released(call)
        asked = {name: call[name] for name in ("table", "method", "aggr", "strata")}
        same = digest == call["partition_md5"] if digest and "partition_md5" in call else None
        recorder.add(**asked, as_method=METHODS[call["method"]], same_groups=same, **figures(x, xm))
