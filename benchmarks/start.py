"""The first seconds: CPU seconds of commands on a machine that has never run shoal, and again.

Each command runs in a process of its own, with an empty folder for compiled kernels: with the library of kernels that
comes with shoal, and without it (``SHOAL_PREBUILT=off``), where everything is compiled; and once more with what was
compiled before. CPU seconds are those of the command and of all it starts.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

import shoal
from record import Recorder
from shoal.kernels.library import SWITCH

_FIVE = ["-k", "5", "-q", "a,b,c,d,e"]
_SHOAL = [sys.executable, "-m", "shoal"]
COMMANDS: dict[str, list[str]] = {
    "import shoal": [sys.executable, "-c", "import shoal"],
    "shoal --help": [*_SHOAL, "--help"],
    "shoal demo": [*_SHOAL, "demo"],
    "protect, 1000 x 5, default": [*_SHOAL, "protect", "small.csv", "-o", "release.csv", *_FIVE],
    "protect, 1000 x 5, mdav": [*_SHOAL, "protect", "small.csv", "-o", "release.csv", *_FIVE, "-m", "mdav"],
    "protect, 20000 x 5, mdav": [*_SHOAL, "protect", "large.csv", "-o", "release.csv", *_FIVE, "-m", "mdav"],
    "protect, 1000 with categories, default": [
        *[*_SHOAL, "protect", "mixed.csv", "-o", "release.csv", "-k", "5", "-q", "age,income,job,place"]
    ],
    "measure, 1000 x 5": [*_SHOAL, "measure", "small.csv", "small-release.csv", "-q", "a,b,c,d,e"],
}
QUICK = ("import shoal", "shoal --help", "shoal demo")


def run(quick: bool) -> None:
    """Run every command with the library, without it, and without it again."""
    recorder = Recorder("start", quick)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write_tables(folder)
        for command, line in COMMANDS.items():
            if quick and command not in QUICK:
                continue
            found, releases = {}, []
            for way, switch in (("library", "on"), ("compiling", "off"), ("compiled", "off")):
                cache = folder / f"cache of {command} {switch}"
                found[way] = _cpu_seconds(line, folder, {"XDG_CACHE_HOME": str(cache), SWITCH: switch})
                release = folder / "release.csv"
                releases.append(release.read_bytes() if release.exists() else b"")
                for written in folder.glob("release.csv*"):  # with its manifest
                    written.unlink()
            recorder.add(command=command, **found, same_release=len(set(releases)) == 1)


def _cpu_seconds(line: list[str], folder: Path, settings: dict[str, str]) -> float:
    """Return the CPU seconds of a command and of what it starts."""
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"} | settings
    environment["PYTHONPATH"] = str(Path(shoal.__file__).parents[1])  # this one, wherever the command runs
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(line, cwd=folder, env=environment, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 2)


def _write_tables(folder: Path) -> None:
    draw = np.random.default_rng(0)
    for name, n in (("small", 1000), ("large", 20_000)):
        table = pl.DataFrame({column: draw.lognormal(3.0, 1.0, n).round(2) for column in "abcde"})
        table.write_csv(folder / f"{name}.csv")
        table.with_columns(pl.all().round(0)).write_csv(folder / f"{name}-release.csv")
    jobs, places = ["farmer", "nurse", "clerk", "driver"], ["north", "east", "south", "west", "abroad"]
    pl.DataFrame(
        {
            "age": draw.integers(18, 90, 1000),
            "income": draw.lognormal(10.0, 0.6, 1000).round(0),
            "job": draw.choice(jobs, 1000),
            "place": draw.choice(places, 1000),
        }
    ).write_csv(folder / "mixed.csv")
