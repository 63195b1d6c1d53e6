"""How a run goes on, told to the page as server-sent events while it does."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from shoal.app.desk import Desk
from shoal.app.runs import Run

_LOOK = 0.25  # seconds between two looks at the files of a run
_ALIVE = 15.0  # seconds after which something is said, so that nobody takes the line for dead

Extra = Callable[[Run], dict[str, Any]]


def stream(desk: Desk, request: Request, number: str, extra: Extra | None = None) -> Response:
    """Tell of a run until it has ended; what ``extra`` finds is told with it whenever it changes."""
    desk.run(number)  # raises where there is none

    async def told() -> AsyncIterator[str]:
        seen, before, quiet = 0, None, 0.0
        while not await request.is_disconnected():
            run = desk.run(number)
            state = run.state
            lines = run.progress()
            more = extra(run) if extra else {}
            if len(lines) > seen or more != before or state != "running":
                content = {"state": state, "lines": lines[seen:], **more}
                seen, before, quiet = len(lines), more, 0.0
                yield f"data: {json.dumps(content)}\n\n"
            if state != "running":
                return
            await asyncio.sleep(_LOOK)
            quiet += _LOOK
            if quiet >= _ALIVE:
                quiet = 0.0
                yield ": still there\n\n"

    return StreamingResponse(told(), media_type="text/event-stream")
