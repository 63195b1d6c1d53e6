"""Which columns of two records agree, for many records at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.link_search import DONE, STOP

Codes = NDArray[np.int32]

_CHUNK = 4096


@kernel
def count_patterns(asked: Codes, codes: Codes, starts: Ints, blocks: Ints, columns: int) -> Ints:
    """How often each pattern of agreement occurs among the pairs of asked and released records of the same block.

    ``asked`` (q, d) are codes of original records, ``codes`` (d, n) those of the released ones by column, sorted by
    block; a negative code agrees with nothing. Bit j of a pattern says that column j agrees.
    """
    counts = np.zeros(1 << columns, np.int64)
    patterns = np.empty(_CHUNK, np.uint32)
    for i in range(len(asked)):
        stop = starts[blocks[i] + 1]
        for start in range(starts[blocks[i]], stop, _CHUNK):
            width = min(_CHUNK, stop - start)
            _patterns(asked[i], codes, start, width, patterns)
            for a in range(width):
                counts[patterns[a]] += 1
    return counts


@kernel
def link_by_patterns(
    asked: Codes, codes: Codes, starts: Ints, blocks: Ints, own: Ints, weights: Floats, watch: Ints
) -> Floats:
    """Chance that the released record with the highest weight is the right one, for each asked record.

    ``own`` (q,) is the place of the right record among the released, ``weights`` that of each pattern. Ties share.
    """
    chances = np.zeros(len(asked))
    patterns = np.empty(_CHUNK, np.uint32)
    for i in range(len(asked)):
        if watch[STOP]:
            break
        watch[DONE] += 1
        first, stop = starts[blocks[i]], starts[blocks[i] + 1]
        if own[i] < first or own[i] >= stop:
            continue
        _patterns(asked[i], codes, own[i], 1, patterns)
        best, ties = weights[patterns[0]], 0
        start = first
        while start < stop and ties >= 0:
            width = min(_CHUNK, stop - start)
            _patterns(asked[i], codes, start, width, patterns)
            for a in range(width):
                weight = weights[patterns[a]]
                if weight > best:
                    ties = -1
                    break
                if weight == best:
                    ties += 1
            start += width
        if ties > 0:
            chances[i] = 1.0 / ties
    return chances


@kernel
def _patterns(record: Codes, codes: Codes, start: int, width: int, out: NDArray[np.uint32]) -> None:
    """Patterns of agreement of a record with the released ones from start on."""
    for a in range(width):
        out[a] = np.uint32(0)
    for j in range(len(record)):
        if record[j] < 0:
            continue
        column, bit, code = codes[j, start : start + width], np.uint32(1 << j), record[j]
        for a in range(width):
            out[a] |= bit if column[a] == code else np.uint32(0)
