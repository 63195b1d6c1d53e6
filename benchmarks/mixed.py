"""Every method for columns of any kind on made-up tables of three numbers and three categories with hierarchies."""

from __future__ import annotations

from typing import Any

import shoal
from mixed_tables import mixed_table
from record import Recorder, peak_mib, stopwatch
from shoal.partition.methods import METHODS
from shoal.plan.roles import EVERY_KIND

SEEDS = 5
DEFAULT = "semantic-optimal"
SLOW = ("k-modes",)  # takes minutes for 100 000 records, and is left out there
CENTROID = dict.fromkeys(("job", "place", "school"), "centroid")


def run(quick: bool) -> None:
    """Protect tables of each size by every method, with several seeds, and large ones by default."""
    recorder = Recorder("mixed", quick)
    names = [name for name, method in METHODS.items() if method.kinds == EVERY_KIND]
    small, hierarchies = mixed_table(13_000, 99)
    for name in names:  # compiles, or loads
        options = {"steps": 200_000} if name == DEFAULT else {}
        _protect(small.head(3000), hierarchies, name, options=options)
    _protect(small, hierarchies, DEFAULT, options={"steps": 200_000})
    _protect(small, hierarchies, "sa-mdav", refine=True)
    quicker = [name for name in names if name not in SLOW]
    for seed in range(SEEDS):
        for n in (1000,) if quick else (100_000, 10_000, 1000):
            _every_method(recorder, quicker if n == 100_000 else names, n, seed)
    if not quick:
        _large(recorder, 1_000_000, 6)
        _large(recorder, 3_000_000, 5)


def _every_method(recorder: Recorder, names: list[str], n: int, seed: int) -> None:
    """Protect a table by every method, and by those that start and refine well in other ways."""
    table, hierarchies = mixed_table(n, seed)
    for name in names:
        recorder.add(n=n, seed=seed, method=name, **_protect(table, hierarchies, name))
    for name, settings in {DEFAULT: {"aggregators": CENTROID}, "sa-mdav": {"refine": True}}.items():
        how = "centroid" if name == DEFAULT else "refine"
        recorder.add(n=n, seed=seed, method=name, how=how, **_protect(table, hierarchies, name, **settings))


def _large(recorder: Recorder, n: int, columns: int) -> None:
    """Protect a very large table by default, and in blocks."""
    table, hierarchies = mixed_table(n, 0, columns)
    recorder.add(n=n, seed=0, columns=columns, method=DEFAULT, **_protect(table, hierarchies, DEFAULT))
    blocking = {"method": "spread-tree", "columns": ["age", "income", "hours"]}
    found = _protect(table, hierarchies, DEFAULT, blocking=blocking)
    recorder.add(n=n, seed=0, columns=columns, method=DEFAULT, how="blocking", **found)


def _protect(table: Any, hierarchies: dict[str, Any], method: str, **settings: Any) -> dict[str, Any]:
    """Return the losses of a release, and what it took."""
    hierarchies = {name: tree for name, tree in hierarchies.items() if name in table.columns}
    with stopwatch() as taken:
        release = shoal.protect(table, 3, table.columns, method=method, hierarchies=hierarchies, **settings)
    summary = release.summary
    return {
        "loss": round(summary.information_loss, 4),
        "record_loss": round(summary.record_loss or 0.0, 4),
        **taken,
        "peak_mib": peak_mib(),
    }
