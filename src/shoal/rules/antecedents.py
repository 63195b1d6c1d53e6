"""Strata by antecedents: records in which an antecedent holds are not grouped with those in which it does not.

Then a mean of records in which "if EARNINGS < 1115 then WAGES <= TAXABLE" holds because of its consequent keeps it, and
so does one of records that have nothing to do with it. An antecedent that fewer than k records satisfy, or all but
fewer than k, is no stratum; and a combination of several with fewer than k records joins the nearest one of its
stratum. What is released for such groups is checked like all others, and changed where it would break the rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from shoal.blocking.strata import merge_small_strata
from shoal.columns.scaling import Records
from shoal.kernels.arrays import Ints
from shoal.rules.classify import Classified
from shoal.rules.evaluate import Observations, evaluate
from shoal.rules.tuples import bound_parts


def split_by_antecedents(
    strata: Ints, rules: Sequence[Classified], observations: Mapping[str, Observations], records: Records, k: int
) -> tuple[Ints, set[str]]:
    """Return finer strata for a set of quasi-identifiers, and the names of the rules whose antecedent is one.

    >>> from shoal.rules.classify import classify
    >>> from shoal.rules.grammar import parse_rule
    >>> x = np.array([1.0, 2.0, 8.0, 9.0])
    >>> rule = classify(parse_rule("low: if X < 5 then X <= Y"))
    >>> split_by_antecedents(np.zeros(4, int), [rule], {"X": Observations(x, x > 0)}, Records(x[:, None]), 2)
    (array([1, 1, 0, 0]), {'low'})
    """
    codes, used = strata, set()
    done = {}
    for bound in bound_parts(rules):
        if bound.antecedent is None:
            continue
        if bound.antecedent not in done:
            flags = evaluate(bound.antecedent, observations).holds
            done[bound.antecedent] = k <= int(flags.sum()) <= len(flags) - k
            if done[bound.antecedent]:
                codes = np.unique(2 * codes + flags, return_inverse=True)[1].reshape(-1)
        if done[bound.antecedent]:
            used.add(rules[bound.rule].name)
    if not used:
        return strata, used
    merged = codes.copy()
    for stratum in np.unique(strata):
        rows = np.flatnonzero(strata == stratum)
        own, inside = np.unique(codes[rows], return_inverse=True)
        if len(own) > 1 and np.bincount(inside.reshape(-1)).min() < k:
            seen = None if records.observed is None else records.observed[rows]
            part = Records(np.ascontiguousarray(records.values[rows]), seen)
            merged[rows] = own[merge_small_strata(inside.reshape(-1), part, k)]
    return np.unique(merged, return_inverse=True)[1].reshape(-1), used
