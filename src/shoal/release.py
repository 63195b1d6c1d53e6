"""What comes out: the protected table, its groups, the summary and the manifest."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from shoal.arrays import Ints
from shoal.errors import FileError
from shoal.files import Source, checksum, file_format, write_file, written_whole
from shoal.plan import Plan
from shoal.tables import open_table


@dataclass(frozen=True)
class SetSummary:
    """One set of quasi-identifiers that was microaggregated by itself."""

    columns: list[str]
    groups: int
    smallest_group: int
    largest_group: int


@dataclass(frozen=True)
class Summary(Mapping[str, Any]):
    """What was done and what it cost; also a mapping of its names to its values.

    Attributes
    ----------
    method, options, k, seed
        As asked for, with the defaults filled in.
    records : int
        Rows of the table.
    groups, smallest_group, largest_group : int
        Number of groups over all sets, and their sizes.
    sse, sst, information_loss : float
        Sum of squared errors of the released values and total sum of squares, both on z-scores, and their ratio
        in percent. A suppressed cell counts as if replaced by the mean.
    loss_by_column : dict
        Information loss of each quasi-identifier in percent.
    suppressed_cells : int
        Cells that are missing in the release and were not before, because fewer than k values of their group
        were observed.
    constant_columns : list of str
        Quasi-identifiers with a single value, which play no part.
    strata, merged_strata : int
        Number of strata declared, and how many of them were merged with another.
    sets : list of SetSummary
        The sets of quasi-identifiers.
    combined_smallest_group : int
        Smallest number of records with the same groups in all sets: k is promised for each set, not for this.
    notes : list of str
        What a user should know about this release.
    seconds : float
        Wall time from the call to the result.
    version : str
        Of shoal.
    """

    method: str
    options: dict[str, Any]
    k: int
    records: int
    groups: int
    smallest_group: int
    largest_group: int
    sse: float
    sst: float
    information_loss: float
    loss_by_column: dict[str, float]
    suppressed_cells: int
    constant_columns: list[str]
    strata: int
    merged_strata: int
    sets: list[SetSummary]
    combined_smallest_group: int
    notes: list[str]
    seconds: float
    version: str
    seed: int

    def __getitem__(self, name: str) -> Any:
        if name not in (f.name for f in fields(self)):
            raise KeyError(name)
        return getattr(self, name)

    def __iter__(self) -> Iterator[str]:
        return (f.name for f in fields(self))

    def __len__(self) -> int:
        return len(fields(self))

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers, texts, lists and dictionaries."""
        return asdict(self)


@dataclass(frozen=True)
class Release:
    """A protected table and everything about it.

    Attributes
    ----------
    data
        The table, of the same kind as the one that went in; a polars DataFrame where that was a file.
    groups : int64 (n,) or (n, sets)
        Number of each row's group, by first appearance; one column for each set where there are several.
    summary : Summary
        What was done and what it cost.
    plan : Plan
        What was asked for.
    timings : dict
        Seconds of each step.
    source : Source or None
        The file that it came from.
    """

    data: Any
    groups: Ints
    summary: Summary
    plan: Plan
    timings: dict[str, float] = field(default_factory=dict)
    source: Source | None = None

    def __repr__(self) -> str:
        s = self.summary
        return (
            f"<Release of {s.records} records in {s.groups} groups of {s.smallest_group} to {s.largest_group}, "
            f"method {s.method}, k = {s.k}, information loss {s.information_loss:.4g} %>"
        )

    def write(self, path: str | Path) -> Path:
        """Write the table, and beside it the manifest; returns the path of the manifest.

        Both appear whole or not at all. A file from a text or statistical format goes back to it in the same form.
        """
        path = Path(path)
        check_output(path, self.source.path if self.source else None)
        manifest = manifest_path(path)
        frame = open_table(self.data).to_polars()
        released = {name for part in self.plan.quasi_identifiers for name in part}
        with written_whole(path, manifest) as part:
            write_file(frame, part(path), self.source, released)
            content = self.manifest(output=part(path), name=path.name)
            part(manifest).write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        return manifest

    def manifest(self, output: Path | None = None, name: str | None = None) -> dict[str, Any]:
        """Return what it takes to make the release again and to recognise it.

        Plan, versions, checksums, group sizes and timings.
        """
        content: dict[str, Any] = {
            "shoal": self.summary.version,
            "plan": self.plan.to_dict(),
            "seed": self.plan.seed,
            "versions": _versions(),
        }
        if self.source:
            content["input"] = {"name": self.source.path.name, "sha256": self.source.sha256}
        if output:
            content["output"] = {"name": name, "sha256": checksum(output)}
        content["group_sizes"] = [_size_counts(column) for column in np.atleast_2d(self.groups.T)]
        content["summary"] = self.summary.to_dict()
        content["timings"] = self.timings
        return content


def check_output(path: Path, original: Path | None) -> None:
    """Refuse a path that a release cannot be written to, before any work is done."""
    if path.suffix.lower() == ".sas7bdat":
        raise FileError(f"'{path}': SAS data sets can be read but not written; write .xpt instead")
    file_format(path)
    if original and path.exists() and original.exists() and path.samefile(original):
        raise FileError(f"'{path}' is the original; write the release to another file")
    for target in (path, manifest_path(path)):
        if target.is_dir():
            raise FileError(f"'{target}' is a folder; name a file in it, or remove it")
    if not path.parent.is_dir():
        raise FileError(f"the folder '{path.parent}' is not there; make it first")
    if not os.access(path.parent, os.W_OK):
        raise FileError(f"the folder '{path.parent}' cannot be written to; choose another one")


def manifest_path(path: Path) -> Path:
    """Return where the manifest of a release is written: beside it."""
    return path.with_name(path.name + ".manifest.json")


def _size_counts(groups: Ints) -> dict[str, int]:
    """Return how many groups there are of each size."""
    sizes, counts = np.unique(np.bincount(groups), return_counts=True)
    return {str(size): int(count) for size, count in zip(sizes, counts, strict=True)}


def shoal_version() -> str:
    """Return the version of shoal that is installed."""
    try:
        return version("shoal")
    except PackageNotFoundError:
        return "0+source"


def _versions() -> dict[str, str]:
    return {
        "python": platform.python_version(),
        **{name: version(name) for name in ("numpy", "numba", "polars", "narwhals")},
    }
