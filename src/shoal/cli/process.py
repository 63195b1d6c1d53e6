"""The process of a command: how it ends when it is told to, and streams that are closed."""

from __future__ import annotations

import os
import signal
import sys


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
            setattr(sys, name, open(number, "w", encoding="utf-8", closefd=False))  # noqa: SIM115 - till the end
