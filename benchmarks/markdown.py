"""Parts of the pages of results: tables, where figures come from, and writing them into their places."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"


def table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; cells of numbers are aligned to the right."""
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, rule, *lines))


def spread(figures: Sequence[float], digits: int) -> str:
    """Return the median, and in brackets the least and the greatest where they differ in what is shown."""
    middle, least, most = (f"{figure:.{digits}f}" for figure in (median(figures), min(figures), max(figures)))
    return middle if least == most else f"{middle} ({least}..{most})"


def commits(rows: Iterable[dict[str, Any]]) -> str:
    """Return the commits at which rows were recorded, which are parts of a benchmark that were run one at a time."""
    return _different(rows, "commit")


def processors(rows: Iterable[dict[str, Any]]) -> str:
    """Return the processors on which rows were recorded."""
    return _different(rows, "processor")


def _different(rows: Iterable[dict[str, Any]], name: str) -> str:
    return ", ".join(sorted({row[name] for row in rows}))


def made_by(name: str, machine: dict[str, Any]) -> str:
    """Say which command made a page, on which machine, commit and versions."""
    versions = ", ".join(f"{package} {number}" for package, number in machine["versions"].items())
    return (
        f"```\npython benchmarks/run.py {name}\npython benchmarks/pages.py {name}\n```\n\n"
        f"Machine: {machine['processor']}, {machine['cores']} cores, {machine['system']}. "
        f"Commit: {machine['commit']}. Versions: {versions}."
    )


def put_between_marks(path: Path, mark: str, text: str) -> None:
    """Replace what stands between <!-- mark --> and <!-- /mark --> in a file."""
    start, stop = f"<!-- {mark} -->\n\n", f"\n\n<!-- /{mark} -->"
    before, _, rest = path.read_text(encoding="utf-8").partition(start)
    _, found, after = rest.partition(stop)
    if not found:
        raise SystemExit(f"{path.name} has no {start.strip()} ... {stop.strip()} to put the table into")
    write(path, (before + start + text + stop + after).rstrip("\n"))


def write(path: Path, text: str) -> None:
    """Write a file and say so."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n", encoding="utf-8")
    print(path.relative_to(ROOT))
