"""Rules kept by construction: random rules over random tables that satisfy them, and the cases that pull apart."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal

METHODS = ("mdav", "v-mdav", "fuzzy-c-means", "univariate", "k-ward")


class Maker:
    """A random table that grows with the rules that it satisfies; each rule comes with a predicate of its own."""

    def __init__(self, seed, n):
        self.draw = np.random.default_rng(seed)
        self.n = n
        whole = self.draw.random() < 0.5
        self.columns = {name: self.numbers(whole) for name in ("A", "B", "C")}
        self.rules = []

    def numbers(self, whole):
        spread = 10.0 ** self.draw.integers(0, 5)
        values = self.draw.normal(size=self.n) * spread + self.draw.integers(-2, 3) * spread
        return np.rint(values).astype(np.int64) if whole else values

    def add(self, text, columns, holds):
        if text not in [rule[0] for rule in self.rules]:
            self.rules.append((text, columns, holds))

    def total(self):
        a, b = self.columns["A"], self.columns["B"]
        self.columns["T"] = a + b
        self.add("T = A + B", ("A", "B", "T"), lambda a, b, t: near(t, a + b, a, b))

    def total_of_total(self):
        self.total()
        self.columns["U"] = self.columns["T"] - self.columns["C"]
        self.add("U + C = T", ("T", "C", "U"), lambda t, c, u: near(t, u + c, u, c))

    def half(self):
        c = np.rint(self.columns["C"] / 2).astype(np.int64) * 2
        self.columns["C2"] = c
        self.columns["H"] = np.rint(self.columns["A"]).astype(np.int64) + c // 2
        self.columns["A2"] = np.rint(self.columns["A"]).astype(np.int64)
        self.add("H = A2 + 0.5 * C2", ("H", "A2", "C2"), lambda h, a, c: h == a + 0.5 * c)

    def product(self):
        self.columns["R"] = self.columns.get("R", self.draw.normal(size=self.n))
        self.columns["P"] = self.columns["A"] * self.columns["R"]
        self.add("P = A * R", ("A", "R", "P"), lambda a, r, p: near(p, a * r, a * r))

    def product_of_a_sum(self):
        self.total()
        self.columns["R"] = self.columns.get("R", self.draw.random(self.n))
        self.columns["Q"] = self.columns["T"] * self.columns["R"]
        self.add("Q = T * R", ("T", "R", "Q"), lambda t, r, q: near(q, t * r, t * r))

    def bounds(self):
        x = self.columns["B"]
        low, high = (float(v) for v in (x.min(), x.max()))
        self.add(f"{low!r} <= B <= {high!r}", ("B",), lambda b: low <= b <= high)

    def greater(self):
        self.columns["D"] = self.columns["B"] + np.abs(self.columns["C"]) // 3
        self.add("B <= D", ("B", "D"), lambda b, d: b <= d)

    def listed(self):
        self.columns["L"] = self.draw.choice([1, 5, 6, 40], size=self.n)
        self.add("L in {1, 5, 6, 40}", ("L",), lambda v: v in (1, 5, 6, 40))

    def original(self):
        known = set(self.columns["A"].tolist())
        self.add("A from original", ("A",), lambda a: a in known)

    def total_from_original(self):
        self.total()
        known = set(self.columns["T"].tolist())
        self.add("T from original", ("T",), lambda t: t in known)

    def whole(self):
        self.columns["W"] = np.rint(self.columns["C"]).astype(float)
        self.add("W is integer", ("W",), lambda w: w == round(w))

    def implication(self):
        cut = float(np.quantile(self.columns["A"], self.draw.random()))
        m = self.columns["B"]
        gap = np.abs(self.columns["C"]) // 2 + 1
        self.columns["N"] = np.where(self.columns["A"] < cut, m + gap, m - gap)
        self.add(f"if A < {cut!r} then B <= N", ("A", "B", "N"), lambda a, b, n: not a < cut or b <= n)

    def strict(self):
        self.columns["S"] = self.columns["B"] + 1
        self.add("B < S", ("B", "S"), lambda b, s: b < s)

    def kept_limit(self):
        self.columns["K"] = self.columns["C"] + np.abs(self.columns["A"]) // 5
        self.add("C <= K", ("C", "K"), lambda c, k: c <= k)

    def odd(self):
        self.columns["O"] = self.draw.integers(-9, 9, size=self.n) * 2 + 1
        self.add("O mod 2 != 0", ("O",), lambda o: math.fmod(o, 2) != 0)

    def curved(self):
        top = float((self.columns["A"].astype(float) ** 2 + self.columns["B"].astype(float) ** 2).max())
        self.add(f"A * A + B * B <= {top!r}", ("A", "B"), lambda a, b: a * a + b * b <= top * (1 + 1e-12))

    def largest(self):
        self.columns["M"] = np.maximum(self.columns["A"], self.columns["B"])
        self.add("M = max(A, B)", ("A", "B", "M"), lambda a, b, m: m == max(a, b))


def near(x, y, *parts):
    return abs(x - y) <= 1e-11 * max(1e-300, abs(x), abs(y), *map(abs, parts))


KINDS = (
    Maker.total, Maker.total_of_total, Maker.half, Maker.product, Maker.product_of_a_sum, Maker.bounds, Maker.greater,
    Maker.listed, Maker.original, Maker.total_from_original, Maker.whole, Maker.implication, Maker.strict,
    Maker.kept_limit, Maker.odd, Maker.curved, Maker.largest,
)  # fmt: skip


def broken(table, rules):
    """Rules that a record with all of their values breaks, by their own predicates."""
    return [
        text
        for text, columns, holds in rules
        if any(None not in row and not holds(*row) for row in table.select(columns).rows())
    ]


@settings(max_examples=100)
@given(st.integers(0, 2**32), st.lists(st.sampled_from(KINDS), min_size=1, max_size=5, unique=True), st.data())
def test_random_rules_are_kept(seed, kinds, data):
    n = data.draw(st.integers(8, 60), label="n")
    made = Maker(seed, n)
    # the largest of what is there may not be that of all
    holes = 0.0 if Maker.largest in kinds else data.draw(st.sampled_from([0.0, 0.0, 0.1, 0.4]), label="holes")
    for kind in kinds:
        kind(made)
    table = pl.DataFrame(
        {
            name: pl.Series([v if made.draw.random() >= holes else None for v in values.tolist()])
            for name, values in made.columns.items()
        },
        strict=False,
    )
    assert not broken(table, made.rules)
    k = data.draw(st.integers(2, max(2, n // 3)), label="k")
    asked = {"method": data.draw(st.sampled_from(METHODS), label="method")}
    how = data.draw(st.sampled_from([None, "mean", "median", "trimmed-mean"]), label="aggregator")
    if how:
        asked["aggregators"] = how
    if data.draw(st.booleans(), label="blocking"):
        asked["blocking"] = {"method": "spread-tree", "size": 2 * k}
    quasi = [name for name in table.columns if name != "K"]
    release = shoal.protect(table, k, quasi, rules=[rule[0] for rule in made.rules], **asked)
    assert not broken(release.data, made.rules)
    for rule in release.summary.rules:
        assert rule.guaranteed
        assert rule.violations_before == rule.violations_after == 0
