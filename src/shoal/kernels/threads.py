"""The engine for tables in memory: tasks in threads, since the kernels run without the interpreter's lock."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import TypeVar

from shoal.kernels.arrays import Ints
from shoal.kernels.watch import DONE, STOP, new_watch

T = TypeVar("T")
Report = Callable[..., None]  # records done, and perhaps a few words
Look = Callable[[], bool]  # whether it is too late to go on
_MOST = 256  # threads, however many are asked for: the result is the same
_TICK = 0.05  # seconds between two looks at the progress


def threads_of_each(tasks: int, threads: int | None) -> int:
    """Return how many threads each of some tasks may use when there are fewer tasks than threads.

    >>> threads_of_each(3, 8)
    2
    """
    return max(1, min(threads or os.cpu_count() or 1, _MOST) // max(tasks, 1))


def run_tasks(tasks: Sequence[Callable[[Ints], T]], report: Report | None, threads: int | None) -> list[T]:
    """Run tasks, at most ``threads`` at a time, and return their results in order.

    Each task gets a watch of its own. ``report`` is told from time to time how many records are done. An
    interruption or an error in one task stops the others before it is raised.
    """
    watches = [new_watch() for _ in tasks]

    def look() -> bool:
        if report:
            report(int(sum(watch[DONE] for watch in watches)))
        return False

    def bind(task: Callable[[Ints], T], watch: Ints) -> Callable[[], T]:
        return lambda: task(watch)

    bound = [bind(task, watch) for task, watch in zip(tasks, watches, strict=True)]
    results = run_watched(bound, watches, threads, look)
    assert results is not None
    return results


def run_watched(
    tasks: Sequence[Callable[[], T]], watches: Sequence[Ints], threads: int | None, look: Look | None = None
) -> list[T] | None:
    """Run tasks, at most ``threads`` at a time, and return their results in order, or None where it got too late.

    ``look`` is called now and then, and once at the end; where it says so while tasks are at work these are stopped
    through their ``watches``. So they are by an interruption, or by an error in one of them, before it is raised.
    """
    if not tasks:
        return []
    workers = min(len(tasks), threads or os.cpu_count() or 1, _MOST)
    with ThreadPoolExecutor(workers, thread_name_prefix="shoal") as pool:
        futures: list[Future[T]] = [pool.submit(task) for task in tasks]
        try:
            waiting = set(futures)
            while waiting:
                finished, waiting = wait(waiting, _TICK, FIRST_EXCEPTION)
                for future in finished:
                    future.result()
                if look and look() and waiting:
                    _stop(watches, futures)
                    return None
        except BaseException:
            _stop(watches, futures)
            raise
    return [future.result() for future in futures]


def _stop(watches: Sequence[Ints], futures: Sequence[Future[T]]) -> None:
    for watch in watches:
        watch[STOP] = 1
    for future in futures:
        future.cancel()
