"""What the app does, without HTTP: the project, the two workers, the run that is going on, and what windows are told.

One worker learns. The other does everything short (looking through a table, checking statements, answering questions,
writing files), so that the page answers while a graph is learned.
"""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool

from lmarvel.app.changes import compared
from lmarvel.app.events import Events
from lmarvel.app.project import ENDINGS, Project, Run, Stale, ending_of
from lmarvel.app.recipes import recipes
from lmarvel.app.settings import LEARNERS, LearnSettings, Settings, TableSettings
from lmarvel.app.tables import as_set
from lmarvel.app.tasks import EXPORTS
from lmarvel.app.worker import Cancelled, Worker
from lmarvel.ci.registry import TESTS
from lmarvel.datasets import BUNDLED
from lmarvel.errors import LMarvelError, SettingsError
from lmarvel.text import readable, sentence
from lmarvel.version import __version__

SHORT, READING = 120.0, 900.0  # seconds that a task of the second worker may take, and a look through a table
LONGEST_NAME = 200  # letters of a table's name


class Service:
    """The app behind the routes.

    Parameters
    ----------
    project : Project
        The folder that is worked in.
    memory : int
        The most bytes that a child process may use; 0 for no limit.
    seconds : float, optional
        How long a run may take.
    """

    def __init__(self, project: Project, memory: int = 0, seconds: float | None = None) -> None:
        self.project, self.events, self._seconds = project, Events(), seconds
        self.learner, self.helper = Worker(memory, project.folder), Worker(memory, project.folder)
        self.job: dict[str, Any] | None = None
        self.last: dict[str, Any] | None = None  # how the last run ended
        self._running: asyncio.Task[None] | None = None
        self._warming: set[asyncio.Task[Any]] = set()
        self._described: tuple[tuple[str, str], Any] | None = None

    def begin(self) -> None:
        """Start the workers, so that the first task does not wait for them."""

        self._keep(self._warm(self.helper, self.learner))

    async def _warm(self, *workers: Worker) -> None:
        with suppress(Cancelled, OSError):  # who needs one that could not start hears of it
            for worker in workers:
                await worker.start()

    def _keep(self, work: Coroutine[Any, Any, Any]) -> None:
        task = asyncio.create_task(work)
        self._warming.add(task)
        task.add_done_callback(self._warming.discard)

    async def end(self) -> None:
        """End what is going on, and the workers."""
        self.events.close()
        await asyncio.gather(self.learner.close(), self.helper.close())
        tasks = [*self._warming, *([self._running] if self._running else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self.project.close()

    # --- what is shown ------------------------------------------------------------------------------------------

    async def state(self) -> dict[str, Any]:
        """Return everything that a window shows when it is opened."""
        return await run_in_threadpool(self._state)

    def _state(self) -> dict[str, Any]:
        (settings, revision), (text, statements) = self.project.settings, self.project.statements
        return {
            "version": __version__,
            "project": {"name": self.project.name, "folder": str(self.project.folder)},
            "table": None if settings.file is None else {"name": settings.name, "file": settings.file},
            "settings": {"revision": revision, "table": settings.table.to_dict(), "learn": settings.learn.to_dict()},
            "statements": {"revision": statements, "text": text},
            "runs": [_listed(run) for run in self.project.runs()],
            "log": self.project.log(),
            "job": self.job,
            "last": self.last,
            "bundled": list(BUNDLED),
            "endings": list(ENDINGS),
            "methods": list(LEARNERS),
            "tests": {name: test.use for name, test in TESTS.items()},
            "exports": EXPORTS,
        }

    async def described(self) -> dict[str, Any]:
        """Return what the table holds, as it is read now."""
        settings, _ = await run_in_threadpool(lambda: self.project.settings)
        table = str(self.project.table(settings))
        said = settings.table
        key = table, repr((said.categorical, said.ordinal, said.na))
        if self._described is None or self._described[0] != key:
            found = await self.helper.run("describe", {"table": table, "said": said.to_dict()}, seconds=READING)
            self._described = key, found
        return as_set(self._described[1], said)

    # --- changes ------------------------------------------------------------------------------------------------

    async def take_table(self, came: Path, name: str) -> None:
        """Make a file that came in the table of the project."""
        short = " ".join(name.replace("\\", "/").rpartition("/")[2].split())[-LONGEST_NAME:]
        await run_in_threadpool(self.project.take_table, came, short)
        self.events.tell("table")

    async def take_bundled(self, name: Any) -> None:
        """Take a table that comes with the package."""
        if not isinstance(name, str) or name not in BUNDLED:
            raise SettingsError(f"the bundled tables are: {', '.join(BUNDLED)}")
        came = await run_in_threadpool(self.copied, BUNDLED[name])
        await self.take_table(came, BUNDLED[name].name)

    def copied(self, path: Path) -> Path:
        """Copy a file into the project."""
        ending_of(path.name)
        came = self.project.new_table()
        try:
            shutil.copyfile(path, came)
        except OSError as error:
            came.unlink(missing_ok=True)
            raise SettingsError(f"cannot read {readable(str(path))}: {error.strerror or error}") from None
        return came

    async def write_settings(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Write settings that came from a window."""
        table = TableSettings.of(given["table"]) if "table" in given else None
        learn = LearnSettings.of(given["learn"]) if "learn" in given else None
        revision = await self._stale(self.project.write_settings, _revision(given), table, learn)
        self.events.tell("settings", revision=revision)
        return {"revision": revision}

    async def write_statements(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Write statements that came from a window, and say what is wrong with them."""
        settings, _ = await run_in_threadpool(lambda: self.project.settings)
        edit, now = given.get("edit"), (await run_in_threadpool(lambda: self.project.statements))[0]
        text = now if edit is not None else given.get("text")
        if not isinstance(text, str) or not (edit is None or isinstance(edit, dict)):
            raise SettingsError("statements are a text")
        names = [] if settings.file is None else (await self.described())["kept"]
        found: dict[str, Any] = await self.helper.run(
            "check", {"text": text, "edit": edit, "names": names}, seconds=SHORT
        )
        found["revision"] = await self._stale(self.project.write_statements, found["text"], _revision(given))
        if found["text"] != now and not found["error"]:
            stated = "; ".join(one["text"] for one in found["statements"])
            await run_in_threadpool(self.project.note, f"Statements: {stated or 'none'}")
        self.events.tell("statements", revision=found["revision"])
        return found

    async def _stale(self, write: Any, *arguments: Any) -> str:
        try:
            revision: str = await run_in_threadpool(write, *arguments)
        except UnicodeEncodeError:
            raise SettingsError("this holds characters that cannot be saved as text") from None
        return revision

    # --- runs ---------------------------------------------------------------------------------------------------

    async def learn(self) -> dict[str, Any]:
        """Begin a run; windows hear how it goes on."""
        if self.job is not None:
            raise SettingsError("a run is going on: cancel it, or wait for its end")
        self.job = {"phase": "Starting", "done": 0, "total": 1, "seconds": 0.0, "begun": time.time()}
        try:
            folder = await run_in_threadpool(self.project.new_run)
        except BaseException:
            self.job = None
            raise
        self._running = asyncio.create_task(self._learn(folder))
        self.events.tell("job", job=self.job)
        return {"job": self.job}

    async def _learn(self, folder: Path) -> None:
        """Do a run; however it ends, the windows hear of it."""
        ended: dict[str, Any] = {"run": None, "error": None, "cancelled": False}
        try:
            settings = Settings.from_toml((folder / "settings.toml").read_text(encoding="utf-8"))
            arguments = {
                "table": str(self.project.table(settings)),
                "name": settings.name,
                "said": settings.table.to_dict(),
                "how": settings.learn.to_dict(),
                "statements": (folder / "statements.txt").read_text(encoding="utf-8"),
                "folder": str(folder),
            }
            await self.learner.run("learn", arguments, self._progress, self._seconds)
            ended["run"] = await run_in_threadpool(self.project.take_run, folder)
        except Cancelled:
            ended["cancelled"] = True
            self.project.note("A run was cancelled")
        except LMarvelError as error:
            ended["error"] = sentence(str(error))
            self.project.note(f"A run failed: {error}")
        except OSError as error:
            ended["error"] = f"The run cannot be kept: {error.strerror or error}."
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            self.job, self.last = None, ended
            self.events.touch()
            self.events.tell("ended", **ended)
            if not self.events.closed:
                self._keep(self._warm(self.learner))

    def _progress(self, phase: str, done: int, total: int) -> None:
        if self.job is not None:
            self.job |= {"phase": phase, "done": done, "total": total, "seconds": time.time() - self.job["begun"]}
            self.events.tell("job", job=self.job)

    async def cancel(self) -> dict[str, Any]:
        """End the run that is going on."""
        return {"cancelled": await self.learner.cancel()}

    async def page(self, number: int) -> Path:
        """Return the file that has what the page of a run shows."""
        run: Run = await run_in_threadpool(self.project.run, number)
        return run.file("page.json")

    async def compare(self, first: int, second: int) -> dict[str, Any]:
        """Return what changed between two runs."""
        before, after = [await run_in_threadpool(self.project.run, number) for number in (first, second)]
        try:
            return compared(before.about, after.about)
        except (KeyError, ValueError, TypeError):
            raise SettingsError("one of these runs is damaged: its run.json cannot be read") from None

    async def ask(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Answer a question about two variables of a run."""
        number, x, y = given.get("run"), given.get("x"), given.get("y")
        if not isinstance(number, int) or not isinstance(x, str) or not isinstance(y, str):
            raise SettingsError("a question needs a run and two variables")
        run = await run_in_threadpool(self.project.run, number)
        about = {"result": str(run.file("result.json")), "table": str(self.project.table(run.settings)), "x": x, "y": y}

        def progress(phase: str, done: int, total: int) -> None:
            self.events.tell("asking", phase=phase, done=done, total=total)

        answer: dict[str, Any] = await self.helper.run("ask", about, progress, SHORT)
        await run_in_threadpool(self.project.note, f"Asked run {number}: does {x} affect {y}? {answer['badge']}")
        return answer

    async def export(self, number: int, kind: str) -> Path:
        """Return a file to take away, which is made now."""
        run = await run_in_threadpool(self.project.run, number)
        if kind == "result":
            return run.file("result.json")
        if kind not in EXPORTS:
            raise SettingsError(f"there is no file {readable(kind)}: {', '.join(EXPORTS)}")
        about = {
            "result": str(run.file("result.json")),
            "table": str(self.project.table(run.settings)),
            "kind": kind,
            "title": self.project.name,
            "folder": str(run.folder),
        }
        return run.file(await self.helper.run("export", about, seconds=SHORT))

    async def recipes(self, number: int | None, pair: tuple[str, str] | None) -> list[dict[str, str]]:
        """Return the commands and the Python of every step, of a run or of the settings as they are now."""
        if number is None:
            settings, text = (await run_in_threadpool(lambda: self.project.settings))[0], self.project.statements[0]
            return recipes(settings, text, None, None)
        run = await run_in_threadpool(self.project.run, number)
        return recipes(run.settings, run.statements, number, pair)


def _listed(run: Run) -> dict[str, Any]:
    """Return what a list shows of a run."""
    try:
        about = run.about
    except SettingsError:
        about = {}
    shown = {name: about.get(name) for name in ("verdict", "method", "seconds", "made", "rows", "statements")}
    return {"number": run.number, "table": run.settings.name, "edges": len(about.get("edges") or []), **shown}


def _revision(given: Mapping[str, Any]) -> str:
    revision = given.get("revision")
    if not isinstance(revision, str):
        raise SettingsError("a change needs the revision that it is based on")
    return revision


__all__ = ["Service", "Stale"]
