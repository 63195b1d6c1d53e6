"""What a user sees while work goes on: a bar with the time left, and the notice that a first run compiles.

On standard error: a bar where that is a terminal, and else a line now and then, so that a log says that work goes on.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from shoal.kernels.compiling import on_first_compile

_PATIENCE = 1.5  # seconds of work before a bar appears
_FIRST_LINE = 10.0  # seconds of work before a line is written where there is no terminal; the next ones double it


class Standing(str):
    """How a search stands: a few words, and the figures in them.

    Attributes
    ----------
    loss, gap : float or None
        What would be lost if it ended now, and the part of that which could still be saved at most, in percent; None
        where it is not known.

    Examples
    --------
    >>> told = Standing("loss 4 %", loss=4.0)
    >>> f"now {told}", told.loss, told.gap
    ('now loss 4 %', 4.0, None)
    """

    __slots__ = ("gap", "loss")

    def __new__(cls, words: str, loss: float | None = None, gap: float | None = None) -> Standing:
        """Make words that know their figures."""
        told = super().__new__(cls, words)
        told.loss, told.gap = loss, gap
        return told

    loss: float | None
    gap: float | None


@contextmanager
def show_progress(
    total: int,
    show: bool | Callable[..., None] | None = None,
    what: str = "protecting",
    clock: Callable[[], float] = time.monotonic,
    ahead: str = "",
) -> Iterator[Callable[..., None]]:
    """Give a function to be told how many of ``total`` records are done, and in a few words how it stands.

    ``show`` says whether to draw a bar; by default that is where standard error is a terminal, and lines are written
    where it is not. A function is told instead. ``what`` is what is said to be going on, ``clock`` tells the seconds,
    and ``ahead`` is a sentence that comes before the work.
    """
    if callable(show):
        yield show
        return
    if ahead and show is not False:
        sys.stderr.write(f"{ahead}\n")
        sys.stderr.flush()
    if show is None and not sys.stderr.isatty():
        yield _lines(total, what, clock)
        return
    if show is False:
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
    started = clock()

    def report(done: int, words: str = "") -> None:
        if not bar.live.is_started and clock() - started > _PATIENCE:
            bar.start()
        bar.update(task, completed=done, description=f"{what}, {words}" if words else what)

    def compiling() -> None:
        console.print("[dim]compiling for this machine; only the first run of a method does this[/dim]")

    with on_first_compile(compiling):
        try:
            yield report
        finally:
            bar.stop()


def _lines(total: int, what: str, clock: Callable[[], float]) -> Callable[..., None]:
    """Return a function that writes a line after 10 seconds of work, after 20, after 40, and so on."""
    started, due = clock(), _FIRST_LINE

    def report(done: int, words: str = "") -> None:
        nonlocal due
        passed = clock() - started
        if passed < due:
            return
        while due <= passed:
            due *= 2.0
        # nobody knows how long some searches take: nothing of them is done until the end
        share = f"{min(100 * done // max(total, 1), 100)} % " if done else ""
        sys.stderr.write(f"{what}{f', {words}' if words else ''}: {share}after {passed:.0f} s\n")
        sys.stderr.flush()

    return report
