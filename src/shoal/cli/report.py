"""shoal report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import shoal
from shoal.cli.options import (
    ColumnWeight,
    Decimal,
    Delimiter,
    Encoding,
    Force,
    Hierarchy,
    MadeWith,
    Missing,
    NoHeader,
    Nominal,
    Order,
    RecordScaling,
    Signs,
    TableName,
    Thousands,
    UniqueColumns,
    categories,
    names,
    reading_of,
)
from shoal.cli.shell import tell, told_errors


def report(
    original: Annotated[str, typer.Argument(metavar="ORIGINAL", help="The table before.")],
    released: Annotated[str, typer.Argument(metavar="RELEASED", help="The table after, with the same rows.")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="Where to write it: r.html.")],
    edition: Annotated[
        str, typer.Option(help="internal, or external: without anything that helps an intruder.")
    ] = "internal",
    quasi: Annotated[
        list[str] | None,
        typer.Option("-q", "--quasi-identifiers", help="Columns: a,b; those of the manifest, or all, by default."),
    ] = None,
    confidential: Annotated[
        list[str] | None, typer.Option(help="Columns for l-diversity, alpha and t-closeness: a,b.")
    ] = None,
    weight: Annotated[
        str | None, typer.Option(help="Column of sampling weights: risk, and weighted means and totals.")
    ] = None,
    known: Annotated[
        list[str] | None, typer.Option(help="Columns that an intruder knows: a,b; the quasi-identifiers by default.")
    ] = None,
    hierarchy: Hierarchy = None,
    order: Order = None,
    nominal: Nominal = None,
    column_weight: ColumnWeight = None,
    scaling: RecordScaling = None,
    unique_columns: UniqueColumns = None,
    plan: MadeWith = None,
    threads: Annotated[int | None, typer.Option(help="Measures that run at a time; the result is the same.")] = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    missing: Missing = None,
    no_header: NoHeader = False,
    decimal: Decimal = None,
    thousands: Thousands = None,
    signs: Signs = None,
    named: TableName = None,
    force: Force = False,
) -> None:
    """Write a report of a release, whoever made it: one HTML file that needs no network."""
    with told_errors():
        shoal.write_report(
            original,
            released,
            output,
            names(quasi),
            edition=edition,
            confidential=names(confidential),
            weight=weight,
            known=names(known),
            **categories(hierarchy, order, nominal, column_weight),
            scaling=scaling,
            unique_columns=unique_columns,
            plan=plan,
            reading=reading_of(delimiter, encoding, missing, no_header, decimal, thousands, signs, named),
            threads=threads,
            overwrite=force,
        )
        tell(f"{edition} report written to {output}")
