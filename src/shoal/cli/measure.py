"""shoal measure."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import shoal
from shoal.cli.options import (
    ColumnWeight,
    Decimal,
    Delimiter,
    Encoding,
    Force,
    Hierarchy,
    Json,
    MadeWith,
    Master,
    MeasureEngine,
    Memory,
    Missing,
    NoHeader,
    Nominal,
    Order,
    RecordScaling,
    Signs,
    SparkSetting,
    TableName,
    Thousands,
    UniqueColumns,
    categories,
    engine_of,
    names,
    reading_of,
)
from shoal.cli.shell import out, tell, told_errors
from shoal.cli.tables import named_rows, plain_table
from shoal.errors import decimal

if TYPE_CHECKING:
    from rich.table import Table

_HEADINGS = {"utility": "what is kept", "risk": "what is at risk", "both": "both"}
_BY_COLUMN = {  # headings of the least width, so that a name of 16 letters fits a line of 80 beside them
    "information_loss": "loss,\n%",
    "pil": "PIL,\n%",
    "kolmogorov_smirnov": "K-S",
    "table_distance": "moved,\n%",
    "suppressed_cells": "cells\nlost",
    "interval_disclosure": "inter-\nvals,\n%",
    "risk_alone": "risk\nalone,\n%",
    "risk_added": "risk\nadded,\n%",
}


def measure(
    original: Annotated[str, typer.Argument(metavar="ORIGINAL", help="The table before.")],
    released: Annotated[str, typer.Argument(metavar="RELEASED", help="The table after, with the same rows.")],
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
    blocking: Annotated[
        list[str] | None, typer.Option(help="Columns in which records must agree to be linked: a,b.")
    ] = None,
    population: Annotated[
        str | None, typer.Option(help="Table of the people it may be about, for delta-presence.")
    ] = None,
    hierarchy: Hierarchy = None,
    order: Order = None,
    nominal: Nominal = None,
    column_weight: ColumnWeight = None,
    scaling: RecordScaling = None,
    unique_columns: UniqueColumns = None,
    interval: Annotated[
        int | None, typer.Option(min=1, max=10, help="Show interval disclosure at this single width, in percent, too.")
    ] = None,
    plan: MadeWith = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write the figures to a JSON file.")
    ] = None,
    threads: Annotated[int | None, typer.Option(help="Measures that run at a time; the result is the same.")] = None,
    engine: MeasureEngine = None,
    memory: Memory = None,
    master: Master = None,
    spark: SparkSetting = None,
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
    """Measure what a release keeps and what it risks, whoever made it."""
    with told_errors():
        asked = engine_of(engine, memory, master, None, spark)
        said: dict[str, Any] = {
            "confidential": names(confidential),
            "weight": weight,
            "known": names(known),
            "blocking": names(blocking),
            "population": population,
            **categories(hierarchy, order, nominal, column_weight),
            "scaling": scaling,
            "unique_columns": unique_columns,
            "reading": reading_of(delimiter, encoding, missing, no_header, decimal, thousands, signs, named),
        }
        common: dict[str, Any] = {"plan": plan, "output": output, "overwrite": force, "threads": threads}
        if asked is None:
            found = shoal.measure(original, released, names(quasi), **said, **common)
        else:
            useless = [f"--{name.replace('_', '-')}" for name, value in said.items() if value]
            useless += ["--interval"] if interval is not None else []
            if useless:
                raise shoal.PlanError(f"{', '.join(useless)}: no effect with --engine; a plan says what columns are")
            found = shoal.measure_in_engine(original, released, names(quasi), engine=asked, **common)
        for note in found.notes:
            tell(f"note: {note}")
        if as_json:
            typer.echo(json.dumps(found.to_dict()))
        else:
            out().print(_figures_table(found), _columns_table(found))
            if interval is not None and found.interval_by_width:
                out().print(_intervals_table(found, interval))


def _figures_table(found: shoal.Measures) -> Table:
    from rich.text import Text

    table = plain_table("measure", "figure", "what it says")
    table.columns[1].justify = "right"
    about = ""
    for measure in shoal.MEASURES.values():
        if found[measure.name] is None:
            continue
        if measure.about != about:
            about = measure.about
            table.add_row(Text(_HEADINGS[about], style="bold"), "", "")
        figure = Text(measure.written(found[measure.name]), no_wrap=True)
        table.add_row(Text(measure.label), figure, Text(measure.sentence, style="dim"))
    return table


def _columns_table(found: shoal.Measures) -> Table:
    from rich.text import Text

    shown = [name for name in _BY_COLUMN if any(name in column for column in found.by_column.values())]
    table = named_rows("column", *(_BY_COLUMN[name] for name in shown), names=found.by_column)
    for heading in table.columns[1:]:
        heading.justify = "right"
    for column, figures in found.by_column.items():
        cells = [_short(figures.get(name), 2 if "%" in _BY_COLUMN[name] else 3) for name in shown]
        table.add_row(Text(shoal.printable(column), overflow="fold"), *cells)
    return table


def _intervals_table(found: shoal.Measures, width: int) -> Table:
    table = plain_table(f"inside an interval of {width} %", "figure")
    table.columns[1].justify = "right"
    labels = {"interval_disclosure": "numbers, by rank", "interval_disclosure_sd": "numbers, by deviation"}
    labels |= {"interval_records": "records, by rank", "interval_records_sd": "records, by deviation"}
    for name, label in labels.items():
        share = found.interval_by_width[name][str(width)]
        table.add_row(label, "" if share is None else shoal.MEASURES["interval_disclosure"].written(share))
    return table


def _short(value: float | int | None, places: int) -> str:
    return "" if value is None else str(value) if isinstance(value, int) else decimal(value, places)
