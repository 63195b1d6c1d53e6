"""Options that several commands have, and how the words of the command line become settings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

import shoal

Input = Annotated[
    str,
    typer.Argument(
        metavar="IN",
        help="A file (CSV, Parquet, Excel, SPSS and more), a folder of Parquet files, - for standard input, or the "
        "address of a database: postgresql://HOST/DATABASE.",
    ),
]
TableName = Annotated[
    str | None,
    typer.Option("--table", "--sheet", help="Table of a database, or sheet of a workbook, where there are several."),
]
Delimiter = Annotated[str | None, typer.Option(help="Delimiter of a text file; found by looking at it.")]
Encoding = Annotated[str | None, typer.Option(help="Encoding of a text file; found by looking at it.")]
Missing = Annotated[list[str] | None, typer.Option(help="Texts that mark missing values, e.g. NA,?")]
NoHeader = Annotated[bool, typer.Option("--no-header", help="The first line of a text file is a record.")]
Decimals = Annotated[
    list[str] | None,
    typer.Option(help="Decimals of released numbers: 2, all, or income=2,rate=all; those of a text file by default."),
]
Decimal = Annotated[str | None, typer.Option(help="Mark of decimals in a text file, . or a comma; found by looking.")]
Thousands = Annotated[str | None, typer.Option(help="Mark between thousands in a text file: ',' or . or ' ' or \"'\".")]
Signs = Annotated[list[str] | None, typer.Option(help="Signs before or behind numbers in a text file: $,EUR,%.")]
Quasi = Annotated[
    list[str] | None,
    typer.Option(
        "-q", "--quasi-identifiers", help="Columns to microaggregate: a,b. Repeat for separate sets. Or auto."
    ),
]
SetSize = Annotated[
    int | None, typer.Option(help="Columns of each set that no rule needs, with -q auto: 3 if not said.")
]
Refine = Annotated[bool, typer.Option("--refine", help="Improve the groups of the method while that lowers the loss.")]
AllNumeric = Annotated[
    bool, typer.Option("--all-numeric", help="Take all numeric columns without another role as quasi-identifiers.")
]
Drop = Annotated[list[str] | None, typer.Option(help="Direct identifiers, removed: a,b.")]
Keep = Annotated[list[str] | None, typer.Option(help="Confidential columns, kept as they are: a,b.")]
Persons = Annotated[
    list[str] | None, typer.Option(help="Identifiers whose values k counts beside records: a,b; or none.")
]
HouseholdColumn = Annotated[
    str | None,
    typer.Option("--household", help="Column that tells households, or other wholes, apart: k counts these."),
]
HouseholdRelease = Annotated[
    str | None, typer.Option(help="Numbers of households: renumbered (the default), same or removed.")
]
HouseholdSize = Annotated[
    str | None, typer.Option(help="Sizes of households: counted (the default), merged where rare, or ignored.")
]
HouseholdVariables = Annotated[
    list[str] | None,
    typer.Option(help="Quasi-identifiers that are the same in each household: a,b; or none. Found if not said."),
]
HouseholdWeight = Annotated[str | None, typer.Option(help="Column of weights of households.")]
Weight = Annotated[str | None, typer.Option(help="Column of sampling weights.")]
Strata = Annotated[list[str] | None, typer.Option(help="Columns whose combinations are never mixed: a,b.")]
SmallStrata = Annotated[str | None, typer.Option(help="A stratum of fewer than k: error or merge.")]
MissingPatterns = Annotated[
    str | None,
    typer.Option(help="Whether k records share which cells are missing, too: counted (the default) or ignored."),
]
Aggregator = Annotated[
    list[str] | None, typer.Option("-a", "--aggregator", help="median, or income=median. Repeatable.")
]
Scaling = Annotated[str | None, typer.Option(help="z-score, range, robust or none.")]
Hierarchy = Annotated[
    list[str] | None,
    typer.Option(
        help="Hierarchy of a column: country=country.csv, or country=wordnet, nace=prefixes:1,3, age=intervals:5,10 or "
        "country=flat. Repeatable."
    ),
]
Order = Annotated[
    list[str] | None, typer.Option(help="Values of an ordinal column from the lowest: size=S,M,L. Repeatable.")
]
Nominal = Annotated[list[str] | None, typer.Option(help="Columns of numbers whose values are names: a,b.")]
ColumnWeight = Annotated[
    list[str] | None, typer.Option(help="How much a column counts beside others: age=2. Repeatable.")
]
Combinations = Annotated[
    str | None, typer.Option(help="Released combinations of categories: any, or observed in the original.")
]
Dominance = Annotated[
    list[str] | None,
    typer.Option(help="When a few records dominate the mean of a group: p=10 (the default), or n=1,share=85."),
]
Conditions = Annotated[
    list[str] | None,
    typer.Option(
        "-C",
        "--condition",
        help="What groups keep of a confidential column: income:distinct=3, entropy=2.5, recursive=2,3 (c and l), or "
        "t=0.2. Repeatable.",
    ),
]
Accept = Annotated[
    list[str] | None,
    typer.Option(help="A copy of a quasi-identifier that may stay, and why: years=agreed with the office. Repeatable."),
]
DominanceAction = Annotated[str | None, typer.Option(help="Dominated groups: note (the default), or grow.")]
Epsilon = Annotated[
    float | None,
    typer.Option(help="Differential privacy (experimental): the budget of a release of noisy means; needs --bounds."),
]
Bounds = Annotated[
    list[str] | None,
    typer.Option(help="With --epsilon, least and largest value, not from the table: age=0:120. Repeatable."),
]
MissingAs = Annotated[
    list[str] | None, typer.Option(help="With --epsilon, what a missing value counts as: age=40. Repeatable.")
]
Cut = Annotated[
    str | None,
    typer.Option(help="Cut into blocks: spread-tree, 2d-tree, univariate, equal-counts, fixed-counts or categories."),
]
BlockSize = Annotated[str | None, typer.Option(help="Most records of a block, or auto.")]
BlockColumns = Annotated[list[str] | None, typer.Option(help="Blocking columns: a,b; all by default.")]
Repair = Annotated[bool, typer.Option("--repair", help="Let records join groups across the face of a block.")]
EngineOption = Annotated[
    str | None, typer.Option(help="Protect block by block: memory, duckdb or spark, for tables larger than memory.")
]
MeasureEngine = Annotated[
    str | None, typer.Option("--engine", help="Measure Parquet files larger than memory: duckdb or spark.")
]
Memory = Annotated[str | None, typer.Option(help="Most memory of the process with --engine duckdb, such as 2GiB.")]
Master = Annotated[str | None, typer.Option(help="Cluster of --engine spark, such as spark://host:7077.")]
Row = Annotated[str | None, typer.Option(help="Column that numbers the rows, with --engine spark.")]
SparkSetting = Annotated[list[str] | None, typer.Option("--spark", help="A setting of Spark: spark.x=value.")]
Rules = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Edit rules to keep: expressions (.rules, .txt), R validate (.yaml, .R), SQL (.sql), Schematron (.sch).",
    ),
]
BrokenRules = Annotated[
    str | None, typer.Option(help="Where IN breaks a rule already: refuse (the default) or keep-where-held.")
]
ProductRules = Annotated[
    str | None, typer.Option(help="Columns tied by a product: from means (the default) or geometric-means.")
]
RecordScaling = Annotated[
    str | None, typer.Option(help="What numbers are divided by in the record loss: range, z-score, robust or none.")
]
UniqueColumns = Annotated[
    int | None, typer.Option(min=1, help="Columns of the largest minimal sample uniques (SUDA) to look for; 3.")
]
MadeWith = Annotated[
    Path | None, typer.Option("--plan", help="Plan that the release was made with, in place of its manifest.")
]
PlanFile = Annotated[Path | None, typer.Option(help="Settings in YAML; options given here take precedence.")]
Seed = Annotated[int | None, typer.Option(help="For methods that draw random numbers.")]
Force = Annotated[bool, typer.Option("--force", help="Replace files that are there already.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


def method_names(incomplete: str) -> list[str]:
    """Return the methods whose names begin with what was typed, for the completion of the shell."""
    return [name for name in shoal.METHODS if name.startswith(incomplete)]


def names(given: Sequence[str] | None) -> list[str] | None:
    """Split comma-separated names."""
    if not given:
        return None
    return [name.strip() for part in given for name in part.split(",") if name.strip()]


def pairs(given: Sequence[str], flag: str) -> dict[str, str]:
    """Split name=value pairs."""
    pairs = {}
    for part in given:
        name, equals, value = part.partition("=")
        if not equals:
            raise shoal.PlanError(f"{flag} {part}: write it as name=value")
        pairs[name.strip()] = value.strip()
    return pairs


def reading_of(
    delimiter: str | None,
    encoding: str | None,
    missing: list[str] | None,
    no_header: bool,
    decimal: str | None,
    thousands: str | None,
    signs: list[str] | None,
    table: str | None,
) -> dict[str, Any] | None:
    """Return how a file is to be read, where anything was said about it."""
    given = {
        "delimiter": None if delimiter is None else delimiter.replace("\\t", "\t"),
        "encoding": encoding,
        "missing": names(missing),
        "header": False if no_header else None,
        "decimal": decimal,
        "thousands": thousands,
        "signs": names(signs),
        "table": table,
    }
    return {name: value for name, value in given.items() if value is not None} or None


def sets(given: Sequence[str] | None) -> list[list[str]] | None:
    """Split the sets of quasi-identifiers."""
    return [names([group]) or [] for group in given] if given else None


def decimals_of(given: Sequence[str] | None) -> dict[str, int | str] | None:
    """Split ``2`` and ``income=2``: one number of decimals for every column, or that of some."""
    if not given:
        return None
    found: dict[str, int | str] = {}
    for part in names(given) or []:
        name, equals, value = part.rpartition("=")
        value = value.strip()
        found[name.strip() if equals else "*"] = int(value) if value.isdigit() else value
    return found


def aggregators(given: Sequence[str] | None) -> dict[str, str] | None:
    """Take ``median`` for all columns and ``income=median`` for one."""
    if not given:
        return None
    return pairs([part if "=" in part else f"*={part}" for part in given], "-a")


def hierarchies(given: Sequence[str] | None) -> dict[str, Any] | None:
    """Return the source of each hierarchy: ``wordnet``, ``flat``, ``prefixes``, ``intervals:5,10``, or a file."""
    return {name: _source(name, text) for name, text in pairs(given or (), "--hierarchy").items()} or None


def _source(name: str, text: str) -> Any:
    """Return where a hierarchy comes from: its words, with sizes after a colon, or else a file."""
    word, colon, sizes = text.partition(":")
    if word in ("wordnet", "flat", "prefixes") and not colon:
        return {word: True}
    if word in ("prefixes", "intervals") and colon:
        try:
            return {word: [int(size) if size.strip().isdigit() else float(size) for size in sizes.split(",")]}
        except ValueError:
            raise shoal.PlanError(f"--hierarchy {name}={text}: write sizes with commas, such as {word}:1,3") from None
    return text


def orders(given: Sequence[str] | None) -> dict[str, list[str]] | None:
    """Return the values of each ordinal column, from the lowest to the highest."""
    return {name: names([text]) or [] for name, text in pairs(given or (), "--order").items()} or None


def column_weights(given: Sequence[str] | None, flag: str = "--column-weight") -> dict[str, float] | None:
    """Return the weight of each column that has one."""
    shares: dict[str, float] = {}
    for name, text in pairs(given or (), flag).items():
        try:
            shares[name] = float(text)
        except ValueError:
            raise shoal.PlanError(f"{flag} {name}={text}: must be a number") from None
    return shares or None


def categories(
    hierarchy: Sequence[str] | None,
    order: Sequence[str] | None,
    nominal: Sequence[str] | None,
    column_weight: Sequence[str] | None,
) -> dict[str, Any]:
    """Return what was said about the kinds of columns, by the names of the settings."""
    return {
        "hierarchies": hierarchies(hierarchy),
        "orders": orders(order),
        "nominal": names(nominal),
        "column_weights": column_weights(column_weight),
    }


def persons_named(given: Sequence[str] | None) -> list[str] | None:
    """Return the identifiers that k counts; an empty list where it is ``none``."""
    return _names_or_none(given, "--persons: names no identifier; name one, or none to count records")


def _names_or_none(given: Sequence[str] | None, mistake: str) -> list[str] | None:
    if given == ["none"]:
        return []
    found = names(given)
    if found == []:  # as from a variable that is not set, which must not switch off what is found by itself
        raise shoal.PlanError(mistake)
    return found


def household_of(
    column: str | None,
    release: str | None,
    size: str | None,
    variables: Sequence[str] | None,
    weight: str | None,
) -> dict[str, Any] | None:
    """Return which records belong together and what is released of that, where anything was said about it."""
    own = _names_or_none(variables, "--household-variables: names no column; name one, or none")
    given = {"release": release, "size": size, "variables": own, "weight": weight}
    given = {name: value for name, value in given.items() if value is not None}
    if column is None and given:
        flags = ", ".join(f"--household-{name}" for name in given)
        raise shoal.PlanError(f"{flags}: has no effect without --household")
    return None if column is None else {"id": column, **given}


def dominance_of(rules: Sequence[str] | None, action: str | None) -> dict[str, Any] | None:
    """Return when groups are dominated and what to do about it, where anything was said about it."""
    given: dict[str, Any] = {}
    for name, text in pairs(names(rules) or (), "--dominance").items():
        try:
            given[name] = int(text) if name == "n" else float(text)
        except ValueError:
            raise shoal.PlanError(f"--dominance {name}={text}: must be a number") from None
    if action is not None:
        given["action"] = action
    return given or None


def conditions_of(given: Sequence[str] | None) -> dict[str, dict[str, Any]] | None:
    """Take ``income:t=0.2`` and ``income:recursive=2,3``, several of a column one after the other."""
    found: dict[str, dict[str, Any]] = {}
    for part in given or ():
        name, colon, said = part.rpartition(":")
        kind, equals, text = said.partition("=")
        if not (colon and equals and name):
            raise shoal.PlanError(f"--condition {part}: write it as column:t=0.2, or distinct, entropy or recursive")
        try:
            numbers = [int(one) if one.strip().isdigit() else float(one) for one in text.split(",")]
        except ValueError:
            raise shoal.PlanError(f"--condition {part}: must be a number, or two for recursive") from None
        own = found.setdefault(name.strip(), {})
        if kind in own:
            raise shoal.PlanError(f"--condition {part}: {kind} of '{name}' is given twice; give it once")
        own[kind.strip()] = numbers[0] if len(numbers) == 1 else numbers
    return found or None


def privacy_of(
    epsilon: float | None, bounds: Sequence[str] | None, missing: Sequence[str] | None
) -> dict[str, Any] | None:
    """Return what differential privacy needs, where anything was said about it."""
    if epsilon is None:
        if bounds or missing:
            raise shoal.PlanError("--bounds and --missing-as have no effect without --epsilon")
        return None
    given: dict[str, Any] = {"epsilon": epsilon, "bounds": {}}
    for name, text in pairs(names(bounds) or (), "--bounds").items():
        low, _, high = text.partition(":")
        try:
            given["bounds"][name] = [float(low), float(high)]
        except ValueError:
            raise shoal.PlanError(f"--bounds {name}={text}: write it as {name}=0:120") from None
    filled = column_weights(names(missing), "--missing-as")
    return {**given, "missing": filled} if filled else given


def blocks(method: str | None, size: str | None, columns: list[str] | None, repair: bool) -> dict[str, Any] | None:
    """Return how to cut the table into blocks, where anything was said about it."""
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


def engine_of(
    name: str | None, memory: str | None, master: str | None, row: str | None, spark: Sequence[str] | None
) -> dict[str, Any] | None:
    """Return the engine and what only one of them knows, where anything was said about it."""
    given = {"memory": memory, "master": master, "row": row, "settings": pairs(spark or (), "--spark") or None}
    given = {setting: value for setting, value in given.items() if value is not None}
    if name is None and given:
        raise shoal.PlanError("--memory, --master, --row and --spark have no effect without --engine")
    return None if name is None else {"name": name, **given}
