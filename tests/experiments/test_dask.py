"""Runs on a Dask cluster: a scheduler and two workers, one of which is killed midway."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.running import run_apart, spawn
from tests.experiments.finished import finished

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
    """Give a function that starts a scheduler and workers, and returns its address and the processes."""
    processes = []

    def begin(workers):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        address = f"tcp://127.0.0.1:{port}"
        processes.append(start("scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"))
        options = ("--no-nanny", "--nthreads", "1", "--no-dashboard", "--host", "127.0.0.1")
        processes.extend(start("worker", address, *options) for _ in range(workers))
        return address, processes

    yield begin
    for process in processes:
        process.kill()
        process.wait()


def wait_for(folder, runs):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and finished(folder) < runs:
        time.sleep(0.05)
    return finished(folder)


def timeless(path):
    lines = [line.split(",") for line in path.read_text().splitlines()]
    drop = [lines[0].index(name) for name in TIMES]
    return [[cell for i, cell in enumerate(line) if i not in drop] for line in lines]


@pytest.mark.slow
def test_a_cluster_that_loses_a_worker_gives_the_same_rows(tmp_path, cluster):
    address, processes = cluster(2)
    here, there = tmp_path / "here", tmp_path / "there"
    runs = there / "runs.csv"
    with spawn(*COMMAND, "--out", there, "--dask", address) as command:
        done = wait_for(there, 20)
        os.kill(processes[1].pid, signal.SIGKILL)
        out, err = command.communicate(timeout=120)
    assert command.returncode == 0, err
    assert 0 < done < 6 * 12 * 3, "the worker should die midway"
    assert "table2.md" in out
    assert run_apart(*COMMAND, "--out", here, "--jobs", "2").code == 0
    assert timeless(runs) == timeless(here / "runs.csv")


def test_a_cluster_with_one_thread_does_the_work_and_its_loss_is_told(tmp_path, cluster):
    address, processes = cluster(1)
    runs = tmp_path / "runs.csv"
    with spawn(*COMMAND, "--out", tmp_path, "--dask", address) as command:
        wait_for(tmp_path, 30)
        done_there = processor_seconds(processes[1].pid)
        processes[0].kill()
        _, err = command.communicate(timeout=120)
    assert done_there > 1.5, "the worker should have done the runs, and not only started"
    assert command.returncode == 2
    assert f"lost the cluster at {address}" in err
    assert "the same command goes on from here" in err
    assert "Traceback" not in err
    assert len(runs.read_text().splitlines()) > 20


def processor_seconds(pid):
    """Return the processor time of a process, after its start."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
