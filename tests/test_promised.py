"""Every promise of the README is linked to a test that is there, and is run with the others."""

from __future__ import annotations

import re
import subprocess
import sys
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


def test_every_test_that_is_named_is_collected_and_not_left_out():
    files = sorted({node.partition("::")[0] for node in NODES})
    asked = [sys.executable, "-m", "pytest", "-o", "addopts=", "--collect-only", "-q", "-m", "not slow", *files]
    told = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True, timeout=120).stdout
    collected = {line.partition("[")[0].strip() for line in told.splitlines()}
    assert len(NODES) > 30
    assert [node for node in NODES if node not in collected] == []
