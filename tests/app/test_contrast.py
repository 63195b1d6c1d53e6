"""Colours of the application, light and dark: texts stand out from what is behind them as WCAG 2.1 AA asks."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

import shoal

TEXT, GRAPHIC = 4.5, 3.0  # success criteria 1.4.3, and 1.4.11 for borders, the focus and marks of plots
GROUNDS = ("page", "card")
TONES = (
    "identifier",
    "quasi",
    "confidential",
    "weight",
    "stratum",
    "kept",
    "good",
    "care",
    "bad",
    "link",
    "ink",
    "soft",
)
PAIRS = [
    *((tone, ground, TEXT) for tone in TONES for ground in GROUNDS),
    ("card", "link", TEXT),  # buttons
    ("on-brand", "brand", TEXT),  # the head of a page, and the focus in it
    ("ink", "good-pale", TEXT),
    ("good", "good-pale", TEXT),
    ("link", "good-pale", TEXT),
    ("soft", "good-pale", TEXT),
    *((mark, "card", GRAPHIC) for mark in ("before", "after")),
]


def sheets():
    return shoal.report_asset("page.css") + files("shoal.app").joinpath("static", "app.css").read_text(encoding="utf-8")


def colours(scheme):
    """Return the variables of the style sheets in a scheme; what is dark stands in a query of its own."""
    found = {}
    for block in re.finditer(
        r"^(@media \(prefers-color-scheme: dark\) \{\s*)?:root \{([^}]*)\}", sheets(), re.MULTILINE
    ):
        if scheme == "dark" or not block[1]:
            found |= dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block[2]))
    return found


def contrast(one, other):
    """The contrast ratio of two colours, from the definition of WCAG 2.1."""
    lights = []
    for colour in (one, other):
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        lights.append(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])
    return (max(lights) + 0.05) / (min(lights) + 0.05)


def test_the_ratio_is_that_of_the_definition():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("front", "ground", "least"), PAIRS)
def test_colours_stand_out(scheme, front, ground, least):
    known = colours(scheme)
    assert contrast(known[front], known[ground]) >= least


def test_the_schemes_differ_and_have_the_same_names():
    light, dark = colours("light"), colours("dark")
    assert set(light) == set(dark)
    assert all(light[name] != dark[name] for name in TONES)


def test_every_colour_of_a_text_is_compared():
    used = set(
        re.findall(r"[{;\s]color: var\(--([\w-]+)\)", files("shoal.app").joinpath("static", "app.css").read_text())
    )
    assert used - {"tone"} <= {front for front, _, least in PAIRS if least == TEXT}, (
        "tone is one of the roles or states"
    )
    assert not re.findall(r"[{;\s]color: #", files("shoal.app").joinpath("static", "app.css").read_text())
