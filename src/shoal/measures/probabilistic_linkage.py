"""Probabilistic record linkage: the intruder weighs which columns agree, not how far apart they are.

Fellegi and Sunter 1969; Jaro 1989 for the estimation. Categories agree where they are equal, numbers where they lie
in the same tenth of the original's distribution; a missing value agrees with nothing. With m_j the chance that
column j agrees in two records of the same person, and u_j in two of different people, a pair weighs

    sum over the columns of  log2(m_j / u_j) where it agrees,  log2((1 - m_j) / (1 - u_j)) where it does not

and each original record is linked to the released one of the highest weight; ties share the link. u follows from
the shares of the values, m from the pairs by the EM algorithm, where a pair is of one person with chance 1 / n. As in
practice, columns are taken as independent.

All pairs of a sample of the original records with all released ones are looked at, so that the cost is linear: n
times the sample. Blocks reduce it further. At most 16 columns take part, those with the rarest agreement by chance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from shoal.kernels.agreement import Codes, count_patterns, link_by_patterns
from shoal.kernels.arrays import Floats, Ints
from shoal.measures.linkage import sample_rows
from shoal.measures.pairs import NumericPair, Pair
from shoal.measures.probabilistic_loss import sorted_quantiles

_COLUMNS = 16
_PAIRS = 2e8  # pairs of records that are looked at
_FEWEST = 500  # original records in a sample, at least
_BANDS = 10
_ROUNDS = 200


def probabilistic_linkage_task(
    pairs: Sequence[Pair], blocks: tuple[Ints, Ints] | None = None, seed: int = 0
) -> Callable[[Ints], Floats]:
    """Return a task that gives the chance of a right link for each record, or for each of a random sample.

    ``blocks`` is the block of each original and of each released record; only records of the same block are compared.
    """
    rows = len(pairs[0].original)
    both = [_codes(pair) for pair in pairs]
    chance = np.array([_agreement_by_chance(*codes) for codes in both])
    used = np.sort(np.argsort(chance, kind="stable")[:_COLUMNS])
    of_original, of_released = blocks or (np.zeros(rows, np.int64), np.zeros(rows, np.int64))
    by_block = np.argsort(of_released, kind="stable")
    place = np.empty(rows, dtype=np.int64)
    place[by_block] = np.arange(rows)
    widths = np.bincount(of_released, minlength=int(of_original.max()) + 1)
    starts = np.concatenate(([0], np.cumsum(widths)))
    looks = max(float(widths[of_original].mean()), 1.0)
    chosen = sample_rows(rows, max(int(_PAIRS / looks), _FEWEST), seed)
    asked = np.ascontiguousarray(np.column_stack([both[j][0][chosen] for j in used]), dtype=np.int32)
    codes = np.ascontiguousarray(np.vstack([both[j][1][by_block] for j in used]), dtype=np.int32)
    where = (starts, of_original[chosen], place[chosen])
    return partial(_link, asked, codes, where, chance[used])


def _link(asked: Codes, codes: Codes, where: tuple[Ints, Ints, Ints], u: Floats, watch: Ints) -> Floats:
    """Return the chance of a right link; ``where`` blocks start, the block of each asked, and its own place."""
    starts, blocks, own = where
    counts = count_patterns(asked, codes, starts, blocks, len(u))
    if not counts.any():
        return np.zeros(len(asked))
    weights = pattern_weights(estimate_m(counts, u, len(asked)), u)
    return np.asarray(link_by_patterns(asked, codes, starts, blocks, own, weights, watch))


def estimate_m(counts: Ints, u: Floats, matches: int) -> Floats:
    """Return the chance that each column agrees in a true pair, by EM on the counts of patterns (2^d,).

    ``matches`` is how many of the pairs are true.

    >>> counts = np.array([81 * 99, 9 * 99 + 2, 9 * 99 + 3, 99 + 45])  # 50 true pairs among 9950
    >>> estimate_m(counts, np.array([0.1, 0.1]), 50).round(1)
    array([0.9, 1. ])
    """
    agrees = _bits(len(u))
    present = counts > 0
    counts, agrees = counts[present], agrees[present]
    prior = min(matches / counts.sum(), 0.5)
    m = np.full(len(u), 0.9)
    others = np.exp(_log_chances(agrees, u))
    for _ in range(_ROUNDS):
        true = np.exp(_log_chances(agrees, m))
        share = prior * true / (prior * true + (1.0 - prior) * others)
        expected = share * counts
        new = np.clip((expected @ agrees) / expected.sum(), 1e-4, 1.0 - 1e-4)
        if np.abs(new - m).max() < 1e-8:
            break
        m = new
    return m


def pattern_weights(m: Floats, u: Floats) -> Floats:
    """Return the weight of each pattern (2^d,) in bits."""
    agrees = _bits(len(u))
    weights = (_log_chances(agrees, m) - _log_chances(agrees, u)) / np.log(2.0)
    # patterns of equal weight must tie, whatever the order of their sums
    return np.asarray(np.round(weights, 9))


def _bits(d: int) -> Floats:
    return ((np.arange(1 << d)[:, None] >> np.arange(d)) & 1).astype(np.float64)


def _log_chances(agrees: Floats, chance: Floats) -> Floats:
    return np.asarray(agrees @ np.log(chance) + (1.0 - agrees) @ np.log1p(-chance))


def _agreement_by_chance(original: Ints, released: Ints) -> float:
    """Return the chance that a column agrees in two records taken at random."""
    size = int(max(original.max(), released.max(), 0)) + 1
    p, q = (np.bincount(codes[codes >= 0], minlength=size) / len(codes) for codes in (original, released))
    return float(np.clip(p @ q, 1e-6, 1.0 - 1e-6))


def _codes(pair: Pair) -> tuple[Ints, Ints]:
    """Return the codes that are compared: categories, or tenths of the original's numbers."""
    if not isinstance(pair, NumericPair):
        return pair.original, pair.released
    known = np.sort(pair.original[pair.there])
    if not len(known):
        return np.full(len(pair.there), -1), np.full(len(pair.there), -1)
    cuts = np.unique(sorted_quantiles(known, np.arange(1, _BANDS) / _BANDS))
    return (
        np.where(pair.there, np.searchsorted(cuts, pair.original), -1),
        np.where(pair.kept, np.searchsorted(cuts, pair.released), -1),
    )
