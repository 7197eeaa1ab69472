"""Work runs in child processes: they can be ended, limited and killed, and none of it ends the app."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lmarvel.app.tasks import check
from lmarvel.app.worker import Cancelled, TaskError, Worker
from lmarvel.datasets import CARS
from lmarvel.errors import WorkerError
from tests.app.serving import run

CHECK: dict[str, Any] = {"text": "A causes B", "edit": None, "names": ["A", "B"]}
POSIX = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")


def long_run(folder: Path) -> dict[str, Any]:
    """A task that takes long: many resamples."""
    how = {"method": "fci", "bootstrap": 100_000}
    return {"table": str(CARS), "name": "x", "said": {}, "how": how, "statements": "", "folder": str(folder)}


def doing(work: Callable[[Worker], Awaitable[None]], memory: int = 0) -> None:
    async def main() -> None:
        worker = Worker(memory)
        try:
            await work(worker)
        finally:
            await worker.close()

    run(main())


async def begun(worker: Worker, folder: Path, seconds: float | None = None) -> asyncio.Task[Any]:
    """Start a long run, and wait until it reports that it learns from resamples."""
    drawn = asyncio.Event()

    def progress(phase: str, done: int, total: int) -> None:
        if phase == "bootstrap":
            drawn.set()

    task = asyncio.create_task(worker.run("learn", long_run(folder), progress, seconds))
    waiting = asyncio.create_task(drawn.wait())
    await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    return task


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@POSIX
def test_a_cancelled_task_is_gone_and_a_killed_process_is_a_message(tmp_path: Path) -> None:
    async def work(worker: Worker) -> None:
        assert (await worker.run("check", CHECK))["error"] is None
        first = worker.pid
        task = await begun(worker, tmp_path)
        assert worker.pid == first  # the process is kept between tasks
        assert await worker.cancel()
        assert first is not None
        assert not is_alive(first)
        with pytest.raises(Cancelled):
            await task
        assert not await worker.cancel()
        task = await begun(worker, tmp_path)
        assert worker.pid not in (None, first)
        os.kill(worker.pid or 0, signal.SIGKILL)
        with pytest.raises(WorkerError, match=r"SIGKILL: perhaps it needed too much memory\); nothing saved was lost"):
            await task
        assert (await worker.run("check", CHECK))["error"] is None

    doing(work)
    assert [*tmp_path.iterdir()] == []


def test_a_task_that_takes_too_long_is_stopped(tmp_path: Path) -> None:
    async def work(worker: Worker) -> None:
        await worker.start()
        with pytest.raises(WorkerError, match="longer than the time limit of 1 s"):
            await worker.run("learn", long_run(tmp_path), seconds=1.0)

    doing(work)


@pytest.mark.skipif(sys.platform != "linux", reason="a limit of memory that holds for allocations")
def test_a_task_beyond_the_memory_limit_fails_and_the_next_one_works(tmp_path: Path) -> None:
    table = tmp_path / "large.csv"
    rows = np.random.default_rng(0).normal(size=(1_000, 300)).round(3)
    some = "\n".join(",".join(map(str, row)) for row in rows.tolist())
    table.write_text("\n".join([",".join(f"v{k}" for k in range(300)), *[some] * 60]), encoding="utf-8")

    async def work(worker: Worker) -> None:
        with pytest.raises((TaskError, WorkerError), match=r"memory|unexpectedly|inside the program"):
            await worker.run("describe", {"table": str(table), "said": {}})
        assert (await worker.run("check", CHECK))["error"] is None

    doing(work, memory=500_000_000)


def test_errors_are_sentences() -> None:
    async def work(worker: Worker) -> None:
        with pytest.raises(TaskError, match=r"^There is no file nowhere.csv\.$"):
            await worker.run("describe", {"table": "nowhere.csv", "said": {}})
        with pytest.raises(TaskError, match=r"inside the program \(KeyError\)"):
            await worker.run("no such task", {})

    doing(work)


@POSIX
def test_a_child_ends_with_its_parent(tmp_path: Path) -> None:
    code = """
import asyncio, os, sys
from lmarvel.app.worker import Worker
async def main():
    worker = Worker()
    await worker.start()
    print(worker.pid, flush=True)
    os.kill(os.getpid(), 9)
asyncio.run(main())
"""

    async def main() -> int:
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE)
        out, _ = await process.communicate()
        return int(out)

    pid = run(main())
    for _ in range(600):
        if not is_alive(pid) or Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
            return
        time.sleep(0.05)
    raise AssertionError("the child is still there")


def test_no_module_is_taken_from_the_folder_of_a_project(tmp_path: Path) -> None:
    for name in ("json", "numpy", "lmarvel", "sitecustomize", "typing"):
        (tmp_path / f"{name}.py").write_text("open('taken', 'w').close()\n", encoding="utf-8")

    async def main() -> None:
        worker = Worker(folder=tmp_path)
        assert (await worker.run("check", CHECK))["error"] is None
        await worker.close()

    run(main())
    assert not (tmp_path / "taken").exists()


@pytest.mark.parametrize(
    ("text", "edit", "expected"),
    [
        ("A causes B\nB causes A\nno selection", None, ["A causes B", "B causes A"]),
        ("tiers: A < B", {"kind": "causes", "about": ["B", "A"]}, ["tiers: A < B", "B causes A"]),
        ("A causes B\nB causes C", {"kind": "not_causes", "about": ["A", "C"]}, None),
        ("A is randomised", {"kind": "causes", "about": ["B", "A"]}, ["B causes A", "A is randomised"]),
    ],
)
def test_contradictions_are_named_with_a_smallest_set(text: str, edit: Any, expected: list[str] | None) -> None:
    found = check(text, edit, ["A", "B", "C"], lambda *_: None)
    assert found["error"].startswith("These statements contradict each other")
    assert sorted(found["conflict"]) == sorted(expected or ["A causes B", "B causes C", "A does not cause C"])


def test_statements_are_edited_as_text() -> None:
    def edited(text: str, edit: Any) -> str:
        found = check(text, edit, ["A", "B b", "C"], lambda *_: None)
        assert found["error"] is None, found
        return str(found["text"])

    assert edited("A causes C", {"tiers": [["A"], ["B b", "C"]]}) == 'tiers: A < "B b", C\nA causes C\n'
    assert edited("tiers: A < C\nno latents", {"tiers": [["A"]]}) == "no latents\n"
    assert edited("A causes C\nno selection", {"remove": "A causes C"}) == "no selection\n"
    assert edited("", {"kind": "selection", "about": []}) == "no selection\n"
    for wrong in ({"kind": "causes", "about": ["A"]}, {"kind": "__class__", "about": []}, {"tiers": "A"}, {}):
        assert check("", wrong, ["A"], lambda *_: None)["error"] is not None
    unknown = check("A causes Z", None, ["A", "B"], lambda *_: None)
    assert "Z" in unknown["error"]
    assert json.dumps(unknown)
