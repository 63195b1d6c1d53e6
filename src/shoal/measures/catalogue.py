"""The measures by name: what each says in one sentence, and how to read it.

To add one: write a function of a comparison in a module here, add an entry with it, and a field to ``Measures``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from shoal.errors import decimal
from shoal.measures.anonymity import delta_presence
from shoal.measures.suppression import suppressed_cells

if TYPE_CHECKING:
    from shoal.measures.comparison import Comparison

PERCENT = "%"


@dataclass(frozen=True)
class Measure:
    """A figure that ``shoal.measure`` gives.

    Attributes
    ----------
    name : str
        Its name in the result and in JSON.
    label : str
        Its name for people.
    about : {"utility", "risk", "both"}
        Whether it tells what was lost, what is at risk, or both.
    unit : str
        ``"%"``, or empty.
    better : {"lower", "higher"}
        Which way is better for the data owner.
    sentence : str
        What it says.
    of : callable, optional
        ``of(comparison)`` returns the figure, or None where it does not apply. Without it the figure comes from a pass
        that several share, in ``evaluation.py``.
    """

    name: str
    label: str
    about: Literal["utility", "risk", "both"]
    unit: str
    better: Literal["lower", "higher"]
    sentence: str
    of: Callable[[Comparison], Any] | None = None

    def written(self, value: Any) -> str:
        """Return a figure for people, with its unit."""
        return written(value, self.unit)


def _listed(*measures: Measure) -> dict[str, Measure]:
    return {measure.name: measure for measure in measures}


def written(value: Any, unit: str) -> str:
    """Write a figure for people, with its unit; a range as two.

    >>> written(0.0004, "%"), written([0.1, 0.25], ""), written(7, "")
    ('0.0004 %', '0.1 to 0.25', '7')
    """
    if isinstance(value, list):
        return " to ".join(written(part, unit) for part in value)
    text = str(value) if isinstance(value, int) else decimal(value) if unit else f"{value:.4g}"
    return f"{text} {unit}".strip()


MEASURES: dict[str, Measure] = _listed(
    Measure(
        "information_loss", "information loss", "utility", PERCENT, "lower",
        "Squared error over what there was to lose, the mean of all columns: 0 is the original, 100 every cell at the "
        "centre of its column.",
    ),
    Measure(
        "numeric_loss", "loss of numbers", "utility", PERCENT, "lower",
        "The same, of the columns of numbers and dates alone.",
    ),
    Measure(
        "category_loss", "loss of categories", "utility", PERCENT, "lower",
        "The same, of the columns of categories alone.",
    ),
    Measure(
        "record_loss", "record loss", "utility", PERCENT, "lower",
        "Squared distance of whole records from what was released for them, over that from the centre.",
    ),
    Measure(
        "semantic_loss", "loss of meaning", "utility", PERCENT, "lower",
        "The same by the categories of the records alone.",
    ),
    Measure(
        "pil", "PIL", "utility", PERCENT, "lower",
        "How surprising the released quantiles, means, variances, covariances and correlations would be for a sample.",
    ),
    Measure(
        "il1s", "IL1s", "utility", PERCENT, "lower",
        "Mean absolute change of a number, in units of the square root of 2 standard deviations.",
    ),
    Measure(
        "correlation_difference", "change of correlations", "utility", "", "lower",
        "Mean absolute change of the correlation of two columns.",
    ),
    Measure(
        "eigenvalue_difference", "change of eigenvalues", "utility", PERCENT, "lower",
        "Change of the eigenvalues of the covariance matrix, in percent of their sum.",
    ),
    Measure(
        "kolmogorov_smirnov", "Kolmogorov-Smirnov", "utility", "", "lower",
        "Largest difference of the distribution functions of a column, averaged: 0 is the same distribution, 1 none "
        "of it.",
    ),
    Measure(
        "wasserstein", "Wasserstein", "utility", "", "lower",
        "How far values have to move to restore the distribution of a column, in standard deviations, averaged.",
    ),
    Measure(
        "pmse", "propensity (pMSE)", "utility", "", "lower",
        "How well a model tells released from original records: 0 not at all, 0.25 always.",
    ),
    Measure(
        "pmse_ratio", "pMSE ratio", "utility", "", "lower",
        "pMSE over that of records drawn at random from the original: about 1 or less is as good as such a draw.",
    ),
    Measure(
        "coefficients_kept", "regression coefficients kept", "utility", PERCENT, "higher",
        "Overlap of the 95 % confidence intervals when each number is regressed on the others.",
    ),
    Measure(
        "table_distance", "distance of tables", "utility", PERCENT, "lower",
        "Share of the records that would have to move to restore the table of every two columns of categories.",
    ),
    Measure(
        "table_hellinger", "Hellinger distance of tables", "utility", PERCENT, "lower",
        "The same with more weight on small cells.",
    ),
    Measure(
        "weighted_mean_change", "change of weighted means", "utility", PERCENT, "lower",
        "Change of the weighted mean of a number, in percent of its weighted standard deviation, averaged.",
    ),
    Measure(
        "weighted_total_change", "change of weighted totals", "utility", PERCENT, "lower",
        "Change of the weighted total of a number, in percent of it, averaged.",
    ),
    Measure(
        "weighted_share_change", "change of weighted shares", "utility", PERCENT, "lower",
        "Weighted share of the records that would have to move to restore a column of categories, averaged.",
    ),
    Measure(
        "suppressed_cells", "suppressed cells", "utility", "", "lower",
        "Cells that are missing in the release and were not in the original.", suppressed_cells,
    ),
    Measure(
        "generalised_cells", "generalised categories", "utility", "", "lower",
        "Categories that became a name above theirs in the hierarchy.",
    ),
    Measure(
        "root_cells", "categories that became the root", "utility", "", "lower",
        "Those of them that say nothing any more.",
    ),
    Measure(
        "replaced_cells", "replaced categories", "utility", "", "lower",
        "Categories that became another value, which is not above theirs.",
    ),
    Measure(
        "changed_records", "records changed", "utility", PERCENT, "lower",
        "Share of the records whose quasi-identifiers are not as they were.",
    ),
    Measure(
        "introduced_combinations", "combinations introduced", "utility", "", "lower",
        "Released combinations of quasi-identifiers that no original record has.",
    ),
    Measure(
        "lost_combinations", "combinations lost", "utility", "", "lower",
        "Original combinations of quasi-identifiers that no released record has.",
    ),
    Measure(
        "dbrl", "record linkage (DBRL)", "risk", PERCENT, "lower",
        "Share of the records whose nearest released record is their own; ties share the link.",
    ),
    Measure(
        "probabilistic_linkage", "probabilistic linkage", "risk", PERCENT, "lower",
        "Share of the records that are linked to their own by which columns agree.",
    ),
    Measure(
        "interval_disclosure", "interval disclosure", "risk", PERCENT, "lower",
        "Share of the numbers whose rank is within p % of the records of what was released, over p = 1 to 10.",
    ),
    Measure(
        "interval_disclosure_sd", "interval disclosure by deviation", "risk", PERCENT, "lower",
        "Share of the numbers within p % of a standard deviation of what was released, over p = 1 to 10.",
    ),
    Measure(
        "interval_records", "records inside all intervals", "risk", PERCENT, "lower",
        "Share of the records all of whose numbers are disclosed by rank, over p = 1 to 10.",
    ),
    Measure(
        "interval_records_sd", "records inside all deviations", "risk", PERCENT, "lower",
        "Share of the records all of whose numbers are disclosed by deviation, over p = 1 to 10.",
    ),
    Measure("dr", "disclosure risk (DR)", "risk", PERCENT, "lower", "Mean of DBRL and interval disclosure."),
    Measure(
        "global_risk", "global risk", "risk", PERCENT, "lower",
        "Share of the records that somebody who knows their released key is expected to find: the mean of 1 / f, of "
        "1 / F in the population where there are weights.",
    ),
    Measure(
        "global_risk_original", "global risk before", "risk", PERCENT, "lower", "The same in the original."
    ),
    Measure(
        "distinct_before", "combinations before", "risk", "", "lower",
        "Different combinations of quasi-identifiers in the original.",
    ),
    Measure(
        "distinct_after", "combinations after", "risk", "", "lower", "The same in the release."
    ),
    Measure(
        "highest_risk", "highest individual risk", "risk", PERCENT, "lower",
        "Chance of finding the record that is easiest to find.",
    ),
    Measure(
        "sample_uniques", "sample uniques", "risk", "", "lower",
        "Released records whose key no other record has.",
    ),
    Measure(
        "sample_uniques_original", "sample uniques before", "risk", "", "lower", "The same in the original."
    ),
    Measure(
        "special_uniques", "special uniques", "risk", "", "lower",
        "Released records that a few of the columns are enough to single out.",
    ),
    Measure(
        "highest_special", "highest SUDA score", "risk", "", "lower",
        "Score of the record that the fewest columns single out in the most ways; 0 where none is special.",
    ),
    Measure(
        "k_anonymity", "k-anonymity", "risk", "", "higher",
        "Records that share the rarest combination of quasi-identifiers.",
    ),
    Measure(
        "l_diversity", "l-diversity", "risk", "", "higher",
        "Fewest values of a confidential column among records with the same quasi-identifiers.",
    ),
    Measure(
        "alpha", "alpha", "risk", "", "lower",
        "Largest share of one confidential value among records with the same quasi-identifiers.",
    ),
    Measure(
        "t_closeness", "t-closeness", "risk", "", "lower",
        "Largest distance from the confidential values of such records to those of the table, 0 to 1.",
    ),
    Measure(
        "delta_presence", "delta-presence", "risk", "", "lower",
        "Smallest and largest chance that somebody of the population is in the release, by the quasi-identifiers.",
        delta_presence,
    ),
    Measure(
        "score", "SCORE", "both", PERCENT, "lower",
        "Mean of PIL and DR: 50 is what unprotected data has, and lower is better.",
    ),
)  # fmt: skip
