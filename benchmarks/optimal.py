"""The method optimal on the reference sets: loss for as many steps as suit the size, and for a time, with five seeds.

A search is recorded when it is done. ``python benchmarks/optimal.py eia-3 eia-4`` does some sets and k.
"""

from __future__ import annotations

import os
import sys

import shoal
from published import DATA, KS, data_folder
from record import Places, stopwatch

TIMES = (None, 5)  # seconds; None is what is done where nothing is said
SEEDS = range(5)


def run(quick: bool, only: tuple[str, ...] = ()) -> None:
    """Search every set at every k, or some, with every seed."""
    places = Places("optimal", quick, "data", "k", "time", "seed")
    for data, drop in DATA.items():
        path = data_folder() / "casc" / f"{data}.csv"
        for k in KS:
            if only and f"{data}-{k}" not in only:
                continue
            asked = {"k": k, "identifiers": drop, "all_numeric": True, "method": "optimal"}
            shoal.protect(path, **asked, options={"steps": 1000})  # compiles, or loads
            for seconds in (None, 1) if quick else TIMES:
                for seed in SEEDS[: 2 if quick else None]:
                    options = {} if seconds is None else {"time": seconds}
                    with stopwatch() as taken:
                        summary = shoal.protect(path, **asked, seed=seed, options=options).summary
                    row = {
                        "loss": round(summary.information_loss, 4),
                        "smallest_group": summary.smallest_group,
                        "largest_group": summary.largest_group,
                        "steps": summary.steps[0] if summary.steps else 0,
                        "load": round(os.getloadavg()[0], 1),
                    }
                    places.put((data, k, seconds, seed), [row | taken])


if __name__ == "__main__":
    run(False, tuple(sys.argv[1:]))
