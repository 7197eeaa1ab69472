"""What a process can still get, read from folders that stand for those of the system."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lmarvel.budget import memory
from lmarvel.budget.available import free, taken

GB = 10**9
MACHINE = "MemTotal: 64000000 kB\nMemAvailable: 40000000 kB\n"
V2_MOUNT = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
V1_MOUNT = (
    "31 23 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
    "35 31 0:32 {within} /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
)


def machine(root: Path, groups: str, mounts: str, files: dict[str, object]) -> Path:
    """Write the files of a machine, and return their root."""
    proc = {"meminfo": MACHINE, "self/cgroup": groups, "self/mountinfo": mounts}
    for name, text in ({f"proc/{name}": text for name, text in proc.items()} | files).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(str(text))
    return root


def v2(folder: str, most: object, used: int, cached: int = 0, high: object = "max") -> dict[str, object]:
    at = f"sys/fs/cgroup/{folder}".rstrip("/")
    stat = f"anon {used - cached}\ninactive_file {cached}\n"
    return {
        f"{at}/memory.max": most,
        f"{at}/memory.high": high,
        f"{at}/memory.current": used,
        f"{at}/memory.stat": stat,
    }


def v1(folder: str, most: int, used: int, cached: int = 0) -> dict[str, object]:
    at = f"sys/fs/cgroup/memory/{folder}".rstrip("/")
    limits = {f"{at}/memory.limit_in_bytes": most, f"{at}/memory.usage_in_bytes": used}
    return limits | {f"{at}/memory.stat": f"cache {cached}\ntotal_inactive_file {cached}\n"}


def test_a_machine_without_groups(tmp_path: Path) -> None:
    assert free(machine(tmp_path, "", "", {})) == 40_960_000_000


def test_a_container_of_version_2_sees_its_own_group_at_the_top(tmp_path: Path) -> None:
    assert free(machine(tmp_path, "0::/\n", V2_MOUNT, v2("", 4 * GB, 3 * GB, cached=GB))) == 2 * GB


@pytest.mark.parametrize(
    ("most", "high", "left"), [("max", "max", 5), (8 * GB, "max", 5), (4 * GB, "max", 3), (4 * GB, 2 * GB, 1)]
)
def test_the_smallest_of_a_group_and_those_around_it_counts(
    tmp_path: Path, most: object, high: object, left: int
) -> None:
    files = v2("batch/job", most, GB, high=high) | v2("batch", 6 * GB, GB)
    assert free(machine(tmp_path, "0::/batch/job\n", V2_MOUNT, files)) == left * GB


def test_a_group_of_version_1(tmp_path: Path) -> None:
    files = v1("job", 5 * GB, 2 * GB, cached=GB) | v1("", 2**63 - 4096, 30 * GB)
    root = machine(tmp_path, "5:cpu,cpuacct:/other\n4:memory:/job\n0::/\n", V1_MOUNT.format(within="/"), files)
    assert free(root) == 4 * GB


@pytest.mark.parametrize("within", ["/docker/1f2e", "/"])
def test_a_container_of_version_1_mounts_its_own_group(tmp_path: Path, within: str) -> None:
    root = machine(tmp_path, "4:memory:/docker/1f2e\n", V1_MOUNT.format(within=within), v1("", 3 * GB, GB))
    assert free(root) == 2 * GB


@pytest.mark.parametrize("text", ["", "4:memory\n", "0::/../..\n", ":::\n", "\x00"])
def test_what_cannot_be_read_does_not_matter(tmp_path: Path, text: str) -> None:
    assert free(machine(tmp_path, text, text + V2_MOUNT, {})) == 40_960_000_000


def test_a_group_that_took_more_than_its_limit_leaves_nothing(tmp_path: Path) -> None:
    assert free(machine(tmp_path, "0::/\n", V2_MOUNT, v2("", GB, 2 * GB))) == 0.0


@pytest.mark.skipif(sys.platform != "linux", reason="other systems count otherwise")
def test_limits_of_the_process_count() -> None:
    asked = "from lmarvel.budget.available import free, taken; print(free(), taken())"
    limited = f"ulimit -v 3000000; exec {sys.executable} -c '{asked}'"
    done = subprocess.run(["bash", "-c", limited], capture_output=True, text=True, check=True, env=os.environ)
    left, held = map(float, done.stdout.split())
    assert 0 < left < 3_000_000 * 1024
    assert held > 0


def test_a_command_may_take_what_it_has_and_a_share_of_what_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "free", lambda: 10.0 * GB)
    monkeypatch.setattr(memory, "taken", lambda: GB)
    assert memory.allowed() == 7.5 * GB
    assert memory.share() == 8.5 * GB
    with memory.limited(2 * GB):
        assert memory.allowed() == 2 * GB


@pytest.mark.skipif(sys.platform != "linux", reason="other systems count otherwise")
def test_a_process_has_taken_more_than_nothing() -> None:
    assert taken() > 2**20


@pytest.mark.skipif(sys.platform != "linux", reason="other systems count otherwise")
@pytest.mark.parametrize(("limit", "said"), [("-v 700000", "'ulimit -v' leaves"), ("-d 200000", "'ulimit -d' leaves")])
def test_a_file_is_not_read_where_its_reader_would_abort(tmp_path: Path, limit: str, said: str) -> None:
    (tmp_path / "table.csv").write_text("a,b\n1,2\n2,1\n3,5\n")
    run = f"ulimit {limit}; exec {sys.executable} -c 'from lmarvel.cli import main; main()' learn table.csv"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        ["bash", "-c", run], capture_output=True, text=True, check=False, env=environment, cwd=tmp_path
    )
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
