"""The page of results on sweeps, docs/results/sweep.md, and the risk-utility map of the README."""

from __future__ import annotations

from typing import Any

import shoal
from markdown import DOCS, ROOT, made_by, put_between_marks, table, write
from record import load
from shoal.sweeps import Result, Sweep

Row = dict[str, Any]
_FIGURES = {"information_loss": "information loss", "dbrl": "DBRL", "pil": "PIL", "interval_disclosure": "intervals"}


def sweep() -> None:
    """Write docs/results/sweep.md, docs/images/risk-utility.png and the sentence below it in README.md."""
    machine, rows = load("sweep")
    found = Sweep([_result(row) for row in rows if row["part"] == "map"], records=_first(rows, "map")["records"])
    picture = DOCS / "images" / "risk-utility.png"
    found.chart().save(str(picture), ppi=144)
    print(picture.relative_to(ROOT))
    first, again = (row for row in rows if row["part"] == "time")
    put_between_marks(ROOT / "README.md", "sweep", f"> {found.recommendation}")
    limited = [found.judge(**limit).recommendation for limit in ({"max_risk": 5}, {"max_loss": 10})]
    parts = [
        "# Sweeps: Census, and what samples tell\n\nWhat a sweep is, and how front and knee are defined: "
        "[Sweeps](../sweeps.md).",
        made_by("sweep", machine),
        f"## Census, k = 2 to 20\n\n{first['combinations']} combinations of method and k on all 13 columns, tables and "
        f"pictures included, kernels compiled before: {first['wall']:.1f} seconds, {first['cpu']:.1f} seconds of CPU, "
        f"where the load of the machine was {first['load']:.1f} on {machine['cores']} cores. "
        "The same sweep again, with its results in the folder: "
        f"{again['wall']:.1f} seconds.",
        "![Risk-utility map of Census](../images/risk-utility.png)",
        f"- Without limits: {found.recommendation}\n- `--max-risk 5`: {limited[0]}\n- `--max-loss 10`: {limited[1]}",
        "The front, from the highest risk to the lowest:",
        table(
            ("k", "method", "DBRL, %", "information loss, %", "PIL, %", "intervals, %", "SCORE"),
            [[str(r.k), f"`{r.name}`", *(f"{getattr(r, name):.2f}" for name in _SHOWN)] for r in found.front],
        ),
        _samples(rows),
    ]
    write(DOCS / "results" / "sweep.md", "\n\n".join(parts))


_SHOWN = ("dbrl", "information_loss", "pil", "interval_disclosure", "score")


def _samples(rows: list[Row]) -> str:
    """Return the section on samples: the figures of each size, and how often they are too high."""
    every = [row for row in rows if row["part"] == "sample"]
    whole = {(row["method"], row["k"]): row for row in every if row["repeats"] is None}
    records = next(iter(whole.values()))["size"]
    drawn = [row for row in every if row["repeats"] is not None]
    lines = [_line(row) for k in (3, 5, 10) for row in every if row["method"] == "mdav" and row["k"] == k]
    words = []
    for name in ("information_loss", "dbrl", "interval_disclosure"):
        above = sum(row[name] > whole[row["method"], row["k"]][name] for row in drawn)
        far = sum(abs(row[name] - whole[row["method"], row["k"]][name]) > 2 * row[f"{name}_error"] for row in drawn)
        words.append(
            f"{shoal.MEASURES[name].label} of the samples is above that of the whole in {above} of {len(drawn)} cases, "
            f"and farther from it than two standard errors in {far}"
        )
    return (
        f"## What samples tell\n\nEIA, {records} records and 11 columns: the whole table, and 10 random samples "
        "of each size, as means with their standard errors. `mdav`; percentages.\n\n"
        + table(("k", "records", *_FIGURES.values()), lines)
        + f"\n\nOver all five methods, three k and {len({row['size'] for row in drawn})} sizes: {'; '.join(words)}. "
        "The standard error tells how well the figure at the size of the sample is known. It does not tell how far "
        "that is from the figure of the whole table."
    )


def _line(row: Row) -> list[str]:
    cells = [
        f"{row[name]:.2f}" + (f" ± {row[f'{name}_error']:.2f}" if row["repeats"] is not None else "")
        for name in _FIGURES
    ]
    return [str(row["k"]), str(row["size"]) if row["repeats"] is not None else f"all {row['size']}", *cells]


def _first(rows: list[Row], part: str) -> Row:
    return next(row for row in rows if row["part"] == part)


def _result(row: Row) -> Result:
    """Return the result that a row was recorded of; all methods have their default options."""
    plan = shoal.Plan(k=row["k"], quasi_identifiers=["census"], method=row["method"])
    left_out = {"part", "records", "method", "k", "options"}
    return Result(plan, **{name: value for name, value in row.items() if name not in left_out})
