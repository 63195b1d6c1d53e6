"""A fixed seed for the tests, or that of a round of ``make fuzz``."""

from __future__ import annotations

import os

SEED = os.environ.get("SHOAL_FUZZ_SEED")


def pytest_collection_modifyitems(items):
    """Give the tests of this folder the seed of the round, in place of the fixed one."""
    if SEED is None:
        return
    from hypothesis import seed

    for item in items:
        if "fuzz" in item.path.parts and hasattr(item.obj, "hypothesis"):
            seed(int(SEED))(item.obj)
