"""What shoal.measure found: every figure by its name."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.errors import FileError, counted
from shoal.measures.catalogue import MEASURES
from shoal.measures.figures import NamedFigures
from shoal.plan.files_read import Inputs
from shoal.plan.notebook import fragment, grid
from shoal.tables.files.writing_whole import check_target, write_whole


@dataclass(frozen=True)
class Measures(NamedFigures):
    """What a release keeps and what it risks; also a mapping of its names to its values.

    ``shoal.MEASURES`` has a sentence for each figure, and docs/measures.md its definition. Losses and risks are in
    percent. None stands for a measure that does not apply; ``notes`` says why.

    Attributes
    ----------
    records : int
        Rows of the tables.
    weight : str or None
        The column of sampling weights.
    quasi_identifiers, numeric, categorical, semantic, known, confidential : list of str
        The columns that were measured, those of them with numbers, with categories and with a hierarchy, those that the
        intruder knows, and the confidential ones.
    information_loss, sse, sst, numeric_loss, category_loss : float
        Squared error over what there was to lose, the mean of all columns; of the numbers and of the categories alone.
    record_loss : float
        Squared distances of whole records over those from the centre, where there are categories.
    semantic_loss, semantic_sse, semantic_sst : float
        The same with the categories of the records alone.
    pil, pil_parts, il1s
        Probabilistic information loss, and the five averages that it is made of; IL1s.
    correlations : dict
        The correlations of the numbers in both tables, as lists of lists, with the names of their columns.
    correlation_difference, eigenvalue_difference, kolmogorov_smirnov, wasserstein : float
        Changes of correlations, eigenvalues and distributions.
    pmse, pmse_ratio, coefficients_kept : float
        Propensity score; overlap of confidence intervals of regression coefficients.
    table_distance, table_hellinger : float
        Distance of the tables of every two columns of categories, or of the one there is.
    weighted_mean_change, weighted_total_change, weighted_share_change : float
        Changes of what a weighted sample says of the population: of means, of totals, and of the shares of categories.
    suppressed_cells : int
        Cells that are missing in the release only.
    generalised_cells, root_cells, replaced_cells : int
        Categories that became a name above theirs, those of them that became the root, and those that became another
        value.
    changed_records : float
        Share of the records that are not as they were.
    distinct_before, distinct_after, introduced_combinations, lost_combinations, introduced_records : int
        Combinations of quasi-identifiers before and after; those that are new, those that are gone, and records with
        new ones.
    dbrl, probabilistic_linkage : float
        Records linked to their own, by distance and by agreement.
    linkage : dict
        For ``dbrl`` and ``probabilistic_linkage`` the number of ``records`` that were linked and the standard
        ``error`` of the figure, 0 where that was all of them.
    interval_disclosure, interval_disclosure_sd, interval_records, interval_records_sd : float
        Numbers, and whole records, within an interval by rank or by standard deviation.
    interval_by_width : dict
        The same four for each single width p of 1 to 10 percent, by their names and by p.
    dr, score : float
        Mean of DBRL and interval disclosure; mean of PIL and DR.
    global_risk, global_risk_original, expected_reidentifications, highest_risk : float
        Mean individual risk of the release and of the original; times the records; the largest.
    records_at_risk : dict
        Number of records with an individual risk of at least 50, 20, 10, 5 and 1 percent.
    sample_uniques, sample_uniques_original, special_uniques : int
        Records alone with their key; those that few columns single out.
    highest_special : float
        Largest SUDA score of a record.
    unique_columns, minimal_uniques : int, dict
        Columns of the largest minimal sample uniques that were looked for; their number by how many columns they have.
    k_anonymity : int
        Records that share the rarest key.
    key_sizes : dict
        Number of keys by how many records share them.
    l_diversity, alpha, t_closeness : int or float
        The weakest over the confidential columns.
    delta_presence : list of float
        Smallest and largest share of the people with a key that are in the release.
    by_column : dict
        Figures of each quasi-identifier.
    by_confidential : dict
        l-diversity, alpha and t-closeness of each confidential column.
    notes : list of str
        What a user should know about these figures.
    seconds, version
        Wall time, and the version of shoal.
    """

    records: int
    weight: str | None
    quasi_identifiers: list[str]
    numeric: list[str]
    categorical: list[str]
    semantic: list[str]
    known: list[str]
    confidential: list[str]
    information_loss: float
    sse: float
    sst: float
    numeric_loss: float | None
    category_loss: float | None
    record_loss: float | None
    semantic_loss: float | None
    semantic_sse: float | None
    semantic_sst: float | None
    pil: float | None
    pil_parts: dict[str, float | None]
    il1s: float | None
    correlations: dict[str, Any] | None
    correlation_difference: float | None
    eigenvalue_difference: float | None
    kolmogorov_smirnov: float | None
    wasserstein: float | None
    pmse: float | None
    pmse_ratio: float | None
    coefficients_kept: float | None
    table_distance: float | None
    table_hellinger: float | None
    weighted_mean_change: float | None
    weighted_total_change: float | None
    weighted_share_change: float | None
    suppressed_cells: int
    generalised_cells: int | None
    root_cells: int | None
    replaced_cells: int | None
    changed_records: float
    distinct_before: int
    distinct_after: int
    introduced_combinations: int | None
    lost_combinations: int | None
    introduced_records: int | None
    dbrl: float
    probabilistic_linkage: float | None
    linkage: dict[str, dict[str, float]]
    interval_disclosure: float | None
    interval_disclosure_sd: float | None
    interval_records: float | None
    interval_records_sd: float | None
    interval_by_width: dict[str, dict[str, float | None]]
    dr: float | None
    score: float | None
    global_risk: float
    global_risk_original: float
    expected_reidentifications: float
    highest_risk: float
    records_at_risk: dict[str, int]
    sample_uniques: int
    sample_uniques_original: int
    special_uniques: int | None
    highest_special: float | None
    unique_columns: int | None
    minimal_uniques: dict[str, int]
    k_anonymity: int
    key_sizes: dict[str, int]
    l_diversity: int | None
    alpha: float | None
    t_closeness: float | None
    delta_presence: list[float] | None
    by_column: dict[str, dict[str, Any]]
    by_confidential: dict[str, dict[str, float]]
    notes: list[str]
    seconds: float
    version: str

    def __repr__(self) -> str:
        risk = "" if self.dr is None else f", disclosure risk {self.dr:.4g} %, score {self.score:.4g}"
        return (
            f"<Measures of {counted(self.records, 'record')}: information loss {self.information_loss:.4g} %, linked "
            f"{self.dbrl:.4g} %{risk}, k = {self.k_anonymity}>"
        )

    def _repr_html_(self) -> str:
        """Return what notebooks show: the figures that apply, with what each says."""
        rows = [
            (measure.label, measure.written(self[measure.name]), measure.sentence)
            for measure in MEASURES.values()
            if self[measure.name] is not None
        ]
        about = {
            "records": f"{self.records:,}",
            "quasi-identifiers": ", ".join(self.quasi_identifiers),
            **({} if self.weight is None else {"weight": self.weight}),
        }
        return fragment("Measures", about, tables=[grid(("measure", "figure", "what it says"), rows)], notes=self.notes)

    def write(self, path: str | Path, *, overwrite: bool = True, like: Sequence[Path] = ()) -> None:
        """Write the figures to a JSON file, which is open to nobody to whom the files ``like`` are not."""
        check_json(Path(path), overwrite=overwrite)
        text = json.dumps(self.to_dict(), indent=2, ensure_ascii=False)
        write_whole(Path(path), text + "\n", like=like, overwrite=overwrite)


def check_json(path: Path, inputs: Inputs = (), overwrite: bool = True) -> None:
    """Refuse a path that the figures cannot be written to."""
    if path.suffix.lower() != ".json":
        raise FileError(f"'{path}': figures are written as JSON; give it the ending .json")
    check_target(path, inputs, overwrite)
