"""One JSON line for each run: what was measured, on which machine, commit and versions."""

from __future__ import annotations

import json
import os
import platform
import resource
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def machine() -> dict[str, Any]:
    """Describe the machine, the commit and the versions."""
    model = "unknown"
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [
            line.split(":", 1)[1].strip() for line in cpuinfo.read_text().splitlines() if line.startswith("model name")
        ]
        model = names[0] if names else model
    commit = _git("describe", "--always")
    # results of the run itself are no change of what is measured
    changed = _git("status", "--porcelain", "--untracked-files=no", "--", ":/", f":(exclude){RESULTS.name}")
    return {
        "processor": model,
        "cores": os.cpu_count(),
        "system": platform.system(),
        "commit": f"{commit}-dirty" if changed else commit or "unknown",
        "versions": {"python": platform.python_version(), **{p: version(p) for p in ("numpy", "numba", "polars")}},
    }


def _git(*arguments: str) -> str:
    """Return what git says of this repository, nothing where there is none."""
    return subprocess.run(
        ["git", *arguments], capture_output=True, text=True, check=False, cwd=RESULTS.parent
    ).stdout.strip()


class Recorder:
    """Appends results of one benchmark to its file, newest run last, and prints them; some may be kept from before."""

    def __init__(self, name: str, quick: bool, kept: Sequence[dict[str, Any]] = ()) -> None:
        self.path = RESULTS / ("quick" if quick else "") / f"{name}.jsonl"
        self.path.parent.mkdir(exist_ok=True, parents=True)
        self.path.write_text("".join(json.dumps(row) + "\n" for row in ({"benchmark": name, **machine()}, *kept)))

    def add(self, **result: Any) -> None:
        """Record one result."""
        with self.path.open("a") as handle:
            handle.write(json.dumps(result) + "\n")
        print(json.dumps(result), flush=True)


class Places:
    """Results by place, such as a set and k: new rows of a place replace the old ones, and all others are kept.

    So parts of a benchmark can be run one at a time, and a run that is stopped keeps what it has.
    """

    def __init__(self, name: str, quick: bool, *key: str) -> None:
        self.name, self.quick, self.key = name, quick, key
        self.rows: list[dict[str, Any]] = []
        if not quick and (RESULTS / f"{name}.jsonl").exists():
            self.rows = [row for row in load(name)[1] if all(part in row for part in key)]

    def put(self, place: tuple[Any, ...], rows: Sequence[dict[str, Any]]) -> None:
        """Record the rows of a place."""
        here = dict(zip(self.key, place, strict=True))
        now = machine()
        origin = {name: now[name] for name in ("commit", "processor")}
        self.rows = [row for row in self.rows if any(row[part] != at for part, at in here.items())]
        recorder = Recorder(self.name, self.quick, self.rows)
        new = [{**here, **row, **origin} for row in rows]
        for row in new:
            recorder.add(**row)
        self.rows += new


def load(name: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the machine and the results of the last run of a benchmark, each with its commit and processor."""
    first, *rows = [json.loads(line) for line in (RESULTS / f"{name}.jsonl").read_text().splitlines()]
    return first, [{"commit": first["commit"], "processor": first["processor"], **row} for row in rows]


@contextmanager
def stopwatch() -> Iterator[dict[str, float]]:
    """Measure CPU and wall seconds of a block."""
    measured: dict[str, float] = {}
    cpu, wall = time.process_time(), time.perf_counter()
    yield measured
    measured["cpu"] = round(time.process_time() - cpu, 4)
    measured["wall"] = round(time.perf_counter() - wall, 4)


def peak_mib() -> float:
    """Return the largest memory of this process so far, in MiB."""
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)
