"""shoal sweep."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import shoal
from shoal.cli.options import (
    Accept,
    Aggregator,
    AllNumeric,
    BlockColumns,
    BlockSize,
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
    Hierarchy,
    HouseholdColumn,
    HouseholdRelease,
    HouseholdSize,
    HouseholdVariables,
    HouseholdWeight,
    Input,
    Json,
    Keep,
    Missing,
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
    Rules,
    Scaling,
    SetSize,
    Signs,
    SmallStrata,
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
    household_of,
    method_names,
    names,
    pairs,
    persons_named,
    reading_of,
    sets,
)
from shoal.cli.shell import out, tell, told_errors
from shoal.cli.tables import plain_table
from shoal.errors import counted, decimal, one_or_many

if TYPE_CHECKING:
    from rich.table import Table


def sweep(
    table: Input,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FOLDER", help="Where to write tables and picture.")
    ] = None,
    k: Annotated[str, typer.Option("-k", metavar="K", help="Every k to try: 5, 2:20, 2:20:2 or 3,5,10.")] = "2:20",
    method: Annotated[
        list[str] | None,
        typer.Option(
            "-m",
            "--method",
            help="Methods to try: mdav,v-mdav:gamma=1.1. See `shoal methods`.",
            autocompletion=method_names,
        ),
    ] = None,
    quasi: Quasi = None,
    set_size: SetSize = None,
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
    blocking: Cut = None,
    block_size: BlockSize = None,
    block_columns: BlockColumns = None,
    repair: Repair = False,
    rules: Rules = None,
    broken_rules: BrokenRules = None,
    product_rules: ProductRules = None,
    plan: PlanFile = None,
    known: Annotated[
        list[str] | None, typer.Option(help="Columns that an intruder knows: a,b; the quasi-identifiers by default.")
    ] = None,
    risk: Annotated[str, typer.Option(help="dbrl, dr, global_risk or interval_disclosure.")] = "dbrl",
    loss: Annotated[str, typer.Option(help="information_loss, record_loss, pil or il1s.")] = "information_loss",
    max_risk: Annotated[float | None, typer.Option(help="Most risk allowed, in percent.")] = None,
    max_loss: Annotated[float | None, typer.Option(help="Most loss allowed, in percent.")] = None,
    sample: Annotated[int | None, typer.Option(help="Try on random samples of so many records.")] = None,
    repeats: Annotated[int | None, typer.Option(help="Number of samples; 5 by default.")] = None,
    seed: Annotated[int | None, typer.Option(help="For samples, and methods that draw random numbers.")] = None,
    threads: Annotated[
        int | None, typer.Option(help="Combinations that run at a time; the result is the same.")
    ] = None,
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
    """Try every method at every k, measure each release, and recommend one."""
    with told_errors(partial(_left, output)):
        found = shoal.sweep(
            table,
            k,
            ",".join(method) if method else None,
            sets(quasi),
            plan=plan,
            set_size=set_size,
            all_numeric=all_numeric,
            known=names(known),
            risk=risk,
            loss=loss,
            max_risk=max_risk,
            max_loss=max_loss,
            sample=sample,
            repeats=repeats,
            output=output,
            threads=threads,
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
            blocking=blocks(blocking, block_size, block_columns, repair),
            reading=reading_of(delimiter, encoding, missing, no_header, decimal, thousands, signs, named),
            rules=rules,
            broken_rules=broken_rules,
            product_rules=product_rules,
            seed=seed,
        )
        for note in found.notes:
            tell(f"note: {note}")
        if as_json:
            typer.echo(json.dumps(found.to_dict()))
            return
        out().print(_front_table(found))
        out().print(found.recommendation, markup=False, highlight=False)
        if output is not None:
            were = f"{counted(found.reused, 'result')} {one_or_many(found.reused, 'was', 'were')}"
            again = f"; {were} there already" if found.reused else ""
            tell(f"written to {output}{again}")
            if found.recommended:
                follow = f"shoal protect {table} -o OUT --plan {output / 'recommended.yaml'}"
                tell(f"to make it: {follow}")


def _left(output: Path | None) -> str:
    """Say what an interruption leaves."""
    if output is None or not output.exists():
        return "nothing was written"
    return f"what was finished is in {output}, and the same command goes on from there"


def _front_table(found: shoal.Sweep) -> Table:
    """Return the front, from the highest risk to the lowest."""
    from rich.text import Text

    axes = (found.axes.risk, found.axes.loss)
    headings = [f"{shoal.MEASURES[name].label}, %" for name in axes]
    count = f"{len(found.front)} of {counted(len(found.results), 'combination')} that no other beats"
    table = plain_table("k", "method", *headings, "k-ano-\nnymity", "groups", "", title=count, whole=(0, 1))
    for place in (0, 2, 3, 4, 5):
        table.columns[place].justify = "right"
    for result in found.front:
        words = [word for word, at in (("knee", found.knee), ("recommended", found.recommended)) if at is result]
        cells = [f"{decimal(getattr(result, name))}{_error(result.errors.get(name))}" for name in axes]
        style = "bold green" if "recommended" in words else ""
        table.add_row(
            str(result.k),
            Text(result.name),
            *cells,
            str(result.k_anonymity),
            str(result.groups),
            ", ".join(words),
            style=style,
        )
    return table


def _error(error: float | None) -> str:
    return "" if error is None else f" ± {decimal(error)}"
