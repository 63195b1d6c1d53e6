"""Strata: blocks that the user declares. Records of different strata never share a group."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.columns.mixed import Mixed
from shoal.columns.scaling import Records
from shoal.errors import DataError, counted
from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.group_sums import group_sums
from shoal.kernels.mixed import Metric, add_sums, centre_of, distance
from shoal.kernels.numbering import number_keys

_NAMED = 5  # small strata that an error names: enough to find them, not a list of the column


def check_strata(
    codes: Ints,
    labels: Sequence[str],
    k: int,
    person: Ints | None = None,
    called: str = "records",
    kind: str = "person",
) -> None:
    """Refuse strata of fewer than k records, or persons (n,) with what they are called, naming some."""
    counts, one = codes, "record"
    if person is not None:
        _, first, _ = number_keys(codes * (int(person.max(initial=0)) + 1) + person)
        counts, one = codes[first], kind
    check_sizes(np.bincount(counts, minlength=len(labels)), labels, k, one, called)


def check_sizes(sizes: Ints, labels: Sequence[str], k: int, one: str = "record", called: str = "records") -> None:
    """Refuse strata of fewer than k records, or what else is counted, naming some."""
    small = np.flatnonzero(sizes < k)
    if len(small) == 0:
        return
    named = [f"'{labels[code]}' ({counted(int(sizes[code]), one)})" for code in small[:_NAMED].tolist()]
    more = f" and {len(small) - _NAMED} more" if len(small) > _NAMED else ""
    raise DataError(
        f"{counted(len(small), 'stratum', 'strata')} of {len(labels)} with fewer "
        f"than k = {k} {called}: {', '.join(named)}{more}; drop or recode them, or ask for small strata to be merged "
        "with their nearest (small_strata: merge, or --small-strata merge)"
    )


def merge_small_strata(codes: Ints, records: Records, k: int) -> Ints:
    """Merge each stratum of fewer than k records with the one whose centroid is nearest, smallest first.

    A missing value counts as the mean of its column. Returns new codes; ties go to the lowest code.
    """
    codes = codes.copy()
    count = int(codes.max()) + 1
    sums, sizes = group_sums(records.values, codes, count)
    while True:
        alive = np.flatnonzero(sizes > 0)
        small = alive[sizes[alive] < k]
        if len(small) == 0 or len(alive) == 1:
            return codes
        code = small[np.argmin(sizes[small])]
        others = alive[alive != code]
        gaps = sums[others] / sizes[others, None] - sums[code] / sizes[code]
        home = others[np.argmin((gaps**2).sum(axis=1))]
        codes[codes == code] = home
        sizes[home] += sizes[code]
        sums[home] += sums[code]
        sizes[code] = 0.0


def merge_small_mixed_strata(codes: Ints, records: Mixed, k: int) -> Ints:
    """Merge each stratum of fewer than k records with the one to whose centre its records are nearest, smallest first.

    Nearest in the mean of the distances over all columns, of any kind; a centre has the mean, mode or centroid of each.
    Returns new codes; ties go to the lowest code.
    """
    count, m = int(codes.max()) + 1, len(records.counts)
    pairs, many = np.unique(codes * m + records.record, return_counts=True)
    stratum, record, amount = pairs // m, pairs % m, many.astype(np.float64)
    sizes = np.bincount(codes, minlength=count)
    home_of = np.arange(count)
    while True:
        alive = np.flatnonzero(sizes > 0)
        small = alive[sizes[alive] < k]
        if len(small) == 0 or len(alive) == 1:
            return home_of[codes]
        code = small[np.argmin(sizes[small])]
        own = stratum == code
        others = alive[alive != code]
        places = np.full(count, -1)
        places[others] = np.arange(len(others))
        centres = centres_of(records, record, places[stratum], amount, len(others))
        off = _mean_distances(records.values, records.by_distance, record[own], amount[own], centres)
        home = others[np.argmin(off)]
        stratum[own] = home
        home_of[home_of == code] = home
        sizes[home] += sizes[code]
        sizes[code] = 0


def centres_of(records: Mixed, record: Ints, group: Ints, amount: Floats, groups: int) -> Floats:
    """Return the centres (groups, d) of so many (p,) of distinct records (p,) in groups (p,); -1 is none."""
    return _centres(records.values, records.by_distance, record, group, amount, groups)


@kernel
def _centres(
    values: Floats,
    metric: Metric,
    record: Ints,
    group: Ints,
    amount: Floats,
    groups: int,
) -> Floats:
    """Centres (groups, d) of so many (p,) of distinct records (p,) in groups (p,); -1 is none."""
    d = values.shape[1]
    sums, seen, centres = np.zeros((groups, metric.start[d])), np.zeros((groups, d)), np.empty((groups, d))
    for p in range(len(record)):
        if group[p] >= 0:
            add_sums(values[record[p]], amount[p], metric, sums[group[p]], seen[group[p]])
    for g in range(groups):
        centre_of(metric, sums[g], seen[g], centres[g])
    return centres


@kernel
def _mean_distances(
    values: Floats,
    metric: Metric,
    record: Ints,
    amount: Floats,
    centres: Floats,
) -> Floats:
    """Mean distance (groups,) of so many (p,) of distinct records (p,) from each of the centres (groups, d)."""
    off, total = np.zeros(len(centres)), amount.sum()
    for g in range(len(centres)):
        for p in range(len(record)):
            off[g] += amount[p] * distance(values[record[p]], centres[g], metric)
        off[g] /= total
    return off
