"""Where the reference data are, and small tables that many tests use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("shoal", deadline=None, max_examples=40, derandomize=True)
settings.load_profile("shoal")


@pytest.fixture(scope="session")
def reference_data() -> Path:
    """Folder of the public reference data; tests that need it are skipped where it is not."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    for folder in (os.environ.get("SHOAL_DATA"), beside):
        if folder and Path(folder).is_dir():
            return Path(folder)
    pytest.skip("reference data not found: set SHOAL_DATA to their folder")
