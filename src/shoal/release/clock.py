"""Seconds of the steps of a run."""

from __future__ import annotations

import time


class Clock:
    """Seconds of each step."""

    def __init__(self) -> None:
        self.started = self._last = time.perf_counter()
        self.laps: dict[str, float] = {}

    def lap(self, step: str) -> None:
        """Take note of the seconds since the last step."""
        now = time.perf_counter()
        self.laps[step] = round(self.laps.get(step, 0.0) + now - self._last, 6)
        self._last = now

    def seconds(self) -> float:
        """Return the seconds since the start."""
        return time.perf_counter() - self.started
