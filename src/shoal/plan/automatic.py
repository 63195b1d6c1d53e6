"""Quasi-identifiers that nobody names: those that stand for the sets that rules form."""

from __future__ import annotations

AUTO = "auto"


def is_auto(value: object) -> bool:
    """Whether quasi-identifiers are those that rules form, as a text or in lists.

    >>> is_auto("auto"), is_auto([["auto"]]), is_auto(["age"])
    (True, True, False)
    """
    return value in (AUTO, [AUTO], (AUTO,), [[AUTO]], ((AUTO,),))
