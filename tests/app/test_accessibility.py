"""Every page of the application by the rules of axe-core, with a release, a sweep and a mistake on them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from browsing import Visit, chromium, serving
from test_browser import mixed

pytestmark = pytest.mark.app

PLACES = (os.environ.get("AXE", ""), ".venv/axe/node_modules/axe-core/axe.min.js")
CHECK = """async () => (await axe.run(document, {
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice']
})).violations.map(one => `${one.id}: ${one.nodes[0].html.slice(0, 120)}`)"""
OPEN = "() => document.querySelectorAll('details').forEach(one => { one.open = true; })"


@pytest.fixture(scope="module")
def axe():
    """The script of axe-core, which `make test-app` fetches from npm where that is there; it is never shipped."""
    root = Path(__file__).parents[2]
    found = next((root / place for place in PLACES if place and (root / place).is_file()), None)
    if found is None:
        pytest.skip("axe-core is not installed: npm install --prefix .venv/axe axe-core, or set AXE to axe.min.js")
    return found.read_text(encoding="utf-8")


def prepared(visit):
    """A table with a hierarchy, rules of which one is wrong, weights, missing values, a sweep and two releases."""
    page = visit.page
    visit.go("/meaning")
    town = page.locator("article:has(h2:text-is('town'))")
    town.locator("select[name=source]").select_option("flat")
    town.get_by_role("button", name="Make it").click()
    town.locator(".tree").wait_for()
    visit.go("/choose")
    page.locator("input[name=k]").fill("3,5")
    while page.locator("fieldset input:checked").count():
        page.locator("fieldset input:checked").first.uncheck()
    page.get_by_label("sa-mdav", exact=True).check()
    visit.click("Try them")
    page.locator("[data-run]").wait_for()
    page.locator("[data-run]").wait_for(state="detached")
    for _ in range(2):
        visit.go("/protect")
        visit.choose_method("sa-mdav")
        visit.click("Protect 400 records")
        page.locator(".badge.done").wait_for()
    visit.go("/meaning")
    page.locator("#rules-text").fill("total = wages + profit\nwages > 20\nprofit >= and")
    page.locator(".checked .bad").wait_for()
    visit.click("Take these rules")
    visit.settled()


def test_no_page_breaks_a_rule(axe, tmp_path):
    mixed(tmp_path / "firms.csv")
    with chromium() as browser, serving(tmp_path / "workspace", tmp_path / "firms.csv") as server:
        visit = Visit(browser, server)
        prepared(visit)
        visit.close()
        for scheme in ("light", "dark"):
            visit = Visit(browser, server, color_scheme=scheme)
            for path in ("/open", "/roles", "/meaning", "/choose", "/protect", "/run/0002", "/compare",
                         "/compare?run=0003&with=0002", "/export", "/history"):  # fmt: skip
                visit.go(path)
                visit.page.wait_for_load_state("networkidle")
                visit.page.evaluate(OPEN)
                visit.page.evaluate(axe)
                assert visit.page.evaluate(CHECK) == [], f"{path}, {scheme}"
                for width in (420, 1400):
                    visit.page.set_viewport_size({"width": width, "height": 900})
                    assert visit.page.evaluate("document.documentElement.scrollWidth") <= width, path
            visit.check()
            visit.close()
