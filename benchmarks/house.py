"""The picture of the rooms in CONTRIBUTING.md, from what they import: ``python benchmarks/house.py``.

A room stands above all rooms that it imports, as low as it can. A line goes to each room that it imports and that is
not reached through another; the one way up, from a release to its report, is left out.
"""

from __future__ import annotations

import ast
from html import escape
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "shoal"
PICTURE = ROOT / "docs" / "images" / "house.svg"
STEPS = ["tables", "blocking", "partition", "aggregate", "release", "measures", "report"]
WIDTH, HEIGHT, GAP, ROW = 150, 46, 26, 92


def imported() -> dict[str, set[str]]:
    """Return the rooms of the package, and the rooms that each imports."""
    found: dict[str, set[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        room = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        if room.startswith("__"):
            continue
        own = found.setdefault(room, set())
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("shoal."):
                own.add(str(node.module).split(".")[1])
            elif isinstance(node, ast.Import) and room in ("app", "cli") and any(a.name == "shoal" for a in node.names):
                own |= {"sweeps", "report"}  # the public names, whose highest rooms these are
        own.discard(room)
    return found


def levels(rooms: dict[str, set[str]]) -> dict[str, int]:
    """Return how high each room stands: one above the highest that it imports."""
    found: dict[str, int] = {}
    while len(found) < len(rooms):
        ready = [room for room in rooms if room not in found and rooms[room] <= set(found)]
        if not ready:
            raise SystemExit(f"these rooms import each other: {', '.join(sorted(set(rooms) - set(found)))}")
        found |= {room: 1 + max((found[other] for other in rooms[room]), default=-1) for room in ready}
    return found


def nearest(rooms: dict[str, set[str]]) -> dict[str, set[str]]:
    """Return the rooms that each imports and that none of its others reaches."""

    def below(room: str) -> set[str]:
        return rooms[room].union(*(below(other) for other in rooms[room])) if rooms[room] else set()

    return {room: {o for o in own if not any(o in below(other) for other in own)} for room, own in rooms.items()}


def drawn() -> str:
    """Return the picture."""
    rooms = imported()
    height = levels(rooms)
    rows = [sorted(room for room in rooms if height[room] == level) for level in range(max(height.values()) + 1)]
    widest = max(map(len, rows))
    wide, tall = widest * (WIDTH + GAP) + GAP, len(rows) * ROW + GAP
    place = {}
    for level, row in enumerate(rows):
        left = (wide - len(row) * (WIDTH + GAP) + GAP) / 2
        for at, room in enumerate(row):
            place[room] = (left + at * (WIDTH + GAP), tall - (level + 1) * ROW)
    lines, boxes = [], []
    for room, others in sorted(nearest(rooms).items()):
        x, y = place[room]
        for other in sorted(others):
            to_x, to_y = place[other]
            lines.append(
                f'<line x1="{x + WIDTH / 2:g}" y1="{y + HEIGHT:g}" x2="{to_x + WIDTH / 2:g}" y2="{to_y:g}" '
                'stroke="#8aa0b4" stroke-width="1.4"/>'
            )
    for room, (x, y) in sorted(place.items()):
        fill = "#cfe3f1" if room in STEPS else "#f2f4f6"
        boxes.append(
            f'<rect x="{x:g}" y="{y:g}" width="{WIDTH}" height="{HEIGHT}" rx="7" fill="{fill}" stroke="#53718c"/>'
            f'<text x="{x + WIDTH / 2:g}" y="{y + 29:g}" text-anchor="middle" font-family="sans-serif" font-size="16" '
            f'fill="#1d2b36">{escape(room)}</text>'
        )
    size = f'width="{wide:g}" height="{tall:g}" viewBox="0 0 {wide:g} {tall:g}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>'
    return "\n".join([head, '<rect width="100%" height="100%" fill="#ffffff"/>', *lines, *boxes, "</svg>"]) + "\n"


if __name__ == "__main__":
    PICTURE.write_text(drawn(), encoding="utf-8")
    print(PICTURE.relative_to(ROOT))
