"""The method optimal on the reference sets: loss for as many steps as suit the size, and for a time."""

from __future__ import annotations

import os

import shoal
from published import DATA, KS, data_folder
from record import Recorder, stopwatch

TIMES = (5, 60)


def run(quick: bool) -> None:
    """Search every set at every k."""
    recorder = Recorder("optimal", quick)
    for data, drop in DATA.items():
        path = data_folder() / "casc" / f"{data}.csv"
        for k in KS[:1] if quick else KS:
            asked = {"k": k, "identifiers": drop, "all_numeric": True, "seed": 0}
            shoal.protect(path, **asked, method="optimal", options={"steps": 1000})  # compiles, or loads
            for options in ({}, *({"time": seconds} for seconds in ((1,) if quick else TIMES))):
                with stopwatch() as taken:
                    summary = shoal.protect(path, **asked, method="optimal", options=options).summary
                recorder.add(
                    data=data,
                    k=k,
                    time=options.get("time"),
                    loss=round(summary.information_loss, 4),
                    smallest_group=summary.smallest_group,
                    largest_group=summary.largest_group,
                    steps=summary.steps[0] if summary.steps else 0,
                    load=round(os.getloadavg()[0], 1),
                    **taken,
                )
