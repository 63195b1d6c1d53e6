"""The version of shoal, which plans, manifests and reports are signed with."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, version


@cache
def shoal_version() -> str:
    """Return the version of shoal that is installed."""
    try:
        return version("shoal")
    except PackageNotFoundError:
        return "0+source"
