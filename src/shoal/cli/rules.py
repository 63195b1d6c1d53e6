"""shoal rules check, shoal rules localise and shoal rules convert."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import shoal
from shoal.cli.commands import COMMANDS, LightGroup
from shoal.cli.options import (
    Decimal,
    Delimiter,
    Encoding,
    Force,
    Input,
    Json,
    Missing,
    NoHeader,
    Order,
    Signs,
    TableName,
    Thousands,
    column_weights,
    orders,
    reading_of,
)
from shoal.cli.shell import check_inputs, out, tell, told_errors
from shoal.cli.tables import plain_table
from shoal.errors import counted

if TYPE_CHECKING:
    from rich.table import Table

rules = typer.Typer(name="rules", cls=LightGroup, help=COMMANDS["rules"], no_args_is_help=True, add_completion=False)
RuleFile = Annotated[
    Path,
    typer.Argument(metavar="RULES", help="Rules: .sch, .xml, .rules, .txt, .R, .sql, R validate or a plan in .yaml."),
]


@rules.command()
def check(
    table: Input,
    file: RuleFile,
    original: Annotated[
        str | None, typer.Option(help="The original table, for rules about its values, where IN is a release.")
    ] = None,
    rows: Annotated[int, typer.Option(min=0, help="Most row numbers to show for each rule.")] = 10,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    missing: Missing = None,
    no_header: NoHeader = False,
    decimal: Decimal = None,
    thousands: Thousands = None,
    signs: Signs = None,
    named: TableName = None,
    order: Order = None,
    as_json: Json = False,
) -> None:
    """List the records that break each rule: how many, and their numbers. Ends with status 1 if there are any."""
    with told_errors():
        reading = reading_of(delimiter, encoding, missing, no_header, decimal, thousands, signs, named)
        found = shoal.check_rules(table, file, original=original, reading=reading, orders=orders(order))
        if as_json:
            typer.echo(json.dumps([finding.to_dict() for finding in found]))
        else:
            out().print(_findings(found, rows))
        for finding in found:
            if finding.up_to_rounding:
                tell(
                    f"note: rule '{shoal.printable(finding.name)}' holds in "
                    f"{counted(finding.up_to_rounding, 'record')} up to "
                    "rounding, and not to the last digit"
                )
    if any(finding.violations and not finding.soft for finding in found):
        raise typer.Exit(1)


def _findings(found: list[shoal.RuleFinding], rows: int) -> Table:
    from rich.text import Text

    table = plain_table("rule", "violations", "not applicable", "rows", "checked by")
    for finding in found:
        shown = ", ".join(map(str, finding.rows[:rows]))
        more = len(finding.rows) - rows
        table.add_row(
            Text(shoal.printable(finding.name), overflow="fold"),
            Text(str(finding.violations), style="red" if finding.violations else ""),
            str(finding.not_applicable),
            shown + (f" and {more} more" if rows and more > 0 else ""),
            finding.checked_by,
        )
    return table


@rules.command()
def localise(
    table: Input,
    file: RuleFile,
    weight: Annotated[
        list[str] | None, typer.Option(help="How reliable the cells of a column are: age=2. Repeatable.")
    ] = None,
    rows: Annotated[int, typer.Option(min=0, help="Most row numbers to show for each column.")] = 10,
    order: Order = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    missing: Missing = None,
    no_header: NoHeader = False,
    decimal: Decimal = None,
    thousands: Thousands = None,
    signs: Signs = None,
    named: TableName = None,
    as_json: Json = False,
) -> None:
    """Find the fewest cells to change so that all rules can hold. Nothing is changed; status 1 if there are any."""
    with told_errors():
        reading = reading_of(delimiter, encoding, missing, no_header, decimal, thousands, signs, named)
        weights = column_weights(weight, "--weight")
        found = shoal.localise_errors(table, file, weights=weights, orders=orders(order), reading=reading)
        if as_json:
            typer.echo(json.dumps(found.to_dict()))
        else:
            out().print(_localised(found, rows))
        cells = sum(found.by_column.values())
        tell(
            f"{counted(found.broken, 'record')} of {found.records} with a broken rule; {counted(cells, 'cell')} must "
            "change so that all rules can hold"
        )
        for name, reason in found.not_handled.items():
            tell(f"note: rule '{shoal.printable(name)}' is left out: {reason}")
        if found.unsolved:
            tell(f"note: no change of cells was found for {counted(len(found.unsolved), 'record')}")
    if found.broken:
        raise typer.Exit(1)


def _localised(found: shoal.Localisation, rows: int) -> Table:
    table = plain_table("column", "cells to change", "rows")
    for name, count in found.by_column.items():
        numbers = [row for row, columns in found.cells.items() if name in columns]
        more = len(numbers) - rows
        shown = ", ".join(map(str, numbers[:rows]))
        table.add_row(shoal.printable(name), str(count), shown + (f" and {more} more" if rows and more > 0 else ""))
    return table


@rules.command()
def convert(
    file: RuleFile,
    output: Annotated[
        Path,
        typer.Option(
            "-o", "--output", metavar="OUT", help="Where to write them: .sch, .xml, .rules, .txt, .R, .yaml, .sql."
        ),
    ],
    record: Annotated[str, typer.Option(help="Schematron: name of the element that is a record.")] = "Record",
    original: Annotated[str, typer.Option(help="Schematron: name of the original data.")] = "microdata.xml",
    table: Annotated[str, typer.Option(help="SQL: name of the table.")] = "microdata",
    force: Force = False,
) -> None:
    """Write rules in the notation that the ending of the output asks for."""
    with told_errors():
        check_inputs(output, file)
        read = shoal.read_rules(file)
        shoal.write_rules(read, output, record=record, original=original, table=table, overwrite=force)
        tell(f"{counted(len(read), 'rule')} written to {output}")
