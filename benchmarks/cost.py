"""What blocks cost and what they save, and the model of both from which block sizes are chosen.

Loss: uniform records, which have no clusters, MDAV, blocks of the spread tree against none. Time: MDAV on normal
records, the hardest for a tree, CPU seconds on one thread. The rows ``model`` are the constants of
``src/shoal/blocking/size.py``, fitted to the other rows.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from itertools import chain
from typing import Any

import numpy as np

import shoal
from blocking import uniform
from record import Recorder
from shoal.columns.scaling import Records
from shoal.kernels.watch import new_watch
from shoal.partition.methods import METHODS

LENGTHS = {2: (10_000, 30_000, 100_000, 300_000), 5: (10_000, 30_000, 100_000, 300_000), 10: (10_000, 30_000, 100_000),
           20: (10_000, 30_000)}  # fmt: skip
Row = dict[str, Any]


def run(quick: bool) -> None:
    """Run all parts; each recorded line names its part."""
    recorder = Recorder("cost", quick)
    small = 0.1 if quick else 1.0
    rows: list[Row] = []
    for row in chain(_losses(20_000 if quick else 100_000), _times(small), _scans(small)):
        recorder.add(**row)
        rows.append(row)
    for row in fit(rows):
        recorder.add(**row)


def fit(rows: Iterable[Row]) -> list[Row]:
    """Fit the constants of the model of time and loss, by least squares."""
    times = [row for row in rows if row["part"] == "time"]
    columns = sorted({row["d"] for row in times})
    unknown = np.zeros((len(times), 2 * len(columns) + 1))
    for line, row in zip(unknown, times, strict=True):
        at = 2 * columns.index(row["d"])
        line[at : at + 2] = 1.0, np.log(row["n"] / 10_000)
        line[-1] = np.log(row["k"] / 3)
    logs = np.log([1e6 * row["cpu"] / row["n"] for row in times])
    solved = np.linalg.lstsq(unknown, logs, rcond=None)[0]
    model = [
        {"part": "model", "d": d, "microseconds": round(float(np.exp(a)), 2), "exponent": round(float(b), 2)}
        for d, a, b in zip(columns, solved[:-1:2], solved[1:-1:2], strict=True)
    ]
    model.append({"part": "model k", "exponent": round(float(solved[-1]), 2)})
    scans = [row for row in rows if row["part"] == "scan"]
    pairs = np.array([[row["n"] / row["k"], row["n"] * row["d"] / row["k"]] for row in scans])
    each = np.linalg.lstsq(pairs, np.array([1e6 * row["cpu"] / row["n"] for row in scans]), rcond=None)[0]
    model.append({"part": "model scan", "record": round(float(each[0]), 4), "column": round(float(each[1]), 4)})
    return model + _fit_faces([row for row in rows if row["part"] == "cost" and not row["repair"]])


def _fit_faces(rows: list[Row]) -> list[Row]:
    """Fit a factor for each number of columns, and the exponent of k that leaves the least squares."""
    best: tuple[float, list[Row]] = (np.inf, [])
    for exponent in np.arange(-1.0, 1.005, 0.01):
        rest, found = 0.0, []
        for d in sorted({row["d"] for row in rows}):
            here = [row for row in rows if row["d"] == d]
            more = np.array([row["percent_more"] / 100 for row in here])
            felt = np.array([(row["k"] / 3) ** exponent * _faces(row["size"], row["n"], d) for row in here])
            factor = float(felt @ more / (felt @ felt))
            rest += float(((more - factor * felt) ** 2).sum())
            found.append({"part": "model faces", "d": d, "factor": round(factor, 2)})
        if rest < best[0]:
            best = rest, [*found, {"part": "model faces k", "exponent": round(float(exponent), 2)}]
    return best[1]


def _faces(size: int, n: int, d: int) -> float:
    return float((3 / size) ** (1 / d) - (3 / n) ** (1 / d))


def _losses(n: int) -> Iterable[Row]:
    for d in (2, 5, 10):
        table = uniform(n, d)
        for k in (3, 10):
            whole = shoal.protect(table, k, table.columns).summary.sse
            for size in (1_000, 10_000):
                for repair in (False, True) if k == 3 else (False,):
                    blocking = {"method": "spread-tree", "size": size, "repair": repair}
                    sse = shoal.protect(table, k, table.columns, blocking=blocking).summary.sse
                    more = round(100 * (sse / whole - 1), 2)
                    yield {"part": "cost", "n": n, "d": d, "k": k, "size": size, "repair": repair,
                           "sse": round(sse, 4), "percent_more": more}  # fmt: skip


def _times(small: float) -> Iterable[Row]:
    for d, lengths in LENGTHS.items():
        for k in (3, 10):
            for length in lengths:
                n = int(length * small)
                yield {"part": "time", "n": n, "d": d, "k": k, "cpu": _mdav(_normal(n, d), k)}


def _scans(small: float) -> Iterable[Row]:
    """Time records with missing values, for which there is no index."""
    for d in (2, 5, 10):
        for k in (3, 10):
            x = _normal(int(10_000 * small), d).values
            observed = np.random.default_rng(1).random(x.shape) < 0.9
            yield {"part": "scan", "n": len(x), "d": d, "k": k, "cpu": _mdav(Records(x * observed, observed), k)}


def _normal(n: int, d: int) -> Records:
    return Records(np.random.default_rng(0).normal(size=(n, d)))


def _mdav(records: Records, k: int) -> float:
    """Return CPU seconds, the least of three, of kernels that are compiled."""
    mask = None if records.observed is None else records.observed[:6_000]
    METHODS["mdav"].function(Records(records.values[:6_000].copy(), mask), k, new_watch())
    least = np.inf
    for _ in range(3):
        started = time.process_time()
        METHODS["mdav"].function(records, k, new_watch())
        least = min(least, time.process_time() - started)
    return round(least, 4)
