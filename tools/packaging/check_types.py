"""Check from outside that type checkers see the types of shoal: mypy and pyright on a small program that uses it.

Run by `make types-outside` with the environment of this folder, and by `make dist` with that of the wheel. What the
program gets right must pass, and each of its mistakes must be found, on its line.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

RIGHT = """\
from pathlib import Path

import polars as pl

import shoal

table = pl.DataFrame({"x": [1, 2, 6], "job": ["a", "b", "c"]})
plan = shoal.Plan(k=3, quasi_identifiers=["x"])
release: shoal.Release = shoal.protect(table, plan=plan, confidential=["job"])
loss: float = release.summary.information_loss
groups: int = release.summary.groups
measures: shoal.Measures = release.measure()
linked: float | None = measures.dbrl
page: Path = release.report("report.html")
written: Path | None = release.write("release.csv")
found: shoal.Sweep = shoal.sweep(table, k=[3], quasi_identifiers=["x"])
names: list[str] = list(shoal.METHODS)
try:
    shoal.protect("missing.csv", k=3, quasi_identifiers=["x"])
except shoal.FileError as error:
    print(str(error))
"""
WRONG = """\
import shoal

shoal.protect({}, k="three")
shoal.protect({}, k=3, quasi_identifier=["x"])
loss: str = shoal.protect({}, k=3).summary.information_loss
shoal.protct({}, k=3)
"""
CHECKERS = {"mypy": ("--strict", "--no-incremental"), "pyright": ()}


def check_types(python: str) -> None:
    """Run both checkers of an environment on both programs; ends the process where one sees something else."""
    with tempfile.TemporaryDirectory() as folder:
        right, wrong = Path(folder) / "right.py", Path(folder) / "wrong.py"
        right.write_text(RIGHT)
        wrong.write_text(WRONG)
        for checker, options in CHECKERS.items():
            passed = _run(python, checker, options, right)
            if passed.returncode:
                sys.exit(f"{checker} does not take a right program:\n{passed.stdout}{passed.stderr}")
            told = _run(python, checker, options, wrong).stdout
            missed = [number for number in range(3, WRONG.count("\n") + 1) if f"wrong.py:{number}:" not in told]
            if missed:
                sys.exit(f"{checker} does not see the mistakes in lines {missed}:\n{told}")
            print(f"{checker}: takes a right program, finds every mistake of a wrong one")


def _run(python: str, checker: str, options: tuple[str, ...], program: Path) -> subprocess.CompletedProcess[str]:
    words = [python, "-m", checker, *options, *(["--pythonpath", python] if checker == "pyright" else []), program.name]
    return subprocess.run(words, cwd=program.parent, capture_output=True, text=True, check=False)


if __name__ == "__main__":
    check_types(sys.executable)
