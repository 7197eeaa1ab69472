"""Nothing passes the guard that is not asked for by the one window that was let in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.routing import Route

from lmarvel.app.guard import LONGEST_ADDRESS, MOST_JSON, POLICY, Guard
from lmarvel.app.project import Project
from lmarvel.app.routes import UPLOAD, application
from lmarvel.app.service import Service
from tests.app.serving import call, run, scope

PORT = 40123
HOST = f"127.0.0.1:{PORT}"
FILLED = {"name": "app.js", "number": "1", "first": "1", "second": "1", "kind": "report"}


class Opened:
    """The whole application behind its guard, without a server, and the headers that the page sends."""

    def __init__(self, folder: Path) -> None:
        self.service = Service(Project(folder))
        self.app = application(self.service, lambda why: None)
        self.guard = Guard(self.app, PORT, (UPLOAD,), most_upload=1 << 21)
        self.token = str(self.guard.token)
        status, headers, _ = call(self.guard, scope(path=f"/?token={self.token}", headers={"host": HOST}))
        assert status == 200
        self.set_cookie = headers["set-cookie"]
        self.good = {
            "host": HOST,
            "cookie": self.set_cookie.split(";")[0],
            "origin": f"http://{HOST}",
            "x-lmarvel": "1",
        }

    def routes(self) -> list[tuple[str, str]]:
        found = []
        for route in self.app.routes:
            assert isinstance(route, Route)
            path = route.path
            for name, value in FILLED.items():
                path = path.replace(f"{{{name}:int}}", value).replace(f"{{{name}}}", value)
            assert "{" not in path
            found += [(method, path) for method in sorted(route.methods or ())]
        return found

    def status(self, method: str, path: str, headers: dict[str, str], **more: Any) -> int:
        body = b"" if method in ("GET", "HEAD") else b"{}"
        length = {} if not body or "content-length" in headers else {"content-length": str(len(body))}
        return call(self.guard, scope(method, path, {**headers, **length}, **more), body)[0]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    one = Opened(tmp_path / "project")
    yield one
    one.service.project.close()


def without(headers: dict[str, str], *names: str) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name not in names}


def test_every_route_refuses_what_does_not_come_from_the_window(opened: Opened) -> None:
    routes = opened.routes()
    assert len(routes) >= 17
    assert {"/", "/api/state", "/api/events", UPLOAD, "/api/stop"} <= {path for _, path in routes}
    good = opened.good
    for method, path in routes:
        wrong = {
            "no cookie": without(good, "cookie"),
            "a wrong cookie": {**good, "cookie": f"lmarvel-{PORT}=guess"},
            "a cookie of another port": {**good, "cookie": good["cookie"].replace(str(PORT), "1")},
            "a foreign host": {**good, "host": "evil.example"},
            "a name that leads here": {**good, "host": f"evil.example:{PORT}"},
            "another port": {**good, "host": "127.0.0.1:1"},
            "no host": without(good, "host"),
        }
        for what, headers in wrong.items():
            assert opened.status(method, path, headers) in (403, 421), (method, path, what)
        assert opened.status(method, path, good, client=("192.168.0.7", 5000)) == 403
        assert opened.status(method, path, good, client=None) == 403
        assert opened.status(method, path, {**good, "sec-fetch-site": "cross-site"}) == 403
        if method not in ("GET", "HEAD"):
            for origin in (
                "http://evil.example",
                "null",
                f"https://{HOST}",
                f"http://localhost:{PORT}",
                "http://127.0.0.1:1",
            ):
                assert opened.status(method, path, {**good, "origin": origin}) == 403, (method, path, origin)
            assert opened.status(method, path, without(good, "origin")) == 403
            assert opened.status(method, path, without(good, "x-lmarvel")) == 403


def test_the_token_works_once(opened: Opened) -> None:
    for _ in range(2):
        status, headers, body = call(opened.guard, scope(path=f"/?token={opened.token}", headers={"host": HOST}))
        assert (status, "set-cookie" in headers) == (403, False)
        assert b"works once" in body
    fresh = Guard(opened.app, PORT)
    for guess in ("", "x", opened.token, f"{fresh.token}x", f"{fresh.token}&token={fresh.token}"):
        assert call(fresh, scope(path=f"/?token={guess}", headers={"host": HOST}))[0] == 403
    assert call(fresh, scope(path=f"/?token={fresh.token}", headers={"host": "evil.example"}))[0] == 421
    assert call(fresh, scope(path=f"/?token={fresh.token}", headers={"host": HOST}))[0] == 200


def test_the_cookie_is_for_this_site_and_no_script(opened: Opened) -> None:
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= {part.strip() for part in opened.set_cookie.split(";")}
    assert opened.token not in opened.set_cookie


@pytest.mark.parametrize("status", [200, 403, 404])
def test_every_answer_has_the_policy_and_no_foreign_origin(opened: Opened, status: int) -> None:
    path = {200: "/", 403: "/", 404: "/static/nothing.js"}[status]
    headers = without(opened.good, "cookie") if status == 403 else opened.good
    got, answer, _ = call(opened.guard, scope("GET", path, headers))
    assert got == status
    assert answer["content-security-policy"] == POLICY
    assert POLICY.startswith("default-src 'self';")
    assert "unsafe" not in POLICY
    assert (answer["x-content-type-options"], answer["x-frame-options"]) == ("nosniff", "DENY")
    assert (answer["referrer-policy"], answer["cache-control"]) == ("no-referrer", "no-store")
    assert not any(name.startswith("access-control") for name in answer)


def test_other_scopes_are_refused(opened: Opened) -> None:
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    asked = {**scope(path="/api/events", headers=opened.good), "type": "websocket"}
    run(opened.guard(asked, receive, send))
    assert [message["type"] for message in sent] == ["websocket.close"]
    with pytest.raises(RuntimeError, match="is not served"):
        run(opened.guard({"type": "webtransport"}, receive, send))


@pytest.mark.parametrize("method", ["OPTIONS", "TRACE", "CONNECT", "PATCH", "DELETE", "get", "BREW"])
def test_other_methods_are_refused(opened: Opened, method: str) -> None:
    assert opened.status(method, "/api/state", {**opened.good, "content-length": "2"}) == 405


def test_the_length_is_checked_before_a_byte_is_read(opened: Opened) -> None:
    async def never() -> dict[str, Any]:
        raise AssertionError("the body was read")

    def refused(path: str, headers: dict[str, str]) -> int:
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        run(opened.guard(scope("PUT", path, {**opened.good, **headers}), never, send))
        return int(sent[0]["status"])

    assert refused("/api/settings", {"content-length": str(MOST_JSON + 1)}) == 413
    assert refused(UPLOAD, {"content-length": str((1 << 21) + 1)}) == 413
    for length in ("-1", "1e3", "", "9" * 30, "0x10"):
        assert refused("/api/settings", {"content-length": length}) in (411, 413)
    assert refused("/api/settings", {}) == 411
    assert refused("/api/settings", {"content-length": "2", "transfer-encoding": "chunked"}) == 411


def test_a_body_that_is_longer_than_announced_is_cut_off(opened: Opened) -> None:
    asked = scope("PUT", "/api/settings", {**opened.good, "content-length": "2"})
    status, _, body = call(opened.guard, asked, b"x" * (MOST_JSON + 1))
    assert (status, b"longer than announced" in body) == (413, True)


def test_long_addresses_and_double_headers_are_refused(opened: Opened) -> None:
    assert opened.status("GET", f"/api/recipes?x={'y' * LONGEST_ADDRESS}", opened.good) == 414
    asked = scope("GET", "/api/state", opened.good)
    for name in ("host", "cookie"):
        doubled = {**asked, "headers": [*asked["headers"], (name.encode(), opened.good[name].encode())]}
        assert call(opened.guard, doubled)[0] == 400


def test_an_error_inside_is_a_sentence(opened: Opened, capsys: pytest.CaptureFixture[str]) -> None:
    async def broken(*_: Any) -> None:
        raise KeyError("a secret of the program")

    guard = Guard(broken, PORT)
    cookie = call(guard, scope(path=f"/?token={guard.token}", headers={"host": HOST}))[1]["set-cookie"].split(";")[0]
    status, _, body = call(guard, scope(path="/api/state", headers={"host": HOST, "cookie": cookie}))
    assert status == 500
    assert "secret" not in body.decode()
    assert json.loads(body)["error"].startswith("This went wrong inside the program")
    assert "a secret of the program" in capsys.readouterr().err


def test_the_page_has_no_inline_script_and_loads_from_here_only(opened: Opened) -> None:
    text = call(opened.guard, scope("GET", "/", opened.good))[2].decode()
    assert "{{" not in text
    for script in text.split("<script")[1:]:
        assert 'src="/static/' in script.split(">")[0]
        assert script.split(">", 1)[1].startswith("</script>")
    assert "style=" not in text
    assert "http://" not in text
    assert "https://" not in text
    for name in [part.split('"')[0] for part in text.split("/static/")[1:]]:
        status, headers, _ = call(opened.guard, scope("GET", f"/static/{name}", opened.good))
        assert (status, headers["content-type"].split(";")[0]) == (
            200,
            "text/css" if name.endswith("css") else "text/javascript",
        )


@pytest.mark.parametrize(
    "name", ["../guard.py", "..%2fguard.py", "page.py", "report-page.py", "", "index.html", "C:\\x"]
)
def test_no_path_is_taken_from_the_browser(opened: Opened, name: str) -> None:
    assert opened.status("GET", f"/static/{name}", opened.good) == 404
