"""A release that is differentially private: what is told of it is made of the plan, the number of records and noise."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from shoal.errors import PlanError, counted
from shoal.kernels.arrays import Ints
from shoal.measures.figures import NamedFigures
from shoal.plan.files_read import Inputs
from shoal.plan.plan import Plan
from shoal.plan.privacy import refusal
from shoal.plan.version import shoal_version
from shoal.release.elsewhere import elsewhere
from shoal.release.release import check_output, versions
from shoal.release.unmeasured import UnmeasuredRelease
from shoal.tables.files import checksum, write_file
from shoal.tables.files.writing_whole import encoded, written_whole
from shoal.tables.manifest import manifest_path
from shoal.tables.table import open_table

EXPERIMENTAL = "differential privacy is experimental, and nobody has reviewed it; see docs/differential-privacy.md"
_MUCH = 0.25  # part of the range of a column from which the noise of a mean is told to be large


@dataclass(frozen=True)
class PrivateColumn:
    """How a column was made.

    Attributes
    ----------
    bounds : tuple of float
        Its least and largest value, as the plan says.
    epsilon : str
        Its part of the budget, exactly.
    scale : float
        Scale of the noise of a mean of k values: its mean distance from 0, and the standard deviation over the root of
        2.
    """

    bounds: tuple[float, float]
    epsilon: str
    scale: float


@dataclass(frozen=True)
class PrivateSummary(NamedFigures):
    """What was done; also a mapping of its names to its values. Nothing in it depends on the values of the table.

    Attributes
    ----------
    epsilon, k : float, int
        As asked for.
    records, groups, smallest_group, largest_group : int
        Rows of the table, which are public, and what follows from them for all sets together.
    columns : dict of PrivateColumn
        How each column was made.
    guarantee : str
        What is promised, in a sentence.
    experimental : bool
        True.
    notes : list of str
        What a user should know about this release.
    version : str
        Of shoal.
    """

    epsilon: float
    k: int
    records: int
    groups: int
    smallest_group: int
    largest_group: int
    columns: dict[str, PrivateColumn]
    guarantee: str
    experimental: bool
    notes: list[str]
    version: str

    @staticmethod
    def of(plan: Plan, records: int, sizes: Sequence[Ints], columns: dict[str, PrivateColumn]) -> PrivateSummary:
        """Put together what is told."""
        asked = plan.differential_privacy
        assert asked is not None
        every = np.concatenate(sizes)
        return PrivateSummary(
            epsilon=asked.epsilon,
            k=plan.k,
            records=records,
            groups=len(every),
            smallest_group=int(every.min()),
            largest_group=int(every.max()),
            columns=columns,
            guarantee=guarantee(asked.epsilon, records),
            experimental=True,
            notes=[EXPERIMENTAL, *_notes(plan, columns)],
            version=shoal_version(),
        )


def guarantee(epsilon: float, records: int) -> str:
    """Say what is promised.

    >>> guarantee(1.0, 300)[:66]
    '1-differential privacy: for any two tables of 300 records of which'
    """
    return (
        f"{epsilon:g}-differential privacy: for any two tables of {counted(records, 'record')} of which one record "
        f"differs, no release is more than exp({epsilon:g}) times as likely from one as from the other; the plan, the "
        "number of records and the names and types of columns are public, and every further release of the same "
        "persons adds its own epsilon"
    )


def _notes(plan: Plan, columns: dict[str, PrivateColumn]) -> list[str]:
    notes = ["rows of the release are those of nobody: values were put in an order that is drawn at random"]
    if len(plan.quasi_identifiers) > 1:
        notes.append(
            "how columns of different sets go together is not released; put columns into one set to keep that, at the "
            "price of more noise"
        )
    loud = [
        f"'{name}' ({100 * own.scale / (own.bounds[1] - own.bounds[0]):.0f} %)"
        for name, own in columns.items()
        if own.scale >= _MUCH * (own.bounds[1] - own.bounds[0])
    ]
    if loud:
        notes.append(
            f"the noise of a mean is large beside the range of {', '.join(loud)}; a larger k or epsilon, fewer "
            "columns, or sets of one column make it smaller"
        )
    return notes


@dataclass(frozen=True, kw_only=True)
class PrivateRelease(UnmeasuredRelease):
    """A release that is differentially private, which is experimental.

    Attributes
    ----------
    data
        The table, of the same kind as the one that went in, with new rows.
    summary : PrivateSummary
        What was done.
    plan : Plan
        What was asked for.
    groups : int64 (0,)
        Empty: who was in which group is not released.
    inputs : sequence
        Files that it was made from, which it never replaces.
    """

    summary: PrivateSummary = field()  # type: ignore[assignment]  # has no figure that depends on the table
    groups: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    inputs: Inputs = field(default=(), repr=False)

    def __repr__(self) -> str:
        s = self.summary
        return (
            f"<PrivateRelease of {counted(s.records, 'record')} in {counted(s.groups, 'group')}, k = {s.k}, "
            f"epsilon = {s.epsilon:g}, experimental>"
        )

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        return f"<p>{self.summary.guarantee}.</p><p>{EXPERIMENTAL}.</p>"

    def write(
        self,
        path: str | Path,
        report: str | Path | None = None,
        *,
        certificate: str | Path | None = None,
        manifest: str | Path | None = None,
        overwrite: bool = True,
    ) -> Path:
        """Write the table, and beside it the manifest; returns the path of the manifest."""
        if report is not None or certificate is not None:
            self.refuse("reports and certificates")
        path = check_private_output(path, manifest, self.inputs, overwrite)
        beside = manifest_path(path)
        with written_whole(path, beside, overwrite=overwrite) as part:
            write_file(open_table(self.data).to_polars(), part(path), None, ())
            content = self.manifest(output=part(path), name=path.name)
            part(beside).write_bytes(encoded(json.dumps(content, indent=2, ensure_ascii=False) + "\n"))
        return beside

    def manifest(self, output: Path | None = None, name: str | None = None) -> dict[str, Any]:
        """Return what it takes to recognise the release, and what it promises.

        Neither a seed nor a checksum of the original, a time or a figure that depends on values of the table is in it.
        """
        plan = self.plan.to_dict()
        plan.pop("reading", None)  # marks of missing values are found by looking
        content: dict[str, Any] = {
            "shoal": self.summary.version,
            "guarantee": self.summary.guarantee,
            "plan": plan,
            "versions": versions(),
            "summary": self.summary.to_dict(),
        }
        if name:
            content["output"] = {"name": name, **({"sha256": checksum(output)} if output else {})}
        return content

    def why_not(self, what: str) -> str:
        """Say why something is not to be had of this release."""
        return refusal(what)


def check_private_output(path: str | Path, manifest: str | Path | None, inputs: Inputs, overwrite: bool) -> Path:
    """Refuse a path that such a release cannot be written to, before any work is done."""
    if elsewhere(path) is not None or manifest is not None:
        raise PlanError("differential_privacy: the release is written to a file, with its manifest beside it")
    check_output(path, inputs, overwrite)
    path = Path(path)
    return path.resolve() if path.is_symlink() else path
