"""Check a certificate of shoal: that a partition costs what it says, and that none costs less than what it proves.

    python tools/check_certificate.py CERTIFICATE.json TABLE.csv [--delimiter ";"]

It shares no code with shoal, and believes nothing but the prices and multipliers. From the table it computes the scaled
columns, what the partition costs, and that all groups have at least k records and stay inside their blocks. Then it
looks for k records of a block that cost less than the sum of their prices. Where there are none, no larger group costs
less than its prices either: its subsets of k cost (k - 1) / (s - 1) of what it costs on the mean, and have k / s of its
prices. So no partition costs less than the sum of all prices.

There may be cuts, each a set S of records, a number "every" and a multiplier of at least 0. A group that holds m of the
records pays the multiplier floor(m / every) times. The groups of a partition hold |S| of them in all, so together they
pay it at most floor(|S| / every) times. Where no group costs less than its prices less what it pays, no partition costs
less than the sum of all prices less what is paid at most. A larger group that pays nothing has subsets of k that pay
nothing, and needs no look, as before; one that pays, of up to 2k - 1 records, holds two of a set S, and is looked for
from these. Groups of 2k and more are two groups, which cost less.

The arithmetic is that of whole numbers: squared distances and multipliers are rounded down, prices up, to multiples of
a unit, and sums of these are exact. Before, a distance is lowered by more than the rounding errors of its
floating-point sum.

A set of k is looked for from its member with the highest price. A candidate for the other q places has a key: what it
adds with the members so far, half of the distances to the q - 1 nearest candidates, and its share of each multiplier
that is due with one more record: of those that join, at most every "every"-th and at least the first makes it due. No
choice is below the sum of the q least keys, so a candidate with which that is not negative is dropped, and the keys are
made anew until none is. What is left is tried as a member, with its distances to the others in full. Then one candidate
is taken, and what is left is done in the same way, and after that it is dropped.

Ends with 0 where all is true, and with 1 and the reason otherwise.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import math
import sys
from pathlib import Path

import numba
import numpy as np

TOLERANCE = 1e-9  # part of a sum by which what the certificate says may differ from what is found here
ROUNDING = 1e-12  # more than the part of a sum of squares that its rounding errors are
FEW = 12  # records of a block up to which all partitions are looked at, and no prices are needed
BITS = 50  # of a distance; sums of those of a set of k have to fit into 63


class UntrueError(Exception):
    """Something in the certificate is not true."""


def main(arguments: list[str] | None = None) -> int:
    """Check the certificate that the command line names."""
    parser = argparse.ArgumentParser(description="Check a certificate of shoal against the table it is about.")
    parser.add_argument("certificate", type=Path)
    parser.add_argument("table", type=Path)
    parser.add_argument("--delimiter", default=",")
    given = parser.parse_args(arguments)
    try:
        certificate = json.loads(given.certificate.read_text(encoding="utf-8"))
        cost, proved, total = check(certificate, read_columns(given.table, certificate["columns"], given.delimiter))
    except UntrueError as error:
        print(f"NOT TRUE: {error}")
        return 1
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"NOT CHECKED: {type(error).__name__}: {error}")
        return 1
    percent, gap = 100.0 / total if total > 0.0 else 0.0, 100.0 * (1.0 - proved / cost) if cost > 0.0 else 0.0
    print(f"true: loses {percent * cost:.6f} %, no partition less than {percent * proved:.6f} %, gap {gap:.4f} %")
    return 0


def read_columns(path: Path, names: list[str], delimiter: str) -> np.ndarray:
    """Return the columns (n, d) of a table."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file, delimiter=delimiter))
    if not rows or any(name not in rows[0] for name in names):
        raise UntrueError("the table does not have the columns of the certificate")
    return np.array([[float(row[name]) for name in names] for row in rows])


def check(certificate: dict, columns: np.ndarray) -> tuple[float, float, float]:
    """Return what the partition costs, what none is below, and the total; an error where anything is not true."""
    k, n = int(certificate["k"]), len(columns)
    groups, blocks = np.asarray(certificate["groups"]), np.asarray(certificate["blocks"])
    prices = np.asarray(certificate["prices"], dtype=np.float64)
    if not len(groups) == len(blocks) == len(prices) == n:
        raise UntrueError(f"it is about {len(groups)} records, and the table has {n}")
    if not np.isfinite(prices).all() or k < 2:
        raise UntrueError("prices have to be finite, and k at least 2")
    values = scaled(columns, certificate["scaling"])
    total = math.fsum((values**2).ravel())
    cost = math.fsum(squares(values[groups == group]) for group in np.unique(groups))
    if np.unique(groups, return_counts=True)[1].min() < k:
        raise UntrueError(f"a group has fewer than {k} records")
    if len({(g, b) for g, b in zip(groups.tolist(), blocks.tolist(), strict=True)}) > len(np.unique(groups)):
        raise UntrueError("a group crosses blocks")
    proved, cuts = 0.0, certificate.get("cuts", [])
    for cut in cuts:
        if len({int(blocks[row]) for row in cut["records"]}) != 1 or len(set(cut["records"])) < len(cut["records"]):
            raise UntrueError("a cut is a set of records of one block")
        if cut["every"] < 2 or not 0.0 <= cut["multiplier"] < math.inf:
            raise UntrueError("a cut counts every two records or more, and its multiplier is at least 0")
    for block in np.unique(blocks):
        rows = np.flatnonzero(blocks == block)
        place = {int(row): i for i, row in enumerate(rows)}
        own = [
            ([place[row] for row in cut["records"]], int(cut["every"]), float(cut["multiplier"]))
            for cut in cuts
            if cut["records"][0] in place
        ]
        proved += least_of_block(values[rows], prices[rows], k, own)
    for name, said, found in (
        ("the cost of the partition", certificate["cost"], cost),
        ("the total", certificate["total"], total),
    ):
        if abs(said - found) > TOLERANCE * found:
            raise UntrueError(f"{name} is {found!r}, and it says {said!r}")
    if certificate["proved"] > proved + TOLERANCE * cost:
        raise UntrueError(f"its prices prove {proved!r}, and it says {certificate['proved']!r}")
    if proved > cost * (1.0 + TOLERANCE):
        raise UntrueError("what is proved is above the cost of the partition")
    return cost, proved, total


def scaled(columns: np.ndarray, scaling: str) -> np.ndarray:
    """Return the columns about their means, over their standard deviation or their range."""
    out = np.zeros_like(columns)
    for j in range(columns.shape[1]):
        x = columns[:, j] - columns[0, j]
        x = x - math.fsum(x) / len(x)
        spread = {
            "z-score": math.sqrt(math.fsum(x**2) / len(x)),
            "range": float(x.max() - x.min()),
            "robust": float(np.subtract(*np.quantile(x, [0.75, 0.25]))),
            "none": 1.0,
        }.get(scaling)
        if spread is None:
            raise UntrueError(f"columns scaled by '{scaling}' cannot be checked here")
        if x.max() > x.min():
            out[:, j] = x / spread
    return out


def squares(x: np.ndarray) -> float:
    """Return the sum of squares about the mean."""
    return math.fsum(((x - x.mean(axis=0)) ** 2).ravel())


def least_of_block(
    values: np.ndarray, prices: np.ndarray, k: int, cuts: list[tuple[list[int], int, float]] | None = None
) -> float:
    """Return what no partition of a block costs less than, rounded down; cuts are records, every, multiplier."""
    n, d = values.shape
    if n < 2 * k:
        return squares(values) * (1.0 - ROUNDING)
    if d == 1:
        return along_a_line(np.sort(values[:, 0]), k) * (1.0 - ROUNDING)
    if n <= FEW:
        return of_a_few(values, k, tuple(range(n)), {}) * (1.0 - ROUNDING)
    if prices.max() <= 0.0:
        return 0.0
    cuts = cuts or []
    largest = 2 * k - 1 if cuts else k
    # a pair as far apart as this settles the group that it is in
    far = largest**2 * float(prices.max())
    unit = far / 2.0**BITS
    distances = np.empty((n, n), dtype=np.int64)
    for i in range(n):
        exact = ((values - values[i]) ** 2).sum(axis=1) * (1.0 - (d + 8) * 2.0**-52)
        distances[i] = np.floor(np.minimum(exact, far) / unit * (1.0 - 2.0**-51))
    np.fill_diagonal(distances, 0)
    whole = np.ceil(prices / unit * (1.0 + np.sign(prices) * 2.0**-51)).astype(np.int64)
    order = np.argsort(-whole, kind="stable")
    distances, whole = distances[np.ix_(order, order)].copy(), whole[order]
    place = np.argsort(order)
    # rows of all cuts, one after the other, where they begin, and every how many of them the multiplier is due
    rows = np.array([place[row] for records, _, _ in cuts for row in records], dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum([len(records) for records, _, _ in cuts])]).astype(np.int64)
    every = np.array([step for _, step, _ in cuts], dtype=np.int64)
    fines = np.array([math.floor(multiplier / unit * (1.0 - 2.0**-51)) for _, _, multiplier in cuts], dtype=np.int64)
    if sum(int(fine) for fine in fines) > 2**57 // largest:
        raise UntrueError("the multipliers are too large to be checked")
    for root in range(n - k + 1):
        if cheaper(distances, whole, rows, starts, every, fines, k, np.array([root]), root + 1):
            raise UntrueError("there are k records that cost less than their prices")
    pairs = {pair for a, b in itertools.pairwise(starts) for pair in itertools.combinations(sorted(rows[a:b]), 2)}
    for pair in pairs:
        for size in range(k + 1, largest + 1):
            if cheaper(distances, whole, rows, starts, every, fines, size, np.array(pair), 0):
                raise UntrueError(f"there are {size} records that cost less than their prices and cuts")
    paid = sum(int(fine) * (len(records) // step) for fine, (records, step, _) in zip(fines, cuts, strict=True))
    return (sum(int(price) for price in whole) - paid) * unit * (1.0 - 2.0**-50) - n * unit


def along_a_line(x: np.ndarray, k: int) -> float:
    """Return the least cost of a partition of sorted numbers: its groups are runs of k to 2k - 1."""
    least = [0.0] + [math.inf] * len(x)
    for end in range(k, len(x) + 1):
        least[end] = min(
            least[start] + squares(x[start:end, None]) for start in range(max(0, end - 2 * k + 1), end - k + 1)
        )
    return least[-1]


def of_a_few(values: np.ndarray, k: int, rows: tuple[int, ...], known: dict[tuple[int, ...], float]) -> float:
    """Return the least cost of a partition of a few records, by looking at all groups of k to 2k - 1 of the first."""
    if not rows:
        return 0.0
    if rows not in known:
        known[rows] = min(
            (
                squares(values[[rows[0], *others]])
                + of_a_few(values, k, tuple(row for row in rows[1:] if row not in others), known)
                for size in range(k - 1, 2 * k - 1)
                for others in itertools.combinations(rows[1:], size)
            ),
            default=math.inf,
        )
    return known[rows]


@numba.njit
def cheaper(
    distances: np.ndarray,
    prices: np.ndarray,
    cut_rows: np.ndarray,
    cut_starts: np.ndarray,
    every: np.ndarray,
    fines: np.ndarray,
    size: int,
    first: np.ndarray,
    after: int,
) -> bool:
    """Whether there are ``size`` records, the ``first`` and later ones, that cost less than their prices less fines.

    All is in distances over the size: their sum is compared with ``size`` times the prices less the fines.
    """
    n = len(prices)
    member = np.empty(size, np.int64)
    rows = np.empty((size, n), np.int64)
    own = np.empty((size, n), np.int64)  # what a candidate adds with the members so far
    keys = np.empty((size, n), np.int64)
    count, base, paid = np.zeros(size, np.int64), np.zeros(size, np.int64), np.zeros(size, np.int64)
    due = np.zeros(n, np.int64)
    bottom = len(first) - 1
    for t in range(len(first)):
        member[t] = first[t]
        base[bottom] -= size * prices[first[t]]
        for s in range(t):
            base[bottom] += distances[first[s], first[t]]
    for c in range(after, n):
        adds, new = -size * prices[c], True
        for i in first:
            adds += distances[i, c]
            new &= i != c
        if new:
            rows[bottom, count[bottom]], own[bottom, count[bottom]] = c, adds
            count[bottom] += 1
    level, entered = bottom, True
    while level >= bottom:
        q = size - 1 - level
        if entered:
            paid[level] = size * fined(
                cut_rows, cut_starts, every, fines, member[: level + 1], rows[level, : count[level]], q, due, size
            )
            count[level] = settle(
                distances, rows[level], own[level], keys[level], count[level], q, base[level] + paid[level], due
            )
            entered = False
        if q == 0 and base[level] + paid[level] < 0:
            return True
        if q == 0 or count[level] < q:
            level -= 1
            continue
        # the candidate with the least key is taken, and will not be there afterwards
        least = 0
        for c in range(count[level]):
            if keys[level, c] < keys[level, least]:
                least = c
        member[level + 1], adds = rows[level, least], own[level, least]
        count[level] -= 1
        last = count[level]
        rows[level, least], own[level, least], keys[level, least] = (
            rows[level, last],
            own[level, last],
            keys[level, last],
        )
        base[level + 1] = base[level] + adds
        count[level + 1] = last
        for c in range(last):
            rows[level + 1, c] = rows[level, c]
            own[level + 1, c] = own[level, c] + distances[member[level + 1], rows[level, c]]
        level, entered = level + 1, True
    return False


@numba.njit
def fined(
    cut_rows: np.ndarray,
    cut_starts: np.ndarray,
    every: np.ndarray,
    fines: np.ndarray,
    members: np.ndarray,
    candidates: np.ndarray,
    q: int,
    due: np.ndarray,
    size: int,
) -> int:
    """Return the fines of the members, and write twice the share of each candidate in those due with one more."""
    paid = 0
    for a in candidates:
        due[a] = 0
    for c in range(len(fines)):
        held, there = 0, 0
        records = cut_rows[cut_starts[c] : cut_starts[c + 1]]
        for i in records:
            for j in members:
                held += i == j
        paid += held // every[c] * fines[c]
        if q == 0 or (held + 1) % every[c] != 0:
            continue
        for i in records:
            for a in candidates:
                there += i == a
        for i in records:
            for a in candidates:
                if i == a:
                    due[a] += 2 * size * fines[c] // min(q, there, every[c])
    return paid


@numba.njit
def settle(
    distances: np.ndarray,
    rows: np.ndarray,
    own: np.ndarray,
    keys: np.ndarray,
    count: int,
    q: int,
    base: int,
    due: np.ndarray,
) -> int:
    """Drop candidates that cannot be among q that, with what there is, sum up to less than 0; return how many stay.

    ``due`` is twice what each record would be fined at least.
    """
    least, nearest, nearer = np.empty(q, np.int64), np.empty(q, np.int64), np.zeros(count, np.int64)
    for a in range(count):
        keys[a] = 2 * own[a] + due[rows[a]]
    turn = 0
    while count >= q > 0:
        filled = 0
        for a in range(count):
            filled = insert(least, filled, q, keys[a])
        total = 2 * base
        for t in range(q):
            total += least[t]
        if total >= 0:
            return 0
        kept = 0
        for a in range(count):
            if total - least[q - 1] + keys[a] < 0:
                rows[kept], own[kept], keys[kept], nearer[kept] = rows[a], own[a], keys[a], nearer[a]
                kept += 1
        if q == 1:
            return kept
        if kept == count and turn > 0:
            kept = partners(distances, rows, own, keys, nearer, count, q, base)
            if kept == count:
                return count
        count = kept
        for a in range(count):
            near = 0
            for b in range(count):
                if b != a:
                    near = insert(nearest, near, q - 1, distances[rows[a], rows[b]])
            if near == q - 1:
                nearer[a] = nearest[: q - 2].sum()
                keys[a] = 2 * own[a] + due[rows[a]] + nearer[a] + nearest[q - 2]
        turn += 1
    return 0


@numba.njit
def partners(
    distances: np.ndarray,
    rows: np.ndarray,
    own: np.ndarray,
    keys: np.ndarray,
    nearer: np.ndarray,
    count: int,
    q: int,
    base: int,
) -> int:
    """Drop candidates that are too much once their distances to the others count in full; return how many stay.

    ``nearer`` are the distances of a candidate to the q - 2 nearest others.
    """
    least, dropped = np.empty(q, np.int64), np.zeros(count, np.bool_)
    for a in range(count):
        filled = 0
        for b in range(count):
            if b != a and not dropped[b]:
                filled = insert(least, filled, q - 1, 2 * own[b] + 2 * distances[rows[a], rows[b]] + nearer[b])
        dropped[a] = filled < q - 1 or 2 * (base + own[a]) + least[: q - 1].sum() >= 0
    kept = 0
    for a in range(count):
        if not dropped[a]:
            rows[kept], own[kept], keys[kept] = rows[a], own[a], keys[a]
            kept += 1
    return kept


@numba.njit
def insert(smallest: np.ndarray, filled: int, most: int, number: int) -> int:
    """Keep the smallest numbers, sorted; return how many there are."""
    if filled == most and number >= smallest[most - 1]:
        return filled
    t = filled if filled < most else most - 1
    while t > 0 and smallest[t - 1] > number:
        smallest[t] = smallest[t - 1]
        t -= 1
    smallest[t] = number
    return min(filled + 1, most)


if __name__ == "__main__":
    sys.exit(main())
