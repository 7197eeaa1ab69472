"""A running app, and requests to it: through a socket, or straight into the ASGI application."""

from __future__ import annotations

import asyncio
import http.client
import json
import threading
import time
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from lmarvel.app.server import Limits, Running

Result = TypeVar("Result")
JSON = {"Content-Type": "application/json"}


class Served:
    """An app that serves in a thread of its own."""

    def __init__(self, folder: Path, table: Path | None = None, limits: Limits | None = None) -> None:
        self.running = Running(folder, table, limits)
        self.thread = threading.Thread(target=self.running.run, daemon=True)
        self.thread.start()
        while not self.running.server.started:
            assert self.thread.is_alive()
            time.sleep(0.01)
        self.host = f"127.0.0.1:{self.running.port}"
        self.cookie = ""

    def enter(self) -> None:
        """Exchange the token for the cookie, as the browser does."""
        status, headers, _ = self.raw("GET", self.running.address.removeprefix(f"http://{self.host}"))
        assert status == 200
        self.cookie = headers["set-cookie"].split(";")[0]

    def raw(
        self, method: str, path: str, headers: dict[str, str] | None = None, body: bytes | None = None
    ) -> tuple[int, dict[str, str], bytes]:
        """Send a request as it is, and return status, headers and body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.running.port, timeout=120)
        try:
            connection.request(method, path, body=body, headers=headers or {})
            response = connection.getresponse()
            return response.status, {k.lower(): v for k, v in response.getheaders()}, response.read()
        finally:
            connection.close()

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        """Send what the page would send, and return status and answer."""
        own = {"Cookie": self.cookie, "Origin": f"http://{self.host}", "X-Lmarvel": "1", **JSON, **headers}
        content = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
        status, _, answer = self.raw(method, path, own, content)
        return status, json.loads(answer)

    def get(self, path: str) -> Any:
        status, answer = self.ask("GET", path)
        assert status == 200, answer
        return answer

    def send(self, method: str, path: str, body: Any = None) -> Any:
        status, answer = self.ask(method, path, {} if body is None else body)
        assert status == 200, answer
        return answer

    def learned(self) -> int:
        """Learn, and return the number of the run."""
        self.send("POST", "/api/learn")
        while (state := self.get("/api/state"))["job"] is not None:
            time.sleep(0.05)
        assert state["last"]["error"] is None, state["last"]
        number: int = state["last"]["run"]
        return number

    def close(self) -> None:
        self.running.stop("the test is done")
        self.thread.join(30)
        assert not self.thread.is_alive()


def run(work: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine in a thread of its own: a browser of another test may have its loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


def scope(method: str = "GET", path: str = "/", headers: dict[str, str] | None = None, **more: Any) -> dict[str, Any]:
    """Return what a server hands on of a request."""
    named = [(name.lower().encode(), value.encode("latin-1")) for name, value in (headers or {}).items()]
    path, _, query = path.partition("?")
    about = {"type": "http", "method": method, "path": path, "raw_path": path.encode(), "query_string": query.encode()}
    return {**about, "headers": named, "client": ("127.0.0.1", 5000), "scheme": "http", "http_version": "1.1", **more}


def call(app: Any, asked: dict[str, Any], body: bytes = b"") -> tuple[int, dict[str, str], bytes]:
    """Hand a request to an ASGI application, and return status, headers and body."""
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    run(app(asked, receive, send))
    headers = {name.decode().lower(): value.decode("latin-1") for name, value in sent[0].get("headers", [])}
    return sent[0].get("status", 0), headers, b"".join(message.get("body", b"") for message in sent)
