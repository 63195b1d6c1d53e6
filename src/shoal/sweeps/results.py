"""The results of a sweep: the figures of each combination, and the folder that keeps them from one run to the next.

A stored result is found by a fingerprint of all that decides it: plan, checksums of the data and of the files that the
plan names, version of shoal, what the intruder knows, and the sample. Each is a file of its own that appears whole or
not at all, so a sweep that was stopped goes on where it was.
"""

from __future__ import annotations

import hashlib
import io
import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from shoal.measures.figures import Figures
from shoal.plan.plan import Plan
from shoal.release.summary import Summary
from shoal.tables.files.writing_whole import write_whole
from shoal.tables.table import Table

LOSSES = ("information_loss", "record_loss", "pil", "il1s")
PERCENTAGES = (*LOSSES, "dbrl", "interval_disclosure", "dr", "score", "global_risk")
_SIZES = ("groups", "smallest_group", "largest_group", "suppressed_cells")


@dataclass(frozen=True)
class Result:
    """One combination of method and k, and its figures.

    Attributes
    ----------
    plan : Plan
        What :func:`shoal.protect` has to be given to make this release.
    information_loss, record_loss, pil, il1s, dbrl, interval_disclosure, dr, score, global_risk : float or None
        As :func:`shoal.measure` gives them, in percent; the mean over the samples where there are any.
    k_anonymity, smallest_group, largest_group : int
        Records that share the rarest combination; the sizes of the groups; the extremes over the samples.
    groups, suppressed_cells : int
        Their numbers; the mean over the samples, rounded.
    seconds : float
        Wall time of protecting, without measuring; the mean over the samples.
    errors : dict
        Standard error of each of the percentages; empty where the whole table was protected.
    """

    plan: Plan
    information_loss: float
    record_loss: float | None
    pil: float | None
    il1s: float | None
    dbrl: float
    interval_disclosure: float | None
    dr: float | None
    score: float | None
    global_risk: float
    k_anonymity: int
    groups: int
    smallest_group: int
    largest_group: int
    suppressed_cells: int
    seconds: float
    errors: dict[str, float | None] = field(default_factory=dict)

    @property
    def k(self) -> int:
        """The k of the plan."""
        return self.plan.k

    @property
    def method(self) -> str:
        """The method of the plan."""
        return str(self.plan.method)

    @property
    def options(self) -> str:
        """The options that the method was given, as ``gamma=1.1``; empty where it was given none."""
        return ":".join(f"{name}={_word(value)}" for name, value in self.plan.options.items())

    @property
    def name(self) -> str:
        """Method and options, as they are written in a list of methods."""
        return f"{self.method}:{self.options}" if self.options else self.method

    def __repr__(self) -> str:
        return (
            f"<Result k = {self.k} with {self.name}: information loss {self.information_loss:.4g} %, "
            f"linked {self.dbrl:.4g} %>"
        )

    def row(self) -> Figures:
        """Return the figures as a line of the table."""
        figures: Figures = {"method": self.method, "k": self.k, "options": self.options}
        names = (*PERCENTAGES, "k_anonymity", *_SIZES, "seconds")
        figures |= {name: getattr(self, name) for name in names}
        return figures | {f"{name}_error": error for name, error in self.errors.items()}


def _word(value: object) -> str:
    return "off" if value is None else str(value).lower() if isinstance(value, bool) else f"{value}"


def figures_of(summary: Summary, found: Mapping[str, Any]) -> Figures:
    """Return what a sweep keeps of one release."""
    figures: Figures = {name: found.get(name) for name in (*PERCENTAGES, "k_anonymity")}
    figures |= {name: summary[name] for name in (*_SIZES, "seconds")}
    return figures


def combine(plan: Plan, draws: Sequence[Figures]) -> Result:
    """Return one result from the figures of the whole table, or of several samples of it."""
    if len(draws) == 1:
        return Result(plan, **draws[0])
    figures: Figures = {}
    errors: dict[str, float | None] = {}
    for name in PERCENTAGES:
        values = [draw[name] for draw in draws if draw[name] is not None]
        figures[name] = float(np.mean(values)) if values else None
        errors[name] = float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None
    for name in ("k_anonymity", "smallest_group"):
        figures[name] = min(draw[name] for draw in draws)
    figures["largest_group"] = max(draw["largest_group"] for draw in draws)
    for name in ("groups", "suppressed_cells"):
        figures[name] = round(float(np.mean([draw[name] for draw in draws])))
    figures["seconds"] = round(float(np.mean([draw["seconds"] for draw in draws])), 6)
    return Result(plan, **figures, errors=errors)


class ResultFolder:
    """Results on disk, a file each. Threads may share it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()  # of the process-wide settings that writing a file looks at

    def get(self, key: Mapping[str, Any]) -> Figures | None:
        """Return the figures that were stored under a key, or None where there are none or they are damaged."""
        try:
            stored = json.loads(self._path(key).read_text(encoding="utf-8"))
            if stored["key"] == key and _whole(stored["figures"]):
                return dict(stored["figures"])
        except (OSError, ValueError, KeyError, TypeError):
            pass
        return None

    def put(self, key: Mapping[str, Any], figures: Figures) -> None:
        """Store figures under a key."""
        path = self._path(key)
        text = json.dumps({"key": key, "figures": figures}, indent=2, ensure_ascii=False)
        with self._lock:
            self._folder.mkdir(parents=True, exist_ok=True)
            write_whole(path, text + "\n")

    def _path(self, key: Mapping[str, Any]) -> Path:
        digest = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:16]
        return self._folder / f"{key['plan']['method']}-k{key['plan']['k']}-{digest}.json"


def stored_results(folder: Path) -> tuple[list[Result], int | None]:
    """Return the results that a folder has, method by method and k rising, and the records of samples if there are any.

    A combination of which some samples are still missing is told by those that are there.
    """
    draws: dict[str, list[Figures]] = {}
    plans: dict[str, Plan] = {}
    records: int | None = None
    for path in sorted(folder.glob("*.json")):
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
            plan, figures, sample = Plan(**stored["key"]["plan"]), stored["figures"], stored["key"]["sample"]
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if _whole(figures):
            name = plan.to_yaml()
            plans[name] = plan
            draws.setdefault(name, []).append(figures)
            records = sample["records"] if sample else records
    results = [combine(plans[name], own) for name, own in draws.items()]
    return sorted(results, key=lambda result: (result.name, result.k)), records


def _whole(figures: object) -> bool:
    return isinstance(figures, dict) and set(figures) == {*PERCENTAGES, *_SIZES, "k_anonymity", "seconds"}


def table_checksum(table: Table) -> str:
    """Return a SHA-256 of the names, types and values of a table in memory."""
    frame = table.to_polars()
    digest = hashlib.sha256()
    for name in frame.columns:
        column = io.BytesIO()
        frame[name].rechunk().to_frame().write_ipc(column)
        digest.update(column.getbuffer())
    return digest.hexdigest()
