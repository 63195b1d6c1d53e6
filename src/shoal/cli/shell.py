"""What all commands share: the application, the two streams, and how errors become sentences and a status."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

import shoal

app = typer.Typer(
    name="shoal",
    help="Make microdata safe to publish: every record hides in a group of at least k.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
out = Console()
err = Console(stderr=True)


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(f"shoal {shoal.__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@contextmanager
def told_errors(interrupted: Callable[[], str] = lambda: "nothing was written") -> Iterator[None]:
    """Turn errors into sentences on standard error and a status; ``interrupted`` says what an interruption leaves."""
    try:
        yield
    except shoal.ShoalError as error:
        message = "\n".join(map(shoal.printable, str(error).split("\n")))
        err.print(f"error: {message}", markup=False, highlight=False, style="red", soft_wrap=True)
        raise typer.Exit(1 if isinstance(error, shoal.BrokenPromise) else 2) from None
    except KeyboardInterrupt:
        err.print(f"interrupted; {interrupted()}", markup=False, highlight=False, soft_wrap=True)
        raise typer.Exit(130) from None


@contextmanager
def printed_or_told(output: Path) -> Iterator[None]:
    """Say so where a release was written and its summary cannot be printed."""
    try:
        yield
    except OSError:
        sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115 - so that closing it at the end does not fail again
        err.print(f"error: {output} was written, but its summary could not be printed", markup=False)
        raise typer.Exit(2) from None
