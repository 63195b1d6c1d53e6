"""What the documentation says: its examples run, its links lead somewhere, its lists are complete."""

from __future__ import annotations

import dataclasses
import doctest
import re
from pathlib import Path

import pytest

import shoal
from shoal.cli.commands import load_command

ROOT = Path(__file__).resolve().parents[1]
DOCS = sorted((ROOT / "docs").rglob("*.md"))
PAGES = [ROOT / "README.md", *DOCS]
LINKED = [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", ROOT / "SECURITY.md"]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def name_of(path):
    return str(path.relative_to(ROOT))


def python_only(text):
    """Return the text with every line blanked that is not in a python block, so that line numbers stay."""
    kept = [""] * (text.count("\n") + 1)
    for block in FENCE.finditer(text):
        if block[1] == "python":
            first = text.count("\n", 0, block.start(2))
            for offset, line in enumerate(block[2].split("\n")):
                kept[first + offset] = line
    return "\n".join(kept)


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_examples_give_what_the_page_shows(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    test = doctest.DocTestParser().get_doctest(
        python_only(path.read_text(encoding="utf-8")), {}, path.stem, name_of(path), 0
    )
    told = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    runner.run(test, out=told.append)
    assert not told, "".join(told)


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_every_python_block_is_an_example_that_is_run(path):
    blocks = [block[2] for block in FENCE.finditer(path.read_text(encoding="utf-8")) if block[1] == "python"]
    assert all(block.startswith(">>> ") for block in blocks)


def anchors(path):
    """Return the anchors that a page's headings get."""
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", LINKED, ids=name_of)
def test_links_lead_to_a_file_and_a_heading_that_are_there(path):
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    for link in LINK.findall(text):
        if re.match(r"[a-z]+:", link):
            continue
        file, _, anchor = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        assert target.exists(), link
        assert ROOT in (target, *target.parents), f"{link} leads out of the repository"
        if anchor:
            assert anchor in anchors(target), link


@pytest.mark.parametrize("path", [ROOT / "README.md", ROOT / "docs" / "methods" / "README.md"], ids=name_of)
def test_every_method_is_listed(path):
    text = path.read_text(encoding="utf-8")
    for name in shoal.METHODS:
        assert f"`{name}`" in text, name


def test_every_option_of_a_method_is_listed():
    text = (ROOT / "docs" / "methods" / "README.md").read_text(encoding="utf-8")
    rows = {name: line for line in text.splitlines() for name in shoal.METHODS if line.startswith(f"| [`{name}`]")}
    for name, method in shoal.METHODS.items():
        for option in method.options:
            assert f"`{option.name}`" in rows[name], f"{name}: {option.name}"


def test_every_measure_is_defined_once_under_a_heading_that_names_it():
    text = (ROOT / "docs" / "measures.md").read_text(encoding="utf-8")
    sections = re.findall(r"^### (.*)\n\n(.*)$", text, re.MULTILINE)
    named = [name for heading, _ in sections for name in heading.split(", ")]
    assert not [heading for heading, first in sections if not first or first.startswith("#")]
    assert len(named) == len(set(named))
    assert not set(shoal.MEASURES) - set(named)
    assert not set(named) - {field.name for field in dataclasses.fields(shoal.Measures)}


@pytest.mark.parametrize(
    "command",
    [
        "protect",
        "inspect",
        "measure",
        "report",
        "sweep",
        "methods",
        "hierarchy",
        "rules check",
        "rules localise",
        "rules convert",
    ],
)
def test_every_flag_is_documented(command):
    text = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    section = text.partition(f"\n## shoal {command}\n")[2].partition("\n## ")[0]
    first, *more = command.split()
    found = load_command(first)
    for word in more:
        found = found.commands[word]
    for parameter in [p for one in getattr(found, "commands", {command: found}).values() for p in one.params]:
        for flag in (*parameter.opts, *parameter.secondary_opts):
            if flag.startswith("-") and flag != "--help":
                assert re.search(rf"(?<![\w-]){flag}(?![\w-])", section), flag


def test_the_limits_in_the_security_page_are_those_of_the_code():
    from shoal.plan import limits

    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    told = dict(re.findall(r"^\| `([A-Z_]+)` \| ([^|]+) \|", text, re.MULTILINE))
    held = {name: value for name, value in vars(limits).items() if name.isupper()}
    assert told == {
        name: f"{value >> 20} MiB"
        if name in ("LARGEST_YAML", "LARGEST_RULES", "LARGEST_HIERARCHY")
        else str(int(value))
        for name, value in held.items()
    }
