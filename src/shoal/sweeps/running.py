"""Runs the combinations of a sweep side by side, one thread each, and leaves out those whose results are stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from threadpoolctl import threadpool_limits

from shoal.kernels.arrays import Ints
from shoal.kernels.progress import show_progress
from shoal.kernels.threads import run_tasks
from shoal.kernels.watch import DONE, STOP, new_watch
from shoal.measures.column_settings import ColumnSettings
from shoal.measures.comparison import Comparison, compare
from shoal.measures.evaluation import measure_tasks, table_figures
from shoal.measures.figures import Figures
from shoal.measures.linkage import linkage_tasks, linked
from shoal.pipeline import protect
from shoal.plan.reading import Reading
from shoal.sweeps.combinations import Combination
from shoal.sweeps.results import ResultFolder, figures_of
from shoal.tables.table import Table, open_table

_STEPS = 100  # of the progress bar for one run
_PROTECTED = 60  # of them when the table is protected and not yet measured


class _Stopped(Exception):  # noqa: N818 - ends the run of a combination, and nobody sees it
    """Another combination failed, or the user interrupted."""


def run_combinations(
    wanted: Sequence[Combination],
    tables: Sequence[Table],
    *,
    known: list[str] | None,
    store: ResultFolder | None,
    key: Mapping[str, Any],
    threads: int | None,
    progress: bool | None,
) -> tuple[list[list[Figures]], int]:
    """Return the figures of each combination on each table, and how many of them were stored already.

    ``key`` is what decides results beside plan and sample; what is stored is found by all three.
    """
    figures: dict[tuple[int, int], Figures] = {}
    tasks: dict[tuple[int, int], Callable[[Ints], Figures]] = {}
    for i, one in enumerate(wanted):
        for j, table in enumerate(tables):
            sample = {"records": len(table), "draw": j} if len(tables) > 1 else None
            own = {**key, "plan": one.plan.to_dict(), "sample": sample}
            stored = store.get(own) if store else None
            if stored is not None:
                figures[i, j] = stored
            else:
                tasks[i, j] = partial(_run, one, table, known, store, own)
    reused = len(figures)
    if tasks:
        # a combination has one thread; linear algebra that brings its own threads makes all of them wait for each other
        with show_progress(_STEPS * len(tasks), progress, "sweeping") as report, threadpool_limits(1, "blas"):
            done = run_tasks(list(tasks.values()), report, threads)
        figures |= dict(zip(tasks, done, strict=True))
    return [[figures[i, j] for j in range(len(tables))] for i in range(len(wanted))], reused


def _run(
    one: Combination,
    table: Table,
    known: list[str] | None,
    store: ResultFolder | None,
    key: Mapping[str, Any],
    watch: Ints,
) -> Figures:
    """Protect a table and measure the release; the result is stored before it is told."""
    records = len(table) * one.sets

    def protecting(done: int, words: str = "") -> None:
        _go_on(watch)
        watch[DONE] = _PROTECTED * done // records

    # the table is read, so how to read it has no effect any more
    plan = one.plan.model_copy(update={"reading": Reading()})
    release = protect(table, plan=plan, threads=1, progress=protecting)
    watch[DONE] = _PROTECTED
    comparison = compare(
        table,
        open_table(release.data),
        quasi_identifiers=plan.quasi_identifiers,
        columns=ColumnSettings.of_plan(plan),
        weight=plan.weight,
        known=known or (),
    )
    figures = figures_of(release.summary, _measure(comparison, watch))
    if store:
        store.put(key, figures)
    watch[DONE] = _STEPS
    return figures


def _measure(comparison: Comparison, watch: Ints) -> Figures:
    """Return the figures of :func:`shoal.measure` that a sweep tells.

    Propensity and probabilistic linkage, which it does not tell, take longer than all others together.
    """
    done = {}
    for name, step in measure_tasks(comparison).items():
        if name != "propensity":
            done[name] = step()
            _go_on(watch)
    own = new_watch()  # since the watch counts steps here, and records there
    chances = []
    for link in linkage_tasks(comparison.known):
        chances.append(link(own))
        _go_on(watch)
    return table_figures(comparison, done, linked(chances, comparison.records))


def _go_on(watch: Ints) -> None:
    """Raise where the run was asked to stop."""
    if watch[STOP]:
        raise _Stopped
