"""Which methods take the quasi-identifiers of a plan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal.app import draft
from shoal.app.opened import Opened


def why_unfit(opened: Opened, settings: Mapping[str, Any], method: Any) -> str:
    """Say why a method does not take the quasi-identifiers; empty where it does."""
    kinds = {proposal.profile.name: str(proposal.profile.kind) for proposal in opened.inspection.proposals}
    for name in draft.quasi_identifiers(settings):
        own = draft.kind(settings, name) or kinds.get(name, "")
        if {"boolean": "nominal"}.get(own, own) not in method.kinds:
            return f"not for {name}, which is {own}"
    return ""
