"""How much memory this process can still get: of the machine, of the container or batch job, and of its own limits.

A container sees the memory of the whole machine in ``/proc/meminfo``; what it may use is in its control group
(`cgroup`), of version 2 or 1, and in each group around that one. The smallest of all these counts.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

try:
    import resource
except ImportError:  # Windows has no such limits
    resource = None  # type: ignore[assignment]

_UNKNOWN = float(2**62)
_ROOT = Path("/")


class _Files(NamedTuple):
    """The files of a control group: most memory, memory in use, and what its list calls pages that can be given up."""

    limits: tuple[str, ...]
    used: str
    cached: str


_VERSIONS = {
    "cgroup2": _Files(("memory.max", "memory.high"), "memory.current", "inactive_file"),
    "cgroup": _Files(("memory.limit_in_bytes",), "memory.usage_in_bytes", "total_inactive_file"),
}


def free(root: Path = _ROOT) -> float:
    """Return how many bytes this process can still get; a very large number where nothing says how many.

    Examples
    --------
    >>> free() > 0
    True
    """
    found = min(_of_machine(root), _of_groups(root), *own_limits(root).values())
    return max(found, 0.0) if found < math.inf else _UNKNOWN


def taken(root: Path = _ROOT) -> int:
    """Return how many bytes of memory the process uses; 0 where the system does not say."""
    return _of_process(root, "VmRSS")


def reserved(root: Path = _ROOT) -> int:
    """Return how many bytes the process may write to, as its limit counts them; 0 where the system does not say.

    Much of that is never used: each thread of a library has a stack, and buffers.
    """
    return _of_process(root, "VmData")


def _of_process(root: Path, name: str) -> int:
    with suppress(OSError, ValueError, LookupError):
        return _named(root / "proc/self/status")[name] * 1024
    return 0


def _of_machine(root: Path) -> float:
    with suppress(OSError, ValueError, LookupError):
        return 1024.0 * _named(root / "proc/meminfo")["MemAvailable"]
    with suppress(OSError, ValueError, AttributeError):  # where nothing says what is free: what there is
        return float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    return math.inf


def own_limits(root: Path = _ROOT) -> dict[str, float]:
    """Return what ``ulimit`` leaves, by the letter of its option: ``v``, the address space, and ``d``, data."""
    left = {}
    with suppress(OSError, ValueError, LookupError, AttributeError):
        status = _named(root / "proc/self/status")
        for letter, name, kind in (("v", "VmSize", resource.RLIMIT_AS), ("d", "VmData", resource.RLIMIT_DATA)):
            most = resource.getrlimit(kind)[0]
            if most != resource.RLIM_INFINITY:
                left[letter] = most - 1024.0 * status[name]
    return left


def _of_groups(root: Path) -> float:
    """Return what the control group of this process, and each one around it, leaves."""
    left = math.inf
    for folder, files in _groups(root):
        with suppress(OSError, ValueError, LookupError):
            held = int((folder / files.used).read_text()) - _named(folder / "memory.stat").get(files.cached, 0)
            for name in files.limits:
                with suppress(OSError, ValueError):  # there is none, or it says "max"
                    left = min(left, int((folder / name).read_text()) - held)
    return left


def _groups(root: Path) -> Iterator[tuple[Path, _Files]]:
    """Iterate over the control groups that limit memory, from the process's own to the outermost in sight."""
    with suppress(OSError, ValueError, LookupError):
        lines = (line.split(":", 2) for line in (root / "proc/self/cgroup").read_text().splitlines())
        paths = {"cgroup2" if not names else "cgroup": path for _, names, path in lines if _limits_memory(names)}
        for line in (root / "proc/self/mountinfo").read_text().splitlines():
            before, _, after = line.partition(" - ")
            kind, _, options = after.split(" ", 2)
            if kind in paths and (kind == "cgroup2" or "memory" in options.split(",")):
                within, mounted = before.split()[3:5]
                top = root / mounted.lstrip("/")
                own = paths[kind].removeprefix(within.rstrip("/")).strip("/")
                for folder in _upwards(top, top / own):
                    yield folder, _VERSIONS[kind]


def _limits_memory(controllers: str) -> bool:
    return not controllers or "memory" in controllers.split(",")


def _upwards(top: Path, own: Path) -> Iterator[Path]:
    """Iterate over folders from one's own to the top; one's own is not in sight where a container renames it."""
    folder = own if own.is_dir() and ".." not in own.parts else top
    while folder != top:
        yield folder
        folder = folder.parent
    yield top


def _named(path: Path) -> dict[str, int]:
    """Return the numbers of a file with a name and a number per line."""
    words = (line.replace(":", " ").split() for line in path.read_text().splitlines())
    return {found[0]: int(found[1]) for found in words if len(found) > 1 and found[1].isdigit()}
