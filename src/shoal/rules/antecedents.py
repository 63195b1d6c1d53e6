"""Strata by antecedents: records in which an antecedent holds are not grouped with those in which it does not.

Then a mean of records in which "if EARNINGS < 1115 then WAGES <= TAXABLE" holds because of its consequent keeps it, and
so does one of records that have nothing to do with it. That costs little where plain groups would break the rule in
many places, and much where they hardly do: which antecedents are strata is chosen by the loss that results. One that
fewer than k records satisfy, or all but fewer than k, is no stratum; and a combination of several with fewer than k
records joins the nearest one of its stratum, by all columns. What is released for such groups is checked like all
others, and changed where it would break the rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from shoal.blocking.strata import merge_small_mixed_strata, merge_small_strata
from shoal.columns.quasi_identifiers import QuasiIdentifiers
from shoal.kernels.arrays import Flags, Ints
from shoal.rules.classify import Classified
from shoal.rules.evaluate import Observations, evaluate
from shoal.rules.expression import Condition
from shoal.rules.tuples import bound_parts

Antecedents = dict[Condition, tuple[Flags, list[str]]]
"""Which records satisfy each, and the names of the rules that have it."""


def antecedents_of(rules: Sequence[Classified], observations: Mapping[str, Observations], k: int) -> Antecedents:
    """Return the antecedents that may be strata: the records that satisfy each, and the names of the rules it has.

    >>> from shoal.rules.classify import classify
    >>> from shoal.rules.grammar import parse_rule
    >>> x = np.array([1.0, 2.0, 8.0, 9.0])
    >>> rule = classify(parse_rule("low: if X < 5 then X <= Y"))
    >>> list(antecedents_of([rule], {"X": Observations(x, x > 0)}, 2).values())
    [(array([ True,  True, False, False]), ['low'])]
    """
    found: Antecedents = {}
    for bound in bound_parts(rules):
        if bound.antecedent is None:
            continue
        if bound.antecedent not in found:
            found[bound.antecedent] = (evaluate(bound.antecedent, observations).holds, [])
        names = found[bound.antecedent][1]
        if rules[bound.rule].name not in names:
            names.append(rules[bound.rule].name)
    return {one: own for one, own in found.items() if k <= int(own[0].sum()) <= len(own[0]) - k}


def split_by_antecedents(strata: Ints, antecedents: Sequence[Flags], quasi: QuasiIdentifiers, k: int) -> Ints:
    """Return finer strata (n,) for a set of quasi-identifiers, by which of some antecedents each record satisfies."""
    if not antecedents:
        return strata
    codes = strata
    for flags in antecedents:
        codes = np.unique(2 * codes + flags, return_inverse=True)[1].reshape(-1)
    merged = codes.copy()
    for stratum in np.unique(strata):
        rows = np.flatnonzero(strata == stratum)
        own, inside = np.unique(codes[rows], return_inverse=True)
        inside = inside.reshape(-1)
        if len(own) > 1 and np.bincount(inside).min() < k:
            part = quasi.take(rows)
            joined = (
                merge_small_mixed_strata(inside, part.counted(), k)
                if part.mixed
                else merge_small_strata(inside, part.scaled(), k)
            )
            merged[rows] = own[joined]
    return np.unique(merged, return_inverse=True)[1].reshape(-1)
