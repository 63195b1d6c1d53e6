"""The page of figures beside those of sdcMicro, docs/results/sdcmicro.md."""

from __future__ import annotations

from typing import Any

from markdown import DOCS, made_by, table, write
from record import load
from sdcmicro import recorded

_TITLES = {
    "mdav": "## `mdav`: the same groups",
    "onedims": "## `onedims`: individual ranking",
    "pca": "## `pca`: along the first principal component",
    "rmd": "## `rmd`, and what loses least here",
}
_SAID = {
    "mdav": """Here `method="mdav"`. The last column says whether every record is in the same group; where it says no,
two records that are equal in every column have changed places, and no figure changes.""",
    "onedims": """Here `method="individual-ranking"`. Each column is cut by itself, so that k holds for each column and
not for the record: see how large dRisk is.""",
    "pca": """Here `method="univariate"` on several columns. sdcMicro cuts the order into groups of k; here the cuts are
the best ones, so that it loses less.""",
    "rmd": """Here `method="optimal"`, the default. A release that is nearer to the original is also nearer for whoever
compares single values, so that dRisk can be larger at the same k: choose k by [a sweep](../sweeps.md).""",
}
_SETS = {"example": "the example", "tarragona": "Tarragona", "census": "Census"}


def sdcmicro() -> None:
    """Write docs/results/sdcmicro.md."""
    machine, rows = load("sdcmicro")
    there = recorded()
    known = {(c["table"], c["method"], c["aggr"], c["strata"]): c for c in there["calls"]}
    commits = ", ".join(f"`{name}` {commit[:10]}" for name, commit in there["commits"].items())
    versions = ", ".join(f"{name} {number}" for name, number in there["versions"].items())
    parts = [_INTRODUCTION, made_by("sdcmicro", machine), f"Of sdcMicro: {commits}; {versions}."]
    for method, title in _TITLES.items():
        here = [row for row in rows if row["method"] == method]
        lines = [_line(row, known[row["table"], method, row["aggr"], row["strata"]]) for row in here]
        head = ("table", "`aggr`, k", "loss, %", "here", "dRisk", "here", "IL1", "here")
        head = (*head, "same groups") if method == "mdav" else head
        parts += [title, _SAID[method], table(head, [line[: len(head)] for line in lines])]
        failed = sorted({_SETS[c["table"]] for c in there["calls"] if c["method"] == method and "error" in c})
        if failed:
            parts.append(f"On {', '.join(failed)} `{method}` ends with an error in sdcMicro: {_why(there, method)}.")
    write(DOCS / "results" / "sdcmicro.md", "\n\n".join(parts))


def _why(there: dict[str, Any], method: str) -> str:
    return str(next(c["error"] for c in there["calls"] if c["method"] == method and "error" in c))


def _line(row: dict[str, Any], other: dict[str, Any]) -> list[str]:
    name = _SETS[row["table"]] + (f", strata `{row['strata']}`" if row["strata"] else "")
    pairs = [f"{one[figure]:.{digits}f}" for figure, digits in _FIGURES for one in (other, row)]
    same = {True: "yes", False: "no", None: ""}[row["same_groups"]]
    return [name, str(row["aggr"]), *pairs, same]


_FIGURES = (("loss", 4), ("dRisk", 4), ("IL1", 4))
_INTRODUCTION = """# Beside sdcMicro

The same calls, in sdcMicro and here, on the same tables: the embedded example without records that have a missing value
(age, height, hours, income), and two reference sets of the CASC project. What sdcMicro gave is recorded in
`benchmarks/results/sdcmicro_recorded.json`: its functions `microaggregation`, `dRisk` and `dUtility`, with the C++ of
MDAV, were run from its sources by themselves, and not as the whole package. R is not needed to make this page.

- Columns are floats here, as they are in R. Columns of whole numbers otherwise stay whole, which changes the last
  digits.
- **loss** is 100 SSE / SST of z-scores ([How it works](../how-it-works.md#sse-sst-and-information-loss)), which is
  `release.summary.information_loss`.
- **dRisk** is the part of the records of which at most one value is farther from the released one than 5 % of the
  standard deviation of the released column. The measure `interval_records_sd` ([Measures](../measures.md)) asks for all
  values, and takes the standard deviation of the original. In the tables both are sdcMicro's definition.
- **IL1** is the mean of sqrt(2) |x - x'| / S. The measure [`il1s`](../measures.md#il1s) divides by sqrt(2), as the
  papers do, and is in percent: IL1 = il1s / 50.
- sdcMicro scales every stratum by itself, and so was done for the tables, by one call for each stratum. `strata` in one
  call scales by the whole table.
- `method = "single"`, which sorts by one column and cuts every k records, has no like among the methods; what it lost
  is in the record."""
