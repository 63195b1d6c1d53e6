"""The application in a browser: runs that are stopped and lost, tabs, history of the browser, odd and large tables."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from browsing import FAINT, NAMELESS, Visit, chromium, serving

import command_line
import shoal

pytestmark = pytest.mark.app

HOSTILE = '<script>alert(1)</script>"><img src=x onerror=alert(2)>'


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


def mixed(path, rows=400):
    """Categories with a hierarchy, rules, weights and missing values."""
    draw = np.random.default_rng(5)
    wages, profits = draw.integers(10, 100, rows), draw.integers(0, 50, rows)
    pl.DataFrame(
        {
            "id": [f"C{place:05d}" for place in range(rows)],
            "town": draw.choice(["Rome", "Milan", "Paris", "Lyon", None], rows),
            "wages": wages,
            "profit": profits,
            "total": wages + profits,
            "founded": [
                None if place % 9 == 0 else int(year) for place, year in enumerate(draw.integers(1950, 2020, rows))
            ],
            "weight": draw.uniform(1, 4, rows).round(2),
        }
    ).write_csv(path)


def choose_long_search(visit):
    """A plan whose search goes on until it is ended."""
    for name in ("region", "satisfied"):
        visit.go("/roles")
        visit.page.get_by_label(f"Role of {name}").select_option("kept")
        visit.page.locator(f"tr.kept:has-text('{name}')").wait_for()
    visit.go("/protect")
    visit.choose_method("optimal")
    visit.page.locator("input[name=option_time]").fill("600")
    visit.page.locator("input[name=option_time]").press("Tab")
    visit.settled()
    visit.plan_has("time: 600")


def test_a_table_with_categories_hierarchies_rules_weights_and_missing_values(browser, tmp_path):
    mixed(tmp_path / "firms.csv")
    with serving(tmp_path / "workspace", tmp_path / "firms.csv") as server:
        visit = Visit(browser, server)
        page = visit.page
        visit.sees("Rows 1 to 25 of 400")
        visit.go("/roles")
        page.get_by_label("Role of weight").select_option("weight")
        page.locator("tr.weight").wait_for()
        visit.go("/meaning")
        town = page.locator("article:has(h2:text-is('town'))")
        town.locator("select[name=source]").select_option("flat")
        town.get_by_role("button", name="Make it").click()
        town.locator(".tree").wait_for()
        for country, towns in (("Italy", ("Rome", "Milan")), ("France", ("Paris", "Lyon"))):
            town.locator("select[name=how]").select_option("add")
            town.locator("input[name=other]").fill(country)
            town.get_by_role("button", name="Do it").click()
            town.locator(f".tree [data-node={country}]").wait_for()
            for name in towns:
                town.locator(f".tree [data-node={name}]").drag_to(town.locator(f".tree [data-node={country}]"))
                town.locator(f".tree .depth-3[data-node={name}]").wait_for()
        page.locator("#rules-text").fill("sum: total = wages + profit\nwages >= ")
        visit.sees("the rule ends here")
        page.locator("#rules-text").fill("sum: total = wages + profit")
        page.locator("#rules-told .bad").wait_for(state="detached")
        page.locator("#rules-told .good").wait_for()
        visit.click("Take these rules")
        visit.settled()
        visit.go("/protect")
        visit.choose_method("sa-mdav")
        visit.click("Protect 400 records")
        page.locator(".badge.done").wait_for()
        visit.go("/compare")
        visit.drawn()
        visit.go("/export")
        release, plan = visit.saved("Save the release"), visit.saved("Save plan.yaml")
        visit.check()
        visit.close()
    (tmp_path / "plan.yaml").write_bytes(plan)
    words = ["protect", tmp_path / "firms.csv", "-o", tmp_path / "again.csv", "--plan", tmp_path / "plan.yaml"]
    assert command_line.run(*words).exit_code == 0
    assert (tmp_path / "again.csv").read_bytes() == release
    made = pl.read_csv(tmp_path / "again.csv")
    assert (made["wages"] + made["profit"] == made["total"]).all()
    assert shoal.Plan.from_yaml(plan.decode()).hierarchies["town"].pairs


def test_stop_and_keep_reload_in_the_middle_and_two_tabs(browser, tmp_path):
    with serving(tmp_path / "workspace", "--example") as server:
        visit = Visit(browser, server)
        choose_long_search(visit)
        visit.click("Protect 1,000 records")
        visit.page.locator(".falling:not([hidden])").wait_for()
        visit.page.reload()
        visit.sees("Stop and keep the best")
        other = Visit(browser, server, context=visit.context)
        other.click("a run is going on", "link")
        other.page.locator(".standing:has-text('%')").wait_for()
        other.click("Stop and keep the best")
        for tab in (visit, other):
            tab.page.locator(".badge.done").wait_for()
            tab.sees("The search was stopped, and this is the best that it had found")
            tab.check()
        visit.close()


def test_a_cancelled_run_and_the_back_button(browser, tmp_path):
    with serving(tmp_path / "workspace", "--example") as server:
        visit = Visit(browser, server)
        choose_long_search(visit)
        visit.click("Protect 1,000 records")
        visit.click("Cancel")
        visit.page.locator(".badge.cancelled").wait_for()
        visit.page.go_back()
        visit.page.go_back()
        visit.page.wait_for_load_state()
        visit.go("/history")
        assert visit.page.locator(".badge.cancelled").count() == 1, "going back starts nothing again"
        assert visit.page.locator("tbody tr").count() == 1
        visit.check()
        visit.close()


def test_a_server_that_is_killed_and_started_again(browser, tmp_path):
    with serving(tmp_path / "workspace", "--example") as first:
        visit = Visit(browser, first)
        choose_long_search(visit)
        visit.click("Protect 1,000 records")
        visit.page.locator(".standing:has-text('%')").wait_for()
        first.kill()
        visit.close()
    with serving(tmp_path / "workspace") as second:
        visit = Visit(browser, second)
        visit.sees("Rows 1 to 25 of 1,000")
        visit.go("/history")
        visit.page.locator(".badge.lost").wait_for()
        visit.page.get_by_role("link", name="Run 1").click()
        visit.click("Start it again")
        visit.page.locator(".badge.running").wait_for()
        visit.click("Cancel")
        visit.page.locator(".badge.cancelled").wait_for()
        visit.go("/protect")
        visit.plan_has("time: 600")
        visit.check()
        visit.close()


def test_two_tabs_change_one_plan(browser, tmp_path):
    with serving(tmp_path / "workspace", "--example") as server:
        first = Visit(browser, server)
        second = Visit(browser, server, context=first.context)
        for tab in (first, second):
            tab.go("/roles")
        first.page.get_by_label("Role of age").select_option("confidential")
        first.page.locator("tr.confidential:has-text('age')").wait_for()
        second.page.get_by_label("Role of hours").select_option("confidential")
        second.page.locator("tr.confidential:has-text('hours')").wait_for()
        assert second.page.locator("tr.confidential:has-text('age')").count() == 1, (
            "the change of the other tab is kept"
        )
        first.check()
        second.check()
        first.close()


def test_script_in_names_and_cells_is_never_run(browser, tmp_path):
    draw = np.random.default_rng(1)
    frame = {HOSTILE: draw.normal(size=60).round(2), "town": draw.choice([HOSTILE, "b"], 60), "age": range(60)}
    pl.DataFrame(frame).write_csv(tmp_path / "odd.csv")
    with serving(tmp_path / "workspace", tmp_path / "odd.csv") as server:
        visit = Visit(browser, server)
        visit.go("/protect")
        visit.choose_method("sa-mdav")
        visit.click("Protect 60 records")
        visit.page.locator(".badge.done").wait_for()
        for path in ("/open", "/roles", "/meaning", "/choose", "/protect", "/compare", "/export", "/history"):
            visit.go(path)
            visit.page.wait_for_load_state("networkidle")
        visit.go("/compare")
        visit.drawn()
        visit.check()
        visit.close()


def test_a_file_is_dropped_and_a_bad_one_is_explained(browser, tmp_path):
    shoal.example(50).write_csv(tmp_path / "good.csv")
    (tmp_path / "bad.parquet").write_bytes(b"PAR1")
    with serving(tmp_path / "workspace") as server:
        visit = Visit(browser, server)
        visit.page.set_input_files("input[type=file]", tmp_path / "bad.parquet")
        visit.sees("This file cannot be read as it is")
        visit.page.set_input_files("input[type=file]", tmp_path / "good.csv")
        visit.sees("Rows 1 to 25 of 50")
        visit.check()
        visit.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 420])
def test_pages_fit_and_can_be_read(browser, tmp_path, width, scheme):
    """No page scrolls sideways, every field has a name, and text stands out from what is behind it (WCAG AA)."""
    with serving(tmp_path / "workspace", "--example") as server:
        visit = Visit(browser, server, color_scheme=scheme)
        visit.page.set_viewport_size({"width": width, "height": 900})
        for path in ("/open", "/roles", "/meaning", "/choose", "/protect", "/export", "/history"):
            visit.go(path)
            visit.page.wait_for_load_state("networkidle")
            assert visit.page.evaluate("document.documentElement.scrollWidth") <= width, path
            assert visit.page.evaluate(NAMELESS) == [], path
            assert visit.page.evaluate(FAINT) == [], path
        visit.check()
        visit.close()


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_million_rows_are_opened_with_their_figures(browser, tmp_path, ending):
    """Opening, roles and first figures; benchmarks/app.py says how long each takes."""
    rows, draw = 1_000_000, np.random.default_rng(1)
    columns = {f"x{place}": draw.normal(size=rows).round(3) for place in range(6)}
    named = {"age": draw.integers(0, 100, rows), "region": draw.choice(["north", "south"], rows)}
    more = {"job": draw.choice([f"job {place}" for place in range(200)], rows), "weight": draw.random(rows).round(2)}
    frame, path = pl.DataFrame({**columns, **named, **more}), tmp_path / f"large.{ending}"
    (frame.write_csv if ending == "csv" else frame.write_parquet)(path)
    with serving(tmp_path / "workspace") as server:
        visit = Visit(browser, server)
        page = visit.page
        page.get_by_label("Path of a file").fill(str(path))
        visit.click("Open", "button")
        visit.sees("of 1,000,000")
        visit.go("/roles")
        for name in (*columns, "weight"):
            page.get_by_label(f"Tick {name}").check()
        page.locator("#many select").select_option("kept")
        visit.click("Give it")
        page.locator("tr.kept").nth(6).wait_for()
        counts = frame.group_by("age", "region", "job").len()["len"]
        below = f"{counts.filter(counts < 5).sum():,}"
        page.locator(".risk .tiles li", has_text="groups below k = 5").locator(".figure", has_text=below).wait_for()
        visit.go("/open?from=999999")
        visit.sees("Rows 999,976 to 1,000,000")
        assert frame["x0"][-1] == float(page.locator(".cells tbody tr").last.locator("td").first.inner_text())
        visit.go("/meaning")
        page.locator("#rules-text").fill("age <= 98")
        visit.sees(f"{(frame['age'] > 98).sum():,} records break it")
        size = page.evaluate("document.documentElement.outerHTML.length")
        assert size < 300_000, "a million rows never travel"
        visit.check()
        visit.close()
