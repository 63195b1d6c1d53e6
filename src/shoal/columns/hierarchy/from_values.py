"""Hierarchies made from the values themselves, where nobody has drawn one: flat, by an order, intervals or codes."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from shoal.columns.hierarchy.growing import grow
from shoal.columns.hierarchy.tree import Hierarchy
from shoal.errors import DataError, listed
from shoal.plan.limits import LONGEST_NUMBER

_SHOWN = 20  # values that a message names
_LONGEST_POWER = 4  # characters of a power of ten, as in 1e-308
_MARKS = " .-/_:"  # between the parts of a code
ROOT = "*"  # what users' own files call "any value"


def name_of(value: object) -> str:
    """Return the name that a value of a column has in hierarchies and orders: a whole number has no decimals.

    A column of codes with missing cells is one of floats in pandas.

    >>> name_of(7), name_of(7.0), name_of(7.5), name_of("007")
    ('7', '7', '7.5', '007')
    """
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def flat(values: Sequence[str], root: str = ROOT) -> Hierarchy:
    """Return one root above all values.

    >>> flat(["Male", "Female"]).names
    ('*', 'Female', 'Male')
    """
    if root in values:
        raise DataError(f"'{root}' is a value, and cannot be the root above all values; use a hierarchy of your own")
    return grow([(value, root) for value in sorted(set(values))], root=root)


def ordered(order: Sequence[str]) -> Hierarchy:
    """Return halves of an order, and halves of those, down to its values; a half is named by its first and last value.

    Neighbours in the order may be on two sides of a half: what a hierarchy can say of an order is rough.

    >>> ordered(["low", "middle", "high"]).names
    ('low..high', 'low..middle', 'low', 'middle', 'high')
    """
    if not order:
        raise DataError("order: names no value")
    pairs = []
    stack = [tuple(order)]
    while stack:
        part = stack.pop()
        if len(part) > 1:
            cut = (len(part) + 1) // 2
            for half in (part[:cut], part[cut:]):
                pairs.append((_span(half), _span(part)))
                stack.append(half)
    clash = {parent for _, parent in pairs} & set(order)
    if clash:
        raise DataError(f"order: '{min(clash)}' is a value, and the name of a part of the order too; rename it")
    # the first half comes first, whatever the stack did
    place = {name: i for i, name in enumerate(order)}
    pairs.sort(key=lambda pair: place[pair[0].split("..")[0]] if pair[0] not in place else place[pair[0]])
    return grow(pairs, root=_span(tuple(order)), in_order=True)


def _span(part: Sequence[str]) -> str:
    return part[0] if len(part) == 1 else f"{part[0]}..{part[-1]}"


def intervals(values: Sequence[str], widths: Sequence[float], root: str = ROOT) -> Hierarchy:
    """Return numbers below intervals, counted from 0, that are as wide as said, each level wider than the one before.

    >>> intervals(["3", "17", "21"], [10, 20]).names
    ('*', '[0, 20)', '[0, 10)', '3', '[10, 20)', '17', '[20, 40)', '[20, 30)', '21')
    """
    lost = [value for value in values if _number(value) is None]
    if lost:
        raise DataError(f"intervals are for numbers, and these values are none: {listed(lost, _SHOWN)}")
    chains = []
    for value in sorted(dict.fromkeys(values), key=lambda value: (_number(value), value)):
        number = _number(value)
        assert number is not None
        chain = [value]
        for width in map(Fraction, map(str, widths)):
            low = number // width * width
            chain.append(f"[{_decimal(low)}, {_decimal(low + width)})")
        chains.append([*chain, root])
    return grow([pair for chain in chains for pair in pairwise(chain)], root=root, in_order=True)


def prefixes(values: Sequence[str], lengths: Sequence[int] = (), root: str = ROOT) -> Hierarchy:
    """Return codes below their prefixes of some lengths, all where none are given, without marks at their ends.

    A code that is the prefix of another stands above it.

    >>> prefixes(["10.11", "10.12", "C20"], [2]).names
    ('*', '10', '10.11', '10.12', 'C2', 'C20')
    """
    pairs: dict[tuple[str, str], None] = {}
    for value in sorted({value.strip() for value in values}):
        if value == root:
            raise DataError(
                f"'{root}' is a value, and cannot be the root above all values; use a hierarchy of your own"
            )
        cut = [value[:length].rstrip(_MARKS) for length in (lengths or range(1, len(value)))]
        chain = dict.fromkeys(["", *(part for part in cut if len(part) < len(value)), value])
        names = [name or root for name in chain]
        pairs |= dict.fromkeys((below, above) for above, below in pairwise(names))
    return grow(pairs, root=root, in_order=True)


def _number(value: str) -> Fraction | None:
    power = value.lower().partition("e")[2]
    if len(value) > LONGEST_NUMBER or len(power) > _LONGEST_POWER:  # a fraction would write out all of its zeros
        return None
    try:
        return Fraction(value.strip())
    except (ValueError, ZeroDivisionError):
        return None


def _decimal(number: Fraction) -> str:
    """Write a number as people do: whole where it is, else with the digits it needs."""
    return str(number.numerator) if number.denominator == 1 else repr(float(number))
