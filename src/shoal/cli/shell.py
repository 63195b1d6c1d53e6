"""What all commands share: the two streams, and how errors become sentences and a status."""

from __future__ import annotations

import os
import signal
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


class Terminated(SystemExit):
    """SIGTERM came: everything is cleaned up on the way out, as for any other exception."""


def end_on_sigterm() -> None:
    """End with the status of SIGTERM when that comes, but not without cleaning up."""

    def end(number: int, _: object) -> None:
        raise Terminated(128 + number)

    signal.signal(signal.SIGTERM, end)


def open_streams() -> None:
    """Send to nowhere what is written to a stream that is closed, and never into the next file that is opened."""
    for number, name in ((1, "stdout"), (2, "stderr")):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            if nowhere != number:
                os.dup2(nowhere, number)
                os.close(nowhere)
            setattr(sys, name, open(number, "w", encoding="utf-8", closefd=False))  # noqa: PTH123, SIM115 - till the end


def check_free(output: Path, force: bool, *inputs: Path | None) -> None:
    """Refuse an output that is there already, unless forced, or that is one of the files that are read."""
    from shoal.tables.files.writing_whole import check_target  # late: the help of a command needs none of it

    check_target(output, [("one of the files that are read", path) for path in inputs if path], force)


@contextmanager
def told_errors(interrupted: Callable[[], str] = lambda: "nothing was written") -> Iterator[None]:
    """Turn errors into sentences on standard error and a status; ``interrupted`` says what an interruption leaves."""
    try:
        yield
    except shoal.ShoalError as error:
        message = "\n".join(map(shoal.printable, str(error).split("\n")))
        tell(f"error: {message}", style="red")
        raise typer.Exit(1 if isinstance(error, shoal.BrokenPromise | FileExistsError) else 2) from None
    except MemoryError:
        tell(f"error: there is not enough memory for this; {interrupted()}", style="red")
        raise typer.Exit(2) from None
    except OSError as error:
        if isinstance(error, BrokenPipeError) or error.filename is not None:
            raise  # whoever read the output has seen enough; or it is about something else
        _lose_output()
        tell(f"error: the result could not be printed: {error.strerror}", style="red")
        raise typer.Exit(2) from None
    except (KeyboardInterrupt, Terminated) as stop:
        left = "; ".join(getattr(stop, "__notes__", ())) or interrupted()
        ended = isinstance(stop, Terminated)
        tell(f"{'terminated' if ended else 'interrupted'}; {left}")
        raise typer.Exit(143 if ended else 130) from None


@contextmanager
def printed_or_told(output: Path) -> Iterator[None]:
    """Say so where a release was written and its summary cannot be printed."""
    try:
        yield
        sys.stdout.flush()
    except OSError:
        _lose_output()
        tell(f"error: {output} was written, but its summary could not be printed")
        raise typer.Exit(2) from None


def _lose_output() -> None:
    """Give up standard output, so that closing it at the end does not fail again."""
    sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115 - till the end
