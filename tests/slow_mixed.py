"""Slow, obvious versions of the methods for columns of any kind, in plain Python."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise, permutations

from slow_hierarchy import above, wu_palmer


class Slow:
    """Rows of values, None where missing, and columns.

    Columns are ("number", span), ("nominal",), ("ordinal", levels) or ("semantic", tree). A tree is a list of
    (child, parent) pairs with children in order.
    """

    def __init__(self, rows, columns, weights=None):
        self.rows, self.columns = [tuple(row) for row in rows], columns
        weights = weights or [1.0] * len(columns)
        self.weights = [w / sum(weights) for w in weights]
        self.distinct = list(dict.fromkeys(self.rows))
        self.count = Counter(self.rows)
        self.values = [list(dict.fromkeys(r[j] for r in self.rows if r[j] is not None)) for j in range(len(columns))]

    def candidates(self, j):
        """What can stand for a group in a column of categories, in the order of ties."""
        kind = self.columns[j]
        if kind[0] == "ordinal":
            return list(kind[1])
        if kind[0] == "nominal":
            return self.values[j]
        there = [name for value in self.values[j] for name in above(kind[1], value)]
        return self.values[j] + [node for node in pre_order(kind[1]) if node in there and node not in self.values[j]]

    def place(self, j, value):
        """Where a value stands when a column is sorted."""
        kind = self.columns[j]
        if value is None:
            return math.inf
        if kind[0] == "number":
            return value / kind[1]
        if kind[0] == "ordinal":
            return kind[1].index(value)
        if kind[0] == "nominal":
            count = Counter(row[j] for row in self.rows)
            return sorted(self.values[j], key=lambda v: (count[v], v)).index(value)
        return self.walked(j).index(value)

    def walked(self, j):
        """Values of a column with a hierarchy in the order in which it is sorted: every way to put siblings is tried.

        Of names with at most three children that occur, the closest two are side by side in the best.
        """
        tree = self.columns[j][1]
        count = Counter(row[j] for row in self.rows if row[j] is not None)
        below = {name: [v for v in self.values[j] if name == v or name in above(tree, v)] for name in pre_order(tree)}

        def near(a, b):
            return sum(wu_palmer(tree, x, y) for x in below[a] for y in below[b]) / len(below[a]) / len(below[b])

        def siblings(name):
            there = [child for child, parent in tree if parent == name and below[child]]
            there.sort(key=lambda child: (sum(count[v] for v in below[child]), child))
            assert len(there) <= 3
            ways = [way for way in permutations(there) if len(way) < 2 or there.index(way[0]) < there.index(way[-1])]

            def length(way):
                steps = list(pairwise(way))
                apart = sum(abs(there.index(a) - there.index(b)) for a, b in steps)
                return round(sum(near(a, b) for a, b in steps), 5), apart

            return min(ways, key=length)

        def walk(name):
            return [*(v for child in siblings(name) for v in walk(child)), *([name] if name in count else [])]

        return walk(pre_order(tree)[0])

    def cell(self, j, a, b):
        kind = self.columns[j]
        if a is None or b is None:
            if a is None and b is None:
                return 0.0
            if kind[0] != "number":
                return 1.0
            return math.sqrt(((b if a is None else a) / kind[1]) ** 2 + 1.0)  # of a mean of 0 and a deviation of 1
        if kind[0] == "number":
            return abs(a / kind[1] - b / kind[1])
        if kind[0] == "nominal":
            return float(a != b)
        if kind[0] == "ordinal":
            return abs(kind[1].index(a) - kind[1].index(b)) / max(len(kind[1]) - 1, 1)
        return wu_palmer(kind[1], a, b)

    def far(self, x, y):
        return sum(w * self.cell(j, a, b) for j, (w, a, b) in enumerate(zip(self.weights, x, y, strict=True)))

    def off(self, x, y):
        """Distance without what rounding adds to it, so that ties are ties."""
        return round(self.far(x, y), 11)

    def centre(self, counted):
        """Centre of records with how many of each."""
        found = []
        for j, kind in enumerate(self.columns):
            seen = [(record[j], many) for record, many in counted.items() if record[j] is not None and many]
            if not seen:
                found.append(None)
            elif kind[0] == "number":
                found.append(sum(v * many for v, many in seen) / sum(many for _, many in seen))
            else:
                sums = {c: sum(many * self.cell(j, v, c) for v, many in seen) for c in self.candidates(j)}
                least = min(sums.values()) + 1e-7
                found.append(next(c for c, s in sums.items() if s <= least))
        return tuple(found)

    def plain(self):
        """The same with the columns of hierarchies as nominal ones."""
        columns = [("nominal",) if kind[0] == "semantic" else kind for kind in self.columns]
        return Slow(self.rows, columns, self.weights)

    def error(self, counted, k):
        """What a group loses, without missing values."""
        centre = self.centre(counted)
        return sum(many * self.far(record, centre) ** 2 for record, many in counted.items())


def pre_order(tree):
    root = next(parent for _, parent in tree if parent not in dict(tree))

    def walk(node):
        return [node, *(n for child, parent in tree if parent == node for n in walk(child))]

    return walk(root)


def sa_mdav(slow, k, follow=True, rare=0):
    """Return the group of each row."""
    rest, groups, last = list(slow.distinct), [], None
    while sum(slow.count[r] for r in rest) >= k:
        if groups and all(slow.count[r] <= rare for r in rest):
            break
        start = slow.centre({r: slow.count[r] for r in rest}) if last is None else last
        first = max(rest, key=lambda r: slow.far(r, start) * slow.count[r])
        members, point = [first], first
        rest.remove(first)
        while sum(slow.count[r] for r in members) < k:
            if follow:
                point = slow.centre({r: slow.count[r] for r in members})
            nearest = min(rest, key=lambda r: slow.far(r, point) * slow.count[r])
            members.append(nearest)
            rest.remove(nearest)
        groups.append(members)
        last = first if last is None else None
    centres = [slow.centre({r: slow.count[r] for r in members}) for members in groups]
    of = {r: g for g, members in enumerate(groups) for r in members}
    for r in rest:
        of[r] = min(range(len(groups)), key=lambda g: slow.far(r, centres[g]))
    return [of[row] for row in slow.rows]


def s_mdav(slow, k, around="centroid"):
    """Return the group of each row: Algorithm 1 of Veltmann (2022) with rows for tuples; ties go to the lowest row.

    While k rows remain: a cluster from the one farthest from the centre of all, another from the one farthest from
    that. The row nearest to the centre of a cluster joins it, until it has k.
    """
    left, groups = list(range(len(slow.rows))), []

    def centre(rows):
        return slow.centre(Counter(slow.rows[row] for row in rows))

    def farthest(point):
        return max(left, key=lambda row: slow.off(slow.rows[row], point))

    def grown(seed):
        left.remove(seed)
        members = [seed]
        while len(members) < k:
            point = centre(members) if around == "centroid" else slow.rows[seed]
            members.append(min(left, key=lambda row: slow.off(slow.rows[row], point)))
            left.remove(members[-1])
        groups.append(members)

    while len(left) >= k:
        first = farthest(centre(left))
        grown(first)
        if len(left) >= k:
            grown(farthest(slow.rows[first]))
    centres = [centre(members) for members in groups]
    for row in left:
        groups[min(range(len(centres)), key=lambda g: slow.off(slow.rows[row], centres[g]))].append(row)
    return numbered(slow, groups)


def mdav_generic(slow, k):
    """Return the group of each row, by the steps of Domingo-Ferrer and Torra (2005); ties go to the lowest row."""
    left, groups = list(range(len(slow.rows))), []

    def farthest(point):
        return max(left, key=lambda row: slow.off(slow.rows[row], point))

    def average():
        return slow.centre(Counter(slow.rows[row] for row in left))

    def form(seed):
        nearest = sorted(left, key=lambda row: slow.off(slow.rows[row], slow.rows[seed]))[:k]
        groups.append(nearest)
        left[:] = [row for row in left if row not in nearest]

    while len(left) >= 3 * k:
        r = farthest(average())
        s = farthest(slow.rows[r])
        form(r)
        form(s)
    if len(left) >= 2 * k:
        form(farthest(average()))
    groups.append(left)
    return numbered(slow, groups)


def numbered(slow, groups):
    of = {row: g for g, rows in enumerate(groups) for row in rows}
    return [of[row] for row in range(len(slow.rows))]


def handed_out(slow, groups):
    queue = {r: [g for g, taken in enumerate(groups) for _ in range(taken[r])] for r in slow.distinct}
    return [queue[row].pop(0) for row in slow.rows]


def mondrian(slow, k, where, persist=True, place=None):
    """Return the group of each row; ``where`` is "median", "centroid" or "gap"."""
    place = place or slow.place
    spans = [_span([place(j, v) for v in slow.values[j]]) for j in range(len(slow.columns))]

    def size(part):
        return sum(slow.count[r] for r in part)

    def merits(part, j, centre):
        """Cuts of a sorted part from the best to the worst: how many distinct records go left."""
        keys = [place(j, r[j]) for r in part]
        cuts = [b for b in range(1, len(part)) if keys[b] != keys[b - 1]]
        if where == "gap":
            ranked = sorted(cuts, key=lambda b: -slow.cell(j, part[b - 1][j], part[b][j]))
            return ranked if persist else ranked[:1]
        if where == "median":
            if persist:
                return sorted(cuts, key=lambda b: abs(2 * size(part[:b]) - size(part)))
            middle = next(keys[b] for b in range(len(part)) if 2 * size(part[: b + 1]) >= size(part))
            return [b for b in cuts if keys[b - 1] == middle]
        value = keys[min(range(len(part)), key=lambda b: slow.cell(j, part[b][j], centre[j]))]
        number = {key: i for i, key in enumerate(dict.fromkeys(keys))}
        before = [b for b in cuts if keys[b] <= value]
        after = [b for b in cuts if keys[b] > value]
        steps = {b: 2 * (number[value] - number[keys[b]]) for b in before}
        steps |= {b: 2 * (number[keys[b - 1]] - number[value]) + 1 for b in after}
        return [b for b in sorted(cuts, key=steps.get) if persist or steps[b] <= 1]

    def cut(part):
        centre = slow.centre({r: slow.count[r] for r in part})
        wide = []
        for j in range(len(slow.columns)):
            if where == "median":
                found = _span([place(j, r[j]) for r in part if r[j] is not None])
                both = len({r[j] is None for r in part}) == 2
                wide.append(slow.weights[j] * (1.0 if both else found / max(spans[j], 1e-300)))
            else:
                wide.append(slow.weights[j] * sum(slow.count[r] * slow.cell(j, r[j], centre[j]) for r in part))
        for j in sorted(range(len(wide)), key=lambda j: -wide[j]):
            ordered = sorted(part, key=lambda r: place(j, r[j]))
            for b in merits(ordered, j, centre):
                if size(ordered[:b]) >= k and size(ordered[b:]) >= k:
                    return cut(ordered[:b]) + cut(ordered[b:])
        return [part]

    of = {r: g for g, part in enumerate(cut(slow.distinct)) for r in part}
    return [of[row] for row in slow.rows]


def _span(places):
    return max(places) - min(places) if places else 0.0


def mondrian_relaxed(slow, k):
    spans = [_span([slow.place(j, v) for v in slow.values[j]]) for j in range(len(slow.columns))]

    def cut(part):
        """Halve a list of (record, how many)."""
        total = sum(many for _, many in part)
        if total < 2 * k or len(part) == 1:
            return [Counter(dict(part))]
        wide = []
        for j in range(len(slow.columns)):
            found = _span([slow.place(j, r[j]) for r, _ in part if r[j] is not None])
            both = len({r[j] is None for r, _ in part}) == 2
            wide.append(slow.weights[j] * (1.0 if both else found / max(spans[j], 1e-300)))
        j = max(range(len(wide)), key=wide.__getitem__)
        each = [r for r, many in sorted(part, key=lambda item: slow.place(j, item[0][j])) for _ in range(many)]
        halves = each[: total // 2], each[total // 2 :]
        return [group for half in halves for group in cut(list(Counter(half).items()))]

    return handed_out(slow, cut([(r, slow.count[r]) for r in slow.distinct]))


def k_modes(slow, k, drawn, rounds=10):
    """Return the group of each row, from centres at the distinct records ``drawn``."""
    centres, of = [slow.distinct[i] for i in drawn], {}
    for _ in range(rounds):
        new = {r: min(range(len(centres)), key=lambda g: slow.far(r, centres[g])) for r in slow.distinct}
        if new == of:
            break
        of = new
        for g in range(len(centres)):
            members = {r: slow.count[r] for r in slow.distinct if of[r] == g}
            if any(value is not None for r in members for value in r):
                centres[g] = slow.centre(members)
    alive = set(of.values())
    while True:
        sizes = {g: sum(slow.count[r] for r in slow.distinct if of[r] == g) for g in sorted(alive)}
        small = [g for g in sizes if sizes[g] < k]
        if not small:
            return [of[row] for row in slow.rows]
        gone = min(small, key=lambda g: (sizes[g], g))
        alive.remove(gone)
        for r in slow.distinct:
            if of[r] == gone:
                of[r] = min(sorted(alive), key=lambda g: slow.far(r, centres[g]))


def least_loss(slow, k, split):
    """Return the least sum of squared errors of any partition, by looking at all."""
    units = slow.rows if split else slow.distinct
    sizes = [1] * len(units) if split else [slow.count[r] for r in units]

    def best(left):
        if not left:
            return 0.0
        first, *others = left
        least = math.inf
        for mask in range(2 ** len(others)):
            chosen = [first, *(u for i, u in enumerate(others) if mask >> i & 1)]
            if sum(sizes[u] for u in chosen) >= k:
                counted = Counter()
                for u in chosen:
                    counted[units[u]] += sizes[u]
                rest = [u for u in left if u not in chosen]
                least = min(least, slow.error(counted, k) + best(rest))
        return least

    return best(list(range(len(units))))
