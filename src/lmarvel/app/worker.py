"""The parent's side of a child process: tasks go in, progress and a result come out, and everything can be ended.

A worker does one task after the other. Its process is kept between tasks, since it takes a second to start. Ending a
task is ending the process: whatever it was doing, it is gone at once, and the next task gets a new one.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from lmarvel.errors import LMarvelError, WorkerError

Progress = Callable[[str, int, int], None]
_LONGEST = 1 << 26  # bytes of a reply
# Isolated, so that no file of the folder it starts in is taken for a module; then with the parent's way to modules.
_START = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from lmarvel.app.child import main
main(int(sys.argv[2]))
"""


class Cancelled(LMarvelError):
    """Somebody ended the task."""


class TaskError(LMarvelError):
    """A task failed; the message says why."""


class Worker:
    """A child process that does tasks."""

    def __init__(self, memory: int = 0, folder: Path | None = None) -> None:
        self._memory, self._folder = memory, folder
        self._process: Process | None = None
        self._turn, self._starting = asyncio.Lock(), asyncio.Lock()
        self._ended, self._closed = "", False  # why the process of the current task was ended, and whether for good

    @property
    def busy(self) -> bool:
        """Whether a task is being done."""
        return self._turn.locked()

    @property
    def pid(self) -> int | None:
        """The process, if there is one."""
        return None if self._process is None else self._process.pid

    async def start(self) -> Process:
        """Start the process, unless it runs; return it when it is ready for tasks."""
        async with self._starting:
            if self._process is not None and self._process.returncode is None:
                return self._process
            if self._closed:
                raise Cancelled("the app is stopping")
            paths = json.dumps([path for path in sys.path if path])
            words = [sys.executable, "-I", "-X", "utf8", "-c", _START, paths, str(self._memory)]
            own: dict[str, Any] = (
                {"creationflags": subprocess.__dict__["CREATE_NEW_PROCESS_GROUP"]}
                if os.name == "nt"
                else {"start_new_session": True}
            )
            process = await asyncio.create_subprocess_exec(
                *words, stdin=PIPE, stdout=PIPE, limit=_LONGEST, cwd=self._folder, **own
            )
            self._process = process
            if self._closed:  # meanwhile
                await self._kill()
            assert process.stdout is not None
            await process.stdout.readline()
            return process

    async def run(
        self, task: str, arguments: Mapping[str, Any], progress: Progress | None = None, seconds: float | None = None
    ) -> Any:
        """Do a task and return what it gives; it waits for those before it.

        Raises :class:`TaskError` with a message where it fails, :class:`Cancelled` where it was cancelled, and
        :class:`lmarvel.errors.WorkerError` where the process died or took longer than ``seconds``.
        """
        async with self._turn:
            self._ended = ""
            process = await self.start()
            assert process.stdin is not None
            try:
                with suppress(ConnectionError):  # it died: the end of its output says so
                    process.stdin.write(json.dumps({"task": task, "with": arguments}).encode("ascii") + b"\n")
                    await process.stdin.drain()
                return await asyncio.wait_for(self._replies(process, progress), seconds)
            except (TimeoutError, asyncio.TimeoutError):
                await self._kill()
                raise WorkerError(
                    f"it took longer than the time limit of {seconds:,.0f} s and was stopped; nothing saved was lost"
                ) from None
            except asyncio.CancelledError:
                await self._kill()
                raise

    async def _replies(self, process: Process, progress: Progress | None) -> Any:
        assert process.stdout is not None
        while True:
            try:
                line = await process.stdout.readline()
            except ValueError:  # a line without an end
                await self._kill()
                raise WorkerError("the answer is too large to show") from None
            if not line:
                raise await self._gone(process)
            reply = json.loads(line)
            if "progress" in reply and progress is not None:
                progress(*reply["progress"])
            elif "error" in reply:
                raise TaskError(reply["error"])
            elif "done" in reply:
                return reply["done"]

    async def _gone(self, process: Process) -> LMarvelError:
        """Return why there is no answer any more."""
        code = await process.wait()
        if self._ended:
            return Cancelled(self._ended)
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        why = ": perhaps it needed too much memory" if code == -9 else ""
        return WorkerError(f"the process that did this ended unexpectedly ({how}{why}); nothing saved was lost")

    async def cancel(self, why: str = "cancelled") -> bool:
        """End what is being done, at once; return whether something was."""
        if not self.busy or self._process is None:
            return False
        self._ended = why
        await self._kill()
        return True

    async def _kill(self) -> None:
        process = self._process
        if process is None or process.returncode is not None:
            return
        with suppress(ProcessLookupError, PermissionError):
            if os.name == "nt":
                process.kill()
            else:
                os.killpg(process.pid, signal.SIGKILL)  # and what it started
        await process.wait()

    async def close(self) -> None:
        """End the process."""
        self._ended, self._closed = "the app is stopping", True
        await self._kill()
