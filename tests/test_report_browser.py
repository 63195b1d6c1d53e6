"""The report in a browser without a network: nothing leaves, nothing is wrong, every plot is drawn."""

from __future__ import annotations

import datetime
import os
import shutil

import numpy as np
import polars as pl
import pytest

import shoal

DRAWN = "document.documentElement.dataset.plots === 'drawn'"
MARKS = """plot => {
  const drawing = plot.querySelector('svg');
  if (!drawing) return 0;
  const marks = drawing.querySelectorAll('.mark-rect path, .mark-line path, .mark-text text');
  return Array.from(marks).filter(mark => {
    const box = mark.getBoundingClientRect();
    return box.width > 0 && box.height > 0;
  }).length;
}"""
SCHEMES = ["light", "dark"]
WIDE, NARROW = 1280, 360


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    names = (os.environ.get("CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome")
    path = next((found for name in names if name and (found := shutil.which(name))), None)
    if path is None:
        pytest.skip("Chromium not found: install it, or set CHROMIUM to its path")
    with playwright.sync_playwright() as running:
        found = running.chromium.launch(
            executable_path=path, headless=True, args=["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
        )
        yield found
        found.close()


def secrets(rows=400):
    """A table of people, with confidential values that can be recognised anywhere."""
    draw = np.random.default_rng(8)
    return pl.DataFrame(
        {
            "pay": draw.lognormal(10, 1, rows).round(2),
            "age": draw.integers(18, 90, rows),
            "born": [
                datetime.date(1940, 1, 1) + datetime.timedelta(days=int(d)) for d in draw.integers(0, 20_000, rows)
            ],
            "diagnosis": [f"diagnosis-{place:05d}" for place in draw.permutation(rows)],
            "debt": draw.integers(10_000_000, 99_999_999, rows),
        }
    )


def odd(rows=300):
    """Names with markup, categories, missing values, a constant and a column without values, and its release."""
    draw = np.random.default_rng(4)
    before = pl.DataFrame(
        {
            "</script><script>alert(1)</script>": draw.normal(size=rows),
            'quo"te <b>': [None if value > 1 else value for value in draw.normal(size=rows)],
            "constant": [3] * rows,
            "nothing": pl.Series([None] * rows, dtype=pl.Float64),
            "region": draw.choice(["<img src=x onerror=alert(2)>", "south", "west"], rows),
            "smokes": draw.random(rows) < 0.3,
        }
    )
    return before, before.with_columns(pl.col("region").replace("west", None), pl.col('quo"te <b>').round(0))


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    """The reports that are opened, by name."""
    folder = tmp_path_factory.mktemp("reports")
    release = shoal.protect(secrets(), 5, ["pay", "age", "born"], confidential=["diagnosis", "debt"], method="mdav")
    wide = pl.DataFrame({f"column {j}": np.random.default_rng(j).normal(size=100) for j in range(30)})
    return {
        "internal": release.report(folder / "internal.html"),
        "external": release.report(folder / "external.html", edition="external"),
        "odd": shoal.write_report(*odd(), folder / "odd.html"),
        "no numbers": shoal.write_report(*(table.select("region", "smokes") for table in odd()), folder / "none.html"),
        "one column": shoal.write_report(*[secrets().select("age")] * 2, folder / "one.html"),
        "30 columns": shoal.write_report(wide, wide, folder / "wide.html"),
    }


class Visit:
    """A page that was opened, and what it asked for and said."""

    def __init__(self, browser, path, scheme="light", width=WIDE):
        self.context = browser.new_context(
            color_scheme=scheme, viewport={"width": width, "height": 900}, offline=True, service_workers="block"
        )
        self.page = self.context.new_page()
        self.requests, self.said = [], []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: self.said.append(f"dialog {dialog.message}") or dialog.dismiss())
        self.page.goto(path.as_uri())
        self.page.wait_for_function(DRAWN, timeout=60_000)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.context.close()


NAMES = ["internal", "external", "odd", "no numbers", "one column", "30 columns"]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", NAMES)
def test_nothing_leaves_nothing_is_wrong_and_every_plot_is_drawn(browser, paths, name, scheme):
    with Visit(browser, paths[name], scheme) as visit:
        plots = visit.page.query_selector_all(".plot:not([hidden] .plot)")
        assert len(plots) >= 3
        assert [plot.evaluate(MARKS) > 0 for plot in plots] == [True] * len(plots)
        assert visit.requests == [paths[name].as_uri()]
        assert visit.said == []
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= WIDE


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_never_wider_than_a_telephone(browser, paths, name):
    with Visit(browser, paths[name], width=NARROW) as visit:
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= NARROW


def test_a_request_would_be_refused(browser, paths):
    with Visit(browser, paths["internal"]) as visit:
        tried = visit.page.evaluate("fetch('https://example.org/').then(() => 'sent', () => 'refused')")
        assert tried == "refused"
        assert "Content Security Policy" in " ".join(visit.said)
        assert visit.requests == [paths["internal"].as_uri()]


def test_no_confidential_value_is_in_the_external_edition(browser, paths):
    with Visit(browser, paths["external"]) as visit:
        whole = visit.page.content().replace(",", "")
    for name in ("diagnosis", "debt"):
        assert not [value for value in map(str, secrets()[name]) if value in whole], name
    lone = set(secrets()["pay"].cast(str)) | {str(secrets()["pay"].max()), str(secrets()["born"].min())}
    assert not [value for value in lone if value in whole]


def test_a_column_that_is_chosen_is_drawn(browser, paths):
    with Visit(browser, paths["30 columns"]) as visit:
        visit.page.select_option(".choose select", label="column 25")
        card = visit.page.wait_for_selector("article:has(h3:text-is('column 25'))", state="visible")
        visit.page.wait_for_selector("article:has(h3:text-is('column 25')) [data-drawn=done]")
        assert card.query_selector(".plot").evaluate(MARKS) > 0
        assert visit.said == []


def test_plots_follow_the_scheme(browser, paths):
    look = "getComputedStyle(document.querySelector('.plot .mark-rect path')).fill"
    colours = []
    for scheme in SCHEMES:
        with Visit(browser, paths["internal"], scheme) as visit:
            colours.append(visit.page.evaluate(look))
    assert len(set(colours)) == 2


def test_it_prints_in_light_colours_without_navigation(browser, paths, tmp_path):
    with Visit(browser, paths["internal"], "dark") as visit:
        visit.page.emulate_media(media="print", color_scheme="dark")
        assert visit.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert visit.page.evaluate("getComputedStyle(document.querySelector('nav')).display") == "none"
        visit.page.pdf(path=tmp_path / "report.pdf", format="A4")
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")
