"""Every method for columns of any kind on made-up tables of three numbers and three categories with hierarchies.

Every release is recorded when it is made, in the place of what was recorded for it before, so that a run that is
stopped keeps what it has. ``python benchmarks/mixed.py 1000-0 100000-2 large-1000000 bound-300`` makes parts again:
records and seed, a large table by default and in blocks, and small tables with a proved bound.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import shoal
from mixed_tables import NUMBERS, TREES, mixed_table
from record import RESULTS, Recorder, load, machine, peak_mib, stopwatch
from shoal.partition.methods import METHODS
from shoal.plan.roles import EVERY_KIND

SEEDS = 5
DEFAULT = "semantic-optimal"
SLOW = ("k-modes",)  # takes minutes for 100 000 records, and is left out there
CENTROID = dict.fromkeys(TREES, "centroid")
BOUND = 20.0  # seconds to prove a bound
PROVED = (300, 1000, 2000)  # records of tables for which one is proved
OTHER_WAYS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    (DEFAULT, "records", {"options": {"lower": "records"}}),
    (DEFAULT, "records, centroids", {"options": {"lower": "records"}, "aggregators": CENTROID}),
    ("sa-mdav", "refine", {"refine": True}),
)
Row = dict[str, Any]


def run(quick: bool, parts: tuple[str, ...] = ()) -> None:
    """Protect tables of each size by every method, with several seeds, large ones, and small ones with a bound."""
    keep = _Keeper(quick)
    for name, make in _parts(quick).items():
        if not parts or name in parts:
            make(keep)


class _Keeper:
    """Records rows one by one, each in the place of the one of the same release."""

    def __init__(self, quick: bool) -> None:
        self._quick = quick
        there = not quick and (RESULTS / "mixed.jsonl").exists()
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
    bounds = {f"bound-{n}": partial(_bounds, n=n, seeds=SEEDS) for n in PROVED}
    large = {f"large-{n}": partial(_large, n=n, columns=d) for n, d in ((1_000_000, 6), (3_000_000, 5))}
    return every | bounds | large


def _every_method(keep: _Keeper, n: int, seed: int) -> None:
    """Protect a table by every method, and in the other ways."""
    table, hierarchies = mixed_table(n, seed)
    names = [name for name, method in METHODS.items() if method.kinds == EVERY_KIND]
    usual: list[tuple[str, str, Row]] = [(name, "", {}) for name in names if n < 100_000 or name not in SLOW]
    for name, how, settings in (*usual, *OTHER_WAYS):
        _warm(name, settings)
        keep.add({"n": n, "seed": seed, "method": name, "how": how}, _protect(table, hierarchies, name, **settings))


def _warm(method: str, settings: Row) -> None:
    """Protect a small table first, which compiles or loads what the method needs."""
    small, hierarchies = mixed_table(3000, 99)
    few = {**settings, "options": {**settings.get("options", {}), "steps": 200_000}} if method == DEFAULT else settings
    _protect(small, hierarchies, method, **few)


def _bounds(keep: _Keeper, n: int, seeds: int) -> None:
    """Prove a bound for some small tables."""
    for seed in range(seeds):
        table, hierarchies = mixed_table(n, seed)
        for lower in ("information", "records"):
            found = _protect(table, hierarchies, DEFAULT, options={"lower": lower, "bound": BOUND})
            keep.add({"n": n, "seed": seed, "method": DEFAULT, "how": "bound", "lower": lower}, found)


def _large(keep: _Keeper, n: int, columns: int) -> None:
    """Protect a very large table by default, and in blocks."""
    table, hierarchies = mixed_table(n, 0, columns)
    blocking = {"method": "spread-tree", "columns": list(NUMBERS)}
    for how, settings in (("", {}), ("blocking", {"blocking": blocking})):
        found = _protect(table, hierarchies, DEFAULT, **settings)
        keep.add({"n": n, "seed": 0, "columns": columns, "method": DEFAULT, "how": how}, found)


def _protect(table: Any, hierarchies: dict[str, Any], method: str, **settings: Any) -> Row:
    """Return the losses of a release, what was proved, and what it took."""
    hierarchies = {name: tree for name, tree in hierarchies.items() if name in table.columns}
    with stopwatch() as taken:
        release = shoal.protect(table, 3, table.columns, method=method, hierarchies=hierarchies, **settings)
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
