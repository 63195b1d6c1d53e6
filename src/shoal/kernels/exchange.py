"""Records move to near groups or change places with their members while that lowers the sum of squares.

A record moves where its own group keeps at least k and the other stays below 2k; changing places leaves the sizes as
they are. Of all that a record can do, it does what lowers the sum of squares most. x leaving a group of size m with
centroid c saves m / (m - 1) |x - c|^2, joining costs m / (m + 1) |x - c|^2.

Cost: O(n k d) to look at all records once, for the few near groups of each.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.arrays import Flags, Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.neighbours import nearest_of_all

_NEAR = 16  # groups that each group looks at


def nearest_groups(sums: Floats, sizes: Floats, threads: int) -> Ints:
    """Return for each group those with the nearest centroids, itself among them."""
    return nearest_of_all(np.ascontiguousarray(sums / sizes[:, None]), _NEAR + 1, threads)


@kernel
def exchange(
    values: Floats,
    groups: Ints,
    order: Ints,
    starts: Ints,
    sums: Floats,
    sizes: Floats,
    at_face: Flags,
    near: Ints,
    k: int,
) -> float:
    """Look at all records once; returns by how much the sum of squares fell.

    ``order`` and ``starts`` are the rows sorted by group, ``near`` (groups, m) the near groups of each; of any two
    groups, one must be ``at_face`` (groups,). ``groups`` (n,), ``sums`` (groups, d) and ``sizes`` are kept up.
    """
    gained = 0.0
    d = values.shape[1]
    for row in range(len(groups)):
        a = groups[row]
        best, best_group, best_row = 1e-12, -1, -1
        for b in near[a]:
            if b == a or not (at_face[a] or at_face[b]):
                continue
            if sizes[a] > k and sizes[b] < 2 * k - 1:
                away, towards = 0.0, 0.0
                for j in range(d):
                    away += (values[row, j] - sums[a, j] / sizes[a]) ** 2
                    towards += (values[row, j] - sums[b, j] / sizes[b]) ** 2
                saved = away * sizes[a] / (sizes[a] - 1.0) - towards * sizes[b] / (sizes[b] + 1.0)
                if saved > best:
                    best, best_group, best_row = saved, b, -1
            for place in range(starts[b], starts[b + 1]):
                other = order[place]
                if groups[other] != b:
                    continue
                # the sums change by v and -v: the sum of squares by what |sum|^2 / size changes
                va, vb, vv = 0.0, 0.0, 0.0
                for j in range(d):
                    v = values[other, j] - values[row, j]
                    va += sums[a, j] * v
                    vb += sums[b, j] * v
                    vv += v * v
                saved = (2.0 * va + vv) / sizes[a] + (vv - 2.0 * vb) / sizes[b]
                if saved > best:
                    best, best_group, best_row = saved, b, other
        if best_group < 0:
            continue
        gained += best
        for j in range(d):
            v = values[row, j] - (values[best_row, j] if best_row >= 0 else 0.0)
            sums[a, j] -= v
            sums[best_group, j] += v
        groups[row] = best_group
        if best_row >= 0:
            groups[best_row] = a
        else:
            sizes[a] -= 1.0
            sizes[best_group] += 1.0
    return gained
