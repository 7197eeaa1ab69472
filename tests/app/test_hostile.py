"""Malformed requests and files: a sentence each, no traceback, no write outside the folder, and the app goes on."""

from __future__ import annotations

import contextlib
import json
import random
import socket
import string
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from lmarvel.datasets import CARS
from tests.app.conftest import Serve
from tests.app.serving import Served

PATHS = [
    "/",
    "/api/state",
    "/api/described",
    "/api/bundled",
    "/api/table",
    "/api/settings",
    "/api/statements",
    "/api/learn",
]
PATHS += ["/api/cancel", "/api/ask", "/api/runs/1/page", "/api/runs/1/files/report", "/api/compare/1/2", "/api/recipes"]
METHODS = ["GET", "POST", "PUT", "HEAD", "DELETE", "OPTIONS", "X" * 40, "\x00"]
STRANGE = [
    "",
    "\x00",
    "../../../etc/passwd",
    "A" * 3000,
    "%00",
    "%2e%2e%2f",
    "\u202e",
    "'; drop",
    "<script>",
    "__class__",
    "-1",
    "1e309",
]


def values(rng: random.Random, depth: int = 3) -> Any:
    """Return any JSON value, of names that the app knows and of others."""
    kind = rng.randrange(8 if depth else 6)
    if kind == 0:
        return rng.choice([None, True, False])
    if kind == 1:
        return rng.choice([0, -1, 1, 2**70, 1e300, 0.5, -0.0])
    if kind in (2, 3, 4, 5):
        return rng.choice(
            [*STRANGE, "auto", "em", "fci", "Weight", "causes", "cars", "".join(rng.choices(string.printable, k=8))]
        )
    if kind == 6:
        return [values(rng, depth - 1) for _ in range(rng.randrange(4))]
    names = [
        "revision",
        "table",
        "learn",
        "text",
        "edit",
        "run",
        "x",
        "y",
        "name",
        "drop",
        "ordinal",
        "na",
        "tiers",
        "kind",
        "about",
        "bootstrap",
    ]
    return {rng.choice(names): values(rng, depth - 1) for _ in range(rng.randrange(5))}


def malformed(rng: random.Random, app: Served) -> bytes:
    """Return the bytes of a request that may be wrong in every part; most have the cookie, so that they get far."""
    path = rng.choice(PATHS)
    if rng.random() < 0.3:
        path = rng.choice(
            [
                path + rng.choice(STRANGE),
                f"/static/{rng.choice(STRANGE)}",
                f"{path}?run={rng.choice(STRANGE)}&x=a&y=b",
                f"/api/runs/{rng.choice(STRANGE)}/page",
            ]
        )
    body = json.dumps(values(rng)).encode()
    if rng.random() < 0.25:
        body = rng.choice(
            [b"", b"{", b"[" * 5000, b"\xff\xfe", b"NaN", b'{"a": Infinity}', bytes(rng.choices(range(256), k=50))]
        )
    headers = {
        "Host": app.host,
        "Cookie": app.cookie,
        "Origin": f"http://{app.host}",
        "X-Lmarvel": "1",
        "Content-Length": str(len(body)),
    }
    if path == "/api/table":
        headers["X-Name"] = rng.choice([*STRANGE, "x.csv", "..%2F..%2Fx.csv", "C:\\x.csv"])
    if rng.random() < 0.2:
        headers[rng.choice(list(headers))] = rng.choice([*STRANGE, "0", "99999999999", "localhost"])
    if rng.random() < 0.1:
        headers["Transfer-Encoding"] = "chunked"
    method = rng.choice(METHODS) if rng.random() < 0.3 else rng.choice(["GET", "POST", "PUT"])
    if method == "GET" and rng.random() < 0.8:
        body = b""
        headers["Content-Length"] = "0"
    lines = [f"{method} {path} HTTP/1.{rng.choice('0112')}", *(f"{name}: {value}" for name, value in headers.items())]
    request = "\r\n".join(lines).encode("utf-8", "replace") + b"\r\n\r\n" + body
    return request[: rng.randrange(len(request))] if rng.random() < 0.05 else request


def answered(app: Served, request: bytes) -> bytes:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", app.running.port), timeout=20) as link:
        link.sendall(request)
        link.shutdown(socket.SHUT_WR)
        pieces = []
        while piece := link.recv(1 << 16):
            pieces.append(piece)
        return b"".join(pieces)
    return b""


def outside(folder: Path) -> set[str]:
    """The files beside a project."""
    return {str(path) for path in folder.parent.rglob("*") if folder not in (path, *path.parents)}


def hammered(app: Served, folder: Path, many: int, seed: int) -> None:
    rng, before, statuses = random.Random(seed), outside(folder), set()
    for _ in range(many):
        request = malformed(rng, app)
        answer = answered(app, request)
        assert b"Traceback" not in answer, request
        assert b'File "' not in answer, request
        if answer:
            status = int(answer.split(b" ", 2)[1])
            assert status != 500, request
            statuses.add(status)
    assert {400, 403} <= statuses
    assert app.get("/api/state")["project"]["folder"] == str(folder)
    assert outside(folder) == before


def test_malformed_requests(serve: Serve, tmp_path: Path) -> None:
    app = serve(CARS)
    app.enter()
    hammered(app, tmp_path / "project", 80, seed=1)


@pytest.mark.slow
def test_a_thousand_malformed_requests(serve: Serve, tmp_path: Path) -> None:
    app = serve(CARS)
    app.enter()
    hammered(app, tmp_path / "project", 1000, seed=2)


# --- files ------------------------------------------------------------------------------------------------------


def damaged(rng: random.Random, tmp_path: Path) -> Iterator[tuple[str, bytes]]:
    """Give files of every kind that are cut, mixed up, or something else altogether."""
    table = pl.read_csv(CARS, infer_schema_length=None)
    table.write_parquet(tmp_path / "x.parquet")
    table.write_ipc(tmp_path / "x.feather")
    whole = {
        ".csv": CARS.read_bytes(),
        ".parquet": (tmp_path / "x.parquet").read_bytes(),
        ".feather": (tmp_path / "x.feather").read_bytes(),
    }
    for name in ("x.parquet", "x.feather"):
        (tmp_path / name).unlink()
    endings = [
        ".csv",
        ".tsv",
        ".txt",
        ".parquet",
        ".feather",
        ".dta",
        ".sav",
        ".por",
        ".sas7bdat",
        ".xpt",
        ".xlsx",
        ".ods",
        ".csv.gz",
    ]
    while True:
        ending = rng.choice(endings)
        content = bytearray(
            rng.choice(list(whole.values())) if rng.random() < 0.4 else whole.get(ending, whole[".csv"])
        )
        way = rng.randrange(6)
        if way == 0:
            content = content[: rng.randrange(len(content))]
        elif way == 1:
            for _ in range(30):
                content[rng.randrange(len(content))] = rng.randrange(256)
        elif way == 2:
            content = bytearray(rng.choices(range(256), k=rng.randrange(1, 3000)))
        elif way == 3:
            content = bytearray(
                rng.choice(
                    [
                        b"\n\n\n",
                        b"a,b\n",
                        b'"',
                        b"a,a\n1,2\n",
                        b",,,\n",
                        b"\xef\xbb\xbf",
                        b"\x00" * 500,
                        b"x\n" + b"1" * 10_000,
                        b"=cmd()\n1\n",
                    ]
                )
            )
        elif way == 4:
            content[:0] = bytes(rng.choices(range(256), k=20))
        yield f"x{ending}", bytes(content)


def fed(app: Served, folder: Path, tmp_path: Path, many: int, seed: int) -> None:
    rng = random.Random(seed)
    files = damaged(rng, tmp_path)
    cases = [next(files) for _ in range(many)]
    before = outside(folder)
    refused = 0
    for name, content in cases:
        headers = {"X-Name": name, "Content-Type": "application/octet-stream"}
        status, answer = app.ask("POST", "/api/table", content, **headers)
        assert status in (200, 400), (name, answer)
        if status == 200:
            status, answer = app.ask("GET", "/api/described")
            assert status in (200, 400, 503), (name, answer)
        refused += status != 200
        assert "Traceback" not in json.dumps(answer)
        assert "error" not in answer or "\n" not in answer["error"]
        assert "inside the program" not in answer.get("error", ""), (name, content[:200], answer)
    assert refused > many // 10
    assert outside(folder) == before
    assert app.send("POST", "/api/bundled", {"name": "cars"}) == {}
    assert app.get("/api/described")["rows"] == 392


def test_malformed_files(serve: Serve, tmp_path: Path) -> None:
    app = serve(CARS)
    app.enter()
    fed(app, tmp_path / "project", tmp_path, 16, seed=1)


@pytest.mark.slow
def test_two_hundred_malformed_files(serve: Serve, tmp_path: Path) -> None:
    app = serve(CARS)
    app.enter()
    fed(app, tmp_path / "project", tmp_path, 200, seed=2)
