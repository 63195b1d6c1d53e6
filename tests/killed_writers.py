"""Kill the writing of a release at its system calls, and say after each kill what is left: run by test_killed_writers.

``python killed_writers.py FOLDER ENDING POINTS REPORT``; a process of its own, since the children are forked and must
not find threads of polars that are gone: nothing here touches its pool before the fork. Prints one line of JSON.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path

import altair  # noqa: F401 - so that no child has to load it again, as the next two
import pandas as pd
import polars as pl  # noqa: F401
import pyreadstat  # noqa: F401

import shoal
import shoal.report
from system_calls import killed_at

OLD = "an earlier one"


def main(folder: Path, ending: str, points: int, report: bool) -> dict[str, object]:
    """Kill at the calls of a run, or at so many of them that are evenly spread, and look at the folder each time."""
    table = pd.DataFrame({"a": range(12), "b": [(i * 7) % 11 for i in range(12)]})
    release = shoal.protect(table, k=3, quasi_identifiers=["a", "b"], method="mdav", progress=False)
    out = folder / f"r{ending}"
    paths = [out, folder / f"r{ending}.manifest.json", *([folder / "r.html"] if report else [])]

    def work() -> None:
        release.write(out, folder / "r.html" if report else None)

    def lay_out() -> None:
        for path in folder.iterdir():
            path.unlink()
        for path in paths:
            path.write_text(OLD)

    lay_out()
    status, calls = killed_at(1 << 30, work, str(folder))
    if status:
        return {"failed": status, "calls": calls}
    every = range(1, len(calls) + 1)
    chosen = sorted({round(1 + i * (len(calls) - 1) / (points - 1)) for i in range(points)}) if points else every
    found: list[str] = []
    states = set()
    for number in chosen:
        lay_out()
        status, made = killed_at(number, work, str(folder))
        where = f"call {number} ({made[-1]})"
        if status != 9:
            found.append(f"{where}: status {status}")
        if not all(path.exists() for path in paths):
            found.append(f"{where}: a name is gone")
        _next_run(release, folder / f"other{ending}")
        state = _state(paths)
        states.add(state)
        if state not in ("old", "new"):
            found.append(f"{where}: {state} after the next run")
        strays = sorted(path.name for path in folder.iterdir() if path.name.startswith("."))
        if strays:
            found.append(f"{where}: {', '.join(strays)} after the next run")
    return {"calls": calls, "tried": len(chosen), "states": sorted(states), "found": found}


def _next_run(release: shoal.Release, path: Path) -> None:
    child = os.fork()
    if not child:
        status = 1
        try:
            release.write(path)
            status = 0
        finally:
            os._exit(status)
    if os.waitpid(child, 0)[1]:
        raise RuntimeError("the next run failed")


def _state(paths: list[Path]) -> str:
    """Return whether files are all old or all new; new ones belong together."""
    contents = [path.read_bytes() for path in paths]
    old = [content == OLD.encode() for content in contents]
    if all(old):
        return "old"
    if any(old):
        return f"old: {', '.join(path.name for path, is_old in zip(paths, old, strict=True) if is_old)}, others new"
    told = json.loads(contents[1])["output"]["sha256"]
    return "new" if told == hashlib.sha256(contents[0]).hexdigest() else "a manifest of another file"


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4] == "True")))
