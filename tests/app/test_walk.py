"""The whole way through the application in a browser, on the embedded example, and the same again as a command."""

from __future__ import annotations

import pytest
from browsing import Visit, chromium, serving

import command_line


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


def test_the_way_through_it(browser, tmp_path):
    with serving(tmp_path / "workspace") as server:
        visit = Visit(browser, server)
        page = visit.page
        visit.click("Open the example")
        visit.sees("Rows 1 to 25 of 1,000")
        visit.click("Next: what each column is", "link")
        page.locator(".risk .tiles").wait_for()
        for name, role in (("satisfied", "confidential"), ("region", "stratum")):
            page.get_by_label(f"Role of {name}").select_option(role)
            page.locator(f"tr.{role}").wait_for()
        visit.click("Next: hierarchies and rules", "link")
        page.locator("#rules-text").fill("adult: age >= 18")
        visit.sees("holds in all records")
        visit.click("Next: choose k", "link")
        visit.click("Go on with k = 5", "link")
        page.locator("select[name=method]").select_option("mdav")
        visit.sees("Two groups of k a round")
        visit.click("Protect 1,000 records")
        page.locator(".badge.done").wait_for()
        visit.click("Next: compare before and after", "link")
        visit.drawn()
        visit.click("Next: report and export", "link")
        release, plan = visit.saved("Save the release"), visit.saved("Save plan.yaml")
        visit.check()
        visit.close()
    (tmp_path / "plan.yaml").write_bytes(plan)
    table = tmp_path / "workspace" / "tables" / "example.csv"
    ended = command_line.run("protect", table, "-o", tmp_path / "again.csv", "--plan", tmp_path / "plan.yaml")
    assert ended.exit_code == 0, ended.stderr
    assert (tmp_path / "again.csv").read_bytes() == release
