"""shoal.measure: what a release keeps and what it risks, from the two tables alone."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

from shoal.arrays import Ints
from shoal.comparison import Comparison, compare
from shoal.engines.memory import run_tasks
from shoal.errors import FileError, PlanError
from shoal.evaluation import Figures, measure_tasks, split, table_figures
from shoal.files import check_target, file_format, written_whole
from shoal.measures.keys import common_keys
from shoal.measures.linkage import Linked, linkage_tasks, linked
from shoal.measures.probabilistic_linkage import probabilistic_linkage_task
from shoal.partition.method import DONE
from shoal.pipeline import read
from shoal.plan import Reading, as_reading
from shoal.progress import show_progress
from shoal.summary import shoal_version
from shoal.tables import Table

Names = str | Sequence[str] | None


@dataclass(frozen=True)
class Measures(Mapping[str, Any]):
    """What a release keeps and what it risks; also a mapping of its names to its values.

    ``shoal.MEASURES`` has a sentence for each figure, and docs/measures.md its definition. Losses and risks are in
    percent. None stands for a measure that does not apply; ``notes`` says why.

    Attributes
    ----------
    records : int
        Rows of the tables.
    quasi_identifiers, numeric, categorical, known, confidential : list of str
        The columns that were measured, those of them with numbers and with categories, those that the intruder knows,
        and the confidential ones.
    information_loss, sse, sst, numeric_loss, category_loss : float
        Squared error over total squares, all columns; of the numbers and of the categories alone.
    pil, pil_parts, il1s
        Probabilistic information loss, and the five averages that it is made of; IL1s.
    correlations : dict
        The correlations of the numbers in both tables, as lists of lists, with the names of their columns.
    correlation_difference, eigenvalue_difference, kolmogorov_smirnov, wasserstein : float
        Changes of correlations, eigenvalues and distributions.
    pmse, pmse_ratio, coefficients_kept : float
        Propensity score; overlap of confidence intervals of regression coefficients.
    table_distance, table_hellinger : float
        Distance of the tables of every two columns of categories, or of the one there is.
    suppressed_cells : int
        Cells that are missing in the release only.
    dbrl, probabilistic_linkage : float
        Records linked to their own, by distance and by agreement.
    linkage : dict
        For ``dbrl`` and ``probabilistic_linkage`` the number of ``records`` that were linked and the standard
        ``error`` of the figure, 0 where that was all of them.
    interval_disclosure, interval_disclosure_sd, interval_records, interval_records_sd : float
        Numbers, and whole records, within an interval by rank or by standard deviation.
    dr, score : float
        Mean of DBRL and interval disclosure; mean of PIL and DR.
    global_risk, global_risk_original, expected_reidentifications, highest_risk : float
        Mean individual risk of the release and of the original; times the records; the largest.
    records_at_risk : dict
        Number of records with an individual risk of at least 50, 20, 10, 5 and 1 percent.
    sample_uniques, sample_uniques_original, special_uniques : int
        Records alone with their key; those that few columns single out.
    minimal_uniques : dict
        Number of minimal sample uniques by how many columns they have.
    k_anonymity : int
        Records that share the rarest key.
    key_sizes : dict
        Number of keys by how many records share them.
    l_diversity, alpha, t_closeness : int or float
        The weakest over the confidential columns.
    delta_presence : list of float
        Smallest and largest share of the people with a key that are in the release.
    by_column : dict
        Figures of each quasi-identifier.
    by_confidential : dict
        l-diversity, alpha and t-closeness of each confidential column.
    notes : list of str
        What a user should know about these figures.
    seconds, version
        Wall time, and the version of shoal.
    """

    records: int
    quasi_identifiers: list[str]
    numeric: list[str]
    categorical: list[str]
    known: list[str]
    confidential: list[str]
    information_loss: float
    sse: float
    sst: float
    numeric_loss: float | None
    category_loss: float | None
    pil: float | None
    pil_parts: dict[str, float | None]
    il1s: float | None
    correlations: dict[str, Any] | None
    correlation_difference: float | None
    eigenvalue_difference: float | None
    kolmogorov_smirnov: float | None
    wasserstein: float | None
    pmse: float
    pmse_ratio: float
    coefficients_kept: float | None
    table_distance: float | None
    table_hellinger: float | None
    suppressed_cells: int
    dbrl: float
    probabilistic_linkage: float
    linkage: dict[str, dict[str, float]]
    interval_disclosure: float | None
    interval_disclosure_sd: float | None
    interval_records: float | None
    interval_records_sd: float | None
    dr: float | None
    score: float | None
    global_risk: float
    global_risk_original: float
    expected_reidentifications: float
    highest_risk: float
    records_at_risk: dict[str, int]
    sample_uniques: int
    sample_uniques_original: int
    special_uniques: int
    minimal_uniques: dict[str, int]
    k_anonymity: int
    key_sizes: dict[str, int]
    l_diversity: int | None
    alpha: float | None
    t_closeness: float | None
    delta_presence: list[float] | None
    by_column: dict[str, dict[str, Any]]
    by_confidential: dict[str, dict[str, float]]
    notes: list[str]
    seconds: float
    version: str

    def __getitem__(self, name: str) -> Any:
        if name not in (f.name for f in fields(self)):
            raise KeyError(name)
        return getattr(self, name)

    def __iter__(self) -> Iterator[str]:
        return (f.name for f in fields(self))

    def __len__(self) -> int:
        return len(fields(self))

    def __repr__(self) -> str:
        risk = "" if self.dr is None else f", disclosure risk {self.dr:.4g} %, score {self.score:.4g}"
        return (
            f"<Measures of {self.records} records: information loss {self.information_loss:.4g} %, linked "
            f"{self.dbrl:.4g} %{risk}, k = {self.k_anonymity}>"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers, texts, lists and dictionaries."""
        return asdict(self)

    def write(self, path: str | Path) -> None:
        """Write the figures to a JSON file."""
        _check_json(Path(path))
        text = json.dumps(self.to_dict(), indent=2, ensure_ascii=False)
        with written_whole(Path(path)) as part:
            part(Path(path)).write_text(text + "\n", encoding="utf-8")


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
    reading: Reading | Mapping[str, Any] | None = None,
    output: str | Path | None = None,
    threads: int | None = None,
    progress: bool | None = None,
) -> Measures:
    """Measure what a release keeps of its original, and what it risks. shoal need not have made it.

    Rows are matched by position, columns by name. Columns of numbers and dates are measured as numbers, text and
    true or false as categories.

    Parameters
    ----------
    original, released : pandas, polars or pyarrow tables, or paths
        The table before and after, with the same rows in the same order.
    quasi_identifiers : list of str
        Columns to measure, by which somebody could be found. By default all that both tables have and that have no
        other role here. Sets of columns are measured together.
    confidential : list of str
        Columns for l-diversity, alpha and t-closeness.
    weight : str
        Column of sampling weights, for individual and global risk.
    known : list of str
        Columns that an intruder knows and links records by; the quasi-identifiers by default.
    blocking : list of str
        Columns in which records must agree for the intruder to compare them.
    population : table or path
        The people that the release may be about, with the quasi-identifiers, for delta-presence.
    reading : dict
        How text files are read, as for :func:`shoal.protect`; for all the text files given.
    output : path
        Where to write the figures as JSON; checked before any work is done.
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
    if threads is not None and threads < 1:
        raise PlanError("threads: must be at least 1")
    if output is not None:
        _check_json(Path(output))
    tables, notes = _read_all([original, released, population], as_reading(reading))
    comparison = compare(
        tables[0],
        tables[1],
        _flat(quasi_identifiers),
        _flat(confidential) or [],
        weight,
        _flat(known) or [],
        _flat(blocking) or [],
        tables[2] if population is not None else None,
    )
    figures = _evaluate(comparison, threads, progress)
    numbers, categories = split(comparison.pairs)
    found = Measures(
        records=comparison.records,
        quasi_identifiers=[pair.name for pair in comparison.pairs],
        numeric=[pair.name for pair in numbers],
        categorical=[pair.name for pair in categories],
        known=[pair.name for pair in comparison.known],
        confidential=[pair.name for pair in comparison.confidential],
        notes=[*notes, *comparison.notes, *figures.pop("notes")],
        seconds=round(time.perf_counter() - started, 6),
        version=shoal_version(),
        **figures,
    )
    if output is not None:
        found.write(output)
    return found


def _check_json(path: Path) -> None:
    """Refuse a path that the figures cannot be written to."""
    if path.suffix.lower() != ".json":
        raise FileError(f"'{path}': figures are written as JSON; give it the ending .json")
    check_target(path)


def _read_all(data: Sequence[Any], reading: Reading) -> tuple[list[Table], list[str]]:
    """Open tables or read them from files; how to read applies to those that are text."""
    texts = [isinstance(one, str | Path) and file_format(Path(one)) == "text" for one in data]
    if reading != Reading() and not any(texts):
        raise PlanError("reading: has no effect, since none of the tables is a text file")
    tables, notes = [], []
    for one, text in zip(data, texts, strict=True):
        if one is not None:
            source, table = read(one, {"reading": reading} if text else {})
            tables.append(table)
            notes += [f"{source.path.name}: {note}" for note in source.notes] if source else []
    return tables, notes


def _flat(names: Any) -> list[str] | None:
    """Return names as one list; sets of columns are put together."""
    if names is None:
        return None
    if isinstance(names, str):
        return [names]
    return [name for part in names for name in ([part] if isinstance(part, str) else part)]


def _evaluate(comparison: Comparison, threads: int | None, progress: bool | None) -> Figures:
    """Run all measures and put their figures together."""
    records = comparison.records
    blocks = common_keys(comparison.blocks) if comparison.blocks else None
    single = measure_tasks(comparison)
    links = linkage_tasks(comparison.known, blocks)
    tasks: list[Callable[[Ints], Any]] = [partial(_counted, step, records) for step in single.values()]
    tasks += [probabilistic_linkage_task(comparison.known, blocks), *links]
    with show_progress(records * (len(single) + 2), progress, "measuring") as report:
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
    figures: Figures = dict.fromkeys(field.name for field in fields(Measures) if field.type == "float | None")
    figures |= {"pil_parts": {}, "correlations": None}
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
    if model["pmse_records"] < comparison.records:
        notes.append(f"pMSE is from a random sample of {model['pmse_records']} records of each table")
    if not model["products"]:
        notes.append("there are so many columns that the model of pMSE has no products of columns")
    return notes
