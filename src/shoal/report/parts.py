"""What a page is made of. Templates draw these, and escape every text in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal


@dataclass(frozen=True)
class Paragraph:
    """A paragraph."""

    kind: ClassVar[str] = "paragraph"
    text: str
    quiet: bool = False


@dataclass(frozen=True)
class Listed:
    """A list of sentences."""

    kind: ClassVar[str] = "list"
    items: list[str]
    title: str = ""


@dataclass(frozen=True)
class Tile:
    """One figure that is shown large, with its name and what it means."""

    figure: str
    label: str
    meaning: str


@dataclass(frozen=True)
class Tiles:
    """Figures that are shown large."""

    kind: ClassVar[str] = "tiles"
    tiles: list[Tile]


@dataclass(frozen=True)
class Grid:
    """A table: a caption, headings, and rows whose first cell names the row.

    ``texts`` are the columns beside the first that hold words and not figures. ``folded`` shows it on demand, under its
    caption or under ``opener``.
    """

    kind: ClassVar[str] = "grid"
    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    texts: Sequence[int] = ()
    folded: bool = False
    opener: str = ""


@dataclass(frozen=True)
class Plot:
    """A drawing, with words for those who do not see it and, mostly, the figures that it was drawn from."""

    kind: ClassVar[str] = "plot"
    spec: dict[str, Any]
    label: str
    caption: str
    figures: Grid | None = None


@dataclass(frozen=True)
class Code:
    """Text to copy."""

    kind: ClassVar[str] = "code"
    label: str
    text: str


Part = Paragraph | Listed | Tiles | Grid | Plot | Code


@dataclass(frozen=True)
class Card:
    """Parts about one column, beside those about others."""

    title: str
    parts: list[Part]


@dataclass(frozen=True)
class Cards:
    """Cards side by side; those beyond ``shown`` can be chosen from a list."""

    kind: ClassVar[str] = "cards"
    cards: list[Card]
    shown: int
    wide: bool = False


@dataclass(frozen=True)
class Section:
    """A section of the page."""

    anchor: str
    title: str
    intro: str = ""
    parts: list[Part | Cards] = field(default_factory=list)


@dataclass(frozen=True)
class Verdict:
    """What comes first: whether what was asked for is there, what was reached, and what remains."""

    status: Literal["good", "care", "bad"]
    word: str
    headline: str
    asked: list[str]
    reached: list[str]
    remains: list[str]
    tiles: list[Tile]
