"""The scripts that draw plots, put together in a process of their own and kept in the workspace.

Putting them together takes seconds in which Python does nothing else, so that it must not happen in the server:
``python -m shoal.app.plot_scripts FILE``.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import shoal
from shoal.app.workspace import Workspace, write_text

_PATIENCE = 300.0  # seconds


class PlotScripts:
    """The scripts of a workspace, which are started to be made when the server is, and waited for when asked for."""

    def __init__(self, workspace: Workspace) -> None:
        self._path = workspace.folder / f"vega-{version('vl-convert-python')}.js"
        self._making: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Begin to make them where they are not there."""
        if self._path.is_file() or self._making:
            return
        command = [sys.executable, "-P", "-m", "shoal.app.plot_scripts", str(self._path)]
        quiet = subprocess.DEVNULL
        self._making = subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet)

    def text(self) -> str:
        """Return them; waits until they are there."""
        if not self._path.is_file():
            self.start()
            if self._making:
                self._making.wait(_PATIENCE)
        return self._path.read_text(encoding="utf-8")

    def close(self) -> None:
        """End the process that makes them."""
        if self._making and self._making.poll() is None:
            self._making.kill()
            self._making.wait()


if __name__ == "__main__":
    write_text(Path(sys.argv[1]), shoal.report_asset("vega.js"))
