"""Sweeps: Census at k = 2 to 20 with the five default methods, and what samples of EIA tell of the whole."""

from __future__ import annotations

import os
import tempfile

import polars as pl

import shoal
from published import DATA, data_folder
from record import Recorder, stopwatch
from shoal.sweeps.combinations import DEFAULT_METHODS

KS = range(2, 21)
SIZES = (500, 1000, 2000)


def run(quick: bool) -> None:
    """Run both parts; each recorded line names its part."""
    recorder = Recorder("sweep", quick)
    census = data_folder() / "casc" / "census.csv"
    ks = range(2, 6) if quick else KS
    shoal.sweep(census, [2], all_numeric=True)  # compiles
    with tempfile.TemporaryDirectory() as folder:
        for what in ("first", "again"):
            with stopwatch() as seconds:
                found = shoal.sweep(census, ks, all_numeric=True, output=folder)
            load = round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None
            count = len(found.results)
            recorder.add(part="time", what=what, combinations=count, reused=found.reused, load=load, **seconds)
    for result in found.results:
        recorder.add(part="map", records=found.records, **result.row())
    _samples(recorder, quick)


def _samples(recorder: Recorder, quick: bool) -> None:
    """Compare the figures of samples with those of the whole table."""
    eia = pl.read_csv(data_folder() / "casc" / "eia.csv").drop(DATA["eia"])
    for size in (*(SIZES[:1] if quick else SIZES), None):
        found = shoal.sweep(
            eia, "3,5,10", DEFAULT_METHODS, eia.columns, sample=size, repeats=None if size is None else 10
        )
        for result in found.results:
            recorder.add(part="sample", size=size or len(eia), repeats=found.repeats, **result.row())
