"""Sentences fit 0, 1 and many: no number stands before a plural unless it can never be 1."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.errors import counted, decimal, fewer_others, ranged

PACKAGE = Path(shoal.__file__).parent
PLURALS = (
    "records|groups|cells|columns|values|rules|names|combinations|strata|others|steps|blocks|sets|rows|files|results|"
    "samples|categories|leaves|levels|points|mistakes|identifiers|quasi-identifiers|lines|methods|tables|changes|reasons"
)
NEVER_ONE = {  # expressions that stand before a plural and are never 1 where they do, and why
    "k": "at least 2",
    "plan.k": "at least 2",
    "asked.k": "at least 2",
    "2 * plan.k": "at least 4",
    "k - 1": "k = 2 has another sentence",
    "edition.least": "at least 10",
    "facts.edition.least": "at least 10",
    "len(self.mistakes)": "one mistake is told without a number",
    "len(front)": "a front of one has another sentence",
    "len(there)": "one combination has another sentence",
    "len(asked.sets)": "one set has another sentence",
    "sets": "one set has another sentence",
    "len(above)": "one parent is right",
    "len(names)": "correlations are of two columns at least",
    "len(at)": "too many for a matrix",
    "len(rest)": "too many for a matrix",
    "self.entropy": "more than 1, or there is nothing to keep",
    "grown.height": "deeper than a hierarchy may be",
    "measures.records": "at least 2, or there is nothing to measure",
    "records": "a sample of a table with at least 2",
    "sample": "at least k records",
    "link.records": "a sample is of 500 at least",
    "int(found['records'])": "a sample is of 500 at least",
    "model['pmse_records']": "a sample is of 20 000",
    "link.error": "points with decimals",
    "short(found['error'], 2)": "points with decimals",
    "kind": "a word",
    "points(risk)": "points with decimals",
    "points(loss)": "points with decimals",
}


def plurals_after_numbers():
    """Yield file, line and expression of each number that stands before a plural in a text.

    Constants are many, and a text that is handed to one_or_many is for many.
    """
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        calls = [n for n in tree if isinstance(n, ast.Call) and ast.unparse(n.func).endswith("one_or_many")]
        for_many = {id(part) for call in calls for part in ast.walk(call.args[-1])}
        for node in tree:
            if not isinstance(node, ast.JoinedStr) or id(node) in for_many:
                continue
            for value, after in zip(node.values, node.values[1:], strict=False):
                number = isinstance(value, ast.FormattedValue) and isinstance(after, ast.Constant)
                if number and re.match(rf" (more |other )?({PLURALS})\b", str(after.value)):
                    expression = ast.unparse(value.value)
                    if not expression.isupper() and " if " not in expression:
                        yield path.relative_to(PACKAGE).as_posix(), node.lineno, expression


def test_no_number_that_can_be_one_stands_before_a_plural():
    strange = [found for found in plurals_after_numbers() if found[2] not in NEVER_ONE]
    assert not strange, strange


@pytest.mark.parametrize(
    ("count", "told"), [(0, "0 records"), (1, "1 record"), (2, "2 records"), (12_345, "12345 records")]
)
def test_a_count_has_its_noun(count, told):
    assert counted(count, "record") == told


def test_irregular_nouns_ranges_and_others_fit_their_numbers():
    assert [counted(n, "stratum", "strata") for n in (0, 1, 2)] == ["0 strata", "1 stratum", "2 strata"]
    assert [ranged(*s, "record") for s in ((1, 1), (2, 2), (2, 5))] == ["1 record", "2 records", "2 to 5 records"]
    assert [fewer_others(k) for k in (2, 3, 5)] == ["no other", "fewer than 2 others", "fewer than 4 others"]


@pytest.mark.parametrize(
    ("value", "places", "told"),
    [
        (12.346, 2, "12.35"),
        (0.0004, 2, "0.0004"),
        (0.00049, 2, "0.0005"),
        (0.0, 2, "0.00"),
        (-0.0004, 2, "-0.0004"),
        (4e-9, 2, "4e-09"),
        (1e-14, 2, "0.00"),
        (0.006, 2, "0.01"),
    ],
)
def test_a_small_number_is_never_written_as_zero(value, places, told):
    assert decimal(value, places) == told


WRONG = re.compile(rf"\b1 (more |other )?({PLURALS})\b|\b1 \w+ (share|have|are|were|hold) |fewer than 1 ")


def texts_of(release):
    yield from release.summary.notes
    yield repr(release)
    yield re.sub(r"<[^>]+>", " ", release._repr_html_())
    page = shoal.report_page(release)
    page = re.sub(r"<(script|style).*?</\1>", " ", page, flags=re.DOTALL)
    yield re.sub(r"<[^>]+>", " ", page)
    yield from release.measure().notes


@pytest.mark.parametrize("holes", [0, 1, 2])
@pytest.mark.parametrize("groups", [1, 2])
def test_summaries_notes_and_reports_read_well_with_none_one_and_two(holes, groups):
    n = 3 * groups if groups > 1 else 3
    x = [float(i) if i >= holes else None for i in range(n)]
    table = pl.DataFrame({"x": x, "y": np.arange(n) * 2.0, "s": ["a"] * (n - holes) + ["b"] * holes})
    with np.errstate(all="ignore"):
        release = shoal.protect(table, 2, ["x", "y"], method="mdav")
    for text in texts_of(release):
        assert not WRONG.search(text), WRONG.search(text)


def test_one_record_that_stands_out_and_one_stratum_are_told_as_one():
    table = pl.DataFrame({"x": [1.0, None, 3.0, 4.0, 5.0, 6.0], "s": ["a"] * 5 + ["b"]})
    release = shoal.protect(table, 2, ["x"], strata="s", small_strata="merge", method="mdav")
    for text in texts_of(release):
        assert not WRONG.search(text), WRONG.search(text)
    assert any("1 stratum" in note for note in release.summary.notes)
