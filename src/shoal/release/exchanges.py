"""Groups whose records have changed places so that rules cost less: what a set and its repairs are, as points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from shoal.aggregate.sets import ProtectedSet
from shoal.columns.numbers import Column
from shoal.columns.quasi_identifiers import QuasiIdentifiers
from shoal.kernels.arrays import Flags, Floats, Ints, Numbers
from shoal.kernels.numbering import number_keys
from shoal.kernels.representatives import group_rows
from shoal.rules.exchanging import Bound, exchange_records


def exchanged_groups(
    given: ProtectedSet,
    kept: ProtectedSet,
    shown: QuasiIdentifiers,
    *,
    apart: Ints,
    bound: Sequence[tuple[Flags, Sequence[str]]],
    column_weights: Mapping[str, float],
) -> Ints | None:
    """Return groups that may lose less once rules are kept; None where records do not change places.

    Parameters
    ----------
    given, kept : ProtectedSet
        What the groups release before rules are kept, and after.
    shown : QuasiIdentifiers
        The set with the cells that are shown: groups in which one is missing stay as they are.
    apart : int64 (n,)
        What is never mixed.
    bound : list of (bool (n,), list of str)
        Records that satisfy each antecedent of broken rules, and the columns of these.
    column_weights : dict
        How much columns count in the loss.
    """
    if shown.mixed:
        return None  # the squares of distances between categories are not those of points
    grouping = group_rows(kept.groups)
    first = grouping.order[grouping.starts[:-1]]
    pairs = list(zip(given.released, kept.released, strict=True))
    changed = np.column_stack([was.values[first] != now.values[first] for was, now in pairs])
    missing = np.column_stack([~column.observed for column in shown.columns])
    # columns that were suppressed to keep a rule are missing, too
    missing |= np.column_stack([~now.observed for _, now in pairs])
    points = _points(kept.quasi, [column.values for column in kept.quasi.columns], column_weights)
    released = _points(kept.quasi, [now.values[first] for _, now in pairs], column_weights)
    asking = [Bound(flags, np.isin(kept.quasi.names, names)) for flags, names in bound]
    found = exchange_records(
        points,
        kept.groups,
        apart=apart,
        released=released,
        changed=changed,
        bound=asking,
        fixed=np.asarray(missing.any(axis=1)),
    )
    return None if np.array_equal(found, kept.groups) else number_keys(found)[0]


def _points(quasi: QuasiIdentifiers, values: Sequence[Numbers], column_weights: Mapping[str, float]) -> Floats:
    """Return values of the columns of a set side by side (m, d), in units of the information loss."""
    columns = []
    for column, scale, own in zip(quasi.columns, quasi.scales, values, strict=True):
        assert isinstance(column, Column)
        assert scale is not None
        unit = np.sqrt(column_weights.get(column.name, 1.0)) / (scale.deviation or 1.0)
        columns.append(unit * scale.apply(own))
    return np.column_stack(columns)
