"""Pace: how long cycles take, and what there is time for in a search that ends by the clock."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TypeVar

import numpy as np

from shoal.kernels.arrays import Ints
from shoal.kernels.watch import DONE, STOP

LONG = 300  # proposals a record from which a cycle starts far above the temperature at which groups form
COMBINED = 600  # proposals a record from which it pays to combine
_TICK = 0.05
_TELLING = 0.3  # seconds of a cycle from which its pace says how long the next takes
_USED = 0.95  # part of the time left that is planned for
_GRACE = 0.1  # part of the whole time by which the last cycle may be late rather than be lost
_HOTTER = 1.4  # a proposal of the first cycle that starts from far above takes this much longer than before
_SLOWER = 1.3  # so much longer may combining take than the last time

T = TypeVar("T")


class Pace:
    """How long cycles take, for a search that ends by the clock; without an end there is always time."""

    def __init__(self, until: float | None, combines: bool) -> None:
        self.until = until
        self._grace = 0.0 if until is None else _GRACE * max(0.0, until - time.monotonic())
        self._combines = combines
        self._annealing = 0.0  # seconds of the last cycle
        self._passes = 0  # and its proposals for each record
        self._combining = 0.3  # a guess, until it is measured

    def measured(self, passes: int, annealing: float, combining: float) -> None:
        """Take note of a cycle."""
        self._passes, self._annealing = passes, annealing
        if passes >= COMBINED:
            self._combining = combining

    @property
    def known(self) -> bool:
        """Whether the last cycle was long enough to foresee the next."""
        return self.until is None or self._annealing >= _TELLING

    def passes_left(self, cycles: int) -> float:
        """Return how many proposals a record there is time for in so many cycles; without end before the first."""
        if self.until is None or self._passes == 0:
            return np.inf
        each = self._annealing / self._passes
        seconds = self.until - time.monotonic()
        if self._combines and self._passes < LONG and seconds / each >= LONG:
            each *= _HOTTER
        if self._combines and seconds / each >= COMBINED:
            seconds -= min(_SLOWER * self._combining * cycles, seconds / 2)
        return _USED * seconds / each

    def too_late(self, began: float, part: float) -> bool:
        """Whether the time is over, and work of which a part is done will not end soon after it."""
        now = time.monotonic()
        if self.until is None or now <= self.until:
            return False
        return part == 0.0 or began + (now - began) / part > self.until + self._grace


def run(
    tasks: Sequence[Callable[[], T]],
    watch: Ints,
    threads: int,
    pace: Pace | None = None,
    progress: Callable[[float], None] | None = None,
    steps: int = 1,
) -> list[T] | None:
    """Run tasks on threads; None where the time is over long before they will be."""
    if not tasks:
        return []
    began = time.monotonic()
    with ThreadPoolExecutor(min(threads, len(tasks)), thread_name_prefix="shoal-search") as pool:
        futures: list[Future[T]] = [pool.submit(task) for task in tasks]
        try:
            waiting = set(futures)
            while waiting:
                _, waiting = wait(waiting, _TICK)
                part = min(1.0, float(watch[DONE]) / steps)
                if progress:
                    progress(part)
                if pace and pace.too_late(began, part):
                    _stop(watch, futures)
                    return None
        except BaseException:
            _stop(watch, futures)
            raise
        return [future.result() for future in futures]


def _stop(watch: Ints, futures: list[Future[T]]) -> None:
    watch[STOP] = 1
    for future in futures:
        future.cancel()
