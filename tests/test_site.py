"""What the site is made of: links that lead nowhere are found, and what the code knows is what the pages say."""

from __future__ import annotations

from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import shoal
from shoal.partition.methods import METHODS

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def site(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools" / "site"))


def test_links_that_lead_nowhere_and_files_from_elsewhere_are_found(site, tmp_path):
    from links import broken_links

    (tmp_path / "a.html").write_text('<h1 id="top">x</h1><a href="b.html#here"></a><a href="https://example.org"></a>')
    (tmp_path / "b.html").write_text(
        '<a href="a.html#top"></a><a href="c.html"></a><script src="https://cdn.example/x.js"></script>'
    )
    assert broken_links(tmp_path) == [
        "a.html: b.html#here has no such place",
        "b.html: loads https://cdn.example/x.js",
        "b.html: c.html leads nowhere",
    ]


def test_every_page_is_in_the_navigation_or_in_a_listing(site):
    import tomllib

    nav = str(tomllib.loads((ROOT / "tools" / "site" / "zensical.toml").read_text())["project"]["nav"])
    listing = (ROOT / "docs" / "README.md").read_text() + (ROOT / "docs" / "methods" / "README.md").read_text()
    for path in (ROOT / "docs").rglob("*.md"):
        name = path.relative_to(ROOT / "docs").as_posix()
        assert name in nav or name in listing or path.name in listing or name == "start.md", name


def test_the_support_table_has_every_method_and_what_the_registry_says(site):
    from reference_pages import support_page

    rows = [line.split("|") for line in support_page().splitlines() if line.startswith("| [`")]
    assert [row[1].split("`")[1] for row in rows] == list(METHODS)
    assert [row[-2].strip() == "yes" for row in rows] == [method.seeded for method in METHODS.values()]
    by_name = {row[1].split("`")[1]: row for row in rows}
    assert by_name["mdav"][5].strip() == "yes"  # missing values
    assert by_name["individual-ranking"][10].strip() == ""  # refinement


def test_the_schema_of_a_plan_takes_plans_and_refuses_mistakes(site):
    from reference_pages import plan_schema

    schema = Draft202012Validator(plan_schema())
    plan = shoal.Plan(k=3, quasi_identifiers=["a"], blocking="2d-tree", reading={"missing": ["NA"]})
    assert schema.is_valid({"k": 3, "quasi_identifiers": [["a"]], "scaling": "range", "reading": {"table": "t"}})
    assert plan.k == 3
    assert not schema.is_valid({"k": 3, "quasi_identifiers": [["a"]], "scalling": "range"})
    assert not schema.is_valid({"k": 3, "quasi_identifiers": [["a"]], "scaling": "zz"})


def test_the_api_has_every_public_name(site):
    from reference_pages import api_page, errors_page

    text = api_page()
    assert all(f"## {name}\n" in text for name in shoal.__all__)
    assert "## Microaggregator\n" in text
    assert "## OutputExists\n" in errors_page()


def test_the_catalogue_of_errors_has_what_is_said(site, tmp_path):
    from reference_pages import errors_page

    page = errors_page()
    with pytest.raises(shoal.FileError) as told:
        shoal.protect(tmp_path / "missing.csv", k=3, quasi_identifiers="x")
    assert str(told.value).endswith("is not there; name a file that exists")
    assert "- `... is not there; name a file that exists`\n" in page
    assert page.count("\n- `") > 150


def test_a_report_of_a_mistake_has_versions_and_no_path():
    told = shoal.environment()
    assert told["shoal"] == shoal.__version__
    assert {"numpy", "polars", "pyreadstat"} <= set(told)
    assert not any(str(Path.home()) in value or str(ROOT) in value for value in told.values())


def test_the_version_in_the_citation_is_that_of_the_package():
    assert f"version: {shoal.__version__}\n" in (ROOT / "CITATION.cff").read_text()
