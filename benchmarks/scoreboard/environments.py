"""An environment per rival, in a cache folder: made once, found again by its name and version."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.metadata import distributions
from pathlib import Path
from types import ModuleType

HERE = Path(__file__).parent
FOLDER = HERE / "rivals"


def rivals() -> dict[str, Path]:
    """Return the files of the rivals by name, ours first."""
    found = {path.stem: path for path in sorted(FOLDER.glob("*.py"))}
    return {"ours": found.pop("ours")} | found


def cache() -> Path:
    """Return the folder of all environments; LMARVEL_RIVALS names another."""
    own = os.environ.get("LMARVEL_RIVALS")
    return Path(own) if own else Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "lmarvel-rivals"


def folder(rival: ModuleType) -> Path:
    """Return where the environment of a rival is, or will be."""
    return cache() / "_".join(f"{name}-{version}" for name, version in rival.PACKAGES.items())


def installed(rival: ModuleType) -> str | None:
    """Return an interpreter that has a rival: that of its environment, or this one; None if neither has it."""
    if not all(rival.PACKAGES.values()):
        return sys.executable
    python = folder(rival) / "bin" / "python"
    if (folder(rival) / "ready").exists() and python.exists():
        return str(python)
    right = rival.PYTHON in (None, f"{sys.version_info.major}.{sys.version_info.minor}")
    here = {found.metadata["Name"] for found in distributions()}
    return sys.executable if right and here.issuperset(rival.PACKAGES) else None


def make(rival: ModuleType) -> str:
    """Make the environment of a rival if it is not there, and return its interpreter."""
    if not all(rival.PACKAGES.values()):
        return sys.executable
    place = folder(rival)
    python = place / "bin" / "python"
    if not (place / "ready").exists():
        shutil.rmtree(place, ignore_errors=True)
        packages = [f"{name}=={version}" for name, version in rival.PACKAGES.items()]
        print(f"installing {', '.join(packages)} in {place}", file=sys.stderr)
        _run(_base(rival.PYTHON), "-m", "venv", str(place))
        _run(str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages)
        (place / "ready").touch()
    return str(python)


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise OSError(f"{' '.join(command[1:4])} failed: {last}")


def _base(wanted: str | None) -> str:
    """Return an interpreter of a version, this one where any will do."""
    if wanted in (None, f"{sys.version_info.major}.{sys.version_info.minor}"):
        return sys.executable
    built = sorted((Path.home() / ".pyenv" / "versions").glob(f"{wanted}.*/bin/python"))
    found = shutil.which(f"python{wanted}") or (str(built[-1]) if built else None)
    if found is None or subprocess.run([found, "-V"], capture_output=True, check=False).returncode != 0:
        found = str(built[-1]) if built else None
    if found is None:
        raise OSError(f"needs Python {wanted}: install it so that python{wanted} is found")
    return found
