"""Each step of the application in a browser: what the pages promise is tried as somebody would."""

from __future__ import annotations

import polars as pl
import pytest
from browsing import Visit, chromium, serving

import command_line
import shoal

pytestmark = pytest.mark.app


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture
def visit(browser, tmp_path):
    """Somebody at the embedded example."""
    with serving(tmp_path / "workspace", "--example") as server:
        found = Visit(browser, server)
        found.workspace = tmp_path / "workspace"
        yield found
        found.check()
        found.close()


def protect(visit, k="5", method="sa-mdav"):
    visit.go("/protect")
    visit.choose_method(method)
    visit.page.locator("input[name=k]").fill(k)
    visit.page.locator("input[name=k]").press("Tab")
    visit.plan_has(f"k: {k}")
    visit.settled()
    visit.click("Protect 1,000 records")
    visit.page.locator(".badge.done").wait_for()


def test_sets_are_made_by_dragging_and_with_the_keyboard(visit):
    visit.go("/roles")
    page = visit.page
    page.locator(".risk[data-loaded]").wait_for()  # what comes later moves what is below it, once
    page.locator(".chip", has_text="age").drag_to(page.locator(".set.empty"))
    page.locator(".set[data-set='1'] .chip", has_text="age").wait_for()
    page.locator(".chip", has_text="hours").drag_to(page.locator(".set[data-set='1']"))
    page.locator(".set[data-set='1'] .chip", has_text="hours").wait_for()
    page.get_by_label("Set of height").focus()
    page.keyboard.press("ArrowDown")
    page.locator(".set[data-set='1'] .chip", has_text="height").wait_for()
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Set of height", "the focus stays"
    visit.plan_has("- - income")
    visit.click("Undo the last change")
    page.locator(".set[data-set='0'] .chip", has_text="height").wait_for()


def test_nothing_moves_under_the_pointer_while_the_risk_is_counted_again(visit):
    page = visit.page
    page.add_init_script(
        "const ask = window.fetch; window.held = [];"
        "window.fetch = async function (from, how) {"
        "  if (window.holding && String(from) === '/roles/risk') await new Promise((go) => window.held.push(go));"
        "  return ask(from, how);"
        "};"
    )
    visit.go("/roles")
    page.locator(".risk[data-loaded]").wait_for()
    top = "document.querySelector('.sets').getBoundingClientRect().top + window.scrollY"
    before = page.evaluate(top)
    page.evaluate("window.holding = true")
    for name in ("age", "hours"):  # the second comes before the first is counted
        page.get_by_label(f"Set of {name}").select_option("1")
        page.locator(".set[data-set='1'] .chip", has_text=name).wait_for()
        page.locator(".risk .waiting").wait_for()
        assert page.evaluate(top) == before
    page.evaluate("window.held.forEach((go) => go())")
    page.locator(".risk[data-loaded] .tiles").wait_for()
    assert page.evaluate(top) == before


def test_roles_are_given_to_many_columns_at_once_and_the_risk_follows(visit):
    visit.go("/roles")
    page = visit.page
    page.locator(".risk .tiles").wait_for()
    page.locator(".risk", has_text="Which columns single them out").wait_for()
    for name in ("height", "hours", "income", "satisfied"):
        page.get_by_label(f"Tick {name}").check()
    page.locator("#many select").select_option("kept")
    visit.click("Give it")
    page.locator("tr.kept").nth(3).wait_for()
    survey = shoal.read_table(visit.workspace / "tables" / "example.csv")
    unique = (survey.group_by(["age", "region"]).len()["len"] == 1).sum()
    page.locator(".risk .tiles li", has_text="unique records").locator(".figure", has_text=str(unique)).wait_for()


@pytest.mark.parametrize(
    ("content", "button", "columns"),
    [
        (b"age|pay\n" + b"30|1\n40|2\n" * 30, "Delimiter: bar", ["age", "pay"]),
        ("größe;löhne\n".encode("latin-1") + b"1;2\n3;4\n" * 30, "Encoding: ", ["größe", "löhne"]),
    ],
    ids=["delimiter", "encoding"],
)
def test_a_file_that_is_read_wrongly_is_mended_with_one_click(browser, tmp_path, content, button, columns):
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    with serving(tmp_path / "workspace") as server:
        visit = Visit(browser, server)
        visit.page.get_by_label("Path of a file").fill(str(path))
        visit.click("Open", "button")
        visit.page.locator("h1", has_text="table.csv").wait_for()
        if visit.page.locator(".cells th").count() != len(columns):  # what looking finds by itself needs no click
            visit.click(button)
            visit.page.locator(".cells th").nth(len(columns) - 1).wait_for()
        heads = visit.page.locator(".cells th").all_text_contents()
        assert [head.startswith(name) for head, name in zip(heads, columns, strict=True)] == [True, True]
        visit.check()
        visit.close()


def test_what_may_mean_missing_is_asked_and_answered_with_one_click(browser, tmp_path):
    rows = [f"{i},{-99 if i % 5 == 0 else i},{'NA' if i % 7 == 0 else i}\n" for i in range(1, 60)]
    (tmp_path / "table.csv").write_text("age,hours,pay\n" + "".join(rows))
    with serving(tmp_path / "workspace", tmp_path / "table.csv") as server:
        visit = Visit(browser, server)
        visit.sees("Does “-99” mean missing in hours?")
        visit.click("Yes, read it as missing")
        visit.page.locator(".cells th", has_text="hours").filter(has_text="11 missing").wait_for()
        visit.page.locator(".fixes li", has_text="“NA” is read as missing").get_by_role("button").click()
        visit.sees("Looking at the file proposes missing NA")
        visit.check()
        visit.close()


def test_a_hierarchy_and_a_plan_are_loaded_and_rules_are_kept_when_the_page_is_left(visit, tmp_path):
    page = visit.page
    (tmp_path / "land.csv").write_text("north;up;all\neast;up;all\nsouth;down;all\nwest;down;all\n")
    visit.go("/meaning")
    region = page.locator("article:has(h2:text-is('region'))")
    region.locator("input[type=file]").set_input_files(tmp_path / "land.csv")
    region.locator(".tree [data-node=up]").wait_for()
    page.locator("#rules-text").fill("hours <= 40")
    broken = (pl.read_csv(visit.workspace / "tables" / "example.csv")["hours"] > 40).sum()
    visit.sees(f"{broken} records break it")
    visit.click("Next: choose k", "link")
    page.wait_for_url("**/choose")
    visit.plan_has("hours <= 40")
    (tmp_path / "plan.yaml").write_text("k: 7\nquasi_identifiers: [age]\naccept: {weight: agreed}\n")
    visit.go("/roles")
    page.locator("form[action='/roles/plan'] input[type=file]").set_input_files(tmp_path / "plan.yaml")
    visit.plan_has("k: 7")
    visit.plan_has("weight: agreed")


def test_a_sweep_is_drawn_while_it_runs_limits_are_sliders_and_a_point_is_taken(visit):
    page = visit.page
    visit.go("/choose")
    page.locator("input[name=k]").fill("2:12")
    while page.locator("fieldset input:checked").count():
        page.locator("fieldset input:checked").first.uncheck()
    page.get_by_label("sa-mdav", exact=True).check()
    page.get_by_label("s-mdav", exact=True).check()
    visit.click("Try them")
    page.locator("#results .plot[data-drawn=done]").wait_for()
    page.locator("[data-run] .standing", has_text="finished").wait_for()
    early = page.locator("#results tbody tr").count()
    page.locator("[data-run]").wait_for(state="detached")
    visit.drawn()
    assert 0 < early < page.locator("#results tbody tr").count() == 22
    words = page.locator(".notice.good p").inner_text()
    page.get_by_label("Risk at most", exact=True).check()
    page.get_by_label("Risk at most, in percent").fill("5")
    page.locator("output", has_text="5 %").first.wait_for()
    page.wait_for_url("**max_risk=5**")
    visit.settled()
    assert page.locator(".notice.good p").inner_text() != words
    visit.drawn()
    page.locator("#results svg .mark-symbol.role-mark path").last.click()  # the topmost
    page.wait_for_url("**/protect")
    visit.plan_has("method: ")


def test_before_and_after_two_releases_and_history(visit, tmp_path):
    page = visit.page
    protect(visit, "5")
    protect(visit, "10")
    visit.go("/compare")
    visit.drawn()
    for title in ("Distributions before and after", "Correlations before and after", "What was changed and suppressed",
                  "Records at highest remaining risk"):  # fmt: skip
        assert page.get_by_role("heading", name=title).count() == 1, title
    assert page.locator("#distributions", has_text="quantile").count() or page.get_by_text("median").count()
    page.locator("select[name=y]").select_option(label="income")
    page.wait_for_url("**&y=**")
    visit.drawn()
    page.locator("select[name=with]").select_option(index=1)
    visit.sees("Figures of both")
    visit.drawn()
    assert page.locator(".better").count() > 3
    visit.go("/history")
    page.locator("summary").first.click()
    page.get_by_label("Name").first.fill("the wide one")
    visit.click("Name it")
    page.get_by_role("link", name="the wide one", exact=True).wait_for()
    page.locator("tr", has_text="Run 1").get_by_role("button", name="Go back to its plan").click()
    page.wait_for_url("**/roles")
    visit.plan_has("k: 5")
    visit.go("/export?run=0001")
    page.locator("select[name=ending]").select_option(".parquet")
    visit.click("Write it")
    page.locator(".badge.done").wait_for()
    (tmp_path / "again.parquet").write_bytes(visit.saved("Save release.parquet"))
    visit.go("/export?run=0001")
    (tmp_path / "release.csv").write_bytes(visit.saved("Save the release"))
    assert pl.read_parquet(tmp_path / "again.parquet").equals(shoal.read_table(tmp_path / "release.csv"))
    (tmp_path / "plan.yaml").write_bytes(visit.saved("Save plan.yaml"))
    words = page.locator("figure.code pre").first.inner_text().split()
    assert words[:2] == ["shoal", "protect"]
    words = [str(tmp_path / word) if word in ("plan.yaml", "release.csv") else word for word in words[1:]]
    (tmp_path / "release.csv").rename(tmp_path / "first.csv")
    assert command_line.run(*words).exit_code == 0
    assert (tmp_path / "release.csv").read_bytes() == (tmp_path / "first.csv").read_bytes()


def test_sharing_in_a_browser_asks_for_the_password(browser, tmp_path, monkeypatch):
    monkeypatch.setenv("SHOAL_APP_PASSWORD", "herring")
    with serving(tmp_path / "workspace", "--example", "--share", "127.0.0.2") as server:
        assert "token" not in server.address
        visit = Visit(browser, server)
        visit.page.get_by_label("Password").fill("cod")
        visit.click("Enter")
        visit.page.get_by_role("alert").wait_for()
        assert [text for text in visit.wrong if "401" not in text] == []
        visit.wrong.clear()  # the browser tells of the status as an error
        visit.page.get_by_label("Password").fill("herring")
        visit.click("Enter")
        visit.sees("Rows 1 to 25 of 1,000")
        assert visit.page.get_by_text("By its path").count() == 0
        visit.sees("Others on the network can reach this application")
        visit.check()
        visit.close()


def test_two_browsers_with_two_workspaces_do_not_see_each_other(browser, tmp_path):
    shoal.example(50).write_csv(tmp_path / "other.csv")
    with (
        serving(tmp_path / "one", "--example") as one,
        serving(tmp_path / "two", tmp_path / "other.csv") as two,
    ):
        first, second = Visit(browser, one), Visit(browser, two)
        assert "example.csv" in first.page.locator(".subject").inner_text()
        assert "other.csv" in second.page.locator(".subject").inner_text()
        refused = first.page.goto(two.base + "/open")
        assert refused.status == 401
        same = Visit(browser, two, context=first.context)  # one browser, both servers: each keeps its cookie
        first.go("/open")
        assert "example.csv" in first.page.locator(".subject").inner_text()
        same.go("/roles")
        assert "other.csv" in same.page.locator(".subject").inner_text()
        second.check()
        for visit in (first, second):
            visit.close()


def test_the_whole_way_with_the_keyboard_alone(browser, tmp_path):
    with serving(tmp_path / "workspace") as server:
        visit = Visit(browser, server)
        page = visit.page

        def reach(words):
            """Go on with Tab until something with these words has the focus, which is seen."""
            for _ in range(120):
                page.keyboard.press("Tab")
                name, outline = page.evaluate(FOCUSED)
                if name.strip().startswith(words):
                    assert outline, f"the focus on {words} is not seen"
                    return
            raise AssertionError(f"{words} is not reached")

        for words, waited in (
            ("Open the example", "Rows 1 to 25"),
            ("Next: what each column is", "What each column is"),
            ("Next: hierarchies and rules", "Hierarchies and rules"),
            ("Next: choose k", "Choose k"),
            ("Go on with k", "Smallest group"),
        ):
            reach(words)
            page.keyboard.press("Enter")
            visit.sees(waited)
            page.wait_for_load_state("networkidle")
        reach("Method")
        page.keyboard.type("sa-mdav", delay=300)  # slower than a page comes back
        visit.plan_has("method: sa-mdav")
        visit.settled()
        reach("Protect 1,000 records")
        page.keyboard.press("Enter")
        page.locator(".badge.done").wait_for()
        reach("Next: compare")
        page.keyboard.press("Enter")
        visit.drawn()
        reach("Next: report and export")
        page.keyboard.press("Enter")
        page.get_by_role("link", name="Save the release").wait_for()
        reach("Save the release")
        with page.expect_download() as saving:
            page.keyboard.press("Enter")
        assert saving.value.path().stat().st_size > 1000
        visit.check()
        visit.close()


FOCUSED = """() => {
  const one = document.activeElement, style = getComputedStyle(one);
  const said = one.getAttribute('aria-label') || (one.labels && one.labels[0] && one.labels[0].textContent);
  return [said || one.textContent, style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0];
}"""
