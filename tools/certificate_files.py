"""The two files of a check: a certificate of shoal, and the table that it is about.

Everything that the check takes from them is looked at here first: that entries are there and are what they should be,
and that cells are numbers. Whether it is true is not asked here. No message shows the value of a cell.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

from scaled_columns import SPREADS

FORMAT = "shoal lower bound 4"
LARGEST = 1e250  # sums of products of these with counts of records are finite, so that nothing compares as not a number


class UncheckedError(Exception):
    """A file is not there, or is not what it should be."""


class Kind(NamedTuple):
    """What an entry has to be, in words and as a test."""

    words: str
    fits: Callable[[Any], bool]


def whole(x: object) -> bool:
    """Whether it is a whole number that fits into 64 bits."""
    return isinstance(x, int) and not isinstance(x, bool) and -(2**63) <= x < 2**63


def finite(x: object) -> bool:
    """Whether it is a number that is neither infinite nor too large to count with."""
    return isinstance(x, int | float) and not isinstance(x, bool) and -LARGEST <= x <= LARGEST


def list_of(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Return the test of a list whose items fit."""
    return lambda x: isinstance(x, list) and all(map(fits, x))


def is_text(x: object) -> bool:
    """Whether it is text."""
    return isinstance(x, str)


def is_object(x: object) -> bool:
    """Whether it has entries of its own."""
    return isinstance(x, dict)


TEXT = Kind("text", is_text)
FINITE = Kind(f"a finite number, of at most {LARGEST:g}", finite)
FINITES = Kind(f"a list of finite numbers, of at most {LARGEST:g}", list_of(finite))
WHOLE = Kind("a whole number", whole)
WHOLES = Kind("a list of whole numbers", list_of(whole))
OBJECT = Kind("an object with entries of its own", is_object)
OBJECTS = Kind("a list of objects", list_of(is_object))

LEAF = {"prices": FINITES, "cuts": OBJECTS}
CUT = {"records": WHOLES, "every": WHOLE, "multiplier": FINITE}
FORK = {
    "pair": Kind("a list of two whole numbers", lambda x: WHOLES.fits(x) and len(x) == 2),
    "together": OBJECT,
    "apart": OBJECT,
}
ENTRIES = {
    "k": Kind("a whole number of at least 2", lambda x: whole(x) and x >= 2),
    "scaling": Kind(f"one of {', '.join(SPREADS)}", lambda x: is_text(x) and x in SPREADS),
    "columns": Kind("a list of names of columns", lambda x: list_of(is_text)(x) and len(x) > 0),
    "records": WHOLE,
    "total": FINITE,
    "cost": FINITE,
    "proved": Kind(f"a finite number of at least 0 and at most {LARGEST:g}", lambda x: finite(x) and x >= 0),
    "blocks": WHOLES,
    "groups": WHOLES,
    **LEAF,
    "branches": OBJECTS,
}


def bytes_of(path: Path) -> bytes:
    """Return what is in a file."""
    if path.is_dir():
        raise UncheckedError(f"'{path}' is a folder; name a file in it")
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise UncheckedError(f"there is no file '{path}'") from None
    except OSError as error:
        raise UncheckedError(f"'{path}' cannot be read: {error.strerror}") from None


def read_certificate(path: Path) -> dict[str, Any]:
    """Return a certificate whose entries are what they should be."""
    found = json_of(path, bytes_of(path))
    if not isinstance(found, dict) or not isinstance(found.get("certificate"), str):
        raise UncheckedError(
            f"'{path}' is no certificate of shoal: it has no entry 'certificate' with its format, which should be "
            f"'{FORMAT}'; name the file that --certificate wrote"
        )
    if found["certificate"] != FORMAT:
        raise UncheckedError(
            f"the format of '{path}' is '{found['certificate']}', and this program understands '{FORMAT}' only; take "
            "the program that came with the shoal that wrote it, or have the certificate written anew"
        )
    look_through(found, ENTRIES)
    look_at_cuts(found)
    if "better" in found:
        look_at_own(found, "better", {"groups": WHOLES, "cost": FINITE})
    if "input" in found:
        look_at_own(found, "input", {"name": TEXT})
        if "sha256" in found["input"]:
            look_through(found["input"], {"sha256": TEXT}, " of 'input'")
    for i, own in enumerate(found["branches"]):
        look_at_branches(own, f" in item {i + 1} of 'branches'")
    return found


def json_of(path: Path, content: bytes) -> object:
    """Return what a file of JSON says."""
    try:
        return json.loads(content.decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        reason = f"it is broken at line {error.lineno}, column {error.colno}"
    except UnicodeDecodeError:
        reason = "it is no text in UTF-8"
    except ValueError:
        reason = "a number in it has too many digits"
    except RecursionError:
        reason = "its entries are nested too deeply"
    raise UncheckedError(f"'{path}' is no JSON that can be read: {reason}; name the certificate first, then the table")


def look_through(entries: Mapping[str, Any], kinds: Mapping[str, Kind], where: str = "") -> None:
    """Refuse entries that are missing or not what they should be; all that are wrong are told."""
    wrong = [f"entry '{name}'{where} is missing" for name in kinds if name not in entries]
    wrong += [
        f"entry '{name}'{where} has to be {kind.words}"
        for name, kind in kinds.items()
        if name in entries and not kind.fits(entries[name])
    ]
    if wrong:
        raise UncheckedError(f"in the certificate {', '.join(wrong)}; have it written anew")


def look_at_own(entries: Mapping[str, Any], name: str, kinds: Mapping[str, Kind], where: str = "") -> None:
    """Refuse an entry that has not the entries that it should have."""
    look_through(entries, {name: OBJECT}, where)
    look_through(entries[name], kinds, f" of '{name}'{where}")


def look_at_cuts(entries: Mapping[str, Any], where: str = "") -> None:
    """Refuse cuts that are none."""
    for i, cut in enumerate(entries["cuts"]):
        look_through(cut, CUT, f" of cut {i + 1}{where}")


def look_at_branches(own: Mapping[str, Any], where: str) -> None:
    """Refuse branches of a block that are none."""
    look_through(own, {"records": WHOLES, "tree": OBJECT}, where)
    if "listed" in own:
        look_at_own(own, "listed", {**LEAF, "below": FINITE}, where)
        look_at_cuts(own["listed"], f" of 'listed'{where}")
        if "pair" in own["listed"]:
            raise UncheckedError(f"entry 'listed'{where} has no pair, as it is no branch; have it written anew")
    # a list of what is left, since trees may be deeper than calls can be nested
    left = [own["tree"]]
    while left:
        branch = left.pop()
        if "pair" in branch:
            look_through(branch, FORK, where)
            left += [branch["apart"], branch["together"]]
        if "pair" not in branch or "prices" in branch:
            look_through(branch, LEAF, where)
            look_at_cuts(branch, where)


def other_source(certificate: Mapping[str, Any], content: bytes) -> str | None:
    """Return the name of the file that a certificate was made from, where its bytes are not these; otherwise None.

    The checksum is that of a file's bytes. That of several files is one of a list of them, which nothing here has.
    """
    made_from = certificate.get("input", {})
    if "sha256" not in made_from or "files" in made_from:
        return None
    return None if hashlib.sha256(content).hexdigest() == made_from["sha256"] else str(made_from["name"])


def delimiter(text: str) -> str:
    """Return what divides cells, as the command line says it."""
    mark = "\t" if text == "\\t" else text
    if len(mark) != 1 or mark in '"\r\n':
        raise argparse.ArgumentTypeError("it is one character, or \\t for a tab")
    return mark


def columns_of(path: Path, content: bytes, names: list[str], delimiter: str, decimal: str) -> ndarray:
    """Return the columns (n, d) of a table."""
    try:
        lines = csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), delimiter=delimiter)
        header = next(lines, [])
        absent = [f"'{name}'" for name in names if name not in header]
        if absent:
            raise UncheckedError(
                f"the table '{path}' does not have the columns of the certificate: {', '.join(absent)} not found in "
                f"its first line, which is divided at '{delimiter}'; another --delimiter may do"
            )
        twice = [f"'{name}'" for name in names if header.count(name) > 1]
        if twice:
            raise UncheckedError(f"the table '{path}' has more than one column of the name {', '.join(twice)}")
        places = {name: header.index(name) for name in names}
        rows = [numbers_of(row, lines.line_num, places, len(header), decimal) for row in lines if row]
    except UnicodeDecodeError:
        raise UncheckedError(f"the table '{path}' is no text in UTF-8; save it as CSV in UTF-8") from None
    except csv.Error as error:
        raise UncheckedError(f"the table '{path}' cannot be read as CSV at line {lines.line_num}: {error}") from None
    if not rows:
        raise UncheckedError(f"the table '{path}' has no records")
    return np.array(rows)


def numbers_of(row: list[str], line: int, places: Mapping[str, int], width: int, decimal: str) -> list[float]:
    """Return the numbers of a row that stand at some places."""
    if len(row) > width:
        raise UncheckedError(
            f"line {line} of the table has {len(row)} cells, and its first line {width}; cells in which the delimiter "
            "occurs stand in quotation marks, or another --delimiter may do"
        )
    numbers = []
    for name, place in places.items():
        cell = row[place].strip() if place < len(row) else ""
        if not cell:
            raise UncheckedError(
                f"column '{name}' in line {line} of the table is empty; a certificate is about complete columns"
            )
        number = number_of(cell, decimal)
        if number is None:
            other = "." if decimal == "," else ","
            meant = number_of(cell, other) is not None
            hint = f"if its decimal mark is '{other}', add --decimal {other}" if meant else "write it with digits only"
            raise UncheckedError(f"column '{name}' in line {line} of the table is not a number; {hint}")
        numbers.append(number)
    return numbers


def number_of(cell: str, decimal: str) -> float | None:
    """Return the number that a cell stands for with a decimal mark; None where it stands for none."""
    if "_" in cell or (decimal == "," and "." in cell):
        return None
    try:
        number = float(cell.replace(decimal, "."))
    except ValueError:
        return None
    return number if math.isfinite(number) else None
