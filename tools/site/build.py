"""Build the site of the documentation, offline and strict: make docs.

The pages are those of docs/ and of the root, which read well by themselves; what is made here is the reference that the
code knows better: the API, the support table, the errors, the schema of a plan and llms.txt. Then Zensical builds the
site, warnings being errors, and every link, picture, style and script of it must be a file of the site.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from links import broken_links
from reference_pages import api_page, errors_page, llms_text, plan_schema, support_page

ROOT = Path(__file__).resolve().parents[2]
DOCS, SOURCE, SITE = ROOT / "docs", ROOT / "build" / "docs", ROOT / "build" / "site"
PROJECT = ("README", "CONTRIBUTING", "CHANGELOG", "SECURITY", "RELEASING", "CODE_OF_CONDUCT")
_LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\])\(([^)\s]+)\)")
_FENCE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)


def main() -> None:
    """Write the source of the site, build it, and check it."""
    shutil.rmtree(SOURCE, ignore_errors=True)
    shutil.rmtree(SITE, ignore_errors=True)
    pages = {path: SOURCE / path.relative_to(DOCS) for path in DOCS.rglob("*") if path.is_file()}
    pages[DOCS / "start.md"] = SOURCE / "index.md"
    pages |= {ROOT / f"{name}.md": SOURCE / "project" / f"{name.lower()}.md" for name in PROJECT}
    for path, target in pages.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".md":
            target.write_text(_moved(path, pages), encoding="utf-8")
        else:
            shutil.copyfile(path, target)
    made = {"api.md": api_page(), "support.md": support_page(), "errors.md": errors_page()}
    (SOURCE / "reference").mkdir()
    for name, text in made.items():
        (SOURCE / "reference" / name).write_text(text, encoding="utf-8")
    (SOURCE / "reference" / "plan.schema.json").write_text(json.dumps(plan_schema(), indent=2), encoding="utf-8")
    (SOURCE / "llms.txt").write_text(llms_text(DOCS), encoding="utf-8")
    shutil.copyfile(Path(__file__).parent / "site.css", SOURCE / "site.css")
    config = SOURCE.parent / "zensical.toml"
    shutil.copyfile(Path(__file__).parent / "zensical.toml", config)
    zensical = Path(sys.executable).parent / "zensical"
    built = subprocess.run([zensical, "build", "--strict", "--clean", "-f", config], cwd=SOURCE.parent, check=False)
    if built.returncode:
        sys.exit(built.returncode)
    mistakes = broken_links(SITE)
    print(f"{len(list(SITE.rglob('*.html')))} pages in {SITE.relative_to(ROOT)}")
    if mistakes:
        sys.exit("\n".join(mistakes))


def _moved(path: Path, pages: dict[Path, Path]) -> str:
    """Return a page with links that lead to where pages are in the site; what is not there is named without a link."""

    def link(found: re.Match[str]) -> str:
        words, target = found[1], found[2]
        if re.match(r"[a-z]+:|#", target):
            return found[0]
        file, mark, anchor = target.partition("#")
        there = (path.parent / file).resolve()
        if there in pages:
            moved = os.path.relpath(pages[there], pages[path].parent)
            return f"{words}({Path(moved).as_posix()}{mark}{anchor})"
        return words.strip("![]")

    parts = _FENCE.split(path.read_text(encoding="utf-8"))
    return "".join(part if part.startswith("```") else _LINK.sub(link, part) for part in parts)


if __name__ == "__main__":
    main()
