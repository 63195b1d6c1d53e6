"""Every other method at 100 000 x 5, and what a second thread saves: normal records, k = 3."""

from __future__ import annotations

import numpy as np

from record import Recorder, stopwatch
from shoal.encode import Records
from shoal.partition import METHODS
from shoal.partition.method import new_watch

SEARCHING = ("mdav-single", "v-mdav", "iv-mdav", "ldf", "hdf", "dbfs", "tfrp", "univariate")


def run(quick: bool) -> None:
    """Run all parts; each recorded line names its part."""
    recorder = Recorder("methods", quick)
    n = 10_000 if quick else 100_000
    for method in SEARCHING:
        for few in (100, 6_000):
            _partition(method, few, 5, 1)  # compiles
        recorder.add(part="methods", n=n, d=5, method=method, cpu=_partition(method, n, 5, 1)["cpu"])
    for d in (5, 10):
        for method in ("ldf", "hdf"):
            one, two = ([_partition(method, n, d, threads)["wall"] for _ in range(3)] for threads in (1, 2))
            recorder.add(part="threads", n=n, d=d, method=method, one=min(one), two=min(two))


def _partition(method: str, n: int, d: int, threads: int) -> dict[str, float]:
    """Return CPU and wall seconds."""
    records = Records(np.random.default_rng(0).normal(size=(n, d)), threads=threads)
    with stopwatch() as measured:
        METHODS[method].function(records, 3, new_watch())
    return measured
