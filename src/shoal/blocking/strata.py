"""Strata: blocks that the user declares. Records of different strata never share a group."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.columns.scaling import Records
from shoal.errors import DataError, counted
from shoal.kernels.arrays import Ints
from shoal.kernels.group_sums import group_sums

_NAMED = 5  # small strata that an error names: enough to find them, not a list of the column


def check_strata(codes: Ints, labels: Sequence[str], k: int) -> None:
    """Refuse strata of fewer than k records, naming them all."""
    sizes = np.bincount(codes, minlength=len(labels))
    small = np.flatnonzero(sizes < k)
    if len(small) == 0:
        return
    named = [f"'{labels[code]}' ({counted(int(sizes[code]), 'record')})" for code in small[:_NAMED].tolist()]
    more = f" and {len(small) - _NAMED} more" if len(small) > _NAMED else ""
    raise DataError(
        f"{'1 stratum' if len(small) == 1 else f'{len(small)} strata'} of {len(labels)} with fewer "
        f"than k = {k} records: {', '.join(named)}{more}; drop or recode them, or ask for small strata to be merged "
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
