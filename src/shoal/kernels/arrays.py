"""Names for the array types that pass between the layers."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Flags: TypeAlias = NDArray[np.bool_]
Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Numbers: TypeAlias = NDArray[np.int64] | NDArray[np.float64] | NDArray[np.int64 | np.float64]
