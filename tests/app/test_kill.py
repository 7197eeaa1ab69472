"""A kill at any moment loses nothing that had been saved, and the project opens again."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lmarvel.app.project import Project
from lmarvel.app.settings import LearnSettings
from lmarvel.datasets import CARS

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")


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
            assert response.status == 200, answer
            return answer
        finally:
            connection.close()

    def workers(self) -> list[int]:
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(pid) for pid in children.read_text().split()] if children.exists() else []

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


def survives(folder: Path, rng: random.Random, server: bool) -> None:
    """Write, learn, and kill the server or a worker at a random moment; then open the project again."""
    app = Process(folder)
    saved = {"alpha": None, "text": None}
    deadline = time.monotonic() + rng.uniform(0.3, 4.0)
    try:
        with contextlib.suppress(OSError, http.client.HTTPException):
            app.ask("POST", "/api/learn", {})
            turn = 0
            while time.monotonic() < deadline:
                state: dict[str, dict[str, object]] = app.ask("GET", "/api/state")  # type: ignore[assignment]
                turn += 1
                alpha = round(rng.uniform(0.001, 0.2), 6)
                learn = {**state["settings"]["learn"], "alpha": alpha}  # type: ignore[dict-item]
                app.ask("PUT", "/api/settings", {"revision": state["settings"]["revision"], "learn": learn})
                saved["alpha"] = alpha
                text = f"# {turn}\ntiers: Cylinders < Weight"
                app.ask("PUT", "/api/statements", {"revision": state["statements"]["revision"], "text": text})
                saved["text"] = text
            if not server:
                for pid in app.workers():
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                assert app.ask("GET", "/api/state")["project"]  # the app goes on without them
                assert app.ask("GET", "/api/described")["rows"] == 392
    finally:
        app.end()
    project = Project(folder)
    if saved["alpha"] is not None:
        assert project.settings[0].learn.alpha == saved["alpha"]
    if saved["text"] is not None:
        assert project.statements[0] == saved["text"]
    assert project.table(project.settings[0]).read_bytes() == CARS.read_bytes()
    for run in project.runs():
        assert run.about["edges"]
        assert json.loads(run.file("result.json").read_text(encoding="utf-8"))
    project.write_settings(project.settings[1], learn=LearnSettings())
    project.close()


@pytest.mark.parametrize("server", [True, False])
def test_a_kill_loses_nothing_that_was_saved(tmp_path: Path, server: bool) -> None:
    survives(tmp_path / "p", random.Random(int(server)), server)


@pytest.mark.slow
def test_many_kills_lose_nothing_that_was_saved(tmp_path: Path) -> None:
    rng = random.Random(7)
    for turn in range(32):  # with those of the commands, 200 moments (tests/cli/test_interrupted.py)
        survives(tmp_path / "p", rng, server=turn % 2 == 0)
    project = Project(tmp_path / "p")
    assert not [*(tmp_path / "p").rglob(".lmarvel-*")]
    project.close()
