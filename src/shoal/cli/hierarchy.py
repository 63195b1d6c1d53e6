"""shoal hierarchy check | show | from-wordnet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import shoal
from shoal.cli.commands import COMMANDS, LightGroup
from shoal.cli.options import (
    Decimal,
    Delimiter,
    Encoding,
    Force,
    Json,
    Missing,
    NoHeader,
    Signs,
    TableName,
    Thousands,
    pairs,
    reading_of,
)
from shoal.cli.shell import check_inputs, out, tell, told_errors
from shoal.errors import counted, one_or_many

if TYPE_CHECKING:
    from rich.tree import Tree

_WIDEST = 10_000  # characters of a line
hierarchy = typer.Typer(
    name="hierarchy", cls=LightGroup, help=COMMANDS["hierarchy"], no_args_is_help=True, add_completion=False
)

File = Annotated[Path, typer.Argument(metavar="FILE", help="CSV (leaf to root, or child and parent), YAML or OWL.")]
Data = Annotated[str | None, typer.Option("--data", metavar="TABLE", help="Table whose values must be in it.")]
Column = Annotated[str | None, typer.Option("--column", help="Column of the table.")]


@hierarchy.command()
def check(
    file: File,
    data: Data = None,
    column: Column = None,
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
    """Say what is wrong with a hierarchy, and which values of a column it does not have."""
    with told_errors():
        found = shoal.inspect_hierarchy(
            file, data, column, reading_of(delimiter, encoding, missing, no_header, decimal, thousands, signs, named)
        )
        _notes(found)
        if as_json:
            typer.echo(json.dumps(found.to_dict()))
            return
        figures = found.to_dict()
        out().print(
            f"{file.name}: {counted(figures['nodes'], 'name')}, {figures['leaves']} of them "
            f"{one_or_many(figures['leaves'], 'a leaf', 'leaves')}, {counted(figures['height'], 'level')}",
            markup=False,
            highlight=False,
        )
        if column is not None:
            all_of_them = one_or_many(found.distinct, "its 1 value is", f"all of its {found.distinct} values are")
            inner = f", {found.inner} of them above others" if found.inner else ""
            out().print(f"column {column}: {all_of_them} in it{inner}", markup=False, highlight=False)


@hierarchy.command()
def show(
    file: File,
    data: Data = None,
    column: Column = None,
    least: Annotated[
        int | None, typer.Option(help="Smallest count that is shown as it is; 5 by default, 1 shows all.")
    ] = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    missing: Missing = None,
    no_header: NoHeader = False,
    decimal: Decimal = None,
    thousands: Thousands = None,
    signs: Signs = None,
    named: TableName = None,
) -> None:
    """Draw a hierarchy, with the number of records at and below each name where a table is given."""
    with told_errors():
        if least is not None and data is None:
            raise shoal.PlanError("--least has no effect without --data: there are no counts")
        if least is not None and least < 1:
            raise shoal.PlanError("--least: must be at least 1")
        found = shoal.inspect_hierarchy(
            file, data, column, reading_of(delimiter, encoding, missing, no_header, decimal, thousands, signs, named)
        )
        _notes(found)
        tree = _tree(found, shoal.FEWEST if least is None else least)
        console = out()
        # as wide as its names need: a terminal wraps, and a file must not lose the end of a name
        width = console.measure(tree, options=console.options.update(max_width=_WIDEST)).maximum
        console.width = max(width, console.width)
        console.print(tree)


@hierarchy.command("from-wordnet")
def from_wordnet(
    table: Annotated[
        str | None, typer.Argument(metavar="[TABLE]", help="Table with the values; --words alone will do too.")
    ] = None,
    column: Column = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Where to write it: .csv or .yaml.")
    ] = None,
    words: Annotated[
        Path | None, typer.Option(help="CSV or YAML file of values and their words: Hong;hong_kong.")
    ] = None,
    word: Annotated[
        list[str] | None, typer.Option(help="Word of one value: Handlers-cleaners=cleaner#3. Repeatable.")
    ] = None,
    parent: Annotated[
        list[str] | None, typer.Option(help="What to put above a value: Taiwan=asian_country. Repeatable.")
    ] = None,
    version: Annotated[str | None, typer.Option(help="Version of WordNet, 3.0 or 3.1; whichever is there.")] = None,
    folder: Annotated[Path | None, typer.Option(help="Folder of nltk's data, where nltk does not find it.")] = None,
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
    """Make a hierarchy from the hypernyms of nouns in WordNet, to look at, correct and use."""
    with told_errors():
        if output is None:
            raise shoal.PlanError("name the file to write the hierarchy to: -o FILE.csv or -o FILE.yaml")
        if words is not None and word:
            raise shoal.PlanError("give the words in a file with --words, or one by one with --word, not both")
        check_inputs(output, table, words)
        source: dict[str, Any] = {"words": str(words) if words is not None else pairs(word or (), "--word")}
        source["parents"] = pairs(parent or (), "--parent")
        if version is not None:
            source["version"] = version
        if folder is not None:
            source["folder"] = str(folder)
        found = shoal.inspect_hierarchy(
            {"wordnet": source},
            table,
            column,
            reading_of(delimiter, encoding, missing, no_header, decimal, thousands, signs, named),
        )
        _notes(found)
        found.write(output, overwrite=force)
        tell(f"hierarchy written to {output}; look at it with: shoal hierarchy show {output}")
        if as_json:
            typer.echo(json.dumps(found.to_dict()))


def _notes(found: shoal.HierarchyInspection) -> None:
    for note in found.notes:
        tell(f"note: {note}")


def _tree(found: shoal.HierarchyInspection, least: int) -> Tree:
    """Draw the nodes; a count of fewer records than ``least`` is not told."""
    from rich.text import Text
    from rich.tree import Tree

    path: list[Tree] = []
    for line in found.lines():
        label = Text(shoal.printable(line.name), style="bold" if line.own else "")
        if line.below is not None and line.own is not None:
            label.append(f"  {_count(line.below, least)}", style="cyan")
            if line.own and line.own != line.below:
                label.append(f" ({_count(line.own, least)} itself)", style="dim")
        del path[line.depth - 1 :]
        path.append(path[-1].add(label) if path else Tree(label))
    return path[0]


def _count(number: int, least: int) -> str:
    return f"<{least}" if 0 < number < least else f"{number}"
