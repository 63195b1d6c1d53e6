"""A release whose rows an engine has: nothing of it is in memory but the summary."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from shoal.engines.choosing import writes_one_file
from shoal.engines.engine import Engine
from shoal.engines.parquet import single_file
from shoal.errors import FileError, PlanError, listed
from shoal.measures.measured import Measures
from shoal.plan.files_read import Inputs
from shoal.plan.folders import without_folders
from shoal.release.declaring import Declared
from shoal.release.release import check_output, versions
from shoal.release.unmeasured import UnmeasuredRelease
from shoal.tables.files import checksum
from shoal.tables.files.journal import new_token, own_name
from shoal.tables.files.writing_whole import encoded, same_file, write_whole, written_whole
from shoal.tables.manifest import manifest_path


@dataclass(frozen=True, kw_only=True)
class EngineRelease(UnmeasuredRelease):
    """A release whose rows an engine has.

    Attributes
    ----------
    engine : Engine
        What has the rows. ``data`` is a table of the kind that went in; ``groups`` is empty.
    declared : Declared
        The plan as it fits the table.
    sizes : list of dict
        How many groups there are of each size, by set of quasi-identifiers.
    """

    engine: Engine = field(repr=False)
    declared: Declared = field(repr=False)
    sizes: list[Mapping[int, int]] = field(default_factory=list)

    def write(
        self,
        path: str | Path,
        report: str | Path | None = None,
        *,
        certificate: str | Path | None = None,
        manifest: str | Path | None = None,
        overwrite: bool = True,
    ) -> Path:
        """Write the rows in their order, to a Parquet file or a new folder of them, and the manifest beside it.

        Returns the path of the manifest. A folder must not be there yet, or be empty. All appears whole or not at all.
        """
        if report is not None or certificate is not None:
            self.refuse("reports and certificates")
        if manifest is not None:
            raise PlanError("manifest: that of an engine is written beside the release; leave it out")
        path = Path(path)
        check_engine_output(path, self.engine.name, [("the original", one) for one in self.engine.inputs()], overwrite)
        beside = manifest_path(path)
        if single_file(path):
            with written_whole(path, beside, like=self.engine.inputs(), overwrite=overwrite) as part:
                self.engine.write(part(path), self.plan.identifiers)
                content = self.manifest(output=part(path), name=path.name)
                part(beside).write_bytes(encoded(json.dumps(content, indent=2, ensure_ascii=False) + "\n"))
            return beside
        aside = path.with_name(own_name(new_token(), ""))
        try:
            aside.mkdir()
            self.engine.write(aside, self.plan.identifiers)
            content = self.manifest(output=aside, name=path.name)
            if path.is_dir():
                path.rmdir()  # empty, or an error
            aside.rename(path)
        except OSError as error:
            if isinstance(error, FileError):
                raise
            raise FileError(f"cannot write '{path}': {error.strerror or error}; nothing was written") from None
        finally:
            shutil.rmtree(aside, ignore_errors=True)
        write_whole(beside, json.dumps(content, indent=2, ensure_ascii=False) + "\n", overwrite=overwrite)
        return beside

    def manifest(self, output: Path | None = None, name: str | None = None) -> dict[str, Any]:
        """Return what it takes to make the release again and to recognise it."""
        content: dict[str, Any] = {
            "shoal": self.summary.version,
            "plan": without_folders(self.plan).to_dict(),
            "seed": self.plan.seed,
            "versions": versions(),
        }
        if self.engine.inputs():
            content["input"] = {"files": [_named(one) for one in self.engine.inputs()]}
        if output:
            files = [output] if output.is_file() else sorted(output.iterdir())
            content["output"] = {"name": name, **({"sha256": checksum(output)} if output.is_file() else {})}
            if output.is_dir():
                content["output"]["files"] = [_named(one) for one in files]
        content["group_sizes"] = [{str(size): count for size, count in sorted(own.items())} for own in self.sizes]
        content["summary"] = self.summary.to_dict()
        content["timings"] = self.timings
        return content

    def measure(self, **settings: Any) -> Measures:
        """Measure what the release keeps of its original and what it risks, by passes of the engine.

        See :func:`shoal.measure_in_engine` for what is left out.
        """
        if settings:
            raise PlanError(f"{listed(settings)}: has no effect on the measures of an engine; leave it out")
        if self.data is None:
            raise PlanError(
                "the rows were written and let go; use shoal.measure_in_engine on the paths of original and release"
            )
        from shoal.release.measuring import measure_rows  # it needs solvers, which most runs do not

        started = time.perf_counter()
        found = measure_rows(self.engine, self.declared, self.summary.records)
        return replace(found, seconds=round(time.perf_counter() - started, 6))

    def why_not(self, what: str) -> str:
        """Say why something is not to be had of this release."""
        return (
            f"{what} need both tables in memory (engine: {self.engine.name}); write the release, and use shoal.measure "
            "on a part of both that fits"
        )


def check_engine_output(path: Path, engine: str, inputs: Inputs, overwrite: bool) -> None:
    """Refuse a path that the rows of an engine cannot be written to, before any work is done."""
    if single_file(path) and not writes_one_file(engine):
        raise FileError(f"'{path}': {engine.title()} writes a folder of Parquet files; name one that is not there yet")
    if single_file(path):
        check_output(path, inputs, overwrite)
        return
    if path.suffix:
        raise FileError(f"'{path}': an engine writes Parquet; name a file that ends in .parquet, or a folder")
    if path.is_file():
        raise FileError(f"'{path}' is a file; name a folder that is not there yet, or a file that ends in .parquet")
    if path.is_dir() and any(path.iterdir()):
        raise FileError(f"the folder '{path}' is not empty; name one that is not there yet, or empty it")
    if not path.parent.is_dir():
        raise FileError(f"the folder '{path.parent}' is not there; make it first")
    if not os.access(path.parent, os.W_OK):
        raise FileError(f"the folder '{path.parent}' cannot be written to; choose another one")
    if any(same_file(path, read) or path.resolve() in read.resolve().parents for _, read in inputs):
        raise FileError(f"'{path}' holds the original; write to another folder")


def _named(path: Path) -> dict[str, str]:
    return {"name": path.name, "sha256": checksum(path)}
