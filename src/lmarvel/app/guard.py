"""The outermost layer of the app: everything is refused that is not asked for by the one browser that was let in.

Who may be out there: other people on the network, other users and programs of this computer, and web pages that the
same browser has open. So every request has to pass all of these, in this order, before anything else looks at it.

1. It is HTTP. WebSockets, and whatever else a server may speak, are refused.
2. It comes from this computer (loopback), and names this server as its host: a page of a stranger whose name was made
   to lead here (DNS rebinding) names its own.
3. Its method, its address and its length are within bounds; the length is known before a byte of the body is read.
4. It has the cookie of this session, which a token in the first address was exchanged for. The token works once. The
   cookie is HttpOnly and SameSite=Strict, so that no script reads it and no other site sends it.
5. If it changes something, it comes from a page of this server (Origin, and Sec-Fetch-Site where the browser sends it),
   with a header that a form of another site cannot send.

No header allows other origins anything, and every response carries a policy under which the page loads from here only.
An error inside becomes a short message: no traceback reaches the browser.
"""

from __future__ import annotations

import json
import secrets
import sys
import traceback
from collections.abc import Mapping
from http import HTTPStatus
from ipaddress import ip_address
from urllib.parse import parse_qs

from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADER = b"x-lmarvel"
LONGEST_ADDRESS = 2_048
MOST_JSON, MOST_UPLOAD = 1 << 20, 4 << 30  # bytes of a body
READING, WRITING = ("GET", "HEAD"), ("POST", "PUT")
POLICY = (
    "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", POLICY.encode("ascii")),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-embedder-policy", b"require-corp"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
    (b"cache-control", b"no-store"),
)
# A page that goes on by itself: a redirect would not carry a strict cookie where another site opened the address.
_ENTER = (
    b'<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=/">'
    b'<link rel="icon" href="data:,"><title>lmarvel</title><p>Opening <a href="/">lmarvel</a>.'
)


class Refused(Exception):
    """A request that goes no further: a status, and a sentence for whoever reads it."""

    def __init__(self, status: HTTPStatus, why: str) -> None:
        super().__init__(why)
        self.status, self.why = status, why


class Guard:
    """Let only requests of the one session through to ``app``; see the module for what that takes.

    Parameters
    ----------
    app : ASGI application
        What is guarded.
    port : int
        The port that the server listens at.
    uploads : collection of str
        Addresses that take a table as their body, up to ``most_upload`` bytes.
    """

    def __init__(self, app: ASGIApp, port: int, uploads: tuple[str, ...] = (), most_upload: int = MOST_UPLOAD) -> None:
        self._app, self._uploads, self._most_upload = app, uploads, most_upload
        self.token: str | None = secrets.token_urlsafe(32)
        self._session = secrets.token_urlsafe(32)
        self._cookie = f"lmarvel-{port}"
        self._hosts = {f"{name}:{port}".encode("ascii") for name in ("127.0.0.1", "localhost")}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] == "lifespan":  # from the server itself, not from outside
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._http(scope, receive, send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008})
        else:
            raise RuntimeError(f"a scope of type {scope['type']!r} is not served")

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def guarded(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                kept = [(name, value) for name, value in message["headers"] if name.lower() not in _OWN]
                message = {**message, "headers": [*kept, *HEADERS]}
            await send(message)

        try:
            entered = self._checked(scope)
            if entered is not None:
                await _answer(guarded, HTTPStatus.OK, entered, b"text/html; charset=utf-8", self._set_cookie)
                return
            await self._app(scope, _counted(receive, self._most(scope)), guarded)
        except Refused as error:
            if not begun:
                await _refuse(guarded, scope, error)
        except Exception:  # whatever it is, the browser gets a sentence, and the terminal the rest
            traceback.print_exc(file=sys.stderr)
            if not begun:
                what = "This went wrong inside the program. The terminal shows the details."
                await _refuse(guarded, scope, Refused(HTTPStatus.INTERNAL_SERVER_ERROR, what))

    @property
    def _set_cookie(self) -> tuple[bytes, bytes]:
        return b"set-cookie", f"{self._cookie}={self._session}; Path=/; HttpOnly; SameSite=Strict".encode("ascii")

    # --- checks -----------------------------------------------------------------------------------------------

    def _checked(self, scope: Scope) -> bytes | None:
        """Refuse what must not pass; return the page that sets the cookie where a token is exchanged for it."""
        headers = _headers(scope)
        client = scope.get("client")
        if client is None or not _is_loopback(client[0]):
            raise Refused(HTTPStatus.FORBIDDEN, "Only this computer may use this address.")
        if headers.get(b"host") not in self._hosts:
            raise Refused(HTTPStatus.MISDIRECTED_REQUEST, "This is not the host of that name.")
        method, query = scope["method"], scope["query_string"]
        if method not in (*READING, *WRITING):
            raise Refused(HTTPStatus.METHOD_NOT_ALLOWED, "This method is not served.")
        if len(scope.get("raw_path") or scope["path"].encode()) + len(query) > LONGEST_ADDRESS:
            raise Refused(HTTPStatus.REQUEST_URI_TOO_LONG, "The address is too long.")
        self._check_length(scope, headers)
        if scope["path"] == "/" and method == "GET" and query:
            return self._enter(query)
        if not self._has_session(headers):
            raise Refused(
                HTTPStatus.FORBIDDEN,
                "This window is not let in: open the address that 'lmarvel app' shows when it starts.",
            )
        site = headers.get(b"sec-fetch-site")
        if method in WRITING:
            origin = headers.get(b"origin")
            if origin not in {b"http://" + host for host in self._hosts} or origin != b"http://" + headers[b"host"]:
                raise Refused(HTTPStatus.FORBIDDEN, "A change has to come from a page of this address.")
            if headers.get(HEADER) != b"1" or site not in (None, b"same-origin"):
                raise Refused(HTTPStatus.FORBIDDEN, "A change has to come from a page of this address.")
        elif site not in (None, b"same-origin", b"none"):
            raise Refused(HTTPStatus.FORBIDDEN, "Other sites may not ask for this.")
        return None

    def _check_length(self, scope: Scope, headers: Mapping[bytes, bytes]) -> None:
        length = headers.get(b"content-length")
        if scope["method"] in READING:
            if b"transfer-encoding" in headers or length not in (None, b"0"):
                raise Refused(HTTPStatus.BAD_REQUEST, "This takes no body.")
            return
        if length is None or b"transfer-encoding" in headers or not length.isdigit() or len(length) > 18:
            raise Refused(HTTPStatus.LENGTH_REQUIRED, "The length of the body has to be given.")
        if int(length) > self._most(scope):
            most = self._most(scope)
            size = f"{most >> 30} GiB" if most >= 1 << 30 else f"{most >> 10:,} KiB"
            raise Refused(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"This is larger than {size}, the most that is taken here."
            )

    def _most(self, scope: Scope) -> int:
        """Return how many bytes a body may have."""
        if scope["method"] in READING:
            return 0
        return self._most_upload if scope["path"] in self._uploads else MOST_JSON

    def _enter(self, query: bytes) -> bytes:
        """Exchange the token; from then on it is worth nothing."""
        try:
            given = parse_qs(query.decode("ascii"), max_num_fields=4).get("token", [])
        except ValueError:
            given = []
        if self.token is None or len(given) != 1 or not _same(given[0], self.token):
            raise Refused(
                HTTPStatus.FORBIDDEN,
                "This address does not let you in. It works once: if it was used, go back to that window, or start the"
                " app again.",
            )
        self.token = None
        return _ENTER

    def _has_session(self, headers: Mapping[bytes, bytes]) -> bool:
        for part in headers.get(b"cookie", b"").split(b";"):
            name, _, value = part.strip().partition(b"=")
            if name == self._cookie.encode("ascii"):
                return _same(value.decode("latin-1"), self._session)
        return False


_OWN = {name for name, _ in HEADERS} | {b"server", b"access-control-allow-origin"}


def _headers(scope: Scope) -> dict[bytes, bytes]:
    """Return the headers; one that comes twice, and decides something, is refused."""
    found: dict[bytes, bytes] = {}
    for name, value in scope["headers"]:
        name = name.lower()
        if name in found and name in (b"host", b"origin", b"cookie", b"content-length", HEADER, b"sec-fetch-site"):
            raise Refused(HTTPStatus.BAD_REQUEST, "A header comes twice.")
        found[name] = value
    return found


def _is_loopback(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False


def _same(given: str, kept: str) -> bool:
    """Compare in a time that tells nothing."""
    return secrets.compare_digest(given.encode("utf-8", "surrogatepass"), kept.encode("ascii"))


def _counted(receive: Receive, most: int) -> Receive:
    """Return a way to read a body that ends where more comes than is allowed, whatever was announced."""
    taken = 0

    async def counted() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > most:
            raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "The body is longer than announced.")
        return message

    return counted


async def _refuse(send: Send, scope: Scope, error: Refused) -> None:
    if scope["path"].startswith("/api/"):
        body, kind = json.dumps({"error": error.why}).encode("ascii"), b"application/json"
    else:
        body, kind = error.why.encode("utf-8"), b"text/plain; charset=utf-8"
    await _answer(send, error.status, body, kind)


async def _answer(send: Send, status: HTTPStatus, body: bytes, kind: bytes, *headers: tuple[bytes, bytes]) -> None:
    named = [(b"content-type", kind), (b"content-length", str(len(body)).encode("ascii")), *headers]
    await send({"type": "http.response.start", "status": int(status), "headers": named})
    await send({"type": "http.response.body", "body": body})
