"""Names for the array types that pass between the layers."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Flags: TypeAlias = NDArray[np.bool_]
Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Numbers: TypeAlias = NDArray[np.int64] | NDArray[np.float64] | NDArray[np.int64 | np.float64]


class Masked(NamedTuple):
    """The values of a column, 0 where there is none, and which there are."""

    values: Numbers
    observed: Flags
