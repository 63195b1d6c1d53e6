"""The files that a run reads, which none of its output may replace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from shoal.plan.hierarchies import HierarchySettings
from shoal.plan.rules import is_file

Inputs = Sequence[tuple[str, Path]]
"""What a file is to the run that reads it, such as "the original", and where it is."""


def files_read(
    settings: Mapping[str, Any], *, original: object = None, plan: object = None, tables: Iterable[object] = ()
) -> Inputs:
    """Return the files among what was given: tables, plan, hierarchies and rules, by what they are.

    Settings need not be valid; what is wrong with them is told elsewhere.

    >>> settings = {"hierarchies": {"job": "jobs.csv"}, "rules": "edits.rules"}
    >>> [(what, path.name) for what, path in files_read(settings, original="people.csv")]
    [('the original', 'people.csv'), ("the hierarchy of 'job'", 'jobs.csv'), ('the file of rules', 'edits.rules')]
    """
    found: list[tuple[str, object]] = [("the original", original), ("the plan", plan)]
    found += [("one of the tables", table) for table in tables]
    hierarchies = settings.get("hierarchies")
    if isinstance(hierarchies, Mapping):
        for column, source in hierarchies.items():
            found += [(f"the hierarchy of '{column}'", path) for path in _hierarchy_files(source)]
    rules = settings.get("rules")
    found += [("the file of rules", settings.get("rules_file")), ("the file of rules", is_file(rules) and rules)]
    return [(what, Path(path)) for what, path in found if isinstance(path, str | Path) and path]


def _hierarchy_files(source: object) -> list[object]:
    """Return the files that a hierarchy comes from."""
    if isinstance(source, HierarchySettings):
        source = source.model_dump()
    if not isinstance(source, Mapping):
        return [source]
    wordnet = source.get("wordnet")
    return [source.get("file"), wordnet.get("words") if isinstance(wordnet, Mapping) else None]
