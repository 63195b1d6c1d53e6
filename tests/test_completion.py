"""Completion in the shell: what the shell is given, and what it is told for a line that is half typed."""

from __future__ import annotations

import os

import pytest
from typer.testing import CliRunner

import shoal
from shoal.cli import program

SHELLS = {"bash": "complete", "zsh": "compdef", "fish": "complete", "powershell": "Register-ArgumentCompleter"}


def completed(line):
    """Return what bash is told for a line whose last word is being typed."""
    words = line.split(" ")
    asked = {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1), "_SHOAL_COMPLETE": "complete_bash"}
    result = CliRunner().invoke(program, [], env=os.environ | asked, prog_name="shoal")
    return result.stdout.split()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("shoal pro", ["protect"]),
        ("shoal protect --block", ["--blocking", "--block-size", "--block-columns"]),
        ("shoal rules c", ["check", "convert"]),
        ("shoal hierarchy from", ["from-wordnet"]),
        ("shoal protect t.csv -m mdav", [name for name in shoal.METHODS if name.startswith("mdav")]),
        ("shoal sweep t.csv -m ", list(shoal.METHODS)),
        ("shoal --ver", ["--version", "--verbose"]),
    ],
)
def test_a_line_is_completed(line, expected):
    assert completed(line) == expected


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_gets_its_lines(shell, monkeypatch):
    monkeypatch.setenv("_SHOAL_COMPLETE", f"source_{shell if shell != 'powershell' else 'pwsh'}")
    result = CliRunner().invoke(program, [], prog_name="shoal")
    assert SHELLS[shell] in result.stdout
    assert "_SHOAL_COMPLETE" in result.stdout
