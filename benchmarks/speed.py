"""Exact MDAV on one thread: index against brute force and an earlier prototype, growth with n.

CPU seconds, k = 3, normal data, the least of some repetitions. The prototype is timed in the same run where it is
found beside the repository (``../shared/prototypes``), and left out elsewhere.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from record import Recorder, peak_mib
from shoal.columns.scaling import Records
from shoal.kernels import pool
from shoal.kernels.watch import new_watch
from shoal.partition.methods import METHODS


def run(quick: bool) -> None:
    """Run all parts; each recorded line names its part."""
    recorder = Recorder("speed", quick)
    small = 0.1 if quick else 1.0
    _warm_up()
    for d in (2, 5, 10, 20):
        for n in (2_000, 4_000, 8_000, 16_000):
            recorder.add(part="crossover", n=n, d=d, brute=_mdav(n, d, False, 3), index=_mdav(n, d, True, 3))
    for d in (2, 5, 10):
        for n in (20_000, int(100_000 * small)):
            row: dict[str, Any] = {"part": "index", "n": n, "d": d}
            row["brute"] = _mdav(n, d, False, 1)
            row["index"], row["prototype"] = _alternating(n, d, 3)
            recorder.add(**row)
    for d in (3, 5, 10):
        for n in (50_000, 100_000, 200_000, 400_000, 800_000):
            if d < 10 or n <= 200_000:
                size = int(n * small)
                recorder.add(part="growth", n=size, d=d, index=_mdav(size, d, True, 1))
    for n in (1_000_000, 2_500_000):
        recorder.add(part="large", **_in_own_process(int(n * small), 5))


def _normal(n: int, d: int) -> Records:
    return Records(np.random.default_rng(0).normal(size=(n, d)))


def _partition(method: str, x: Records) -> None:
    METHODS[method].function(x, 3, new_watch())


def _timed(work: Callable[[], None], repeat: int = 1) -> float:
    """Return the least CPU seconds of some repetitions."""
    least = float("inf")
    for _ in range(repeat):
        started = time.process_time()
        work()
        least = min(least, time.process_time() - started)
    return round(least, 4)


def _mdav(n: int, d: int, index: bool, repeat: int) -> float:
    x = _normal(n, d)
    with patch.object(pool, "worth_indexing", lambda _: index):
        return _timed(lambda: _partition("mdav", x), repeat)


def _alternating(n: int, d: int, repeat: int) -> tuple[float, float | None]:
    """Time index and prototype in turn, so that a slow minute of the machine meets both."""
    prototype = _prototype()
    index, other = [], []
    for _ in range(repeat):
        index.append(_mdav(n, d, True, 1))
        if prototype:
            values = _normal(n, d).values
            other.append(_timed(lambda values=values: prototype(values, 3, 16)))
    return min(index), min(other) if other else None


def _prototype() -> Callable[..., Any] | None:
    folder = Path(__file__).resolve().parents[2] / "shared" / "prototypes"
    if not (folder / "neighbour_index.py").exists():
        return None
    if "prototype" not in sys.modules:
        os.environ.setdefault("NUMBA_CACHE_DIR", str(Path.home() / ".cache" / "shoal" / "prototype"))
        source = (folder / "neighbour_index.py").read_text().replace("cache=True", "cache=False")
        module = importlib.util.module_from_spec(importlib.util.spec_from_loader("prototype", loader=None))
        sys.modules["prototype"] = module
        exec(compile(source, "prototype", "exec"), module.__dict__)
        module.mdav_kd2(_normal(2_000, 3).values, 3, 16)
    return sys.modules["prototype"].mdav_kd2


def _warm_up() -> None:
    for n in (100, 6_000):
        _partition("mdav", _normal(n, 2))


def _in_own_process(n: int, d: int) -> dict[str, Any]:
    """Run exact MDAV in a process of its own, whose peak memory is that of this run."""
    program = f"import speed; speed.report({n}, {d})"
    out = subprocess.run(
        [sys.executable, "-c", program], cwd=Path(__file__).parent, capture_output=True, text=True, check=True
    )
    cpu, peak = map(float, out.stdout.split())
    return {"n": n, "d": d, "cpu": cpu, "peak_mib": peak}


def report(n: int, d: int) -> None:
    """Print CPU seconds and peak memory of exact MDAV."""
    x = _normal(n, d)
    print(_timed(lambda: _partition("mdav", x)), peak_mib())
