"""What a report tells: gathered from a release, or from two tables and the manifest beside the second."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shoal.columns.hierarchy import load_hierarchy
from shoal.measures.how_made import HowMade, read_tables
from shoal.measures.measured import Measures
from shoal.measures.measurement import measure_as_asked
from shoal.plan.plan import Plan
from shoal.plan.reading import Reading, as_reading
from shoal.plan.version import shoal_version
from shoal.release.declaring import DEFAULT_METHOD
from shoal.release.release import Release
from shoal.report.before_after import ColumnChange, NumberShape, Shape, column_changes, shapes
from shoal.report.editions import BY_SIZE, INSIDE, Edition
from shoal.report.outlines import Outline, outline
from shoal.tables.files import file_format
from shoal.tables.table import Table, open_table


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
    household: str = ""


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

    @property
    def held_back(self) -> frozenset[str]:
        """Columns of which the edition tells no figure that follows from the sizes of the original's values."""
        return frozenset(shape.name for shape in self.shapes if isinstance(shape, NumberShape) and shape.held_back)

    def tells(self, measure: str) -> bool:
        """Whether the edition tells a measure."""
        if self.edition.internal:
            return True
        return measure not in INSIDE and not (self.held_back and measure in BY_SIZE)

    def loss(self) -> str:
        """Write the information loss: roughly where that of a column is held back, and follows from an exact one."""
        exact = self.measures.information_loss
        return f"about {round(exact, -1):.0f}\N{NO-BREAK SPACE}%" if self.held_back else self.edition.percent(exact)


def facts_of_release(
    release: Release, edition: Edition, measures: Measures, output: tuple[str, str] = ("", "")
) -> Facts:
    """Gather what there is to tell about a release; ``output`` is the name and checksum of its file."""
    return _facts(
        edition.for_k(release.plan.k),
        measures,
        (open_table(release.original), open_table(release.data)),
        plan=release.plan,
        manifest=release.manifest(),
        original=(release.source.name, release.source.sha256) if release.source else ("", ""),
        released=output,
        notes=[*release.summary.notes, *measures.notes],
    )


def facts_of_tables(
    original: Any,
    released: Any,
    edition: Edition,
    made: HowMade,
    *,
    reading: Reading | Mapping[str, Any] | None,
    **given: Any,
) -> Facts:
    """Gather what there is to tell about two tables or files, whoever made the second.

    ``given`` are the arguments of :func:`shoal.measure` beside those.
    """
    made, tables, files = read_tables([original, released], made, as_reading(reading))
    measures = measure_as_asked(made, tables, **given)
    plan, manifest = made.plan, made.manifest
    told = [*manifest.get("summary", {}).get("notes", []), *measures.notes]
    return _facts(
        edition.for_k(plan.k) if plan else edition,
        measures,
        (tables[0], tables[1]),
        plan=plan,
        manifest=manifest,
        original=files[0],
        released=files[1],
        notes=list(dict.fromkeys(told)),
        hierarchies=given.get("hierarchies"),
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
    hierarchies: Mapping[str, Any] | None = None,
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
        origin=_origin(plan, manifest, original, released[0]) if plan and manifest and edition.internal else None,
        original=original if edition.internal else ("", ""),
        released=released,
        notes=notes if edition.internal else [],
        outlines=_outlines({**(plan.hierarchies if plan else {}), **(hierarchies or {})}, measures, tables, edition),
    )


def _outlines(
    sources: Mapping[str, Any], measures: Measures, tables: tuple[Table, Table], edition: Edition
) -> list[Outline]:
    """Draw the hierarchies that the measures are by."""
    drawn = []
    for name in measures.semantic:
        values = dict.fromkeys(str(label) for table in tables for label in table.factor(name).labels)
        drawn.append(outline(name, load_hierarchy(sources[name], values), *tables, edition.least))
    return drawn


def _asked(plan: Plan) -> Asked:
    return Asked(
        plan.k,
        plan.method or DEFAULT_METHOD,
        [list(part) for part in plan.quasi_identifiers],
        list(plan.removed),
        list(plan.confidential),
        plan.weight,
        list(plan.strata),
        plan.household.id if plan.household else "",
    )


def _origin(plan: Plan, manifest: Mapping[str, Any], original: tuple[str, str], released: str) -> Origin:
    name, sha256 = original
    command = ""
    if name and sha256 and not name.endswith("/"):  # one file
        ending = "".join(Path(name).suffixes) if file_format(Path(name)).write else ".csv"
        output = released or f"release{ending}"
        words = [shlex.quote(f"./{word}" if word.startswith("-") else word) for word in (name, output)]
        check = f"echo {shlex.quote(f'{sha256}  {name}')} | sha256sum --check"
        command = f"{check}\nshoal protect {words[0]} -o {words[1]} --plan plan.yaml"
    versions = {"shoal": manifest.get("shoal", shoal_version()), **manifest.get("versions", {})}
    return Origin(plan.to_yaml(), command, plan.seed, versions)
