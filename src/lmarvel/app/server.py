"""Start the app: a project, a server on this computer only, and a browser."""

from __future__ import annotations

import asyncio
import filecmp
import socket
import sys
import tempfile
import threading
import time
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from pathlib import Path

import uvicorn

from lmarvel.app.guard import Guard
from lmarvel.app.project import SETTINGS, Project, ending_of
from lmarvel.app.routes import UPLOAD, application
from lmarvel.app.service import Service
from lmarvel.budget.memory import share
from lmarvel.errors import DataError, OutputError
from lmarvel.text import command_of, readable

FOLDER_ENDING = ".lmarvel"
UNNAMED = "untitled"
ALONE = 10 * 60.0  # seconds after which an app without a window stops
_LOOK = 1.0  # seconds between two looks whether the app is idle


@dataclass(frozen=True)
class Limits:
    """What a run may use, and how long the app waits for somebody to use it.

    Attributes
    ----------
    memory : float, optional
        GB of memory; by default three quarters of what is free when the app starts.
    seconds : float, optional
        How long a run may take; by default there is no limit.
    idle : float
        Seconds without use after which the app stops; without a window, at most ten minutes.
    """

    memory: float | None = None
    seconds: float | None = None
    idle: float = 3600.0

    @property
    def bytes(self) -> int:
        """The most bytes of a child process."""
        return share() if self.memory is None else int(self.memory * 1e9)


def project_for(table: Path | None, folder: Path | None, bundled: Path | None = None) -> tuple[Path, Path | None]:
    """Return the folder of the project, and the table to begin with, from what was typed.

    Examples
    --------
    >>> folder, table = project_for(Path("data/survey.csv"), None)
    >>> print(folder, table.name, project_for(None, None)[0])
    survey.lmarvel survey.csv untitled.lmarvel
    """
    if table is not None and bundled is None and table.is_dir():
        if not (table / SETTINGS).is_file():
            raise DataError(f"{readable(str(table))} is a folder, and not a project: name a file with a table")
        if folder is not None:
            raise DataError("a project and --project are given: leave one out")
        return table, None
    source = bundled or table
    if source is not None:
        stem = source.name[: -len(ending_of(source.name))] or UNNAMED
        return folder or Path(stem + FOLDER_ENDING), source
    return folder or Path(UNNAMED + FOLDER_ENDING), None


class Running:
    """A server with its project, ready to run."""

    def __init__(self, folder: Path, table: Path | None = None, limits: Limits | None = None, port: int = 0) -> None:
        limits = limits or Limits()
        if table is not None and not table.is_file():
            raise DataError(f"there is no file {readable(str(table))}")
        self.socket = _listening(port)
        self.port: int = self.socket.getsockname()[1]
        self.project = Project(folder)
        self.service = Service(self.project, limits.bytes, limits.seconds)
        if table is not None and not self._has(table):
            self.project.take_table(self.service.copied(table), table.name)
        self.guard = Guard(application(self.service, self.stop), self.port, (UPLOAD,))
        self.limits, self.why = limits, ""
        config = uvicorn.Config(
            self.guard,
            log_level="critical",
            access_log=False,
            server_header=False,
            ws="none",
            lifespan="on",
            proxy_headers=False,
            h11_max_incomplete_event_size=1 << 16,
            timeout_keep_alive=5,
            timeout_graceful_shutdown=2,
            limit_concurrency=100,
        )
        self.server = uvicorn.Server(config)

    def _has(self, table: Path) -> bool:
        """Tell whether the project has this table already, so that it opens as it was."""
        settings, _ = self.project.settings
        if settings.file is None or settings.name != table.name:
            return False
        kept = self.project.folder / "tables" / settings.file
        return kept.is_file() and filecmp.cmp(kept, table, shallow=False)

    @property
    def address(self) -> str:
        """The address that lets one browser in, once."""
        return f"http://127.0.0.1:{self.port}/?token={self.guard.token}"

    def stop(self, why: str) -> None:
        """Stop the server; ``why`` is what to say."""
        self.why = self.why or why
        self.service.events.close()
        self.server.should_exit = True

    def run(self, started: Callable[[], None] = lambda: None) -> None:
        """Serve until somebody stops it, or nobody uses it; ``started`` is called when it serves."""
        asyncio.run(self._serve(started))

    async def _serve(self, started: Callable[[], None]) -> None:
        watching = asyncio.create_task(self._watch(started))
        try:
            await self.server.serve([self.socket])
        finally:
            watching.cancel()
            self.socket.close()

    async def _watch(self, started: Callable[[], None]) -> None:
        """Say when the app serves; stop it when nobody uses it."""
        while not self.server.started:
            await asyncio.sleep(0.01)
        started()
        events = self.service.events
        while True:
            await asyncio.sleep(_LOOK)
            now, busy = time.monotonic(), self.service.job is not None
            unused, alone = now - events.used, now - max(events.left, events.used)
            left = not events.windows and alone > min(ALONE, self.limits.idle)
            if not busy and (unused > self.limits.idle or left):
                why = f"nobody used it for {_minutes(unused)}"
                events.tell("stopping", why=f"The app stopped, because {why}.")
                self.stop(why)
                return


def serve(folder: Path, table: Path | None, limits: Limits, browser: bool) -> None:
    """Run the app until it ends, and say on the terminal where it is, and why it ended."""
    running = Running(folder, table, limits)
    shown = readable(str(running.project.folder))

    def started() -> None:
        print(f"lmarvel app: project {shown}")
        print(f"Open this address once, on this computer: {running.address}")
        print("Ctrl-C stops the app. Everything is saved as you go.", flush=True)
        if browser:
            doors.append(door_of(running.project.folder, running.address))
            threading.Thread(target=webbrowser.open, args=(doors[0].as_uri(),), daemon=True).start()  # may not return

    doors: list[Path] = []
    with suppress(KeyboardInterrupt):
        running.run(started)
    for door in doors:
        door.unlink(missing_ok=True)
    again = command_of(["app", str(running.project.folder)])
    print(f"lmarvel app: {running.why or 'stopped'}. Open the project again with: {again}", file=sys.stderr)


def door_of(folder: Path, address: str) -> Path:
    """Return a page that only this user can read, and that leads to the app.

    The browser is given this file and not the address, because other users of a computer can read command lines.
    """
    handle, path = tempfile.mkstemp(prefix="open-", suffix=".html", dir=folder)
    with open(handle, "w", encoding="utf-8") as page:
        page.write(
            f'<!doctype html><title>lmarvel</title><meta http-equiv="refresh" content="0; url={escape(address)}">'
        )
    return Path(path)


def _listening(port: int) -> socket.socket:
    """Return a socket that only this computer reaches."""
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        made.bind(("127.0.0.1", port))
    except OSError as error:
        made.close()
        raise OutputError(f"cannot listen at port {port}: {error.strerror or error}") from None
    return made


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.0f} minutes" if seconds >= 90 else f"{seconds:.0f} seconds"
