"""The Plan: everything that was asked for, as one value that goes to YAML and back."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, field_validator, model_validator

from shoal.errors import PlanError, did_you_mean
from shoal.plan.automatic import is_auto
from shoal.plan.blocking import Blocking, blocking_mistakes
from shoal.plan.categories import CategorySettings, category_mistakes
from shoal.plan.conditions import ConfidentialCondition, as_conditions, columns_conditioned
from shoal.plan.decimals import as_decimals
from shoal.plan.dominance import Dominance
from shoal.plan.engine import EngineSettings
from shoal.plan.household import Household, household_mistakes, named_by_household
from shoal.plan.limits import LARGEST_K, LARGEST_OPTION, LARGEST_SEED
from shoal.plan.privacy import DifferentialPrivacy, privacy_mistakes
from shoal.plan.reading import Reading
from shoal.plan.roles import Role
from shoal.plan.rules import rules_or_file
from shoal.plan.settings import Flag, Whole, named

EVERY_COLUMN = "*"  # key of `aggregators` that stands for all columns without an entry of their own


class Plan(CategorySettings):
    """Everything asked for: k, the roles of the columns, the method and its options.

    Attributes
    ----------
    k : int
        Smallest group, at least 2.
    quasi_identifiers : tuple of tuples of str
        Columns to microaggregate; each inner tuple is a set that is microaggregated by itself. ``"auto"`` stands for
        all columns of numbers, dates and declared categories without another role, in sets that rules form.
    set_size : int or None
        Columns of each set that no rule needs, with ``"auto"``; 3 where nothing is said.
    identifiers, confidential : tuple of str
        Columns that are removed, and columns that are kept as they are.
    persons : tuple of str or None
        Identifiers whose distinct values k counts in each group, beside its records; none of them where empty. Where
        nothing is said, those that have a value more than once and look like keys of persons, see
        :mod:`shoal.tables.persons`.
    household : Household or None
        Column that tells households apart, and what is released of them: k counts households then, see
        :class:`shoal.plan.household.Household`.
    weight : str or None
        Column of sampling weights.
    strata : tuple of str
        Columns whose combinations are never mixed.
    small_strata : {"error", "merge"}
        What to do with a stratum of fewer than k records: refuse, or merge it with the nearest one.
    missing_patterns : {"counted", "ignored"}
        Whether k holds for records as they stand in the file, which of their cells are missing included, or for groups
        in which records may lack different cells.
    method, options
        Name of the partition method, and its own options; without a name the one that suits the table, ``optimal``.
    refine : bool
        Whether the groups of the method are improved afterwards.
    aggregators : dict
        Aggregator of each quasi-identifier; ``"*"`` stands for all others. The mean where nothing is said.
    scaling : {"z-score", "range", "robust", "none"} or None
        How columns of numbers are made comparable for distances; by z-scores where nothing is said.
    hierarchies, orders, nominal, column_weights, combinations
        What is said about categories, see :class:`shoal.plan.categories.CategorySettings`.
    decimals : dict
        With how many decimals columns are released, ``"*"`` for all others: a number, or ``"all"``. Where nothing is
        said, floats of a text file with as many as the file has.
    conditions : dict
        What every group must keep of a confidential column, see :class:`shoal.plan.conditions.ConfidentialCondition`. A
        column that is named here is confidential.
    accept : dict
        Kept columns that stand in the way of a safe release, each with the reason why it may stay.
    dominance : Dominance
        When a few records dominate their group, and whether such groups are noted or grow.
    differential_privacy : DifferentialPrivacy or None
        How much a release of noisy means may depend on any one record; experimental, see
        :class:`shoal.plan.privacy.DifferentialPrivacy`.
    blocking : Blocking or None
        How to cut a large table into blocks; None partitions all records together.
    engine : EngineSettings or None
        What moves the rows of a table that is protected block by block; None treats the table as a whole, in memory.
    reading : Reading
        How to read a text file.
    rules, rules_file
        Edit rules that the release keeps: expressions, and the name of a file of expressions or Schematron. Given as
        ``rules`` either way.
    broken_rules : {"refuse", "keep-where-held"}
        What to do where the table breaks a rule already: refuse, or keep it in the records in which it holds.
    product_rules : {"means", "geometric-means"}
        What columns tied by a product are released from: means that are moved until the rule holds, or geometric means,
        which keep a product by themselves but make totals too small.
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

    if TYPE_CHECKING:  # names and lists are taken for what they stand for, which the types of the fields do not say

        def __init__(self, **settings: Any) -> None: ...

    k: Whole = Field(ge=2, le=LARGEST_K)
    quasi_identifiers: tuple[tuple[str, ...], ...]
    set_size: Whole | None = Field(default=None, ge=1, le=LARGEST_OPTION)
    identifiers: tuple[str, ...] = ()
    persons: tuple[str, ...] | None = None
    household: Household | None = None
    confidential: tuple[str, ...] = ()
    weight: str | None = None
    strata: tuple[str, ...] = ()
    small_strata: Literal["error", "merge"] = "error"
    missing_patterns: Literal["counted", "ignored"] = "counted"
    method: str | None = None
    options: dict[str, bool | int | float | str | None] = Field(default={})
    refine: Flag = False
    aggregators: dict[str, str] = Field(default={})
    scaling: Literal["z-score", "range", "robust", "none"] | None = None
    decimals: dict[str, int | str] = Field(default={})
    conditions: dict[str, ConfidentialCondition] = Field(default={})
    accept: dict[str, str] = Field(default={})
    dominance: Dominance = Dominance()
    differential_privacy: DifferentialPrivacy | None = None
    blocking: Blocking | None = None
    engine: EngineSettings | None = None
    reading: Reading = Reading()
    rules: tuple[str, ...] = ()
    rules_file: str | None = None
    broken_rules: Literal["refuse", "keep-where-held"] = "refuse"
    product_rules: Literal["means", "geometric-means"] = "means"
    seed: Whole = Field(default=0, ge=0, le=LARGEST_SEED)

    @model_validator(mode="before")
    @classmethod
    def _rules_or_file(cls, settings: Any) -> Any:
        return rules_or_file(settings)

    @model_validator(mode="before")
    @classmethod
    def _conditioned_is_confidential(cls, settings: Any) -> Any:
        if not isinstance(settings, Mapping) or not columns_conditioned(settings):
            return settings
        said = _texts(settings.get("confidential"))
        return {**settings, "confidential": (*said, *(n for n in columns_conditioned(settings) if n not in said))}

    @field_validator("quasi_identifiers", mode="before")
    @classmethod
    def _as_sets(cls, value: object) -> object:
        """Take a flat list of names as one set."""
        if isinstance(value, str):
            return ((value,),)
        if isinstance(value, list | tuple) and value and not any(isinstance(part, list | tuple) for part in value):
            return (tuple(value),)
        return value

    @field_validator("identifiers", "persons", "confidential", "strata", mode="before")
    @classmethod
    def _as_names(cls, value: object) -> object:
        return (value,) if isinstance(value, str) else value

    @field_validator("household", mode="before")
    @classmethod
    def _household_by_column(cls, value: object) -> object:
        return {"id": value} if isinstance(value, str) else named(value, "household")

    @field_validator("differential_privacy", mode="before")
    @classmethod
    def _privacy_by_name(cls, value: object) -> object:
        return named(value, "differential_privacy")

    @field_validator("blocking", mode="before")
    @classmethod
    def _by_method(cls, value: object) -> object:
        return {"method": value} if isinstance(value, str) else named(value, "blocking")

    @field_validator("engine", mode="before")
    @classmethod
    def _engine_by_name(cls, value: object) -> object:
        return {"name": value} if isinstance(value, str) else named(value, "engine")

    @field_validator("reading", mode="before")
    @classmethod
    def _reading_by_name(cls, value: object) -> object:
        return named(value, "reading")

    @field_validator("dominance", mode="before")
    @classmethod
    def _dominance_by_name(cls, value: object) -> object:
        if not isinstance(value, Dominance | Mapping):
            raise PlanError("dominance: give p, n and share, or action by name, such as {'p': 10}")
        return named(value, "dominance")

    @field_validator("conditions", mode="before")
    @classmethod
    def _conditions_by_column(cls, value: object) -> object:
        return as_conditions(value)

    @field_validator("decimals", mode="before")
    @classmethod
    def _decimals_by_column(cls, value: object) -> object:
        return as_decimals(value)

    @field_validator("aggregators", mode="before")
    @classmethod
    def _for_every_column(cls, value: object) -> object:
        return {EVERY_COLUMN: value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _fits_together(self) -> Plan:
        mistakes = role_mistakes(self.roles_named())
        if not self.quasi_identifiers or not all(self.quasi_identifiers):
            mistakes.append("quasi_identifiers: name at least one column in each set")
        if not is_auto(self.quasi_identifiers):  # whose columns are known when the table is
            mistakes += blocking_mistakes(self.blocking, self.k, self.quasi_identifiers) + category_mistakes(
                self.model_dump(), {name for part in self.quasi_identifiers for name in part}
            )
            if self.set_size:
                mistakes.append("set_size: has no effect unless quasi_identifiers is auto")
        if self.small_strata == "merge" and not self.strata:
            mistakes.append("small_strata: has no effect without strata")
        mistakes += [
            f"persons: '{name}' is not an identifier{did_you_mean(name, self.identifiers)}; name it as one, too"
            for name in self.persons or ()
            if name not in self.identifiers
        ]
        mistakes += household_mistakes(self.model_dump())
        usual = {name: field.get_default(call_default_factory=True) for name, field in type(self).model_fields.items()}
        mistakes += privacy_mistakes(dict(self), usual)
        cut_by = self.blocking.columns if self.blocking else ()
        lists = {"persons": self.persons or (), "nominal": self.nominal, "blocking.columns": cut_by}
        mistakes += [
            f"{setting}: column '{name}' is named {names.count(name)} times; name it once"
            for setting, names in lists.items()
            for name in dict.fromkeys(names)
            if names.count(name) > 1
        ]
        mistakes += [
            f"accept.{name}: say why the column may stay" for name, why in self.accept.items() if not why.strip()
        ]
        if self.broken_rules != "refuse" and not self.rules and not self.rules_file:
            mistakes.append("broken_rules: has no effect without rules")
        if self.product_rules != "means" and not self.rules and not self.rules_file:
            mistakes.append("product_rules: has no effect without rules")
        if mistakes:
            raise PlanError(mistakes)
        return self

    def roles_named(self) -> list[tuple[str, Role]]:
        """Return every mention of a column with its role, in order; a column mentioned twice comes twice."""
        return mentions(self.model_dump())

    @property
    def removed(self) -> tuple[str, ...]:
        """Columns that are not in the release: identifiers, and the numbers of households where these are removed."""
        whole = self.household
        return (*self.identifiers, whole.id) if whole and whole.release == "removed" else self.identifiers

    @property
    def replaced(self) -> tuple[str, ...]:
        """Columns beside the quasi-identifiers whose values are not in the release."""
        whole = self.household
        return (*self.identifiers, whole.id) if whole and whole.release != "same" else self.identifiers

    def to_dict(self) -> dict[str, Any]:
        """Return what was asked for as plain lists, numbers and texts, without what is left at its default."""
        plain: dict[str, Any] = self.model_dump(mode="json", exclude_defaults=True)
        if len(self.quasi_identifiers) == 1:
            plain["quasi_identifiers"] = list(self.quasi_identifiers[0])
        if self.differential_privacy is None:  # whose noise no seed draws
            plain.setdefault("seed", self.seed)
        return plain

    def to_yaml(self) -> str:
        """Return the plan as YAML."""
        # late, here and in what reads plans: most plans are made of arguments
        from shoal.plan.yaml_output import written_yaml

        return written_yaml(self.to_dict())

    @classmethod
    def from_yaml(cls, text: str) -> Plan:
        """Read a plan from YAML."""
        from shoal.plan.loading import plan_settings

        return cls(**plan_settings(text))

    @classmethod
    def load(cls, path: str | Path) -> Plan:
        """Read a plan from a YAML file."""
        from shoal.plan.loading import load_settings

        return cls(**load_settings(path))


_ROLE_FIELDS = {
    "quasi_identifiers": Role.QUASI_IDENTIFIER,
    "identifiers": Role.IDENTIFIER,
    "confidential": Role.CONFIDENTIAL,
    "weight": Role.WEIGHT,
    "strata": Role.STRATUM,
}


def mentions(settings: Mapping[str, Any]) -> list[tuple[str, Role]]:
    """Return (column, role) for each column named in settings, well-formed or not."""
    said = [(name, role) for field, role in _ROLE_FIELDS.items() for name in _texts(settings.get(field))]
    said += named_by_household(settings)
    told = {name for name, role in said if role is Role.CONFIDENTIAL}
    return said + [(name, Role.CONFIDENTIAL) for name in columns_conditioned(settings) if name not in told]


def _texts(value: object) -> list[str]:
    """Return the texts in a text or in lists of lists of texts; anything else is left to the plan to report."""
    if isinstance(value, str):
        return [value]
    return [text for part in value for text in _texts(part)] if isinstance(value, list | tuple) else []


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
    named = [name for name, _ in mentions(settings)]
    for setting in ("aggregators", "decimals", "hierarchies", "orders", "column_weights", "accept"):
        by_column = settings.get(setting)
        if isinstance(by_column, Mapping):
            named += [name for name in by_column if isinstance(name, str) and name != EVERY_COLUMN]
    named += _texts(settings.get("nominal"))
    known = set(columns)
    return [
        f"column '{name}' is not in the table{did_you_mean(name, columns)}"
        for name in dict.fromkeys(named)
        if name not in known
    ]


def merge_settings(plan: Plan | str | Path | None, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a plan, overridden by those that were given."""
    settings: dict[str, Any] = {}
    if isinstance(plan, Plan):
        settings = plan.model_dump(exclude_defaults=True)
    elif plan is not None:
        from shoal.plan.loading import load_settings

        settings = load_settings(plan)
    if given.get("rules") is not None:
        settings.pop("rules_file", None)
    settings.update({name: value for name, value in given.items() if value is not None})
    return settings
