"""What is proved about the least loss on the reference sets: lower bounds by column generation."""

from __future__ import annotations

import shoal
from published import DATA, data_folder
from record import Recorder, stopwatch

KS = (3, 4, 5, 10)
SECONDS = 600.0
STEPS = 5_000_000


def run(quick: bool) -> None:
    """Prove a lower bound for each set and k, starting from the groups of a short search."""
    recorder = Recorder("bound", quick)
    for data, drop in list(DATA.items())[: 1 if quick else None]:
        for k in KS[: 1 if quick else None]:
            options = {"steps": STEPS // (10 if quick else 1), "bound": 20.0 if quick else SECONDS}
            asked = {"k": k, "identifiers": drop, "all_numeric": True, "method": "optimal", "options": options}
            with stopwatch() as taken:
                summary = shoal.protect(data_folder() / "casc" / f"{data}.csv", **asked).summary
            recorder.add(
                data=data, k=k, loss=summary.information_loss, bound=summary.bound, allowed=options["bound"], **taken
            )
