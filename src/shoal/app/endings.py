"""What the name of a file says about it: its format, and whether it is packed."""

from __future__ import annotations

from pathlib import Path

import shoal

PACKED = (".gz", ".zst")


def packing(path: Path) -> str:
    """Return how a file is packed; empty where it is not.

    >>> packing(Path("a.csv.gz")), packing(Path("a.csv"))
    ('.gz', '')
    """
    return next((ending for ending in PACKED if path.name.lower().endswith(ending)), "")


def ending(path: Path) -> str:
    """Return the ending that says the format of a file.

    >>> ending(Path("Survey.CSV.zst")), ending(Path("survey.parquet"))
    ('.csv', '.parquet')
    """
    return Path(path.name.lower().removesuffix(packing(path))).suffix


def is_known(path: Path) -> bool:
    """Whether a file of this name can be read."""
    found = shoal.FORMATS.get(ending(path))
    return found is not None and (found.packed or not packing(path))


def is_text(path: Path) -> bool:
    """Whether a file of this name is a text of lines and columns."""
    return is_known(path) and bool(shoal.FORMATS[ending(path)].text)


def can_open() -> list[str]:
    """Return the endings of files that can be opened."""
    return [*shoal.FORMATS, *(f"{one}{pack}" for one, form in shoal.FORMATS.items() if form.packed for pack in PACKED)]


def of_release(path: Path) -> str:
    """Return the ending that a release of a file gets: its own where that can be written.

    >>> of_release(Path("a.csv.gz")), of_release(Path("a.sas7bdat"))
    ('.csv.gz', '.xpt')
    """
    own = shoal.FORMATS[ending(path)]
    return f"{ending(path)}{packing(path)}" if own.write else own.instead
