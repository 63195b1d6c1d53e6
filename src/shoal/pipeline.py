"""START HERE. The way a record takes: read, declare, block, partition, aggregate, check, measure."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from shoal.arrays import Flags, Ints, Numbers
from shoal.blocking.strata import check_strata, merge_small_strata
from shoal.check import check_groups, check_released, check_strata_kept, check_table
from shoal.declare import Declared, declare
from shoal.encode import Column, encode, fit_scale
from shoal.engines.memory import Report, run_tasks
from shoal.errors import PlanError, counted
from shoal.files import Source, read_file
from shoal.measures.utility import information_loss, squared_error
from shoal.plan import Plan, Reading, as_reading, load_settings
from shoal.progress import show_progress
from shoal.release import Release, SetSummary, Summary, check_output, shoal_version
from shoal.tables import Table, open_table
from shoal.worker import Block, protect_block


def protect(
    data: Any,
    k: int | None = None,
    quasi_identifiers: str | Sequence[str] | Sequence[Sequence[str]] | None = None,
    *,
    method: str | None = None,
    options: Mapping[str, Any] | None = None,
    identifiers: str | Sequence[str] | None = None,
    confidential: str | Sequence[str] | None = None,
    weight: str | None = None,
    strata: str | Sequence[str] | None = None,
    small_strata: str | None = None,
    aggregators: str | Mapping[str, str] | None = None,
    scaling: str | None = None,
    reading: Reading | Mapping[str, Any] | None = None,
    seed: int | None = None,
    plan: Plan | str | Path | None = None,
    all_numeric: bool = False,
    output: str | Path | None = None,
    progress: bool | None = None,
) -> Release:
    """Microaggregate a table: every record shares its quasi-identifiers with at least k - 1 others.

    Parameters
    ----------
    data : pandas, polars or pyarrow table, or path
        The table, or a file: CSV, Parquet, Arrow IPC; SPSS, Stata, SAS with the extra ``formats``.
    k : int
        Smallest group, at least 2.
    quasi_identifiers : list of str, or list of lists of str
        Columns of numbers or dates to microaggregate. Lists of lists are sets that are microaggregated
        separately.
    method : str, default "mdav"
        Partition method; ``shoal.METHODS`` or ``shoal methods`` lists them.
    options : dict
        Options of the method.
    identifiers, confidential : list of str
        Columns to remove, and columns to keep as they are. Columns without any role are kept too, unless they
        look like direct identifiers, which is an error.
    weight : str
        Column of sampling weights: released values are weighted.
    strata : list of str
        Columns whose combinations are never mixed.
    small_strata : {"error", "merge"}
        What to do with a stratum of fewer than k records.
    aggregators : str or dict
        ``"mean"`` (default), ``"median"``, ``"geometric-mean"``, ``"trimmed-mean"``, ``"mode"``,
        ``"weighted-mean"``; one for all, or by column with ``"*"`` for the others.
    scaling : {"z-score", "range", "robust", "none"}
        How columns are made comparable for distances.
    reading : dict
        ``delimiter``, ``encoding``, ``missing`` and ``header`` of a text file, where looking at it is not
        enough.
    seed : int, default 0
        For methods that draw random numbers; recorded in any case.
    plan : Plan or path of a YAML file
        Settings to start from; those given here take precedence.
    all_numeric : bool
        Take every column of numbers or dates that has no other role as a quasi-identifier.
    output : path
        Where to write the release, with its manifest beside it; checked before any work is done.
    progress : bool
        Show progress on standard error; by default where that is a terminal.

    Returns
    -------
    Release
        ``data``, ``groups``, ``summary``, ``plan``, and ``write(path)``.

    Raises
    ------
    PlanError, DataError, FileError
        Something asked for is wrong, the table cannot be protected that way, or a file cannot be read. All
        mistakes are told at once.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [30, 31, 33, 60, 62, 64], "income": [20, 22, 21, 50, 54, 52]})
    >>> protect(people, k=3, quasi_identifiers=["age", "income"]).data["age"].to_list()
    [31, 31, 31, 62, 62, 62]
    """
    given = {
        "k": k,
        "quasi_identifiers": quasi_identifiers,
        "method": method,
        "options": options,
        "identifiers": identifiers,
        "confidential": confidential,
        "weight": weight,
        "strata": strata,
        "small_strata": small_strata,
        "aggregators": aggregators,
        "scaling": scaling,
        "reading": reading,
        "seed": seed,
    }
    if output is not None:
        check_output(Path(output), Path(data) if isinstance(data, str | Path) else None)
    clock = _Clock()
    settings = merge_settings(plan, given)
    source, table = read(data, settings)
    clock.lap("read")
    declared = declare(settings, table, all_numeric)
    clock.lap("declare")
    codes, labels = block(declared, table)
    clock.lap("block")
    with show_progress(len(table) * len(declared.sets), progress) as report:
        protected = partition_and_aggregate(declared, codes, report)
    clock.lap("partition and aggregate")
    data_out = check(declared, table, codes, protected)
    clock.lap("check")
    summary = measure(declared, table, codes, labels, protected, source, clock)
    groups = protected[0].groups if len(protected) == 1 else np.column_stack([p.groups for p in protected])
    release = Release(data_out, groups, summary, declared.plan, clock.laps, source)
    if output is not None:
        release.write(output)
    return release


@dataclass(frozen=True)
class ProtectedSet:
    """A set of quasi-identifiers after protection: groups, and released values and which there are, by column."""

    columns: list[Column]
    groups: Ints
    released: list[tuple[Numbers, Flags]]


class _Clock:
    """Seconds of each step."""

    def __init__(self) -> None:
        self.started = self._last = time.perf_counter()
        self.laps: dict[str, float] = {}

    def lap(self, step: str) -> None:
        now = time.perf_counter()
        self.laps[step] = round(now - self._last, 6)
        self._last = now


def merge_settings(plan: Plan | str | Path | None, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a plan, overridden by those that were given."""
    settings: dict[str, Any] = {}
    if isinstance(plan, Plan):
        settings = plan.model_dump(exclude_defaults=True)
    elif plan is not None:
        settings = load_settings(plan)
    settings.update({name: value for name, value in given.items() if value is not None})
    return settings


def read(data: Any, settings: Mapping[str, Any]) -> tuple[Source | None, Table]:
    """Open a table, or read it from a file."""
    reading = as_reading(settings.get("reading"))
    if isinstance(data, str | Path):
        source = read_file(Path(data), reading)
        return source, open_table(source.frame)
    if reading != Reading():
        raise PlanError("reading: has no effect on a table that is in memory; leave it out")
    return None, open_table(data)


def block(declared: Declared, table: Table) -> tuple[Ints, list[str]]:
    """Return the number of each record's block, and the labels of the strata that the user declared."""
    plan = declared.plan
    if not plan.strata:
        return np.zeros(len(table), dtype=np.int64), []
    codes, labels = table.codes(plan.strata)
    if plan.small_strata == "error":
        check_strata(codes, labels, plan.k)
        return codes, labels
    columns = [column for columns in declared.sets for column in columns]
    records = encode(columns, [fit_scale(column, plan.scaling) for column in columns])
    return merge_small_strata(codes, records, plan.k), labels


def partition_and_aggregate(declared: Declared, codes: Ints, report: Report) -> list[ProtectedSet]:
    """Protect every block of every set, and put the rows back in their order."""
    plan = declared.plan
    rows = _rows_of_blocks(codes)
    tasks = []
    for columns in declared.sets:
        scales = [fit_scale(column, plan.scaling) for column in columns]
        how = [plan.aggregator_of(column.name) for column in columns]
        for members in rows:
            weights = None if declared.weights is None else declared.weights[members]
            part = Block([column.take(members) for column in columns], scales, weights)
            tasks.append(partial(protect_block, part, plan.k, declared.method.name, declared.options, how))
    results = iter(run_tasks(tasks, report))
    protected = []
    for columns in declared.sets:
        groups = np.empty(len(codes), dtype=np.int64)
        released = [(np.empty_like(c.values), np.empty(len(codes), dtype=bool)) for c in columns]
        first = 0
        for members in rows:
            result = next(results)
            groups[members] = result.groups + first
            first += int(result.groups.max()) + 1
            for (values, observed), (block_values, block_observed) in zip(released, result.released, strict=True):
                values[members], observed[members] = block_values, block_observed
        protected.append(ProtectedSet(columns, _number_by_appearance(groups), released))
    return protected


def check(declared: Declared, table: Table, codes: Ints, protected: list[ProtectedSet]) -> Any:
    """Check the promises, and return the table of the release."""
    plan = declared.plan
    released = {}
    for part in protected:
        check_groups(part.groups, plan.k, len(table))
        check_strata_kept(part.groups, codes)
        for column, (values, observed) in zip(part.columns, part.released, strict=True):
            check_released(column, values, observed, part.groups, plan.k)
            released[column.name] = (column, values, observed)
    data = table.replace(released, plan.identifiers)
    out = open_table(data)
    check_table(table.types(), out.types(), set(plan.identifiers), (len(table), len(out)))
    return data


def measure(
    declared: Declared,
    table: Table,
    codes: Ints,
    labels: list[str],
    protected: list[ProtectedSet],
    source: Source | None,
    clock: _Clock,
) -> Summary:
    """Say what was done and what it cost."""
    plan = declared.plan
    errors = {}
    constant, suppressed = [], 0
    for part in protected:
        for column, (values, observed) in zip(part.columns, part.released, strict=True):
            scale = fit_scale(column, "z-score")
            errors[column.name] = squared_error(column, scale, values, observed)
            suppressed += int((column.observed & ~observed).sum())
            if scale.spread == 0.0:
                constant.append(column.name)
    sse, sst = (float(sum(pair[side] for pair in errors.values())) for side in (0, 1))
    sets = []
    for part in protected:
        sizes = np.bincount(part.groups)
        sets.append(SetSummary([c.name for c in part.columns], len(sizes), int(sizes.min()), int(sizes.max())))
    combined = np.unique(np.column_stack([p.groups for p in protected]), axis=0, return_counts=True)[1]
    merged = len(labels) - len(np.unique(codes)) if labels else 0
    return Summary(
        method=declared.method.name,
        options=declared.options,
        k=plan.k,
        records=len(table),
        groups=sum(part.groups for part in sets),
        smallest_group=min(part.smallest_group for part in sets),
        largest_group=max(part.largest_group for part in sets),
        sse=sse,
        sst=sst,
        information_loss=information_loss(sse, sst),
        loss_by_column={name: information_loss(*pair) for name, pair in errors.items()},
        suppressed_cells=suppressed,
        constant_columns=constant,
        strata=len(labels),
        merged_strata=merged,
        sets=sets,
        combined_smallest_group=int(combined.min()),
        notes=_notes(declared, len(sets), int(combined.min()), suppressed, constant, merged, source),
        seconds=round(time.perf_counter() - clock.started, 6),
        version=shoal_version(),
        seed=plan.seed,
    )


def _notes(
    declared: Declared,
    sets: int,
    combined: int,
    suppressed: int,
    constant: list[str],
    merged: int,
    source: Source | None,
) -> list[str]:
    """Say what a user should know, in sentences."""
    k = declared.plan.k
    notes = list(source.notes) if source else []
    if declared.doubtful:
        notes.append(f"taken as quasi-identifiers although they look like identifiers: {', '.join(declared.doubtful)}")
    if sets > 1:
        notes.append(
            f"k = {k} holds for each of the {sets} sets of quasi-identifiers and not for their combination, "
            f"whose smallest group has {counted(combined, 'record')}"
        )
    if suppressed:
        notes.append(
            f"{counted(suppressed, 'cell')} suppressed: some but fewer than {k} values of the column were observed in "
            "the group"
        )
    if constant:
        notes.append(f"constant, so without a part in distances and loss: {', '.join(constant)}")
    if merged:
        notes.append(
            f"{merged} of the strata had fewer than {k} records and share groups with their nearest; their labels "
            "are still in the release"
        )
    return notes


def _rows_of_blocks(codes: Ints) -> list[Ints]:
    """Return the rows of each block, blocks by first appearance, rows in their order."""
    order = np.argsort(codes, kind="stable")
    cuts = np.flatnonzero(np.diff(codes[order])) + 1
    return sorted(np.split(order, cuts), key=lambda rows: int(rows[0]))


def _number_by_appearance(groups: Ints) -> Ints:
    """Renumber groups in the order in which they first appear, so that numbers say nothing about the method."""
    _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]
