"""The partition step: every block by itself, or every set as a whole where the method searches."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from shoal.blocking.blocks import repair_groups, rows_of_blocks
from shoal.kernels.arrays import Ints
from shoal.kernels.numbering import number_keys
from shoal.kernels.threads import Report, run_tasks, threads_of_each
from shoal.partition.conditions.confidential import limits_of_rows
from shoal.partition.search.searchable import join_blocks
from shoal.partition.semantic_optimal.problem import RECORDS, objective_of
from shoal.partition.semantic_optimal.refining import RecordLoss
from shoal.release.declaring import Declared
from shoal.release.searching import Searched, search_sets
from shoal.release.worker import BlockTask, partition_block


def partition_sets(
    declared: Declared, strata: Sequence[Ints], blocks: Sequence[Ints], report: Report, threads: int | None
) -> tuple[list[Ints], Searched | None]:
    """Return the groups of each set of quasi-identifiers, and what a search did.

    Groups are numbered by first appearance, so that numbers say nothing about the method, and repaired across the faces
    of blocks where the plan asks for it. ``strata`` and ``blocks`` are those of each set.
    """
    plan, searched = declared.plan, None
    if declared.method.search:
        groups_of_sets, searched = search_sets(declared.method.search, declared, blocks, report, threads)
    else:
        groups_of_sets = _partition_blocks(declared, blocks, report, threads)
    if plan.blocking and plan.blocking.repair:
        each = threads_of_each(1, threads)
        groups_of_sets = [
            repair_groups(quasi, cells, codes, groups, plan.k, each)
            for quasi, cells, codes, groups in zip(declared.sets, strata, blocks, groups_of_sets, strict=True)
        ]
    return [number_keys(groups)[0] for groups in groups_of_sets], searched


def _partition_blocks(declared: Declared, blocks: Sequence[Ints], report: Report, threads: int | None) -> list[Ints]:
    """Return the groups of each set of quasi-identifiers: every block is partitioned by itself."""
    plan = declared.plan
    rows_of_sets = [rows_of_blocks(codes) for codes in blocks]
    each = threads_of_each(sum(map(len, rows_of_sets)), threads)
    limits = declared.told.limits if declared.told and declared.method.told else None
    tasks = []
    for quasi, parts in zip(declared.sets, rows_of_sets, strict=True):
        refined = plan.refine and declared.method.mixed
        objective = objective_of(quasi.counted(), RECORDS) if refined else None
        for rows in parts:
            own = quasi.take(rows) if len(parts) > 1 else quasi
            loss = None
            if objective is not None:
                weights = None if declared.weights is None else declared.weights[rows]
                loss = RecordLoss(objective, weights, plan.missing_patterns == "counted")
            task = BlockTask(
                own,
                declared.method.name,
                declared.options,
                plan.k,
                plan.seed,
                refined=plan.refine,
                threads=each,
                loss=loss,
                limits=limits_of_rows(limits, rows),
            )
            tasks.append(partial(partition_block, task))
    results = iter(run_tasks(tasks, report, threads))
    return [join_blocks(parts, [next(results) for _ in parts]) for parts in rows_of_sets]
