"""One figure for risk and one for both: DR and SCORE, as in Torra, Cano and Navarro-Arribas 2009."""

from __future__ import annotations


def disclosure_risk(linked: float, disclosed: float) -> float:
    """Return DR in percent, the mean of record linkage and interval disclosure.

    >>> disclosure_risk(10.0, 50.0)
    30.0
    """
    return 0.5 * (linked + disclosed)


def score(loss: float, risk: float) -> float:
    """Return SCORE, the mean of PIL and DR in percent: lower is better, 50 is what unprotected data has.

    >>> score(40.0, 30.0)
    35.0
    """
    return 0.5 * (loss + risk)
