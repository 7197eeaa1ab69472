"""Runs on a Dask cluster: a scheduler and two workers, one of which is killed midway."""

import os
import signal
import socket
import subprocess
import sys
import time

import pytest

from tests.cli.running import run_apart, spawn

pytest.importorskip("distributed")
TIMES = ("runtime_s", "total_s")
COMMAND = ("reproduce", "table2", "--reps", "12", "--methods", "lmarvel,mbcs,m3hc", "--progress", "none")


def start(*arguments):
    code = f"from distributed.cli import dask_{arguments[0]} as program; program.main()"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONWARNINGS": "ignore"}
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments[1:]],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
    )


@pytest.fixture
def cluster():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    processes = [start("scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard")]
    options = ("--no-nanny", "--nthreads", "1", "--no-dashboard", "--host", "127.0.0.1")
    processes += [start("worker", address, *options) for _ in range(2)]
    yield address, processes
    for process in processes:
        process.kill()
        process.wait()


def timeless(path):
    lines = [line.split(",") for line in path.read_text().splitlines()]
    drop = [lines[0].index(name) for name in TIMES]
    return [[cell for i, cell in enumerate(line) if i not in drop] for line in lines]


def test_a_cluster_that_loses_a_worker_gives_the_same_rows(tmp_path, cluster):
    address, processes = cluster
    here, there = tmp_path / "here", tmp_path / "there"
    runs = there / "runs.csv"
    with spawn(*COMMAND, "--out", there, "--dask", address) as command:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and (not runs.exists() or len(runs.read_text().splitlines()) < 20):
            time.sleep(0.05)
        done = len(runs.read_text().splitlines()) - 1
        os.kill(processes[1].pid, signal.SIGKILL)
        out, err = command.communicate(timeout=120)
    assert command.returncode == 0, err
    assert 0 < done < 6 * 12 * 3, "the worker should die midway"
    assert "table2.md" in out
    assert run_apart(*COMMAND, "--out", here, "--jobs", "2").code == 0
    assert timeless(runs) == timeless(here / "runs.csv")
