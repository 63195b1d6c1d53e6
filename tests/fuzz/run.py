"""Fuzz for some seconds, with a new seed every time: ``make fuzz SECONDS=600``.

Every round runs the tests of this folder with the next seed and some hundred examples, until the time is over or a
round fails. A failure is shrunk, and shown with the command that runs the same round again.
"""

from __future__ import annotations

import argparse
import os
import secrets
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
GRACE = 600  # seconds that the shrinking of a failure may take after the end


def one_round(seed: int, examples: int, limit: float, words: list[str]) -> int:
    """Run the tests with a seed; 0 where all is well or the time is over."""
    settings = {**os.environ, "SHOAL_FUZZ_EXAMPLES": str(examples), "SHOAL_FUZZ_SEED": str(seed)}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-p",
        "no:cacheprovider",
        f"--hypothesis-seed={seed}",
        str(HERE),
        *words,
    ]
    try:
        return subprocess.run(command, env=settings, check=False, timeout=limit).returncode
    except subprocess.TimeoutExpired:
        return 0


def main() -> int:
    """Run rounds until the time is over or one fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=None, help="of the first round; drawn where it is left out")
    parser.add_argument("--examples", type=int, default=300, help="of a round")
    parser.add_argument("words", nargs="*", help="more words for pytest, behind --")
    asked = parser.parse_args()
    seed = secrets.randbelow(2**31) if asked.seed is None else asked.seed
    end, rounds = time.monotonic() + asked.seconds, 0
    while rounds == 0 or time.monotonic() < end:
        print(f"seed {seed}: {asked.examples} examples", flush=True)
        if one_round(seed, asked.examples, max(end - time.monotonic(), 0) + GRACE, asked.words):
            print(f"FAILED; the same again: make fuzz SECONDS=1 SEED={seed} EXAMPLES={asked.examples}")
            return 1
        seed, rounds = seed + 1, rounds + 1
    print(f"{rounds} rounds of {asked.examples} examples, nothing found")
    return 0


if __name__ == "__main__":
    sys.exit(main())
