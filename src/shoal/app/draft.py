"""The plan while it is being made: settings that are changed one by one and need not fit together yet.

Settings are those of :meth:`shoal.Plan.to_dict`, with quasi-identifiers always in sets. A column that stops being a
quasi-identifier takes with it what was said about it as one, so that a plan has no setting without effect.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import shoal

Settings = dict[str, Any]
KEPT = "kept"
ROLES = {
    shoal.Role.IDENTIFIER: "names somebody: removed",
    shoal.Role.QUASI_IDENTIFIER: "could single somebody out: protected",
    shoal.Role.CONFIDENTIAL: "what the table is about: kept as it is, and measured",
    shoal.Role.WEIGHT: "sampling weight",
    shoal.Role.STRATUM: "records of different values are never mixed",
    shoal.Role.HOUSEHOLD: "tells households apart: k counts these",
    KEPT: "kept as it is",
}
_LISTS = {
    shoal.Role.IDENTIFIER: "identifiers",
    shoal.Role.CONFIDENTIAL: "confidential",
    shoal.Role.STRATUM: "strata",
}
_OF_QUASI_IDENTIFIERS = ("hierarchies", "orders", "column_weights", "aggregators", "decimals")
KINDS = {
    "": "as it is",
    "nominal": "names without an order",
    "ordinal": "names in an order",
    "semantic": "with a hierarchy",
}


def proposed(inspection: shoal.Inspection, k: int = 5) -> Settings:
    """Return the settings that looking at a table proposes."""
    try:
        return in_sets(inspection.plan(k).to_dict())
    except shoal.DataError:  # nothing to microaggregate: all else is proposed by the user
        reading = inspection.reading.model_dump(mode="json", exclude_defaults=True)
        return {"k": k, "quasi_identifiers": [], "seed": 0, **({"reading": reading} if reading else {})}


def in_sets(settings: Mapping[str, Any]) -> Settings:
    """Return settings with the quasi-identifiers in sets, as a list of lists."""
    given = settings.get("quasi_identifiers") or []
    sets = [given] if isinstance(given, str) else [*given]
    if sets and all(isinstance(name, str) for name in sets):
        sets = [sets]
    return {**settings, "quasi_identifiers": [list(part) for part in sets]}


def plan_of(settings: Mapping[str, Any]) -> shoal.Plan:
    """Return the plan; raises PlanError with everything that does not fit together."""
    if not any(settings.get("quasi_identifiers") or ()):
        raise shoal.PlanError("there is no quasi-identifier yet; give at least one column that role")
    return shoal.Plan(**settings)


def why_not(settings: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with the settings; nothing where they are a plan."""
    try:
        plan_of(settings)
    except shoal.PlanError as error:
        return error.mistakes
    return []


def roles(settings: Mapping[str, Any]) -> dict[str, str]:
    """Return the role of each column that has one."""
    found = dict.fromkeys(quasi_identifiers(settings), str(shoal.Role.QUASI_IDENTIFIER))
    for role, setting in _LISTS.items():
        found |= dict.fromkeys(settings.get(setting) or (), str(role))
    if settings.get("weight"):
        found[settings["weight"]] = str(shoal.Role.WEIGHT)
    household = _household(settings)
    if household.get("weight"):
        found[household["weight"]] = str(shoal.Role.WEIGHT)
    if household.get("id"):
        found[household["id"]] = str(shoal.Role.HOUSEHOLD)
    return found


def _household(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is said about households, by name."""
    said = settings.get("household")
    return {"id": said} if isinstance(said, str) else dict(said or {})


def quasi_identifiers(settings: Mapping[str, Any]) -> list[str]:
    """Return the quasi-identifiers of all sets."""
    return [name for part in settings.get("quasi_identifiers") or () for name in part]


def give_role(settings: Settings, names: Iterable[str], role: str) -> None:
    """Give columns a role, which takes them out of any other.

    >>> settings = {"quasi_identifiers": [["age", "job"]], "nominal": ["job"]}
    >>> give_role(settings, ["job"], "confidential")
    >>> settings
    {'quasi_identifiers': [['age']], 'confidential': ['job']}
    """
    chosen = list(names)
    if role != KEPT and role not in ROLES:
        raise shoal.PlanError("role: there is no such role")
    if role == shoal.Role.QUASI_IDENTIFIER:
        chosen = [name for name in chosen if name not in quasi_identifiers(settings)]
    sets = [[name for name in part if name not in chosen] for part in settings.get("quasi_identifiers") or ()]
    settings["quasi_identifiers"] = [part for part in sets if part]
    for setting in (*_LISTS.values(), "persons"):
        _without(settings, setting, chosen)
    if settings.get("weight") in chosen:
        del settings["weight"]
    _leave_household(settings, chosen)
    if not settings.get("strata"):
        settings.pop("small_strata", None)
    if role == shoal.Role.QUASI_IDENTIFIER:
        sets = settings["quasi_identifiers"] or [[]]
        sets[0] += chosen
        settings["quasi_identifiers"] = sets if sets[0] else []
        return
    for name in chosen:
        be_of_kind(settings, name, "")
    for setting in _OF_QUASI_IDENTIFIERS:
        _without(settings, setting, chosen)
    if role in _LISTS:
        listed = _LISTS[shoal.Role(role)]
        settings[listed] = [*settings.get(listed, ()), *chosen]
    elif role == shoal.Role.WEIGHT and chosen:
        settings["weight"] = chosen[-1]
    elif role == shoal.Role.HOUSEHOLD and chosen:
        settings["household"] = {**_household(settings), "id": chosen[-1]}


def _leave_household(settings: Settings, names: Sequence[str]) -> None:
    """Take columns out of what is said about households, and all of it where they are not told apart any more."""
    household = _household(settings)
    if household.get("weight") in names:
        del household["weight"]
    if household.get("variables"):
        household["variables"] = [name for name in household["variables"] if name not in names]
    if household and household.get("id") not in names:
        settings["household"] = household
    else:
        settings.pop("household", None)


def _without(settings: Settings, setting: str, names: Sequence[str]) -> None:
    """Take columns out of a list or a mapping of columns, and the setting out of the plan where nothing is left."""
    given = settings.get(setting)
    if isinstance(given, Mapping):
        given = {name: value for name, value in given.items() if name not in names}
    elif given:
        given = [name for name in given if name not in names]
    if given:
        settings[setting] = given
    else:
        settings.pop(setting, None)


def kind(settings: Mapping[str, Any], name: str) -> str:
    """Return what was said about the kind of a column: nothing, or one of KINDS."""
    if name in (settings.get("nominal") or ()):
        return "nominal"
    if name in (settings.get("orders") or {}):
        return "ordinal"
    return "semantic" if name in (settings.get("hierarchies") or {}) else ""


def be_of_kind(settings: Settings, name: str, chosen: str, levels: Sequence[str] = ()) -> None:
    """Say of which kind a column is; a hierarchy starts as one root above all values, an order as ``levels`` are."""
    if chosen not in KINDS:
        raise shoal.PlanError("kind: there is no such kind")
    before = (settings.get("hierarchies") or {}).get(name)
    for setting in ("nominal", "orders", "hierarchies"):
        _without(settings, setting, [name])
    if chosen == "nominal":
        settings["nominal"] = [*settings.get("nominal", ()), name]
    elif chosen == "ordinal":
        settings["orders"] = {**settings.get("orders", {}), name: list(levels)}
    elif chosen == "semantic":
        settings["hierarchies"] = {**settings.get("hierarchies", {}), name: before or {"flat": True}}


def take_hierarchy(settings: Settings, name: str, source: Mapping[str, Any] | None) -> None:
    """Give a column a hierarchy, or take it away."""
    be_of_kind(settings, name, "semantic" if source else "")
    if source:
        settings["hierarchies"][name] = dict(source)


def put_into_set(settings: Settings, name: str, place: int) -> None:
    """Put a quasi-identifier into one of the sets, or into a new one after the last."""
    sets = settings.get("quasi_identifiers") or []
    if name not in quasi_identifiers(settings) or not 0 <= place <= len(sets):
        raise shoal.PlanError("sets: there is no such set, or the column is not a quasi-identifier")
    sets = [[other for other in part if other != name] for part in [*sets, []]]
    sets[place].append(name)
    settings["quasi_identifiers"] = [part for part in sets if part]


def give(settings: Settings, setting: str, value: Any) -> None:
    """Give a setting a value; None or its default takes it out of the plan."""
    field = shoal.Plan.model_fields[setting]
    if value is None or value == field.get_default(call_default_factory=True):
        settings.pop(setting, None)
    else:
        settings[setting] = value


def options_of(method: str, given: Mapping[str, str]) -> dict[str, Any]:
    """Return the options of a method from texts, without those that are left at their defaults."""
    found: dict[str, Any] = {}
    mistakes: list[str] = []
    for option in shoal.METHODS[method].options:
        text = given.get(option.name, "").strip()
        if not text:
            continue
        try:
            value = option.parse(text)
        except shoal.PlanError as error:
            mistakes += error.mistakes
            continue
        if value != option.default:
            found[option.name] = value
    if mistakes:
        raise shoal.PlanError(mistakes)
    return found


def searches(method: str | None) -> Literal[True, False]:
    """Whether a run of a method can be stopped and keep the best so far; without a name, the one that suits."""
    return method is None or shoal.METHODS[method].search is not None
