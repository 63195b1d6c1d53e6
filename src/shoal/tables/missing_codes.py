"""The usual codes for missing values: texts that R, pandas, SPSS, Stata, SAS and Excel write, and numbers of nines.

A text such as ``NA`` is proposed as a mark of missing values. A number such as -99 is only asked about: it may be a
value.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from shoal.kernels.arrays import Floats

CERTAIN = ("NA", "N/A", "n/a", "#N/A", "NaN", "nan", "<NA>", "NULL", "null", "#NULL!", "?", ".", "..")
DOUBTFUL = ("None", "none", "-", "--")
"""Texts that may be a category of their own, as in None, Some, All: taken where all others are numbers."""

_LENGTHS = range(1, 7)  # digits of a code
_NEGATIVE = (
    *(-float(f"{digit}" * length) for length in _LENGTHS for digit in (7, 8, 9)),  # -7, -88, -999
    *(back - 10.0**length for length in _LENGTHS for back in (3, 2)),  # -97, -98
)
_POSITIVE = tuple(tuple(10.0**length - back for back in (3, 2, 1)) for length in _LENGTHS)  # 97, 98, 99
_APART = 1.5  # times the largest other value that a code of nines must be
_FEWEST = 2  # records that have it


def texts_for_missing(values: Iterable[str], numeric: bool) -> list[str]:
    """Return which of the distinct texts of a column usually mark missing values.

    ``numeric`` says that the column is numbers or dates without them.

    >>> texts_for_missing(["yes", "no", "None", "NA"], numeric=False), texts_for_missing(["1", "-"], numeric=True)
    (['NA'], ['-'])
    """
    bare = {value.strip() for value in values}
    found = [text for text in (*CERTAIN, *DOUBTFUL) if text in bare]
    if numeric:
        return found
    others = bare - set(found)
    countries = len(others) > 1 and all(len(other) == 2 and other.isalpha() and other.isupper() for other in others)
    return [text for text in found if text in CERTAIN and not (countries and text == "NA")]


def numbers_for_missing(values: Floats) -> dict[str, int]:
    """Return which numbers of a column look like codes for missing values, apart from all others, with their counts.

    >>> numbers_for_missing(np.array([3.0, 4.0, -99.0, -99.0, 5.0])), numbers_for_missing(np.array([-99.0, -98.0, 7.0]))
    ({'-99': 2}, {})
    """
    distinct, counts = np.unique(values, return_counts=True)
    count = dict(zip(distinct.tolist(), counts.tolist(), strict=True))
    found = [code for code in _NEGATIVE if count.get(code, 0) >= _FEWEST]
    others = np.array([value for value in distinct.tolist() if value not in found])
    if found and (not len(others) or others.min() < 0.0):
        return {}
    for family in _POSITIVE:
        codes = [code for code in family if count.get(code, 0) >= _FEWEST]
        rest = others[~np.isin(others, codes)]
        if codes and len(rest) > 1 and _APART * rest.max() <= min(codes):
            found += codes
    return {f"{code:.0f}": count[code] for code in dict.fromkeys(found)}
