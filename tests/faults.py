"""Faults for tests: a process killed at each of its steps that change the disk, a full disk.

Work that is to be killed runs in a forked child, and must not call libraries that have threads of their own.
"""

from __future__ import annotations

import gc
import os
import resource
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

ENDINGS = [  # of every kind of file that is written
    *(".csv", ".csv.gz", ".csv.zst", ".jsonl", ".jsonl.zst", ".xml", ".parquet", ".arrow", ".xlsx", ".sqlite"),
    *(".sav", ".zsav", ".dta", ".xpt"),
]

_CHANGES = {"os.rename", "os.remove", "os.link", "os.chmod", "os.truncate", "os.mkdir"}  # audit events of Python


def _changes_disk(event: str, args: tuple[object, ...]) -> bool:
    if event == "open":
        return isinstance(args[2], int) and bool(args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
    return event in _CHANGES


def _started(work: Callable[[], None]) -> int:
    """Start work in a forked child and return the number of its process."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the parent has threads; the child calls none of them
        child = os.fork()
    if not child:
        gc.disable()  # what is left over of libraries with threads must not be taken apart here
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    return child


def in_child(work: Callable[[], None]) -> int:
    """Run work in a child and return its status as os.waitpid gives it, 256 where it raised."""
    return os.waitpid(_started(work), 0)[1]


def killed_at_each_change(work: Callable[[], None], most: int = 200) -> Iterator[int]:
    """Run work again and again, killed before its first, second ... change of the disk, until it gets through.

    Gives the number of the change after each kill.
    """
    for number in range(1, most):
        left = [number]

        def watch(event: str, args: tuple[object, ...], left: list[int] = left) -> None:
            if _changes_disk(event, args):
                left[0] -= 1
                if not left[0]:
                    os.kill(os.getpid(), signal.SIGKILL)

        def watched(watch: Callable[..., None] = watch) -> None:
            sys.addaudithook(watch)  # which ends with the child
            work()

        status = in_child(watched)
        if status == 0:
            return
        assert os.WIFSIGNALED(status), f"the work failed by itself when killed at change {number}"
        yield number
    raise AssertionError(f"the work has more than {most} steps")


@contextmanager
def full_disk(room: int) -> Iterator[None]:
    """Let no file grow beyond some bytes, which fails as a full disk does, whoever writes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    former = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, former)
