"""Differential privacy through microaggregation, which is experimental: noisy means of groups by an insensitive order.

Each set of quasi-identifiers is moved to whole numbers between its bounds, put in an order that does not depend on the
table, and cut into groups of k (:mod:`shoal.partition.insensitive`). The sum of each column over each group gets noise
of the discrete Laplace distribution, calibrated to what one record can change, and the mean that follows from it is cut
to the bounds. What is released is the means, each as often as its group has records, in an order that is drawn at
random for each set: which record was in which group is a value of the table that has no noise, so rows of the release
belong to nobody, and columns of different sets do not belong together.

Everything after the noise is made of noisy sums, of what the plan says, and of the number of records.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

from shoal.aggregate.discrete_laplace import Below, discrete_laplace
from shoal.errors import DataError, PlanError, counted, listed
from shoal.kernels.arrays import Floats, Ints
from shoal.partition.insensitive import insensitive_groups, means_in_order, sensitivity, sums_of_groups
from shoal.plan.automatic import is_auto
from shoal.plan.files_read import Inputs
from shoal.plan.plan import Plan, column_mistakes
from shoal.plan.privacy import DifferentialPrivacy, not_with_privacy, refusal
from shoal.plan.roles import Kind
from shoal.release.private_release import PrivateColumn, PrivateRelease, PrivateSummary, check_private_output
from shoal.tables.reading import read
from shoal.tables.table import Table

STEPS = 2**30  # of the grid between the bounds of a column, on which noise is drawn
_NAMED = "quasi_identifiers: name them for differential_privacy, since what is found depends on the table"
_DIGITS = 7  # digits of the range of a column that are released of fractions


@dataclass(frozen=True)
class _Set:
    """Noisy means of the columns of a set, a row for each record, and how they were made."""

    values: Floats
    sizes: Ints
    scales: list[float]


def run_privately(
    data: Any,
    settings: Mapping[str, Any],
    inputs: Inputs,
    all_numeric: bool,
    files: tuple[str | Path | None, str | Path | None, str | Path | None, str | Path | None, bool],
) -> PrivateRelease:
    """Read a table and make a release of it, after a look at the ``files`` that are to be written.

    These are the release, a report, a certificate and a manifest, and whether files are replaced.
    """
    output, report, certificate, manifest, overwrite = files
    if all_numeric:
        raise PlanError(_NAMED)
    if report is not None or certificate is not None:
        raise PlanError(refusal("reports and certificates"))
    if output is not None:
        check_private_output(output, manifest, inputs, overwrite)
    release = protect_privately(settings, read(data, settings)[1], inputs)
    if output is not None:
        release.write(output, manifest=manifest, overwrite=overwrite)
    return release


def protect_privately(settings: Mapping[str, Any], table: Table, inputs: Inputs = ()) -> PrivateRelease:
    """Return a release of noisy means that is differentially private; raises where that cannot be promised."""
    mistakes = column_mistakes(settings, table.names)
    if is_auto(settings.get("quasi_identifiers")):
        mistakes.append(_NAMED)
    if settings.get("seed") is not None:  # also that of a default, which would be recorded
        mistakes.append(not_with_privacy("seed"))
    if mistakes:
        raise PlanError(mistakes)
    plan = Plan(**settings)
    asked = plan.differential_privacy
    assert asked is not None
    _check_kept(plan, table)
    if len(table) < plan.k:
        raise DataError(f"the table has {counted(len(table), 'record')}, fewer than k = {plan.k}; choose a smaller k")
    names = [name for part in plan.quasi_identifiers for name in part]
    units = {name: _units(table, name, asked) for name in names}
    each = asked.of_each(len(names))
    data: dict[str, Any] = {}
    columns: dict[str, PrivateColumn] = {}
    sizes: list[Ints] = []
    for part in plan.quasi_identifiers:
        bounds = [asked.bounds[name] for name in part]
        made = noisy_means(np.column_stack([units[name] for name in part]), bounds, plan.k, each)
        order = _shuffled(len(table))
        sizes.append(made.sizes)
        for j, name in enumerate(part):
            own = made.values[order, j]
            whole = table.frame[name].dtype.is_integer()
            data[name] = np.rint(own).astype(np.int64) if whole else own
            columns[name] = PrivateColumn(bounds[j], str(each), made.scales[j])
    names_in_order = [name for name in table.names if name in data]
    return PrivateRelease(
        data=_like(table, {name: data[name] for name in names_in_order}),
        plan=plan,
        summary=PrivateSummary.of(plan, len(table), sizes, columns),
        inputs=inputs,
    )


def noisy_means(
    units: Ints, bounds: list[tuple[float, float]], k: int, epsilon: Fraction, below: Below = secrets.randbelow
) -> _Set:
    """Return noisy means of whole numbers (n, d) from 0 to ``STEPS``, a row for each record in the order of the groups.

    ``epsilon`` is that of each column.
    """
    groups = insensitive_groups(units, k, STEPS)
    sums = sums_of_groups(units, groups)
    sizes = np.bincount(groups)
    scale = Fraction(sensitivity(STEPS, *sums.shape)) / epsilon
    values = np.empty(sums.shape)
    for j, (low, high) in enumerate(bounds):
        noisy = [total + discrete_laplace(scale, below) for total in sums[:, j].tolist()]
        # from here on everything follows from noisy sums
        part = np.array([total / (size * STEPS) for total, size in zip(noisy, sizes.tolist(), strict=True)])
        if len(bounds) == 1:
            part = means_in_order(part, sizes)
        decimals = max(_DIGITS - 1 - int(np.floor(np.log10(high - low))), 0)
        values[:, j] = np.clip(np.round(low + (high - low) * np.clip(part, 0.0, 1.0), decimals), low, high)
    of_mean = [float(scale / STEPS) * (high - low) / k for low, high in bounds]
    return _Set(np.repeat(values, sizes, axis=0), sizes, of_mean)


def _check_kept(plan: Plan, table: Table) -> None:
    """Refuse columns that would be kept as they are."""
    said = {name for name, _ in plan.roles_named()}
    kept = [name for name in table.names if name not in said]
    if kept:
        raise PlanError(
            f"differential_privacy: {listed(kept)} would be kept without noise, which voids the guarantee; give bounds "
            "and make it a quasi-identifier, or remove it (identifiers, or --drop)"
        )


def _units(table: Table, name: str, asked: DifferentialPrivacy) -> Ints:
    """Return a column as whole numbers from 0 to ``STEPS`` between its bounds, each from its own record alone."""
    if table.kind(name) is not Kind.NUMERIC:
        raise DataError(
            f"differential_privacy: column '{name}' is {table.kind(name)}, and means with noise are of numbers; remove "
            "it (identifiers, or --drop)"
        )
    numbers, observed = table.numbers(name)
    values = np.asarray(numbers, dtype=np.float64)
    if not observed.all():
        if name not in asked.missing:
            raise DataError(
                f"differential_privacy: column '{name}' has missing values; say what they count as "
                f"(differential_privacy.missing, or --missing-as {name}=VALUE)"
            )
        values = np.where(observed, values, asked.missing[name])
    low, high = asked.bounds[name]
    inside = np.clip(values, low, high)
    return np.clip(np.rint((inside - low) / (high - low) * STEPS), 0, STEPS).astype(np.int64)


def _shuffled(records: int) -> Ints:
    """Return the rows in an order that has nothing to do with the table."""
    rows = list(range(records))
    secrets.SystemRandom().shuffle(rows)
    return np.array(rows, dtype=np.int64)


def _like(table: Table, columns: Mapping[str, Any]) -> Any:
    """Return columns as a table of the kind that went in, made anew: labels of rows are values of the table."""
    made: Any = nw.from_dict(dict(columns), backend=table.frame.implementation)
    return made.to_native()
