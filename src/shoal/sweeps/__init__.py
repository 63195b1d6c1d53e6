"""shoal.sweep: every method at every k, measured, and which of them to take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from shoal.errors import DataError, PlanError
from shoal.plan.files_read import files_read
from shoal.plan.limits import MOST_REPEATS
from shoal.plan.plan import Plan, merge_settings
from shoal.plan.privacy import refusal
from shoal.plan.version import shoal_version
from shoal.sweeps.combinations import DEFAULT_KS, Ks, Methods, draw_samples, plans_to_run
from shoal.sweeps.outcome import Sweep, check_folder
from shoal.sweeps.recommendation import RISKS, Axes
from shoal.sweeps.results import LOSSES, Result, ResultFolder, combine, stored_results, table_checksum
from shoal.sweeps.risk_utility_map import can_draw
from shoal.sweeps.running import run_combinations
from shoal.tables.files import checksum
from shoal.tables.reading import read

__all__ = ["Result", "Sweep", "read_sweep", "sweep"]

_REPEATS = 5
_RESULTS = "results"  # folder inside the output


def sweep(
    data: Any,
    k: Ks = DEFAULT_KS,
    methods: Methods | None = None,
    quasi_identifiers: str | Sequence[str] | Sequence[Sequence[str]] | None = None,
    *,
    plan: Plan | str | Path | None = None,
    all_numeric: bool = False,
    known: str | Sequence[str] | None = None,
    risk: str = RISKS[0],
    loss: str = LOSSES[0],
    max_risk: float | None = None,
    max_loss: float | None = None,
    sample: int | None = None,
    repeats: int | None = None,
    output: str | Path | None = None,
    threads: int | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> Sweep:
    """Protect a table with every method at every k, measure each release, and recommend one of them.

    Parameters
    ----------
    data : pandas, polars or pyarrow table, or path
        The table, or a file.
    k : int, list of int, range, or str
        Every k to try; as a text ``"5"``, ``"2:20"``, ``"2:20:2"`` or ``"3,5,10"``, where both ends belong to it.
    methods : list, or str
        Methods to try: names, each with options of its own after colons, ``"v-mdav:gamma=1.1"``, or as a pair,
        ``("v-mdav", {"gamma": 1.1})``. By default the list in docs/sweeps.md.
    quasi_identifiers, plan, all_numeric, **settings
        As for :func:`shoal.protect`: roles, strata, weights, aggregators, scaling, blocking, reading and seed. k and
        method of a plan are replaced; its options go to its method, where that is tried.
    known : list of str
        Columns that an intruder knows and links records by; the quasi-identifiers by default.
    risk : {"dbrl", "dr", "global_risk", "interval_disclosure"}
        The measure of risk.
    loss : {"information_loss", "record_loss", "pil", "il1s"}
        The measure of loss.
    max_risk, max_loss : float
        Limits in percent. Within a limit on risk the least loss is recommended, within one on loss the least risk;
        without limits, the knee of the front.
    sample, repeats : int
        Try on random samples of that many records, and how many of them, 5 by default; figures are their means, with
        standard errors. The seed of the plan decides the samples.
    output : path
        Folder for tables, recommendation and picture. A combination whose result is there already, of the same plan,
        data, hierarchies, rules and version, is not run again.
    threads : int
        Combinations that run at a time; as many as there are cores by default. The result does not depend on it.
    progress : bool
        Show progress on standard error; by default where that is a terminal.

    Returns
    -------
    Sweep
        ``table``, ``front``, ``knee``, ``recommended``, ``recommendation``, and ``write(folder)``.

    Raises
    ------
    PlanError, DataError, FileError
        Something asked for is wrong. All mistakes are told at once, before anything is run.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [30, 31, 33, 60, 62, 64], "income": [20, 22, 21, 50, 54, 52]})
    >>> found = sweep(people, k="2,3", methods=["mdav"], quasi_identifiers=["age", "income"], max_risk=40)
    >>> found.recommended.k, found.recommended.method
    (3, 'mdav')
    """
    known = [known] if isinstance(known, str) else None if known is None else list(known)
    folder = None if output is None else Path(output)
    axes = Axes(risk, loss, max_risk, max_loss)
    merged = merge_settings(plan, {"quasi_identifiers": quasi_identifiers, **settings})
    if folder is not None:
        check_folder(folder, files_read(merged, original=data, plan=plan))
    source, table = read(data, merged)
    mistakes = axes.mistakes() + _mistakes(settings, threads, sample, repeats, len(table)) + _unswept(merged, sample)
    drawn = repeats or _REPEATS
    tables = [table]
    if sample is not None and not mistakes:
        tables = draw_samples(table, sample, drawn, _seed(merged))
    try:
        wanted, notes = plans_to_run(merged, k, methods, table, tables, all_numeric=all_numeric, known=known)
    except (PlanError, DataError) as error:
        if mistakes:
            raise PlanError(mistakes + error.mistakes) from None
        raise
    if mistakes:
        raise PlanError(mistakes)
    notes = [*(source.notes if source else ()), *notes]
    if sample is not None:
        notes.append(
            f"figures are of samples of {sample} records, which are sparser than the table: loss is too high, interval "
            "disclosure too low, and linkage can be either; protect and measure the whole table before you rely on them"
        )
    store: ResultFolder | None = None
    key: dict[str, Any] = {"version": shoal_version(), "known": known}
    if wanted:
        key |= _files_of(wanted[0].plan)
    if folder is not None:
        store = ResultFolder(folder / _RESULTS)
        key["data"] = source.sha256 if source else table_checksum(table)
        if not can_draw():
            notes.append("the picture is left out, since it needs an optional package: pip install 'shoal[report]'")
    draws, reused = run_combinations(
        wanted, tables, known=known, store=store, key=key, threads=threads, progress=progress
    )
    results = [combine(one.plan, figures) for one, figures in zip(wanted, draws, strict=True)]
    found = Sweep(
        results,
        axes,
        records=len(table),
        sample=sample,
        repeats=None if sample is None else drawn,
        reused=reused,
        notes=notes,
    )
    if folder is not None:
        found.write(folder)
    return found


def read_sweep(folder: str | Path) -> Sweep | None:
    """Return what a sweep with this ``output`` has found so far, also while it goes on or after it was stopped.

    Parameters
    ----------
    folder : path
        The folder.

    Returns
    -------
    Sweep or None
        The combinations that are finished; None where there are none.

    Examples
    --------
    >>> import shoal, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     settings = {"quasi_identifiers": ["age", "hours"], "identifiers": "name"}
    ...     found = sweep(shoal.example(60), "2,3", ["mdav"], output=folder, **settings)
    ...     read_sweep(folder).recommendation == found.recommendation
    True
    """
    results, sample = stored_results(Path(folder) / _RESULTS)
    return Sweep(results, sample=sample, repeats=None if sample is None else _REPEATS) if results else None


def _files_of(plan: Plan) -> dict[str, Any]:
    """Return the checksums of the files that a plan names: what is in them decides results, too."""
    found: dict[str, Any] = {}
    if plan.rules_file:
        found["rules"] = checksum(Path(plan.rules_file))
    for name, settings in plan.hierarchies.items():
        words = settings.wordnet.words if settings.wordnet else None
        file = settings.file or (words if isinstance(words, str) else None)
        if file:
            found.setdefault("hierarchies", {})[name] = checksum(Path(file))
    return found


def _mistakes(
    settings: Mapping[str, Any], threads: int | None, sample: int | None, repeats: int | None, records: int
) -> list[str]:
    """Say what is wrong with what was asked for beside the plan."""
    found = [
        f"{name}: a sweep takes methods, each with its options" for name in ("method", "options") if name in settings
    ]
    if threads is not None and threads < 1:
        found.append("threads: must be at least 1")
    if sample is None and repeats is not None:
        found.append("repeats: has no effect without sample")
    if repeats is not None and repeats < 2:
        found.append("repeats: must be at least 2, since the error is told from their differences")
    if repeats is not None and repeats > MOST_REPEATS:
        found.append(f"repeats: must be at most {MOST_REPEATS}")
    if sample is not None and sample < 2:
        found.append("sample: must be at least 2")
    if sample is not None and sample >= records:
        found.append(f"sample: must be fewer than the {records} records of the table; leave it out to take all of them")
    return found


def _unswept(settings: Mapping[str, Any], sample: int | None) -> list[str]:
    """Say what a plan asks for that does not go with a sweep, or with samples."""
    found = [refusal("sweeps")] if settings.get("differential_privacy") is not None else []
    if settings.get("household") is not None and sample is not None:
        found.append("sample: would take households apart; leave it out, or draw whole households before")
    return found


def _seed(settings: Mapping[str, Any]) -> int:
    """Return the seed that samples are drawn with; one that is no seed is left to the plan to report."""
    seed = settings.get("seed", 0)
    return seed if isinstance(seed, int) and seed >= 0 else 0
