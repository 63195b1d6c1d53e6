"""What the documentation says about methods, options, defaults and counts is what the registries say.

A list of names in prose stands between ``<!-- list: NAME -->`` and ``<!-- /list -->``; the names in backquotes there
are exactly those of ``LISTS[NAME]``. Sentences that say such a thing without a marker are found by their words.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

import shoal
from shoal.aggregate.categories import CATEGORY_AGGREGATORS
from shoal.aggregate.numbers import AGGREGATORS
from shoal.blocking.blocks import BLOCKINGS
from shoal.cli.commands import load_command
from shoal.plan.blocking import Blocking
from shoal.plan.plan import Plan
from shoal.plan.reading import Reading
from shoal.plan.roles import CATEGORIES, Kind
from shoal.release.declaring import CATEGORY_METHOD, DEFAULT_METHOD
from shoal.release.quasi_identifiers import suitable
from shoal.sweeps.combinations import CATEGORY_METHODS, DEFAULT_KS, DEFAULT_METHODS
from shoal.tables.files.formats import FORMATS
from shoal.tables.files.packing import PACKINGS

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "shoal"
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    *(path for path in sorted((ROOT / "docs").rglob("*.md")) if "results" not in path.parts),
]
PLACES = (ROOT, SOURCE, SOURCE / "partition", SOURCE / "columns", ROOT / "tests" / "fuzz")
METHODS = shoal.METHODS
LISTS = {
    "default method": [DEFAULT_METHOD],
    "default category method": [CATEGORY_METHOD],
    "default methods": [DEFAULT_METHOD, CATEGORY_METHOD],
    "seeded methods": [name for name, method in METHODS.items() if method.seeded],
    "searching methods": [name for name, method in METHODS.items() if method.search],
    "refinable methods": [name for name, method in METHODS.items() if not method.refine_mistakes(2)],
    "ordered methods": [n for n, m in METHODS.items() if Kind.ORDINAL in m.kinds and Kind.NOMINAL not in m.kinds],
    "swept methods": list(DEFAULT_METHODS),
    "swept category methods": list(CATEGORY_METHODS),
    "blockings": list(BLOCKINGS),
    "aggregators": list(AGGREGATORS),
}
_MARKED = re.compile(r"<!-- list: ([\w -]+) -->(.*?)<!-- /list -->", re.DOTALL)
_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_NUMBER = r"(?:\d+|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty)"
CLAIMS = {
    "a default": r"\bthe default\b",
    "a count": rf"\b{_NUMBER} (?:other )?(?:methods|measures|aggregators|formats|blockings)\b",
    "what draws random numbers": r"\bno method (?:draws|here)|\bmethods?\b[^.|]{0,40}\bdraws? (?:no )?random\b",
    "chance": r"\bby chance\b",
    "the one method": r"\bthe (?:one|only) method\b",
}
# sentences that have such words and are about something else, or need no list: page, and how the line goes on
SAID = {
    ("README.md", "the first four methods"): "rows of the table below it",
    ("README.md", "five methods, with the front"): "a picture, made by its program",
    ("docs/command-line.md", "`internal`, the default"): "checked by the defaults of flags",
    ("docs/files.md", "fits two formats"): "formats of dates",
    ("docs/promises.md", "whether or not the method draws random numbers"): "the words of the README",
    ("docs/scale.md", "`auto`, the default"): "checked by the defaults of a blocking",
    ("docs/sweeps.md", "# 9 k, 2 methods"): "an example that is run",
    ("docs/sweeps.md", "these two measures"): "risk and loss",
    ("docs/sweeps.md", "the two measures"): "risk and loss",
}


def name_of(path):
    return str(path.relative_to(ROOT))


def table_under(text, *header):
    """Return the rows of the tables with these first headings, as lists of cells."""
    rows, inside = [], False
    for line in text.splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if tuple(cells[: len(header)]) == header:
            inside = True
        elif not cells:
            inside = False
        elif inside and not set("".join(cells)) <= set("-: "):
            rows.append(cells)
    return rows


def names_in(text):
    return re.findall(r"`([^`]+)`", text)


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_marked_lists_are_those_of_the_registry(path):
    for name, inside in _MARKED.findall(path.read_text(encoding="utf-8")):
        assert names_in(inside) == LISTS[name], f"{name_of(path)}: {name}"


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_no_page_claims_such_a_thing_without_a_list(path):
    text = _FENCE.sub("", path.read_text(encoding="utf-8"))
    for block in re.split(r"\n\n|\n(?=[|-])", text):
        unsaid = " ".join(block.split())
        if _MARKED.search(block) or "README.md#seeds)" in unsaid:  # where the list is
            continue
        for (page, words), _ in SAID.items():
            if page == name_of(path):
                unsaid = unsaid.replace(words, "")
        for what, pattern in CLAIMS.items():
            found = re.search(pattern, unsaid, re.IGNORECASE)
            assert not found, f"{name_of(path)} says {what} without a marked list: {unsaid[:300]}"


def test_every_exception_is_still_there():
    for page, words in SAID:
        text = " ".join((ROOT / page).read_text(encoding="utf-8").split())
        assert words in text, f"{page}: {words}"


def shown(default):
    """How the pages write a default."""
    if default is None:
        return "off"
    return str(default).lower() if isinstance(default, bool) else str(default)


@pytest.mark.parametrize("method", METHODS)
def test_defaults_of_options_are_those_of_the_method(method):
    listing = (ROOT / "docs" / "methods" / "README.md").read_text(encoding="utf-8")
    row = next(line for line in listing.splitlines() if line.startswith(f"| [`{method}`]"))
    told = dict(re.findall(r"`([\w-]+)` (?:= )?(by size|[\w.-]+)", row.split("|")[5]))
    options = {o.name: "by size" if o.name == "steps" else shown(o.default) for o in METHODS[method].options}
    assert told == options
    page = ROOT / "docs" / "methods" / re.search(r"\]\((\S+?\.md)", row)[1]
    own = {
        names_in(cells[0])[0]: cells[1].strip("`")
        for cells in table_under(page.read_text("utf-8"), "option", "default")
    }
    if own and page.stem == method:
        assert own == options


def test_defaults_of_a_plan_are_those_of_the_code():
    text = (ROOT / "docs" / "plan.md").read_text(encoding="utf-8")
    told = {names_in(cells[0])[0]: cells[1] for cells in table_under(text, "setting", "default", "meaning", "example")}
    fields = {name: field for name, field in Plan.model_fields.items() if name != "rules_file"}
    assert set(told) == set(fields)
    for name, field in fields.items():
        if isinstance(field.default, str):
            assert told[name] == f"`{field.default}`", name
    assert (told["refine"], told["seed"], told["dominance"]) == ("`false`", "`0`", "`{p: 10}`")
    assert (Plan.model_fields["refine"].default, Plan.model_fields["seed"].default) == (False, 0)
    assert Plan.model_fields["dominance"].default.p == 10
    for name in (
        "identifiers",
        "confidential",
        "weight",
        "strata",
        "options",
        "hierarchies",
        "orders",
        "nominal",
        "rules",
    ):
        assert (told[name], not Plan.model_fields[name].default) == ("none", True), name
    reading = {names_in(cells[0])[0]: cells[1] for cells in table_under(text, "setting", "default", "meaning")}
    assert set(Reading.model_fields) <= set(reading)
    for name, field in Reading.model_fields.items():
        expected = "`true`" if field.default is True else ("none", "found by looking")
        assert reading[name] in expected, name


@pytest.mark.parametrize("setting", ["scaling", "small_strata", "missing_patterns", "broken_rules"])
def test_words_of_a_setting_are_all_told(setting):
    text = (ROOT / "docs" / "plan.md").read_text(encoding="utf-8")
    cells = next(c for c in table_under(text, "setting", "default") if c[0] == f"`{setting}`")
    words = [word for part in (Plan.model_fields[setting].annotation,) for word in texts_in(part)]
    assert set(words) <= set(names_in(" ".join(cells[1:])))


def texts_in(annotation):
    """Return the words that an annotation allows."""
    if isinstance(annotation, str):
        return [annotation]
    return [text for part in get_args(annotation) for text in texts_in(part)]


@pytest.mark.parametrize("command", ["protect", "sweep", "measure", "report", "inspect"])
def test_defaults_of_flags_are_those_of_the_command(command):
    text = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    section = text.partition(f"\n## shoal {command}\n")[2].partition("\n## ")[0]
    told = {
        flag: cells[2] for cells in table_under(section, "flag", "meaning", "default") for flag in names_in(cells[0])
    }
    for parameter in load_command(command).params:
        default = parameter.default() if callable(parameter.default) else parameter.default
        if isinstance(default, bool) or not isinstance(default, str | int | float):
            continue
        flag = next((name for name in told if name.split()[0] in parameter.opts), None)
        if flag is not None:
            assert str(default) in told[flag].replace("`", ""), f"{command} {flag}"


def test_ks_of_a_sweep_are_those_of_the_code():
    text = (ROOT / "docs" / "sweeps.md").read_text(encoding="utf-8")
    assert f"k goes from {DEFAULT_KS[0]} to {DEFAULT_KS[-1]}" in " ".join(text.split())


def test_tables_name_every_aggregator_scaling_blocking_and_ending():
    pages = {
        name: (ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("how-it-works.md", "scale.md", "files.md")
    }
    first = [names_in(cells[0])[0] for cells in table_under(pages["how-it-works.md"], "aggregator")]
    assert first == list(AGGREGATORS)
    scalings = [names_in(cells[0])[0] for cells in table_under(pages["how-it-works.md"], "scaling")]
    assert scalings == texts_in(Plan.model_fields["scaling"].annotation)
    cut = [names_in(cells[0])[0] for cells in table_under(pages["scale.md"], "`--blocking`")]
    assert set(cut) == set(BLOCKINGS) == set(texts_in(Blocking.model_fields["method"].annotation))
    endings = {name for cells in table_under(pages["files.md"], "ending") for name in names_in(cells[0])} - set(
        PACKINGS
    )
    assert endings == {ending for one in FORMATS.values() for ending in one.endings}


def test_kinds_of_categories_have_the_aggregators_of_the_code():
    text = (ROOT / "docs" / "methods" / "mixed.md").read_text(encoding="utf-8")
    rows = {
        line.split("|")[1].strip(): line
        for line in text.splitlines()
        if re.match(r"\| (ordinal|nominal|semantic) \|", line)
    }
    for kind in CATEGORIES:
        assert set(names_in(rows[str(kind)].split("|")[-2])) == set(suitable(kind)), kind
    assert set(CATEGORY_AGGREGATORS) == {name for kind in CATEGORIES for name in suitable(kind)}


def test_files_of_the_source_that_pages_name_are_there():
    for page in ("CONTRIBUTING.md", "docs/how-it-works.md"):
        text = _FENCE.sub("", (ROOT / page).read_text(encoding="utf-8"))
        for name in re.findall(r"`((?:[\w.]+/)*[\w.]+(?:\.py|/))`", text):
            there = any((place / name).exists() for place in PLACES)
            assert there or "NAME" in name, f"{page}: {name}"


def test_every_room_has_a_row_and_what_the_row_points_to_is_in_it():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = table_under(text, "room")
    rooms = {name.rstrip("/") for cells in rows for name in names_in(cells[0])}
    there = {path.name for path in SOURCE.iterdir() if not path.name.startswith("__") and path.name != "py.typed"}
    assert rooms == there
    for cells in rows:
        folder = SOURCE / names_in(cells[0])[0]
        for name in names_in(cells[2]):
            assert (folder / f"{name}.py").exists() or (folder / name).is_dir(), f"{cells[0]}: {name}"
