"""What was asked for when a release was made: from a plan, or from the manifest beside its file.

``measure`` and the report need it alike: which columns are quasi-identifiers, what their values mean, how text is read.
What is said to them directly takes precedence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from shoal.errors import PlanError
from shoal.plan.files_read import Inputs, files_read
from shoal.plan.folders import beside
from shoal.plan.plan import Plan, merge_settings
from shoal.plan.privacy import refusal
from shoal.plan.reading import Reading
from shoal.tables.files import Source, checksum, settings_read
from shoal.tables.manifest import belongs, plan_of, read_manifest
from shoal.tables.reading import read
from shoal.tables.table import Table

_KINDS = ("hierarchies", "orders", "nominal", "column_weights")


@dataclass(frozen=True)
class HowMade:
    """What is known of a release beside its values.

    Attributes
    ----------
    plan : Plan or None
        What it was made with, as far as anybody knows.
    manifest : mapping
        What shoal told of it when it made it; empty where nothing is known, or where a plan was given.
    notes : list of str
        What a user should know about both.
    """

    plan: Plan | None
    manifest: Mapping[str, Any]
    notes: list[str]

    def files(self) -> Inputs:
        """Return the files that the plan names."""
        return files_read({"hierarchies": self.plan.hierarchies}) if self.plan else []


def how_made(original: object, released: object, plan: Plan | str | Path | None = None) -> HowMade:
    """Return what was asked for: a plan that is given, or else that of the manifest beside the release."""
    if plan is not None:
        content: Mapping[str, Any] = {}
        notes: list[str] = []
        found: Plan | None = plan if isinstance(plan, Plan) else Plan(**merge_settings(plan, {}))
    else:
        content, notes = read_manifest(released)
        found = plan_of(content, notes)
    if found and found.differential_privacy:
        raise PlanError(refusal("measures and reports"))
    if found:  # a manifest names files without their folders
        files = [one for one in (plan, released, original) if isinstance(one, str | Path)]
        found = beside(found, [Path(file).parent for file in files])
    return HowMade(found, content, notes)


def read_tables(
    data: Sequence[Any], made: HowMade, reading: Reading
) -> tuple[HowMade, list[Table], list[tuple[str, str]]]:
    """Read an original, its release and perhaps other tables; returns them with names and checksums of their files.

    How the plan had its original read is how text is read here too, unless something is said. A manifest that is not
    that of these files is left out.
    """
    settings = [settings_read(one) for one in data]
    said = {name for name, value in reading if value != Reading.model_fields[name].default}
    without = sorted(said - frozenset().union(*settings))
    if without:
        raise PlanError(f"reading: {', '.join(without)} has no effect on any of the tables; leave it out")
    if reading == Reading() and made.plan:
        reading = made.plan.reading
    sources: list[Source | None] = []
    tables = []
    for one, own in zip(data, settings, strict=True):
        source, table = read(one, {"reading": reading.model_copy(update=_defaults(own))} if own else {})
        sources.append(source)
        tables.append(table)
    files = [(source.name, source.sha256) if source else ("", "") for source in sources]
    notes = [*made.notes, *(f"{s.name}: {note}" for s in sources if s for note in s.notes)]
    if made.manifest and not belongs(made.manifest, [sha256 for _, sha256 in files[:2]], notes):
        return HowMade(None, {}, notes), tables, files
    return replace(made, notes=notes), tables, files


def _defaults(own: frozenset[str]) -> dict[str, Any]:
    """Return the settings that have no effect on a table, as if nothing was said about them."""
    return {name: field.default for name, field in Reading.model_fields.items() if name not in own}


def settle(made: HowMade, tables: Sequence[Table], given: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return what to measure and how, by the names of the arguments of ``measure``, and what to tell about that.

    ``given`` is what was said directly, None where nothing was. The rest is taken from the plan: roles, as far as they
    do not contradict it, and what columns mean, a hierarchy only where its file is still there.
    """
    settled, notes, plan = dict(given), list[str](), made.plan
    if plan is None:
        return settled, notes
    if settled["quasi_identifiers"] is None:
        settled["quasi_identifiers"] = [list(part) for part in plan.quasi_identifiers]
        where = "the manifest beside the release" if made.manifest else "the plan"
        notes.append(f"the quasi-identifiers are those of {where}")
    measured = set(flat(settled["quasi_identifiers"]))
    there = set(tables[0].names) & set(tables[1].names)
    if settled["confidential"] is None:
        settled["confidential"] = [name for name in plan.confidential if name in there - measured]
    if settled["weight"] is None and plan.weight not in measured:
        settled["weight"] = plan.weight if any(plan.weight in table.names for table in tables[:2]) else None
    said = {name for setting in _KINDS[:3] for name in flat(given[setting])}
    open_columns = measured - said
    planned: dict[str, Any] = {
        "hierarchies": {},
        "orders": {name: levels for name, levels in plan.orders.items() if name in open_columns},
        "nominal": [name for name in plan.nominal if name in open_columns],
        "column_weights": {name: share for name, share in plan.column_weights.items() if name in measured},
    }
    for name, source in plan.hierarchies.items():
        if name not in open_columns:
            continue
        if source.file and not Path(source.file).is_file():
            notes.append(f"the hierarchy of '{name}' is not where it was, so its loss is not by meaning")
            continue
        if source.file and _changed(made.manifest, name, Path(source.file)):
            notes.append(f"the hierarchy of '{name}' is another than that of the release: its loss is by this one")
        planned["hierarchies"][name] = source
    for setting, own in planned.items():
        more = given[setting]
        if setting == "nominal":
            settled[setting] = [*own, *flat(more)]
        elif more is None or isinstance(more, Mapping):  # anything else is a mistake, and told as one
            settled[setting] = {**own, **(more or {})}
    if settled["scaling"] is None:
        settled["scaling"] = plan.scaling
    return settled, notes


def _changed(manifest: Mapping[str, Any], column: str, file: Path) -> bool:
    """Whether a manifest has the checksum of another file for the hierarchy of a column."""
    known = manifest.get("hierarchies")
    own = known.get(column) if isinstance(known, dict) else None
    expected = own.get("sha256") if isinstance(own, dict) else None
    return bool(expected) and checksum(file) != expected


def flat(names: Any) -> list[str]:
    """Return names that are given alone, in a list, in sets or as the keys of settings; None is none.

    >>> flat("a"), flat([["a", "b"], ["c"]]), flat({"a": 1}), flat(None)
    (['a'], ['a', 'b', 'c'], ['a'], [])
    """
    if names is None:
        return []
    if isinstance(names, str) or not isinstance(names, Iterable):
        return [names]  # what is no name is left to others to report
    return [name for part in names for name in flat(part)]
