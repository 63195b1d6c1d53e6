"""Searches that do not depend on each other, on several threads: rows in chunks, each chunk on one thread.

Kernels run without the interpreter's lock. Chunks are cut by the number of rows alone and write to places of their own,
so that the result does not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from shoal.kernels.pool import Pool, own_workspace
from shoal.kernels.threads import run_watched

_CHUNK = 4096  # rows: milliseconds of searching, against tens of microseconds for handing a chunk over


def search_in_chunks(pool: Pool, search: Callable[[Pool, int, int], None], rows: int, threads: int) -> None:
    """Call ``search(pool, start, stop)`` for all rows; nobody may leave the pool meanwhile."""
    starts = range(0, rows, _CHUNK)
    if threads == 1 or len(starts) == 1:
        search(pool, 0, rows)
        return

    def one(start: int) -> None:
        search(own_workspace(pool), start, min(start + _CHUNK, rows))

    run_watched([partial(one, start) for start in starts], [], threads)
