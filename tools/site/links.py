"""The links of a built site: every one leads to a file and a place of it, and nothing is loaded from elsewhere."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class _Page(HTMLParser):
    """Links, loaded files and anchors of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.anchors |= {value for name in ("id", "name") if (value := given.get(name))}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"] or "")
        elif tag in ("script", "img", "iframe", "source") and given.get("src"):
            self.loaded.append(given["src"] or "")
        elif tag == "link" and given.get("rel") in ("stylesheet", "icon", "preload", "modulepreload"):
            self.loaded.append(given["href"] or "")


def broken_links(site: Path) -> list[str]:
    """Return a sentence for each link of a site that leads nowhere, and each file that is loaded from elsewhere."""
    pages = {}
    for path in sorted(site.rglob("*.html")):
        pages[path] = _Page()
        pages[path].feed(path.read_text(encoding="utf-8"))
    mistakes = []
    for path, page in pages.items():
        if path.name == "404.html":  # its links are from the root, wherever that will be
            continue
        name = path.relative_to(site).as_posix()
        mistakes += [f"{name}: loads {one}" for one in page.loaded if urlsplit(one).netloc]
        for one in [*page.links, *(one for one in page.loaded if not urlsplit(one).netloc)]:
            parts = urlsplit(one)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                mistakes.append(f"{name}: {one} leads nowhere")
            elif (
                parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors | {"__top"}
            ):
                mistakes.append(f"{name}: {one} has no such place")
    return mistakes
