"""The manifest beside a release: where it is, what it says of the plan, and whether it is that of the files at hand."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from shoal.errors import PlanError
from shoal.plan.plan import Plan
from shoal.tables.files.journal import complete_renames
from shoal.tables.files.places import Address, is_stream, place_of
from shoal.tables.files.postgresql import manifest_table, read_manifest_table

_SUMMARY = {  # what is told of the summary
    "groups": int,
    "smallest_group": int,
    "largest_group": int,
    "sets": list,
    "notes": list,
}


def manifest_path(path: Path) -> Path:
    """Return where the manifest of a release is written: beside it."""
    return path.with_name(path.name + ".manifest.json")


def read_manifest(released: object) -> tuple[dict[str, Any], list[str]]:
    """Return the manifest beside a file or a table of a server, or nothing and why."""
    name, text = _text_beside(released) if isinstance(released, str | Path) else ("", None)
    if text is None:
        return {}, []
    try:
        content = json.loads(text)
        shaped = isinstance(content["plan"], dict) and (
            "differential_privacy" in content["plan"]  # which tells no figure of the original
            or all(isinstance(content["summary"][name], kind) for name, kind in _SUMMARY.items())
        )
    except (ValueError, KeyError, TypeError):
        shaped = False
    if not shaped:
        return {}, [f"the manifest '{name}' cannot be read, so what was asked for is not known"]
    return content, []


def _text_beside(released: str | Path) -> tuple[str, str | None]:
    """Return what a manifest is called, and its text; None where there is none, empty where it cannot be read."""
    place = Path(released) if is_stream(released) else place_of(released)
    if isinstance(place, Address):
        return manifest_table(place.table or ""), read_manifest_table(place)
    path = manifest_path(place)
    complete_renames(path.parent)
    if not os.path.isfile(path):  # noqa: PTH113 - is_file() raises where a name is too long
        return path.name, None
    try:
        return path.name, path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return path.name, ""


def plan_of(manifest: Mapping[str, Any], notes: list[str]) -> Plan | None:
    """Return the plan of a manifest; None where there is none, and a note where it cannot be understood."""
    if not manifest:
        return None
    try:
        return Plan(**manifest["plan"])
    except (PlanError, TypeError):
        notes.append("the plan in the manifest is not one of this version of shoal, so it is left out")
        return None


def belongs(manifest: Mapping[str, Any], checksums: Sequence[str], notes: list[str]) -> bool:
    """Whether the manifest is that of an original and a release, by their checksums; empty ones are not compared."""
    for what, name, sha256 in zip(("original", "release"), ("input", "output"), checksums, strict=True):
        named = manifest.get(name, {})
        expected = named.get("sha256") if isinstance(named, dict) else None
        if sha256 and expected and expected != sha256:
            notes.append(
                f"the manifest beside the release is about another {what}: its checksum differs, so the manifest is "
                "left out"
            )
            return False
    return True
