"""The fixed seed of the tests, unless a round of ``make fuzz`` has one of its own (``--hypothesis-seed``)."""

from __future__ import annotations

import os

from hypothesis import settings

if "SHOAL_FUZZ_SEED" in os.environ:  # set by run.py: with it a fixed seed would win over that of the round
    settings.register_profile("fuzz", settings.get_profile("shoal"), derandomize=False, database=None)
    settings.load_profile("fuzz")
