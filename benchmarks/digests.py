"""Digests of releases: python benchmarks/digests.py OUT.jsonl, before a change that must not change any and after it.

    python benchmarks/digests.py --compare OLD.jsonl NEW.jsonl [--allow benchmarks/digests-intended.txt]

lists the cases whose release, figures or error differ, and exits with status 1 where there are any. All methods run on
many tables with many settings, through the public names of shoal alone: digest_tables, digest_cases and digest_outputs
have them. A method, or an option of one, without a case is an error. A file of intended differences has a glob pattern
of cases and the reason on each line, with ``#`` between them; a pattern that ends in ``only notes`` means differences
of the notes, and no others.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import sys
import tempfile
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import chdir
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import shoal
from digest_cases import Case, release_cases
from digest_outputs import output_cases
from digest_tables import FOLDER
from record import machine

CLOSE = 1e-12  # relative difference of figures that is none
Line = dict[str, Any]


def run(cases: Sequence[Case], out: Path) -> list[Line]:
    """Run cases, write a line for each, and return the lines."""
    lines = []
    started = time.process_time()
    with out.open("w", encoding="utf-8") as handle, tempfile.TemporaryDirectory() as folder, chdir(folder):
        handle.write(json.dumps({"benchmark": "digests", **machine()}) + "\n")
        for place, case in enumerate(cases, 1):
            before = time.process_time()
            lines.append({"case": case.name, **outcome(case)})
            handle.write(json.dumps(lines[-1], ensure_ascii=False) + "\n")
            taken = time.process_time() - before
            if place % 100 == 0 or place == len(cases) or taken > 3.0:
                told = f"{place} of {len(cases)} after {time.process_time() - started:.0f} s, {taken:.1f} s of them:"
                print(told, case.name, file=sys.stderr, flush=True)
    return lines


def outcome(case: Case) -> Line:
    """Run a case: the digest of its release, its figures, or its error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = case.run()
        except Exception as error:  # whatever is raised is what the case comes to
            found = {"error": f"{type(error).__name__}: {error}".replace(str(FOLDER), "DATA")}
        else:
            found = release_line(found) if isinstance(found, shoal.Release) else {"figures": found}
    told = sorted({f"{one.category.__name__}: {one.message}" for one in caught})
    return {**found, "warnings": told} if told else found


def release_line(release: shoal.Release) -> Line:
    """Return what is recorded of a release."""
    summary = release.summary
    return {
        "digest": hashlib.sha256(b"".join(release_bytes(release))).hexdigest(),
        "loss": summary.information_loss,
        "sse": summary.sse,
        "groups": summary.groups,
        **({"notes": summary.notes} if summary.notes else {}),
    }


def release_bytes(release: shoal.Release) -> Iterator[bytes]:
    """Return what a digest is made of: groups, and names, types, values and missing cells of a table of any library."""
    data, groups = release.data, release.groups
    yield f"{groups.shape}{groups.dtype}".encode() + groups.tobytes()
    if isinstance(data, pl.DataFrame):
        for column in data:
            yield f"{column.name}\0{column.dtype}\0".encode()
            yield column.is_null().to_numpy().tobytes()
            measured = column.dtype.is_integer() or column.dtype.is_float() or column.dtype.is_temporal()
            yield (
                column.to_physical().fill_null(0).to_numpy().tobytes() if measured else repr(column.to_list()).encode()
            )
    elif hasattr(data, "to_pylist"):
        yield repr((data.schema.names, list(map(str, data.schema.types)), data.to_pylist())).encode()
    else:
        yield repr((list(data.index), list(data.columns), list(map(str, data.dtypes)))).encode()
        for name in data.columns:
            yield repr([*data[name]]).encode()


def uncovered(cases: Sequence[Case], lines: Sequence[Line]) -> list[str]:
    """Return the methods, and options of methods, without a case that came to a release."""
    released = [case for case, line in zip(cases, lines, strict=True) if "digest" in line]
    shown = {(case.method, option) for case in released for option in (None, *case.options)}
    return [
        f"method '{name}'" + (f", option '{option}'" if option else "")
        for name, method in shoal.METHODS.items()
        for option in (None, *(option.name for option in method.options))
        if (name, option) not in shown
    ]


def differences(old: Any, new: Any, place: str = "") -> Iterator[str]:
    """Say where two recorded values differ; numbers that are close do not.

    >>> list(differences({"loss": 1.0, "digest": "a"}, {"loss": 1.0 + 1e-15, "digest": "b"}))
    ["digest: 'a' -> 'b'"]
    """
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for name in dict.fromkeys((*old, *new)):
            if name in old and name in new:
                yield from differences(old[name], new[name], f"{place}.{name}".lstrip("."))
            else:
                there, value = ("gone", old[name]) if name in old else ("new", new[name])
                yield f"{place}.{name}".lstrip(".") + f": {there}, {value!r}"
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for i, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from differences(before, after, f"{place}.{i}")
    elif not _same(old, new):
        yield f"{place}: {old!r} -> {new!r}"


def _same(old: Any, new: Any) -> bool:
    """Whether two values are equal; numbers, close: a whole number is one too, a truth is not."""
    if type(old) in (int, float) and type(new) in (int, float):
        return math.isclose(old, new, rel_tol=CLOSE) or bool(np.isnan(old) and np.isnan(new))
    return type(old) is type(new) and bool(old == new)


@dataclass(frozen=True)
class Comparison:
    """Two runs: cases that differ, those that were meant to, and patterns of intended differences that match none."""

    found: list[str] = field(default_factory=list)
    meant: list[str] = field(default_factory=list)
    idle: list[str] = field(default_factory=list)


def compare(old: Iterable[Line], new: Iterable[Line], allowed: Mapping[str, str]) -> Comparison:
    """Return the cases in which two runs differ, in words.

    Parameters
    ----------
    old, new : lines of the runs
        Lines without a case, such as the first, play no part.
    allowed : dict
        Reasons by the glob pattern of the cases that are meant to differ.
    """
    before, after = ({line["case"]: line for line in lines if "case" in line} for lines in (old, new))
    result, used = Comparison(), set()
    for name in dict.fromkeys((*before, *after)):
        if name in before and name in after:
            told = list(differences(before[name], after[name]))
        else:
            told = ["only in the old run" if name in before else "only in the new run"]
        patterns = [pattern for pattern in allowed if any(_covers(pattern, name, place) for place in told)]
        used.update(patterns)
        told = [place for place in told if not any(_covers(pattern, name, place) for pattern in patterns)]
        if patterns and not told:
            result.meant.append(f"{name}: {allowed[patterns[0]]}")
        elif told:
            result.found.append("\n    ".join([name, *told]))
    result.idle.extend(pattern for pattern in allowed if pattern not in used)
    return result


def _covers(pattern: str, case: str, told: str) -> bool:
    """Whether an intended difference is this one of a case.

    >>> _covers("a|* only notes", "a|mdav", "notes: new, []"), _covers("a|* only notes", "a|mdav", "loss: 1 -> 2")
    (True, False)
    """
    cases, only, place = pattern.partition(" only ")
    return fnmatchcase(case, cases) and (not only or told.startswith(place))


def read_lines(path: Path) -> list[Line]:
    """Read the lines of a run."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def read_allowed(path: Path) -> dict[str, str]:
    """Read the intended differences: on each line a pattern, ``#``, and why; a line that begins with # is a comment."""
    allowed = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        pattern, _, reason = (part.strip() for part in line.partition("#"))
        if pattern and not reason:
            raise SystemExit(f"{path}, line {number}: say after # why '{pattern}' may differ")
        if pattern:
            allowed[pattern] = reason
    return allowed


def all_cases() -> list[Case]:
    """Return all cases, each under a name of its own."""
    try:
        cases = [*release_cases(), *output_cases()]
    except LookupError as error:
        raise SystemExit(str(error.args[0])) from None
    names = [case.name for case in cases]
    twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    if twice:
        raise SystemExit("these cases are there twice: " + ", ".join(twice))
    return cases


def main() -> None:
    """Run all cases, or compare two runs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", nargs="?", type=Path, metavar="OUT", help="where to write the lines of a run")
    parser.add_argument("--only", metavar="PATTERN", help="run only the cases that match a glob pattern")
    parser.add_argument("--compare", nargs=2, type=Path, metavar=("OLD", "NEW"), help="compare two runs")
    parser.add_argument("--allow", type=Path, metavar="FILE", help="intended differences")
    arguments = parser.parse_args()
    if (arguments.out is None) == (arguments.compare is None):
        parser.error("name a file to write, or two to compare")
    if arguments.compare is None:
        _make(arguments.out, arguments.only)
        return
    old, new = (read_lines(path) for path in arguments.compare)
    result = compare(old, new, read_allowed(arguments.allow) if arguments.allow else {})
    for title in ("idle", "meant", "found"):
        for told in getattr(result, title):
            print(f"{_TITLES[title]}: {told}")
    commits = [next((line["commit"] for line in lines if "commit" in line), "unknown") for lines in (old, new)]
    counts = [sum("case" in line for line in lines) for lines in (old, new)]
    print(f"{counts[0]} cases at {commits[0]}, {counts[1]} at {commits[1]}: {len(result.found)} differ", end="")
    print(f", {len(result.meant)} more were meant to")
    sys.exit(1 if result.found else 0)


_TITLES = {"idle": "no case differs that matches", "meant": "meant to differ", "found": "differs"}


def _make(out: Path, only: str | None) -> None:
    if not (FOLDER / "casc").is_dir():
        raise SystemExit(f"the reference data are not in '{FOLDER}': set SHOAL_DATA to their folder")
    cases = [case for case in all_cases() if only is None or fnmatchcase(case.name, only)]
    lines = run(cases, out.resolve())
    refused = sum("error" in line for line in lines)
    print(f"{len(lines)} cases, {refused} of them refused", file=sys.stderr)
    bare = uncovered(cases, lines) if only is None else []
    if bare:
        raise SystemExit("no release shows " + "; ".join(bare) + ": add a case to digest_cases.py")


if __name__ == "__main__":
    main()
