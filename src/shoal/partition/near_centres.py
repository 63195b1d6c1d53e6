"""The nearest of many centres, for records of any kind; of several the first.

Cost: O(d c) a record for c centres, less over the index of many centres, with the same answers.
"""

from __future__ import annotations

import numpy as np

from shoal.columns.mixed import Mixed
from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.box_search import nearest_in
from shoal.kernels.box_tree import BoxTree, open_boxes, worth_boxes
from shoal.kernels.compiling import kernel
from shoal.kernels.mixed import Metric, distance


def nearest_centres(records: Mixed, metric: Metric, chosen: Ints, centres: Floats) -> Ints:
    """Return the nearest of the centres (c, d) to each of some distinct records (r,), of several the first."""
    tree = None
    if worth_boxes(len(centres)) and len(chosen) > len(centres) // 8:  # fewer are found before the tree is built
        tree = open_boxes(centres, metric, records.keys, centres=True)
    return _nearest(records.values, metric, chosen, centres, tree)


@kernel
def _nearest(values: Floats, metric: Metric, chosen: Ints, centres: Floats, tree: BoxTree | None) -> Ints:
    """Nearest centres (r,)."""
    nearest = np.zeros(len(chosen), np.int64)
    found, off, numbers = np.empty(1, np.int64), np.empty(1), np.arange(len(centres))
    for t in range(len(chosen)):
        if tree is not None:
            nearest_in(tree, values[chosen[t]], numbers, -1, found, off)
            nearest[t] = found[0]
            continue
        least = np.inf
        for g in range(len(centres)):
            there = distance(values[chosen[t]], centres[g], metric)
            if there < least:
                nearest[t], least = g, there
    return nearest
