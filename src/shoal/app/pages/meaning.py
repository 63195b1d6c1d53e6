"""Hierarchies and rules: what categories are kinds of, their order, and what must hold in every record."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from starlette.responses import Response

import shoal
from shoal.app import draft, trees
from shoal.app.asking import Asked, go_to
from shoal.app.desk import Desk
from shoal.app.opened import MOST_VALUES, Opened, by_size
from shoal.app.rendering import page
from shoal.app.rule_texts import as_text, check_text, cut_rules
from shoal.app.workspace import NotThere, free_path, safe_name

SOURCES = {
    "": "none: any two values are equally far apart",
    "order": "an order from the lowest to the highest",
    "flat": "one name above all values",
    "prefixes": "the beginnings of codes, such as those of NACE or ICD",
    "intervals": "intervals around numbers",
    "wordnet": "WordNet, for English nouns",
}
DISTANCES = ("wu-palmer", "path", "information-content", "jiang-conrath")
_SCHEMATRON = (".sch", ".xml")


def show(desk: Desk, asked: Asked) -> Response:
    """Show the hierarchies of the categories, and the rules."""
    opened = desk.opened()
    settings = desk.workspace.settings()
    text = as_text(settings.get("rules") or ())
    return page(
        desk,
        "meaning.html",
        "meaning",
        opened=opened,
        categories=[_category(opened, settings, name) for name in categories(opened, settings)],
        sources=SOURCES,
        distances=DISTANCES,
        rules=text,
        rules_file=Path(settings["rules_file"]).name if settings.get("rules_file") else "",
        broken=settings.get("broken_rules", "refuse"),
        checked=check_text(opened.frame, text, settings.get("orders")),
        most_values=MOST_VALUES,
    )


def categories(opened: Opened, settings: dict[str, Any]) -> list[str]:
    """Return the quasi-identifiers that are categories, by their type or because that was said."""
    kinds = {proposal.profile.name: str(proposal.profile.kind) for proposal in opened.inspection.proposals}
    own = draft.quasi_identifiers(settings)
    return [name for name in own if kinds.get(name) in ("nominal", "boolean") or draft.kind(settings, name)]


def _category(opened: Opened, settings: dict[str, Any], name: str) -> dict[str, Any]:
    """Return what is shown of a column of categories: its hierarchy as a tree, or its order, or its values."""
    source = (settings.get("hierarchies") or {}).get(name)
    shown: dict[str, Any] = {
        "name": name,
        "place": opened.columns.index(name),
        "kind": draft.kind(settings, name),
        "source": source,
        "values": opened.values(name, MOST_VALUES),
        "order": (settings.get("orders") or {}).get(name),
        "tree": None,
        "lines": [],
        "wrong": [],
        "words": _words(source),
        "distance": (source or {}).get("distance", DISTANCES[0]) if isinstance(source, dict) else DISTANCES[0],
    }
    if source is None:
        return shown
    try:
        found = shoal.inspect_hierarchy(source, opened.frame, name)
    except (shoal.ShoalError, ImportError) as error:
        return shown | {"wrong": getattr(error, "mistakes", None) or [str(error)]}
    lines = list(found.lines())
    small = len(lines) <= trees.MOST_NODES
    return shown | {
        "tree": found.to_dict(),
        "lines": lines if small else [],
        "text": trees.as_text(lines) if small else "",
        "can_edit": small and found.hierarchy.is_tree,
    }


def _words(source: Any) -> dict[str, str]:
    """Return what was said about WordNet, as fields of a form: the words of values, and a folder."""
    said = source.get("wordnet") if isinstance(source, dict) else None
    said = said if isinstance(said, dict) else {}
    words = said.get("words") if isinstance(said.get("words"), dict) else {}
    return {"words": "\n".join(f"{value} = {word}" for value, word in (words or {}).items()),
            "folder": said.get("folder") or ""}  # fmt: skip


def take_source(desk: Desk, asked: Asked) -> Response:
    """Make a hierarchy or an order for a column from its values, or take it away."""
    opened = desk.opened()
    name, source = opened.column(asked.field("column")), asked.field("source")
    if source not in SOURCES:
        raise shoal.PlanError("source: there is no such source of a hierarchy")
    with desk.workspace.changed_settings() as settings:
        before = dict(settings)
        if source == "order":
            draft.be_of_kind(settings, name, "ordinal", sorted(opened.values(name), key=by_size))
        else:
            draft.take_hierarchy(settings, name, _made(source, asked, desk.shared))
        _check(settings, before, opened, name)
    return go_to("/meaning")


def _made(source: str, asked: Asked, shared: bool) -> dict[str, Any] | None:
    """Return where a hierarchy is to come from, as a plan says it."""
    numbers = [part for part in asked.field("numbers").replace(",", " ").split() if part.replace(".", "").isdecimal()]
    if source == "prefixes":
        return {"prefixes": [int(part) for part in numbers if part.isdecimal()] or True}
    if source == "intervals":
        return {"intervals": [float(part) for part in numbers] or [10.0]}
    if source == "wordnet":
        lines = [line.split("=", 1) for line in asked.field("words").splitlines() if "=" in line]
        said: dict[str, Any] = {"words": {value.strip(): word.strip() for value, word in lines}} if lines else {}
        folder = asked.field("folder").strip()
        if folder and shared:
            raise shoal.FileError("folders of this machine are not read while others can reach it")
        return {"wordnet": said | ({"folder": folder} if folder else {}) or True}
    return {source: True} if source else None


def _check(settings: dict[str, Any], before: dict[str, Any], opened: Opened, name: str) -> None:
    """Have back what was there before where a new hierarchy cannot be made, and say why."""
    source = (settings.get("hierarchies") or {}).get(name)
    if source is None:
        return
    try:
        shoal.inspect_hierarchy(source, opened.frame, name)
    except shoal.ShoalError:
        settings.clear()
        settings.update(before)
        raise


def change_tree(desk: Desk, asked: Asked) -> Response:
    """Rename, move, add or take away a name of a hierarchy, or take a whole tree that was written."""
    opened = desk.opened()
    name = opened.column(asked.field("column"))
    with desk.workspace.changed_settings() as settings:
        source = (settings.get("hierarchies") or {}).get(name)
        if source is None:
            raise NotThere("the column has no hierarchy")
        before = dict(settings)
        given = source if isinstance(source, dict) else {}
        if asked.has("text"):
            pairs = trees.pairs_of_text(asked.field("text"))
        else:
            how, node, other = asked.field("how"), asked.field("node"), asked.field("other").strip()
            if how not in trees.CHANGES or (not other and how != "remove"):
                raise shoal.DataError("say what to do with which name")
            found = shoal.load_hierarchy(source, opened.values(name))
            pairs = trees.CHANGES[how](trees.pairs_of(found), node, other)
        draft.take_hierarchy(settings, name, trees.settings_of(pairs, given))
        _check(settings, before, opened, name)
    return go_to("/meaning")


def take_distance(desk: Desk, asked: Asked) -> Response:
    """Choose how far apart the names of a hierarchy are."""
    name, chosen = desk.opened().column(asked.field("column")), asked.field("distance")
    if chosen not in DISTANCES:
        raise shoal.PlanError("distance: there is no such distance")
    with desk.workspace.changed_settings() as settings:
        source = (settings.get("hierarchies") or {}).get(name)
        if not isinstance(source, dict):
            raise NotThere("the column has no hierarchy")
        if chosen != source.get("distance", DISTANCES[0]):
            draft.take_hierarchy(settings, name, {**source, "distance": chosen})
    return go_to("/meaning")


def take_file(desk: Desk, asked: Asked) -> Response:
    """Take a hierarchy from the text of a file; the plan has its names then, and needs the file no more."""
    opened = desk.opened()
    name = opened.column(asked.field("column"))
    path = stored_text(desk, "hierarchies", asked.field("file"), asked.field("text"))
    with desk.workspace.changed_settings() as settings:
        found = shoal.load_hierarchy(path, opened.values(name))
        draft.take_hierarchy(settings, name, found.as_settings())
    return go_to("/meaning")


def take_order(desk: Desk, asked: Asked) -> Response:
    """Take the order of the values of a column, one a line, from the lowest to the highest."""
    name = desk.opened().column(asked.field("column"))
    levels = [line.strip() for line in asked.field("text").splitlines() if line.strip()]
    with desk.workspace.changed_settings() as settings:
        draft.be_of_kind(settings, name, "ordinal", levels)
    return go_to("/meaning")


def take_rules(desk: Desk, asked: Asked) -> Response:
    """Take the rules as they are typed."""
    sent = asked.field("text").replace("\r\n", "\n")
    with desk.workspace.changed_settings() as settings:
        if sent != as_text(settings.get("rules") or ()):
            draft.give(settings, "rules", [text for _, text in cut_rules(sent)] or None)
        if asked.has("forget_file"):
            settings.pop("rules_file", None)
        there = settings.get("rules") or settings.get("rules_file")
        draft.give(settings, "broken_rules", asked.field("broken") or None if there else None)
        if not there:
            settings.pop("product_rules", None)
    return go_to("/meaning#rules")


def take_rules_file(desk: Desk, asked: Asked) -> Response:
    """Take rules from the text of a file; Schematron stays a file of the workspace, others become expressions."""
    path = stored_text(desk, "rules", asked.field("file"), asked.field("text"))
    rules = shoal.read_rules(path)
    with desk.workspace.changed_settings() as settings:
        if path.suffix.lower() in _SCHEMATRON:
            settings["rules_file"] = str(path)
        else:
            written = free_path(path.with_suffix(".rules"))
            shoal.write_rules(rules, written)
            texts = [text for _, text in cut_rules(written.read_text(encoding="utf-8"))]
            settings["rules"] = [*settings.get("rules", ()), *texts]
    return go_to("/meaning#rules")


def stored_text(desk: Desk, folder: str, name: str, text: str) -> Path:
    """Store a small file that was sent as text, under its own name made harmless."""
    place = desk.workspace.folder / folder
    place.mkdir(exist_ok=True, mode=0o700)
    path = free_path(place / safe_name(name))
    path.write_text(text, encoding="utf-8")
    return path


def check_rules(desk: Desk, asked: Asked) -> Response:
    """Say what is wrong with rules while they are typed, and how many records break each."""
    opened = desk.opened()
    orders = desk.workspace.settings().get("orders")
    return page(desk, "rules_checked.html", checked=check_text(opened.frame, asked.field("text"), orders))


ROUTES = [
    ("GET", "/meaning", show),
    ("POST", "/meaning/source", take_source),
    ("POST", "/meaning/tree", change_tree),
    ("POST", "/meaning/distance", take_distance),
    ("POST", "/meaning/file", take_file),
    ("POST", "/meaning/order", take_order),
    ("POST", "/meaning/rules", take_rules),
    ("POST", "/meaning/rules/file", take_rules_file),
    ("POST", "/meaning/rules/check", check_rules),
]
