"""A request as pages see it, and the answers that they give.

Forms are read here, with a limit, so that nothing else reads what a browser sends but uploads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

LARGEST_FORM = 2 * 2**20  # bytes
_FIELDS = 5000


class TooLarge(Exception):  # noqa: N818 - says what is wrong with what was sent
    """More was sent than is taken."""


@dataclass(frozen=True)
class Asked:
    """What a browser asks for.

    Attributes
    ----------
    path : dict
        The parts of the address that a page has names for.
    query, form : list of (str, str)
        Fields of the address and of the form, in their order.
    piece : bool
        Whether the script of the page asks, which takes a part of a page as well.
    """

    path: dict[str, Any]
    query: list[tuple[str, str]]
    form: list[tuple[str, str]]
    piece: bool = False

    def field(self, name: str, default: str = "") -> str:
        """Return the last value of a field of the form, or of the address."""
        return next((value for own, value in reversed([*self.query, *self.form]) if own == name), default)

    def fields(self, name: str) -> list[str]:
        """Return all values of a field."""
        return [value for own, value in [*self.query, *self.form] if own == name]

    def has(self, name: str) -> bool:
        """Whether a field was sent."""
        return any(own == name for own, _ in [*self.query, *self.form])

    def whole(self, name: str, default: int, least: int = 0, most: int = 10**9) -> int:
        """Return a whole number within limits; the default where it is none."""
        text = self.field(name).strip()
        return min(max(int(text), least), most) if text.isascii() and text.isdecimal() and len(text) < 12 else default

    def number(self, name: str) -> float | None:
        """Return a number from 0 to 100; None where it is none."""
        try:
            value = float(self.field(name))
        except ValueError:
            return None
        return value if 0.0 <= value <= 100.0 else None


async def read_request(request: Request) -> Asked:
    """Read a request and its form; raises TooLarge."""
    sent = b""
    if request.method == "POST":
        announced = request.headers.get("content-length", "0")
        if not announced.isdecimal() or int(announced) > LARGEST_FORM:
            raise TooLarge
        async for part in request.stream():
            sent += part
            if len(sent) > LARGEST_FORM:
                raise TooLarge
    try:
        form = parse_qsl(sent.decode(), keep_blank_values=True, max_num_fields=_FIELDS)
        query = parse_qsl(request.url.query, keep_blank_values=True, max_num_fields=_FIELDS)
    except ValueError:
        raise TooLarge from None
    return Asked(dict(request.path_params), query, form, request.headers.get("x-piece") == "1")


def go_to(address: str) -> Response:
    """Send the browser to a page: after every change, so that going back and reloading change nothing again."""
    return RedirectResponse(address, 303)


def no_such_page() -> Response:
    """Say that there is no such page."""
    return PlainTextResponse("There is no such page.\n", 404)
