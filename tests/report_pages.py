"""Pages of reports, and how tests look at them."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import shoal
import shoal.report

QUASI = ["age", "height", "hours", "income"]


NASTY = ['in"come', "<b>bold</b>", "</script><script>alert(1)</script>", "a & b", "it's", "{{ 7 * 7 }}", "datum['x']"]


class Outline(HTMLParser):
    """What a page is made of."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.text, self.code = [], [], []
        self.inside = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.inside.append(tag)
        if tag == "code":
            self.code.append("")

    def handle_endtag(self, tag):
        if tag in self.inside:
            del self.inside[len(self.inside) - 1 - self.inside[::-1].index(tag) :]

    def handle_data(self, data):
        if "script" in self.inside or "style" in self.inside:
            return
        if "code" in self.inside:
            self.code[-1] += data
        self.text.append(data)

    def all(self, name):
        return [attributes for tag, attributes in self.tags if tag == name]

    @property
    def words(self):
        return re.sub(r"[ \n]+", " ", " ".join(self.text))


def without_vega(text):
    """Return a page without the script of the library, which is the same in all."""
    return re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)


def protected_survey():
    roles = {"identifiers": "name", "confidential": "satisfied", "strata": "region", "weight": "weight"}
    return shoal.protect(shoal.example(300), 5, QUASI, **roles, method="mdav")


def page_of(before, after, tmp_path, edition="internal", quasi=None, **more):
    path = shoal.write_report(before, after, tmp_path / "report.html", quasi, edition=edition, **more)
    return path.read_text(encoding="utf-8")
