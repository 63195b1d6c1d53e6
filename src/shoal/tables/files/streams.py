"""Standard input and output as tables: what comes in is kept in a private file until the process ends.

The first bytes say what it is: Parquet, Arrow IPC, gzip, Zstandard, an object of JSON a line, and otherwise text with
a delimiter.
"""

from __future__ import annotations

import atexit
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path

from shoal.errors import FileError

_BEGINNINGS = {b"PAR1": ".parquet", b"ARROW1": ".arrow", b"\x1f\x8b": ".csv.gz", b"\x28\xb5\x2f\xfd": ".csv.zst"}


@cache
def standard_input() -> Path:
    """Return a file, open to its owner alone, with everything that comes in; read once, and removed at the end."""
    if sys.stdin is None or sys.stdin.isatty():
        raise FileError("'-' reads the table from standard input, and nothing is sent there; name a file")
    folder = private_folder()
    whole = folder / "standard-input"
    whole.touch(mode=0o600)  # what is made of it is open to nobody else
    with whole.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    with whole.open("rb") as file:
        first = file.read(1 << 12)
    ending = next((ending for mark, ending in _BEGINNINGS.items() if first.startswith(mark)), None)
    ending = ending or (".jsonl" if first.lstrip()[:1] == b"{" else ".csv")
    return whole.rename(folder / f"standard-input{ending}")


def private_folder() -> Path:
    """Return a folder that only its owner can use, and that is removed when the process ends."""
    folder = Path(tempfile.mkdtemp(prefix="shoal-"))
    folder.chmod(0o700)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def send(path: Path) -> None:
    """Write a file to standard output, whole."""
    try:
        with path.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    except OSError as error:
        raise FileError(f"standard output could not be written: {error.strerror}") from None
