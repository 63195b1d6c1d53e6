"""What the server works with: the workspace, its runs, and the table that is open."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import shoal
from shoal.app import draft, given_plans
from shoal.app.opened import Opened, Tables
from shoal.app.plot_scripts import PlotScripts
from shoal.app.runs import Run, Runs
from shoal.app.workspace import Workspace

UPLOAD_LIMIT = 4 * 2**30  # bytes


class NothingOpen(Exception):  # noqa: N818 - says what is missing
    """A page needs a table, and none is open."""


@dataclass(frozen=True)
class Desk:
    """All that pages look at and change.

    Attributes
    ----------
    workspace : Workspace
        The folder.
    runs : Runs
        Its runs.
    shared : bool
        Whether others can reach the server: then no path of this machine can be opened.
    upload_limit : int
        Most bytes of a table that is sent.
    tables, scripts : Tables and PlotScripts
        The table that is open, and the scripts that draw.
    """

    workspace: Workspace
    runs: Runs
    shared: bool = False
    upload_limit: int = UPLOAD_LIMIT
    tables: Tables = field(default_factory=Tables)
    scripts: PlotScripts = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "scripts", PlotScripts(self.workspace))

    def opened(self) -> Opened:
        """Return the table that is open; raises NothingOpen, or ShoalError where it cannot be read any more."""
        table = self.workspace.table()
        if not table:
            raise NothingOpen
        if not self.workspace.has_plan():  # it could not be read before
            return self.open(Path(table["path"]), **_kept(table))
        return self.tables.open(Path(table["path"]), self.workspace.settings().get("reading") or {})

    def table_name(self) -> str:
        """Return the name of the table that is open; empty where none is."""
        table = self.workspace.table()
        return Path(table["path"]).name if table else ""

    def table_path(self) -> str:
        """Return the path of the table that is open; empty where none is."""
        table = self.workspace.table()
        return str(table["path"]) if table else ""

    def open(self, path: Path, reading: dict[str, Any] | None = None, **more: Any) -> Opened:
        """Open a table and propose a plan for it; where it cannot be read, nothing changes."""
        opened = self.tables.open(path, reading)
        self.workspace.open_table(path, **more)
        with self.workspace.changed_settings() as settings:
            settings.update(draft.proposed(opened.inspection))
        return opened

    def read_again(self, reading: dict[str, Any]) -> Opened:
        """Read the table in another way; what was chosen stays, unless nothing was, or it has other columns now."""
        table = self.workspace.table()
        if not table:
            raise NothingOpen
        path = Path(table["path"])
        if not self.workspace.has_plan():
            return self.open(path, reading, **_kept(table))
        try:
            untouched = self.workspace.settings() == draft.proposed(self.opened().inspection)
        except shoal.ShoalError:
            untouched = False
        opened = self.tables.open(path, reading)
        with self.workspace.changed_settings() as settings:
            if untouched or given_plans.unknown_columns(settings, opened.columns):
                settings.clear()
                settings.update(draft.proposed(opened.inspection))
            draft.give_reading(settings, opened.inspection.reading)
        return opened

    def take_plan(self, text: str, beside: Path | None = None) -> None:
        """Take a plan from its text, whole, for the table that is open; names of files are looked for beside it."""
        table = self.workspace.table()
        if not table:
            raise NothingOpen
        path = Path(table["path"])
        settings = given_plans.from_yaml(text, None if self.shared else beside or path.parent)
        opened = self.tables.open(path, settings.get("reading") or {})
        given_plans.check_columns(settings, opened.columns)
        with self.workspace.changed_settings() as stored:
            stored.clear()
            stored.update(settings)

    def run(self, number: str) -> Run:
        """Return a run; raises NotThere where there is none."""
        return self.runs.find(number)

    def chosen_release(self, number: str) -> tuple[Run | None, list[Run]]:
        """Return the run of a number, or the latest where there is none, and all runs that have a release."""
        runs = [run for run in self.runs.all("protect") if run.release]
        return self.run(number) if number else self.latest_release() or (runs[0] if runs else None), runs

    def latest_release(self) -> Run | None:
        """Return the latest run of this table that made a release."""
        own = [run for run in self.runs.all("protect") if run.asked.get("path") == self.table_path()]
        return next((run for run in own if run.release), None)

    def mistakes(self) -> list[str]:
        """Return what is wrong with the plan as it stands."""
        return draft.why_not(self.workspace.settings())


def _kept(table: dict[str, Any]) -> dict[str, Any]:
    """Return what is known of a table and stays when it is read again."""
    return {name: value for name, value in table.items() if name == "example"}
