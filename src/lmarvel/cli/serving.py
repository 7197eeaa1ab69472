"""The command that opens the app: app."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lmarvel.cli.app import command
from lmarvel.datasets import BUNDLED
from lmarvel.deferred import late
from lmarvel.errors import DataError, ParameterError

server = late("lmarvel.app.server")  # it needs packages that the other commands do without
_NEEDED = ("starlette", "uvicorn", "anyio", "h11")


@command
def app(
    table: Annotated[
        Path | None, typer.Argument(help="A table, cars for the bundled one, or the folder of a project.")
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option("--project", help="The folder of the project; by default the name of the table with .lmarvel."),
    ] = None,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open a browser, or only print the address.")
    ] = True,
    memory: Annotated[
        float | None, typer.Option(help="GB of memory that a run may use; by default 80 % of this computer's.")
    ] = None,
    minutes: Annotated[float | None, typer.Option(help="Minutes that a run may take; by default no limit.")] = None,
    idle: Annotated[float, typer.Option(help="Minutes without use after which the app stops.")] = 60.0,
) -> None:
    """Open the app in a browser: a table, what you know, the graph, questions, files."""
    for name, value in (("memory", memory), ("minutes", minutes), ("idle", idle)):
        if value is not None and not 0 < value < float("inf"):
            raise ParameterError(f"must be a number above 0, not {value:g}", parameter=name)
    try:
        limits = server.Limits(memory, None if minutes is None else 60 * minutes, 60 * idle)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _NEEDED:
            raise
        raise DataError(f"the app needs {error.name}: install it with pip install 'lmarvel[app]'") from None
    bundled = BUNDLED.get(str(table)) if table is not None and not table.exists() else None
    place, source = server.project_for(table, folder, bundled)
    server.serve(place, source, limits, browser)
