"""What input from outside may be at most: plans, rules and hierarchies are written by others, and read in bounded work.

SECURITY.md lists these limits with their reasons; a test holds the two together. They are far above what people write:
the largest public hierarchies are about 20 names deep, and rules of thousands of characters cannot be read by anybody.
"""

from __future__ import annotations

from pathlib import Path

from shoal.errors import FileError

LARGEST_YAML = 4 << 20  # bytes of a plan, or of a hierarchy or words in YAML
LARGEST_RULES = 4 << 20  # bytes of a file of rules
LARGEST_HIERARCHY = 64 << 20  # bytes of a hierarchy in CSV or OWL, or of words in CSV
DEEPEST_YAML = 100  # lists and names inside each other
DEEPEST_RULE = 100  # conditions, parentheses and signs inside each other in a rule
LONGEST_NUMBER = 400  # characters of a number in a plan or a rule; the largest that a computer counts with has 309
DEEPEST_HIERARCHY = 200  # names from the root to a leaf
LARGEST_K = 10**9
LARGEST_SEED = 2**63 - 1
LARGEST_OPTION = 10**12  # of options that are numbers, seconds too, and of blocks
MOST_KS = 10_000  # of a sweep
MOST_REPEATS = 1000  # samples of a sweep
ENGINE_SECONDS = 60.0  # that the engine may take for one document of records, and for the rules themselves


def read_small(path: Path, what: str, most: int) -> bytes:
    """Return the bytes of a file that a plan names; devices, pipes and files that are too large are not opened.

    Parameters
    ----------
    path : Path
        Where it is.
    what : str
        What it is, for messages: ``the plan``.
    most : int
        How many bytes it may have.
    """
    try:
        if not path.is_file():
            kind = "a device or pipe" if path.exists() else "not there"
            raise FileError(f"cannot read {what} '{path}': it is {'a folder' if path.is_dir() else kind}; name a file")
        with path.open("rb") as handle:
            data = handle.read(most + 1)  # what a file says of its own size need not be true
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"cannot read {what} '{path}': {error.strerror}") from None
    except ValueError:
        raise FileError(f"cannot read {what}: its name has characters that no name of a file has") from None
    if len(data) > most:
        raise FileError(
            f"{what} '{path}' has more than {most >> 20} MiB, which is the most that is read; make it smaller"
        )
    return data
