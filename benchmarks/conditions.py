"""Conditions on groups: what they cost in loss and time, by the published methods, by repair and by the search.

Census as in Soria-Comas et al. (2015): TAXINC and POTHVAL are quasi-identifiers, FEDTAX, then FICA, is confidential.
Adult with numbers and categories: income and occupation are confidential. Normal records: time with t and without, for
a column that goes with the first quasi-identifier and for one that does not. A million records in 30 columns: what is
looked at in kept columns.
"""

from __future__ import annotations

import resource
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

import shoal
from published import data_folder
from record import Recorder
from shoal.kernels.arrays import Ints
from shoal.plan.plan import Plan
from shoal.release.giving_back import giving_back, sums_kept
from shoal.release.kept_columns import kept_found
from shoal.release.singling_out import singling_out
from shoal.tables.table import open_table

TS = (0.05, 0.1, 0.15, 0.2, 0.25)
KS = (2, 5, 10, 20, 30)
STEPS = 150_000  # of the searches of Census and Adult
METHODS = ("t-merge", "k-first", "t-first", "mdav", "optimal")
ADULT_RECORDS = 3000  # the first of them
ADULT = (
    {"income": {"distinct": 2}},
    {"income": {"entropy": 1.5}},
    {"income": {"t": 0.15}},
    {"occupation": {"distinct": 4}},
    {"occupation": {"entropy": 4.0}},
    {"occupation": {"t": 0.3}},
    {"income": {"t": 0.2}, "occupation": {"distinct": 3}},
)


def run(quick: bool) -> None:
    """Run the four parts."""
    recorder = Recorder("conditions", quick)
    _census(recorder, quick)
    _times(recorder, 10_000 if quick else 100_000)
    _kept(recorder, 50_000 if quick else 1_000_000)
    _adult(recorder, quick)


def _census(recorder: Recorder, quick: bool) -> None:
    table = pl.read_csv(data_folder() / "casc" / "census.csv").select("TAXINC", "POTHVAL", "FEDTAX", "FICA")
    table = table.head(200) if quick else table
    for column in ("FEDTAX", "FICA"):
        one = table.select("TAXINC", "POTHVAL", column)
        for t in TS[-1:] if quick else TS:
            for k in KS[1:2] if quick else KS:
                for method in METHODS:
                    recorder.add(
                        part="census", column=column, t=t, k=k, method=method,
                        **_release(one, k, ["TAXINC", "POTHVAL"], method, {column: {"t": t}}),
                    )  # fmt: skip


def _adult(recorder: Recorder, quick: bool) -> None:
    names = ["age", "workclass", "fnlwgt", "education", "education-num", "marital", "occupation", "relationship",
             "race", "sex", "gain", "loss", "hours", "country", "income"]  # fmt: skip
    path = data_folder() / "adult" / "adult.data"
    table = pl.read_csv(path, has_header=False, new_columns=names).filter(pl.col("income").is_not_null())
    table = table.with_columns(pl.col(pl.String).str.strip_chars()).select(
        "age", "hours", "education-num", "marital", "race", "sex", "occupation", "income"
    )
    table = table.head(1000 if quick else ADULT_RECORDS).with_columns(
        pl.col("age", "hours", "education-num").cast(pl.Float64)
    )
    quasi = ["age", "hours", "education-num", "marital", "race", "sex"]
    for asked in ADULT[:1] if quick else ADULT:
        for method in ("s-mdav", "semantic-optimal"):
            found = _release(table, 5, quasi, method, asked)
            recorder.add(part="adult", asked=asked, k=5, method=method, **found)


def _times(recorder: Recorder, n: int) -> None:
    for along in (0.0, 0.5, 0.9):
        rng = np.random.default_rng(1)
        x = rng.normal(size=(n, 3))
        pay = np.exp(10 + 0.6 * (along * x[:, 0] + np.sqrt(1 - along**2) * rng.normal(size=n)))
        table = pl.DataFrame({"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "pay": pay.round().astype(np.int64)})
        for method in ("mdav", "optimal") if along == 0.5 else ("mdav",):
            _release(table.head(8000), 5, ["a", "b", "c"], method, {"pay": {"t": 0.1}})  # loads the kernels
            for t in (None, *(TS if method == "mdav" else (0.2,))):
                asked = {} if t is None else {"pay": {"t": t}}
                found = _release(table, 5, ["a", "b", "c"], method, asked)
                recorder.add(part="time", records=n, along=along, method=method, t=t, k=5, **found)


def _kept(recorder: Recorder, n: int) -> None:
    rng = np.random.default_rng(1)
    columns: dict[str, Any] = {f"q{i}": rng.normal(size=n) for i in range(5)}
    columns |= {f"n{i}": rng.normal(size=n).round(2) for i in range(10)}
    columns |= {f"i{i}": rng.integers(0, 100, n) for i in range(9)}
    columns |= {f"s{i}": rng.choice(["a", "b", "c", "d"], n) for i in range(4)}
    columns["years"] = columns["i0"] // 7
    columns["degree"] = np.char.add("d", columns["years"].astype(str))
    table = open_table(pl.DataFrame(columns))
    plan = Plan(k=5, quasi_identifiers=["q0", "q1", "q2", "q3", "q4", "years"])
    groups: Ints = rng.permutation(n) // 5
    steps: dict[str, Callable[[], object]] = {
        "giving back": lambda: giving_back(plan, table),
        "sums": lambda: sums_kept(plan, table),
        "telling and unique": lambda: kept_found(plan, table),
        "singling out": lambda: singling_out(plan, table, groups),
    }
    for name, step in steps.items():
        before = _cpu()
        step()
        recorder.add(part="kept", records=n, columns=len(columns), step=name, cpu=round(_cpu() - before, 3))


def _release(
    table: pl.DataFrame, k: int, quasi: list[str], method: str, asked: dict[str, dict[str, float]]
) -> dict[str, Any]:
    """Make a release and return its loss, that by k alone, how many groups there are and the CPU seconds."""
    before = _cpu()
    confidential = None if asked else [name for name in table.columns if name not in quasi]
    options = {"steps": STEPS} if "optimal" in method and len(table) < 8000 else None
    release = shoal.protect(
        table, k, quasi, method=method, options=options, conditions=asked or None, confidential=confidential
    )
    summary = release.summary
    return {
        "loss": summary.information_loss,
        "record_loss": summary.record_loss,
        "alone": summary.loss_without_conditions,
        "groups": summary.groups,
        "reached": {one.column: one.reached for one in summary.conditions},
        "cpu": round(_cpu() - before, 3),
    }


def _cpu() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime
