"""shoal app."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

import shoal
from shoal.cli.shell import tell, told_errors

PASSWORD = "SHOAL_APP_PASSWORD"


def app(
    table: Annotated[Path | None, typer.Argument(metavar="[TABLE]", help="A table to open at once.")] = None,
    plan: Annotated[
        Path | None, typer.Option(metavar="PLAN", help="A plan to begin with, instead of what is proposed.")
    ] = None,
    example: Annotated[bool, typer.Option("--example", help="Open the embedded example, if nothing is open.")] = False,
    workspace: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Where everything is kept; made where it is not there.")
    ] = Path("shoal-workspace"),
    port: Annotated[int, typer.Option(help="Where to listen; a free port by default.")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the browser.")] = True,
    share: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Listen on this address of the machine, for others too; with a password."),
    ] = None,
) -> None:
    """Open the application in the browser: everything by clicking, on this machine alone."""
    with told_errors(lambda: "the workspace has all but what was going on"):
        if table is not None and example:
            raise shoal.PlanError("--example has no effect with a table; leave one of them out")
        password = None
        if share is not None:
            tell(
                "note: whoever can reach this address and has the password sees the table and all that is made of it; "
                "what is sent is not encrypted, so share in a network that you trust, or through a tunnel"
            )
            password = os.environ.get(PASSWORD) or typer.prompt(
                "Password for others", hide_input=True, confirmation_prompt=True
            )
        shoal.open_app(
            table,
            plan=plan,
            workspace=workspace,
            example=example,
            port=port,
            browser=browser,
            share=share,
            password=password,
        )
