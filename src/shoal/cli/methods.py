"""shoal methods."""

from __future__ import annotations

import json
from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Any

import typer

import shoal
from shoal.cli.options import Json
from shoal.cli.shell import out, told_errors
from shoal.cli.tables import plain_table

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

_INDENT = " " * 6


def methods(
    name: Annotated[str | None, typer.Argument(help="Show one method in full.")] = None,
    as_json: Json = False,
) -> None:
    """List the methods: name, source, cost and options."""
    with told_errors():
        chosen = list(shoal.METHODS.values()) if name is None else [shoal.find_method(name)]
        if as_json:
            typer.echo(json.dumps({"methods": [m.to_dict() for m in chosen]}))
        elif name is None:
            out().print(_methods_table(chosen))
        else:
            out().print(_method_page(chosen[0]))


def _methods_table(chosen: Sequence[Any]) -> Table:
    from rich.text import Text

    table = plain_table("method", "what it does")
    for m in chosen:
        options = ", ".join(f"{o.name}={_shown(o.default)}" for o in m.options)
        facts = f"{m.source}; {m.cost}" + (f"; options {options}" if options else "")
        table.add_row(Text(m.name, style="bold", no_wrap=True), Text.assemble(m.doc, "\n", (facts, "dim")))
    return table


def _method_page(m: Any) -> Text:
    from rich.text import Text

    page = Text.assemble((m.name, "bold"), f"\n{m.doc}\n\nsource  {m.source}\ncost    {m.cost}\n")
    page.append("options" if m.options else "It has no options.")
    for o in m.options:
        told = f"{o.doc} ({', '.join(o.choices)})" if o.choices else o.doc
        lines = fill(told, out().width, initial_indent=_INDENT, subsequent_indent=_INDENT)
        page.append(f"\n  {o.name} = {_shown(o.default)}\n{lines}")
    return page


def _shown(default: object) -> str:
    return "off" if default is None else str(default).lower()
