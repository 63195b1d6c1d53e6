"""Roles: what each column is, as proposed and as chosen, and how many records the quasi-identifiers single out."""

from __future__ import annotations

from starlette.responses import Response

import shoal
from shoal.app import draft
from shoal.app.asking import Asked, go_to
from shoal.app.desk import Desk
from shoal.app.opened import Opened, by_size
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
        auto=draft.is_auto(settings),
    )


def give_role(desk: Desk, asked: Asked) -> Response:
    """Give columns a role."""
    opened = desk.opened()
    names = [opened.column(place) for place in asked.fields("column")]
    role = asked.field("role")
    with desk.workspace.changed_settings() as settings:
        if draft.is_auto(settings) and role == shoal.Role.QUASI_IDENTIFIER:
            draft.name_columns(settings, _proposed(opened))
        draft.give_role(settings, names, role)
    return go_to("/roles")


def name_columns(desk: Desk, asked: Asked) -> Response:
    """Name the quasi-identifiers of a plan that leaves their choice to the run."""
    opened = desk.opened()
    with desk.workspace.changed_settings() as settings:
        if draft.is_auto(settings):
            draft.name_columns(settings, _proposed(opened))
    return go_to("/roles")


def _proposed(opened: Opened) -> list[str]:
    """Return the columns that looking at the table proposes as quasi-identifiers."""
    proposals = opened.inspection.proposals
    return [one.profile.name for one in proposals if one.role == shoal.Role.QUASI_IDENTIFIER]


def take_plan(desk: Desk, asked: Asked) -> Response:
    """Take a plan from a file that was sent as text."""
    desk.take_plan(asked.field("text"))
    return go_to("/roles")


def give_kind(desk: Desk, asked: Asked) -> Response:
    """Say of which kind a column is."""
    opened = desk.opened()
    name, kind = opened.column(asked.field("column")), asked.field("kind")
    with desk.workspace.changed_settings() as settings:
        if kind != draft.kind(settings, name):  # an order or a hierarchy that is there stays
            levels = sorted(opened.values(name), key=by_size) if kind == "ordinal" else ()
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
    proposed = draft.proposed(desk.opened().inspection)  # read as it is read now
    with desk.workspace.changed_settings() as settings:
        settings.clear()
        settings.update(proposed)
    return go_to("/roles")


def risk(desk: Desk, asked: Asked) -> Response:
    """Show how many records the quasi-identifiers single out before anything is done, as a piece of a page."""
    opened = desk.opened()
    settings = desk.workspace.settings()
    named = dict(settings)
    if draft.is_auto(named):
        draft.name_columns(named, _proposed(opened))
    names = [name for name in draft.quasi_identifiers(named) if name in opened.columns]
    k = settings.get("k") if isinstance(settings.get("k"), int) else 5
    found = desk.tables.risk(opened, names, int(k or 5)) if names else None
    by_column = found.by_column if found else {}
    adds = sorted(by_column.items(), key=lambda own: (-own[1]["risk_added"], -own[1]["risk_alone"]))[:_ADDS]
    return page(desk, "risk.html", found=found, k=k, adds=adds)


ROUTES = [
    ("GET", "/roles", show),
    ("POST", "/roles/role", give_role),
    ("POST", "/roles/kind", give_kind),
    ("POST", "/roles/set", give_set),
    ("POST", "/roles/proposed", propose_again),
    ("POST", "/roles/named", name_columns),
    ("POST", "/roles/plan", take_plan),
    ("GET", "/roles/risk", risk),
]
