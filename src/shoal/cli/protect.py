"""shoal protect."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

import shoal
from shoal.cli.options import Delimiter, Encoding, Input, Json, Missing, NoHeader, names, pairs, reading_of
from shoal.cli.shell import err, out, printed_or_told, told_errors
from shoal.cli.tables import summary_table


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
    report: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the internal report to this .html file, too.")
    ] = None,
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
    with told_errors():
        release = shoal.protect(
            table,
            k,
            [names([group]) or [] for group in quasi] if quasi else None,
            method=method,
            options=pairs(option, "-O") if option else None,
            identifiers=names(drop),
            confidential=names(keep),
            weight=weight,
            strata=names(strata),
            small_strata=small_strata,
            aggregators=_aggregators(aggregator),
            scaling=scaling,
            blocking=_blocking(blocking, block_size, block_columns, repair),
            reading=reading_of(delimiter, encoding, missing, no_header),
            seed=seed,
            plan=plan,
            all_numeric=all_numeric,
            output=output,
            report=report,
            threads=threads,
        )
        for note in release.summary.notes:
            err.print(f"note: {note}", markup=False, highlight=False, soft_wrap=True)
        with printed_or_told(output):
            if as_json:
                typer.echo(json.dumps(release.summary.to_dict()))
            else:
                out.print(summary_table(release.summary))
            sys.stdout.flush()


def _aggregators(given: Sequence[str] | None) -> dict[str, str] | None:
    """Take ``median`` for all columns and ``income=median`` for one."""
    if not given:
        return None
    return pairs([part if "=" in part else f"*={part}" for part in given], "-a")


def _blocking(method: str | None, size: str | None, columns: list[str] | None, repair: bool) -> dict[str, Any] | None:
    if method is None:
        if size or columns or repair:
            raise shoal.PlanError("--block-size, --block-columns and --repair have no effect without --blocking")
        return None
    given: dict[str, Any] = {"method": method, "repair": repair}
    if size is not None:
        given["size"] = int(size) if size.isdigit() else size
    if columns:
        given["columns"] = names(columns)
    return given
