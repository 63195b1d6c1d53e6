"""The picture of a report, and the table of sizes, in docs/report.md. The picture needs playwright and Chromium."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import shoal
from markdown import DOCS, ROOT, made_by, put_between_marks, table
from record import load


def report() -> None:
    """Write docs/images/report.png and the table of docs/report.md."""
    machine, rows = load("report")
    lines = [
        [str(row[name]) for name in ("n", "d", "release", "internal_mb", "internal_cpu", "peak_mib")] for row in rows
    ]
    head = ("records", "columns", "release", "internal edition, MB", "CPU seconds", "peak memory, MiB")
    put_between_marks(DOCS / "report.md", "sizes", f"{made_by('report', machine)}\n\n{table(head, lines)}")
    _picture(DOCS / "images" / "report.png")


def _picture(path: Path) -> None:
    """Open the report of the embedded example in a browser, in light and dark side by side."""
    from playwright.sync_api import sync_playwright

    survey = shoal.example()
    release = shoal.protect(
        survey,
        k=5,
        quasi_identifiers=["age", "height", "hours", "income"],
        identifiers="name",
        confidential="satisfied",
        weight="weight",
        strata="region",
    )
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page_file = release.report(Path(folder) / "report.html")
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1240, "height": 900})
        page.goto(page_file.as_uri())
        page.wait_for_function("document.documentElement.dataset.plots === 'drawn'")
        page.screenshot(path=path)
        page.locator("#distributions").screenshot(path=path.with_name("report-distributions.png"))
        browser.close()
    print(path.relative_to(ROOT))
