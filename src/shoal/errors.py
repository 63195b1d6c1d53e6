"""The exceptions that shoal raises.

::

    ShoalError
    ├── PlanError (ValueError)       the plan asks for something that is wrong; lists every mistake
    ├── DataError (ValueError)       the table cannot be protected as asked; lists every reason
    ├── FileError (OSError)          a file cannot be read or written
    │   └── OutputExists             a file is there already, and was not to be replaced
    ├── MissingExtra (ImportError)   an optional dependency is needed
    └── BrokenPromise (RuntimeError) a check of the result failed: a bug in shoal, nothing was released

Messages name columns, options and counts, never the value of a cell. There are two exceptions, which their user must
be able to find: the label of a stratum that is too small, and categories that are not in their hierarchy.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from traceback import walk_tb

_LISTED = 50  # mistakes that one message shows
_NAMED = 20  # values that one message names
_ROUNDING = 1e-12  # a percentage below it is none
_CLOSE = 10_000  # names among which the nearest is looked for: it takes a while


class ShoalError(Exception):
    """Anything that shoal refuses to do, with the reason and what to do about it."""


class _Mistakes(ShoalError, ValueError):  # noqa: N818 - never raised itself
    """Several mistakes reported together."""

    def __init__(self, mistakes: str | Sequence[str]) -> None:
        self.mistakes: list[str] = [mistakes] if isinstance(mistakes, str) else list(mistakes)
        if len(self.mistakes) == 1:
            super().__init__(self.mistakes[0])
        else:
            lines = "".join(f"\n  - {mistake}" for mistake in self.mistakes[:_LISTED])
            if len(self.mistakes) > _LISTED:
                lines += f"\n  - and {len(self.mistakes) - _LISTED} more"
            super().__init__(f"{len(self.mistakes)} mistakes:{lines}")


class PlanError(_Mistakes):
    """The plan asks for something that does not exist or does not fit together."""


class DataError(_Mistakes):
    """The table cannot be protected in the way that was asked for."""


class FileError(ShoalError, OSError):
    """A file cannot be read or written."""


class OutputExists(FileError, FileExistsError):  # noqa: N818 - says what happened
    """A file is there already, and was not to be replaced."""


class MissingExtra(ShoalError, ImportError):  # noqa: N818 - named after what the user has to install
    """An optional dependency is needed and not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional package: pip install 'shoal[{extra}]'")


class BrokenPromise(ShoalError, RuntimeError):  # noqa: N818 - says what happened
    """The result failed shoal's own check. Nothing was released; please report it."""


def printable(text: str) -> str:
    """Return a text with control characters and line breaks spelt out, so that it cannot be taken for anything else.

    >>> printable("in" + chr(10) + "come") == "in" + chr(92) + "ncome"
    True
    """
    return text if text.isprintable() else ascii(text)[1:-1]


def without_secrets(name: str) -> str:
    """Return the name of a file, or the address of a database without user, password and options.

    >>> without_secrets("postgresql://ada:secret@db.example/census?sslmode=require#persons"), without_secrets("a@b.csv")
    ('postgresql://db.example/census#persons', 'a@b.csv')
    """
    found = re.match(r"(\w+://)(?:.*@)?([^?#]*)(?:\?[^#]*)?(#.*)?$", name)
    return "".join(part or "" for part in found.groups()) if found else name


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """Return a count with its noun.

    >>> counted(1, "record"), counted(2, "record"), counted(0, "stratum", "strata")
    ('1 record', '2 records', '0 strata')
    """
    return f"{count} {one_or_many(count, noun, plural or f'{noun}s')}"


def one_or_many(count: int, one: str, many: str) -> str:
    """Return the word that fits a count.

    >>> one_or_many(1, "is", "are"), one_or_many(0, "is", "are")
    ('is', 'are')
    """
    return one if count == 1 else many


def ranged(low: int, high: int, noun: str) -> str:
    """Return the smallest and the largest of some counts with their noun, or one where they are the same.

    >>> ranged(3, 5, "record"), ranged(3, 3, "record")
    ('3 to 5 records', '3 records')
    """
    return counted(low, noun) if low == high else f"{low} to {counted(high, noun)}"


def fewer_others(k: int) -> str:
    """Say with how many others a record is that is one of fewer than k.

    >>> fewer_others(2), fewer_others(3)
    ('no other', 'fewer than 2 others')
    """
    return "no other" if k <= 2 else f"fewer than {k - 1} others"


def decimal(value: float, places: int = 2) -> str:
    """Return a number with so many decimals, or with its first digit where these would all be 0: never 0 for a little.

    What is below a part in 10^12 is rounding, and is 0.

    >>> decimal(12.346), decimal(0.0004), decimal(0.0)
    ('12.35', '0.0004', '0.00')
    """
    text = f"{value:.{places}f}"
    return f"{value:.1g}" if abs(value) > _ROUNDING and not float(text) else text


def listed(names: Iterable[str], most: int | None = None, between: str = " and ") -> str:
    """Return names in quotes, the last two with a word between them; not more than ``most``, and how many are left.

    >>> listed(["a", "b", "c"]), listed(["a", "b", "c", "d"], most=2)
    ("'a', 'b' and 'c'", "'a', 'b' and 2 more")
    """
    every = list(names)
    shown = [f"'{name}'" for name in every[:most]]
    if len(shown) < len(every):
        shown.append(f"{len(every) - len(shown)} more")
    if between != " and " or len(shown) == 1:
        return between.join(shown)
    return f"{', '.join(shown[:-1])}{between}{shown[-1]}"


def did_you_mean(wrong: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` for the nearest known name, or an empty string.

    >>> did_you_mean("incme", ["age", "income"])
    "; did you mean 'income'?"
    """
    names = list(known)
    if len(names) > _CLOSE:
        return ""
    folded = {name.casefold(): name for name in names}
    close = difflib.get_close_matches(wrong.casefold(), list(folded), n=1, cutoff=0.6)
    return f"; did you mean '{folded[close[0]]}'?" if close else ""


def with_hints(names: Sequence[str], known: Sequence[str]) -> str:
    """Return names in quotes, each with the nearest that is known; not more than 20, and how many are left.

    >>> with_hints(["Jappan", "x"], ["Japan"])
    "'Jappan', did you mean 'Japan'?; 'x'"
    """
    hints = [did_you_mean(name, known).replace("; did", ", did") for name in names[:_NAMED]]
    told = [f"'{name}'{hint}" for name, hint in zip(names, hints, strict=False)]
    return "; ".join(told) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")


def failure(error: BaseException) -> str:
    """Say what failed in shoal itself and where, without what the error says: that may have cells in it.

    >>> failure(ZeroDivisionError("1200 / 0"))
    'shoal failed with ZeroDivisionError, which is a mistake of shoal; please report it'
    """
    house = Path(__file__).parent
    frames = [frame for frame, _ in walk_tb(error.__traceback__) if house in Path(frame.f_code.co_filename).parents]
    at = frames[-1] if frames else None
    where = f" in {Path(at.f_code.co_filename).relative_to(house)}, line {at.f_lineno}" if at else ""
    return f"shoal failed with {type(error).__name__}{where}, which is a mistake of shoal; please report it"
