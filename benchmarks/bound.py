"""What is proved about the least loss on the reference sets: lower bounds by column generation and cuts.

Every set and k is recorded when it is done, in the place of what was recorded for it before, so that a run that is
stopped keeps what it has. ``python benchmarks/bound.py SECONDS eia-3 eia-4`` proves some for a time of their own.
"""

from __future__ import annotations

import sys
from typing import Any

import shoal
from published import DATA, data_folder
from record import RESULTS, Recorder, load, machine, stopwatch

KS = (3, 4, 5, 10)
SECONDS = {  # for each k: what is enough for the optimum, or after which the bound hardly rises
    "tarragona": (280.0, 240.0, 480.0, 150.0),
    "census": (330.0, 240.0, 240.0, 150.0),
    "eia": (280.0, 240.0, 330.0, 580.0),
}
STEPS = 100_000_000


def run(quick: bool, seconds: float | None = None, places: tuple[str, ...] = ()) -> None:
    """Prove a lower bound for each set and k, or some, starting from the groups of a short search."""
    cells = [(data, k) for data in list(DATA)[: 1 if quick else None] for k in KS[: 1 if quick else None]]
    there = not quick and (RESULTS / "bound.jsonl").exists()
    kept = load("bound")[1] if there else []
    for data, k in cells:
        if places and f"{data}-{k}" not in places:
            continue
        allowed = seconds or SECONDS[data][KS.index(k)]
        options = {"steps": STEPS // (10 if quick else 1), "bound": 20.0 if quick else allowed}
        asked = {"k": k, "identifiers": DATA[data], "all_numeric": True, "method": "optimal", "options": options}
        with stopwatch() as taken:
            release = shoal.protect(data_folder() / "casc" / f"{data}.csv", **asked)
        summary, proof = release.summary, release.proof
        best = 100.0 * (proof.proved.cost or proof.cost) / proof.total
        found = {"loss": summary.information_loss, "bound": summary.bound, "commit": machine()["commit"]}
        found |= {"best": best, "branches": sum(leaves(own.tree) for own in proof.proved.branches) or 1}
        found["cuts"] = len(proof.proved.penalties)
        kept = [row for row in kept if (row["data"], row["k"]) != (data, k)]
        Recorder("bound", quick, kept).add(data=data, k=k, **found, allowed=options["bound"], **taken)
        kept = kept if quick else load("bound")[1]


def leaves(tree: Any) -> int:
    """Return how many branches of a proof were not divided."""
    return leaves(tree.together) + leaves(tree.apart) if hasattr(tree, "pair") else 1


if __name__ == "__main__":
    run(False, float(sys.argv[1]), tuple(sys.argv[2:]))
