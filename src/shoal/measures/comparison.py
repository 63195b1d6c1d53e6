"""Two tables to pairs of columns that can be measured: all mistakes are found before any work is done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import narwhals as nw
import numpy as np

from shoal.columns.categories import ordinal
from shoal.columns.hierarchy import COUNTED, Hierarchy, NodeDistances, check_covered, load_hierarchy, name_of
from shoal.columns.numbers import Column
from shoal.columns.scaling import DEFAULT_SCALING, ScalingName, fit_scale
from shoal.errors import DataError, PlanError, counted, did_you_mean
from shoal.kernels.arrays import Floats, Ints, Masked
from shoal.measures.column_settings import ColumnSettings
from shoal.measures.pairs import MISSING, CategoryPair, NumericPair, OrdinalPair, Pair, SemanticPair, numeric_pair
from shoal.plan.hierarchies import HierarchySettings
from shoal.plan.roles import MEASURABLE, Kind
from shoal.tables.table import Table, open_table
from shoal.tables.weights import sampling_weights

_COMPARABLE = (*MEASURABLE, Kind.NOMINAL, Kind.BOOLEAN)


@dataclass(frozen=True)
class Comparison:
    """Columns of an original and of its release, by what they are measured for.

    Attributes
    ----------
    records : int
        Rows of both tables.
    sets : list of list of Pair
        The quasi-identifiers, in the sets that were microaggregated together.
    column_weights : dict
        How much each of them counts in the loss; 1 where nothing is said.
    known : list of Pair
        What an intruder knows: the same, or some columns.
    blocks : list of Pair
        Columns in which a record must agree to be compared by an intruder.
    confidential : list of Pair
        The confidential columns.
    weights : float64 (n,) or None
        Sampling weights.
    population : list of Pair
        The quasi-identifiers of a population in the place of the original; empty where none was given.
    unique_columns : int or None
        Columns of the largest minimal sample uniques to look for; None where nothing is said.
    notes : list of str
        What a user should know about the comparison.
    """

    records: int
    sets: list[list[Pair]]
    column_weights: Mapping[str, float]
    known: list[Pair]
    blocks: list[Pair]
    confidential: list[Pair]
    weights: Floats | None
    population: list[Pair]
    unique_columns: int | None
    notes: list[str]

    @property
    def pairs(self) -> list[Pair]:
        """The quasi-identifiers, set after set."""
        return [pair for part in self.sets for pair in part]


def compare(
    original: Table,
    released: Table,
    *,
    quasi_identifiers: Sequence[Sequence[str]] | None = None,
    columns: ColumnSettings | None = None,
    confidential: Sequence[str] = (),
    weight: str | None = None,
    known: Sequence[str] = (),
    blocking: Sequence[str] = (),
    population: Table | None = None,
    unique_columns: int | None = None,
) -> Comparison:
    """Match the columns of two tables by name, and their rows by position.

    ``quasi_identifiers`` are in sets, and all columns of both tables where None; ``columns`` says what they are where
    their type does not.
    """
    notes: list[str] = []
    columns = columns or ColumnSettings()
    if quasi_identifiers is None:
        quasi_identifiers = [_columns_of_both(original, released, {*confidential, weight, *blocking}, notes)]
    named = {
        "quasi-identifiers": [name for part in quasi_identifiers for name in part],
        "known": list(known),
        "blocking": list(blocking),
        "confidential": list(confidential),
    }
    _check_names(original, released, named, weight, population)
    strange = columns.mistakes(named["quasi-identifiers"])
    if strange:
        raise PlanError(strange)
    if len(original) != len(released):
        raise DataError(
            f"the original has {counted(len(original), 'record')} and the release {len(released)}; rows are compared "
            "one by one, so both need the same rows in the same order"
        )
    if len(original) < 2:
        raise DataError(f"the tables have {counted(len(original), 'record')}; there is nothing to measure")
    pairs: dict[str, Pair] = {}
    reasons: list[str] = []
    for name in dict.fromkeys(name for names in named.values() for name in names):
        try:
            pairs[name] = _said(original, released, name, columns) or _pair(
                original, released, name, notes, columns.scaling
            )
        except DataError as error:
            reasons += error.mistakes
    weights = None
    if weight is not None:
        try:
            weights = sampling_weights(released if weight in released.names else original, weight)
        except DataError as error:
            reasons += error.mistakes
    if reasons:
        raise DataError(reasons)
    quasi, intruder, blocks, kept = ([pairs[name] for name in names] for names in named.values())
    return Comparison(
        records=len(original),
        sets=[[pairs[name] for name in part] for part in quasi_identifiers if part],
        column_weights=columns.column_weights,
        known=intruder or quasi,
        blocks=blocks,
        confidential=kept,
        weights=weights,
        population=[] if population is None else [_pair(population, released, pair.name, []) for pair in quasi],
        unique_columns=unique_columns,
        notes=notes,
    )


def _columns_of_both(original: Table, released: Table, others: set[str | None], notes: list[str]) -> list[str]:
    """Return the columns of numbers, dates and categories that both tables have and that have no other role."""
    shared = [name for name in original.names if name in released.names and name not in others]
    found = [n for n in shared if original.kind(n) in _COMPARABLE and released.kind(n) in _COMPARABLE]
    single = [n for n in (*original.names, *released.names) if (n in original.names) != (n in released.names)]
    strange = [name for name in shared if name not in found]
    if not found:
        raise DataError("the tables have no column in common that can be measured; rename the columns, or name some")
    notes.append(f"no quasi-identifiers were named, so all columns of both tables are taken: {', '.join(found)}")
    if single:
        notes.append(f"in one of the tables only, so not measured: {', '.join(single)}")
    if strange:
        notes.append(f"neither numbers, dates nor categories, so not measured: {', '.join(strange)}")
    return found


def _check_names(
    original: Table, released: Table, named: dict[str, list[str]], weight: str | None, population: Table | None
) -> None:
    """Refuse columns that are not in both tables, that are named twice, or whose roles exclude each other."""
    mistakes = []
    for role, names in named.items():
        for name in dict.fromkeys(names):
            if names.count(name) > 1:
                mistakes.append(f"{role}: column '{name}' is named twice")
            for table, what in ((original, "original"), (released, "release")):
                if name not in table.names:
                    hint = did_you_mean(name, table.names)
                    mistakes.append(f"{role}: column '{name}' is not in the {what}{hint}")
    if not named["quasi-identifiers"]:
        mistakes.append("quasi-identifiers: name at least one column")
    for name in named["confidential"]:
        if name in named["quasi-identifiers"]:
            mistakes.append(f"column '{name}' is a quasi-identifier and confidential; it can be one of them")
    if weight is not None and weight not in original.names and weight not in released.names:
        mistakes.append(f"weight: column '{weight}' is in neither table{did_you_mean(weight, original.names)}")
    if population is not None:
        absent = [name for name in named["quasi-identifiers"] if name not in population.names]
        mistakes += [f"population: column '{n}' is not in it{did_you_mean(n, population.names)}" for n in absent]
    if mistakes:
        raise PlanError(list(dict.fromkeys(mistakes)))


def _said(original: Table, released: Table, name: str, columns: ColumnSettings) -> Pair | None:
    """Take a column as what was said about it; None where nothing was."""
    if name in columns.hierarchies:
        return _meant(original, released, name, columns.hierarchies[name])
    if name in columns.orders:
        levels = columns.orders[name]
        places = [ordinal(name, table.factor(name), levels) for table in (original, released)]
        before, after = (np.where(column.observed, column.values, MISSING) for column in places)
        return OrdinalPair(name, before, after, len(levels))
    if name in columns.nominal:
        return _categories(original, released, name, original.kind(name) is released.kind(name))
    return None


def _pair(original: Table, released: Table, name: str, notes: list[str], scaling: ScalingName | None = None) -> Pair:
    """Take a column as what its type tells."""
    kinds = (original.kind(name), released.kind(name))
    if Kind.OTHER in kinds:
        raise DataError(f"column '{name}' is neither numbers, dates nor categories; leave it out")
    if kinds[0] in MEASURABLE and kinds[0] is kinds[1]:
        return _numbers(original, released, name, scaling or DEFAULT_SCALING)
    if kinds[0] is not kinds[1] and set(kinds) & set(MEASURABLE):
        notes.append(
            f"column '{name}' is {kinds[0]} in the original and {kinds[1]} in the release, so its values are compared "
            "as categories; if some texts mark missing values, say so (missing=[...] in `reading`, or --missing)"
        )
    return _categories(original, released, name, kinds[0] is kinds[1])


def _numbers(original: Table, released: Table, name: str, scaling: ScalingName) -> NumericPair:
    types = [table.frame[name].dtype for table in (original, released)]
    if types[0] != types[1] and original.kind(name) is Kind.DATE:
        original, released = (_in_microseconds(table, name) for table in (original, released))
    before, after = original.column(name), released.column(name)
    pair = numeric_pair(before, Masked(_from(before, after), after.observed), fit_scale(before, scaling))
    return replace(pair, dated=original.kind(name) is Kind.DATE)


def _in_microseconds(table: Table, name: str) -> Table:
    """Return a table with one column of dates or times in the unit that both can be compared in."""
    return open_table(table.frame.select(table.frame[name].cast(nw.Datetime("us"))).to_native())


def _from(before: Column, after: Column) -> Floats:
    """Return released values in the units of the original: from its origin, in its steps."""
    shift = float(after.origin - before.origin)
    return (after.values.astype(np.float64) * after.step + shift) / before.step


def _categories(original: Table, released: Table, name: str, same_kind: bool) -> CategoryPair:
    """Number the values of a column alike in both tables."""
    codes: dict[object, int] = {}
    try:
        before, after = (_numbered(table, name, same_kind, codes) for table in (original, released))
    except Exception:  # libraries raise different errors for lists and other values without a hash
        codes = {}
        before, after = (_numbered_by_name(table, name, codes) for table in (original, released))
    return CategoryPair(name, before, after, len(codes))


def _meant(original: Table, released: Table, name: str, source: HierarchySettings | Hierarchy) -> SemanticPair:
    """Take the values of a column in both tables as nodes of its hierarchy."""
    distance = source.distance if isinstance(source, HierarchySettings) else "wu-palmer"
    codes: dict[object, int] = {}
    before, after = (_numbered(table, name, False, codes) for table in (original, released))
    values = [name_of(value) for value in codes]
    seen = np.unique(before[before >= 0])
    try:
        hierarchy = load_hierarchy(source, [values[code] for code in seen])
        check_covered(hierarchy, values)
    except DataError as error:
        raise DataError([f"column '{name}': {mistake}" for mistake in error.mistakes]) from None
    nodes = np.append(hierarchy.codes_of(values), MISSING)  # so that the code of a missing value stays what it is
    frequencies = None
    if distance in COUNTED:
        frequencies = np.bincount(nodes[before[before >= 0]], minlength=len(hierarchy)).astype(np.float64)
    measured = NodeDistances.of(hierarchy, distance, frequencies)
    return SemanticPair(name, nodes[before], nodes[after], len(hierarchy), measured)


def _numbered(table: Table, name: str, same_kind: bool, codes: dict[object, int]) -> Ints:
    """Number the values of a column by first appearance, after those that have a number already; -1 where missing.

    Values are the same where they are equal in columns of the ``same_kind``, and where their names are in others.
    """
    factor = table.factor(name)
    numbers = [codes.setdefault(label if same_kind else name_of(label), len(codes)) for label in factor.labels]
    return np.where(factor.observed, np.array(numbers or [MISSING], dtype=np.int64)[factor.codes], MISSING)


def _numbered_by_name(table: Table, name: str, codes: dict[object, int]) -> Ints:
    values, observed = table.cells(name)
    found = (
        codes.setdefault(name_of(value), len(codes)) if there else MISSING
        for value, there in zip(values, observed.tolist(), strict=True)
    )
    return np.fromiter(found, np.int64, len(values))
