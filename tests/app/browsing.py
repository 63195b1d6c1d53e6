"""A server of the application as a process, and a browser that may talk to it alone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest

PATIENCE = 240_000  # milliseconds
NAMELESS = """() => Array.from(document.querySelectorAll('input:not([type=hidden]), select, textarea, button, a'))
  .filter(one => !(one.labels && one.labels.length) && !one.getAttribute('aria-label') && !one.textContent.trim())
  .map(one => one.outerHTML.slice(0, 80))"""
FAINT = """() => {
  const parts = colour => colour.match(/[\\d.]+/g).map(Number);
  const linear = v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
  const light = rgb => [.2126, .7152, .0722].reduce((sum, part, i) => sum + part * linear(rgb[i] / 255), 0);
  const behind = one => {
    for (; one; one = one.parentElement) {
      const colour = parts(getComputedStyle(one).backgroundColor);
      if (colour.length === 3 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  const found = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const one = texts.currentNode.parentElement, words = texts.currentNode.textContent.trim();
    if (!words || !one.checkVisibility() || one.closest('script, option, .unseen, [disabled], .skip')) continue;
    let opacity = 1;
    for (let up = one; up; up = up.parentElement) opacity *= Number(getComputedStyle(up).opacity);
    const back = behind(one), front = parts(getComputedStyle(one).color).slice(0, 3);
    const seen = front.map((v, i) => v * opacity + back[i] * (1 - opacity));
    const [a, b] = [light(seen), light(back)].sort((x, y) => y - x), contrast = (a + .05) / (b + .05);
    if (contrast < 4.5) found.push(`${words.slice(0, 30)} ${contrast.toFixed(2)}`);
  }
  return found;
}"""


class Server:
    """`shoal app` as a process."""

    def __init__(self, workspace, *words):
        command = [
            sys.executable,
            "-m",
            "shoal",
            "app",
            "--no-browser",
            "--workspace",
            str(workspace),
            *map(str, words),
        ]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.address = ""
        while not self.address:
            line = self.process.stdout.readline()
            if not line:
                raise AssertionError(self.process.stderr.read())
            self.address = line.strip() if "http://" in line else ""
        self.base = self.address.partition("/enter")[0]

    def kill(self):
        self.process.kill()
        self._ended()

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        self._ended()

    def _ended(self):
        self.process.wait(30)
        self.process.stdout.close()
        self.process.stderr.close()


_scripts = {}  # what draws plots, as the first server made it: that takes seconds each time


@contextmanager
def serving(workspace, *words):
    for name, text in _scripts.items():
        workspace.mkdir(exist_ok=True, mode=0o700)
        (workspace / name).write_bytes(text)
    server = Server(workspace, *words)
    try:
        yield server
    finally:
        server.stop()
        _scripts.update((path.name, path.read_bytes()) for path in workspace.glob("vega-*.js"))


@contextmanager
def chromium():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    names = (os.environ.get("CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome")
    path = next((found for name in names if name and (found := shutil.which(name))), None)
    if path is None:
        pytest.skip("Chromium not found: install it, or set CHROMIUM to its path")
    with playwright.sync_playwright() as running:
        flags = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
        found = running.chromium.launch(executable_path=path, headless=True, args=flags)
        yield found
        found.close()


class Visit:
    """A tab: what it asks for from elsewhere, and what goes wrong in it."""

    def __init__(self, browser, server, context=None, **look):
        self.context = context or browser.new_context(viewport={"width": 1400, "height": 1000}, **look)
        self.page = self.context.new_page()
        self.page.set_default_timeout(PATIENCE)
        self.elsewhere, self.wrong = [], []
        self.page.on("request", self._requested)
        self.page.on("console", lambda message: self.wrong.append(message.text) if message.type == "error" else None)
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("dialog", lambda dialog: self.wrong.append(f"dialog {dialog.message}") or dialog.dismiss())
        self.base = server.base
        self.page.goto(server.address)

    def _requested(self, request):
        if not request.url.startswith(("data:", "blob:")) and f"http://{urlsplit(request.url).netloc}" != self.base:
            self.elsewhere.append(request.url)

    def go(self, path):
        self.page.goto(self.base + path)

    def click(self, words, role="button"):
        self.page.get_by_role(role, name=words).first.click()

    def sees(self, words):
        self.page.get_by_text(words).first.wait_for()

    def choose_method(self, name):
        self.page.locator("select[name=method]").select_option(name)
        self.settled()

    def settled(self):
        """Wait until a change was taken and is shown."""
        self.page.locator("#main:not(.busy)").wait_for()  # the policy lets nobody wait for an expression

    def plan_has(self, words):
        self.page.locator("pre", has_text=words).first.wait_for(state="attached")

    def saved(self, words):
        """Click a link that saves a file, and return its bytes."""
        with self.page.expect_download() as saving:
            self.click(words, "link")
        return saving.value.path().read_bytes()

    def drawn(self):
        self.page.locator("html[data-plots=drawn]").wait_for()
        states = self.page.eval_on_selector_all(".plot[data-drawn]", "all => all.map(one => one.dataset.drawn)")
        assert states
        assert set(states) == {"done"}

    def check(self):
        """Nothing was asked of another machine, and nothing went wrong."""
        assert self.elsewhere == []
        assert self.wrong == []

    def close(self):
        self.context.close()
