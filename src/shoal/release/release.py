"""What comes out: the protected table, its groups, the summary and the manifest."""

from __future__ import annotations

import json
import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import FileError, MissingExtra, counted, ranged
from shoal.kernels.arrays import Ints
from shoal.plan.files_read import Inputs, files_read
from shoal.plan.folders import without_folders
from shoal.plan.plan import Plan
from shoal.release.certificate import certificate_text, check_certificate
from shoal.release.elsewhere import check_elsewhere, check_manifest, elsewhere, sent
from shoal.release.notebook import release_fragment
from shoal.release.searching import Proof
from shoal.release.summary import Summary
from shoal.tables.files import Source, check_writable, checksum, write_file
from shoal.tables.files.writing_whole import check_target, encoded, write_whole, written_whole
from shoal.tables.manifest import manifest_path
from shoal.tables.table import open_table

if TYPE_CHECKING:
    from shoal.measures.measured import Measures
    from shoal.rules.guard import RuleGuard


@dataclass(frozen=True, kw_only=True)
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
    original
        The table that went in, which is held on to so that the release can be measured. Never written anywhere.
    guard : RuleGuard or None
        The edit rules, which are checked on every file that is written.
    steps_again : int or None
        The steps with which the plan makes this release again, where it was free to end at any time.
    proof : Proof or None
        What proves a lower bound, where one was asked for; see :meth:`certificate`.
    """

    data: Any
    groups: Ints
    summary: Summary
    plan: Plan
    timings: dict[str, float] = field(default_factory=dict)
    source: Source | None = None
    original: Any = field(default=None, repr=False)
    guard: RuleGuard | None = field(default=None, repr=False)
    steps_again: int | None = None
    proof: Proof | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        s = self.summary
        return (
            f"<Release of {counted(s.records, 'record')} in {counted(s.groups, 'group')} of "
            f"{ranged(s.smallest_group, s.largest_group, 'record')}, "
            f"method {s.method}, k = {s.k}, information loss {s.information_loss:.4g} %>"
        )

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        return release_fragment(self.summary)

    def write(
        self,
        path: str | Path,
        report: str | Path | None = None,
        *,
        certificate: str | Path | None = None,
        manifest: str | Path | None = None,
        overwrite: bool = True,
    ) -> Path | None:
        """Write the table, and beside it the manifest; returns the path of the manifest.

        With ``report`` also the internal edition of the report, which then names the file and its checksum, and with
        ``certificate`` that of the lower bound, which is for those who may see the original, too. All appear
        whole or not at all. A file from a text or statistical format goes back to it in the same form. Edit rules are
        checked on the file as it was written: where one that held does not hold any more, nothing appears.

        Files that are there already are replaced, with ``overwrite=False`` refused, and keep their permissions; new
        ones are open to nobody to whom the original is not. No file that the release was made from is replaced.

        ``-`` is standard output, and ``postgresql://HOST/DATABASE#TABLE`` a new table, with another beside it,
        ``TABLE_manifest``, in the same transaction; ``manifest`` names a file for the manifest of these, and None is
        returned where it says nothing.
        """
        check_manifest(manifest, elsewhere(path), self._files_read(), overwrite)
        if elsewhere(path):
            return self._send(path, report, certificate, manifest, overwrite)
        path = Path(path)
        path = path.resolve() if path.is_symlink() else path
        check_output(path, self._files_read(), overwrite)
        beside = manifest_path(path)
        pages = [] if report is None else [Path(report)]
        if report is not None:
            check_report(Path(report), self._files_read(), overwrite, beside=(path, beside))
        proofs = [] if certificate is None else [Path(certificate)]
        for proof in proofs:
            check_certificate(proof, self.plan.options, self._files_read(), overwrite, beside=(path, beside, *pages))
        frame = open_table(self.data).to_polars()
        released = self._released()
        with written_whole(path, beside, *pages, *proofs, like=self._private(), overwrite=overwrite) as part:
            write_file(frame, part(path), self.source, released)
            if self.guard:
                self.guard.check_file(part(path), frame, self.source, self.plan.reading)
            content = self.manifest(output=part(path), name=path.name)
            part(beside).write_bytes(encoded(json.dumps(content, indent=2, ensure_ascii=False) + "\n"))
            for page in pages:
                from shoal import report_page  # it needs this module

                text = report_page(self, output=(path.name, content["output"]["sha256"]))
                part(page).write_bytes(encoded(text))
            for proof in proofs:
                part(proof).write_bytes(encoded(certificate_text(self.proof, self.plan, self.source)))
        return beside

    def _send(
        self,
        path: str | Path,
        report: str | Path | None,
        certificate: str | Path | None,
        manifest: str | Path | None,
        overwrite: bool,
    ) -> Path | None:
        """Write the table to standard output or a server, and the files that go with it when it has arrived."""
        place = elsewhere(path)
        assert place is not None
        pages = {Path(name): what for name, what in ((report, "report"), (certificate, "certificate")) if name}
        if report is not None:
            check_report(Path(report), self._files_read(), overwrite)
        if certificate is not None:
            check_certificate(Path(certificate), self.plan.options, self._files_read(), overwrite)
        told = [] if manifest is None else [Path(manifest)]
        frame = open_table(self.data).to_polars()
        released = self._released()
        sending = None
        try:
            with (
                written_whole(*told, *pages, like=self._private(), overwrite=overwrite) as part,
                sent(frame, place, self.source, released, overwrite) as sending,
            ):
                if self.guard and sending.file:
                    self.guard.check_file(sending.file, frame, self.source, self.plan.reading)
                content = self.manifest(output=sending.file, name=sending.name)
                sending.tell(content)
                for own in told:
                    part(own).write_bytes(encoded(json.dumps(content, indent=2, ensure_ascii=False) + "\n"))
                for page, what in pages.items():
                    from shoal import report_page  # it needs this module

                    sha256 = content.get("output", {}).get("sha256", "")
                    text = report_page(self, output=(sending.name, sha256)) if what == "report" else None
                    part(page).write_bytes(encoded(text or certificate_text(self.proof, self.plan, self.source)))
        except FileError as error:
            if sending is None or not sending.arrived:
                raise
            reason = str(error).removesuffix("; nothing was written")
            raise type(error)(f"{reason}; {sending.arrived} before") from None
        return told[0] if told else None

    def certificate(self, path: str | Path, *, overwrite: bool = True) -> Path:
        """Write what proves the lower bound, for tools/check_certificate.py to check; returns its path.

        It has the group and a price of each record, so that it is for those who may see the original.

        Parameters
        ----------
        path : path
            Where to write it, ``.json``.
        overwrite : bool
            Whether to replace a file that is there already.
        """
        path = Path(path)
        check_certificate(path, self.plan.options, self._files_read(), overwrite)
        write_whole(
            path, certificate_text(self.proof, self.plan, self.source), like=self._private(), overwrite=overwrite
        )
        return path

    def _files_read(self) -> Inputs:
        return files_read(dict(self.plan), original=self.source and self.source.path)

    def _released(self) -> set[str]:
        """Return the columns of which no cell is written as it was in the original."""
        return {*(name for part in self.plan.quasi_identifiers for name in part), *self.plan.replaced}

    def _private(self) -> list[Path]:
        """Return the file whose permissions are the most that new files get."""
        return [self.source.path] if self.source and self.source.path else []

    def report(
        self,
        path: str | Path,
        *,
        edition: str = "internal",
        threads: int | None = None,
        progress: bool | None = None,
        overwrite: bool = True,
    ) -> Path:
        """Write a report of the release, as one HTML file that needs no network; returns its path.

        Parameters
        ----------
        path : path
            Where to write it, ``.html`` or ``.htm``.
        edition : {"internal", "external"}
            For those who may see the original, or to go with the release: without anything that helps an intruder.
        threads, progress
            As for :meth:`measure`.
        overwrite : bool
            Whether to replace a file that is there already.
        """
        from shoal import report_page  # it needs this module

        path = Path(path)
        check_report(path, self._files_read(), overwrite)
        text = report_page(self, edition, threads=threads, progress=progress)
        write_whole(path, text, like=self._private(), overwrite=overwrite)
        return path

    def measure(
        self,
        *,
        known: str | Sequence[str] | None = None,
        blocking: str | Sequence[str] | None = None,
        population: Any = None,
        unique_columns: int | None = None,
        threads: int | None = None,
        progress: bool | None = None,
    ) -> Measures:
        """Measure what the release keeps of its original and what it risks, with the roles and kinds of the plan.

        See :func:`shoal.measure`; for other columns or roles call that with ``release.original`` and ``release.data``.
        """
        from shoal.measures.measurement import measure  # it needs the pipeline, which needs this module

        measured = {name for part in self.plan.quasi_identifiers for name in part}  # others have kinds for conditions
        return measure(
            self.original,
            self.data,
            self.plan.quasi_identifiers,
            confidential=self.plan.confidential,
            weight=self.plan.weight,
            known=known,
            blocking=blocking,
            population=population,
            hierarchies={name: own for name, own in self.plan.hierarchies.items() if name in measured},
            orders={name: own for name, own in self.plan.orders.items() if name in measured},
            nominal=[name for name in self.plan.nominal if name in measured],
            column_weights=self.plan.column_weights,
            # without categories there is no distance of records that mix kinds
            scaling=None if self.summary.record_loss is None else self.plan.scaling,
            unique_columns=unique_columns,
            threads=threads,
            progress=progress,
        )

    def manifest(self, output: Path | None = None, name: str | None = None) -> dict[str, Any]:
        """Return what it takes to make the release again and to recognise it.

        Plan, versions, checksums, group sizes and timings.
        """
        content: dict[str, Any] = {
            "shoal": self.summary.version,
            "plan": without_folders(self.plan).to_dict(),
            **self._again(),
            "seed": self.plan.seed,
            "versions": versions(),
        }
        if self.source:
            content["input"] = self.source.described()
        if self.guard and self.guard.file_checksum:
            content["rules"] = {"name": Path(self.plan.rules_file or "").name, "sha256": self.guard.file_checksum}
        files = {name: Path(own.file) for name, own in self.plan.hierarchies.items() if own.file}
        if files:
            content["hierarchies"] = {
                name: {"name": path.name, "sha256": checksum(path) if path.is_file() else None}
                for name, path in files.items()
            }
        if name:
            content["output"] = {"name": name, **({"sha256": checksum(output)} if output else {})}
        content["group_sizes"] = [_size_counts(column) for column in np.atleast_2d(self.groups.T)]
        content["summary"] = self.summary.to_dict()
        content["timings"] = self.timings
        return content

    def _again(self) -> dict[str, Any]:
        """Return the plan that makes this release again, where that is not the plan itself: steps for a time."""
        if self.steps_again is None:
            return {}
        options = {name: value for name, value in self.plan.options.items() if name not in ("time", "gap", "bound")}
        again = self.plan.model_copy(update={"options": {**options, "steps": self.steps_again}})
        return {"plan_again": without_folders(again).to_dict()}


def check_output(output: str | Path, inputs: Inputs = (), overwrite: bool = True) -> None:
    """Refuse a path that a release cannot be written to, before any work is done."""
    place = elsewhere(output)
    if place is not None:
        check_elsewhere(place, overwrite)
        return
    path = Path(output)
    check_writable(path)
    for target in (path, manifest_path(path)):
        check_target(target, inputs, overwrite)


def check_report(path: Path, inputs: Inputs = (), overwrite: bool = True, beside: Sequence[Path] = ()) -> None:
    """Refuse a path that a report cannot be written to, and a report that cannot be made, before any work is done.

    ``beside`` are files that are written with it.
    """
    if path.suffix.lower() not in (".html", ".htm"):
        raise FileError(f"'{path}': a report is written to a file that ends in .html")
    if any(path.resolve() == other.resolve() for other in beside):
        raise FileError(f"'{path}' is one of the other files; write the report to a file of its own")
    check_target(path, inputs, overwrite)
    if not all(map(find_spec, ("altair", "jinja2", "vl_convert"))):
        raise MissingExtra("a report", "report")


def _size_counts(groups: Ints) -> dict[str, int]:
    """Return how many groups there are of each size."""
    sizes, counts = np.unique(np.bincount(groups), return_counts=True)
    return {str(size): int(count) for size, count in zip(sizes, counts, strict=True)}


def versions() -> dict[str, str]:
    """Return the versions of what the kernels and the tables depend on."""
    return {
        "python": platform.python_version(),
        **{name: version(name) for name in ("numpy", "numba", "polars", "narwhals")},
    }
