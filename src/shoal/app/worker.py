"""The process of a run: ``python -m shoal.app.worker FOLDER`` does what the files in the folder ask for.

See :mod:`shoal.app.runs` for the files. What goes wrong is told in sentences without cells, as on the command line.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import shoal
from shoal.app.runs import END, PLAN, PROGRESS, RUN
from shoal.app.workspace import read_json, write_json
from shoal.errors import failure

_OFTEN = 0.25  # seconds between two lines of progress
_GONE = 3  # status of a process whose server is gone


class Teller:
    """Writes down how far a run is, and knows whether it was asked to stop."""

    def __init__(self, folder: Path) -> None:
        self._file = (folder / PROGRESS).open("ab", buffering=0)
        self._told, self._started = 0.0, time.monotonic()
        self._stage, self._total, self._asked, self.stopped = "", 0, threading.Event(), False

    def stage(self, name: str, total: int = 0) -> None:
        """Say what is being done now, and of how many records."""
        self._stage, self._total = name, total
        self._write({})

    def __call__(self, done: int, words: str = "") -> None:
        """Take note of progress; ends a search that was asked to stop, which then keeps its best."""
        if self._asked.is_set() and not self.stopped:
            self.stopped = True
            raise KeyboardInterrupt
        now = time.monotonic()
        if now - self._told < _OFTEN:
            return
        self._told = now
        told: dict[str, Any] = {"part": min(done / self._total, 1.0) if self._total else None, "words": str(words)}
        if isinstance(words, shoal.Standing):
            told |= {"loss": words.loss, "gap": words.gap}
        self._write(told)

    def listen(self) -> None:
        """Hear ``stop`` from the server; where the server is gone, end."""
        for line in sys.stdin:
            if line.strip() == "stop":
                self._asked.set()
        os._exit(_GONE)

    def close(self) -> None:
        """Tell no more."""
        self._file.close()

    def _write(self, told: dict[str, Any]) -> None:
        seconds = round(time.monotonic() - self._started, 2)
        line = json.dumps({"stage": self._stage, "seconds": seconds, **told}) + "\n"
        with suppress(OSError):  # a full disk is told by what has to be written
            self._file.write(line.encode())


def protect(folder: Path, asked: dict[str, Any], tell: Teller) -> None:
    """Protect the table, write the release, then measure it."""
    tell.stage("reading")
    plan = shoal.Plan.load(folder / PLAN)
    if plan.differential_privacy:
        raise shoal.PlanError(
            "differential_privacy: every run here is measured against its original, which would void the guarantee; "
            "use Python or the command line"
        )
    output = folder / str(asked["output"])
    total = int(asked.get("records", 0)) * len(plan.quasi_identifiers)
    tell.stage("protecting", total)
    release = shoal.protect(asked["path"], plan=plan, output=output, progress=tell)
    again = release.manifest().get("plan_again")
    summary = {"file": output.name, "stopped": tell.stopped, **release.summary.to_dict()}
    write_json(folder / "again.json", again or plan.to_dict())
    write_json(folder / "summary.json", summary)
    tell.stage("measuring")
    measures = release.measure(progress=False)
    write_json(folder / "measures.json", measures.to_dict())
    tell.stage("drawing")
    write_json(folder / "sections.json", [plain(section) for section in shoal.report_sections(release, measures)])
    for edition in ("internal", "external"):
        page = shoal.report_page(release, edition, output=_named(folder, output), measures=measures)
        (folder / f"report-{edition}.html").write_text(page, encoding="utf-8")


def _named(folder: Path, output: Path) -> tuple[str, str]:
    """Return the name of a release and its checksum."""
    manifest = read_json(folder / f"{output.name}.manifest.json") or {}
    return output.name, manifest.get("output", {}).get("sha256", "")


def sweep(folder: Path, asked: dict[str, Any], tell: Teller) -> None:
    """Try methods at every k; what is finished is in files as it goes on."""
    tell.stage("trying")
    if asked.get("resumed"):  # what an earlier run has finished is not done again
        before = folder.with_name(str(asked["resumed"])) / "sweep" / "results"
        shutil.copytree(before, folder / "sweep" / "results", dirs_exist_ok=True)
    plan = shoal.Plan.load(folder / PLAN)
    shoal.sweep(
        asked["path"],
        asked["k"],
        asked["methods"],
        plan=plan,
        sample=asked.get("sample"),
        repeats=2 if asked.get("sample") else None,
        output=folder / "sweep",
        progress=False,
    )


def export(folder: Path, asked: dict[str, Any], tell: Teller) -> None:
    """Make a release again in another format; the plan gives the same values as before."""
    plan = shoal.Plan.load(folder / PLAN)
    tell.stage("protecting", int(asked.get("records", 0)) * len(plan.quasi_identifiers))
    output = folder / str(asked["output"])
    release = shoal.protect(asked["path"], plan=plan, output=output, progress=tell)
    write_json(folder / "summary.json", {"file": output.name, **release.summary.to_dict()})


KINDS: dict[str, Callable[[Path, dict[str, Any], Teller], None]] = {
    "protect": protect,
    "sweep": sweep,
    "export": export,
}


def plain(value: Any) -> Any:
    """Return parts of a page as dictionaries that know their kind."""
    if is_dataclass(value) and not isinstance(value, type):
        own = {one.name: plain(getattr(value, one.name)) for one in fields(value)}
        kind = getattr(value, "kind", None)
        return {"kind": kind, **own} if kind else own
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return value


def told(error: BaseException) -> str:
    """Say why a run failed."""
    if isinstance(error, MemoryError):
        return "there is not enough memory for this; give the plan blocking, or a quicker method"
    if isinstance(error, OSError) and error.strerror:
        return f"a file could not be read or written: {error.strerror}"
    return failure(error)


def main(folder: Path) -> int:
    """Do what is asked for in a folder; returns the exit status."""
    os.umask(0o077)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # what ends the server in a terminal is not meant for a run
    asked = read_json(folder / RUN) or {}
    tell = Teller(folder)
    threading.Thread(target=tell.listen, daemon=True).start()
    try:
        KINDS[str(asked["kind"])](folder, asked, tell)
    except shoal.ShoalError as error:
        mistakes = getattr(error, "mistakes", None) or [str(error)]
        write_json(folder / END, {"state": "failed", "mistakes": mistakes})
        return 2
    except KeyboardInterrupt:
        write_json(folder / END, {"state": "cancelled"})
        return 130
    except BaseException as error:  # a panic of polars is no Exception
        write_json(folder / END, {"state": "failed", "mistakes": [told(error)]})
        return 70
    finally:
        tell.close()
    write_json(folder / END, {"state": "done"})
    return 0


if __name__ == "__main__":
    status = main(Path(sys.argv[1]))
    sys.stdout.flush()
    os._exit(status)  # the thread that listens waits for a line that does not come
