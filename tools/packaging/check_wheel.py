"""Install a wheel into an empty environment and try it there: the demo, the version, and the types from outside.

Run by `make dist`. The environment has nothing of this folder: what is missing in the wheel is missing there.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from check_types import check_types


def main() -> None:
    """Check the wheel named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheel", type=Path, help="the wheel")
    wheel = parser.parse_args().wheel.resolve()
    with tempfile.TemporaryDirectory() as folder:
        outside = Path(folder)
        venv.create(outside / "env", with_pip=True)
        python = str(outside / "env" / "bin" / "python")

        def run(*words: str) -> str:
            done = subprocess.run(words, cwd=outside, capture_output=True, text=True, check=False)
            print(f"$ {' '.join(Path(word).name for word in words)}\n{done.stdout[-1500:]}{done.stderr[-1500:]}")
            if done.returncode:
                sys.exit(f"failed with status {done.returncode}")
            return done.stdout

        run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(wheel))
        run(str(outside / "env" / "bin" / "shoal"), "demo")
        run(str(outside / "env" / "bin" / "shoal"), "--version", "--verbose")
        run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "mypy", "pyright")
        check_types(python)


if __name__ == "__main__":
    main()
