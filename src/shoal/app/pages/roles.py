"""Roles: what each column is, as proposed and as chosen, and how many records the quasi-identifiers single out."""

from __future__ import annotations

from starlette.responses import Response

from shoal.app import draft
from shoal.app.asking import Asked, go_to
from shoal.app.desk import Desk
from shoal.app.rendering import page

_ADDS = 5  # columns that are named as singling records out


def show(desk: Desk, asked: Asked) -> Response:
    """Show the columns with their roles."""
    opened = desk.opened()
    settings = desk.workspace.settings()
    return page(
        desk,
        "roles.html",
        "roles",
        opened=opened,
        roles=draft.roles(settings),
        all_roles=draft.ROLES,
        kept=draft.KEPT,
        kinds=draft.KINDS,
        kind_of=lambda name: draft.kind(settings, name),
        sets=settings.get("quasi_identifiers") or [],
        set_of={name: place for place, part in enumerate(settings.get("quasi_identifiers") or []) for name in part},
        places={name: place for place, name in enumerate(opened.columns)},
    )


def give_role(desk: Desk, asked: Asked) -> Response:
    """Give columns a role."""
    opened = desk.opened()
    names = [opened.column(place) for place in asked.fields("column")]
    role = asked.field("role")
    with desk.workspace.changed_settings() as settings:
        draft.give_role(settings, names, role)
    return go_to("/roles")


def give_kind(desk: Desk, asked: Asked) -> Response:
    """Say of which kind a column is."""
    opened = desk.opened()
    name, kind = opened.column(asked.field("column")), asked.field("kind")
    levels = sorted(opened.values(name)) if kind == "ordinal" else ()
    with desk.workspace.changed_settings() as settings:
        draft.be_of_kind(settings, name, kind, levels)
    return go_to("/meaning" if kind in ("ordinal", "semantic") and asked.field("then") else "/roles")


def give_set(desk: Desk, asked: Asked) -> Response:
    """Put a quasi-identifier into a set."""
    name = desk.opened().column(asked.field("column"))
    with desk.workspace.changed_settings() as settings:
        draft.put_into_set(settings, name, asked.whole("set", 0))
    return go_to("/roles")


def propose_again(desk: Desk, asked: Asked) -> Response:
    """Take what looking at the table proposes."""
    proposed = draft.proposed(desk.opened().inspection)
    with desk.workspace.changed_settings() as settings:
        settings.clear()
        settings.update(proposed)
    return go_to("/roles")


def risk(desk: Desk, asked: Asked) -> Response:
    """Show how many records the quasi-identifiers single out before anything is done, as a piece of a page."""
    opened = desk.opened()
    settings = desk.workspace.settings()
    names = [name for name in draft.quasi_identifiers(settings) if name in opened.columns]
    k = settings.get("k") if isinstance(settings.get("k"), int) else 5
    found = desk.tables.risk(opened, names, int(k or 5)) if names else None
    adds = sorted(found.by_column.items(), key=lambda own: -own[1]["risk_added"])[:_ADDS] if found else []
    return page(desk, "risk.html", found=found, k=k, adds=adds)


ROUTES = [
    ("GET", "/roles", show),
    ("POST", "/roles/role", give_role),
    ("POST", "/roles/kind", give_kind),
    ("POST", "/roles/set", give_set),
    ("POST", "/roles/proposed", propose_again),
    ("GET", "/roles/risk", risk),
]
