"""shoal inspect."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import shoal
from shoal.cli.options import (
    Decimal,
    Delimiter,
    Encoding,
    Force,
    Input,
    Json,
    Missing,
    NoHeader,
    Signs,
    TableName,
    Thousands,
    reading_of,
)
from shoal.cli.shell import out, tell, told_errors
from shoal.cli.tables import named_rows
from shoal.errors import counted, without_secrets

if TYPE_CHECKING:
    from rich.table import Table


def inspect(
    table: Input,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="PLAN", help="Write the proposed plan, to be edited."),
    ] = None,
    k: Annotated[int, typer.Option("-k", help="k of the proposed plan.")] = 5,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    missing: Missing = None,
    no_header: NoHeader = False,
    decimal: Decimal = None,
    thousands: Thousands = None,
    signs: Signs = None,
    named: TableName = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Show what is in a table and propose a role for each column. No value of the table is shown."""
    with told_errors():
        found = shoal.inspect(
            table, reading_of(delimiter, encoding, missing, no_header, decimal, thousands, signs, named)
        )
        for note in found.notes:
            tell(f"note: {note}")
        if output:
            found.write(output, k, overwrite=force)
            shown = without_secrets(table)
            tell(f"plan written to {output}; check it, then: shoal protect {shown} -o OUT --plan {output}")
        if as_json:
            typer.echo(json.dumps(found.to_dict()))
        else:
            out().print(_inspection_table(found))


def _inspection_table(found: shoal.Inspection) -> Table:
    from rich.text import Text

    headings = ("column", "type", "missing", "distinct", "proposed role", "because")
    table = named_rows(*headings, names=[p.profile.name for p in found.proposals], whole=range(1, 5))
    for p in found.proposals:
        style = {"identifier": "red", "quasi-identifier": "yellow"}.get(p.role, "")
        table.add_row(
            Text(shoal.printable(p.profile.name), overflow="fold"),
            Text(p.profile.type),
            str(p.profile.missing),
            str(p.profile.distinct),
            Text(p.role, style=style),
            p.reason,
        )
    table.caption = counted(found.records, "record")
    return table
