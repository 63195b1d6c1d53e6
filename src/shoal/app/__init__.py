"""`shoal app`: the pipeline as pages in a browser, for people who do not program.

``server`` answers, ``security`` says to whom, ``pages`` has a module for each step; ``workspace`` is the folder in
which everything is, ``draft`` the plan while it is made, ``runs`` and ``worker`` the processes that do the work. It is
built on the public names of shoal only, so that whatever is clicked can be typed.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from shoal.errors import MissingExtra, PlanError

WORKSPACE = "shoal-workspace"
_NEEDED = ("starlette", "uvicorn", "jinja2", "altair", "vl_convert")


def open_app(
    table: str | Path | None = None,
    *,
    plan: str | Path | None = None,
    workspace: str | Path = WORKSPACE,
    example: bool = False,
    port: int = 0,
    browser: bool = True,
    share: str | None = None,
    password: str | None = None,
) -> None:
    """Serve the application on this machine until it is interrupted.

    Parameters
    ----------
    table : path
        A table to open at once.
    plan : path
        A plan to begin with, in the place of what looking at the table proposes.
    workspace : path
        Folder for all that is opened, chosen and made; made where it is not there. Used by one server at a time.
    example : bool
        Open the embedded example, where the workspace has no table yet.
    port : int
        Where to listen; any free port where 0.
    browser : bool
        Whether to open the browser.
    share : str
        Address of another interface of this machine to listen on, so that others can reach it. Needs a password, and
        goes over the network as it is, unencrypted.
    password : str
        What others have to type.

    Raises
    ------
    MissingExtra
        The extra ``app`` is not installed.
    ShoalError
        The table cannot be read, the workspace not be used, or the port is taken.
    """
    if not all(map(find_spec, _NEEDED)):
        raise MissingExtra("the application", "app")
    if share is not None and not password:
        raise PlanError("share: others can reach the application then; give a password")
    if password is not None and share is None:
        raise PlanError("password: has no effect without share")
    from shoal.app.server import serve

    serve(
        None if table is None else Path(table),
        plan=None if plan is None else Path(plan),
        workspace=Path(workspace),
        example=example,
        port=port,
        browser=browser,
        share=share,
        password=password,
    )
