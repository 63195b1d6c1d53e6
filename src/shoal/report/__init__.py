"""The report: one HTML file that says what was asked for, what was reached and what remains at risk.

``facts`` gathers what there is to tell, ``editions`` says what each edition may tell, ``verdict`` and ``sections`` turn
it into sentences, tables and plots, and ``page`` into a file that needs nothing else. Only counts and figures go into
a page, never rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from shoal.errors import MissingExtra
from shoal.measures.how_made import how_made
from shoal.measures.measured import Measures
from shoal.measures.measurement import Names
from shoal.plan.files_read import files_read
from shoal.plan.plan import Plan
from shoal.plan.reading import Reading
from shoal.release.release import Release, check_report
from shoal.report.editions import find_edition
from shoal.report.facts import facts_of_release, facts_of_tables
from shoal.report.page import page_of
from shoal.report.parts import Section
from shoal.tables.files.writing_whole import write_whole


def write_report(
    original: Any,
    released: Any,
    path: str | Path,
    quasi_identifiers: str | Sequence[str] | Sequence[Sequence[str]] | None = None,
    *,
    edition: str = "internal",
    confidential: Names = None,
    weight: str | None = None,
    known: Names = None,
    hierarchies: Mapping[str, Any] | None = None,
    orders: Mapping[str, Sequence[str]] | None = None,
    nominal: Names = None,
    column_weights: Mapping[str, float] | None = None,
    scaling: str | None = None,
    unique_columns: int | None = None,
    plan: Plan | str | Path | None = None,
    reading: Reading | Mapping[str, Any] | None = None,
    threads: int | None = None,
    progress: bool | None = None,
    overwrite: bool = True,
) -> Path:
    """Write a report of a release, whoever made it, as one HTML file that needs no network.

    Where the release is a file that shoal wrote, the manifest beside it tells what was asked for, and gives roles,
    hierarchies and the like where nothing is said about them here; in its place a plan can be given.

    Parameters
    ----------
    original, released : pandas, polars or pyarrow tables, or paths
        The table before and after, with the same rows in the same order.
    path : path
        Where to write the report, ``.html`` or ``.htm``.
    quasi_identifiers, confidential, weight, known, hierarchies, orders, nominal, column_weights, scaling, \
    unique_columns, plan, reading, threads, progress
        As for :func:`shoal.measure`.
    edition : {"internal", "external"}
        For those who may see the original, or to go with the release: without anything that helps an intruder.
    overwrite : bool
        Whether to replace a file that is there already.

    Returns
    -------
    Path
        Where it was written.

    Raises
    ------
    PlanError, DataError, FileError, MissingExtra
        Something asked for is wrong, the tables do not fit together, a file cannot be read or written, or the extra
        ``report`` is not installed.

    Examples
    --------
    >>> import shoal, tempfile
    >>> survey = shoal.example(100)
    >>> rounded = survey.with_columns(survey["age"] // 20 * 20)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(survey, rounded, f"{folder}/report.html", ["age"], edition="external").name
    'report.html'
    """
    path, chosen = Path(path), find_edition(edition)
    made = how_made(original, released, plan)
    tables = files_read({"hierarchies": hierarchies}, plan=plan, tables=(original, released))
    inputs = [*made.files(), *tables]
    check_report(path, inputs, overwrite)
    facts = facts_of_tables(
        original,
        released,
        chosen,
        made,
        quasi_identifiers=quasi_identifiers,
        confidential=confidential,
        weight=weight,
        known=known,
        hierarchies=hierarchies,
        orders=orders,
        nominal=nominal,
        column_weights=column_weights,
        scaling=scaling,
        unique_columns=unique_columns,
        reading=reading,
        threads=threads,
        progress=progress,
    )
    text = page_of(facts)
    write_whole(path, text, like=[table for _, table in inputs], overwrite=overwrite)
    return path


def report_page(
    release: Release,
    edition: str = "internal",
    *,
    output: tuple[str, str] = ("", ""),
    measures: Measures | None = None,
    threads: int | None = None,
    progress: bool | None = None,
) -> str:
    """Return the report of a release as the text of an HTML file; ``release.report(path)`` writes it.

    Parameters
    ----------
    release : Release
        What it is about.
    edition : {"internal", "external"}
        As for :func:`write_report`.
    output : tuple of str
        Name and SHA-256 of the file that the release was written to, where it was.
    measures : Measures
        What :meth:`Release.measure` has found, where it was called already.
    threads, progress
        As for :func:`shoal.measure`.

    Examples
    --------
    >>> import shoal
    >>> release = shoal.protect(shoal.example(60), k=3, quasi_identifiers=["age", "hours"], identifiers="name")
    >>> "What remains" in report_page(release, "external")
    True
    """
    measures = measures or release.measure(threads=threads, progress=progress)
    return page_of(facts_of_release(release, find_edition(edition), measures, output))


def report_sections(release: Release, measures: Measures | None = None) -> list[Section]:
    """Return what the internal edition of the report of a release tells, for pages of another kind.

    Parameters
    ----------
    release : Release
        What it is about.
    measures : Measures
        What :meth:`Release.measure` has found, where it was called already.

    Returns
    -------
    list of Section
        Each with a title and parts: paragraphs, tables, plots as Vega-Lite, and cards with such parts. ``parts.html``
        of :func:`report_asset` draws them.

    Examples
    --------
    >>> import shoal
    >>> release = shoal.protect(shoal.example(60), k=3, quasi_identifiers=["age", "hours"], identifiers="name")
    >>> [section.anchor for section in report_sections(release)][:3]
    ['risk', 'highest-risk', 'groups']
    """
    if not all(map(find_spec, ("altair", "jinja2", "vl_convert"))):
        raise MissingExtra("a report", "report")
    from shoal.report.sections import sections_of

    return sections_of(facts_of_release(release, find_edition("internal"), measures or release.measure()))
