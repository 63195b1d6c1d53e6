"""START HERE. The way a record takes: read, declare, block, partition, aggregate, check, measure."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from shoal.aggregate.protected import ProtectedSet
from shoal.blocking import BLOCKINGS, ONE_COLUMN
from shoal.blocking.repair import repair_boundaries
from shoal.blocking.size import block_size
from shoal.blocking.strata import check_strata, merge_small_strata
from shoal.columns.categories import AnyColumn
from shoal.columns.scaling import Records, encode
from shoal.errors import PlanError
from shoal.kernels.arrays import Ints
from shoal.kernels.numbering import number_keys
from shoal.kernels.progress import show_progress
from shoal.kernels.threads import Report, run_tasks, threads_of_each
from shoal.plan.plan import Blocking, Plan, Reading, merge_settings
from shoal.release.aggregating import aggregate_sets
from shoal.release.declaring import Declared, declare
from shoal.release.editing import keep, split_strata, with_aggregators
from shoal.release.promises import check_groups, check_released, check_strata_kept, check_table
from shoal.release.quasi_identifiers import numbers
from shoal.release.release import Release, check_output, check_report, manifest_path
from shoal.release.rule_guard import guard_rules
from shoal.release.searching import Searched, search_sets
from shoal.release.searching_mixed import search_mixed_sets
from shoal.release.summary import summarise
from shoal.release.worker import partition_block, partition_mixed_block
from shoal.tables.reading import read
from shoal.tables.table import Table, open_table


def protect(
    data: Any,
    k: int | None = None,
    quasi_identifiers: str | Sequence[str] | Sequence[Sequence[str]] | None = None,
    *,
    method: str | None = None,
    options: Mapping[str, Any] | None = None,
    refine: bool | None = None,
    identifiers: str | Sequence[str] | None = None,
    confidential: str | Sequence[str] | None = None,
    weight: str | None = None,
    strata: str | Sequence[str] | None = None,
    small_strata: str | None = None,
    aggregators: str | Mapping[str, str] | None = None,
    scaling: str | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    orders: Mapping[str, Sequence[str]] | None = None,
    nominal: str | Sequence[str] | None = None,
    column_weights: Mapping[str, float] | None = None,
    combinations: str | None = None,
    blocking: Blocking | Mapping[str, Any] | str | None = None,
    reading: Reading | Mapping[str, Any] | None = None,
    rules: str | Path | Sequence[str] | Mapping[str, str] | None = None,
    broken_rules: str | None = None,
    seed: int | None = None,
    plan: Plan | str | Path | None = None,
    all_numeric: bool = False,
    output: str | Path | None = None,
    report: str | Path | None = None,
    threads: int | None = None,
    progress: bool | Callable[[int], None] | None = None,
) -> Release:
    """Microaggregate a table: every record shares its quasi-identifiers with at least k - 1 others.

    Parameters
    ----------
    data : pandas, polars or pyarrow table, or path
        The table, or a file: CSV, Parquet, Arrow IPC; SPSS, Stata, SAS with the extra ``formats``.
    k : int
        Smallest group, at least 2.
    quasi_identifiers : list of str, or list of lists of str
        Columns to microaggregate: numbers, dates and, with methods that take them, categories. Lists of lists are sets
        that are microaggregated separately.
    method : str, default "optimal", or "semantic-optimal" with categories
        Partition method; ``shoal.METHODS`` or ``shoal methods`` lists them.
    options : dict
        Options of the method.
    refine : bool, default False
        Take the groups of the method apart and put them together again while that lowers the loss; needs columns
        without missing values.
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
        ``"weighted-mean"`` for numbers; ``"centroid"``, ``"least-squares"``, ``"least-common-subsumer"``, ``"median"``,
        ``"convex-median"``, ``"mode"``, ``"weighted-plurality"`` for categories; one for all, or by column with
        ``"*"`` for the others.
    scaling : {"z-score", "range", "robust", "none"}
        How columns of numbers are made comparable for distances.
    hierarchies : dict
        Hierarchy of a column of categories: the path of a CSV, YAML or OWL file, or settings such as
        ``{"wordnet": True}``; see docs/hierarchies.md.
    orders : dict
        Values of an ordinal column, from the lowest to the highest.
    nominal : list of str
        Columns of numbers whose values are names.
    column_weights : dict
        How much a column counts in distances between records that mix kinds; 1 where nothing is said.
    combinations : {"any", "observed"}
        Whether released categories may be combined in any way, or only as they occur in the original.
    blocking : str or dict
        ``"spread-tree"``, ``"2d-tree"``, ``"univariate"`` or ``"equal-counts"``; as a dict with ``method``,
        ``size``, ``columns`` and ``repair``. Large tables are cut into blocks that are partitioned one by one;
        without it all records are partitioned together.
    reading : dict
        ``delimiter``, ``encoding``, ``missing`` and ``header`` of a text file, where looking at it is not
        enough.
    rules : list of str, dict of str, or path
        Edit rules that hold in the table and must hold in the release, such as ``"TOTAL = A + B"``; by name in a dict;
        or a file of them, or of Schematron.
    broken_rules : {"refuse", "keep-where-held"}
        What to do where the table breaks a rule already.
    seed : int, default 0
        For methods that draw random numbers; recorded in any case.
    plan : Plan or path of a YAML file
        Settings to start from; those given here take precedence.
    all_numeric : bool
        Take every column of numbers or dates that has no other role as a quasi-identifier.
    output : path
        Where to write the release, with its manifest beside it; checked before any work is done.
    report : path
        Where to write the internal edition of its report, ``.html``; checked too. Needs the extra ``report``.
    threads : int
        Threads for blocks and sets, and inside them where that pays; as many as there are cores by default. The
        result does not depend on it.
    progress : bool or function
        Show progress on standard error; by default where that is a terminal. A function is told now and then how many
        records are done instead; what it raises stops the work.

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
        "refine": refine,
        "identifiers": identifiers,
        "confidential": confidential,
        "weight": weight,
        "strata": strata,
        "small_strata": small_strata,
        "aggregators": aggregators,
        "scaling": scaling,
        "hierarchies": hierarchies,
        "orders": orders,
        "nominal": nominal,
        "column_weights": column_weights,
        "combinations": combinations,
        "blocking": blocking,
        "reading": reading,
        "rules": rules,
        "broken_rules": broken_rules,
        "seed": seed,
    }
    if threads is not None and threads < 1:
        raise PlanError("threads: must be at least 1")
    original = Path(data) if isinstance(data, str | Path) else None
    if output is not None:
        check_output(Path(output), original)
    if report is not None:
        check_report(Path(report), original, *((Path(output), manifest_path(Path(output))) if output else ()))
    clock = _Clock()
    settings = merge_settings(plan, given)
    source, table = read(data, settings)
    clock.lap("read")
    declared = declare(settings, table, all_numeric)
    asked = declared.plan
    editing, guard = guard_rules(declared, table, source)
    if editing:
        declared = with_aggregators(declared, editing)
    clock.lap("declare")
    codes, labels = stratify(declared, table)
    apart = [split_strata(editing, declared, columns, codes) if editing else codes for columns in declared.sets]
    blocks = [block(declared, columns, cells) for columns, cells in zip(declared.sets, apart, strict=True)]
    clock.lap("block")
    with show_progress(len(table) * len(declared.sets), progress) as advance:
        groups_of_sets, searched = partition(declared, apart, blocks, advance, threads)
    clock.lap("partition")
    protected = aggregate_sets(declared, groups_of_sets, threads)
    clock.lap("aggregate")
    if editing:
        protected = keep(editing, declared, protected, table)
        clock.lap("keep rules")
    data_out = check(declared, table, codes, protected)
    if editing and guard:
        guard.check_table(data_out, editing, written=output is not None)
    clock.lap("check")
    summary = summarise(
        declared, len(table), codes, labels, blocks, protected, searched, source, clock.started, editing
    )
    groups = protected[0].groups if len(protected) == 1 else np.column_stack([p.groups for p in protected])
    again = searched.again if searched else None
    release = Release(data_out, groups, summary, asked, clock.laps, source, table.native, guard, again)
    if output is not None:
        release.write(output, report)
    elif report is not None:
        release.report(report)
    return release


class _Clock:
    """Seconds of each step."""

    def __init__(self) -> None:
        self.started = self._last = time.perf_counter()
        self.laps: dict[str, float] = {}

    def lap(self, step: str) -> None:
        now = time.perf_counter()
        self.laps[step] = round(now - self._last, 6)
        self._last = now


def stratify(declared: Declared, table: Table) -> tuple[Ints, list[str]]:
    """Return the number of each record's stratum, and the labels of the strata that the user declared."""
    plan = declared.plan
    if not plan.strata:
        return np.zeros(len(table), dtype=np.int64), []
    codes, labels = table.codes(plan.strata)
    if plan.small_strata == "error":
        check_strata(codes, labels, plan.k)
        return codes, labels
    columns = [column for columns in declared.sets for column in columns]
    return merge_small_strata(codes, _scaled(declared, columns), plan.k), labels


def block(declared: Declared, columns: list[AnyColumn], strata: Ints) -> Ints:
    """Return the number of each record's block for one set of quasi-identifiers: strata, cut where asked for.

    Columns are scaled over the whole table, not stratum by stratum, so that blocks can be compared.
    """
    cut = declared.plan.blocking
    if cut is None:
        return strata
    chosen = [column for column in columns if not cut.columns or column.name in cut.columns]
    chosen = chosen[:1] if cut.method in ONE_COLUMN else chosen
    values = _scaled(declared, chosen).values
    size = cut.size
    if size == "auto":
        complete = all(bool(column.observed.all()) for column in columns)
        size = block_size(len(strata), len(columns), declared.plan.k, complete)
    blocks = np.empty(len(strata), dtype=np.int64)
    first = 0
    for rows in _rows_of_blocks(strata):
        part = np.zeros(len(rows), dtype=np.int64)
        if len(rows) > size:
            part = BLOCKINGS[cut.method](np.ascontiguousarray(values[rows]), declared.plan.k, size)
        blocks[rows] = part + first
        first += int(part.max()) + 1
    return blocks


def _scaled(declared: Declared, columns: Sequence[AnyColumn]) -> Records:
    measured = numbers(columns)
    return encode(measured, [declared.scale_of[column.name] for column in measured])


def partition(
    declared: Declared, strata: list[Ints], blocks: list[Ints], report: Report, threads: int | None
) -> tuple[list[Ints], Searched | None]:
    """Return the groups of each set of quasi-identifiers, repaired where asked for, and what a search did."""
    plan, searched = declared.plan, None
    if declared.method.searches and declared.method.mixed:
        rows_of_sets = [_rows_of_blocks(codes) for codes in blocks]
        groups_of_sets, searched = search_mixed_sets(declared, blocks, rows_of_sets, report)
    elif declared.method.searches:
        groups_of_sets, searched = search_sets(declared, blocks, report, threads)
    else:
        groups_of_sets = partition_blocks(declared, blocks, report, threads)
    if plan.blocking and plan.blocking.repair:
        for columns, cells, codes, groups in zip(declared.sets, strata, blocks, groups_of_sets, strict=True):
            values = _scaled(declared, columns).values
            for rows in _rows_of_blocks(cells):
                own, labels = np.unique(groups[rows], return_inverse=True)
                every = threads_of_each(1, threads)
                groups[rows] = own[repair_boundaries(values[rows], labels, codes[rows], plan.k, every)]
    return [_number_by_appearance(groups) for groups in groups_of_sets], searched


def partition_blocks(declared: Declared, blocks: list[Ints], report: Report, threads: int | None) -> list[Ints]:
    """Return the groups of each set of quasi-identifiers: every block is partitioned by itself."""
    plan = declared.plan
    rows_of_sets = [_rows_of_blocks(codes) for codes in blocks]
    each = threads_of_each(sum(map(len, rows_of_sets)), threads)
    tasks = []
    for columns, rows_of_blocks in zip(declared.sets, rows_of_sets, strict=True):
        scales = [declared.scale_of.get(column.name) for column in columns]
        shares = [plan.column_weights.get(column.name, 1.0) for column in columns]
        for rows in rows_of_blocks:
            part = [column.take(rows) for column in columns] if len(rows_of_blocks) > 1 else columns
            asked = (plan.k, declared.method.name, declared.options, plan.seed)
            if declared.method.mixed:
                tasks.append(partial(partition_mixed_block, part, scales, shares, *asked, each))
            else:
                known = [scale for scale in scales if scale is not None]
                tasks.append(partial(partition_block, numbers(part), known, *asked, plan.refine, each))
    results = iter(run_tasks(tasks, report, threads))
    found = []
    for codes, rows_of_blocks in zip(blocks, rows_of_sets, strict=True):
        groups = np.empty(len(codes), dtype=np.int64)
        first = 0
        for rows in rows_of_blocks:
            labels = next(results)
            groups[rows] = labels + first
            first += int(labels.max()) + 1
        found.append(groups)
    return found


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


def _rows_of_blocks(codes: Ints) -> list[Ints]:
    """Return the rows of each block, blocks by first appearance, rows in their order."""
    order = np.argsort(codes, kind="stable")
    cuts = np.flatnonzero(np.diff(codes[order])) + 1
    return sorted(np.split(order, cuts), key=lambda rows: int(rows[0]))


def _number_by_appearance(groups: Ints) -> Ints:
    """Renumber groups in the order in which they first appear, so that numbers say nothing about the method."""
    return number_keys(groups)[0]
