"""What a partition method is, and how its options are described and checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np

from shoal.columns.quasi_identifiers import QuasiIdentifiers
from shoal.errors import PlanError, did_you_mean
from shoal.kernels.arrays import Ints
from shoal.partition.search.searchable import Searchable, SearchTask
from shoal.plan.limits import LARGEST_OPTION
from shoal.plan.roles import MEASURABLE, Kind


@dataclass(frozen=True)
class Option:
    """An option of a method.

    Attributes
    ----------
    name, doc : str
        As the user writes it, and what it does.
    default : float, int, bool, str or None
        Used where the user says nothing. None means switched off.
    kind : type
        What a value must be: ``float``, ``int``, ``bool`` or ``str``.
    least, most : float or None
        Smallest and largest value allowed.
    choices : tuple of str
        Allowed values, for ``str``.
    positive : bool
        Whether 0 is not allowed either.
    """

    name: str
    doc: str
    default: float | int | bool | str | None
    kind: type
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()
    positive: bool = False

    def parse(self, value: object) -> object:
        """Return a value of the right type, from a value or from the text of a command line."""
        if self.default is None and (value is None or value in ("off", "none")):
            return None
        if isinstance(value, str) and self.kind is not str:
            value = self._from_text(value)
        if self.kind is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(min(max(value, -2 * LARGEST_OPTION), 2 * LARGEST_OPTION))  # floats do not hold all
        if type(value) is not self.kind:
            raise PlanError(f"option '{self.name}' takes {_A_VALUE[self.kind]}, not {value!r}")
        if self.choices and value not in self.choices:
            hint = did_you_mean(str(value), self.choices)
            raise PlanError(f"option '{self.name}' takes one of {', '.join(self.choices)}, not {value!r}{hint}")
        if isinstance(value, float) and not np.isfinite(value):
            raise PlanError(f"option '{self.name}' must be a finite number")
        if isinstance(value, int | float) and not -LARGEST_OPTION <= value <= LARGEST_OPTION:
            raise PlanError(f"option '{self.name}' must be at most {LARGEST_OPTION}")
        if self.least is not None and isinstance(value, int | float) and value < self.least:
            raise PlanError(f"option '{self.name}' must be at least {self.least:g}, not {value:g}")
        if self.positive and value == 0:
            raise PlanError(f"option '{self.name}' must be above 0; leave it out where there is to be none")
        if self.most is not None and isinstance(value, int | float) and value > self.most:
            raise PlanError(f"option '{self.name}' must be at most {self.most:g}, not {value:g}")
        return value

    def _from_text(self, text: str) -> object:
        if self.kind is bool:
            return {"true": True, "yes": True, "false": False, "no": False}.get(text.lower(), text)
        try:
            return self.kind(text)
        except ValueError:
            return text


SEARCH_OPTIONS = (
    Option("steps", "changes to propose; as many as suit the size where nothing is said", None, int, least=0),
    Option("time", "seconds to search instead of a number of steps", None, float, least=0, positive=True),
    Option("gap", "end when at most this part of the loss, in percent, could be saved", None, float, least=0, most=100),
    Option("bound", "seconds to prove afterwards how low the loss could be", None, float, least=0, positive=True),
)
"""Options of every method that searches."""

_A_VALUE = {float: "a number", int: "a whole number", bool: "true or false", str: "a word"}


@dataclass(frozen=True)
class Method:
    """A partition method: the function and what a user should know about it.

    Attributes
    ----------
    name : str
        As the user writes it.
    function : callable
        ``function(records, k, watch, **options)`` returns the group of each record, numbered from 0; every
        group has at least k records. It is called with n >= k. One that takes a ``seed`` is given that of the plan, and
        one that takes ``limits`` what groups must keep of confidential columns
        (:class:`~shoal.kernels.given_away.Limits`), or None, for what it would do were nothing asked.
    doc, source, cost : str
        One sentence; where it was published; how the work grows with n records, d columns and group size k.
    options : tuple of Option
        Its own options.
    needs : str
        The condition on a confidential column without which it has nothing to go by, such as ``t``; empty where it
        needs none.
    by_column : bool
        Columns are treated one by one, as if each were a set of quasi-identifiers of its own.
    several_columns : tuple of str
        Options that have an effect only where a set has more than one column: a single one is cut optimally.
    exclusive : tuple of tuples of str
        Options of each of which at most one may be given.
    search : callable or None
        Where it searches for the least error of what will be released: what makes a set of quasi-identifiers, with all
        its blocks, a problem that :mod:`shoal.partition.search` searches.
    kinds : tuple of Kind
        Kinds of columns that it takes.
    records : callable
        What the function sees of a set of quasi-identifiers: points of scaled numbers
        (:meth:`~shoal.columns.quasi_identifiers.QuasiIdentifiers.points`), or distinct records of any kind with their
        frequencies (:meth:`~shoal.columns.quasi_identifiers.QuasiIdentifiers.counted`).
    category_aggregator : str
        What is released for categories with a hierarchy where nothing is said.
    """

    name: str
    function: Callable[..., Ints]
    doc: str
    source: str
    cost: str
    options: tuple[Option, ...] = ()
    needs: str = ""
    by_column: bool = False
    several_columns: tuple[str, ...] = ()
    exclusive: tuple[tuple[str, ...], ...] = ()
    search: Callable[[SearchTask], Searchable[Any]] | None = None
    kinds: tuple[Kind, ...] = MEASURABLE
    records: Callable[[QuasiIdentifiers, int], Any] = QuasiIdentifiers.points
    category_aggregator: str = "centroid"

    @property
    def mixed(self) -> bool:
        """Whether it measures distances between records of any kind."""
        return self.records is QuasiIdentifiers.counted

    @property
    def seeded(self) -> bool:
        """Whether it draws random numbers."""
        return "seed" in signature(self.function).parameters

    @property
    def told(self) -> bool:
        """Whether it is given what groups must keep of confidential columns."""
        return "limits" in signature(self.function).parameters

    def condition_mistakes(self, asked: Iterable[Mapping[str, object]]) -> list[str]:
        """Say what is missing, where no confidential column has the condition that it forms groups by."""
        if not self.needs or any(self.needs in one for one in asked):
            return []
        example = {"t": "0.2", "distinct": "3"}.get(self.needs, "...")
        return [
            f"method '{self.name}' forms groups by {self.needs} of a confidential column, and none is asked for; name "
            f"one (conditions, or -C COLUMN:{self.needs}={example})"
        ]

    def without_effect(self, given: Mapping[str, object], columns: int) -> list[str]:
        """Say which options have no effect because no set of quasi-identifiers has more than one column."""
        idle = [name for name in given if name in self.several_columns and columns == 1]
        return [
            f"method '{self.name}': option '{name}' has no effect on a single column; leave it out" for name in idle
        ]

    def refine_mistakes(self, columns: int) -> list[str]:
        """Say why refining has no effect, where no set of quasi-identifiers has more columns than this."""
        why = ""
        if self.search:
            why = f"has no effect with method '{self.name}', which improves its groups itself; leave it out"
        elif self.needs:
            why = f"knows nothing of the conditions that method '{self.name}' forms groups by; leave it out"
        elif self.by_column:
            why = f"has no effect with method '{self.name}', which treats columns one by one; leave it out"
        elif self.several_columns and columns == 1:
            why = f"has no effect, since method '{self.name}' is optimal for a single column; leave it out"
        return [f"refine: {why}"] if why else []

    def to_dict(self) -> dict[str, Any]:
        """Return what a user should know as plain texts and lists."""
        options = [{"name": o.name, "default": o.default, "doc": o.doc} for o in self.options]
        return {
            "name": self.name,
            "doc": self.doc,
            "source": self.source,
            "cost": self.cost,
            "kinds": [str(kind) for kind in self.kinds],
            "options": options,
        }

    def parse_options(self, given: Mapping[str, object]) -> dict[str, Any]:
        """Check options and fill in the defaults; all mistakes are raised together."""
        known = {option.name: option for option in self.options}
        parsed: dict[str, Any] = {name: option.default for name, option in known.items()}
        mistakes = []
        for name, value in given.items():
            if name not in known:
                has = f"it has {', '.join(known)}" if known else "it has no options"
                mistakes.append(f"method '{self.name}' has no option '{name}'{did_you_mean(str(name), known)} ({has})")
                continue
            try:
                parsed[name] = known[name].parse(value)
            except PlanError as error:
                mistakes.extend(f"method '{self.name}': {mistake}" for mistake in error.mistakes)
        for alternatives in self.exclusive:
            chosen = [name for name in alternatives if given.get(name) is not None]
            if len(chosen) < 2:
                continue
            mistakes.append(f"method '{self.name}': options {' and '.join(chosen)} exclude each other; give one")
        if mistakes:
            raise PlanError(mistakes)
        return parsed
