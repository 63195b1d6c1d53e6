"""What a report tells: gathered from a release, or from two tables and the manifest beside the second."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shoal.columns.hierarchy import load_hierarchy
from shoal.errors import PlanError
from shoal.measures.measured import Measures
from shoal.measures.measurement import Names, measure
from shoal.plan.plan import Plan, Reading, as_reading
from shoal.plan.roles import MEASURABLE
from shoal.plan.version import shoal_version
from shoal.release.declaring import DEFAULT_METHOD
from shoal.release.quasi_identifiers import kind_of
from shoal.release.release import Release, manifest_path
from shoal.report.before_after import ColumnChange, Shape, column_changes, shapes
from shoal.report.editions import Edition
from shoal.report.outlines import Outline, outline
from shoal.tables.files import Source, file_format
from shoal.tables.files.journal import complete_renames
from shoal.tables.reading import read
from shoal.tables.table import Table, open_table

_SUMMARY = {
    "groups": int,
    "smallest_group": int,
    "largest_group": int,
    "sets": list,
    "notes": list,
}  # what is told of it


@dataclass(frozen=True)
class Asked:
    """What was asked for, as far as both editions may tell it."""

    k: int
    method: str
    sets: list[list[str]]
    removed: list[str]
    confidential: list[str]
    weight: str | None
    strata: list[str]


@dataclass(frozen=True)
class Origin:
    """How to make the release again, which only the internal edition tells.

    Attributes
    ----------
    plan : str
        As YAML.
    command : str
        What to type; empty where the table did not come from a file.
    seed : int
        Of the plan.
    versions : dict
        Of Python and of the packages that computed it.
    """

    plan: str
    command: str
    seed: int
    versions: dict[str, str]


@dataclass(frozen=True)
class Facts:
    """Everything that a report of one edition tells.

    Attributes
    ----------
    edition : Edition
        Which it is.
    measures : Measures
        Utility and risk.
    shapes : list of Shape
        The quasi-identifiers before and after.
    changes : list of ColumnChange
        What happened to each column of the original.
    asked : Asked or None
        None where nothing is known of it.
    summary : mapping
        What shoal told of the release when it made it; empty where nothing is known.
    origin : Origin or None
        How to make it again; internal only.
    original, released : tuple of str
        Name and checksum of the files; empty for a table in memory, and of the original in the external edition.
    notes : list of str
        What a reader should know; internal only.
    outlines : list of Outline
        The hierarchies of the quasi-identifiers.
    """

    edition: Edition
    measures: Measures
    shapes: list[Shape]
    changes: list[ColumnChange]
    asked: Asked | None = None
    summary: Mapping[str, Any] = field(default_factory=dict)
    origin: Origin | None = None
    original: tuple[str, str] = ("", "")
    released: tuple[str, str] = ("", "")
    notes: list[str] = field(default_factory=list)
    outlines: list[Outline] = field(default_factory=list)
    version: str = field(default_factory=shoal_version)


def facts_of_release(
    release: Release, edition: Edition, threads: int | None, progress: bool | None, output: tuple[str, str] = ("", "")
) -> Facts:
    """Gather what there is to tell about a release; ``output`` is the name and checksum of its file."""
    measures = release.measure(threads=threads, progress=progress)
    return _facts(
        edition.for_k(release.plan.k),
        measures,
        (open_table(release.original), open_table(release.data)),
        plan=release.plan,
        manifest=release.manifest(),
        original=(release.source.path.name, release.source.sha256) if release.source else ("", ""),
        released=output,
        notes=[*release.summary.notes, *measures.notes],
    )


def facts_of_tables(
    original: Any,
    released: Any,
    quasi_identifiers: Names | Sequence[Sequence[str]],
    edition: Edition,
    *,
    confidential: Names,
    weight: str | None,
    known: Names,
    reading: Reading | Mapping[str, Any] | None,
    threads: int | None,
    progress: bool | None,
) -> Facts:
    """Gather what there is to tell about two tables or files, whoever made the second."""
    manifest, notes = _manifest_of(released)
    plan = _plan_of(manifest, notes)
    sources, tables = _read_both(original, released, as_reading(reading), plan)
    files = [(source.path.name, source.sha256) if source else ("", "") for source in sources]
    notes += [f"{source.path.name}: {note}" for source in sources if source for note in source.notes]
    if plan and not _belongs(manifest, files, notes):
        manifest, plan = {}, None
    if plan and quasi_identifiers is None:
        quasi_identifiers = plan.quasi_identifiers
        confidential = confidential if confidential is not None else plan.confidential
        weight = weight if weight is not None else plan.weight
    measures = measure(
        tables[0].native,
        tables[1].native,
        quasi_identifiers,
        confidential=confidential,
        weight=weight,
        known=known,
        **(_columns_of(plan, tables[0], _flat(quasi_identifiers), notes) if plan else {}),
        threads=threads,
        progress=progress,
    )
    edition = edition.for_k(plan.k) if plan else edition
    told = [*manifest.get("summary", {}).get("notes", []), *notes, *measures.notes]
    return _facts(
        edition,
        measures,
        tables,
        plan=plan,
        manifest=manifest,
        original=files[0],
        released=files[1],
        notes=list(dict.fromkeys(told)),
    )


def _facts(
    edition: Edition,
    measures: Measures,
    tables: tuple[Table, Table],
    *,
    plan: Plan | None,
    manifest: Mapping[str, Any],
    original: tuple[str, str],
    released: tuple[str, str],
    notes: list[str],
) -> Facts:
    before_after = shapes(*tables, measures.numeric, measures.categorical, edition.least, edition.bins)
    order = {name: place for place, name in enumerate(measures.quasi_identifiers)}
    return Facts(
        edition=edition,
        measures=measures,
        shapes=sorted(before_after, key=lambda shape: order[shape.name]),
        changes=column_changes(*tables),
        asked=_asked(plan) if plan else None,
        summary=manifest.get("summary", {}),
        origin=_origin(plan, manifest, original, released[0]) if plan and edition.internal else None,
        original=original if edition.internal else ("", ""),
        released=released,
        notes=notes if edition.internal else [],
        outlines=_outlines(plan, measures, tables, edition),
    )


def _outlines(plan: Plan | None, measures: Measures, tables: tuple[Table, Table], edition: Edition) -> list[Outline]:
    """Draw the hierarchies that the measures are by."""
    drawn = []
    for name in measures.semantic:
        values = [cell for table in tables for cell, there in zip(*table.cells(name), strict=True) if there]
        assert plan is not None
        hierarchy = load_hierarchy(plan.hierarchies[name], dict.fromkeys(map(str, values)))
        drawn.append(outline(name, hierarchy, *tables, edition.least))
    return drawn


def _columns_of(plan: Plan, table: Table, names: Sequence[str], notes: list[str]) -> dict[str, Any]:
    """Return what a plan says about columns that are measured; a hierarchy only where its file is still there."""
    hierarchies = {}
    for name, settings in plan.hierarchies.items():
        if settings.file and not Path(settings.file).is_file():
            notes.append(f"the hierarchy of '{name}' is not where it was, so its loss is not by meaning")
        elif name in names:
            hierarchies[name] = settings
    numbers = [kind_of(table, name, plan) in MEASURABLE for name in names if name in table.names]
    return {
        "hierarchies": hierarchies,
        "orders": {name: levels for name, levels in plan.orders.items() if name in names},
        "nominal": [name for name in plan.nominal if name in names],
        "column_weights": {name: weight for name, weight in plan.column_weights.items() if name in names},
        "scaling": plan.scaling if any(numbers) and not all(numbers) else None,
    }


def _flat(names: Any) -> list[str]:
    return [names] if isinstance(names, str) else [name for part in names for name in _flat(part)]


def _asked(plan: Plan) -> Asked:
    return Asked(
        plan.k,
        plan.method or DEFAULT_METHOD,
        [list(part) for part in plan.quasi_identifiers],
        list(plan.identifiers),
        list(plan.confidential),
        plan.weight,
        list(plan.strata),
    )


def _origin(plan: Plan, manifest: Mapping[str, Any], original: tuple[str, str], released: str) -> Origin:
    name, sha256 = original
    command = ""
    if name:
        ending = "".join(Path(name).suffixes) if file_format(Path(name)).write else ".csv"
        output = released or f"release{ending}"
        words = [shlex.quote(f"./{word}" if word.startswith("-") else word) for word in (name, output)]
        check = f"echo {shlex.quote(f'{sha256}  {name}')} | sha256sum --check"
        command = f"{check}\nshoal protect {words[0]} -o {words[1]} --plan plan.yaml"
    versions = {"shoal": manifest.get("shoal", shoal_version()), **manifest.get("versions", {})}
    return Origin(plan.to_yaml(), command, plan.seed, versions)


def _read_both(
    original: Any, released: Any, reading: Reading, plan: Plan | None
) -> tuple[list[Source | None], tuple[Table, Table]]:
    """Read both tables; how the plan of the release had its original read is how text is read here too."""
    texts = [isinstance(one, str | Path) and file_format(Path(one)).reading for one in (original, released)]
    if reading != Reading() and not any(texts):
        raise PlanError("reading: has no effect, since none of the tables is a text file")
    if reading == Reading() and plan:
        reading = plan.reading
    (source, before), (other, after) = (
        read(one, {"reading": reading} if text else {}) for one, text in zip((original, released), texts, strict=True)
    )
    return [source, other], (before, after)


def _manifest_of(released: Any) -> tuple[dict[str, Any], list[str]]:
    """Return the manifest beside a file, or nothing and why."""
    path = manifest_path(Path(released)) if isinstance(released, str | Path) else None
    if path is None:
        return {}, []
    complete_renames(path.parent)
    if not os.path.isfile(path):  # noqa: PTH113 - is_file() raises where a name is too long
        return {}, []
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        shaped = isinstance(content["plan"], dict) and all(
            isinstance(content["summary"][name], kind) for name, kind in _SUMMARY.items()
        )
    except (OSError, ValueError, KeyError, TypeError):
        shaped = False
    if not shaped:
        return {}, [f"the manifest '{path.name}' cannot be read, so what was asked for is not known"]
    return content, []


def _plan_of(manifest: Mapping[str, Any], notes: list[str]) -> Plan | None:
    if not manifest:
        return None
    try:
        return Plan(**manifest["plan"])
    except (PlanError, TypeError):
        notes.append("the plan in the manifest is not one of this version of shoal, so it is left out")
        return None


def _belongs(manifest: Mapping[str, Any], files: Sequence[tuple[str, str]], notes: list[str]) -> bool:
    """Whether the manifest is that of these files, by their checksums."""
    for what, name, (_, sha256) in zip(("original", "release"), ("input", "output"), files, strict=True):
        named = manifest.get(name, {})
        expected = named.get("sha256") if isinstance(named, dict) else None
        if sha256 and expected and expected != sha256:
            notes.append(
                f"the manifest beside the release is about another {what}: its checksum differs, so the manifest is "
                "left out"
            )
            return False
    return True
