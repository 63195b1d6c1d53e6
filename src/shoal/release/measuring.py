"""A release measured where an engine has its rows: losses, changes, keys and linkage, by passes that add up.

What adds up is exact, and the same on every engine (:mod:`shoal.measures.batches`). Keys are counted by the engine.
Linkage by distance is that of a random sample of the original records against all released ones, with its standard
error. What needs all records in order or at once is left out, and a note says so.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.columns.quasi_identifiers import QuasiIdentifiers
from shoal.engines.choosing import engine_settings, open_engine
from shoal.engines.engine import Engine, released_beside
from shoal.errors import DataError, PlanError, listed
from shoal.kernels.arrays import Ints, Masked
from shoal.measures.batch_linkage import Linking, Side, Ties, side_of
from shoal.measures.batches import BatchSums
from shoal.measures.evaluation import LEVELS, loss_figures, mean_of, moment_figures, split
from shoal.measures.figures import Figures
from shoal.measures.how_made import flat as flat_names
from shoal.measures.how_made import how_made
from shoal.measures.il1s import il1s_of
from shoal.measures.interval_disclosure import shares_by_width
from shoal.measures.linkage import Linked
from shoal.measures.loss import put_together
from shoal.measures.measured import Measures, check_json
from shoal.measures.pairs import NumericPair, Pair, SemanticPair, WholeColumn, pair_of
from shoal.plan.engine import EngineSettings
from shoal.plan.plan import Plan
from shoal.plan.version import shoal_version
from shoal.release.declaring import Declared
from shoal.release.surveyed import declare_rows, fit_to_rows
from shoal.tables.part_of_table import part_of_set
from shoal.tables.table import open_table

if TYPE_CHECKING:
    import polars as pl

SAMPLE = 10_000  # records that are linked where there are more than twice as many
_KEPT = ("k", "method", "hierarchies", "orders", "nominal", "column_weights", "scaling", "decimals")
_LEFT_OUT = (
    "left out, since they need all records in order or at once (engine: {}): PIL, SCORE, distances of distributions "
    "and of tables, pMSE, regression, interval disclosure by rank, probabilistic linkage, SUDA, combinations "
    "introduced and lost, and what confidential columns, weights and a population tell; shoal.measure has them for "
    "tables in memory"
)


def measure_in_engine(
    original: str | Path,
    released: str | Path,
    quasi_identifiers: Sequence[str] | Sequence[Sequence[str]] | None = None,
    *,
    engine: EngineSettings | Mapping[str, Any] | str,
    plan: Plan | str | Path | None = None,
    output: str | Path | None = None,
    overwrite: bool = True,
    threads: int | None = None,
) -> Measures:
    """Measure a release that is larger than memory: Parquet files before and after, rows matched by their place.

    The figures that add up are exact and the same on every engine; see docs/engines.md for what is left out.

    Parameters
    ----------
    original, released : path
        Parquet files, folders or patterns, with the same rows in the same order.
    quasi_identifiers : list of str, or list of lists of str
        Columns to measure; by default those of the plan, or of the manifest beside the release.
    engine : str or dict
        ``"duckdb"`` or ``"spark"``, as for :func:`shoal.protect`.
    plan : Plan or path of a YAML file
        What the release was made with, in place of the manifest.
    output : path
        Where to write the figures as JSON; checked before any work is done.
    overwrite : bool
        Whether to replace a file that is there already.
    threads : int
        Threads of DuckDB; as many as there are cores by default.

    Returns
    -------
    Measures
        Figures that were left out are None.

    Raises
    ------
    PlanError, DataError, FileError
        Something asked for is wrong, the tables do not fit together, or a file cannot be read.

    Examples
    --------
    >>> import tempfile, polars as pl
    >>> from pathlib import Path
    >>> folder = Path(tempfile.mkdtemp())
    >>> people = pl.DataFrame({"age": [30, 31, 33, 60, 62, 64], "income": [20, 22, 21, 50, 54, 52]})
    >>> people.write_parquet(folder / "in.parquet")
    >>> after = pl.DataFrame({"age": [31, 31, 31, 62, 62, 62], "income": [21, 21, 21, 52, 52, 52]})
    >>> after.write_parquet(folder / "out.parquet")
    >>> found = measure_in_engine(folder / "in.parquet", folder / "out.parquet", ["age", "income"], engine="duckdb")
    >>> found.k_anonymity, round(found.information_loss, 2), round(found.dbrl, 2)
    (3, 0.8, 33.33)
    """
    started = time.perf_counter()
    if output is not None:
        check_json(Path(output), overwrite=overwrite)
    made = how_made(original, released, plan)
    asked = engine_settings(original, {"engine": engine})
    if asked is None or asked.name == "memory":
        raise PlanError("engine: must be 'duckdb' or 'spark'; tables in memory are measured by shoal.measure")
    said = made.plan.to_dict() if made.plan else {"k": 2}
    settings = {name: value for name, value in said.items() if name in _KEPT}
    settings["quasi_identifiers"] = quasi_identifiers or (made.plan and made.plan.quasi_identifiers)
    if not settings["quasi_identifiers"]:
        raise PlanError("quasi-identifiers: name them, or give the plan: there is no manifest beside the release")
    has = open_engine(original, asked, threads)
    try:
        has.compare_with(released)
        _check_rows(has, settings["quasi_identifiers"])
        survey, _, declared = declare_rows(has, settings, others_kept=True)
        declared = fit_to_rows(has, survey, declared)
        found = measure_rows(has, declared, survey.records)
    finally:
        has.close()
    found = replace(found, notes=[*made.notes, *found.notes], seconds=round(time.perf_counter() - started, 6))
    if output is not None:
        found.write(output, overwrite=overwrite, like=has.inputs())
    return found


def _check_rows(engine: Engine, names: Any) -> None:
    """Refuse a release that has other rows or other columns than the original."""
    before, after = (dict(types) for types in engine.released_types())
    flat = flat_names(names)
    absent = [name for name in flat if name not in before or name not in after]
    if absent:
        raise PlanError(f"quasi-identifiers: {listed(absent)} not in both tables")
    other = [name for name in flat if before[name] != after[name]]
    if other:
        raise DataError(f"{listed(other)}: other types in the release than in the original; give both the same")


def measure_rows(engine: Engine, declared: Declared, records: int) -> Measures:
    """Measure what an engine has before and after, of so many records."""
    names = [name for quasi in declared.sets for name in quasi.names]
    if engine.count() != records:
        raise DataError("the original and the release have another number of records; rows are compared one by one")
    share = 1.0 if records <= 2 * SAMPLE else SAMPLE / records
    pairing = Pairing(declared.sets, declared.whole, declared.plan.column_weights, share)
    sums = engine.add_up(names, pairing, released=names)
    head = engine.head().head(1).select(names)
    kinds = [pair for part in pairing.pairs(head, head) for pair in part]  # names and kinds are looked at
    numbers, categories = split(kinds)
    counts = [sums.counts[pair.name] for pair in categories]
    holes = [sums.holes[pair.name] > 0 for pair in numbers]
    linking = Linking.of(sums.sampled, counts, holes, [pair.constant for pair in numbers])
    by_distance = engine.add_up([], _Linked(pairing, linking), released=names).linked(records)
    sizes = (engine.sizes(names, released=False), engine.sizes(names, released=True))
    return Measures(
        records=records,
        weight=None,
        quasi_identifiers=names,
        numeric=[pair.name for pair in numbers],
        categorical=[pair.name for pair in categories],
        semantic=[pair.name for pair in categories if isinstance(pair, SemanticPair)],
        known=names,
        confidential=[],
        notes=[_LEFT_OUT.format(engine.name), *_linkage_note(by_distance, records)],
        seconds=0.0,
        version=shoal_version(),
        **_figures(sums, kinds, pairing.column_weights, sizes, by_distance),
    )


@dataclass(frozen=True)
class Pairing:
    """Adds up batches of rows before and after: the part of a pass, which may travel to another machine.

    Attributes
    ----------
    sets : list of QuasiIdentifiers
        How values are held, by set of columns.
    whole : dict of WholeColumn
        Scores and centres of the whole table.
    column_weights : dict
        How much columns count in the loss.
    share : float
        Of the records that go into the sample.
    """

    sets: list[QuasiIdentifiers]
    whole: Mapping[str, WholeColumn]
    column_weights: Mapping[str, float]
    share: float

    def __call__(self, frame: pl.DataFrame, rows: Ints) -> BatchSums:
        """Add up a batch, with the row numbers."""
        names = [name for quasi in self.sets for name in quasi.names]
        after = released_beside(frame, names)
        return BatchSums.of(self.pairs(frame.select(names), after), self.column_weights, rows, self.share)

    def pairs(self, before: pl.DataFrame, after: pl.DataFrame) -> list[list[Pair]]:
        """Put columns before and after beside each other."""
        tables = open_table(before), open_table(after)
        found = []
        for quasi in self.sets:
            was, now = (part_of_set(quasi, table) for table in tables)
            columns = zip(was.columns, now.columns, quasi.scales, strict=True)
            found.append(
                [
                    pair_of(column, Masked(other.values, other.observed), scale, self.whole.get(column.name))
                    for column, other, scale in columns
                ]
            )
        return found


@dataclass(frozen=True)
class _Linked:
    """Links a sample to batches of released rows."""

    pairing: Pairing
    linking: Linking

    def __call__(self, frame: pl.DataFrame, rows: Ints) -> Ties:
        after = released_beside(frame, [name for quasi in self.pairing.sets for name in quasi.names])
        numbers, categories = split([pair for part in self.pairing.pairs(after, after) for pair in part])
        released: Side = side_of(numbers, categories, True)
        return self.linking.link(released)


def _figures(
    sums: BatchSums,
    kinds: Sequence[Pair],
    column_weights: Mapping[str, float],
    sizes: tuple[Counter[int], Counter[int]],
    by_distance: Linked,
) -> Figures:
    """Return all figures under the names of Measures; those that are left out are None, or empty."""
    figures: Figures = {
        field.name: None for field in fields(Measures) if str(field.type).endswith("| None") and field.name != "weight"
    }
    figures |= {"pil_parts": {}, "interval_by_width": {}, "minimal_uniques": {}, "by_confidential": {}}
    losses = put_together([own.loss() for own in sums.losses], column_weights)
    figures |= loss_figures(losses) | _key_figures(*sizes, sums.records)
    by_column: Figures = {pair.name: {"information_loss": losses.by_column[pair.name].percent} for pair in kinds}
    numbers, categories = split(kinds)
    if numbers:
        figures |= _number_figures(sums, numbers, by_column)
    if categories:
        fates = [sums.fates[pair.name] for pair in categories]
        told = ("generalised_cells", "root_cells", "replaced_cells")
        for category, own in zip(categories, fates, strict=True):
            by_column[category.name] |= dict(zip(told, own.tolist(), strict=True))
        figures |= dict(zip(told, np.sum(fates, axis=0).tolist(), strict=True))
    for pair in kinds:
        by_column[pair.name]["suppressed_cells"] = sums.suppressed[pair.name]
    return {
        **figures,
        "by_column": by_column,
        "suppressed_cells": sum(sums.suppressed.values()),
        "changed_records": 100.0 * sums.changed / sums.records,
        "dbrl": by_distance.percent,
        "linkage": {"dbrl": {"records": by_distance.records, "error": by_distance.error}},
    }


def _number_figures(sums: BatchSums, numbers: Sequence[NumericPair], by_column: Figures) -> Figures:
    assert sums.before is not None
    assert sums.after is not None
    widths = []
    for pair in numbers:
        own = by_column[pair.name]
        cells = int(sums.inside[pair.name].sum())
        own["il1s"] = mean_of([float("nan") if pair.constant else il1s_of(sums.absolute[pair.name].value(), cells)])
        widths.append(shares_by_width(sums.inside[pair.name]))
        own["interval_disclosure_sd"] = mean_of(widths[-1])
    by_width = {str(p + 1): mean_of([own[p] for own in widths]) for p in range(len(widths[0]))}
    return {
        "il1s": mean_of([np.nan if by_column[p.name]["il1s"] is None else by_column[p.name]["il1s"] for p in numbers]),
        **moment_figures(sums.before.moments(), sums.after.moments(), [pair.name for pair in numbers]),
        "interval_disclosure_sd": mean_of([float(own.mean()) for own in widths]),
        "interval_by_width": {"interval_disclosure_sd": by_width},
    }


def _key_figures(before: Counter[int], after: Counter[int], records: int) -> Figures:
    """Return what the sizes of keys tell: without weights the risk of a record is one over those that share its key."""
    rarest = min(after)
    return {
        "distinct_before": before.total(),
        "distinct_after": after.total(),
        "global_risk": 100.0 * after.total() / records,
        "global_risk_original": 100.0 * before.total() / records,
        "expected_reidentifications": float(after.total()),
        "highest_risk": 100.0 / rarest,
        "records_at_risk": {
            str(percent): sum(size * count for size, count in after.items() if percent * size <= 100)
            for percent in LEVELS
        },
        "sample_uniques": after[1],
        "sample_uniques_original": before[1],
        "k_anonymity": rarest,
        "key_sizes": {str(size): count for size, count in sorted(after.items())},
    }


def _linkage_note(by_distance: Linked, records: int) -> list[str]:
    if by_distance.records == records:
        return []
    return [
        f"dbrl is from a random sample of {by_distance.records} of the original records, with a standard error of "
        f"{by_distance.error:.2g} %; all released records were searched"
    ]
