"""A role for each column, proposed from its name, its type and how many values it has; the user confirms it.

Whoever proposes must rather protect too much: what is neither an identifier nor a weight, and has more than one value,
is a quasi-identifier.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shoal.columns.hierarchy import name_of
from shoal.kernels.arrays import Floats
from shoal.plan.roles import MEASURABLE, Kind, Role
from shoal.tables.disguised import disguise, is_number
from shoal.tables.identifying import Profile, looks_like_weight, why_identifier, words_of
from shoal.tables.set_valued import mark_of_sets
from shoal.tables.table import Table

FEW = 10
"""Distinct whole numbers up to which a column is taken for codes of categories, with ten records for each."""
_RECORDS_EACH = 10
_FREE_TEXT = 0.5  # part of the records with a value of their own from which text is not a category
_FEWEST = 20  # records from which such a part means anything
_LIKE_HEIGHT = 0.3  # rank correlation with a height from which a weight is that of a body

_CATEGORY_WORDS = frozenset(
    [
        "sex",
        "gender",
        "sexe",
        "sexo",
        "geschlecht",
        "region",
        "regions",
        "code",
        "codes",
        "cod",
        "type",
        "typ",
        "status",
        "category",
        "cat",
        "class",
        "group",
        "grp",
        "race",
        "ethnicity",
        "occupation",
        "job",
        "beruf",
        "industry",
        "nace",
        "isco",
        "isic",
        "sic",
        "naics",
        "icd",
        "drg",
        "state",
        "province",
        "county",
        "district",
        "municipality",
        "gemeinde",
        "kreis",
        "bundesland",
        "land",
        "zip",
        "zipcode",
        "postcode",
        "postal",
        "plz",
        "fips",
        "country",
        "nationality",
        "citizenship",
        "language",
        "religion",
        "marital",
        "civil",
        "party",
        "sector",
        "branch",
        "ward",
        "department",
        "dept",
        "school",
        "airport",
        "carrier",
        "airline",
        "tenure",
        "relationship",
        "flag",
        "indicator",
        "yesno",
        "species",
        "operator",
        "method",
        "mode",
        "reason",
        "cause",
        "diagnosis",
        "procedure",
        "insurance",
        "urban",
        "rural",
        "provincia",
        "departement",
        "canton",
        "nuts",
    ]
)
_LEVELLED = frozenset(
    [
        "nace",
        "isco",
        "isic",
        "sic",
        "naics",
        "icd",
        "drg",
        "nuts",
        "zip",
        "zipcode",
        "postcode",
        "postal",
        "plz",
        "fips",
    ]
)
_CODE = re.compile(r"[A-Za-z]{0,2}[0-9][0-9A-Za-z]*([ ./-][0-9A-Za-z]+)*")  # of a classification in levels
_SHORTEST = 2  # characters of such a code
_COUNT_WORDS = frozenset(
    [
        "age",
        "alter",
        "edad",
        "born",
        "year",
        "years",
        "jahr",
        "anno",
        "month",
        "months",
        "day",
        "days",
        "week",
        "weeks",
        "hour",
        "hours",
        "minute",
        "minutes",
        "number",
        "num",
        "nr",
        "no",
        "nb",
        "n",
        "count",
        "children",
        "kids",
        "kinder",
        "members",
        "persons",
        "people",
        "adults",
        "size",
        "rooms",
        "bedrooms",
        "cars",
        "vehicles",
        "score",
        "points",
        "rank",
        "grade",
        "grades",
        "mark",
        "marks",
        "income",
        "salary",
        "wage",
        "wages",
        "pay",
        "tax",
        "cost",
        "costs",
        "price",
        "amount",
        "qty",
        "quantity",
        "visits",
        "times",
        "stays",
        "episodes",
        "loans",
        "cards",
        "dependents",
        "engines",
        "strikes",
        "passengers",
        "stops",
        "floors",
    ]
)
_HOUSEHOLD = frozenset(
    [
        "hh",
        "hhid",
        "hid",
        "hhnr",
        "hhno",
        "hhserial",
        "household",
        "householdid",
        "householdno",
        "householdnumber",
        "haushalt",
        "haushaltsnummer",
        "hogar",
        "idhogar",
        "menage",
        "famille",
        "family",
        "familyid",
        "dwelling",
        "dwellingid",
        "serialno",
    ]
)
_BODY = frozenset(["kg", "lb", "lbs", "body", "birth", "bmi", "gram", "grams"])
_HEIGHT = frozenset(["height", "stature", "groesse", "größe", "taille", "estatura"])


@dataclass(frozen=True)
class Proposal:
    """A column, the role proposed for it, why, and whether its values are names, or what hierarchy they have."""

    profile: Profile
    role: Role
    reason: str
    nominal: bool = False
    hierarchy: dict[str, Any] | None = None


def propose(table: Table, labelled: Collection[str] = ()) -> list[Proposal]:
    """Propose a role for each column of a table; ``labelled`` columns have labels for their values.

    >>> import polars as pl
    >>> from shoal.tables.table import open_table
    >>> people = open_table(pl.DataFrame({"sex": [1, 2] * 20, "age": [30, 51] * 20, "hh_weight": [1.5, 2.0] * 20}))
    >>> [(str(p.role), p.nominal) for p in propose(people)]
    [('quasi-identifier', True), ('quasi-identifier', False), ('weight', False)]
    """
    proposals: list[Proposal] = []
    for name in table.names:
        profile = table.profile(name)
        proposal = _identifier(profile)
        if proposal and proposal.role is Role.HOUSEHOLD and any(p.role is Role.HOUSEHOLD for p in proposals):
            proposal = replace(proposal, role=Role.IDENTIFIER)  # one kind of whole is enough
        if proposal is None and not any(p.role is Role.WEIGHT for p in proposals):
            proposal = _weight(table, profile)
        proposals.append(proposal or _of_values(table, profile, name in labelled))
    return proposals


def _identifier(profile: Profile) -> Proposal | None:
    """Propose to remove what names a person or is free text, and to count households."""
    words = words_of(profile.name)
    textual = profile.kind is Kind.NOMINAL
    observed = profile.records - profile.missing
    numbers_them = (textual or profile.whole) and profile.distinct > observed / 10
    if numbers_them and ("".join(words) in _HOUSEHOLD or (words and words[0] in _HOUSEHOLD and words[-1] in _ID_WORDS)):
        whole = not profile.missing and 1 < profile.distinct < observed
        return Proposal(profile, Role.HOUSEHOLD if whole else Role.IDENTIFIER, "it numbers households")
    reason = why_identifier(profile)
    if reason:
        return Proposal(profile, Role.IDENTIFIER, reason)
    if textual and observed >= _FEWEST and profile.distinct > _FREE_TEXT * observed:
        return Proposal(profile, Role.IDENTIFIER, "text that is different in more than half of the records")
    return None


_ID_WORDS = frozenset({"id", "ids", "nr", "no", "num", "number", "key", "code", "ref", "serial"})


def _weight(table: Table, profile: Profile) -> Proposal | None:
    """Propose a sampling weight by its name, if it is not the weight of a body."""
    if profile.kind is not Kind.NUMERIC or profile.missing or not looks_like_weight(profile.name):
        return None
    values = table.rough_numbers(profile.name)
    if not len(values) or values.min() <= 0.0 or _BODY & set(words_of(profile.name)):
        return None
    heights = [n for n in table.names if _HEIGHT & set(words_of(n)) and table.kind(n) is Kind.NUMERIC]
    if any(_rank_correlation(values, table.rough_numbers(name)) > _LIKE_HEIGHT for name in heights):
        return None
    return Proposal(profile, Role.WEIGHT, "its name says so")


def _rank_correlation(a: Floats, b: Floats) -> float:
    ranks = [np.unique(values, return_inverse=True)[1].astype(np.float64) for values in (a, b)]
    if any(own.max() == 0.0 for own in ranks):
        return 0.0
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


def _of_values(table: Table, profile: Profile, labelled: bool) -> Proposal:
    """Propose what becomes of a column that names nobody."""
    if profile.kind is Kind.OTHER:
        return Proposal(profile, Role.CONFIDENTIAL, "has no distances")
    if profile.constant:
        reason = "it has a single value" if profile.distinct else "it has no values"
        return Proposal(profile, Role.CONFIDENTIAL, reason)
    if (profile.kind is Kind.NOMINAL or profile.whole) and _in_levels(table, profile.name):
        reason = "codes whose first characters say what they are a kind of"
        return Proposal(profile, Role.QUASI_IDENTIFIER, reason, hierarchy={"prefixes": True})
    if profile.kind not in MEASURABLE:
        hidden = profile.kind is Kind.NOMINAL and _like_numbers(table, profile.name)
        return Proposal(
            profile, Role.QUASI_IDENTIFIER, hidden or "a category that could single somebody out", bool(hidden)
        )
    why_code = _why_code(profile, labelled)
    if why_code:
        return Proposal(profile, Role.QUASI_IDENTIFIER, f"a category that could single somebody out: {why_code}", True)
    what = "number" if profile.kind is Kind.NUMERIC else "date"
    return Proposal(profile, Role.QUASI_IDENTIFIER, f"a {what} that could single somebody out")


def _in_levels(table: Table, name: str) -> bool:
    """Whether a column holds codes of a classification in levels, by its name and since codes begin alike."""
    if not _LEVELLED & set(words_of(name)):
        return False
    texts = [name_of(label).strip() for label in table.factor(name).labels]
    if not texts or not all(map(_CODE.fullmatch, texts)):
        return False
    return len({text[:_SHORTEST] for text in texts}) < len(set(texts)) and min(map(len, texts)) >= _SHORTEST


def _like_numbers(table: Table, name: str) -> str:
    """Say what a column of text holds instead of names, where it is taken for names all the same."""
    labels = table.factor(name).labels
    found = disguise(labels)
    if found:
        return f"holds {found.what}; taken for names as it is"
    texts = [label for label in labels if isinstance(label, str)]
    mark = mark_of_sets(texts)
    if mark:
        return f"several values in a cell, with '{mark}' between them, taken for one name; see shoal.spread_sets"
    if texts and all(map(is_number, texts)):
        return "codes in digits, taken for names"
    if 2 * sum(map(is_number, texts)) > len(texts) > 0:
        return "numbers with texts among them, taken for names; do these mark missing values?"
    return ""


def _why_code(profile: Profile, labelled: bool) -> str:
    """Say why whole numbers are codes of categories; empty where they are numbers."""
    if not profile.whole:
        return ""
    if labelled:
        return "its values have labels"
    words = set(words_of(profile.name))
    if words & _COUNT_WORDS or any(word.endswith(("size", "count")) for word in words):
        return ""
    if words & _CATEGORY_WORDS:
        return "its name says that it is a code"
    few = profile.distinct <= FEW and profile.records - profile.missing >= _RECORDS_EACH * profile.distinct
    return "whole numbers, and few of them" if few else ""
