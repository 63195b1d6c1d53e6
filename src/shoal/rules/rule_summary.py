"""How a rule was kept and what it cost, as the summary of a release tells it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RuleSummary:
    """How a rule was kept, and what it cost.

    Attributes
    ----------
    name, kind : str
        Of the rule: linear, multiplicative, possible values, governing, original domain or unclassified.
    columns : list of str
        The columns that it needs.
    kept_by : str
        What keeps it, and in how many groups.
    violations_before, violations_after : int
        Records that break it in the original and in the release.
    guaranteed : bool
        Whether it is kept by construction wherever it held; otherwise it is only checked.
    cost : float
        What its columns lose more than the means of the same groups would, in percent of their sum of squares.
    """

    name: str
    kind: str
    columns: list[str]
    kept_by: str
    violations_before: int
    violations_after: int
    guaranteed: bool
    cost: float
