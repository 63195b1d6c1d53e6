"""The partition step of a method that searches records of any kind: block by block, with one budget."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.arrays import Ints
from shoal.declare import Declared
from shoal.engines.memory import Report
from shoal.mixed import mix
from shoal.partition.semantic_optimal import centre_of_all, problem_of, usual_passes
from shoal.searching import Searched
from shoal.worker import search_mixed_block


def search_mixed_sets(
    declared: Declared, blocks: Sequence[Ints], rows_of_sets: Sequence[Sequence[Ints]], report: Report
) -> tuple[list[Ints], Searched]:
    """Return the groups of each set, and what the searches did.

    Every block gets the same number of proposals for each of its distinct records. With a time, that number is what the
    largest block of the first set makes of its share of the time. So one number of steps repeats them all. After an
    interruption what is left is only started.
    """
    plan, options = declared.plan, declared.options
    found_groups, steps, interrupted = [], [], False
    passes: int | None = None
    time = options["time"]
    work = sum(len(codes) for codes in blocks)
    for i, (columns, codes, rows_of_blocks) in enumerate(zip(declared.sets, blocks, rows_of_sets, strict=True)):
        scales = [declared.scale_of.get(column.name) for column in columns]
        shares = [plan.column_weights.get(column.name, 1.0) for column in columns]
        squared = [column.name for column in columns if declared.aggregators[column.name] == "least-squares"]
        whole = mix(columns, scales, shares, squared=squared)
        middle = centre_of_all(whole)
        total = problem_of(whole, plan.k, options["split"], middle).total()
        parts = [
            mix([column.take(rows) for column in columns], scales, shares, squared=squared)
            if len(rows_of_blocks) > 1
            else whole
            for rows in rows_of_blocks
        ]
        distinct = sum(len(part.counts) for part in parts)
        if options["steps"] is not None:
            passes = options["steps"] // distinct
        elif time is None:
            passes = usual_passes(distinct)
        groups = np.empty(len(codes), dtype=np.int64)
        first = done = made = 0
        for b in sorted(range(len(parts)), key=lambda b: -len(parts[b].counts)):
            part, rows = parts[b], rows_of_blocks[b]

            before = i * len(codes) + done

            def tell(
                share: float, cost: float, before: int = before, here: int = len(rows), total: float = total
            ) -> None:
                report(int(before + share * here), f"loss {100.0 * cost / total:.4f} %" if total else "")

            budget = None if time is None or passes is not None else time * len(rows) / work
            labels, found = search_mixed_block(
                part,
                plan.k,
                plan.seed,
                0 if interrupted else passes,
                None if interrupted else budget,
                options["split"],
                middle,
                tell,
            )
            groups[rows] = labels + first
            first += int(labels.max()) + 1
            done += len(rows)
            interrupted |= found.interrupted
            made = max(made, found.passes)
            if passes is None and not found.exact:
                passes = found.passes
        found_groups.append(groups)
        steps.append(made * distinct)
    return found_groups, Searched(steps, interrupted, bound=None, gap=None)
