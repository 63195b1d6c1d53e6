"""The figures of a comparison: every measure as a task, and their results put together.

Utility of numbers, utility of categories, keys and linkage do not depend on each other and run side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from shoal.kernels.arrays import Flags, Floats
from shoal.measures import score
from shoal.measures.anonymity import category_closeness, diversity, number_closeness
from shoal.measures.catalogue import MEASURES
from shoal.measures.category_fates import fates
from shoal.measures.combinations import count_combinations
from shoal.measures.comparison import Comparison
from shoal.measures.contingency import pairwise_distances, table_distance
from shoal.measures.distributions import (
    correlation_differences,
    eigenvalue_difference,
    kolmogorov_smirnov_and_wasserstein,
)
from shoal.measures.figures import Figures
from shoal.measures.il1s import il1s
from shoal.measures.interval_disclosure import Intervals, Percentages, disclosed, disclosed_by_width, intervals
from shoal.measures.keys import Keys, column_codes, key_columns, number_keys
from shoal.measures.linkage import Linked
from shoal.measures.loss import Losses, measure_losses
from shoal.measures.moments import Moments, joint_moments
from shoal.measures.pairs import CategoryPair, NumericPair, Pair
from shoal.measures.probabilistic_loss import PARTS, moment_loss, quantile_loss
from shoal.measures.propensity import propensity
from shoal.measures.regression import overlaps
from shoal.measures.risk import global_risk, individual_risk, risk_by_attribute
from shoal.measures.sample_uniques import special_uniques
from shoal.measures.weighted_estimates import weighted_estimates

LEVELS = (50, 20, 10, 5, 1)  # percent of individual risk that records are counted at
_MANY = 40  # columns of categories beyond which not every two of them are put into a table


@dataclass(frozen=True)
class NumberFigures:
    """What one column of numbers tells by itself."""

    il1s: float
    quantiles: float
    kolmogorov_smirnov: float
    wasserstein: float
    intervals: Intervals


def measure_column(pair: NumericPair) -> NumberFigures:
    """Measure one column of numbers."""
    before, after = np.sort(pair.original[pair.there]), np.sort(pair.released[pair.kept])
    far, moved = kolmogorov_smirnov_and_wasserstein(before, after)
    return NumberFigures(
        il1s=il1s(pair),
        quantiles=quantile_loss(before, after),
        kolmogorov_smirnov=far,
        wasserstein=moved,
        intervals=intervals(pair),
    )


def measure_shape(numbers: Sequence[NumericPair]) -> Figures:
    """Measure means, variances, covariances and correlations, and the lines that follow from them."""
    before, after = (_matrix(numbers, released) for released in (False, True))
    original, released = joint_moments(*before), joint_moments(*after)
    loss = moment_loss(original, released)
    return {
        "parts": {name: getattr(loss, name) for name in PARTS[1:]},
        "coefficients_kept": mean_of(_overlaps(before, after, original, released)),
        **moment_figures(original, released, [pair.name for pair in numbers]),
    }


def moment_figures(original: Moments, released: Moments, names: Sequence[str]) -> Figures:
    """Return the correlations of columns of numbers in both tables, and how they and the eigenvalues have changed."""
    off = np.triu_indices(len(names), 1)
    return {
        "correlation_difference": mean_of(correlation_differences(original, released)[off]),
        "eigenvalue_difference": eigenvalue_difference(original, released),
        "correlations": {
            "columns": list(names),
            "original": _rows(original.correlations),
            "released": _rows(released.correlations),
        },
    }


def _matrix(numbers: Sequence[NumericPair], released: bool) -> tuple[Floats, Flags | None]:
    values = np.column_stack([pair.released if released else pair.original for pair in numbers])
    seen = np.column_stack([pair.kept if released else pair.there for pair in numbers])
    return values, None if seen.all() else seen


def _overlaps(
    before: tuple[Floats, Flags | None], after: tuple[Floats, Flags | None], original: Moments, released: Moments
) -> Floats:
    covariances, counts = [], []
    for (values, seen), moments in ((before, original), (after, released)):
        whole = moments
        if seen is not None:
            rows = seen.all(axis=1)
            if not rows.any():
                return np.full(1, np.nan)
            whole = joint_moments(values[rows])
        covariances.append(whole.m11)
        counts.append(int(whole.counts[0, 0]))
    return overlaps(covariances[0], covariances[1], (counts[0], counts[1]))


def numeric_figures(numbers: Sequence[NumericPair], columns: Sequence[NumberFigures], shape: Figures) -> Figures:
    """Put the figures of columns of numbers together."""
    parts = {"quantiles": mean_of([column.quantiles for column in columns])}
    parts |= {name: mean_of(loss) for name, loss in shape["parts"].items()}
    present = [loss for loss in parts.values() if loss is not None]
    return {
        "pil": mean_of(present),
        "pil_parts": parts,
        "il1s": mean_of([column.il1s for column in columns]),
        "correlations": shape["correlations"],
        "correlation_difference": shape["correlation_difference"],
        "eigenvalue_difference": shape["eigenvalue_difference"],
        "kolmogorov_smirnov": mean_of([column.kolmogorov_smirnov for column in columns]),
        "wasserstein": mean_of([column.wasserstein for column in columns]),
        "coefficients_kept": shape["coefficients_kept"],
        **_interval_figures(numbers, columns),
    }


def _interval_figures(numbers: Sequence[NumericPair], columns: Sequence[NumberFigures]) -> Figures:
    """Return the shares of cells and of records inside their intervals: of each width, and averaged over these."""
    there = np.zeros(len(numbers[0].there), dtype=bool)
    for pair in numbers:
        there |= pair.there
    found: Figures = {"interval_by_width": {}}
    for suffix, needed in (
        ("", [column.intervals.by_rank for column in columns]),
        ("_sd", [column.intervals.by_deviation for column in columns]),
    ):
        cells = [own[pair.there] for pair, own in zip(numbers, needed, strict=True)]
        records = _widest(numbers, needed)[there]
        for name, parts in ((f"interval_disclosure{suffix}", cells), (f"interval_records{suffix}", [records])):
            found[name] = mean_of([disclosed(part) for part in parts])
            shares = np.array([disclosed_by_width(part) for part in parts])
            found["interval_by_width"][name] = {str(p + 1): mean_of(shares[:, p]) for p in range(shares.shape[1])}
    return found


def _cells(pair: NumericPair, needed: Percentages) -> float:
    return disclosed(needed[pair.there])


def _widest(numbers: Sequence[NumericPair], needed: Sequence[Percentages]) -> Percentages:
    """Return the interval that holds all cells of a record; cells that were missing before do not count."""
    widest = np.zeros_like(needed[0])
    for pair, widths in zip(numbers, needed, strict=True):
        np.maximum(widest, np.where(pair.there, widths, 0), out=widest)
    return widest


def category_figures(categories: Sequence[CategoryPair]) -> Figures:
    """Measure columns of categories, each and every two of them."""
    single = [table_distance([pair.original], [pair.released]) for pair in categories]
    double = pairwise_distances(categories[:_MANY]) or single
    became = [fates(pair) for pair in categories]
    columns = {}
    for pair, distance, fate in zip(categories, single, became, strict=True):
        changed = (pair.original != pair.released) & (pair.original >= 0)
        columns[pair.name] = {
            "changed_cells": 100.0 * float(changed.mean()),
            "table_distance": distance.total_variation,
            "table_hellinger": distance.hellinger,
            "generalised_cells": fate.generalised,
            "root_cells": fate.to_root,
            "replaced_cells": fate.replaced,
        }
    return {
        "generalised_cells": sum(fate.generalised for fate in became),
        "root_cells": sum(fate.to_root for fate in became),
        "replaced_cells": sum(fate.replaced for fate in became),
        "table_distance": mean_of([table.total_variation for table in double]),
        "table_hellinger": mean_of([table.hellinger for table in double]),
        "columns": columns,
    }


def number_columns(numbers: Sequence[NumericPair], columns: Sequence[NumberFigures], shape: Figures) -> Figures:
    """Return the figures of each column of numbers."""
    found = {}
    for j, (pair, column) in enumerate(zip(numbers, columns, strict=True)):
        own = [column.quantiles, shape["parts"]["mean"][j], shape["parts"]["variance"][j]]
        found[pair.name] = {
            "pil": mean_of(own),
            "il1s": _or_none(column.il1s),
            "kolmogorov_smirnov": column.kolmogorov_smirnov,
            "wasserstein": _or_none(column.wasserstein),
            "interval_disclosure": _or_none(_cells(pair, column.intervals.by_rank)),
            "interval_disclosure_sd": _or_none(_cells(pair, column.intervals.by_deviation)),
        }
    return found


def key_figures(comparison: Comparison) -> Figures:
    """Measure what the keys of the release give away."""
    pairs, weights = comparison.pairs, comparison.weights
    parts = [key_columns(pair) for pair in pairs]
    keys = number_keys([part for own in parts for part in own])
    before = number_keys([part for pair in pairs for part in key_columns(pair, released=False)])
    risk = individual_risk(keys, weights)
    whole = global_risk(keys, weights)
    unweighted = whole if weights is None else global_risk(keys)
    codes = [number_keys([part[keys.first] for part in own]).of for own in parts]
    special = special_uniques(codes, comparison.unique_columns, sizes=keys.sizes)
    columns = risk_by_attribute(codes, keys.sizes, unweighted)
    total = float(special.by_column.sum())
    for column, own in zip(columns, special.by_column.tolist(), strict=True):
        column["special_share"] = 100.0 * own / total if total > 0.0 else 0.0
    return {
        "global_risk": whole,
        "global_risk_original": global_risk(before, weights),
        "expected_reidentifications": whole / 100.0 * comparison.records,
        "highest_risk": 100.0 * float(risk.max()),
        "records_at_risk": {
            str(percent): int(keys.sizes[risk >= percent / 100.0 * (1.0 - 1e-12)].sum()) for percent in LEVELS
        },
        "sample_uniques": int((keys.sizes == 1).sum()),
        "sample_uniques_original": int((before.sizes == 1).sum()),
        "special_uniques": int((special.scores > 0.0).sum()),
        "highest_special": float(special.scores.max()),
        "unique_columns": special.size,
        "minimal_uniques": {str(s + 1): int(count) for s, count in enumerate(special.by_size)},
        "k_anonymity": int(keys.sizes.min()),
        "key_sizes": {str(size): int(count) for size, count in enumerate(np.bincount(keys.sizes)) if count},
        "columns": dict(zip([pair.name for pair in pairs], columns, strict=True)),
        **_confidential_figures(keys, comparison),
    }


def combination_figures(comparison: Comparison) -> Figures:
    """Count the combinations of quasi-identifiers before and after."""
    found = count_combinations(comparison.pairs)
    return {
        "distinct_before": found.before,
        "distinct_after": found.after,
        "introduced_combinations": found.introduced,
        "lost_combinations": found.lost,
        "introduced_records": found.records_introduced,
        "changed_records": 100.0 * found.records_changed / comparison.records,
    }


def _confidential_figures(keys: Keys, comparison: Comparison) -> Figures:
    found = {}
    for pair in comparison.confidential:
        codes = column_codes(pair)
        own = diversity(keys, codes)
        close = (
            number_closeness(keys, pair.released, pair.kept)
            if isinstance(pair, NumericPair)
            else category_closeness(keys, codes)
        )
        found[pair.name] = {
            "distinct_l": own.distinct,
            "entropy_l": own.entropy,
            "recursive_c": own.recursive_c,
            "alpha": own.alpha,
            "t_closeness": close,
        }
    return {
        "l_diversity": min((own["distinct_l"] for own in found.values()), default=None),
        "alpha": max((own["alpha"] for own in found.values()), default=None),
        "t_closeness": max((own["t_closeness"] for own in found.values()), default=None),
        "by_confidential": found,
    }


def loss_figures(losses: Losses) -> Figures:
    """Return what was lost under the names of Measures; a loss that does not apply is left out."""
    figures: Figures = {
        "information_loss": losses.table.percent,
        "sse": losses.table.sse,
        "sst": losses.table.sst,
    }
    others = {
        "numeric_loss": losses.numbers,
        "category_loss": losses.categories,
        "record_loss": losses.records,
        "semantic_loss": losses.category_records,
    }
    figures |= {name: squares.percent for name, squares in others.items() if squares is not None}
    if losses.category_records is not None:
        figures |= {"semantic_sse": losses.category_records.sse, "semantic_sst": losses.category_records.sst}
    return figures


def propensity_figures(pairs: Sequence[Pair]) -> Figures:
    """Measure how well the tables can be told apart."""
    found = propensity(pairs)
    return {"pmse": found.pmse, "pmse_ratio": found.ratio, "pmse_records": found.records, "products": found.products}


def measure_tasks(comparison: Comparison) -> dict[str, Callable[[], Any]]:
    """Return the measures that need one pass each, by name."""
    numbers, categories = split(comparison.pairs)
    tasks: dict[str, Callable[[], Any]] = {"keys": partial(key_figures, comparison)}
    tasks["losses"] = partial(measure_losses, comparison.sets, comparison.column_weights)
    tasks["combinations"] = partial(combination_figures, comparison)
    tasks["propensity"] = partial(propensity_figures, comparison.pairs)
    if numbers:
        tasks["shape"] = partial(measure_shape, numbers)
    tasks |= {f"number {j}": partial(measure_column, pair) for j, pair in enumerate(numbers)}
    if categories:
        tasks["categories"] = partial(category_figures, categories)
    return tasks | {f"measure {one.name}": partial(one.of, comparison) for one in MEASURES.values() if one.of}


def table_figures(comparison: Comparison, done: Figures, by_distance: Linked) -> Figures:
    """Put the figures of columns, keys and linkage by distance together; a measure that does not apply is left out.

    ``done`` has the results of the tasks of :func:`measure_tasks`; that of the propensity is not looked at.
    """
    numbers, categories = split(comparison.pairs)
    columns = [done[f"number {j}"] for j in range(len(numbers))]
    losses: Losses = done["losses"]
    figures = loss_figures(losses)
    by_column: Figures = {}
    if numbers:
        figures |= numeric_figures(numbers, columns, done["shape"])
        by_column |= number_columns(numbers, columns, done["shape"])
    if categories:
        found = done["categories"]
        by_column |= found.pop("columns")
        figures |= found
    keys = done["keys"]
    for pair in comparison.pairs:
        by_column[pair.name] = {
            "information_loss": losses.by_column[pair.name].percent,
            **by_column[pair.name],
            "suppressed_cells": pair.suppressed,
            **({} if comparison.weights is None else weighted_estimates(pair, comparison.weights)),
            **keys["columns"][pair.name],
        }
    figures |= {name: value for name, value in keys.items() if name != "columns"} | done["combinations"]
    figures |= _weighted_changes(by_column)
    if figures.get("interval_disclosure") is not None:
        figures["dr"] = score.disclosure_risk(by_distance.percent, figures["interval_disclosure"])
        if figures["pil"] is not None:
            figures["score"] = score.score(figures["pil"], figures["dr"])
    return {
        **figures,
        **{one.name: done[f"measure {one.name}"] for one in MEASURES.values() if one.of},
        "dbrl": by_distance.percent,
        "by_column": {pair.name: by_column[pair.name] for pair in comparison.pairs},
    }


def _weighted_changes(by_column: Figures) -> Figures:
    """Return the changes of weighted estimates, averaged over the columns, whichever way they went."""
    names = ("weighted_mean_change", "weighted_total_change", "weighted_share_change")
    own = {name: [column[name] for column in by_column.values() if column.get(name) is not None] for name in names}
    return {name: mean_of(np.abs(values)) for name, values in own.items() if values}


def split(pairs: Sequence[Pair]) -> tuple[list[NumericPair], list[CategoryPair]]:
    """Return the columns of numbers and those of categories."""
    return [p for p in pairs if isinstance(p, NumericPair)], [p for p in pairs if isinstance(p, CategoryPair)]


def mean_of(values: Sequence[float] | Floats) -> float | None:
    """Mean of the figures that there are; None where there are none, or where it is not finite."""
    present = np.asarray(values, dtype=np.float64)
    present = present[~np.isnan(present)]
    return _or_none(float(present.mean())) if len(present) else None


def _rows(matrix: Floats) -> list[list[float | None]]:
    return [[_or_none(value) for value in row] for row in matrix.tolist()]


def _or_none(value: float) -> float | None:
    return value if np.isfinite(value) else None
