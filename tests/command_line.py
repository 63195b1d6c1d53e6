"""The command line as tests use it: in this process, and code in a new one."""

from __future__ import annotations

import json
import subprocess
import sys

from typer.testing import CliRunner

from shoal.cli import program


def run(*words):
    """Run the command and return its result; an exception that escapes fails the test."""
    result = CliRunner().invoke(program, [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def manifest_of(out):
    """Return what the manifest beside a released file says."""
    return json.loads(out.with_name(out.name + ".manifest.json").read_text(encoding="utf-8"))


def in_new_python(code):
    """Run code in a new interpreter and return what it prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    return done.stdout.strip()
