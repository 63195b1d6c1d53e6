"""The block step: strata cut into blocks, and groups repaired across the faces between blocks.

Strata are the user's blocks; ``BLOCKINGS`` are cut by the data, for size: all take the scaled values of the
blocking columns, k, and the most records that a block may have.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from shoal.blocking.categories import category_of, cut_categories, line_ends, places_on_line
from shoal.blocking.counting import Cut, Over
from shoal.blocking.repair import repair_boundaries
from shoal.blocking.size import block_size
from shoal.blocking.spread_cells import grow_spread_tree
from shoal.blocking.spread_tree import spread_tree
from shoal.blocking.two_d_tree import grow_tree, two_d_tree
from shoal.blocking.univariate import cut_intervals, equal_counts, equal_intervals, fixed_counts
from shoal.columns.categories import Category
from shoal.columns.quasi_identifiers import QuasiIdentifiers
from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.disjoint_sets import join, root_of
from shoal.plan.blocking import BY_CATEGORY, Blocking

BLOCKINGS: dict[str, Callable[[Floats, int, int], Ints]] = {
    "2d-tree": two_d_tree,
    "equal-counts": equal_counts,
    "fixed-counts": fixed_counts,
    "spread-tree": spread_tree,
    "univariate": equal_intervals,
}
COUNTED: dict[str, Callable[[Over, int, int, int], Cut]] = {"2d-tree": grow_tree, "univariate": cut_intervals}
"""Those that follow from counts: the others see all records at once."""
IN_PASSES: dict[str, Callable[[Over, int, int, int], Cut]] = {**COUNTED, "spread-tree": grow_spread_tree}
"""Those that an engine cuts in passes, beside blocks of categories; the spread tree is that of cells."""
ONE_COLUMN = ("equal-counts", "fixed-counts", "univariate")  # those that use a single column


def rows_of_blocks(codes: Ints) -> list[Ints]:
    """Return the rows of each block, blocks by first appearance, rows in their order.

    >>> [rows.tolist() for rows in rows_of_blocks(np.array([7, 2, 7]))]
    [[0, 2], [1]]
    """
    order = np.argsort(codes, kind="stable")
    cuts = np.flatnonzero(np.diff(codes[order])) + 1
    return sorted(np.split(order, cuts), key=lambda rows: int(rows[0]))


@kernel
def joined_by_groups(codes: Ints, groups: Ints) -> Ints:
    """Return blocks (n,) that no group crosses: those with records of one group are one.

    >>> joined_by_groups(np.array([0, 0, 1, 2]), np.array([0, 1, 1, 2])).tolist()
    [0, 0, 0, 2]
    """
    blocks = codes.max() + 1
    home = np.arange(blocks + groups.max() + 1)
    for row in range(len(codes)):
        join(home, codes[row], blocks + groups[row])
    joined = np.empty_like(codes)
    for row in range(len(codes)):
        joined[row] = root_of(home, codes[row])
    return joined


def cut_blocks(quasi: QuasiIdentifiers, strata: Ints, k: int, cut: Blocking | None) -> Ints:
    """Return the number of each record's block for a set of quasi-identifiers: strata, cut where asked for.

    Columns are scaled over the whole table, not stratum by stratum, so that blocks can be compared.
    """
    if cut is None:
        return strata
    values = blocking_values(quasi, cut)
    roots = np.unique(strata, return_inverse=True)[1]
    size = largest_block(cut, len(strata), len(quasi) + quasi.incomplete, k)
    if cut.method == BY_CATEGORY or cut.method in COUNTED:
        way = COUNTED.get(cut.method) or way_in_passes(quasi, cut)
        return way(lambda part: part(values, roots), int(roots.max()) + 1, k, size).blocks(values, roots)
    blocks = np.empty(len(strata), dtype=np.int64)
    first = 0
    for rows in rows_of_blocks(strata):
        part = np.zeros(len(rows), dtype=np.int64)
        if len(rows) > size:
            part = BLOCKINGS[cut.method](np.ascontiguousarray(values[rows]), k, size)
        blocks[rows] = part + first
        first += int(part.max()) + 1
    return blocks


def way_in_passes(quasi: QuasiIdentifiers, cut: Blocking) -> Callable[[Over, int, int, int], Cut]:
    """Return how blocks are cut in passes over the records."""
    if cut.method == BY_CATEGORY:
        return partial(cut_categories, ends=line_ends(_category(quasi, cut)))
    return IN_PASSES[cut.method]


def blocking_columns(quasi: QuasiIdentifiers, cut: Blocking) -> QuasiIdentifiers:
    """Return the columns by which blocks are cut."""
    if cut.method == BY_CATEGORY:
        return quasi.only([_category(quasi, cut).name])
    numbers = quasi.numbers()
    return numbers.only(cut.columns) if cut.columns else numbers


def _category(quasi: QuasiIdentifiers, cut: Blocking) -> Category:
    """Return the column that blocks of categories are cut by."""
    own = [column for column in quasi.columns if isinstance(column, Category)]
    return category_of([column for column in own if column.name in cut.columns] or own)


def blocking_values(quasi: QuasiIdentifiers, cut: Blocking) -> Floats:
    """Return the scaled values (n, d) of the columns by which blocks are cut; of categories their places on a line."""
    if cut.method == BY_CATEGORY:
        return places_on_line(_category(quasi, cut))
    numbers = quasi.numbers()
    chosen = numbers.only(cut.columns) if cut.columns else numbers
    return (chosen.only(chosen.names[:1]) if cut.method in ONE_COLUMN else chosen).scaled().values


def largest_block(cut: Blocking, records: int, columns: int, k: int) -> int:
    """Return how many records a block may have, as asked for or chosen for so many records and columns."""
    return block_size(records, columns, k) if cut.size == "auto" else cut.size


def repair_groups(quasi: QuasiIdentifiers, strata: Ints, blocks: Ints, groups: Ints, k: int, threads: int) -> Ints:
    """Return the groups after records near a face between blocks could join one across it, inside their stratum."""
    values = quasi.points().values
    repaired = groups.copy()
    for rows in rows_of_blocks(strata):
        own, labels = np.unique(groups[rows], return_inverse=True)
        repaired[rows] = own[repair_boundaries(values[rows], labels, blocks[rows], k, threads)]
    return repaired
