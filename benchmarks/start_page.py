"""The page of results on the first seconds, docs/results/start.md."""

from __future__ import annotations

from markdown import DOCS, made_by, table, write
from record import load
from shoal.kernels.library import FOLDER


def start() -> None:
    """Write docs/results/start.md."""
    machine, rows = load("start")
    size = sum(path.stat().st_size for path in FOLDER.iterdir())
    names = ("library", "compiling", "compiled")
    lines = [[f"`{row['command']}`", *(f"{row[name]:.2f}" for name in names)] for row in rows]
    same = all(row["same_release"] for row in rows)
    parts = [
        _INTRODUCTION.format(size=f"{size / 1e6:.1f}"),
        made_by("start", machine),
        table(("command", "first, with the library", "first, compiling", "again, compiled before"), lines),
        f"CPU seconds. The releases of all three ways are {'' if same else 'not all '}the same bytes.",
    ]
    write(DOCS / "results" / "start.md", "\n\n".join(parts))


_INTRODUCTION = """# The first seconds

What a command costs on a machine that has never run shoal. shoal comes with its kernels compiled, in a library
of {size} MB for Linux on x86-64; elsewhere, and for what the library does not hold, they are compiled when
they are first used, and kept for later runs. How that works: [Machine code](../how-it-works.md#machine-code).

Each command runs in a process of its own. The second column is without the library (`SHOAL_PREBUILT=off`) and with an
empty folder for what is compiled, the third is the same again."""
