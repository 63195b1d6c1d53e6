"""What a sweep is to run: k and methods to plans that fit the table, with all mistakes told before any work is done."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from shoal.errors import DataError, PlanError, counted, did_you_mean, one_or_many
from shoal.kernels.arrays import Ints
from shoal.partition.methods import find_method
from shoal.plan.limits import MOST_KS
from shoal.plan.plan import Plan
from shoal.plan.roles import Kind
from shoal.release.declaring import CATEGORY_METHOD, DEFAULT_METHOD, Declared, declare
from shoal.release.quasi_identifiers import has_categories
from shoal.release.strata import stratify
from shoal.tables.table import Table, open_table

DEFAULT_METHODS = ("optimal", "mdav", "mdav-single", "v-mdav", "iv-mdav", "ldf")
CATEGORY_METHODS = ("semantic-optimal", "sa-mdav", "s-mdav", "sa-mondrian", "mondrian-ordered")
DEFAULT_KS = range(2, 21)
_LONGEST_K = 20  # characters
_TOO_MANY = f"k: these are more than {MOST_KS}, which is the most that a sweep takes; give a step, as in 2:20000:100"

Ks = int | str | Iterable[int]
Methods = str | Sequence[str | tuple[str, Mapping[str, Any]]]


@dataclass(frozen=True)
class Combination:
    """A plan to run, and into how many sets its columns are cut."""

    plan: Plan
    sets: int


def plans_to_run(
    settings: Mapping[str, Any], ks: Ks, methods: Methods | None, table: Table, samples: Sequence[Table], **asked: Any
) -> tuple[list[Combination], list[str]]:
    """Return the plans of all methods at every k, method by method, and notes on them.

    ``settings`` are those of a plan, of which k, method and options are replaced. ``samples`` are the tables that will
    be protected: ``table`` itself, or samples of it. ``asked`` are ``all_numeric`` and ``known``.
    """
    mistakes: list[str] = []
    wanted = _attempt(mistakes, parse_ks, ks) or [2]
    categories = has_categories(table, settings)
    chosen = _attempt(mistakes, _chosen, methods, settings, categories) or []
    base = {name: value for name, value in settings.items() if name not in ("k", "method", "options")}
    reasons: list[str] = []
    found: list[Declared] = []
    for name, options in chosen or [(CATEGORY_METHOD if categories else DEFAULT_METHOD, {})]:
        # the largest k is the one that may not fit the table, its strata or its blocks
        given = {**base, "k": wanted[-1], "method": name, "options": options}
        try:
            found.append(declare(given, table, asked["all_numeric"]))
        except PlanError as error:
            mistakes += error.mistakes
        except DataError as error:
            reasons += error.mistakes
    mistakes += _known_mistakes(asked["known"], base, table)
    if found:
        reasons += _too_small(found[0], samples, len(table))
    if mistakes:
        raise PlanError(list(dict.fromkeys(mistakes + reasons)))
    if reasons:
        raise DataError(list(dict.fromkeys(reasons)))
    notes = []
    if found[0].doubtful:
        doubtful = ", ".join(found[0].doubtful)
        notes.append(f"taken as quasi-identifiers although they look like identifiers: {doubtful}")
    return [
        Combination(declared.plan.model_copy(update={"k": k}), len(declared.sets)) for declared in found for k in wanted
    ], notes


def _attempt(mistakes: list[str], step: Any, *arguments: Any) -> Any:
    """Call a step; where it refuses, note its mistakes and go on."""
    try:
        return step(*arguments)
    except PlanError as error:
        mistakes += error.mistakes
        return None


def parse_ks(given: Ks) -> list[int]:
    """Return every k that is asked for, in order: a number, numbers, or a text such as ``2:20:2,30``.

    >>> parse_ks("2:6"), parse_ks("2:10:4,3"), parse_ks(range(3, 5)), parse_ks(5)
    ([2, 3, 4, 5, 6], [2, 3, 6, 10], [3, 4], [5])
    """
    mistakes: list[str] = []
    found: list[int]
    if isinstance(given, str):
        found = [k for part in given.split(",") for k in _attempt(mistakes, _range, part.strip()) or ()]
    else:
        values = list(islice(given, MOST_KS + 1)) if isinstance(given, Iterable) else [given]
        if any(isinstance(value, bool) or not hasattr(value, "__index__") for value in values):
            raise PlanError("k: must be whole numbers, or a text such as 5, 2:20, 2:20:2 or 3,5,10")
        found = [operator.index(value) for value in values]
    if not found and not mistakes:
        mistakes.append("k: name at least one")
    if found and min(found) < 2:
        mistakes.append("k: must be at least 2")
    if len(found) > MOST_KS:
        mistakes.append(_TOO_MANY)
    if mistakes:
        raise PlanError(mistakes)
    return sorted(set(found))


def _range(text: str) -> list[int]:
    """Return the numbers of ``5``, ``2:20`` or ``2:20:2``; both ends belong to it."""
    parts = text.split(":")
    if len(parts) > 3 or not all(part.strip().isdecimal() and len(part) < _LONGEST_K for part in parts):
        raise PlanError(f"k: '{text}' is none of 5, 2:20, 2:20:2 or 3,5,10")
    first, *rest = map(int, parts)
    last, step = rest[0] if rest else first, rest[1] if len(rest) == 2 else 1
    if last < first or step < 1:
        raise PlanError(f"k: '{text}' has no numbers in it; write the smaller k first, and a step of at least 1")
    if (last - first) // step >= MOST_KS:
        raise PlanError(_TOO_MANY)
    return list(range(first, last + 1, step))


def parse_methods(given: Methods) -> list[tuple[str, dict[str, Any] | None]]:
    """Return names and options; options are None where nothing was said about them.

    A text is a list of names, each with its options after colons.

    >>> parse_methods("mdav,v-mdav:gamma=1.1"), parse_methods([("v-mdav", {"gamma": 0.2})])
    ([('mdav', None), ('v-mdav', {'gamma': '1.1'})], [('v-mdav', {'gamma': 0.2})])
    """
    parts = given.split(",") if isinstance(given, str) else list(given)
    found: list[tuple[str, dict[str, Any] | None]] = []
    mistakes = []
    for part in parts:
        if isinstance(part, str):
            name, *words = [word.strip() for word in part.split(":")]
            pairs = [word.partition("=") for word in words]
            mistakes += [
                f"methods: '{part}': write options as method:name=value" for _, equals, _ in pairs if not equals
            ]
            found.append((name, {key.strip(): value.strip() for key, _, value in pairs} if words else None))
        elif isinstance(part, tuple) and len(part) == 2 and isinstance(part[0], str) and isinstance(part[1], Mapping):
            found.append((part[0], dict(part[1])))
        else:
            mistakes.append("methods: name each as a text, or as a name with a dictionary of its options")
    twice = [found[i] for i in range(len(found)) if found[i] in found[:i]]
    mistakes += [f"methods: '{name}' is named twice with the same options; name it once" for name, _ in twice]
    if not parts:
        mistakes.append("methods: name at least one")
    for name, _ in found:
        _attempt(mistakes, find_method, name)
    if mistakes:
        raise PlanError(list(dict.fromkeys(mistakes)))
    return found


def _chosen(methods: Methods | None, settings: Mapping[str, Any], categories: bool) -> list[tuple[str, dict[str, Any]]]:
    """Return the methods with their options; those of the plan belong to its method where that is given none."""
    usual = CATEGORY_METHODS if categories else DEFAULT_METHODS
    named = parse_methods(methods if methods is not None else usual)
    own = settings.get("method") or (CATEGORY_METHOD if categories else DEFAULT_METHOD)
    options = settings.get("options")
    if options and (own, None) not in named:
        raise PlanError(
            f"the plan has options for method '{own}', which is not swept without options of its own; add it to the "
            "methods, or leave the options out"
        )
    return [
        (name, given if given is not None else dict(options) if options and name == own else {})
        for name, given in named
    ]


def _known_mistakes(known: Sequence[str] | None, settings: Mapping[str, Any], table: Table) -> list[str]:
    """Say which columns an intruder cannot know or link by."""
    removed = settings.get("identifiers") or ()
    removed = (removed,) if isinstance(removed, str) else removed
    mistakes = []
    for name in known or ():
        if name not in table.names:
            mistakes.append(f"known: column '{name}' is not in the table{did_you_mean(name, table.names)}")
        elif name in removed:
            mistakes.append(f"known: column '{name}' is removed as an identifier, so nobody can link by it")
        elif table.kind(name) is Kind.OTHER:
            mistakes.append(f"known: column '{name}' is neither numbers, dates nor categories; leave it out")
    return mistakes


def _too_small(declared: Declared, samples: Sequence[Table], records: int) -> list[str]:
    """Say where the largest k does not fit: a sample, or a stratum of the table or of a sample."""
    k = declared.plan.k
    for sample in samples:
        if len(sample) < k:
            drawn = f"{counted(len(sample), 'record')} {one_or_many(len(sample), 'is', 'are')}"
            return [f"sample: {drawn} fewer than k = {k}; draw more, or choose a smaller k"]
        try:
            if declared.plan.small_strata == "error":
                stratify(declared, sample)
        except DataError as error:
            where = "" if len(sample) == records else "in a sample, "
            return [where + mistake for mistake in error.mistakes]
    return []


def draw_samples(table: Table, size: int, repeats: int, seed: int) -> list[Table]:
    """Return random samples of the rows, each without replacement, in the order of the table."""
    return [
        open_table(table.frame[rows].to_native(), table.precision)
        for rows in sampled_rows(len(table), size, repeats, seed)
    ]


def sampled_rows(records: int, size: int, repeats: int, seed: int) -> list[Ints]:
    """Return the rows of each sample. Draws are independent, so that more of them leave the first as they are.

    >>> first, again = sampled_rows(6, 3, 2, seed=0), sampled_rows(6, 3, 5, seed=0)
    >>> [rows.tolist() for rows in first] == [rows.tolist() for rows in again[:2]]
    True
    """
    draws = [np.random.default_rng([seed, draw]) for draw in range(repeats)]
    return [np.sort(draw.choice(records, size, replace=False)) for draw in draws]
