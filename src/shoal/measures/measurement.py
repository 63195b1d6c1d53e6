"""shoal.measure: what a release keeps and what it risks, from the two tables alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from shoal.errors import PlanError, counted
from shoal.kernels.arrays import Ints
from shoal.kernels.progress import show_progress
from shoal.kernels.threads import run_tasks
from shoal.kernels.watch import DONE
from shoal.measures.column_settings import column_settings
from shoal.measures.comparison import Comparison, compare
from shoal.measures.evaluation import measure_tasks, split, table_figures
from shoal.measures.figures import Figures
from shoal.measures.how_made import HowMade, flat, how_made, read_tables, settle
from shoal.measures.keys import common_keys
from shoal.measures.linkage import Linked, linkage_tasks, linked
from shoal.measures.matching_rows import check_rows, loss_note
from shoal.measures.measured import Measures, check_json
from shoal.measures.pairs import SemanticPair
from shoal.measures.probabilistic_linkage import probabilistic_linkage_task
from shoal.measures.sample_uniques import LARGEST
from shoal.plan.files_read import files_read
from shoal.plan.plan import Plan
from shoal.plan.reading import Reading, as_reading
from shoal.plan.version import shoal_version
from shoal.tables.table import Table

Names = str | Sequence[str] | None


def measure(
    original: Any,
    released: Any,
    quasi_identifiers: str | Sequence[str] | Sequence[Sequence[str]] | None = None,
    *,
    confidential: Names = None,
    weight: str | None = None,
    known: Names = None,
    blocking: Names = None,
    population: Any = None,
    hierarchies: Mapping[str, Any] | None = None,
    orders: Mapping[str, Sequence[str]] | None = None,
    nominal: Names = None,
    column_weights: Mapping[str, float] | None = None,
    scaling: str | None = None,
    unique_columns: int | None = None,
    plan: Plan | str | Path | None = None,
    reading: Reading | Mapping[str, Any] | None = None,
    output: str | Path | None = None,
    overwrite: bool = True,
    threads: int | None = None,
    progress: bool | None = None,
) -> Measures:
    """Measure what a release keeps of its original, and what it risks. shoal need not have made it.

    Rows are matched by position, columns by name. Columns of numbers and dates are measured as numbers, text and
    true or false as categories. Where the release is a file that shoal wrote, the manifest beside it says what was
    asked for: roles, hierarchies and the like, as far as nothing else is said here. Rows that do not belong together
    are noticed by the columns that are not measured.

    Parameters
    ----------
    original, released : pandas, polars or pyarrow tables, or paths
        The table before and after, with the same rows in the same order.
    quasi_identifiers : list of str
        Columns to measure, by which somebody could be found. By default those of the plan or manifest, or else all
        that both tables have and that have no other role here. Sets that were microaggregated separately count as such
        in the loss of records alone.
    confidential : list of str
        Columns for l-diversity, alpha and t-closeness.
    weight : str
        Column of sampling weights, for individual and global risk and for weighted means, totals and shares.
    known : list of str
        Columns that an intruder knows and links records by; the quasi-identifiers by default.
    blocking : list of str
        Columns in which records must agree for the intruder to compare them.
    population : table or path
        The people that the release may be about, with the quasi-identifiers, for delta-presence.
    hierarchies : dict
        Where the hierarchy of a column of categories comes from, as for :func:`shoal.load_hierarchy`: its loss is then
        by meaning.
    orders, nominal, column_weights
        As for :func:`shoal.protect`: values of ordinal columns from the lowest to the highest, columns of numbers whose
        values are names, and how much a column counts in the loss.
    scaling : {"z-score", "range", "robust", "none"}
        What numbers are divided by in the distance between records that mix kinds, which ``record_loss`` is of.
    unique_columns : int
        Columns of the largest minimal sample uniques to look for; 3 by default. Sizes that would take very long are
        left out, and a note says so.
    plan : Plan or path of a YAML file
        What the release was made with, in place of the manifest beside it.
    reading : dict
        How text files are read, as for :func:`shoal.protect`; for all the text files given.
    output : path
        Where to write the figures as JSON; checked before any work is done.
    overwrite : bool
        Whether to replace a file that is there already; one that is read is never replaced.
    threads : int
        Measures that run at a time; as many as there are cores by default. The result does not depend on it.
    progress : bool
        Show progress on standard error; by default where that is a terminal.

    Returns
    -------
    Measures
        All figures by name, with detail by column.

    Raises
    ------
    PlanError, DataError, FileError
        Something asked for is wrong, the tables do not fit together, or a file cannot be read.

    Examples
    --------
    >>> import polars as pl
    >>> before = pl.DataFrame({"age": [30, 31, 33, 60, 62, 64], "income": [20, 22, 21, 50, 54, 52]})
    >>> after = pl.DataFrame({"age": [31, 31, 31, 62, 62, 62], "income": [21, 21, 21, 52, 52, 52]})
    >>> found = measure(before, after, ["age", "income"])
    >>> found.k_anonymity, round(found.information_loss, 2), round(found.dbrl, 2)
    (3, 0.8, 33.33)
    """
    started = time.perf_counter()
    made = how_made(original, released, plan)
    tables_given = (original, released, population)
    inputs = [*made.files(), *files_read({"hierarchies": hierarchies}, plan=plan, tables=tables_given)]
    if output is not None:
        check_json(Path(output), inputs, overwrite)
    data = [original, released, *([] if population is None else [population])]
    made, tables, _ = read_tables(data, made, as_reading(reading))
    found = measure_as_asked(
        made,
        tables,
        quasi_identifiers=quasi_identifiers,
        confidential=confidential,
        weight=weight,
        known=known,
        blocking=blocking,
        hierarchies=hierarchies,
        orders=orders,
        nominal=nominal,
        column_weights=column_weights,
        scaling=scaling,
        unique_columns=unique_columns,
        threads=threads,
        progress=progress,
    )
    found = replace(found, seconds=round(time.perf_counter() - started, 6))
    if output is not None:
        found.write(output, overwrite=overwrite, like=[path for _, path in inputs])
    return found


def measure_as_asked(
    made: HowMade,
    tables: Sequence[Table],
    *,
    known: Names = None,
    blocking: Names = None,
    unique_columns: int | None = None,
    threads: int | None = None,
    progress: bool | None = None,
    **given: Any,
) -> Measures:
    """Measure an original, its release and perhaps a population that were read, with what was asked for and ``given``.

    ``given`` are the arguments of :func:`measure` about columns, None where nothing was said. The time is not told.
    """
    if threads is not None and threads < 1:
        raise PlanError("threads: must be at least 1")
    if unique_columns is not None and unique_columns < 1:
        raise PlanError("unique_columns: must be at least 1")
    settled, notes = settle(made, tables, given)
    columns = column_settings(
        **{name: settled[name] for name in ("hierarchies", "orders", "nominal", "column_weights", "scaling")}
    )
    comparison = compare(
        tables[0],
        tables[1],
        quasi_identifiers=_sets(settled["quasi_identifiers"]),
        columns=columns,
        confidential=flat(settled["confidential"]),
        weight=settled["weight"],
        known=flat(known),
        blocking=flat(blocking),
        population=tables[2] if len(tables) > 2 else None,
        unique_columns=unique_columns,
    )
    numbers, categories = split(comparison.pairs)
    if given["scaling"] is not None and not (numbers and categories):
        raise PlanError("scaling: has no effect without both numbers and categories, in whose distance it counts")
    verified = check_rows(tables[0], tables[1], {pair.name for pair in comparison.pairs}, notes)
    figures = _evaluate(comparison, threads, progress)
    own = figures.pop("notes")
    return Measures(
        records=comparison.records,
        weight=settled["weight"],
        quasi_identifiers=[pair.name for pair in comparison.pairs],
        numeric=[pair.name for pair in numbers],
        categorical=[pair.name for pair in categories],
        semantic=[pair.name for pair in categories if isinstance(pair, SemanticPair)],
        known=[pair.name for pair in comparison.known],
        confidential=[pair.name for pair in comparison.confidential],
        notes=[
            *made.notes,
            *notes,
            *loss_note(figures["information_loss"], verified),
            *comparison.notes,
            *own,
        ],
        seconds=0.0,
        version=shoal_version(),
        **figures,
    )


def _sets(names: str | Sequence[str] | Sequence[Sequence[str]] | None) -> list[list[str]] | None:
    """Return the sets of quasi-identifiers; names that are not in sets are one."""
    if names is None:
        return None
    if isinstance(names, str):
        return [[names]]
    single = [name for name in names if isinstance(name, str)]
    return [*([single] if single else []), *(list(part) for part in names if not isinstance(part, str))]


def _evaluate(comparison: Comparison, threads: int | None, progress: bool | None) -> Figures:
    """Run all measures and put their figures together."""
    records = comparison.records
    blocks = common_keys(comparison.blocks) if comparison.blocks else None
    single = measure_tasks(comparison)
    links = linkage_tasks(comparison.known, blocks)
    tasks: list[Callable[[Ints], Any]] = [partial(_counted, step, records) for step in single.values()]
    tasks += [probabilistic_linkage_task(comparison.known, blocks), *links]
    # threads that wait for each other inside every small product would take most of the time
    with show_progress(records * (len(single) + 2), progress, "measuring") as report, threadpool_limits(1, "blas"):
        results = run_tasks(tasks, report, threads)
    done = dict(zip(single, results, strict=False))
    by_agreement, by_distance = linked([results[len(single)]], records), linked(results[len(single) + 1 :], records)
    return _together(comparison, done, by_distance, by_agreement)


def _counted(step: Callable[[], Any], records: int, watch: Ints) -> Any:
    """Run a step and count its records as done."""
    result = step()
    watch[DONE] = records
    return result


def _together(comparison: Comparison, done: Figures, by_distance: Linked, by_agreement: Linked) -> Figures:
    """Put the results of the tasks together under the names of Measures."""
    figures: Figures = dict.fromkeys(
        field.name for field in fields(Measures) if field.type in ("float | None", "int | None")
    )
    figures |= {"pil_parts": {}, "interval_by_width": {}, "correlations": None}
    figures |= table_figures(comparison, done, by_distance)
    model = done["propensity"]
    links = {"dbrl": by_distance, "probabilistic_linkage": by_agreement}
    return {
        **figures,
        "pmse": model["pmse"],
        "pmse_ratio": model["pmse_ratio"],
        "probabilistic_linkage": by_agreement.percent,
        "linkage": {name: {"records": link.records, "error": link.error} for name, link in links.items()},
        "notes": _notes(comparison, figures, links, model),
    }


def _notes(comparison: Comparison, figures: Figures, links: dict[str, Linked], model: Figures) -> list[str]:
    """Say which measures do not apply and why, and which are estimates."""
    numbers, categories = split(comparison.pairs)
    notes = []
    if not numbers:
        notes.append("there are no numbers, so PIL, IL1s, interval disclosure, DR, SCORE and the like do not apply")
    if not categories:
        notes.append("there are no categories, so category loss and the distance of tables do not apply")
    constant = [pair.name for pair in numbers if pair.constant]
    if constant:
        notes.append(f"constant in the original, so without a part in the loss: {', '.join(constant)}")
    if not comparison.confidential:
        notes.append("no confidential columns were named, so l-diversity, alpha and t-closeness do not apply")
    if not comparison.population:
        notes.append("no population was given, so delta-presence does not apply")
    for name, link in links.items():
        if link.records < comparison.records:
            notes.append(
                f"{name} is from a random sample of {link.records} of the original records, with a standard error of "
                f"{link.error:.2g} points; all released records were searched"
            )
    looked = min(comparison.unique_columns or LARGEST, len(comparison.pairs))
    if figures["unique_columns"] < looked:
        notes.append(
            f"minimal sample uniques of more than {counted(figures['unique_columns'], 'column')} were not looked for, "
            "since that would take too long"
        )
    if model["pmse_records"] < comparison.records:
        notes.append(f"pMSE is from a random sample of {model['pmse_records']} records of each table")
    if not model["products"]:
        notes.append("there are so many columns that the model of pMSE has no products of columns")
    return notes
