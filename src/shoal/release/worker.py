"""What runs on one block: pure functions of arrays, with everything that a remote executor needs to import."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from shoal.columns.quasi_identifiers import QuasiIdentifiers
from shoal.kernels.arrays import Ints
from shoal.kernels.given_away import Limits
from shoal.partition.methods import METHODS
from shoal.partition.refine import refine
from shoal.partition.semantic_optimal.refining import RecordLoss, refine_mixed


@dataclass(frozen=True)
class BlockTask:
    """A block to be partitioned.

    Attributes
    ----------
    quasi : QuasiIdentifiers
        Its rows; scales are those of the whole table, so that blocks can be compared.
    method : str
        Name of the method.
    options : mapping
        All of its options.
    k : int
        Smallest group.
    seed : int
        For methods that draw random numbers.
    refined : bool
        Whether the groups are refined afterwards.
    threads : int
        Threads that this block has to itself.
    loss : RecordLoss or None
        What refined groups of records of any kind lose; for methods that take these.
    limits : Limits or None
        What groups must keep of confidential columns, for methods that go by it.
    """

    quasi: QuasiIdentifiers
    method: str
    options: Mapping[str, object]
    k: int
    seed: int
    refined: bool = False
    threads: int = 1
    loss: RecordLoss | None = None
    limits: Limits | None = None


def partition_block(task: BlockTask, watch: Ints) -> Ints:
    """Return the group of each row of a block, numbered from 0, refined where asked for."""
    method = METHODS[task.method]
    records = method.records(task.quasi, task.threads)
    more: dict[str, object] = {"seed": task.seed} if method.seeded else {}
    if method.told:
        more["limits"] = task.limits
    groups = method.function(records, task.k, watch, **task.options, **more)
    if not task.refined:
        return groups
    if task.loss is not None:
        return refine_mixed(records, groups, task.k, task.loss, task.seed, watch)
    return refine(task.quasi.points(task.threads), groups, task.k, watch)
