"""The partition step of a method that searches records of any kind: block by block, with one budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.columns.mixed import Mixed
from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.threads import Report
from shoal.partition.semantic_optimal import centre_of_all, problem_of, usual_passes
from shoal.release.declaring import Declared
from shoal.release.searching import Searched, steps_again
from shoal.release.worker import search_mixed_block


@dataclass(frozen=True)
class _Set:
    """A set of quasi-identifiers block by block: distinct records, rows, and the centre and squares of the whole."""

    parts: list[Mixed]
    rows_of_blocks: Sequence[Ints]
    middle: Floats
    total: float

    @property
    def distinct(self) -> int:
        """Number of distinct records, block by block."""
        return sum(len(part.counts) for part in self.parts)


def search_mixed_sets(
    declared: Declared, blocks: Sequence[Ints], rows_of_sets: Sequence[Sequence[Ints]], report: Report
) -> tuple[list[Ints], Searched]:
    """Return the groups of each set, and what the searches did.

    Every block gets the same number of proposals for each of its distinct records: a number of steps is that of the set
    with most distinct records. With a time, it is what the largest block of the first set makes of its share of the
    time. So one number of steps repeats them all. After an interruption what is left is only started.
    """
    plan, options = declared.plan, declared.options
    time, split = options["time"], options["split"]
    sets = [_set(declared, i, rows) for i, rows in enumerate(rows_of_sets)]
    largest = max(one.distinct for one in sets)
    passes: int | None = None if options["steps"] is None else options["steps"] // largest
    work = sum(len(codes) for codes in blocks)
    found_groups, steps, interrupted, done = [], [], False, 0
    made: set[int] = set()
    for one, codes in zip(sets, blocks, strict=True):
        if options["steps"] is None and time is None:
            passes = usual_passes(one.distinct)
        groups = np.empty(len(codes), dtype=np.int64)
        first = most = 0
        for b in sorted(range(len(one.parts)), key=lambda b: -len(one.parts[b].counts)):
            rows = one.rows_of_blocks[b]

            def tell(part: float, cost: float, done: int = done, n: int = len(rows), total: float = one.total) -> None:
                report(int(done + part * n), f"loss {100.0 * cost / total:.4f} %" if total else "")

            budget = None if time is None or passes is not None else time * len(rows) / work
            asked = (0, None) if interrupted else (passes, budget)
            labels, found = search_mixed_block(one.parts[b], plan.k, plan.seed, *asked, split, one.middle, tell)
            groups[rows] = labels + first
            first += int(labels.max()) + 1
            done += len(rows)
            interrupted |= found.interrupted
            most = max(most, found.passes)
            made |= set() if found.exact else {found.passes}
            if passes is None and not found.exact:
                passes = found.passes
        found_groups.append(groups)
        steps.append(most * one.distinct)
    again = steps_again({passes * largest for passes in made}, time is not None or interrupted)
    return found_groups, Searched(steps, interrupted, bound=None, gap=None, again=again)


def _set(declared: Declared, place: int, rows_of_blocks: Sequence[Ints]) -> _Set:
    """Count the distinct records of a set, block by block; scales, weights and centre are those of the whole table."""
    quasi = declared.sets[place]
    whole = quasi.counted()
    middle = centre_of_all(whole)
    parts = [whole]
    if len(rows_of_blocks) > 1:
        parts = [quasi.take(rows).counted() for rows in rows_of_blocks]
    total = problem_of(whole, declared.plan.k, declared.options["split"], middle).total()
    return _Set(parts, rows_of_blocks, middle, total)
