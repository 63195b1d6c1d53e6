"""Exact MDAV with k = 3 on data that is awkward for trees: CPU seconds, beside normal data."""

from __future__ import annotations

import numpy as np

from record import Recorder, stopwatch
from shoal.columns.scaling import Records
from shoal.kernels.watch import new_watch
from shoal.partition.methods import METHODS


def run(quick: bool) -> None:
    """Time every kind of data."""
    recorder = Recorder("awkward", quick)
    METHODS["mdav"].function(Records(np.eye(6_000, 3)), 3, new_watch())  # loads the kernels
    for name, values in _data(20_000 if quick else 100_000).items():
        with stopwatch() as taken:
            groups = METHODS["mdav"].function(Records(values), 3, new_watch())
        least = int(np.bincount(groups).min())
        recorder.add(
            part="awkward", data=name, n=len(values), d=values.shape[1], smallest_group=least, cpu=taken["cpu"]
        )


def _data(n: int) -> dict[str, np.ndarray]:
    draw = np.random.default_rng(0)
    normal = draw.normal(size=(n, 5))
    copies = normal.copy()
    copies[draw.random(n) < 0.9] = normal[0]
    return {
        "normal": normal,
        "all records equal": np.ones((n, 5)),
        "90 % duplicates": copies,
        "one dominant column": normal * [1e9, 1.0, 1.0, 1.0, 1e-9],
        "heavy tails": np.exp(4 * normal),
        "integers with few values": draw.integers(0, 4, size=(n, 5)).astype(float),
        "60 columns": draw.normal(size=(n // 5, 60)),
    }
