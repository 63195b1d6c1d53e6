"""The pictures of docs/app.md and of the README: ``python benchmarks/app_pictures.py``.

Starts `shoal app` on the embedded example in a workspace that is thrown away, goes through it in Chromium and takes a
picture of each page. Needs the extras ``app`` and ``dev``, and Chromium.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
PICTURES = ROOT / "docs" / "images"
sys.path.insert(0, str(ROOT / "tests" / "app"))

from browsing import Visit, chromium, serving  # noqa: E402

WIDTH, HEIGHT = 1280, 900
RULES = "adult: age >= 18\nhours <= 60\nage >= and"


def take(visit: Visit, name: str, height: int = HEIGHT) -> None:
    visit.page.set_viewport_size({"width": WIDTH, "height": height})
    visit.page.evaluate("scrollTo({top: 0, behavior: 'instant'})")
    visit.page.screenshot(path=PICTURES / f"app-{name}.png")
    print(f"docs/images/app-{name}.png")


def walk(visit: Visit) -> None:
    page = visit.page
    take(visit, "open")
    visit.go("/roles")
    page.get_by_label("Role of satisfied").select_option("confidential")
    page.locator("tr.confidential").wait_for()
    page.locator(".risk .tiles").wait_for()
    take(visit, "roles")
    visit.go("/meaning")
    region = page.locator("article:has(h2:text-is('region'))")
    region.locator("select[name=source]").select_option("flat")
    region.get_by_role("button", name="Make it").click()
    region.locator(".tree").wait_for()
    region.locator("select[name=how]").select_option("add")
    region.locator("input[name=other]").fill("coast")
    region.get_by_role("button", name="Do it").click()
    region.locator("[data-node=coast]").wait_for()
    region.locator("[data-node=north]").drag_to(region.locator("[data-node=coast]"))
    region.locator(".depth-3").wait_for()
    page.locator("#rules-text").fill(RULES)
    page.locator(".checked .bad").wait_for()
    take(visit, "meaning", 1280)
    visit.go("/roles")
    page.get_by_label("Role of region").select_option("stratum")
    page.locator("tr.stratum").wait_for()
    visit.go("/choose")
    visit.click("Try them")
    page.locator("[data-run]").wait_for(state="detached", timeout=300_000)
    visit.drawn()
    take(visit, "choose", 1250)
    visit.go("/protect")
    visit.choose_method("optimal")
    page.locator("input[name=option_time]").fill("20")
    page.locator("input[name=option_time]").press("Tab")
    visit.settled()
    visit.click("Protect 1,000 records")
    page.locator(".falling:not([hidden])").wait_for()
    page.wait_for_timeout(6000)
    take(visit, "protect", 620)
    page.locator(".badge.done").wait_for()
    visit.go("/compare")
    visit.drawn()
    take(visit, "compare", 1200)
    visit.go("/export")
    take(visit, "export")


def main() -> None:
    folder = tempfile.TemporaryDirectory()
    with folder, chromium() as browser, serving(Path(folder.name) / "workspace", "--example") as server:
        visit = Visit(browser, server)
        visit.page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
        walk(visit)
        visit.check()
        visit.close()


if __name__ == "__main__":
    main()
