"""Which combination to take, and why, in plain words.

Without a limit it is the knee of the front. With a limit on risk it is the combination of least loss within all limits;
with a limit on loss alone, the one of least risk. Where none is within the limits, the nearest is named: the one whose
largest excess over a limit, in points of percent, is smallest. Ties go to the lower of the other axis, then to the
first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.errors import PlanError, counted, decimal, did_you_mean
from shoal.kernels.arrays import Floats, Ints
from shoal.measures.catalogue import MEASURES
from shoal.sweeps.results import LOSSES, Result
from shoal.sweeps.trade_off import knee, pareto_front

RISKS = ("dbrl", "dr", "global_risk", "interval_disclosure")


@dataclass(frozen=True)
class Axes:
    """What is weighed against what, and the limits in percent."""

    risk: str = RISKS[0]
    loss: str = LOSSES[0]
    max_risk: float | None = None
    max_loss: float | None = None

    def mistakes(self) -> list[str]:
        """Say which axes do not exist and which limits no figure can be compared with."""
        found = []
        for what, name, known in (("risk", self.risk, RISKS), ("loss", self.loss, LOSSES)):
            if name not in known:
                found.append(f"{what}: there is no '{name}'{did_you_mean(name, known)} (there are {', '.join(known)})")
        for what, limit in (("max_risk", self.max_risk), ("max_loss", self.max_loss)):
            if limit is not None and not 0.0 <= limit <= 100.0:
                found.append(f"{what}: must be a percentage from 0 to 100")
        return found

    def limits(self) -> list[tuple[str, float]]:
        """Return the measures that have a limit, with it."""
        both = ((self.risk, self.max_risk), (self.loss, self.max_loss))
        return [(name, limit) for name, limit in both if limit is not None]


@dataclass(frozen=True)
class Judgement:
    """What a sweep comes to: places among its results, and the recommendation.

    Attributes
    ----------
    front : list of int
        The Pareto front, from the highest risk to the lowest.
    knee, recommended, nearest : int or None
        The knee of the front; what is recommended; where no combination is within the limits, the nearest.
    sentence : str
        The recommendation, with its reason.
    """

    front: list[int]
    knee: int | None
    recommended: int | None
    nearest: int | None
    sentence: str


def judge(results: Sequence[Result], axes: Axes) -> Judgement:
    """Find front and knee, and recommend a combination."""
    mistakes = axes.mistakes()
    if mistakes:
        raise PlanError(mistakes)
    risk, loss = (np.array([getattr(r, name) for r in results], dtype=np.float64) for name in (axes.risk, axes.loss))
    there = np.flatnonzero(~np.isnan(risk) & ~np.isnan(loss))  # None becomes NaN
    if len(there) == 0:
        idle = [name for name, values in ((axes.risk, risk), (axes.loss, loss)) if np.isnan(values).all()]
        named = " and ".join(label(name) for name in idle or (axes.risk, axes.loss))
        return Judgement([], None, None, None, f"No recommendation: {named} cannot be measured on these columns.")
    front = there[pareto_front(risk[there], loss[there])]
    bend = knee(risk[front], loss[front])
    at_knee = None if bend is None else int(front[bend])
    words = _Words(results, axes, [int(place) for place in front])
    if axes.limits():
        return _within_limits(words, there, risk, loss, at_knee)
    if len(front) == 1:
        chosen = int(front[0])
        others = "It is the only combination." if len(there) == 1 else "No other combination has less of either."
        return Judgement(words.front, None, chosen, None, f"{words.figures(chosen)}. {others}")
    if at_knee is None:
        ends = f"{words.figures(words.front[0])}, and {words.figures(words.front[-1])}"
        return Judgement(
            words.front, None, None, None,
            f"No recommendation: the front of {len(front)} combinations has no knee, so no k stands out between its "
            f"ends. These are {ends}. Set a limit, max_risk or max_loss, or sweep over more k.",
        )  # fmt: skip
    reason = "It is the knee of the front, the point farthest below the line that joins its ends"
    sentence = f"{words.figures(at_knee)}. {reason}{words.steps(at_knee)}."
    return Judgement(words.front, at_knee, at_knee, None, sentence)


def _within_limits(words: _Words, there: Ints, risk: Floats, loss: Floats, at_knee: int | None) -> Judgement:
    """Recommend the best combination within the limits, or name the nearest."""
    axes = words.axes
    excess = np.max(
        [
            (values if limit is not None else np.full_like(values, -np.inf)) - (limit if limit is not None else 0.0)
            for values, limit in ((risk, axes.max_risk), (loss, axes.max_loss))
        ],
        axis=0,
    )
    asked = " and ".join(f"{label(name)} of at most {limit:g} %" for name, limit in axes.limits())
    within = there[excess[there] <= 0.0]
    goal, other = (loss, risk) if axes.max_risk is not None else (risk, loss)
    if len(within):
        chosen = int(within[np.lexsort((other[within], goal[within]))[0]])
        best = "least loss" if axes.max_risk is not None else "least risk"
        reason = f"It has the {best} of the {counted(len(within), 'combination')} with {asked}"
        if len(within) == 1:
            reason = f"It is the only combination with {asked}"
        sentence = f"{words.figures(chosen)}. {reason}{words.steps(chosen)}."
        return Judgement(words.front, at_knee, chosen, None, sentence)
    nearest = int(there[np.lexsort((goal[there], excess[there]))[0]])
    every = "The only combination does not have" if len(there) == 1 else f"None of the {len(there)} combinations has"
    sentence = f"{every} {asked}. The nearest is {words.figures(nearest)}."
    return Judgement(words.front, at_knee, None, nearest, sentence)


@dataclass(frozen=True)
class _Words:
    """Sentences about combinations."""

    results: Sequence[Result]
    axes: Axes
    front: list[int]

    def figures(self, place: int) -> str:
        """Return ``k = 6 with iv-mdav: record linkage 4.1 %, information loss 7.2 %``."""
        result = self.results[place]
        parts = []
        for name in (self.axes.risk, self.axes.loss):
            error = result.errors.get(name)
            told = "" if error is None else f" (standard error {points(error)})"
            parts.append(f"{label(name)} {decimal(getattr(result, name), 1)} %{told}")
        return f"k = {result.k} with {result.name}: {', '.join(parts)}"

    def steps(self, place: int) -> str:
        """Say what the next larger and smaller k on the front would change."""
        if place not in self.front:
            return ""
        here = self.front.index(place)
        larger = self._next(self.front[here + 1 :], place, 1)
        smaller = self._next(self.front[:here][::-1], place, -1)
        told = ""
        if larger is not None:
            risk, loss = self._difference(place, larger)
            told = f". Going to {self._other(larger, place)} buys {risk} of risk for {loss} of loss"
        if smaller is not None:
            risk, loss = self._difference(smaller, place)
            joint = "; going back" if told else ". Going back"
            told += f"{joint} to {self._other(smaller, place)} saves {loss} of loss for {risk} of risk"
        return told

    def _next(self, places: list[int], place: int, sign: int) -> int | None:
        """Return the first place whose k is larger, or smaller where the sign is -1."""
        k = self.results[place].k
        return next((p for p in places if sign * (self.results[p].k - k) > 0), None)

    def _other(self, place: int, than: int) -> str:
        result = self.results[place]
        return f"k = {result.k}" + ("" if result.name == self.results[than].name else f" with {result.name}")

    def _difference(self, risky: int, safe: int) -> tuple[str, str]:
        """Return how many points of risk and of loss lie between two points of the front."""
        first, second = self.results[risky], self.results[safe]
        risk = getattr(first, self.axes.risk) - getattr(second, self.axes.risk)
        loss = getattr(second, self.axes.loss) - getattr(first, self.axes.loss)
        return f"{points(risk)} points", f"{points(loss)} points"


def label(name: str) -> str:
    """Return the name of a measure for the middle of a sentence.

    >>> label("dbrl"), label("pil")
    ('record linkage', 'PIL')
    """
    return MEASURES[name].label.partition(" (")[0]


def points(value: float) -> str:
    """Return a number of points with one decimal, or with two digits where that would be too few.

    >>> points(2.345), points(0.0123), points(0.0)
    ('2.3', '0.012', '0.0')
    """
    return f"{value:.2g}" if 0.0 < abs(value) < 0.1 else decimal(value, 1)
