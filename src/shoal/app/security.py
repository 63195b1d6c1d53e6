"""Who may talk to the server, and what a browser may do with its pages.

Loopback alone keeps nobody out: any page in the same browser can send requests to it. So a request must name this
server as its Host, which a name that was rebound to this machine does not; carry the cookie that the token in the
printed address was exchanged for, which pages of other sites cannot send (SameSite=Strict); and come from a page of
this server where it changes something (Origin). Pages run no script and load nothing but what the server itself has.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
REPORT_POLICY = (  # a report has its scripts inside; in a sandbox it belongs to no site, and it may load nothing
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; "
    "style-src 'unsafe-inline'; img-src data:"
)
HEADERS = {
    "Content-Security-Policy": CONTENT_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # with no-referrer browsers send no Origin with the forms of a page
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
ENTRANCE = "/enter"  # the only place for somebody without the cookie, beside how it looks
_LOOK = ("/static/look.css", "/static/app.css")
_SAFE = ("GET", "HEAD")
_TRIES, _WAIT = 5, 60.0  # wrong passwords, and for how many seconds none is looked at after so many


@dataclass
class Keys:
    """What lets somebody in: the token of this start, the cookie that it is exchanged for, perhaps a password.

    Attributes
    ----------
    password : bytes or None
        Scrypt of the password, where one is asked for; then the token alone opens nothing.
    token, session, salt : str, str and bytes
        Drawn anew at each start.
    """

    password: bytes | None = None
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    session: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    salt: bytes = field(default_factory=lambda: secrets.token_bytes(16))
    _wrong: list[float] = field(default_factory=list)

    @classmethod
    def with_password(cls, password: str) -> Keys:
        """Return keys for a server that others on the network can reach."""
        keys = cls()
        keys.password = keys._scrypt(password)
        return keys

    def fits(self, token: str = "", password: str = "") -> bool:
        """Whether somebody may come in; after many wrong passwords nobody may for a while."""
        if self.password is None:
            return hmac.compare_digest(token.encode(), self.token.encode())
        now = time.monotonic()
        self._wrong = [when for when in self._wrong if now - when < _WAIT]
        if len(self._wrong) >= _TRIES:
            return False
        right = hmac.compare_digest(self._scrypt(password), self.password)
        if not right:
            self._wrong.append(now)
        return right

    def _scrypt(self, password: str) -> bytes:
        return hashlib.scrypt(password.encode(), salt=self.salt, n=2**14, r=8, p=1)


@dataclass(frozen=True)
class Place:
    """Where the server is reached.

    Attributes
    ----------
    host : str
        Address of the interface.
    port : int
        Its port.
    """

    host: str
    port: int

    @property
    def hosts(self) -> set[str]:
        """What a request may name as its Host."""
        names = {self.host} if self.host not in ("127.0.0.1", "::1") else {"127.0.0.1", "localhost", "[::1]"}
        return {f"[{name}]:{self.port}" if ":" in name and name[0] != "[" else f"{name}:{self.port}" for name in names}

    @property
    def cookie(self) -> str:
        """Name of the cookie: browsers send the cookies of all ports of a machine to each of them."""
        return f"shoal-{self.port}"


class Guard:
    """Lets through only requests that may pass, and adds the headers that every answer has."""

    def __init__(self, app: ASGIApp, keys: Keys, place: Place) -> None:
        self._app, self._keys, self._place = app, keys, place

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
                return
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refused = self._why_not(scope)
        if refused:
            status, told = refused
            await PlainTextResponse(told + "\n", status)(scope, receive, with_headers)
            return
        await self._app(scope, receive, with_headers)

    def _why_not(self, scope: Scope) -> tuple[int, str] | None:
        """Return status and reason where a request is refused."""
        headers = Headers(scope=scope)
        if headers.get("host", "").lower() not in self._place.hosts:
            return 421, "This is not the address of this server."
        if scope["method"] not in _SAFE and not self._from_here(headers):
            return 403, "Refused: this did not come from a page of this application."
        if scope["path"] == ENTRANCE or (scope["path"] in _LOOK and scope["method"] in _SAFE):
            return None
        if not self._has_cookie(headers):
            return 401, "Open the address that `shoal app` printed when it started."
        return None

    def _from_here(self, headers: Mapping[str, str]) -> bool:
        origin = headers.get("origin", "").lower()
        return origin in {f"http://{host}" for host in self._place.hosts} and origin == f"http://{headers['host']}"

    def _has_cookie(self, headers: Headers) -> bool:
        found = cookie_parser(headers.get("cookie", "")).get(self._place.cookie, "")
        return hmac.compare_digest(found.encode(), self._keys.session.encode())
