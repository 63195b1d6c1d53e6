"""Every promise of the README is linked to a test that is there, and is run with the others."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "promises.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (\d+) \| (.+?) \| (.+) \|$", PAGE, re.MULTILINE)
NODES = sorted(set(re.findall(r"`(tests/[\w/]+\.py::[\w:]+)`", PAGE)))


def promises():
    """Return the numbered promises of the README, without links and line breaks."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    section = text.partition("\n## What it promises\n")[2].partition("\n## ")[0]
    found = re.findall(r"^(\d+)\. (.*?)(?=^\d+\. |^\S|\Z)", section, re.MULTILINE | re.DOTALL)
    return {number: re.sub(r"\[(.*?)\]\(.*?\)", r"\1", " ".join(words.split())) for number, words in found}


def test_the_readme_leads_to_the_page():
    assert "](docs/promises.md)" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("number", promises())
def test_every_promise_has_a_test_for_its_own_words(number):
    words = promises()[number]
    parts = [(part, tests) for row, part, tests in ROWS if row == number]
    left = words
    for part, tests in parts:
        assert part in words, f"promise {number} does not say: {part}"
        assert "::test" in tests
        left = left.replace(part, "")
    told = re.sub(r"The seed is the exception|There are two exceptions|Security|\band\b|\bthe\b|[\W_]", "", left)
    assert not told, f"promise {number} says something without a test: {told}"


def named_tests(path):
    """Return the names of the tests of a file, as pytest has them, but for those that are marked as slow."""
    body = ast.parse((ROOT / path).read_text(encoding="utf-8")).body
    functions = [node for node in body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
    marks = {node.name: [ast.unparse(mark) for mark in node.decorator_list] for node in functions}
    stateful = [ast.unparse(node.targets[0]) for node in body if isinstance(node, ast.Assign)]
    return {f"{path}::{name}" for name in marks if "pytest.mark.slow" not in marks[name]} | {
        f"{path}::{name}::runTest" for name in stateful if name.startswith("Test")
    }


def test_every_test_that_is_named_is_there_and_not_left_out():
    files = {node.partition("::")[0] for node in NODES}
    there = set().union(*map(named_tests, files))
    assert len(NODES) > 30
    assert [node for node in NODES if node not in there] == []
