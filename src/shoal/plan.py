"""The Plan: everything that was asked for, as one value that goes to YAML and back."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from shoal.errors import FileError, PlanError, did_you_mean
from shoal.schema import Role

EVERY_COLUMN = "*"  # key of `aggregators` that stands for all columns without an entry of their own


class Reading(BaseModel):
    """How to read a text file, where looking at it is not enough.

    Attributes
    ----------
    delimiter, encoding : str or None
        Found by looking at the file where None.
    missing : tuple of str
        Texts that mark a missing value, beside an empty cell.
    header : bool
        Whether the first line has the names of the columns.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    delimiter: str | None = None
    encoding: str | None = None
    missing: tuple[str, ...] = ()
    header: bool = True


class Plan(BaseModel):
    """Everything asked for: k, the roles of the columns, the method and its options.

    Attributes
    ----------
    k : int
        Smallest group, at least 2.
    quasi_identifiers : tuple of tuples of str
        Columns to microaggregate; each inner tuple is a set that is microaggregated by itself.
    identifiers, confidential : tuple of str
        Columns that are removed, and columns that are kept as they are.
    weight : str or None
        Column of sampling weights.
    strata : tuple of str
        Columns whose combinations are never mixed.
    small_strata : {"error", "merge"}
        What to do with a stratum of fewer than k records: refuse, or merge it with the nearest one.
    method, options
        Name of the partition method, and its own options.
    aggregators : dict
        Aggregator of each quasi-identifier; ``"*"`` stands for all others. The mean where nothing is said.
    scaling : {"z-score", "range", "robust", "none"}
        How columns are made comparable for distances.
    reading : Reading
        How to read a text file.
    seed : int
        For methods that draw random numbers; recorded in any case.

    Examples
    --------
    >>> plan = Plan(k=5, quasi_identifiers=["age", "income"])
    >>> plan.quasi_identifiers
    (('age', 'income'),)
    >>> Plan.from_yaml(plan.to_yaml()) == plan
    True
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    k: int = Field(ge=2)
    quasi_identifiers: tuple[tuple[str, ...], ...]
    identifiers: tuple[str, ...] = ()
    confidential: tuple[str, ...] = ()
    weight: str | None = None
    strata: tuple[str, ...] = ()
    small_strata: Literal["error", "merge"] = "error"
    method: str = "mdav"
    options: dict[str, bool | int | float | str | None] = {}
    aggregators: dict[str, str] = {}
    scaling: Literal["z-score", "range", "robust", "none"] = "z-score"
    reading: Reading = Reading()
    seed: int = Field(default=0, ge=0)

    def __init__(self, /, **settings: Any) -> None:
        try:
            super().__init__(**settings)
        except ValidationError as error:
            raise PlanError(_sentences(error, type(self))) from None

    @field_validator("quasi_identifiers", mode="before")
    @classmethod
    def _as_sets(cls, value: object) -> object:
        """Take a flat list of names as one set."""
        if isinstance(value, str):
            return ((value,),)
        if isinstance(value, list | tuple) and value and all(isinstance(name, str) for name in value):
            return (tuple(value),)
        return value

    @field_validator("identifiers", "confidential", "strata", mode="before")
    @classmethod
    def _as_names(cls, value: object) -> object:
        return (value,) if isinstance(value, str) else value

    @field_validator("aggregators", mode="before")
    @classmethod
    def _for_every_column(cls, value: object) -> object:
        return {EVERY_COLUMN: value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _fits_together(self) -> Plan:
        mistakes = role_mistakes(self.roles_named())
        if not self.quasi_identifiers or not all(self.quasi_identifiers):
            mistakes.append("quasi_identifiers: name at least one column in each set")
        if self.small_strata == "merge" and not self.strata:
            mistakes.append("small_strata: has no effect without strata")
        if mistakes:
            raise PlanError(mistakes)
        return self

    def roles_named(self) -> list[tuple[str, Role]]:
        """Return every mention of a column with its role, in order; a column mentioned twice comes twice."""
        return _mentions(self.model_dump())

    def aggregator_of(self, column: str) -> str:
        """Return the aggregator of a quasi-identifier."""
        return self.aggregators.get(column, self.aggregators.get(EVERY_COLUMN, "mean"))

    def to_dict(self) -> dict[str, Any]:
        """Return what was asked for as plain lists, numbers and texts, without what is left at its default."""
        plain: dict[str, Any] = self.model_dump(mode="json", exclude_defaults=True)
        plain.setdefault("method", self.method)
        plain.setdefault("seed", self.seed)
        return plain

    def to_yaml(self) -> str:
        """Return the plan as YAML."""
        return yaml.safe_dump(self.to_dict(), sort_keys=False, allow_unicode=True)

    @classmethod
    def from_yaml(cls, text: str) -> Plan:
        """Read a plan from YAML."""
        return cls(**plan_settings(text))

    @classmethod
    def load(cls, path: str | Path) -> Plan:
        """Read a plan from a YAML file."""
        return cls(**load_settings(path))


_ROLE_FIELDS = {
    "identifiers": Role.IDENTIFIER,
    "confidential": Role.CONFIDENTIAL,
    "weight": Role.WEIGHT,
    "strata": Role.STRATUM,
}


def _mentions(settings: Mapping[str, Any]) -> list[tuple[str, Role]]:
    """Return (column, role) for each column named in settings that have the right shape."""
    found = []
    sets = settings.get("quasi_identifiers") or ()
    for member in [sets] if isinstance(sets, str) else sets:
        found += [(name, Role.QUASI_IDENTIFIER) for name in ([member] if isinstance(member, str) else member)]
    for field, role in _ROLE_FIELDS.items():
        names = settings.get(field) or ()
        found += [(name, role) for name in ([names] if isinstance(names, str) else names)]
    return found


def role_mistakes(mentions: list[tuple[str, Role]]) -> list[str]:
    """Say which columns are named in more than one role, or twice in one."""
    roles: dict[str, list[Role]] = {}
    for name, role in mentions:
        roles.setdefault(name, []).append(role)
    mistakes = []
    for name, given in roles.items():
        distinct = list(dict.fromkeys(given))
        if len(distinct) > 1:
            mistakes.append(f"column '{name}' has {len(distinct)} roles: {', '.join(distinct)}; give it one")
        elif len(given) > 1:
            mistakes.append(f"column '{name}' is named {len(given)} times as {distinct[0]}; name it once")
    return mistakes


def column_mistakes(settings: Mapping[str, Any], columns: list[str]) -> list[str]:
    """Say which columns in settings, well-formed or not, are not in the table, with the nearest name that is."""
    try:
        named = [name for name, _ in _mentions(settings)]
    except TypeError:  # a setting of the wrong shape, reported by the plan itself
        return []
    aggregators = settings.get("aggregators")
    if isinstance(aggregators, Mapping):
        named += [name for name in aggregators if name != EVERY_COLUMN]
    known = set(columns)
    return [
        f"column '{name}' is not in the table{did_you_mean(str(name), columns)}"
        for name in dict.fromkeys(named)
        if name not in known
    ]


def _sentences(error: ValidationError, model: type[BaseModel]) -> list[str]:
    """Turn pydantic's report into sentences that name the setting."""
    mistakes: list[str] = []
    for problem in error.errors():
        cause = problem.get("ctx", {}).get("error")
        place = ".".join(str(part) for part in problem["loc"])
        if isinstance(cause, PlanError):
            mistakes += cause.mistakes
        elif problem["type"] == "extra_forbidden":
            known = Reading.model_fields if place.startswith("reading.") else model.model_fields
            mistakes.append(f"there is no setting '{place}'{did_you_mean(str(problem['loc'][-1]), known)}")
        elif problem["type"] == "missing":
            mistakes.append(f"{place}: is missing; say what it should be")
        else:
            mistakes.append(f"{place}: {problem['msg'].lower()}")
    return mistakes


def plan_settings(text: str) -> dict[str, Any]:
    """Return the settings in a YAML text, not yet validated."""
    try:
        settings = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise PlanError(f"the plan is not valid YAML: {' '.join(str(error).split())}") from None
    if not isinstance(settings, dict) or not all(isinstance(key, str) for key in settings):
        raise PlanError("the plan must be a list of settings such as 'k: 5'")
    return settings


def load_settings(path: str | Path) -> dict[str, Any]:
    """Return the settings in a YAML file, not yet validated."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"cannot read the plan '{path}': {error}") from None
    return plan_settings(text)
