"""Models of anonymity: what a release keeps, whoever made it.

Groups are the records that share a key. k-anonymity (Samarati 2001): the size of the smallest group. l-diversity
(Machanavajjhala et al. 2007), of a confidential column: distinct, the fewest values of a group; entropy, the
smallest exp(entropy) of a group; recursive, the c above which (c, l) holds, for l the distinct one: the largest
r_1 / (r_l + ... + r_m) over the groups, r_i being the counts of the values of a group, largest first. Alpha
(Wong et al. 2006): the largest share of one value in a group. t-closeness (Li, Li and Venkatasubramanian 2007): the
largest distance from the distribution of a group to that of the table, by the earth mover's distance: half the sum of
absolute differences for categories, and for numbers the mean absolute difference of the distribution functions over
the m - 1 steps between the m values of the column. A missing value is a category of its own; missing numbers
are left out of t-closeness. O(n log n) a column.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shoal.kernels.arrays import Flags, Floats, Ints
from shoal.kernels.diversity import count_values, ordered_distances
from shoal.measures.keys import Keys, common_keys

if TYPE_CHECKING:
    from shoal.measures.comparison import Comparison


@dataclass(frozen=True)
class Diversity:
    """l-diversity and alpha of one confidential column.

    Attributes
    ----------
    distinct : int
        Fewest values of a group.
    entropy : float
        Smallest exponential of the entropy of a group: the number of equally likely values it is worth.
    recursive_c : float
        Recursive (c, l)-diversity with l = ``distinct`` holds for every c above this.
    alpha : float
        Largest share of one value in a group.
    """

    distinct: int
    entropy: float
    recursive_c: float
    alpha: float


def diversity(keys: Keys, codes: Ints) -> Diversity:
    """Return l-diversity and alpha of a column of codes.

    >>> from shoal.measures.keys import number_keys
    >>> keys = number_keys([np.array([1.0, 1.0, 1.0, 2.0, 2.0])])
    >>> diversity(keys, np.array([0, 0, 1, 0, 1]))
    Diversity(distinct=2, entropy=1.8898..., recursive_c=2.0, alpha=0.6666...)
    """
    order = np.lexsort((codes, keys.of))
    groups, counts = count_values(keys.of[order], codes[order])
    distinct = np.bincount(groups)
    share = counts / keys.sizes[groups]
    entropy = -np.bincount(groups, weights=share * np.log(share))
    least = int(distinct.min())
    return Diversity(
        distinct=least,
        entropy=float(np.exp(entropy.min())),
        recursive_c=_recursive(groups, counts, distinct, least),
        alpha=float(share.max()),
    )


def recursive_factor(keys: Keys, codes: Ints, l: int) -> float:  # noqa: E741 - the name of the model
    """Return the c above which recursive (c, l)-diversity holds; infinite where a group has fewer than l values.

    >>> from shoal.measures.keys import number_keys
    >>> recursive_factor(number_keys([np.zeros(5)]), np.array([0, 0, 1, 2, 2]), 2)
    0.666...
    """
    order = np.lexsort((codes, keys.of))
    groups, counts = count_values(keys.of[order], codes[order])
    distinct = np.bincount(groups)
    return float("inf") if distinct.min() < l else _recursive(groups, counts, distinct, l)


def _recursive(groups: Ints, counts: Ints, distinct: Ints, l: int) -> float:  # noqa: E741 - the name of the model
    """Return the largest r_1 / (r_l + ... + r_m) over the groups."""
    by_count = np.lexsort((-counts, groups))
    ordered = counts[by_count]
    starts = np.concatenate(([0], np.cumsum(distinct)[:-1]))
    tail = np.concatenate((np.cumsum(ordered[::-1])[::-1], [0]))  # of each place, all counts from there on
    return float((ordered[starts] / (tail[starts + l - 1] - tail[starts + distinct])).max())


def category_closeness(keys: Keys, codes: Ints, counts: Ints | None = None) -> float:
    """Return t of a column of codes: the largest distance from a group to the table.

    Where the records are a part of the table, ``counts`` (values,) says how many of the whole have each code.

    >>> from shoal.measures.keys import number_keys
    >>> category_closeness(number_keys([np.array([1.0, 1.0, 2.0, 2.0])]), np.array([0, 0, 1, 1]))
    0.5
    """
    overall = np.bincount(codes) / len(codes) if counts is None else counts / counts.sum()
    order = np.lexsort((codes, keys.of))
    groups, counts = count_values(keys.of[order], codes[order])
    first = np.concatenate(([True], groups[1:] != groups[:-1]))
    values = codes[order][np.cumsum(np.concatenate(([0], counts[:-1])))]
    share = counts / keys.sizes[groups]
    # the values that a group has not differ by their whole share
    differences = np.abs(share - overall[values]) - overall[values]
    return float(0.5 * (np.add.reduceat(differences, np.flatnonzero(first)) + 1.0).max())


def tree_closeness(keys: Keys, codes: Ints, counts: Ints, parent: Ints, length: Floats) -> float:
    """Return t of a column of codes whose distances are ways in a tree; ``counts`` (values,) are those of the table.

    The first nodes of the tree are the codes; ``parent`` (nodes,) is -1 at the top, and ``length`` (nodes,) that of the
    way up from each node. The distance of a group is the sum over the nodes of their lengths times how far the shares
    below them differ from those of the table.

    >>> from shoal.measures.keys import number_keys
    >>> flat = np.full(2, -1), np.full(2, 0.5)
    >>> keys = number_keys([np.array([1.0, 1.0, 2.0, 2.0])])
    >>> tree_closeness(keys, np.array([0, 0, 1, 1]), np.array([2, 2]), *flat)
    0.5
    """
    passed, own = _up(codes, keys.of, parent)
    every, records = _up(np.arange(len(counts)), counts, parent)
    shares = np.bincount(every, records, minlength=len(parent)) / counts.sum()
    pairs, many = np.unique(own * len(parent) + passed, return_counts=True)
    group, node = pairs // len(parent), pairs % len(parent)
    # what is below a node and not in a group differs by its whole share
    differs = length[node] * (np.abs(many / keys.sizes[group] - shares[node]) - shares[node])
    return float((np.bincount(group, differs) + (length * shares).sum()).max())


def _up(nodes: Ints, own: Ints, parent: Ints) -> tuple[Ints, Ints]:
    """Return all nodes on the ways up from some, each with what belongs to the one that it was reached from."""
    passed, carried = [nodes], [own]
    while len(above := parent[passed[-1]]) and (above >= 0).any():
        passed.append(above[above >= 0])
        carried.append(carried[-1][above >= 0])
    return np.concatenate(passed), np.concatenate(carried)


def number_closeness(keys: Keys, values: Floats, seen: Flags) -> float:
    """Return t of a column of numbers; 0 where it has fewer than two values.

    >>> from shoal.measures.keys import number_keys
    >>> keys = number_keys([np.array([1.0, 1.0, 2.0, 2.0])])
    >>> number_closeness(keys, np.array([3.0, 4.0, 5.0, 6.0]), np.ones(4, dtype=bool))
    0.333...
    """
    present, found = np.unique(values[seen], return_inverse=True)
    codes = np.full(len(values), len(present), dtype=np.int64)
    codes[seen] = found.reshape(-1)
    return ordered_closeness(keys, codes, np.bincount(found.reshape(-1), minlength=len(present)))


def ordered_closeness(keys: Keys, codes: Ints, counts: Ints) -> float:
    """Return t of a column of codes in an order, of which ``counts`` (values,) of the table have each.

    Codes beyond these are of missing values, which are left out.

    >>> from shoal.measures.keys import number_keys
    >>> ordered_closeness(number_keys([np.array([1.0, 1.0])]), np.array([0, 1]), np.array([1, 1, 1, 1]))
    0.333...
    """
    seen = codes < len(counts)
    if len(counts) < 2 or not seen.any():
        return 0.0
    below = np.cumsum(counts) / counts.sum()
    own, there = keys.of[seen], codes[seen]
    order = np.lexsort((there, own))
    return float(ordered_distances(own[order], there[order], below).max())


def delta_presence(comparison: Comparison) -> list[float] | None:
    """Return the two ends of delta-presence; None where there is no population."""
    return list(presence(*common_keys(comparison.population))) if comparison.population else None


def presence(population: Ints, released: Ints) -> tuple[float, float]:
    """Return the smallest and largest share of the people with a key that are in the release.

    delta-presence (Nergiz, Atzori and Clifton 2007) holds for every interval round the two. Keys are numbered alike in
    the population and the release; released keys that nobody of the population has are left out.

    >>> presence(np.array([0, 0, 1]), np.array([0]))
    (0.0, 0.5)
    """
    size = int(max(population.max(), released.max())) + 1
    people, there = (np.bincount(keys, minlength=size) for keys in (population, released))
    share = there[people > 0] / people[people > 0]
    return float(share.min()), float(share.max())
