"""Every promise of a release, checked on the file that was written, and without any code of shoal.

Files are read with polars. Cells become plain Python values, None for whatever marks a missing one, and numbers are
compared as fractions, so that no rounding of this check hides one of the program.
"""

from __future__ import annotations

import csv
import math
import re
from collections import Counter, defaultdict
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

import polars as pl

from file_forms import as_type, database_rows, rows_of, sheet_rows
from random_tables import LEVELS, NODES

_EPOCH = datetime(1970, 1, 1)
_TICK = timedelta(microseconds=1)
_GRAINS = (86_400_000_000, 60_000_000, 1_000_000)  # days, minutes and seconds, in microseconds


def cells_of_file(path, like, narrow=True):
    """Return the columns of a file as lists of Python values; text is read as the types of a schema.

    Floats of 32 bits are ``narrow`` where a table that has them was written, and not where a text file is the original.
    """
    readers = {".xlsx": sheet_rows, ".sqlite": database_rows}
    if path.suffix in (".csv", ".tsv", ".gz", ".zst", ".jsonl", *readers):
        names, rows = readers.get(path.suffix, rows_of)(path)
        parsed = as_type if path.suffix in readers or ".jsonl" in path.suffixes else _parsed
        return {name: [parsed(row[j], like.get(name), narrow) for row in rows] for j, name in enumerate(names)}
    return cells_of_frame(pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_ipc(path))


def written_decimals(path):
    """Return with how many decimals the columns of a CSV have numbers; None where that is no grid for floats."""
    with path.open(encoding="utf-8", newline="") as lines:
        names, *rows = csv.reader(lines)
    found = {}
    for place, name in enumerate(names):
        texts = [row[place] for row in rows if row and row[place] and row[place].lower() != "nan"]
        plain = all(re.fullmatch(r"-?\d*\.?\d*", text) for text in texts) and texts
        most = max((len(text.partition(".")[2]) for text in texts), default=0)
        digits = max((abs(float(text)) for text in texts), default=0.0) * 10.0**most if plain else math.inf
        found[name] = most if digits < 1e15 else None  # what a float holds
    return found


def cells_of_frame(frame):
    """Return the columns of a frame as lists of Python values, None for what is missing."""
    return {name: [None if _is_nan(v) else v for v in frame[name].to_list()] for name in frame.columns}


def _is_nan(value):
    return isinstance(value, float) and math.isnan(value)


def _parsed(text, dtype, narrow):
    if not text or (dtype is not None and dtype.is_numeric() and text.lower() == "nan"):
        return None
    if dtype is None or dtype in (pl.String, pl.Categorical, pl.Enum):
        return text
    return as_type(text, dtype, narrow)


class ReadBack:
    """A release as its file has it, beside the original, and the groups that its records are said to be in."""

    def __init__(self, original, schema, released, plan, kinds, groups, by_column, *, written=None):
        self.original, self.schema, self.released, self.kinds = original, schema, released, kinds
        self.plan, self.k = plan, plan["k"]
        self.written = written or {}  # with how many decimals floats of a text file stand there
        self.n = len(next(iter(original.values())))
        sets = plan["quasi_identifiers"]
        self.sets = [[name] for part in sets for name in part] if by_column else sets
        columns = groups.T.tolist() if groups.ndim == 2 else [groups.tolist()]
        assert len(columns) == len(self.sets)
        self.members = []
        for column in columns:
            rows = defaultdict(list)
            for row, group in enumerate(column):
                rows[group].append(row)
            self.members.append(list(rows.values()))
        self.ruled = {"ra", "rb", "rt"} if plan.get("rules") else set()

    def check(self, persons, weights, edits):
        """Check everything."""
        self.rows_and_columns()
        self.every_record_in_one_group()
        self.k_over_every_key(persons)
        self.kept_columns()
        for part, members in zip(self.sets, self.members, strict=True):
            for name in part:
                for rows in members:
                    self.one_value_for_a_group(name, rows)
                    self.representative(name, rows, weights)
        if self.plan.get("combinations") == "observed" and not self.ruled:
            self.combinations_that_occur()
        if self.plan.get("dominance", {}).get("action") == "grow":
            self.no_group_is_dominated(weights)
        frame = pl.DataFrame({name: self.released[name] for name in self.ruled}, strict=False)
        for edit in edits if self.ruled else ():
            assert not frame.select(edit.broken.fill_null(False).any()).item(), f"the release breaks {edit.text}"

    def rows_and_columns(self):
        """Rows, names and their order are those that went in, less the identifiers."""
        removed = set(self.plan.get("identifiers", ()))
        assert list(self.released) == [name for name in self.original if name not in removed]
        assert {len(column) for column in self.released.values()} == {self.n}

    def every_record_in_one_group(self):
        """Groups have at least k records, and none has records of two strata."""
        strata = self.plan.get("strata", ()) if self.plan.get("small_strata") != "merge" else ()
        for members in self.members:
            assert sum(map(len, members)) == self.n
            assert min(map(len, members)) >= self.k
            for rows in members:
                assert all(len({self.original[name][row] for row in rows}) == 1 for name in strata)

    def k_over_every_key(self, persons):
        """Every combination of a set, missing cells included, is that of k records, and of k persons."""
        if self.plan.get("missing_patterns") == "ignored":
            return
        for part in self.sets:
            keys = list(zip(*(map(_key, self.released[name]) for name in part), strict=True))
            rare = [count for count in Counter(keys).values() if count < self.k]
            assert not rare, f"{len(rare)} keys of {part} have fewer than k records"
            for name in persons:
                owners = defaultdict(set)
                for key, owner in zip(keys, self.original[name], strict=True):
                    owners[key].add(owner)
                assert min(map(len, owners.values())) >= self.k, f"a key of {part} has fewer than k values of {name}"

    def kept_columns(self):
        """Columns that are no quasi-identifiers are as they were."""
        quasi = {name for part in self.sets for name in part}
        for name in set(self.released) - quasi:
            pairs = zip(self.original[name], self.released[name], strict=True)
            assert all(_same(a, b) for a, b in pairs), f"column {name} was to be kept"

    def one_value_for_a_group(self, name, rows):
        """A group has one value, for all its records or, where patterns are ignored, for k of those that have one."""
        before, after = self.original[name], self.released[name]
        there = [row for row in rows if after[row] is not None]
        assert all(before[row] is not None for row in there), f"column {name}: a missing value was invented"
        assert len({_key(after[row]) for row in there}) <= 1, f"column {name}: a group has two values"
        if self.plan.get("missing_patterns") == "ignored":
            seen = [row for row in rows if before[row] is not None]
            assert not there or (len(there) >= self.k and len(there) == len(seen))
        else:
            assert len(there) in (0, len(rows)), f"column {name}: a group lacks some of its values"

    def representative(self, name, rows, weights):
        """The released value is in the range of the group, and what the aggregator gives, computed slowly."""
        row = next((row for row in rows if self.released[name][row] is not None), None)
        if row is None:
            return
        value = self.released[name][row]
        seen = [r for r in rows if self.original[name][r] is not None]
        values = [self.original[name][r] for r in seen]
        own = [Fraction(weights[r]) if weights else Fraction(1) for r in seen]
        if self.kinds[name] in ("number", "date"):
            number, numbers = _number(value), [_number(v) for v in values]
            if name in self.ruled:
                numbers = [_number(v) for v in self.original[name] if v is not None]
            beyond = Fraction(self.unit(name), 2) if self.decimals_asked(name) is not None else 0  # may be rounded out
            assert min(numbers) - beyond <= number <= max(numbers) + beyond, f"column {name}: out of its group's range"
            if name not in self.ruled:
                how = self.plan.get("aggregators", {}).get(name, "mean")
                self.recomputed(name, how, number, numbers, own)
            return
        self.category(name, value, values, own)

    def category(self, name, value, values, own):
        """A released category is one of its group, or between those of its group."""
        tree = self.plan.get("hierarchies", {}).get(name)
        kind = self.kinds[name] if tree is None else "semantic"
        if len(set(values)) == 1 and self.plan.get("combinations") != "observed":
            assert value == values[0], f"column {name}: a group of one category gets another"
        if tree and "tree" in tree:
            assert value in NODES
        elif kind == "ordinal":
            places = [LEVELS.index(v) for v in values]
            if self.plan.get("combinations") != "observed":
                assert min(places) <= LEVELS.index(value) <= max(places)
        how = self.plan.get("aggregators", {}).get(name, "mode" if kind in ("nominal", "coded") else "")
        if how in ("mode", "weighted-plurality") and self.plan.get("combinations") != "observed":
            assert _weight_of(value, values, own) >= _heaviest(values, own), f"column {name}: not the mode"

    def recomputed(self, name, how, number, numbers, own):
        """The mean, median or mode of a group, rounded to what its column holds."""
        if how in ("mean", "weighted-mean"):
            expected = sum(v * w for v, w in zip(numbers, own, strict=True)) / sum(own)
        elif how == "median":
            expected = _median(numbers, own)
        elif how == "mode":
            if self.decimals_asked(name) is not None:
                return  # a value of the group, rounded
            assert _weight_of(number, numbers, own) >= _heaviest(numbers, own), f"column {name}: not the mode"
            return
        else:
            return
        unit = self.unit(name)
        largest = max(map(abs, numbers))
        off = Fraction(1, 10**6 if self.schema[name] == pl.Float32 else 10**10) * largest
        off += Fraction(2) ** (-149 if self.schema[name] == pl.Float32 else -1074)  # the least float that is not 0
        spread = max(numbers) - min(numbers)
        real = self.schema[name].is_float()
        rounding = Fraction(unit, 2) + (off if real else spread / 2**46) if unit else off
        if how == "median" and unit and not real and spread < 2**52:  # nothing but the last rounding
            rounding = Fraction(unit, 2)
        assert abs(number - expected) <= rounding, f"column {name}: not the {how} of its group"
        even = unit == 1 and self.schema[name].is_integer() and expected.denominator == 2
        if even and spread < 2**40 and len(set(own)) == 1:
            assert number % 2 == 0, f"column {name}: half goes to the even number"

    def unit(self, name):
        """What released values are rounded to, 0 for floats that have no grid."""
        dtype = self.schema[name]
        asked = self.decimals_asked(name)
        if dtype.is_integer():
            return 1
        if dtype.is_decimal():
            return Fraction(1, 10 ** (dtype.scale if asked is None else min(dtype.scale, asked)))
        if dtype == pl.Date:
            return _GRAINS[0]
        if dtype.is_temporal():
            ticks = [int(_number(v)) for v in self.original[name] if v is not None]
            coarse = (g for g in _GRAINS if all((tick - ticks[0]) % g == 0 for tick in ticks))
            return next(coarse, 1000 if dtype.time_unit == "ms" else 1)
        decimals = asked if asked is not None else self.written.get(name)
        given = self.plan.get("decimals", {})
        return 0 if decimals is None or given.get(name, given.get("*")) == "all" else Fraction(1, 10**decimals)

    def decimals_asked(self, name):
        """How many decimals the plan asks for, None where it names no number."""
        given = self.plan.get("decimals", {})
        asked = given.get(name, given.get("*"))
        return asked if isinstance(asked, int) and not self.schema[name].is_integer() else None

    def combinations_that_occur(self):
        """Released categories stand together somewhere in the original."""
        for part in self.sets:
            names = [name for name in part if self.kinds[name] not in ("number", "date")]
            known = set(zip(*(self.original[name] for name in names), strict=True))
            for row in set(zip(*(self.released[name] for name in names), strict=True)):
                fits = any(all(b in (None, a) for a, b in zip(one, row, strict=True)) for one in known)
                assert fits, f"a combination of {names} does not occur in the original"

    def no_group_is_dominated(self, weights):
        """No mean of numbers is dominated by the rule of the plan."""
        rule = self.plan["dominance"]
        for part, members in zip(self.sets, self.members, strict=True):
            for name in part:
                how = self.plan.get("aggregators", {}).get(name, "mean")
                if self.kinds[name] != "number" or how not in ("mean", "weighted-mean") or name in self.ruled:
                    continue
                for rows in members:
                    seen = [r for r in rows if self.released[name][r] is not None]
                    sizes = [
                        abs(_number(self.original[name][r])) * (Fraction(weights[r]) if weights else 1) for r in seen
                    ]
                    assert not sizes or not _dominated(sorted(sizes, reverse=True), rule), f"column {name}: dominated"


def _dominated(sizes, rule):
    slack = 1 - Fraction(1, 10**6)
    total = sum(sizes)
    if not total:
        return False
    if rule.get("n"):
        return sum(sizes[: rule["n"]]) * slack > total * Fraction(rule["share"]) / 100
    rest = total - sum(sizes[:2]) if len(sizes) > 2 else sum(sizes[1:])
    return rest < Fraction(rule["p"]) / 100 * sizes[0] * slack


def _number(value):
    """Return a number, or the microseconds of a date or time, as a fraction."""
    if isinstance(value, datetime):
        return Fraction((value.replace(tzinfo=None) - _EPOCH) // _TICK)
    if isinstance(value, date):
        return Fraction((value - _EPOCH.date()) // _TICK)
    return Fraction(value)


def _median(numbers, own):
    ordered = sorted(zip(numbers, own, strict=True))
    half, reached = sum(own) / 2, Fraction(0)
    for place, (value, weight) in enumerate(ordered):
        reached += weight
        if reached == half:
            return (value + ordered[place + 1][0]) / 2
        if reached > half:
            return value
    raise AssertionError("no weight")


def _weight_of(value, values, own):
    return sum(w for v, w in zip(values, own, strict=True) if v == value)


def _heaviest(values, own):
    """Return the weight of the mode, a little less."""
    weights = defaultdict(Fraction)
    for value, weight in zip(values, own, strict=True):
        weights[value] += weight
    return max(weights.values()) * (1 - Fraction(1, 10**9))  # what is added in floats may be less


def _same(a, b):
    if isinstance(a, float | Decimal) and isinstance(b, float | Decimal):
        return float(a) == float(b)
    return a == b and (a is None) == (b is None)


def _key(value):
    return "(missing)" if value is None else value
