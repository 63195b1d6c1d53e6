"""Two numbers of a message, with as many digits as it takes to see which differ."""

from __future__ import annotations


def found_and_said(found: float, said: float) -> tuple[str, str]:
    """Return a number that was found and one that a certificate says, with as many decimals as tell them apart."""
    return _told_apart(found, said, "")


def in_percent(found: float, said: float, total: float) -> tuple[str, str]:
    """Return them in percent of the total, as the verdict has them; plain where the total is 0, which has no part."""
    if total <= 0.0:
        return found_and_said(found, said)
    return _told_apart(100.0 * found / total, 100.0 * said / total, " %")


def _told_apart(found: float, said: float, unit: str) -> tuple[str, str]:
    """Return both with a unit, and at least six decimals."""
    pairs = ((_plain(found, decimals), _plain(said, decimals)) for decimals in range(6, 18))
    one, other = next(((one, other) for one, other in pairs if one != other), (repr(float(found)), repr(float(said))))
    return f"{one}{unit}", f"{other}{unit}"


def _plain(x: float, decimals: int) -> str:
    """Return a number in decimals; one that would be hundreds of digits long in powers of ten."""
    return f"{x:.{decimals}f}" if abs(x) < 1e15 else f"{x:.{decimals}e}"
