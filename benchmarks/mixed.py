"""Every method for columns of any kind on tables of three numbers and three categories: made-up ones, and Adult.

Every release is recorded when it is made. ``python benchmarks/mixed.py 1000-0 100000-2 adult-3 large-1000000
bound-300`` makes parts again, in the place of what was recorded for them before: records and seed, Adult and k, a large
table by default and in blocks, and small tables with a proved bound.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import shoal
from mixed_tables import NUMBERS, adult_table, mixed_table
from record import RESULTS, Recorder, load, machine, peak_mib, stopwatch
from shoal.partition.methods import METHODS
from shoal.plan.roles import EVERY_KIND

SEEDS = 5
DEFAULT = "semantic-optimal"
SLOW = {"k-modes": "", "sa-mdav": "refine"}  # what takes minutes for 100 000 records, and is left out there
BOUND = 20.0  # seconds to prove a bound
PROVED = (300, 1000)  # records of tables for which one is proved
ADULT_KS = (3, 10)
REFINED = ("sa-mdav", "s-mdav", "sa-mondrian")  # on Adult; k-modes releases modes, which are not refined
Row = dict[str, Any]


def run(quick: bool, parts: tuple[str, ...] = ()) -> None:
    """Protect tables of each size by every method, with several seeds, large ones, and small ones with a bound."""
    keep = _Keeper(quick, anew=not parts)
    for name, make in _parts(quick).items():
        if not parts or name in parts:
            make(keep)


class _Keeper:
    """Records rows one by one, each in the place of the one of the same release."""

    def __init__(self, quick: bool, anew: bool) -> None:
        self._quick = quick
        there = not quick and not anew and (RESULTS / "mixed.jsonl").exists()
        self._rows = load("mixed")[1] if there else []

    def add(self, release: Row, found: Row) -> None:
        """Record what was found of a release."""
        self._rows = [row for row in self._rows if any(row.get(name) != value for name, value in release.items())]
        row = {**release, **found, "commit": machine()["commit"]}
        Recorder("mixed", self._quick, self._rows).add(**row)
        self._rows.append(row)


def _parts(quick: bool) -> dict[str, Callable[[_Keeper], None]]:
    """Return what makes each part, by name."""
    if quick:
        return {"1000-0": partial(_every_method, n=1000, seed=0), "bound-300": partial(_bounds, n=300, seeds=1)}
    every = {
        f"{n}-{seed}": partial(_every_method, n=n, seed=seed) for n in (1000, 10_000, 100_000) for seed in range(SEEDS)
    }
    adult = {f"adult-{k}": partial(_adult, k=k) for k in ADULT_KS}
    bounds = {f"bound-{n}": partial(_bounds, n=n, seeds=SEEDS) for n in PROVED}
    return every | adult | bounds | {"large-1000000": partial(_large, n=1_000_000)}


def _every_method(keep: _Keeper, n: int, seed: int) -> None:
    """Protect a made-up table by every method, and in the other ways."""
    table, hierarchies = mixed_table(n, seed)
    for name, how, settings in _ways(hierarchies, ("sa-mdav",)):
        if n >= 100_000 and SLOW.get(name) == how:
            continue
        _warm(name, settings)
        found = _protect(table, 3, hierarchies, name, **settings)
        keep.add({"data": "made up", "n": n, "k": 3, "seed": seed, "method": name, "how": how}, found)


def _adult(keep: _Keeper, k: int) -> None:
    """Protect Adult by every method, and in the other ways."""
    table, hierarchies = adult_table()
    for name, how, settings in _ways(hierarchies, REFINED):
        _warm(name, settings)
        found = _protect(table, k, hierarchies, name, **settings)
        keep.add({"data": "adult", "n": len(table), "k": k, "seed": 0, "method": name, "how": how}, found)


def _ways(hierarchies: dict[str, Any], refined: tuple[str, ...]) -> list[tuple[str, str, Row]]:
    """Return every method with what is usual, and other ways to use some, each with its settings."""
    centroid = dict.fromkeys(hierarchies, "centroid")
    return [
        *((name, "", {}) for name, method in METHODS.items() if method.kinds == EVERY_KIND),
        *((name, "refine", {"refine": True}) for name in refined),
        (DEFAULT, "records", {"options": {"lower": "records"}}),
        (DEFAULT, "records, centroids", {"options": {"lower": "records"}, "aggregators": centroid}),
    ]


def _warm(method: str, settings: Row) -> None:
    """Protect a small table first, which compiles or loads what the method needs."""
    small, hierarchies = mixed_table(3000, 99)
    if "aggregators" in settings:
        settings = settings | {"aggregators": dict.fromkeys(hierarchies, "centroid")}
    few = {**settings, "options": {**settings.get("options", {}), "steps": 200_000}} if method == DEFAULT else settings
    _protect(small, 3, hierarchies, method, **few)


def _bounds(keep: _Keeper, n: int, seeds: int) -> None:
    """Prove a bound for some small tables."""
    for seed in range(seeds):
        table, hierarchies = mixed_table(n, seed)
        for lower in ("information", "records"):
            found = _protect(table, 3, hierarchies, DEFAULT, options={"lower": lower, "bound": BOUND})
            key = {"data": "made up", "n": n, "k": 3, "seed": seed, "method": DEFAULT, "how": "bound", "lower": lower}
            keep.add(key, found)


def _large(keep: _Keeper, n: int) -> None:
    """Protect a very large table by default, and in blocks."""
    table, hierarchies = mixed_table(n, 0)
    blocking = {"method": "spread-tree", "columns": list(NUMBERS)}
    for how, settings in (("", {}), ("blocking", {"blocking": blocking})):
        found = _protect(table, 3, hierarchies, DEFAULT, **settings)
        keep.add({"data": "made up", "n": n, "k": 3, "seed": 0, "method": DEFAULT, "how": how}, found)


def _protect(table: Any, k: int, hierarchies: dict[str, Any], method: str, **settings: Any) -> Row:
    """Return the losses of a release, what was proved, and what it took."""
    with stopwatch() as taken:
        release = shoal.protect(table, k, table.columns, method=method, hierarchies=hierarchies, **settings)
    summary = release.summary
    return {
        "loss": round(summary.information_loss, 4),
        "record_loss": round(summary.record_loss or 0.0, 4),
        "bound": summary.bound,
        "gap": summary.gap,
        **taken,
        "peak_mib": peak_mib(),
    }


if __name__ == "__main__":
    run(False, tuple(sys.argv[1:]))
