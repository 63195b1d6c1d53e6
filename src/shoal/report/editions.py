"""The two editions of a report: what each may tell, and how its figures are written.

The internal edition is for those who may see the original. The external one goes with the release, so it is made to
help its users and not an intruder: docs/report.md says what is left out and why.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from shoal.errors import PlanError, decimal, did_you_mean
from shoal.measures.catalogue import Measure

FEWEST = 10  # original records that a figure of the external edition is about, at least
INSIDE = (  # measures that the external edition leaves out: what the original was like, and how near values are to it
    *("global_risk_original", "sample_uniques_original", "distinct_before"),
    *("introduced_combinations", "lost_combinations", "changed_records"),
    *("generalised_cells", "root_cells", "replaced_cells"),
    *("interval_disclosure", "interval_disclosure_sd", "interval_records", "interval_records_sd", "dr", "score"),
)
BY_SIZE = (  # measures that follow from sums of values or of squares, so that few columns give that of one back
    *("information_loss", "numeric_loss", "record_loss", "pil", "il1s", "wasserstein", "eigenvalue_difference"),
    *("correlation_difference", "pmse", "pmse_ratio", "coefficients_kept"),
    *("weighted_mean_change", "weighted_total_change"),
)
_COUNTS = ("suppressed_cells", "sample_uniques", "sample_uniques_original", "special_uniques")  # of records or cells
_PERCENT = "\N{NO-BREAK SPACE}%"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Edition:
    """What an edition may tell.

    Attributes
    ----------
    name : {"internal", "external"}
        Its name.
    least : int
        No figure is about fewer original records; 0 where everything may be told.
    bins : int
        About how many bins a histogram has.
    """

    name: str
    least: int
    bins: int

    @property
    def internal(self) -> bool:
        """Whether everything but the rows may be told."""
        return self.least == 0

    def for_k(self, k: int) -> Edition:
        """Return the edition for a release with groups of k: larger groups, larger cells."""
        return self if self.internal else replace(self, least=max(self.least, k))

    def count(self, number: int) -> str:
        """Write a number of records or cells."""
        return f"fewer than {self.least}" if 0 < number < self.least else f"{number:,}"

    def share(self, part: int, whole: int) -> float:
        """Return a share in percent, as exact as it may be told."""
        percent = 100.0 * part / whole if whole else 0.0
        return (round(percent, 3) or float(f"{percent:.1g}")) if self.internal else round(percent)

    def percent(self, value: float) -> str:
        """Write a figure in percent."""
        if self.internal:
            return f"{decimal(value)}{_PERCENT}"
        return f"below 0.1{_PERCENT}" if 0.0 < value < 0.05 else f"{value:.1f}{_PERCENT}"

    def plain(self, value: float) -> str:
        """Write a figure that has no unit."""
        return short(value, 3 if self.internal else 2)


_EDITIONS = {"internal": Edition("internal", 0, 40), "external": Edition("external", FEWEST, 16)}


def find_edition(name: str) -> Edition:
    """Return an edition by its name, or raise PlanError."""
    if name not in _EDITIONS:
        raise PlanError(f"edition: must be internal or external, not '{name}'{did_you_mean(name, _EDITIONS)}")
    return _EDITIONS[name]


def figure(edition: Edition, measure: Measure, value: Any) -> str:
    r"""Write the figure of a measure.

    >>> from shoal import MEASURES
    >>> external = find_edition("external")
    >>> figure(external, MEASURES["pil"], 14.339), figure(external, MEASURES["suppressed_cells"], 3)
    ('14.3\xa0%', 'fewer than 10')
    """
    if isinstance(value, list):
        return " to ".join(figure(edition, measure, part) for part in value)
    if isinstance(value, int):
        return edition.count(value) if measure.name in _COUNTS else f"{value:,}"
    return edition.percent(value) if measure.unit else edition.plain(value)


def short(value: float | None, digits: int = 4) -> str:
    """Write a number with so many digits, without an exponent where that is readable.

    >>> short(1234567.8), short(0.00012345), short(5.0), short(None)
    ('1,234,568', '0.0001234', '5', '')
    """
    if value is None or not math.isfinite(value):
        return ""
    if value == 0.0:
        return "0"
    size = math.floor(math.log10(abs(value)))
    if size >= 15 or size < -5:
        return f"{value:.{digits - 1}e}"
    if size >= digits:
        rounded = value if digits >= 4 else round(value, digits - 1 - size)
        return f"{rounded:,.0f}"
    text = f"{value:,.{max(digits - 1 - size, 0)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def moment(milliseconds: float | None, to_the_day: bool = True) -> str:
    """Write a date or time.

    >>> moment(86_400_000.0)
    '1970-01-02'
    """
    if milliseconds is None:
        return ""
    try:
        when = _EPOCH + timedelta(milliseconds=milliseconds)
    except OverflowError:
        return short(milliseconds)
    return when.strftime("%Y-%m-%d" if to_the_day else "%Y-%m-%d %H:%M")
