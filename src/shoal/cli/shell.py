"""What all commands share: the two streams, and how errors become sentences and a status."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

import shoal

if TYPE_CHECKING:
    from rich.console import Console


def out() -> Console:
    """Return standard output, for tables and styles."""
    from rich.console import Console  # late: `--json` needs none of it

    return Console()


def tell(message: str, style: str = "") -> None:
    """Write a message to standard error, as it is and on one line."""
    from rich.console import Console

    Console(stderr=True).print(message, style=style, markup=False, emoji=False, highlight=False, soft_wrap=True)


@contextmanager
def told_errors(interrupted: Callable[[], str] = lambda: "nothing was written") -> Iterator[None]:
    """Turn errors into sentences on standard error and a status; ``interrupted`` says what an interruption leaves."""
    try:
        yield
    except shoal.ShoalError as error:
        message = "\n".join(map(shoal.printable, str(error).split("\n")))
        tell(f"error: {message}", style="red")
        raise typer.Exit(1 if isinstance(error, shoal.BrokenPromise) else 2) from None
    except KeyboardInterrupt:
        tell(f"interrupted; {interrupted()}")
        raise typer.Exit(130) from None


@contextmanager
def printed_or_told(output: Path) -> Iterator[None]:
    """Say so where a release was written and its summary cannot be printed."""
    try:
        yield
    except OSError:
        sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115 - so that closing it at the end does not fail again
        tell(f"error: {output} was written, but its summary could not be printed")
        raise typer.Exit(2) from None
