"""The command line: shoal protect | inspect | methods | demo.

Standard output carries results only; progress and messages go to standard error. A mistake ends with status 2 and a
sentence that says what to do, a broken promise with status 1, an interruption with status 130.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

import shoal

app = typer.Typer(
    name="shoal",
    help="Make microdata safe to publish: every record hides in a group of at least k.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
_out = Console()
_err = Console(stderr=True)

Input = Annotated[Path, typer.Argument(metavar="IN", help="CSV, Parquet, Arrow IPC; SPSS, Stata or SAS file.")]
Delimiter = Annotated[str | None, typer.Option(help="Delimiter of a text file; found by looking at it.")]
Encoding = Annotated[str | None, typer.Option(help="Encoding of a text file; found by looking at it.")]
Missing = Annotated[list[str] | None, typer.Option(help="Texts that mark missing values, e.g. NA,?")]
NoHeader = Annotated[bool, typer.Option("--no-header", help="The first line of a text file is a record.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(f"shoal {shoal.__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command()
def protect(
    table: Input,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="OUT", help="Where to write the release.")],
    k: Annotated[int | None, typer.Option("-k", help="Smallest group, at least 2.")] = None,
    quasi: Annotated[
        list[str] | None,
        typer.Option("-q", "--quasi-identifiers", help="Columns to microaggregate: a,b. Repeat for separate sets."),
    ] = None,
    method: Annotated[str | None, typer.Option("-m", "--method", help="See `shoal methods`.")] = None,
    option: Annotated[
        list[str] | None,
        typer.Option("-O", "--option", help="Option of the method: gamma=1.1. Repeatable."),
    ] = None,
    all_numeric: Annotated[
        bool,
        typer.Option("--all-numeric", help="Take all numeric columns without another role as quasi-identifiers."),
    ] = False,
    drop: Annotated[list[str] | None, typer.Option(help="Direct identifiers, removed: a,b.")] = None,
    keep: Annotated[list[str] | None, typer.Option(help="Confidential columns, kept as they are: a,b.")] = None,
    weight: Annotated[str | None, typer.Option(help="Column of sampling weights.")] = None,
    strata: Annotated[list[str] | None, typer.Option(help="Columns whose combinations are never mixed: a,b.")] = None,
    small_strata: Annotated[str | None, typer.Option(help="A stratum of fewer than k: error or merge.")] = None,
    aggregator: Annotated[
        list[str] | None, typer.Option("-a", "--aggregator", help="median, or income=median. Repeatable.")
    ] = None,
    scaling: Annotated[str | None, typer.Option(help="z-score, range, robust or none.")] = None,
    blocking: Annotated[
        str | None, typer.Option(help="Cut into blocks: spread-tree, 2d-tree, univariate or equal-counts.")
    ] = None,
    block_size: Annotated[str | None, typer.Option(help="Most records of a block, or auto.")] = None,
    block_columns: Annotated[list[str] | None, typer.Option(help="Blocking columns: a,b; all by default.")] = None,
    repair: Annotated[
        bool, typer.Option("--repair", help="Let records join groups across the face of a block.")
    ] = False,
    threads: Annotated[int | None, typer.Option(help="Threads for blocks; the result is the same.")] = None,
    plan: Annotated[Path | None, typer.Option(help="Settings in YAML; options given here take precedence.")] = None,
    seed: Annotated[int | None, typer.Option(help="For methods that draw random numbers.")] = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    missing: Missing = None,
    no_header: NoHeader = False,
    as_json: Json = False,
) -> None:
    """Protect a table and write the release, with its manifest beside it."""
    with _told_errors():
        release = shoal.protect(
            table,
            k,
            [_names([group]) or [] for group in quasi] if quasi else None,
            method=method,
            options=_pairs(option, "-O") if option else None,
            identifiers=_names(drop),
            confidential=_names(keep),
            weight=weight,
            strata=_names(strata),
            small_strata=small_strata,
            aggregators=_aggregators(aggregator),
            scaling=scaling,
            blocking=_blocking(blocking, block_size, block_columns, repair),
            reading=_reading(delimiter, encoding, missing, no_header),
            seed=seed,
            plan=plan,
            all_numeric=all_numeric,
            output=output,
            threads=threads,
        )
        for note in release.summary.notes:
            _err.print(f"note: {note}", markup=False, highlight=False, soft_wrap=True)
        with _printed_or_told(output):
            if as_json:
                typer.echo(json.dumps(release.summary.to_dict()))
            else:
                _out.print(_summary_table(release.summary))
            sys.stdout.flush()


@app.command()
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
    as_json: Json = False,
) -> None:
    """Show what is in a table and propose a role for each column. No value of the table is shown."""
    with _told_errors():
        found = shoal.inspect(table, _reading(delimiter, encoding, missing, no_header))
        for note in found.notes:
            _err.print(f"note: {note}", markup=False, highlight=False, soft_wrap=True)
        if output:
            found.write(output, k)
            _err.print(
                f"plan written to {output}; check it, then: shoal protect {table} -o OUT --plan {output}",
                markup=False,
                soft_wrap=True,
            )
        if as_json:
            typer.echo(json.dumps(found.to_dict()))
        else:
            _out.print(_inspection_table(found))


@app.command()
def methods(
    name: Annotated[str | None, typer.Argument(help="Show one method in full.")] = None,
    as_json: Json = False,
) -> None:
    """List the methods: name, source, cost and options."""
    with _told_errors():
        chosen = list(shoal.METHODS.values()) if name is None else [shoal.find_method(name)]
        if as_json:
            typer.echo(json.dumps({"methods": [m.to_dict() for m in chosen]}))
        elif name is None:
            _out.print(_methods_table(chosen))
        else:
            _out.print(_method_page(chosen[0]))


@app.command()
def demo() -> None:
    """Protect the embedded example and show the result."""
    with _told_errors():
        survey = shoal.example()
        _err.print("[dim]a made-up survey of 1000 people: names removed, regions kept apart, k = 5[/dim]")
        release = shoal.protect(
            survey,
            k=5,
            quasi_identifiers=["age", "height", "hours", "income"],
            identifiers=["name"],
            weight="weight",
            strata=["region"],
        )
        same = [row for row in range(len(survey)) if release.groups[row] == release.groups[0]]
        shown = [*same[:5], *[row for row in range(1, 4) if row not in same]]
        _out.print(_frame_table("before", survey, shown, "bold red"))
        _out.print(
            _frame_table(
                "after: the first five can no longer be told apart by age, height, hours and income",
                release.data,
                shown,
                "bold green",
            )
        )
        _out.print(_summary_table(release.summary))
        for note in release.summary.notes:
            _out.print(f"note: {note}", markup=False, highlight=False)
        _out.print("\nYour own table:  [bold]shoal inspect TABLE.csv -o plan.yaml[/bold], then")
        _out.print("                 [bold]shoal protect TABLE.csv -o RELEASE.csv --plan plan.yaml[/bold]")


def main() -> None:
    """Run the command line."""
    app()


@contextmanager
def _told_errors() -> Iterator[None]:
    """Turn errors into sentences on standard error and a status."""
    try:
        yield
    except shoal.ShoalError as error:
        message = "\n".join(map(shoal.printable, str(error).split("\n")))
        _err.print(f"error: {message}", markup=False, highlight=False, style="red", soft_wrap=True)
        raise typer.Exit(1 if isinstance(error, shoal.BrokenPromise) else 2) from None
    except KeyboardInterrupt:
        _err.print("interrupted; nothing was written")
        raise typer.Exit(130) from None


@contextmanager
def _printed_or_told(output: Path) -> Iterator[None]:
    """Say so where a release was written and its summary cannot be printed."""
    try:
        yield
    except OSError:
        sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115 - so that closing it at the end does not fail again
        _err.print(f"error: {output} was written, but its summary could not be printed", markup=False)
        raise typer.Exit(2) from None


def _names(given: Sequence[str] | None) -> list[str] | None:
    """Split comma-separated names."""
    if not given:
        return None
    return [name.strip() for part in given for name in part.split(",") if name.strip()]


def _pairs(given: Sequence[str], flag: str) -> dict[str, str]:
    """Split name=value pairs."""
    pairs = {}
    for part in given:
        name, equals, value = part.partition("=")
        if not equals:
            raise shoal.PlanError(f"{flag} {part}: write it as name=value")
        pairs[name.strip()] = value.strip()
    return pairs


def _aggregators(given: Sequence[str] | None) -> dict[str, str] | None:
    """Take ``median`` for all columns and ``income=median`` for one."""
    if not given:
        return None
    return _pairs([part if "=" in part else f"*={part}" for part in given], "-a")


def _blocking(method: str | None, size: str | None, columns: list[str] | None, repair: bool) -> dict[str, Any] | None:
    if method is None:
        if size or columns or repair:
            raise shoal.PlanError("--block-size, --block-columns and --repair have no effect without --blocking")
        return None
    given: dict[str, Any] = {"method": method, "repair": repair}
    if size is not None:
        given["size"] = int(size) if size.isdigit() else size
    if columns:
        given["columns"] = _names(columns)
    return given


def _reading(
    delimiter: str | None, encoding: str | None, missing: list[str] | None, no_header: bool
) -> dict[str, Any] | None:
    reading: dict[str, Any] = {}
    if delimiter is not None:
        reading["delimiter"] = delimiter.replace("\\t", "\t")
    if encoding is not None:
        reading["encoding"] = encoding
    if missing:
        reading["missing"] = _names(missing)
    if no_header:
        reading["header"] = False
    return reading or None


def _plain_table(*columns: str, title: str | None = None) -> Table:
    table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column)
    return table


def _summary_table(summary: shoal.Summary) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column()
    sizes = f"{summary.groups} of {summary.smallest_group} to {summary.largest_group} records"
    rows = {
        "method": f"{summary.method}, k = {summary.k}",
        "records": f"{summary.records}",
        "groups": sizes,
        "information loss": f"{summary.information_loss:.4f} %",
        "SSE, SST": f"{summary.sse:.4f}, {summary.sst:.4f}",
        "suppressed cells": f"{summary.suppressed_cells}",
        "seconds": f"{summary.seconds:.2f}",
        "peak memory": "unknown" if summary.peak_memory_mib is None else f"{summary.peak_memory_mib:.0f} MiB",
    }
    for name, value in rows.items():
        table.add_row(name, value)
    return table


def _inspection_table(found: shoal.Inspection) -> Table:
    table = _plain_table("column", "type", "missing", "distinct", "proposed role", "because")
    for p in found.proposals:
        style = {"identifier": "red", "quasi-identifier": "yellow"}.get(p.role, "")
        table.add_row(
            Text(shoal.printable(p.profile.name), overflow="fold"),
            Text(p.profile.type),
            str(p.profile.missing),
            str(p.profile.distinct),
            Text(p.role, style=style, no_wrap=True),
            p.reason,
        )
    table.caption = f"{found.records} records"
    return table


def _methods_table(chosen: Sequence[Any]) -> Table:
    table = _plain_table("method", "what it does")
    for m in chosen:
        options = ", ".join(f"{o.name}={_shown(o.default)}" for o in m.options)
        facts = f"{m.source}; {m.cost}" + (f"; options {options}" if options else "")
        table.add_row(Text(m.name, style="bold", no_wrap=True), Text.assemble(m.doc, "\n", (facts, "dim")))
    return table


def _method_page(m: Any) -> Text:
    page = Text.assemble((m.name, "bold"), f"\n{m.doc}\n\nsource  {m.source}\ncost    {m.cost}\n")
    page.append("options" if m.options else "It has no options.")
    for o in m.options:
        page.append(f"\n  {o.name} = {_shown(o.default)}\n      {o.doc}")
        if o.choices:
            page.append(f" ({', '.join(o.choices)})")
    return page


def _shown(default: object) -> str:
    return "off" if default is None else str(default).lower()


def _frame_table(title: str, frame: Any, rows: Sequence[int], style: str) -> Table:
    table = _plain_table(*frame.columns, title=f"[{style}]{title}[/{style}]")
    for row in rows:
        values = [frame[name][row] for name in frame.columns]
        table.add_row(*["" if v is None else f"{v:.1f}" if isinstance(v, float) else str(v) for v in values])
    return table
