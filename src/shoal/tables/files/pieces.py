"""A table in several Parquet files: those of a folder, at any depth, or those that a pattern names."""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.errors import DataError, FileError, listed

if TYPE_CHECKING:
    import polars as pl

ENDINGS = (".parquet", ".pq")


def piece_paths(path: Path) -> list[Path]:
    """Return the files that a folder or a pattern stands for, in the order of their names; none where it is a file.

    Names that begin with a point or an underscore are left out, as those are that programs keep beside the data.
    """
    if os.path.isdir(path):  # noqa: PTH112 - is_dir() raises where a name is too long
        found = [one for one in path.rglob("*") if one.suffix.lower() in ENDINGS and one.is_file()]
        hidden = [one for one in found if any(part[:1] in "._" for part in one.relative_to(path).parts)]
        return sorted(set(found) - set(hidden))
    if not os.path.lexists(path) and glob.has_magic(str(path)):
        return sorted(Path(one) for one in glob.glob(str(path), recursive=True) if Path(one).is_file())  # noqa: PTH207 - of any folder
    return []


def would_be_piece(path: Path, whole: Path) -> bool:
    """Whether a new file would be one of those that a folder or a pattern stands for."""
    if not piece_paths(whole) or path.suffix.lower() not in ENDINGS:
        return False
    place = Path(os.path.realpath(path))
    if whole.is_dir():
        return Path(os.path.realpath(whole)) in place.parents
    fixed = fixed_folder(whole)
    rest = str(whole.relative_to(fixed)).replace("**/", "")
    return Path(os.path.realpath(fixed)) in place.parents and place.match(rest)


def fixed_folder(pattern: Path) -> Path:
    """Return the folder of a pattern down to which it names no others."""
    return next(folder for folder in pattern.parents if not glob.has_magic(str(folder)))


def read_pieces(paths: Sequence[Path], whole: Path) -> pl.DataFrame:
    """Read files one below the other; all must have the same columns of the same types."""
    import polars as pl

    others = [path for path in paths if path.suffix.lower() not in ENDINGS]
    if others:
        raise FileError(f"'{whole}': '{others[0].name}' is no Parquet file; several files together must be Parquet")
    frames = []
    for path in paths:
        try:
            with path.open("rb") as file:
                frames.append(pl.read_parquet(file))
        except (pl.exceptions.PolarsError, OSError):
            raise FileError(f"cannot read '{path}': it is damaged, or not what its ending says") from None
        wanted, found = frames[0].schema, frames[-1].schema
        if found != wanted:
            differing = [name for name in dict.fromkeys([*wanted, *found]) if wanted.get(name) != found.get(name)]
            order = "" if differing else ", in another order"
            raise DataError(
                f"'{path}' has not the columns of '{paths[0].name}'{order}: they differ in "
                f"{listed(differing or found, most=10)}; write all pieces with the same columns and types"
            )
    return pl.concat(frames)


def checksum_of(paths: Sequence[Path], whole: Path) -> str:
    """Return one SHA-256 for several files: of a line with the SHA-256 and the name of each, as sha256sum writes it."""
    top = whole if whole.is_dir() else fixed_folder(whole)
    lines = []
    for path in paths:
        with path.open("rb") as handle:
            own = hashlib.file_digest(handle, "sha256").hexdigest()
        lines.append(f"{own}  {path.relative_to(top).as_posix()}\n")
    return hashlib.sha256("".join(lines).encode("utf-8", errors="surrogateescape")).hexdigest()
