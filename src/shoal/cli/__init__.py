"""The command line: shoal protect | inspect | measure | report | sweep | methods | demo | rules | hierarchy.

Standard output carries results only; progress and messages go to standard error. A mistake ends with status 2 and a
sentence that says what to do, a broken promise with status 1, an interruption with status 130.
"""

from __future__ import annotations

from shoal.cli.demo import demo
from shoal.cli.hierarchy import hierarchy
from shoal.cli.inspect import inspect
from shoal.cli.measure import measure
from shoal.cli.methods import methods
from shoal.cli.protect import protect
from shoal.cli.report import report
from shoal.cli.rules import rules
from shoal.cli.shell import app
from shoal.cli.sweep import sweep

for _command in (protect, inspect, measure, report, sweep, methods, demo):  # in the order in which they are listed
    app.command()(_command)
app.add_typer(rules, name="rules")
app.add_typer(hierarchy, name="hierarchy")


def main() -> None:
    """Run the command line."""
    app()
