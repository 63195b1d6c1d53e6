"""Whole numbers drawn from the discrete Laplace distribution, exactly: P(x) is proportional to exp(-|x| / scale).

Source: C. L. Canonne, G. Kamath and T. Steinke, The Discrete Gaussian for Differential Privacy, NeurIPS 2020 (section
5.1). All arithmetic is on whole numbers. Noise of floats would tell by its last digits which values are possible (I.
Mironov, On significance of the least significant bits for differential privacy, CCS 2012).

Cost: a few draws of a whole number for each, whatever the scale.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from fractions import Fraction

Below = Callable[[int], int]
"""Draws a whole number from 0 to below a limit, all with the same chance."""


def discrete_laplace(scale: Fraction, below: Below = secrets.randbelow) -> int:
    """Draw a whole number; ``below`` is the system's generator for cryptography unless a test says otherwise.

    >>> isinstance(discrete_laplace(Fraction(5, 2)), int)
    True
    """
    t, s = scale.numerator, scale.denominator
    while True:
        rest = below(t)
        if not bernoulli_exp(rest, t, below):
            continue
        whole = 0
        while bernoulli_exp(1, 1, below):
            whole += 1
        size = (rest + t * whole) // s
        negative = below(2)
        if negative and not size:  # 0 has one sign
            continue
        return -size if negative else size


def bernoulli_exp(numerator: int, denominator: int, below: Below) -> bool:
    """Return whether something happens whose chance is exp(-numerator / denominator), for a quotient from 0 to 1."""
    k = 1
    while below(denominator * k) < numerator:
        k += 1
    return k % 2 == 1
