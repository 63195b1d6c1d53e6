"""The server: pages by their addresses, what happens when they fail, and how it is started and ended."""

from __future__ import annotations

import logging
import os
import socket
import sys
import threading
import traceback
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib.resources import files
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

import shoal
from shoal.app import events, pages, uploads
from shoal.app.asking import Asked, TooLarge, go_to, no_such_page, read_request
from shoal.app.desk import Desk, NothingOpen
from shoal.app.rendering import environment, page
from shoal.app.runs import Runs
from shoal.app.security import ENTRANCE, Guard, Keys, Place
from shoal.app.workspace import NotThere, Workspace
from shoal.errors import failure

STATIC = {"app.css": "text/css", "look.css": "text/css", "app.js": "text/javascript", "plots.js": "text/javascript",
          "run.js": "text/javascript", "vega.js": "text/javascript", "mark.svg": "image/svg+xml"}  # fmt: skip
_REPORT_CSS, _VEGA = "look.css", "vega.js"
Handler = Callable[[Desk, Asked], Response]


def application(desk: Desk, keys: Keys, place: Place) -> ASGIApp:
    """Return the application, which answers to the holder of the keys only."""
    routes = [
        Route(ENTRANCE, partial(_enter, keys=keys, place=place), methods=["GET", "POST"]),
        Route("/", lambda request: RedirectResponse("/open", 303)),
        Route("/static/{name}", partial(_asset, desk)),
        Route("/open/upload", partial(_upload, desk), methods=["POST"]),
        Route("/run/{number}/events", partial(_events, desk)),
        *(Route(path, _answering(desk, handler), methods=[method]) for method, path, handler in pages.ROUTES),
        Route("/{rest:path}", lambda request: no_such_page(), methods=["GET", "POST"]),
    ]
    return Starlette(routes=routes, middleware=[Middleware(Guard, keys=keys, place=place)])


def _answering(desk: Desk, handler: Handler) -> Callable[[Request], object]:
    """Return what reads a request, lets a page answer it in a thread, and turns failures into sentences."""

    async def answer(request: Request) -> Response:
        try:
            return await run_in_threadpool(handler, desk, await read_request(request))
        except NothingOpen:
            return go_to("/open")
        except NotThere:
            return no_such_page()
        except TooLarge:
            return PlainTextResponse("More was sent than is taken.\n", 413)
        except shoal.ShoalError as error:
            told = getattr(error, "mistakes", None) or [str(error)]
            return await run_in_threadpool(page, desk, "mistakes.html", status=400, told=told)
        except OSError as error:
            told = [f"a file could not be read or written: {error.strerror or 'the disk may be full'}"]
            return await run_in_threadpool(page, desk, "mistakes.html", status=507, told=told)
        except ClientDisconnect:
            return Response(status_code=400)
        except Exception as error:
            return _failed(error)

    return answer


def _failed(error: Exception) -> Response:
    """Say what failed without a value; the traceback, which may have some, goes to the terminal if asked for."""
    if os.environ.get("SHOAL_TRACEBACK") == "1":
        traceback.print_exception(error)
    return PlainTextResponse(f"{failure(error)}\n", 500)


async def _upload(desk: Desk, request: Request) -> Response:
    try:
        return await uploads.receive_table(desk, request)
    except ClientDisconnect:
        return Response(status_code=400)
    except Exception as error:
        return _failed(error)


async def _events(desk: Desk, request: Request) -> Response:
    try:
        return events.stream(desk, request, request.path_params["number"], pages.found_so_far)
    except NotThere:
        return no_such_page()


async def _enter(request: Request, keys: Keys, place: Place) -> Response:
    """Exchange the token, or the password, for the cookie."""
    try:
        asked = await read_request(request)
    except TooLarge:
        return PlainTextResponse("More was sent than is taken.\n", 413)
    tried = asked.has("token") if keys.password is None else asked.has("password")
    if tried and await run_in_threadpool(keys.fits, asked.field("token"), asked.field("password")):
        answer = RedirectResponse("/open", 303)
        answer.set_cookie(place.cookie, keys.session, httponly=True, samesite="strict", path="/")
        return answer
    if keys.password is None:
        return PlainTextResponse("Open the address that `shoal app` printed when it started.\n", 401)
    text = environment().get_template("enter.html").render(wrong=tried)
    return Response(text, 401 if tried else 200, media_type="text/html")


async def _asset(desk: Desk, request: Request) -> Response:
    """Return a style, a script or a picture of the package."""
    name = request.path_params["name"]
    if name not in STATIC:
        return no_such_page()
    if name == _REPORT_CSS:
        text = shoal.report_asset("page.css")
    elif name == _VEGA:
        text = await run_in_threadpool(desk.scripts.text)
    else:
        text = files("shoal.app").joinpath("static", name).read_text(encoding="utf-8")
    return Response(text, media_type=STATIC[name], headers={"Cache-Control": "private, max-age=3600"})


def serve(
    table: Path | None,
    *,
    plan: Path | None = None,
    workspace: Path,
    example: bool = False,
    port: int = 0,
    browser: bool = True,
    share: str | None = None,
    password: str | None = None,
) -> None:
    """Serve the application until it is ended."""
    before = os.umask(0o077)  # what is in a workspace is for its owner
    place = None
    try:
        place = Workspace(workspace)
        desk = Desk(place, Runs(place), shared=share is not None)
        if table is not None and str(table.absolute()) != desk.table_path():
            desk.open(table.absolute())
        elif example and not desk.table_path():
            pages.open_example(desk)
        if plan is not None:
            _take(desk, plan)
        bound = _bound(share or "127.0.0.1", port)
        where = Place(share or "127.0.0.1", bound.getsockname()[1])
        keys = Keys() if password is None else Keys.with_password(password)
        try:
            desk.scripts.start()
            _run(application(desk, keys, where), bound, _address(where, keys), browser)
        finally:
            desk.scripts.close()
            desk.runs.close()
    finally:
        if place is not None:
            place.close()
        os.umask(before)


def _take(desk: Desk, plan: Path) -> None:
    """Begin with a plan; files that it names are beside it."""
    if not desk.table_path():
        raise shoal.PlanError("plan: there is no table for it; name one")
    try:
        text = plan.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        raise shoal.FileError(f"the plan '{plan}' cannot be read") from None
    desk.take_plan(text, plan.absolute().parent)


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
        bound.listen(128)  # before the address is told
    except OSError as error:
        bound.close()
        raise shoal.FileError(f"cannot listen on {host}, port {port}: {error.strerror}; choose another") from None
    return bound


def _address(place: Place, keys: Keys) -> str:
    host = f"[{place.host}]" if ":" in place.host else place.host
    asked = f"?token={keys.token}" if keys.password is None else ""
    return f"http://{host}:{place.port}{ENTRANCE}{asked}"


def _run(app: ASGIApp, bound: socket.socket, address: str, browser: bool) -> None:
    """Run the server until it is interrupted, and open the browser where that is wanted."""
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # no address and no traceback, which may have cells
    settings = uvicorn.Config(
        app, log_level="critical", access_log=False, lifespan="off", timeout_graceful_shutdown=1, server_header=False
    )
    sys.stdout.write(f"shoal app is at\n  {address}\nEnd it with Ctrl+C.\n")
    sys.stdout.flush()
    if browser:
        threading.Timer(0.5, webbrowser.open, [address]).start()
    with suppress(KeyboardInterrupt):
        uvicorn.Server(settings).run([bound])
