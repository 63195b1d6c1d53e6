"""Pace: how long cycles are, how long they take, and what there is time for in a search that ends by the clock."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.threads import run_watched
from shoal.kernels.watch import DONE

_TELLING = 0.3  # seconds of a cycle from which its pace says how long the next takes
_TRUSTED = 0.1  # part of a cycle after which its pace says when it ends
_USED = 0.95  # part of the time left that is planned for
_GRACE = 0.07  # part of the whole time by which the last cycle may be late rather than be lost
_HOTTER = 1.4  # a proposal of the first cycle that starts from far above takes this much longer than before
_SCALE = 2.0**0.5  # lengths of cycles: each so many times the last
_SLOWER = 1.3  # so much longer may combining take than the last time

T = TypeVar("T")
TellCycle = Callable[[float, float], None]  # part of the cycle done, cost saved in it so far


@dataclass(frozen=True)
class Lengths:
    """How long cycles are, in proposals for each record; each is so many times as long as the one before.

    Attributes
    ----------
    first, longest : float
        Of the first cycle, and what they grow to.
    hot : float
        From which a cycle starts far above the temperature at which groups form, where a proposal takes longer.
    combined : float
        From which groups seen are combined in a cycle, or groups refined after it, which takes a time of its own.
    combining : float
        Seconds that it is expected to take, until it is measured.
    beside : float
        Seconds after which it is ended, if these are more, for each proposal for each record of the cycle.
    growth : int
        How many times as long as the one before a cycle is at most.
    """

    first: int
    longest: float = np.inf
    hot: float = np.inf
    combined: float = np.inf
    combining: float = 0.3
    beside: float = 0.0
    growth: int = 2

    def following(self, before: int, left: float) -> tuple[int, float]:
        """Return the length of the cycle after one of some length, 0 if it is the first, and the room after it.

        There is a scale of lengths, and a cycle has the longest that is neither above what is ``left`` nor grows too
        fast. So the sum of all can be taken apart again: after a cycle that could have been longer, there is room for
        less than it would have taken to make it so. Less than a first cycle is left for none: 0.

        >>> Lengths(10).following(40, 1000.0), Lengths(10).following(40, 70.0), Lengths(10).following(40, 9.0)[0]
        ((80, inf), (56, 23.0), 0)
        """
        most = min(self.growth * before, self.longest) if before else self.first
        length, longer, at = 0, self.first, 0
        while longer <= min(left, most):
            at += 1
            length, longer = longer, int(self.first * _SCALE**at)
        return length, np.inf if longer > most else max(0.0, longer - length - 1.0)


class Pace:
    """How long cycles take, for a search that ends by the clock; without an end there is always time."""

    def __init__(self, until: float | None, lengths: Lengths) -> None:
        self.until = until
        self._grace = 0.0 if until is None else _GRACE * max(0.0, until - time.monotonic())
        self._lengths = lengths
        self._annealing = 0.0  # seconds of the last cycle
        self._passes = 0.0  # and its proposals for each record
        self._planned = 0  # proposals of the present one
        self._combining = lengths.combining
        self._beside = lengths.beside
        self._closed = False

    @property
    def deadline(self) -> float | None:
        """The moment of the monotonic clock after which what is not done is given up."""
        return None if self.until is None else self.until + self._grace

    def over(self) -> bool:
        """Whether that moment is past."""
        return self.deadline is not None and time.monotonic() > self.deadline

    def ends_within(self, seconds: float) -> bool:
        """Whether there is no time for work of so many seconds before a cycle; if so, there is none for a cycle."""
        self._closed |= self.until is not None and time.monotonic() + seconds > self.until
        return self._closed

    def plan(self, passes: int) -> None:
        """Take note of a cycle that begins."""
        self._planned = passes

    def measured(self, passes: int, annealing: float, combining: float = 0.0, *, ended: bool = False) -> None:
        """Take note of a cycle, and of whether combining was ended: after a longer one it is ended later."""
        self._passes, self._annealing = passes, annealing
        if passes >= self._lengths.combined:
            self._combining, self._beside = combining, self._lengths.beside if ended else 0.0

    def passes_left(self) -> float:
        """Return how many proposals a record there is time for in a cycle; without end where nobody can tell."""
        if self.until is None:
            return np.inf
        seconds = self.until - time.monotonic()
        if seconds <= 0.0 or self._closed:
            return 0.0
        if self._annealing < _TELLING:
            return np.inf
        each = self._annealing / self._passes
        if self._passes < self._lengths.hot <= seconds / each:
            each *= _HOTTER
        passes = seconds / each
        if passes >= self._lengths.combined:
            rest = seconds - min(_SLOWER * self._combining, seconds / 2)
            passes = min(rest / each, seconds / (each + _SLOWER * self._beside))
        return _USED * passes

    def too_late(self, began: float, part: float) -> bool:
        """Whether work of which a part is done will not end soon after the time, so that a shorter one has to do."""
        now = time.monotonic()
        if self.until is None or (now <= self.until and (now - began < _TELLING or part < _TRUSTED)):
            return False
        if part == 0.0:
            return True
        end = began + (now - began) / part
        if now <= self.until and self._planned >= self._lengths.combined:
            end += max(self._combining, self._beside * self._planned)
        # before the time is over things may still get faster
        if end <= self.until + (self._grace if now > self.until else 2.0 * self._grace):
            return False
        self._passes, self._annealing = part * self._planned, now - began
        return True

    def run(
        self,
        tasks: Sequence[Callable[[], T]],
        watch: Ints,
        threads: int,
        steps: int,
        progress: TellCycle | None,
        saved: Floats,
        *,
        began: float | None = None,
    ) -> list[T] | None:
        """Run the annealings of a cycle, of so many steps in all; None where the time is over long before they will be.

        They write to ``watch`` how many steps are done, and to ``saved``, place by place, what they saved. ``began``
        is when the first of these steps was made, where that was in an earlier run.
        """
        first = time.monotonic() if began is None else began

        def look() -> bool:
            part = min(1.0, float(watch[DONE]) / steps)
            if progress:
                progress(part, float(saved.sum()))
            return self.too_late(first, part)

        return run_watched(tasks, [watch], threads, look)
