"""The command line: shoal protect | inspect | measure | report | sweep | methods | demo | rules | hierarchy.

Standard output carries results only; progress and messages go to standard error. A mistake ends with status 2 and a
sentence that says what to do, a broken promise with status 1, an interruption with status 130, and what should not have
happened with status 70 and where it did, without the values that a traceback shows.
"""

from __future__ import annotations

from shoal.cli.commands import app


def main() -> None:
    """Run the command line."""
    app()
