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
from shoal.cli.process import Terminated
from shoal.errors import failure

if TYPE_CHECKING:
    from rich.console import Console

TRACEBACK = "SHOAL_TRACEBACK"  # environment variable: 1 shows tracebacks
UNEXPECTED = 70  # status, as sysexits has it for a mistake of the program


def out() -> Console:
    """Return standard output, for tables and styles."""
    from rich.console import Console  # late: `--json` needs none of it

    return Console()


def tell(message: str, style: str = "") -> None:
    """Write a message to standard error, as it is and on one line."""
    from rich.console import Console

    Console(stderr=True).print(message, style=style, markup=False, emoji=False, highlight=False, soft_wrap=True)


def check_inputs(output: Path, *inputs: Path | str | None) -> None:
    """Refuse an output that is one of the files that are read, before any work is done."""
    files = [Path(name) for name in inputs if name]
    if any(path.exists() and output.exists() and output.samefile(path) for path in files):
        raise shoal.FileError(f"'{output}' is one of the files that are read; write to another file")


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
    except BrokenPipeError:
        raise  # whoever read the output has seen enough
    except OSError as error:
        if error.filename is not None:
            raise typer.Exit(_unexpected(error, interrupted)) from None
        _lose_output()
        tell(f"error: the result could not be printed: {error.strerror}", style="red")
        raise typer.Exit(2) from None
    except (KeyboardInterrupt, Terminated) as stop:
        left = "; ".join(getattr(stop, "__notes__", ())) or interrupted()
        ended = isinstance(stop, Terminated)
        tell(f"{'terminated' if ended else 'interrupted'}; {left}")
        raise typer.Exit(143 if ended else 130) from None
    except (typer.Exit, typer.Abort, typer.BadParameter, SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # a panic of polars is no Exception
        raise typer.Exit(_unexpected(error, interrupted)) from None


def _unexpected(error: BaseException, interrupted: Callable[[], str]) -> int:
    """Tell what failed, or raise it where the whole traceback is asked for; returns the exit status."""
    if os.environ.get(TRACEBACK) == "1":
        raise error
    traceback = f"{TRACEBACK}=1 shows the whole traceback, which may have values of the table in it"
    tell(f"error: {failure(error)} (version {shoal.__version__}). {traceback}; {interrupted()}", style="red")
    return UNEXPECTED


@contextmanager
def printed_or_told(output: str) -> Iterator[None]:
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
