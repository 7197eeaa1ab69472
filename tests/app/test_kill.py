"""An interruption or a kill at any moment loses nothing that had been saved, and the project opens again."""

from __future__ import annotations

import contextlib
import http.client
import itertools
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from lmarvel.app.project import Project
from lmarvel.app.settings import LearnSettings
from lmarvel.datasets import CARS

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
KINDS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL, None)  # to the app; or SIGKILL to those who work for it


class Process:
    """The app as a process of its own, as a user starts it."""

    def __init__(self, folder: Path) -> None:
        words = [sys.executable, "-m", "lmarvel", "app", str(CARS), "--project", str(folder), "--no-browser"]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if found := re.search(r"http://127\.0\.0\.1:(\d+)(/\?token=\S+)", line):
                break
        else:
            raise AssertionError("the app did not start")
        self.port = int(found[1])
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", found[2])
        cookie = connection.getresponse().getheader("set-cookie") or ""
        connection.close()
        self.headers = {"Cookie": cookie.split(";")[0], "Origin": f"http://127.0.0.1:{self.port}", "X-Lmarvel": "1"}

    def ask(self, method: str, path: str, body: object = None) -> dict[str, object]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            content = None if body is None else json.dumps(body)
            connection.request(method, path, body=content, headers=self.headers)
            response = connection.getresponse()
            answer: dict[str, object] = json.loads(response.read())
            if response.status == 503 and "ended unexpectedly" in str(answer["error"]):
                raise http.client.HTTPException(answer["error"])  # the worker that did this was killed
            assert response.status == 200, answer
            return answer
        finally:
            connection.close()

    def workers(self) -> list[int]:
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(pid) for pid in children.read_text().split()] if children.exists() else []

    def strike(self, kind: signal.Signals | None) -> None:
        """Send a signal to the app, or kill those who work for it."""
        if kind is not None:
            self.process.send_signal(kind)
            return
        for pid in self.workers():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


class Writer:
    """Somebody who changes the settings and statements of a project, until the app does not answer any more.

    ``alpha`` and ``text`` hold what was saved last, and what may have been: the answer to it did not arrive.
    """

    def __init__(self, app: Process, rng: random.Random) -> None:
        self.app, self.rng = app, rng
        self.alpha: list[float | None] = [None]
        self.text: list[str | None] = [None]

    def write(self, turn: int) -> None:
        state: dict[str, dict[str, object]] = self.app.ask("GET", "/api/state")  # type: ignore[assignment]
        alpha = round(self.rng.uniform(0.001, 0.2), 6)
        learn = {**state["settings"]["learn"], "alpha": alpha}  # type: ignore[dict-item]
        self.alpha.append(alpha)
        self.app.ask("PUT", "/api/settings", {"revision": state["settings"]["revision"], "learn": learn})
        self.alpha = [alpha]
        text = f"# {turn}\ntiers: Cylinders < Weight"
        self.text.append(text)
        self.app.ask("PUT", "/api/statements", {"revision": state["statements"]["revision"], "text": text})
        self.text = [text]


def survives(folder: Path, rng: random.Random, kind: signal.Signals | None) -> None:
    """Write and learn while the app, or a worker, is struck at a random moment; then open the project again."""
    app = Process(folder)
    writer, after = Writer(app, rng), rng.uniform(0.0, 4.0)
    deadline = time.monotonic() + after + (0.3 if kind is None else 60.0)
    blow = threading.Timer(after, app.strike, [kind])
    try:
        with contextlib.suppress(OSError, http.client.HTTPException):
            blow.start()
            app.ask("POST", "/api/learn", {})
            for turn in itertools.takewhile(lambda _: time.monotonic() < deadline, itertools.count(1)):
                writer.write(turn)
        blow.join()
        if kind is None:
            assert app.ask("GET", "/api/state")["project"]  # the app goes on without them
            assert app.ask("GET", "/api/described")["rows"] == 392
            app.strike(signal.SIGKILL)
        code = app.process.wait(60)
    finally:
        app.end()
    assert code == (-signal.SIGKILL if kind in (None, signal.SIGKILL) else 0)
    project = Project(folder)
    if None not in writer.alpha:
        assert project.settings[0].learn.alpha in writer.alpha
    if None not in writer.text:
        assert project.statements[0] in writer.text
    assert project.table(project.settings[0]).read_bytes() == CARS.read_bytes()
    for run in project.runs():
        assert run.about["edges"]
        assert json.loads(run.file("result.json").read_text(encoding="utf-8"))
    project.write_settings(project.settings[1], learn=LearnSettings())
    project.close()


@pytest.mark.parametrize("kind", KINDS)
def test_a_blow_loses_nothing_that_was_saved(tmp_path: Path, kind: signal.Signals | None) -> None:
    survives(tmp_path / "p", random.Random(f"{kind}"), kind)


@pytest.mark.slow
def test_many_blows_lose_nothing_that_was_saved(tmp_path: Path) -> None:
    rng = random.Random(7)
    for turn in range(32):  # with those of the commands, 200 moments (tests/cli/test_interrupted.py)
        survives(tmp_path / "p", rng, KINDS[turn % len(KINDS)])
    project = Project(tmp_path / "p")
    assert not [*(tmp_path / "p").rglob(".lmarvel-*")]
    project.close()
