"""What a report of a mistake needs to know about a machine: versions and kinds, no path, name or value."""

from __future__ import annotations

import os
import platform
import re
from importlib.metadata import PackageNotFoundError, requires, version

from shoal.plan.version import shoal_version


def environment() -> dict[str, str]:
    """Return versions of shoal, Python and every package that shoal can use, and the kind of the machine.

    >>> list(environment())[:3]
    ['shoal', 'python', 'system']
    """
    found = {
        "shoal": shoal_version(),
        "python": f"{platform.python_version()} ({platform.python_implementation()})",
        "system": f"{platform.system()} {platform.release()}, {platform.machine()}",
        "cores": str(os.cpu_count()),
        "prebuilt kernels": os.environ.get("SHOAL_PREBUILT", "on"),
    }
    names = {match[0] for line in requires("shoal") or () if (match := re.match(r"[\w.-]+", line))}
    for name in sorted(names - {"shoal"}, key=str.lower):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found
