"""A plan that leaves the house: the files that it names without their folders, and found again beside others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from shoal.plan.hierarchies import HierarchySettings
from shoal.plan.plan import Plan


def without_folders(plan: Plan) -> Plan:
    """Return a plan in which files are named without the folders that they are in, which say where somebody works.

    >>> plan = Plan(k=2, quasi_identifiers=["a"], rules="/home/ada/edits.rules")
    >>> without_folders(plan).rules_file
    'edits.rules'
    """
    return _renamed(plan, lambda name: Path(name).name)


def beside(plan: Plan, folders: Sequence[Path]) -> Plan:
    """Return a plan in which files that are not where it says are those of the same name in one of some folders."""

    def found(name: str) -> str:
        places = [folder / Path(name).name for folder in folders]
        return name if Path(name).is_file() else next((str(place) for place in places if place.is_file()), name)

    return _renamed(plan, found)


def _renamed(plan: Plan, rename: Callable[[str], str]) -> Plan:
    hierarchies = {name: _hierarchy(settings, rename) for name, settings in plan.hierarchies.items()}
    rules = plan.rules_file and rename(plan.rules_file)
    return plan.model_copy(update={"hierarchies": hierarchies, "rules_file": rules})


def _hierarchy(settings: HierarchySettings, rename: Callable[[str], str]) -> HierarchySettings:
    file, wordnet = settings.file and rename(settings.file), settings.wordnet
    if wordnet:
        words = rename(wordnet.words) if isinstance(wordnet.words, str) else wordnet.words
        wordnet = wordnet.model_copy(update={"words": words, "folder": wordnet.folder and rename(wordnet.folder)})
    return settings.model_copy(update={"file": file, "wordnet": wordnet})
