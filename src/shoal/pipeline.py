"""START HERE. The way a record takes: read, declare, then block, partition, aggregate, check, and what is told of it.

The steps between are those of :func:`shoal.release.protecting.protect_records`, of a whole table or of each block.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from shoal.engines.choosing import engine_settings, open_engine
from shoal.engines.memory import MemoryEngine
from shoal.errors import PlanError
from shoal.plan.blocking import Blocking
from shoal.plan.conditions import ConfidentialCondition
from shoal.plan.dominance import Dominance
from shoal.plan.engine import EngineSettings
from shoal.plan.files_read import files_read
from shoal.plan.household import Household
from shoal.plan.plan import Plan, merge_settings
from shoal.plan.privacy import DifferentialPrivacy
from shoal.plan.reading import Reading
from shoal.release.by_block import protect_by_block
from shoal.release.certificate import check_certificate, refuse_categories
from shoal.release.clock import Clock
from shoal.release.declaring import Declared, declare
from shoal.release.elsewhere import check_manifest, elsewhere
from shoal.release.engine_release import EngineRelease, check_engine_output
from shoal.release.kept_order import order_notes
from shoal.release.looking_at_kept import look_at_kept
from shoal.release.privately import run_privately
from shoal.release.protecting import protect_records
from shoal.release.protecting_households import protect_households
from shoal.release.release import Release, check_output, check_report
from shoal.release.summary import summarise
from shoal.tables.files import Source
from shoal.tables.files.places import Address
from shoal.tables.manifest import manifest_path
from shoal.tables.reading import read
from shoal.tables.table import Table, open_table


def protect(
    data: Any,
    k: int | None = None,
    quasi_identifiers: str | Sequence[str] | Sequence[Sequence[str]] | None = None,
    *,
    set_size: int | None = None,
    method: str | None = None,
    options: Mapping[str, Any] | None = None,
    refine: bool | None = None,
    identifiers: str | Sequence[str] | None = None,
    persons: str | Sequence[str] | None = None,
    household: Household | Mapping[str, Any] | str | None = None,
    confidential: str | Sequence[str] | None = None,
    weight: str | None = None,
    strata: str | Sequence[str] | None = None,
    small_strata: str | None = None,
    missing_patterns: str | None = None,
    aggregators: str | Mapping[str, str] | None = None,
    scaling: str | None = None,
    decimals: int | str | Mapping[str, int | str] | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    orders: Mapping[str, Sequence[str]] | None = None,
    nominal: str | Sequence[str] | None = None,
    column_weights: Mapping[str, float] | None = None,
    combinations: str | None = None,
    conditions: Mapping[str, ConfidentialCondition | Mapping[str, Any]] | None = None,
    accept: Mapping[str, str] | None = None,
    dominance: Dominance | Mapping[str, Any] | None = None,
    differential_privacy: DifferentialPrivacy | Mapping[str, Any] | None = None,
    blocking: Blocking | Mapping[str, Any] | str | None = None,
    engine: EngineSettings | Mapping[str, Any] | str | None = None,
    reading: Reading | Mapping[str, Any] | None = None,
    rules: str | Path | Sequence[str] | Mapping[str, str] | None = None,
    broken_rules: str | None = None,
    product_rules: str | None = None,
    seed: int | None = None,
    plan: Plan | str | Path | None = None,
    all_numeric: bool = False,
    output: str | Path | None = None,
    report: str | Path | None = None,
    certificate: str | Path | None = None,
    manifest: str | Path | None = None,
    overwrite: bool = True,
    threads: int | None = None,
    progress: bool | Callable[[int], None] | None = None,
) -> Release:
    """Microaggregate a table: every record shares its quasi-identifiers with at least k - 1 others.

    Parameters
    ----------
    data : pandas, polars or pyarrow table, or path
        The table; or the name of a file, of a folder or pattern of Parquet files, ``-`` for standard input, or the
        address of a database; see docs/files.md.
    k : int
        Smallest group, at least 2.
    quasi_identifiers : list of str, or list of lists of str
        Columns to microaggregate: numbers, dates and, with methods that take them, categories. Lists of lists are sets
        that are microaggregated separately. ``"auto"`` takes all columns of numbers, dates and declared categories
        without another role, those that share rules in one set.
    set_size : int, default 3
        Columns of each set that no rule needs, with ``"auto"``.
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
    persons : list of str
        Identifiers whose distinct values k counts in each group, beside its records; ``[]`` for none. By default those
        that have a value more than once and look like keys of persons, such as an id or an e-mail address.
    household : str or dict
        Column that tells households, or other wholes, apart: k counts households, and what is the same for all members
        is aggregated once for each; as a dict with ``id``, ``release``, ``size``, ``variables`` and ``weight``, see
        docs/households.md.
    weight : str
        Column of sampling weights: released values are weighted.
    strata : list of str
        Columns whose combinations are never mixed.
    small_strata : {"error", "merge"}
        What to do with a stratum of fewer than k records.
    missing_patterns : {"counted", "ignored"}
        Whether k records share which of their quasi-identifiers are missing, too, for which cells are suppressed, or
        records of a group may be told apart by that; see docs/missing-values.md.
    aggregators : str or dict
        ``"mean"`` (default), ``"median"``, ``"geometric-mean"``, ``"trimmed-mean"``, ``"mode"``,
        ``"weighted-mean"`` for numbers; ``"centroid"``, ``"least-squares"``, ``"least-common-subsumer"``, ``"median"``,
        ``"convex-median"``, ``"mode"``, ``"weighted-plurality"`` for categories; ``"minimum"``, ``"lower-quartile"``,
        ``"upper-quartile"``, ``"maximum"`` for both; one for all, or by column with ``"*"`` for the others.
    scaling : {"z-score", "range", "robust", "none"}
        How columns of numbers are made comparable for distances.
    decimals : int, "all", or dict
        With how many decimals numbers are released, for all columns or by column with ``"*"`` for the others. Where
        nothing is said, numbers of a text file have as many as the file has, and floats of other tables all of theirs.
    hierarchies : dict
        Hierarchy of a column of categories: the path of a CSV, YAML or OWL file, or settings such as
        ``{"wordnet": True}``; see docs/hierarchies.md.
    orders : dict
        Values of an ordinal column, from the lowest to the highest.
    nominal : list of str
        Columns of numbers, or of text that looks like numbers or dates, whose values are names.
    column_weights : dict
        How much a column counts in distances between records that mix kinds; 1 where nothing is said.
    combinations : {"any", "observed"}
        Whether released categories may be combined in any way, or only as they occur in the original.
    conditions : dict
        What every group must keep of a confidential column, by column: ``distinct`` values, ``entropy``, ``recursive``
        with c and l, and ``t``, the largest distance from the table, such as ``{"income": {"t": 0.2}}``; see
        docs/conditions.md.
    accept : dict
        Kept columns that give back a quasi-identifier, which are refused otherwise, each with the reason why it may
        stay.
    dominance : dict
        When the largest values of a group dominate its mean: ``p`` of the p % rule (10 by default), or ``n`` and
        ``share`` of the (n, k) rule; ``action`` is ``"note"`` or ``"grow"``, which merges dominated groups with others.
    differential_privacy : dict
        Experimental: ``epsilon`` and the ``bounds`` of each quasi-identifier, and what is ``missing`` counts as, for a
        release of noisy means that depends on no record by more than that; see docs/differential-privacy.md.
    blocking : str or dict
        ``"spread-tree"``, ``"2d-tree"``, ``"univariate"``, ``"equal-counts"``, ``"fixed-counts"``, or ``"categories"``
        for subtrees of a hierarchy or codes; as a dict with ``method``, ``size``, ``columns`` and ``repair``. Large
        tables are cut into blocks that are partitioned one by one; without it all records are partitioned together.
    engine : str or dict
        ``"memory"``, ``"duckdb"`` or ``"spark"``: the table is protected block by block, with the same cells whichever
        moves the rows, see docs/engines.md; as a dict with ``name``, ``memory``, ``master``, ``row`` and ``settings``.
        Relations of DuckDB and lazy frames of polars are moved by DuckDB, and tables of Spark by Spark.
    reading : dict
        ``delimiter``, ``encoding``, ``missing``, ``header``, ``decimal``, ``thousands`` and ``signs`` of a text file,
        where looking at it is not enough; ``missing`` of any file, and ``table`` of a workbook or database.
    rules : list of str, dict of str, or path
        Edit rules that hold in the table and must hold in the release, such as ``"TOTAL = A + B"``; by name in a dict;
        or a file of them, or of Schematron.
    broken_rules : {"refuse", "keep-where-held"}
        What to do where the table breaks a rule already.
    product_rules : {"means", "geometric-means"}
        What columns tied by a product, such as ``"V = P * Q"``, are released from; see docs/rules-kept.md.
    seed : int, default 0
        For methods that draw random numbers; recorded in any case.
    plan : Plan or path of a YAML file
        Settings to start from; those given here take precedence.
    all_numeric : bool
        Take every column of numbers or dates that has no other role as a quasi-identifier.
    output : path
        Where to write the release, with its manifest beside it; checked before any work is done. ``-`` is standard
        output, and ``postgresql://HOST/DATABASE#TABLE`` a new table.
    report : path
        Where to write the internal edition of its report, ``.html``; checked too. Needs the extra ``report``.
    certificate : path
        Where to write what proves the lower bound of the option ``bound`` or ``gap``, ``.json``; checked too.
    manifest : path
        Where to write the manifest of a release that is no file, ``.json``; none is written by default.
    overwrite : bool
        Whether to replace files that are there already. One that is read, such as a hierarchy, is never replaced.
    threads : int
        Threads for blocks and sets, and inside them where that pays; as many as there are cores by default. The
        result does not depend on it.
    progress : bool or function
        Show progress on standard error; by default where that is a terminal. A function is told now and then how many
        records are done instead, and while a search goes on, as a second argument, how it stands
        (:class:`shoal.Standing`). What it raises stops the work; a search that is ended by a ``KeyboardInterrupt``
        keeps the best that it has found.

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
    given = {name: value for name, value in locals().items() if name in Plan.model_fields}  # before any other name
    if threads is not None and threads < 1:
        raise PlanError("threads: must be at least 1")
    clock = Clock()
    settings = merge_settings(plan, given)
    inputs = files_read(settings, original=data, plan=plan)
    if settings.get("differential_privacy") is not None:
        files = (output, report, certificate, manifest, overwrite)
        return run_privately(data, settings, inputs, all_numeric, files)
    moved_by = engine_settings(data, settings)
    if moved_by is not None:
        settings["engine"] = moved_by
    if moved_by is not None and moved_by.name != "memory":
        if manifest is not None:
            raise PlanError("manifest: that of an engine is written beside the release; leave it out")
        return _protect_elsewhere(
            data,
            moved_by,
            settings,
            clock,
            written=(output, report, certificate, overwrite),
            steps=Steps(all_numeric, threads, progress),
        )
    if output is not None:
        check_output(output, inputs, overwrite)
    place = None if output is None else elsewhere(output)
    check_manifest(manifest, place, inputs, overwrite)
    if report is not None:
        beside = (Path(output), manifest_path(Path(output))) if output is not None and place is None else ()
        check_report(Path(report), inputs, overwrite, beside)
    if certificate is not None:
        others = tuple(Path(other) for other in (output, report) if other is not None)
        check_certificate(Path(certificate), settings.get("options") or {}, inputs, overwrite, others)
    is_file = output is not None and not isinstance(place, Address)  # a table of a server is not read as a file
    source, table = read(data, settings)
    clock.lap("read")
    if moved_by is not None:
        release = _protect_in_memory(table, source, settings, clock, Steps(all_numeric, threads, progress))
    else:
        declared = declare(settings, table, all_numeric)
        if certificate is not None:
            refuse_categories(declared.method.mixed)
        clock.lap("declare")
        release = run(declared, table, source, clock, threads=threads, progress=progress, written=is_file)
    if output is not None:
        release.write(output, report, certificate=certificate, manifest=manifest, overwrite=overwrite)
        return release
    if report is not None:
        release.report(report, overwrite=overwrite)
    if certificate is not None:
        release.certificate(certificate, overwrite=overwrite)
    return release


def run(
    declared: Declared,
    table: Table,
    source: Source | None,
    clock: Clock,
    *,
    threads: int | None = None,
    progress: bool | Callable[[int], None] | None = None,
    written: bool = False,
) -> Release:
    """Take the records of a table through the steps that a plan asks for, and check what comes out.

    A release that will be ``written`` has its edit rules checked on the file, not here.
    """
    if declared.households:  # without rules, so that nothing waits for the file
        made = protect_households(declared, table, source, clock, threads=threads, progress=progress)
    else:
        made = protect_records(declared, table, source, clock, threads=threads, progress=progress, written=written)
    grouped, protected = made.run.grouped, made.run.protected
    found, told = look_at_kept(declared, table, [part.groups for part in protected])
    told += order_notes(declared.plan, table, open_table(made.data))
    clock.lap("look at kept columns")
    figures = replace(made.run.figures(told), kept=found)
    summary = summarise(figures, seconds=clock.seconds())
    return Release(
        data=made.data,
        groups=protected[0].groups if len(protected) == 1 else np.column_stack([p.groups for p in protected]),
        summary=summary,
        plan=declared.plan,
        timings=clock.laps,
        source=source,
        original=table.native,
        guard=made.guard,
        steps_again=grouped.searched.again if grouped.searched else None,
        proof=grouped.searched.proof if grouped.searched and not figures.for_patterns else None,
    )


@dataclass(frozen=True)
class Steps:
    """How the steps of a run go: which columns, on how many threads, and who is told of it."""

    all_numeric: bool
    threads: int | None
    progress: bool | Callable[[int], None] | None


def _protect_in_memory(
    table: Table, source: Source | None, settings: Mapping[str, Any], clock: Clock, steps: Steps
) -> Release:
    """Protect a table block by block, in memory."""
    engine = MemoryEngine(table)
    figures = protect_by_block(engine, settings, clock, **asdict(steps))
    figures = replace(figures, source=source)
    return Release(
        data=engine.result(figures.plan.identifiers),
        groups=engine.groups(),
        summary=summarise(figures, seconds=clock.seconds()),
        plan=figures.plan,
        timings=clock.laps,
        source=source,
        original=table.native,
    )


def _protect_elsewhere(
    data: Any,
    moved_by: EngineSettings,
    settings: Mapping[str, Any],
    clock: Clock,
    *,
    written: tuple[str | Path | None, str | Path | None, str | Path | None, bool],
    steps: Steps,
) -> Release:
    """Protect a table block by block, where DuckDB or Spark has its rows."""
    output, report, certificate, overwrite = written
    if report is not None or certificate is not None:
        raise PlanError(f"report, certificate: need both tables in memory (engine: {moved_by.name}); leave them out")
    if output is not None:
        check_engine_output(Path(output), moved_by.name, [], overwrite)
    engine = open_engine(data, moved_by, steps.threads)
    try:
        if output is not None:
            check_engine_output(
                Path(output), moved_by.name, [("the original", one) for one in engine.inputs()], overwrite
            )
        clock.lap("read")
        figures = protect_by_block(engine, settings, clock, **asdict(steps))
        release = EngineRelease(
            data=engine.result(figures.plan.identifiers) if output is None else None,
            groups=np.empty(0, dtype=np.int64),
            summary=summarise(figures, seconds=clock.seconds()),
            plan=figures.plan,
            timings=clock.laps,
            engine=engine,
            declared=figures.declared,
            sizes=[part.sizes for part in figures.sets],
        )
        if output is not None:
            release.write(output, overwrite=overwrite)
            engine.close()
    except BaseException:
        engine.close()
        raise
    return release
