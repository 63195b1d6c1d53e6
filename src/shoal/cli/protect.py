"""shoal protect."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import shoal
from shoal.cli.options import (
    Accept,
    Aggregator,
    AllNumeric,
    BlockColumns,
    BlockSize,
    Bounds,
    BrokenRules,
    ColumnWeight,
    Combinations,
    Conditions,
    Cut,
    Decimal,
    Decimals,
    Delimiter,
    Dominance,
    DominanceAction,
    Drop,
    Encoding,
    EngineOption,
    Epsilon,
    Force,
    Hierarchy,
    HouseholdColumn,
    HouseholdRelease,
    HouseholdSize,
    HouseholdVariables,
    HouseholdWeight,
    Input,
    Json,
    Keep,
    Master,
    Memory,
    Missing,
    MissingAs,
    MissingPatterns,
    NoHeader,
    Nominal,
    Order,
    Persons,
    PlanFile,
    ProductRules,
    Quasi,
    Refine,
    Repair,
    Row,
    Rules,
    Scaling,
    Seed,
    SetSize,
    Signs,
    SmallStrata,
    SparkSetting,
    Strata,
    TableName,
    Thousands,
    Weight,
    aggregators,
    blocks,
    categories,
    conditions_of,
    decimals_of,
    dominance_of,
    engine_of,
    household_of,
    method_names,
    names,
    pairs,
    persons_named,
    privacy_of,
    reading_of,
    sets,
)
from shoal.cli.shell import out, printed_or_told, tell, told_errors
from shoal.cli.tables import loss_advice, private_table, rules_table, summary_table
from shoal.errors import listed, without_secrets

if TYPE_CHECKING:
    from rich.table import Table

_NAMED = 10  # columns without a role that one note names


def protect(
    table: Input,
    output: Annotated[
        str,
        typer.Option(
            "-o",
            "--output",
            metavar="OUT",
            help="Where to write the release: a file, - for standard output, or postgresql://HOST/DATABASE#TABLE.",
        ),
    ],
    k: Annotated[int | None, typer.Option("-k", help="Smallest group, at least 2.")] = None,
    quasi: Quasi = None,
    set_size: SetSize = None,
    method: Annotated[
        str | None, typer.Option("-m", "--method", help="See `shoal methods`.", autocompletion=method_names)
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option("-O", "--option", help="Option of the method: gamma=1.1. Repeatable."),
    ] = None,
    time: Annotated[str | None, typer.Option(help="How long a method that searches goes on: 10s, 2m.")] = None,
    steps: Annotated[int | None, typer.Option(help="How many changes a search tries, instead of a time.")] = None,
    gap: Annotated[
        float | None, typer.Option(help="End when this percentage of the loss, or less, could be saved.")
    ] = None,
    bound: Annotated[
        str | None, typer.Option(help="How long to prove, afterwards, how low the loss could be: 30s.")
    ] = None,
    refine: Refine = False,
    all_numeric: AllNumeric = False,
    drop: Drop = None,
    persons: Persons = None,
    household: HouseholdColumn = None,
    household_release: HouseholdRelease = None,
    household_size: HouseholdSize = None,
    household_variables: HouseholdVariables = None,
    household_weight: HouseholdWeight = None,
    keep: Keep = None,
    weight: Weight = None,
    strata: Strata = None,
    small_strata: SmallStrata = None,
    missing_patterns: MissingPatterns = None,
    aggregator: Aggregator = None,
    decimals: Decimals = None,
    scaling: Scaling = None,
    hierarchy: Hierarchy = None,
    order: Order = None,
    nominal: Nominal = None,
    column_weight: ColumnWeight = None,
    combinations: Combinations = None,
    condition: Conditions = None,
    accept: Accept = None,
    dominance: Dominance = None,
    dominance_action: DominanceAction = None,
    epsilon: Epsilon = None,
    bounds: Bounds = None,
    missing_as: MissingAs = None,
    blocking: Cut = None,
    block_size: BlockSize = None,
    block_columns: BlockColumns = None,
    repair: Repair = False,
    engine: EngineOption = None,
    memory: Memory = None,
    master: Master = None,
    row: Row = None,
    spark: SparkSetting = None,
    rules: Rules = None,
    broken_rules: BrokenRules = None,
    product_rules: ProductRules = None,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the internal report to this .html file, too.")
    ] = None,
    certificate: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write what proves the lower bound to this .json file.")
    ] = None,
    manifest: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the manifest of a release that is no file, to .json.")
    ] = None,
    threads: Annotated[int | None, typer.Option(help="Threads for blocks; the result is the same.")] = None,
    plan: PlanFile = None,
    seed: Seed = None,
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
    """Protect a table and write the release, with its manifest beside it."""
    with told_errors():
        if output == "-" and as_json:
            raise shoal.PlanError("--json prints to where -o - writes the release; leave one out")
        release = shoal.protect(
            table,
            k,
            sets(quasi),
            set_size=set_size,
            method=method,
            options=_options(option, time=_seconds("time", time), steps=steps, gap=gap, bound=_seconds("bound", bound)),
            refine=refine or None,
            identifiers=names(drop),
            persons=persons_named(persons),
            household=household_of(household, household_release, household_size, household_variables, household_weight),
            confidential=names(keep),
            weight=weight,
            strata=names(strata),
            small_strata=small_strata,
            missing_patterns=missing_patterns,
            aggregators=aggregators(aggregator),
            decimals=decimals_of(decimals),
            scaling=scaling,
            **categories(hierarchy, order, nominal, column_weight),
            combinations=combinations,
            conditions=conditions_of(condition),
            accept=pairs(accept, "--accept") if accept else None,
            dominance=dominance_of(dominance, dominance_action),
            differential_privacy=privacy_of(epsilon, bounds, missing_as),
            blocking=blocks(blocking, block_size, block_columns, repair),
            engine=engine_of(engine, memory, master, row, spark),
            reading=reading_of(delimiter, encoding, missing, no_header, decimal, thousands, signs, named),
            rules=rules,
            broken_rules=broken_rules,
            product_rules=product_rules,
            seed=seed,
            plan=plan,
            all_numeric=all_numeric,
            output=output,
            report=report,
            certificate=certificate,
            manifest=manifest,
            overwrite=force,
            threads=threads,
        )
        for note in _notes(release):
            tell(f"note: {note}")
        if output == "-":  # where the release is, and nothing else
            return
        with printed_or_told(without_secrets(output)):
            if as_json:
                typer.echo(json.dumps(release.summary.to_dict()))
            else:
                for shown in _shown(release):
                    out().print(shown)


def _notes(release: shoal.Release) -> list[str]:
    """Return what a user should know."""
    told = release.summary.notes
    if isinstance(release, shoal.PrivateRelease):
        return told
    return [*told, *_without_role(release), *loss_advice(release.summary)]


def _shown(release: shoal.Release) -> list[Table]:
    """Return the tables that tell of a release."""
    if isinstance(release, shoal.PrivateRelease):
        return [private_table(release)]
    rules = [rules_table(release.summary)] if release.summary.rules else []
    return [summary_table(release.summary), *rules]


def _without_role(release: shoal.Release) -> list[str]:
    """Name the columns that are kept because nothing was said about them."""
    said = {name for name, _ in release.plan.roles_named()}
    kept = [name for name in getattr(release.data, "columns", ()) if name not in said]  # an engine has written its own
    return [f"kept as they are, since nothing is said about them: {listed(kept, most=_NAMED)}"] if kept else []


def _options(given: Sequence[str] | None, **flags: float | None) -> dict[str, Any] | None:
    """Take the options of the method, with those that are flags of their own among them."""
    options: dict[str, Any] = dict(pairs(given, "-O")) if given else {}
    for name, value in flags.items():
        if value is not None and name in options:
            raise shoal.PlanError(f"--{name} and -O {name}= say the same; give one")
        if value is not None:
            options[name] = value
    return options or None


def _seconds(flag: str, text: str | None) -> float | None:
    """Take ``10``, ``10s``, ``2m`` or ``1h`` as seconds."""
    if text is None:
        return None
    unit = {"s": 1.0, "m": 60.0, "h": 3600.0}.get(text[-1:])
    try:
        return float(text if unit is None else text[:-1]) * (unit or 1.0)
    except ValueError:
        raise shoal.PlanError(f"--{flag} {text}: write it as 10s, 2m or 1h") from None
