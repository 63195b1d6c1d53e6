"""The command line: shoal protect | inspect | measure | report | sweep | methods | demo | rules | hierarchy.

Standard output carries results only; progress and messages go to standard error. A mistake ends with status 2 and a
sentence that says what to do, an output that is there already or a broken promise with status 1, an interruption with
status 130, SIGTERM with status 143, and what should not have happened with status 70 and where it did, without the
values that a traceback shows.
"""

from __future__ import annotations

from shoal.cli.commands import program
from shoal.cli.process import end_on_sigterm, open_streams


def main() -> None:
    """Run the command line."""
    open_streams()
    end_on_sigterm()
    program()
