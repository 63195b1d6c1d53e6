"""Runs: each is a process of its own with a folder of plain files, which tell everything about it.

::

    run.json          what was asked for: kind, name, table, when
    plan.yaml         the plan
    progress.jsonl    how far it is, a line now and then
    end.json          how it ended, written last
    ...               what it made: release, manifest, measures, sections, sweep, report

A process that is cancelled, or crashes, touches nothing but its folder. It listens to its standard input: ``stop``
asks for the best so far, and the end of it means that the server is gone; then it ends too. A run without an end and
without a process is one that was lost with its server, and can be started again.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import shoal
from shoal.app.workspace import RUNS, Workspace, read_json, write_json, write_text

PLAN, RUN, END, PROGRESS, LOG = "plan.yaml", "run.json", "end.json", "progress.jsonl", "errors.txt"
_PATIENCE = 5.0  # seconds that a process has to end before it is killed
_NUMBER = re.compile(r"\d{4,8}")


@dataclass(frozen=True)
class Run:
    """A run, as its folder tells it.

    Attributes
    ----------
    folder : Path
        Where it is.
    alive : bool
        Whether its process is at work.
    """

    folder: Path
    alive: bool

    @property
    def number(self) -> str:
        """Its number, which is the name of its folder."""
        return self.folder.name

    @property
    def asked(self) -> dict[str, Any]:
        """What was asked for."""
        return read_json(self.folder / RUN) or {}

    @property
    def name(self) -> str:
        """What the user calls it."""
        return str(self.asked.get("name") or f"Run {int(self.number)}")

    @property
    def kind(self) -> str:
        """What it does: ``protect``, ``sweep``, ``report`` or ``export``."""
        return str(self.asked.get("kind", ""))

    @property
    def end(self) -> dict[str, Any] | None:
        """How it ended; None where it has not."""
        found: dict[str, Any] | None = read_json(self.folder / END)
        return found

    @property
    def state(self) -> str:
        """``running``, ``done``, ``failed``, ``cancelled``, or ``lost`` where it ended with its server."""
        end = self.end
        if end:
            return str(end.get("state", "failed"))
        return "running" if self.alive else "lost"

    @property
    def plan(self) -> shoal.Plan:
        """Its plan."""
        return shoal.Plan.load(self.folder / PLAN)

    @property
    def release(self) -> Path | None:
        """The release that it made; None where it made none, or none yet."""
        name = (self.summary or {}).get("file")
        path = self.folder / str(name)
        return path if name and path.is_file() else None

    @property
    def summary(self) -> dict[str, Any] | None:
        """The summary of its release, with the name of the file."""
        found: dict[str, Any] | None = read_json(self.folder / "summary.json")
        return found

    @property
    def measures(self) -> dict[str, Any] | None:
        """What its release keeps and risks; None where that is not measured, or not yet."""
        found: dict[str, Any] | None = read_json(self.folder / "measures.json")
        return found

    def progress(self) -> list[dict[str, Any]]:
        """Return how it went so far, a line for each time that it told something."""
        try:
            lines = (self.folder / PROGRESS).read_text(encoding="utf-8").splitlines()
        except OSError:
            return []
        found = []
        for line in lines:
            try:
                found.append(json.loads(line))
            except ValueError:  # the last line, while it is written
                break
        return found


class Runs:
    """The runs of a workspace, and the processes that are at work."""

    def __init__(self, workspace: Workspace) -> None:
        self._folder = workspace.folder / RUNS
        self._working: dict[str, subprocess.Popen[bytes]] = {}
        self._changing = threading.RLock()

    def start(self, kind: str, settings_yaml: str, **asked: Any) -> Run:
        """Start a run of a plan; what else is asked for goes to its process."""
        with self._changing:
            folder = self._new_folder()
            try:
                write_text(folder / PLAN, settings_yaml)
                when = datetime.now().astimezone().isoformat(timespec="seconds")
                write_json(folder / RUN, {"kind": kind, "when": when, **asked})
                with (folder / LOG).open("wb") as log:
                    process = subprocess.Popen(
                        [sys.executable, "-P", "-m", "shoal.app.worker", str(folder)],
                        stdin=subprocess.PIPE,
                        stdout=subprocess.DEVNULL,
                        stderr=log,
                        cwd=folder,
                    )
            except OSError:
                shutil.rmtree(folder, ignore_errors=True)
                raise
            self._working[folder.name] = process
        threading.Thread(target=self._wait, args=(folder, process), daemon=True).start()
        return self.find(folder.name)

    def find(self, number: str) -> Run:
        """Return a run by its number; raises LookupError where there is none."""
        folder = self._folder / number
        if not _NUMBER.fullmatch(number) or not (folder / RUN).is_file():
            raise LookupError("there is no such run")
        return Run(folder, number in self._working)

    def all(self, *kinds: str) -> list[Run]:
        """Return the runs of some kinds, or all, the latest first."""
        numbers = sorted((path.name for path in self._folder.iterdir()), reverse=True)
        found = [self.find(number) for number in numbers if (self._folder / number / RUN).is_file()]
        return [run for run in found if not kinds or run.kind in kinds]

    def latest(self, *kinds: str, table: str | None = None) -> Run | None:
        """Return the latest run of some kinds, of a table where one is named."""
        return next((run for run in self.all(*kinds) if table is None or run.asked.get("table") == table), None)

    def stop(self, number: str) -> None:
        """Ask a run to end and to keep the best that it has."""
        with self._changing:
            process = self._working.get(number)
            if process and process.stdin:
                try:
                    process.stdin.write(b"stop\n")
                    process.stdin.flush()
                except OSError:  # it has just ended
                    pass

    def cancel(self, number: str) -> None:
        """End a run and keep nothing of it but what it was asked for."""
        with self._changing:
            run, process = self.find(number), self._working.get(number)
            if process is None:
                return
            process.terminate()
            try:
                process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            if not run.end:
                write_json(run.folder / END, {"state": "cancelled"})

    def rename(self, number: str, name: str) -> None:
        """Give a run another name."""
        run = self.find(number)
        write_json(run.folder / RUN, {**run.asked, "name": name.strip()[:80]})

    def remove(self, number: str) -> None:
        """Remove a run and all that it made."""
        self.cancel(number)
        shutil.rmtree(self.find(number).folder, ignore_errors=True)

    def close(self) -> None:
        """End all processes."""
        for number in list(self._working):
            self.cancel(number)

    def _new_folder(self) -> Path:
        taken = [int(path.name) for path in self._folder.iterdir() if _NUMBER.fullmatch(path.name)]
        folder = self._folder / f"{max(taken, default=0) + 1:04d}"
        folder.mkdir(mode=0o700)
        return folder

    def _wait(self, folder: Path, process: subprocess.Popen[bytes]) -> None:
        """Wait for a process, and say how it ended where it could not do so itself."""
        status = process.wait()
        with self._changing:
            if not (folder / END).exists() and folder.is_dir():
                told = "the process of this run was ended" if status < 0 else "the process of this run failed"
                full = "; the disk is full" if _is_full(folder) else ""
                with suppress(OSError):
                    write_json(folder / END, {"state": "failed", "mistakes": [f"{told} ({status}){full}"]})
            self._working.pop(folder.name, None)
            if process.stdin:
                process.stdin.close()


def _is_full(folder: Path) -> bool:
    return shutil.disk_usage(folder).free < 2**20


def wait_for(runs: Runs, number: str, seconds: float = 600.0) -> Run:
    """Wait until a run has ended."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        run = runs.find(number)
        if run.state != "running":
            return run
        time.sleep(0.05)
    raise TimeoutError(f"run {number} has not ended after {seconds:g} s")
