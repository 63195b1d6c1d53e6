"""The program and its commands: one is loaded when it is called, and all are listed without being loaded."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

import shoal

COMMANDS = {  # in the order in which they are listed; each is in the module of its name
    "protect": "Protect a table and write the release, with its manifest beside it.",
    "inspect": "Show what is in a table and propose a role for each column. No value of the table is shown.",
    "measure": "Measure what a release keeps and what it risks, whoever made it.",
    "report": "Write a report of a release, whoever made it: one HTML file that needs no network.",
    "sweep": "Try every method at every k, measure each release, and recommend one.",
    "methods": "List the methods: name, source, cost and options.",
    "app": "Open the application in the browser: everything by clicking, on this machine alone.",
    "demo": "Protect the embedded example and show the result.",
    "rules": "Check edit rules, find the cells to change, or write rules in another notation.",
    "hierarchy": "Look at hierarchies of categories, and make them from WordNet.",
}


def load_command(name: str) -> Any:
    """Return a command, or a group of commands, with its options."""
    found = getattr(import_module(f"shoal.cli.{name}"), name)
    if not isinstance(found, typer.Typer):
        alone = typer.Typer(add_completion=False)
        alone.command(name)(found)
        found = alone
    return typer.main.get_command(found)


class LightGroup(TyperGroup):
    """A group of commands that shows the help of each without loading pydantic."""

    def get_help_option(self, ctx: Any) -> Any:
        """Return the flag ``--help``; false where it is not given, for typer loads pydantic to convert nothing."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.default = False
        return option


class _Commands(LightGroup):
    """Knows the name and the sentence of each command, and loads the one that is called."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = {name: TyperCommand(name, help=sentence) for name, sentence in COMMANDS.items()}

    def get_params(self, ctx: Any) -> Any:
        """Return the flags; those of completion are false where they are not given, for the same reason."""
        found = super().get_params(ctx)
        for option in found:
            if str(option.name).endswith("_completion"):
                option.default = False
        return found

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, known, rest = super().resolve_command(ctx, args)
        return name, known and load_command(str(known.name)), rest


program = typer.Typer(
    name="shoal",
    cls=_Commands,
    help="Make microdata safe to publish: every record hides in a group of at least k.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


@program.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="With --version: all that a report of a mistake needs, and no path.")
    ] = False,
) -> None:
    if verbose and not version:
        raise typer.BadParameter("--verbose has no effect without --version")
    if version:
        told = shoal.environment() if verbose else {"shoal": shoal.__version__}
        typer.echo("\n".join(f"{name} {number}" for name, number in told.items()))
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
