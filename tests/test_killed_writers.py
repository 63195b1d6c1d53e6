"""A release that is killed at any system call that writes: its folder has all of the old files, or all new ones."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from faults import ENDINGS
from system_calls import available

SCRIPT = Path(__file__).with_name("killed_writers.py")

pytestmark = pytest.mark.skipif(not available(), reason="system calls cannot be traced here")


def killed(folder, ending, points, report):
    words = [sys.executable, str(SCRIPT), str(folder), ending, str(points), str(report)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def check(found):
    assert found["found"] == []
    assert found["states"] == ["new", "old"]  # kills before and after the moment in which all names change
    assert {"openat", "write", "fsync", "rename", "unlink"} <= set(found["calls"])


@pytest.mark.parametrize("ending", [".csv", ".xlsx"])
def test_a_release_killed_at_some_of_its_system_calls_is_old_or_new_and_leaves_nothing(tmp_path, ending):
    check(killed(tmp_path, ending, 6, False))


@pytest.mark.slow
@pytest.mark.parametrize(("ending", "report"), [*((ending, False) for ending in ENDINGS), (".csv", True)])
def test_a_release_killed_at_any_of_its_system_calls_is_old_or_new_and_leaves_nothing(tmp_path, ending, report):
    found = killed(tmp_path, ending, 0, report)
    check(found)
    assert found["tried"] == len(found["calls"])
