"""What a user sees while work goes on: a bar with the time left, and the notice that a first run compiles.

On standard error, and only where that is a terminal.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from shoal.kernels.compiling import on_first_compile

_PATIENCE = 1.5  # seconds of work before a bar appears


@contextmanager
def show_progress(
    total: int, show: bool | Callable[..., None] | None = None, what: str = "protecting"
) -> Iterator[Callable[..., None]]:
    """Give a function to be told how many of ``total`` records are done, and in a few words how it stands.

    ``show`` says whether to draw anything; by default that is where standard error is a terminal. A function is told
    instead. ``what`` is what the bar says is going on.
    """
    if callable(show):
        yield show
        return
    if show is None:
        show = sys.stderr.isatty()
    if not show:
        yield lambda done, words="": None
        return

    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:3.0f} %"),
        TimeRemainingColumn(),
    )
    bar = Progress(*columns, console=console, transient=True)
    task = bar.add_task(what, total=total)
    started = time.monotonic()

    def report(done: int, words: str = "") -> None:
        if not bar.live.is_started and time.monotonic() - started > _PATIENCE:
            bar.start()
        bar.update(task, completed=done, description=f"{what}, {words}" if words else what)

    def compiling() -> None:
        console.print("[dim]compiling for this machine; only the first run of a method does this[/dim]")

    with on_first_compile(compiling):
        try:
            yield report
        finally:
            bar.stop()
