"""The addresses of the app. Everything behind them has passed :mod:`~lmarvel.app.guard`; what comes in is data only."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import cache
from http import HTTPStatus
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from lmarvel.app.guard import Refused
from lmarvel.app.project import Stale, ending_of
from lmarvel.app.service import Service
from lmarvel.errors import LMarvelError, SettingsError, WorkerError
from lmarvel.report.page import SCRIPTS, STYLES, as_json
from lmarvel.text import sentence

UPLOAD = "/api/table"
# Scripts and styles by the names that the page asks for; the report's own are served as they are. Nothing else is read.
OWN_SCRIPTS = ("app.js", "state.js", "table.js", "know.js", "learn.js", "graph.js", "take.js", "ui.js")
OWN_STYLES = ("app.css",)
STATIC: Mapping[str, tuple[str, str]] = {
    **{f"report-{name}": ("lmarvel.report", f"scripts/{name}") for name in SCRIPTS if name != "start.js"},
    **{f"report-{name}": ("lmarvel.report", f"styles/{name}") for name in STYLES},
    **{name: ("lmarvel.app", f"static/{name}") for name in (*OWN_SCRIPTS, *OWN_STYLES)},
}
_KINDS = {"js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8"}
Handler = Callable[[Request, Service], Awaitable[Response]]


def application(service: Service, stop: Callable[[str], None]) -> Starlette:
    """Return the routes over a service; ``stop`` ends the server."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> Any:
        service.begin()
        yield
        await service.end()

    def route(path: str, handler: Handler, *methods: str) -> Route:
        async def answer(request: Request) -> Response:
            if path != "/api/events":
                service.events.touch()
            try:
                return await handler(request, service)
            except Stale as error:
                return _error(error, HTTPStatus.CONFLICT)
            except WorkerError as error:
                return _error(error, HTTPStatus.SERVICE_UNAVAILABLE)
            except LMarvelError as error:
                return _error(error, HTTPStatus.BAD_REQUEST)

        return Route(path, answer, methods=list(methods))

    async def stopping(request: Request, service: Service) -> Response:
        service.events.tell("stopping", why="The app was stopped from a window.")
        stop("stopped from a window")
        return JSONResponse({})

    routes: list[BaseRoute] = [
        route("/", _index, "GET"),
        route("/static/{name}", _static, "GET"),
        route("/api/state", _state, "GET"),
        route("/api/events", _events, "GET"),
        route("/api/described", _described, "GET"),
        route("/api/bundled", _bundled, "POST"),
        route(UPLOAD, _table, "POST"),
        route("/api/settings", _settings, "PUT"),
        route("/api/statements", _statements, "PUT"),
        route("/api/learn", _learn, "POST"),
        route("/api/cancel", _cancel, "POST"),
        route("/api/ask", _ask, "POST"),
        route("/api/runs/{number:int}/page", _page, "GET"),
        route("/api/runs/{number:int}/files/{kind}", _file, "GET"),
        route("/api/compare/{first:int}/{second:int}", _compare, "GET"),
        route("/api/recipes", _recipes, "GET"),
        route("/api/stop", stopping, "POST"),
    ]
    handlers: dict[Any, Any] = {HTTPException: _http_error, Refused: _refused, ClientDisconnect: _left}
    return Starlette(routes=routes, lifespan=lifespan, exception_handlers=handlers)


def _error(error: LMarvelError, status: HTTPStatus) -> JSONResponse:
    return _json({"error": sentence(str(error))}, status)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _json({"error": f"{HTTPStatus(error.status_code).phrase}."}, HTTPStatus(error.status_code))


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    return _json({"error": error.why}, error.status)


async def _left(request: Request, error: Exception) -> Response:
    return _json({"error": "The window was closed while it sent something."}, HTTPStatus.BAD_REQUEST)


def _json(plain: Any, status: HTTPStatus = HTTPStatus.OK) -> JSONResponse:
    response = JSONResponse(None, status_code=int(status))
    response.body = as_json(plain).encode("ascii")  # which has no number that JSON has not, and no lone surrogate
    response.headers["content-length"] = str(len(response.body))
    return response


async def _body(request: Request) -> dict[str, Any]:
    """Return the JSON object that a request holds; anything else is refused."""
    try:
        plain = json.loads((await request.body()).decode("utf-8"), parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise SettingsError("this is not JSON") from None
    if not isinstance(plain, dict):
        raise SettingsError("a JSON object is needed")
    return plain


def _no_number(name: str) -> None:
    raise ValueError(name)


# --- the page -------------------------------------------------------------------------------------------------------


async def _index(request: Request, service: Service) -> Response:
    return HTMLResponse(_index_text())


@cache
def _index_text() -> str:
    """Return the page of the app; the report's own markup stands in it as a template."""
    report = _text("lmarvel.report", "page.html")
    inner = report.split("<main>")[1].split("</main>")[0]
    styles = "".join(f'<link rel="stylesheet" href="/static/{name}">\n' for name in STATIC if name.endswith(".css"))
    shared = [name for name in STATIC if name.startswith("report-") and name.endswith(".js")]
    scripts = "".join(f'<script defer src="/static/{name}"></script>\n' for name in shared)
    page = _text("lmarvel.app", "static/index.html")
    return page.replace("{{styles}}", styles).replace("{{scripts}}", scripts).replace("{{report}}", inner)


@cache
def _text(package: str, name: str) -> str:
    return resources.files(package).joinpath(name).read_text(encoding="utf-8").replace("\r\n", "\n")


async def _static(request: Request, service: Service) -> Response:
    name = request.path_params["name"]
    if name not in STATIC:
        raise HTTPException(404)
    return Response(_text(*STATIC[name]), headers={"content-type": _KINDS[name.rpartition(".")[2]]})


async def _events(request: Request, service: Service) -> Response:
    return StreamingResponse(service.events.stream(), media_type="text/event-stream")


async def _state(request: Request, service: Service) -> Response:
    return _json(await service.state())


# --- steps ----------------------------------------------------------------------------------------------------------


async def _table(request: Request, service: Service) -> Response:
    """Take a table: its content is the body, and its name, from which only the ending is used, a header."""
    name = unquote(request.headers.get("x-name", ""), errors="replace")
    ending_of(name)
    came = await run_in_threadpool(service.project.new_table)
    try:
        with came.open("wb") as file:
            async for piece in request.stream():
                await run_in_threadpool(file.write, piece)
        if not came.stat().st_size:
            raise SettingsError("the file is empty")
        await service.take_table(came, name)
    except OSError as error:
        raise SettingsError(f"the table cannot be kept: {error.strerror or error}") from None
    finally:
        came.unlink(missing_ok=True)
    return _json({})


async def _bundled(request: Request, service: Service) -> Response:
    await service.take_bundled((await _body(request)).get("name"))
    return _json({})


async def _described(request: Request, service: Service) -> Response:
    return _json(await service.described())


async def _settings(request: Request, service: Service) -> Response:
    return _json(await service.write_settings(await _body(request)))


async def _statements(request: Request, service: Service) -> Response:
    return _json(await service.write_statements(await _body(request)))


async def _learn(request: Request, service: Service) -> Response:
    return _json(await service.learn())


async def _cancel(request: Request, service: Service) -> Response:
    return _json(await service.cancel())


async def _ask(request: Request, service: Service) -> Response:
    return _json(await service.ask(await _body(request)))


async def _page(request: Request, service: Service) -> Response:
    return FileResponse(await service.page(request.path_params["number"]), media_type="application/json")


async def _file(request: Request, service: Service) -> Response:
    path: Path = await service.export(request.path_params["number"], request.path_params["kind"])
    name = f"{path.stem}-{request.path_params['number']}{path.suffix}"
    return FileResponse(path, media_type="application/octet-stream", filename=name)


async def _compare(request: Request, service: Service) -> Response:
    return _json(await service.compare(request.path_params["first"], request.path_params["second"]))


async def _recipes(request: Request, service: Service) -> Response:
    """Return the commands of a run; the query names it, and perhaps two variables."""
    query = request.query_params
    number = query.get("run", "")
    if number and not (number.isdecimal() and number.isascii() and len(number) < 9):
        raise SettingsError("a run is a number")
    pair = (query["x"], query["y"]) if "x" in query and "y" in query else None
    return _json(await service.recipes(int(number) if number else None, pair))
