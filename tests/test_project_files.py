"""Files that nothing here can run, workflows, templates, the container: what they name is there."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

import shoal
from shoal.cli import program

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TEMPLATES = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))


def targets():
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_has_jobs_whose_steps_are_there_and_few_rights(path):
    content = yaml.safe_load(path.read_text())
    assert set(content) == {"name", True, "permissions", "jobs"}  # YAML 1.1 takes `on` for true
    assert content["permissions"] == {"contents": "read"}
    for job in content["jobs"].values():
        for step in job["steps"]:
            assert ("run" in step) != ("uses" in step)
            made = re.findall(r"^make (?:PYTHON=\S+ )?([a-z-]+)$", step.get("run", ""), re.MULTILINE)
            assert bool(made) == ("run" in step)
            assert set(made) <= targets()
            assert "uses" not in step or re.fullmatch(r"[\w-]+/[\w-]+@(v\d+|release/v\d+)", step["uses"])


def test_the_workflow_tests_every_version_of_python_that_the_package_names():
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text())["jobs"]
    named = [one.rpartition(" ")[2] for one in PROJECT["project"]["classifiers"] if "Python :: 3." in one]
    assert jobs["test"]["strategy"]["matrix"]["python"] == named
    assert PROJECT["project"]["requires-python"] == f">={named[0]}"


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_a_template_of_an_issue_can_be_filled_in(path):
    content = yaml.safe_load(path.read_text())
    if path.name == "config.yml":
        assert isinstance(content["blank_issues_enabled"], bool)
        return
    assert {"name", "description", "body"} <= set(content)
    fields = [part for part in content["body"] if part["type"] != "markdown"]
    assert len({part["id"] for part in fields}) == len(fields)
    assert all(part["attributes"]["label"] for part in fields)


def test_the_container_copies_what_is_there_and_runs_the_application():
    text = (ROOT / "Containerfile").read_text().replace("\\\n", " ")
    for sources in re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.MULTILINE):
        assert all((ROOT / name).exists() for name in sources.split())
    entry = json.loads(re.search(r"^ENTRYPOINT (.+)$", text, re.MULTILINE)[1])
    words = json.loads(re.search(r"^CMD (.+)$", text, re.MULTILINE)[1])
    told = CliRunner().invoke(program, [*entry[1:], "--help"], terminal_width=200).output
    assert entry == ["shoal", "app"]
    assert all(word in told for word in words if word.startswith("--"))
    assert re.search(r"^USER (?!root)\w+$", text, re.MULTILINE)
    assert words[words.index("--port") + 1] == re.search(r"^EXPOSE (\d+)$", text, re.MULTILINE)[1]


def test_the_source_distribution_has_everything_and_names_nothing_else():
    named = PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert all((ROOT / name).exists() for name in named)
    ours = {
        path.name for path in ROOT.iterdir() if path.suffix in (".md", ".cff") or path.name in ("LICENSE", "Makefile")
    }
    assert ours <= set(named)
    assert {"src", "tests", "tools", "docs", "benchmarks", "Containerfile", "requirements.lock", ".github"} <= set(
        named
    )


def test_the_citation_and_the_policies_are_there():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert {"cff-version", "message", "title", "authors", "version", "license"} <= set(citation)
    assert str(citation["version"]) == shoal.__version__
    assert "## Deprecation" in (ROOT / "RELEASING.md").read_text()
    assert "## Checklist" in (ROOT / "RELEASING.md").read_text()


def test_everything_is_what_all_extras_but_the_large_ones_have():
    extras = PROJECT["project"]["optional-dependencies"]
    asked = re.search(r"\[(.+)\]", extras["all"][0])[1].split(",")
    assert set(asked) == set(extras) - {"all", "dev", "docs", "engines-test", "spark"}
