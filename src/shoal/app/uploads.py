"""Tables that are dropped into the browser: streamed to the workspace, never held in memory, and limited."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import unquote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

import shoal
from shoal.app.desk import Desk
from shoal.app.endings import is_known
from shoal.app.rendering import as_bytes

_LEFT = 64 * 2**20  # bytes of the disk that an upload leaves free


class Refused(Exception):  # noqa: N818 - says what happened
    """An upload that is not taken, with the status and the reason."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


async def receive_table(desk: Desk, request: Request) -> Response:
    """Store a table that is sent as the body of a request, and open it; the header ``X-File-Name`` has its name."""
    try:
        path = await _stored(desk, request)
    except Refused as refused:
        return JSONResponse({"error": str(refused)}, refused.status)
    try:
        await run_in_threadpool(desk.open, path)
    except shoal.ShoalError as error:
        desk.workspace.open_table(path, unread=True)
        return JSONResponse({"error": str(error), "next": "/open"}, 200)
    return JSONResponse({"next": "/open"})


async def _stored(desk: Desk, request: Request) -> Path:
    """Write what is sent to a new file; nothing is left of an upload that ends early."""
    path = desk.workspace.place_for(unquote(request.headers.get("x-file-name", "")))
    _check_name(path)
    announced = request.headers.get("content-length", "")
    limit = min(desk.upload_limit, max(desk.workspace.space() - _LEFT, 0))
    if announced.isdecimal() and int(announced) > limit:
        raise Refused(413, _too_large(desk, limit))
    part = path.with_name(f".{path.name}.part")
    written = 0
    try:
        with part.open("wb") as file:
            async for piece in request.stream():
                written += len(piece)
                if written > limit:
                    raise Refused(413, _too_large(desk, limit))
                file.write(piece)
        if announced.isdecimal() and written < int(announced):
            raise Refused(400, "The file did not arrive whole; send it again.")
        if not written:
            raise Refused(400, "The file is empty.")
        os.replace(part, path)  # noqa: PTH105 - the same name for both
    except OSError as error:
        raise Refused(507, f"The file could not be stored: {error.strerror or 'the disk may be full'}.") from None
    finally:
        part.unlink(missing_ok=True)
    return path


def _check_name(path: Path) -> None:
    if not is_known(path):
        raise Refused(415, f"Files that can be opened end in {', '.join(shoal.FORMATS)}.")


def _too_large(desk: Desk, limit: int) -> str:
    if limit < desk.upload_limit:
        return f"The disk of the workspace has room for {as_bytes(limit)} only."
    return f"The file is too large: at most {as_bytes(limit)} can be sent. Larger ones are opened by their path."
