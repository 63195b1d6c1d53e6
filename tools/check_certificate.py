"""Check a certificate of shoal: that a partition costs what it says, and that none costs less than what it proves.

    python tools/check_certificate.py CERTIFICATE.json TABLE.csv [--delimiter ";"] [--decimal ","]

It shares no code with shoal, and believes nothing but the prices and multipliers. From the table it computes the scaled
columns, what the partition costs, and that all groups have at least k records and stay inside their blocks. Then it
looks for k records of a block that cost less than the sum of their prices. Where there are none, no larger group costs
less than its prices either: its subsets of k cost (k - 1) / (s - 1) of what it costs on the mean, and have k / s of its
prices. So no partition costs less than the sum of all prices.

There may be cuts, each a set S of records, a number "every" and a multiplier of at least 0. A group that holds m of
the records pays the multiplier floor(m / every) times. The groups of a partition hold |S| of them in all, so together
they pay it at most floor(|S| / every) times. Where no group costs less than its prices less what it pays, no partition
costs less than the sum of all prices less what is paid at most. A larger group of s, up to 2k - 1 records, that holds
at most "every" records of each set S needs no look: of its subsets of k, at most the part k (k - 1) / (s (s - 1)) hold
these same records and pay, and (s - 1) / (k - 1) times that is below 1, so that what they pay on the mean is no more
than what it pays. One that holds more of a set holds two of one of "every" parts of the set, and is looked for from
these, or from its records in the set where at most one group pays for it. Groups of 2k and more are two groups, which
cost less.

There may be branches: of a pair of records, one proof for partitions that have both in one group, and one for those
that have them in two; the lower counts, as every partition is in one of the branches, and so on in each. In a branch
only groups count that keep what is decided. A larger group that holds no pair that is together has subsets of k that
keep it too, so the above holds; one that holds such a pair is looked for from it.

There may be a list of the groups that count in the branches of a block: all those whose reduced cost, what they cost
and pay less their prices, is at most what is missing from the value that some prices and cuts prove to a limit. A
partition costs that value and the reduced costs of its groups, or more, so one below the limit has no other groups.
The list is made here, and then the prices of branches are compared with what the groups in it cost. Either the limit
is proved, or what the lowest branch comes to.

The arithmetic is that of whole numbers: squared distances and multipliers are rounded down, prices up, to multiples of
a unit, and sums of these are exact. Before, a distance is lowered by more than the rounding errors of its
floating-point sum. Groups of a list are compared with prices in floating-point numbers, and what is proved is lowered
by more than their rounding errors.

Both files are read by `certificate_files.py`, and groups that cost less are looked for by `cheaper_groups.py` and
`most_of_a_set.py`, beside this. Ends with 0 where all is true, and with 1 and the reason otherwise.
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy import ndarray

from certificate_files import UncheckedError, bytes_of, columns_of, delimiter, other_source, read_certificate
from cheaper_groups import cheaper
from easy_blocks import along_a_line, of_a_few, squares
from most_of_a_set import suspects
from plain_numbers import found_and_said, in_percent
from scaled_columns import scaled

TOLERANCE = 1e-9  # part of a sum by which what the certificate says may differ from what is found here
ROUNDING = 1e-12  # more than the part of a sum of squares that its rounding errors are
Decided = tuple[tuple, tuple]  # pairs that are together, pairs that are apart
Cut = tuple[list[int], int, float]  # records, every, multiplier

MANY = 20_000  # groups of one root and size in a list, from which it is not checked
FEW = 12  # records of a block up to which all partitions are looked at, and no prices are needed
BITS = 50  # of a distance; sums of those of a set of k have to fit into 63


class UntrueError(Exception):
    """Something in the certificate is not true."""


def main(arguments: list[str] | None = None) -> int:
    """Check the certificate that the command line names."""
    parser = argparse.ArgumentParser(description="Check a certificate of shoal against the table it is about.")
    parser.add_argument("certificate", type=Path)
    parser.add_argument("table", type=Path)
    parser.add_argument("--delimiter", type=delimiter, default=",", help="one character, or \\t for a tab")
    parser.add_argument("--decimal", choices=[".", ","], default=".", help="decimal mark of the table")
    given = parser.parse_args(arguments)
    made_from = None
    try:
        certificate = read_certificate(given.certificate)
        table = bytes_of(given.table)
        made_from = other_source(certificate, table)
        columns = columns_of(given.table, table, certificate["columns"], given.delimiter, given.decimal)
        # what overflows would be infinite or no number, and compare as if it were fine
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            cost, proved, total, least = check(certificate, columns)
    except (UntrueError, UncheckedError, ArithmeticError, RecursionError) as error:
        print(refusal(error))
        if made_from is not None:
            print(f"this table is not the file that the certificate was made from, '{made_from}'; check that one")
        return 1
    percent, gap = 100.0 / total if total > 0.0 else 0.0, 100.0 * (1.0 - proved / cost) if cost > 0.0 else 0.0
    print(f"true: loses {percent * cost:.6f} %, no partition less than {percent * proved:.6f} %, gap {gap:.4f} %")
    if least < cost:
        gap = 100.0 * (1.0 - proved / least) if least > 0.0 else 0.0
        print(f"a better partition is known, which loses {percent * least:.6f} %, gap {gap:.4f} %")
    if made_from is not None:
        print(f"the bytes of this table are not those of '{made_from}', which it was made from, but the figures hold")
    return 0


def refusal(error: Exception) -> str:
    """Return a line that says what is not true, or why nothing could be checked."""
    if isinstance(error, UntrueError):
        return f"NOT TRUE: {error}"
    if isinstance(error, RecursionError):
        return "NOT CHECKED: the branches of the certificate are nested too deeply for this program"
    if isinstance(error, ArithmeticError):
        return "NOT CHECKED: numbers of the table or the certificate are too large, or too far apart, for this program"
    return f"NOT CHECKED: {error}"


def check(certificate: dict, columns: ndarray) -> tuple[float, float, float, float]:
    """Return what the partition costs, what none is below, the total, and what the better partition costs.

    An error where anything is not true.
    """
    k, n = certificate["k"], len(columns)
    groups, blocks = np.asarray(certificate["groups"]), np.asarray(certificate["blocks"])
    prices = np.asarray(certificate["prices"], dtype=np.float64)
    for many in (certificate["records"], len(groups), len(blocks), len(prices)):
        if many != n:
            raise UntrueError(f"it is about {many} records, and the table has {n}")
    values = scaled(columns, certificate["scaling"])
    total = math.fsum((values**2).ravel())
    cost = cost_of(values, groups, blocks, k)
    trees = {tuple(own["records"]): own for own in certificate.get("branches", [])}
    proved, whole = 0.0, {"prices": prices, "cuts": certificate.get("cuts", [])}
    block_of = dict(enumerate(blocks.tolist()))
    for cut in whole["cuts"]:
        own_blocks = {block_of.get(row) for row in cut["records"]}
        if len(own_blocks) != 1 or None in own_blocks:
            raise UntrueError("a cut is a set of records of one block")
    for block in np.unique(blocks):
        rows = np.flatnonzero(blocks == block)
        own = set(rows.tolist())
        leaf = {
            "prices": prices[rows],
            "cuts": [cut for cut in whole["cuts"] if cut["records"][0] in own],
        }
        branches = trees.pop(tuple(rows.tolist()), {"tree": leaf})
        if "listed" in branches:
            proved += least_in_list(values[rows], k, branches, rows.tolist())
        else:
            proved += least_of_branch(values[rows], k, branches["tree"], rows.tolist())
    if trees:
        raise UntrueError("there are branches of records that are no block")
    if abs(certificate["total"] - total) > TOLERANCE * total:
        found, said = found_and_said(total, certificate["total"])
        raise UntrueError(f"the sum of squares of the whole table is {found}, and it says {said}")
    said_and_found = [("the cost of the partition", certificate["cost"], cost)]
    least = cost
    if "better" in certificate:
        least = cost_of(values, np.asarray(certificate["better"]["groups"]), blocks, k)
        said_and_found.append(("the cost of the better partition", certificate["better"]["cost"], least))
    for name, own, value in said_and_found:
        if abs(own - value) > TOLERANCE * value:
            found, said = in_percent(value, own, total)
            raise UntrueError(f"{name} is {found} of the total, and it says {said}")
    if certificate["proved"] > proved + TOLERANCE * cost:
        found, said = in_percent(proved, certificate["proved"], total)
        raise UntrueError(f"its prices prove that no partition loses less than {found}, and it says {said}")
    if proved > min(cost, least) * (1.0 + TOLERANCE):
        raise UntrueError("what is proved is above the cost of the partition")
    return cost, proved, total, least


def cost_of(values: ndarray, groups: ndarray, blocks: ndarray, k: int) -> float:
    """Return what a partition costs; an error where it is none into groups of at least k inside blocks."""
    if len(groups) != len(values):
        raise UntrueError(f"a partition is one of {len(groups)} records, and the table has {len(values)}")
    if np.unique(groups, return_counts=True)[1].min() < k:
        raise UntrueError(f"a group has fewer than {k} records")
    if len({(g, b) for g, b in zip(groups.tolist(), blocks.tolist(), strict=True)}) > len(np.unique(groups)):
        raise UntrueError("a group crosses blocks")
    return math.fsum(squares(values[groups == group]) for group in np.unique(groups))


def least_of_branch(values: ndarray, k: int, branch: dict, rows: list[int]) -> float:
    """Return what no partition of a block costs less than; ``rows`` are its rows."""
    return min(least_of_block(values, prices, k, cuts, decided) for prices, cuts, decided in leaves(branch, rows))


def least_in_list(values: ndarray, k: int, branches: dict, rows: list[int]) -> float:
    """Return what no partition of a block costs less than, by branches in which only some groups count."""
    limit, n = float(branches["listed"]["below"]), len(values)
    if n < 2 * k or values.shape[1] == 1 or n <= FEW:
        return least_of_branch(values, k, branches["listed"], rows)
    groups = listed(values, *next(leaves(branches["listed"], rows))[:2], k, limit)
    cost = np.array([squares(values[list(group)]) for group in groups])
    # a place after the last one is no record
    padded = [[*group, *[n] * (2 * k - 1 - len(group))] for group in groups]
    places = np.array(padded, dtype=np.int64).reshape(-1, 2 * k - 1)
    return min(limit, least_of_listed(cost, places, n // k, branches["tree"], rows, limit))


def least_of_listed(cost: ndarray, places: ndarray, most: int, branch: dict, rows: list[int], limit: float) -> float:
    """Return what no partition costs less than that is made of listed groups, at most so many, and is below the limit.

    What is proved in a branch before it is divided makes the list shorter, as the prices of all did.
    """
    kept = np.ones(len(cost), dtype=bool)
    if "prices" in branch:
        ((prices, cuts, _),) = leaves({"prices": branch["prices"], "cuts": branch["cuts"]}, rows)
        reduced = cost * (1.0 - ROUNDING) - np.append(prices, 0.0)[places].sum(axis=1)
        for records, every, multiplier in cuts:
            reduced += np.isin(places, records).sum(axis=1) // every * multiplier
        # no group has more members than places, and it pays a cut at most once for each
        highest = float(np.abs(prices).max()) + math.fsum(multiplier for _, _, multiplier in cuts)
        sizes = places.shape[1] * highest + float(cost.max(initial=0.0))
        # each group may be below 0 by as much as the lowest
        below = max(0.0, -float(reduced.min(initial=0.0))) + 2.0 * ROUNDING * sizes
        paid = math.fsum(multiplier * (len(records) // every) for records, every, multiplier in cuts)
        value = math.fsum(prices) - paid - most * below - ROUNDING * (abs(math.fsum(prices)) + paid)
        if "pair" not in branch:
            return value
        kept = reduced <= limit - value + 2.0 * ROUNDING * sizes
    place = {row: i for i, row in enumerate(rows)}
    a, b = (place.get(row, -1) for row in branch["pair"])
    if a == b or min(a, b) < 0:
        raise UntrueError("a branch is about two records of its block")
    first, second = (places == a).any(axis=1), (places == b).any(axis=1)
    together, apart = kept & (first == second), kept & ~(first & second)
    return min(
        least_of_listed(cost[together], places[together], most, branch["together"], rows, limit),
        least_of_listed(cost[apart], places[apart], most, branch["apart"], rows, limit),
    )


def leaves(branch: dict, rows: list[int], decided: Decided = ((), ())) -> Iterator[tuple[ndarray, list[Cut], Decided]]:
    """Yield prices, cuts and decisions of each branch that is not divided, with the places of records in ``rows``."""
    place = {row: i for i, row in enumerate(rows)}
    if "pair" in branch:
        pair = tuple(place.get(row, -1) for row in branch["pair"])
        if len(set(pair)) != 2 or min(pair) < 0:
            raise UntrueError("a branch is about two records of its block")
        together, apart = decided
        yield from leaves(branch["together"], rows, ((*together, pair), apart))
        yield from leaves(branch["apart"], rows, (together, (*apart, pair)))
        return
    prices, cuts = np.asarray(branch["prices"], dtype=np.float64), []
    if len(prices) != len(rows) or not np.isfinite(prices).all():
        raise UntrueError("a branch has a finite price for each record of its block")
    for cut in branch["cuts"]:
        own = [place.get(row, -1) for row in cut["records"]]
        if len(set(own)) < len(own) or min(own) < 0:
            raise UntrueError("a cut is a set of records of one block")
        if cut["every"] < 2 or not 0.0 <= cut["multiplier"] < math.inf:
            raise UntrueError("a cut counts every two records or more, and its multiplier is at least 0")
        cuts.append((own, int(cut["every"]), float(cut["multiplier"])))
    yield prices, cuts, decided


def least_of_block(
    values: ndarray,
    prices: ndarray,
    k: int,
    cuts: list[Cut] | None = None,
    decided: Decided = ((), ()),
) -> float:
    """Return what no partition of a block costs less than, rounded down; cuts are records, every, multiplier.

    ``decided`` are pairs that are together, and pairs that are apart.
    """
    n, d = values.shape
    if n < 2 * k:
        return squares(values) * (1.0 - ROUNDING)
    if d == 1:
        return along_a_line(np.sort(values[:, 0]), k) * (1.0 - ROUNDING)
    if n <= FEW:
        return of_a_few(values, k, tuple(range(n)), {}) * (1.0 - ROUNDING)
    if prices.max() <= 0.0:
        return 0.0
    together, apart = decided
    whole = in_whole_numbers(values, prices, k, cuts or [], together, apart)
    largest = 2 * k - 1 if cuts or together else k
    larger = range(k + 1, min(largest, n) + 1)
    one = np.empty((1, largest), dtype=np.int64)
    for root in range(n - k + 1):
        if cheaper(*whole.known, k, np.array([root]), root + 1, 0, one[:, :k].copy()):
            raise UntrueError(f"there are {k} records that cost less than their prices")
    starts = {(*sorted((int(whole.place[a]), int(whole.place[b]))), size) for a, b in together for size in larger}
    for c, (records, step, _) in enumerate(cuts or []):
        rows = [int(whole.place[row]) for row in records]
        if len(rows) < min(2 * k, 2 * step):
            starts.update(most_of_a_set(whole, c, rows, step + 1, k))
        else:
            pairs = [pair for part in range(step) for pair in itertools.combinations(sorted(rows[part::step]), 2)]
            starts.update((*pair, size) for pair in pairs for size in larger)
    for *first, size in sorted(starts):
        if cheaper(*whole.known, size, np.array(first), 0, 0, one[:, :size].copy()):
            raise UntrueError(f"there are {size} records that cost less than their prices and cuts")
    return whole.value


def most_of_a_set(whole: Whole, cut: int, rows: list[int], least: int, k: int) -> list[tuple[int, ...]]:
    """Return subsets of at least ``least`` rows of a cut that groups that cost less may hold, each with a size."""
    distances, prices, fine = whole.known[0], whole.known[1], int(whole.known[5][cut])
    room = 1000
    while True:
        found, sizes = np.empty((room, len(rows)), dtype=np.int64), np.empty((room, 2), dtype=np.int64)
        many = suspects(distances, prices, np.array(rows), least, fine, k, found, sizes)
        if many <= room:
            held = zip(found[:many].tolist(), sizes[:many].tolist(), strict=True)
            return [(*sorted(group[:count]), size) for group, (count, size) in held]
        room = many


def listed(values: ndarray, prices: ndarray, cuts: list[Cut], k: int, limit: float) -> list[tuple[int, ...]]:
    """Return all groups of k to 2k - 1 records that a partition can have that costs less than a limit."""
    if prices.max() <= 0.0:
        raise UntrueError("a list of groups needs prices")
    whole = in_whole_numbers(values, prices, k, cuts, (), ())
    missing = math.ceil((limit - whole.value) / whole.unit * (1.0 + 2.0**-50)) + 1
    if not 0 <= missing < 2**BITS:
        raise UntrueError("the limit of a list is below what its prices prove, or far above")
    groups, order = [], np.argsort(whole.place)
    for size in range(k, 2 * k):
        none, many = np.empty((1, size), dtype=np.int64), np.empty((MANY, size), dtype=np.int64)
        for root in range(len(values) - size + 1):
            if cheaper(*whole.known, size, np.array([root]), root + 1, 0, none):
                raise UntrueError(f"there are {size} records that cost less than their prices and cuts")
            count = cheaper(*whole.known, size, np.array([root]), root + 1, missing, many)
            if count == MANY:
                raise UntrueError("the list of groups is too long to be checked")
            groups += [tuple(order[group].tolist()) for group in many[:count]]
    return groups


class Whole(NamedTuple):
    """What groups cost in whole numbers of a unit, where records are by falling price, and what that proves.

    ``known`` is what `cheaper` takes, ``place`` (n,) where each record is.
    """

    known: tuple[ndarray, ...]
    place: ndarray
    unit: float
    value: float


def in_whole_numbers(values: ndarray, prices: ndarray, k: int, cuts: list[Cut], together: tuple, apart: tuple) -> Whole:
    """Return distances and multipliers rounded down, and prices rounded up, in a unit."""
    n, d = values.shape
    # a pair as far apart as this settles the group that it is in
    far = (2 * k - 1) ** 2 * float(prices.max())
    unit = far / 2.0**BITS
    distances = np.empty((n, n), dtype=np.int64)
    for i in range(n):
        exact = ((values - values[i]) ** 2).sum(axis=1) * (1.0 - (d + 8) * 2.0**-52)
        distances[i] = np.floor(np.minimum(exact, far) / unit * (1.0 - 2.0**-51))
    np.fill_diagonal(distances, 0)
    for a, b in apart:
        distances[a, b] = distances[b, a] = 2 ** (BITS + 1)
    whole = np.ceil(prices / unit * (1.0 + np.sign(prices) * 2.0**-51)).astype(np.int64)
    order = np.argsort(-whole, kind="stable")
    distances, whole = distances[np.ix_(order, order)].copy(), whole[order]
    place = np.argsort(order)
    # rows of all cuts, one after the other, where they begin, and every how many of them the multiplier is due
    rows = np.array([place[row] for records, _, _ in cuts for row in records], dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum([len(records) for records, _, _ in cuts])]).astype(np.int64)
    every = np.array([step for _, step, _ in cuts], dtype=np.int64)
    fines = np.array([math.floor(multiplier / unit * (1.0 - 2.0**-51)) for _, _, multiplier in cuts], dtype=np.int64)
    if sum(int(fine) for fine in fines) > 2**57 // (2 * k - 1):
        raise UntrueError("the multipliers are too large to be checked")
    mates = circles([(int(place[a]), int(place[b])) for a, b in together], n)
    paid = sum(int(fine) * (len(records) // step) for fine, (records, step, _) in zip(fines, cuts, strict=True))
    value = (sum(int(price) for price in whole) - paid) * unit * (1.0 - 2.0**-50) - n * unit
    return Whole((distances, whole, rows, starts, every, fines, mates), place, unit, value)


def circles(together: list[tuple[int, int]], n: int) -> ndarray:
    """Return a record that goes with each, so that all that are together are reached one by one; itself if none."""
    mates = np.arange(n)
    for a, b in together:
        ring, last = [a], a
        while mates[last] != a:
            last = int(mates[last])
            ring.append(last)
        if b not in ring:  # two circles become one where their next ones change places
            mates[a], mates[b] = mates[b], mates[a]
    return mates


if __name__ == "__main__":
    sys.exit(main())
