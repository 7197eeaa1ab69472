"""Run the tests on every Python that is supported and installed here: from the path, or from pyenv.

    python tools/pythons.py                             # 3.10 to 3.14, the tests that are not slow
    python tools/pythons.py 3.10 -- tests/ci -x         # one of them, some tests
    python tools/pythons.py --constraints oldest 3.10   # with the oldest dependencies (packaging/constraints)

Each has an environment of its own, .venv-pythons/VERSION, into which the package is built. A Python that is not there
is named and left out; what is found wrong on any makes the exit code 1.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VERSIONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
USUAL = ("-m", "not slow", "tests")


def interpreter(version: str) -> str | None:
    """Return the interpreter of a version: on the path if it runs, else the newest that pyenv has."""
    folder = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    own = sorted(folder.glob(f"{version}.*/bin/python"), key=lambda path: int(path.parts[-3].rsplit(".", 1)[1]))
    for found in (shutil.which(f"python{version}"), *map(str, reversed(own))):
        if found and subprocess.run([found, "-c", ""], capture_output=True, check=False).returncode == 0:
            return found
    return None


def tested(version: str, python: str, constraints: str | None, tests: list[str]) -> bool:
    """Build the package into an environment, and run tests there."""
    folder = ROOT / ".venv-pythons" / "-".join(filter(None, (version, constraints)))
    own = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    limits = ["-c", str(ROOT / "packaging" / "constraints" / f"{constraints}.txt")] if constraints else []
    subprocess.run([python, "-m", "venv", "--clear", str(folder)], check=True)
    install = [str(own), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if subprocess.run([*install, f"{ROOT}[test]", *limits], check=False).returncode:
        return False
    return subprocess.run([str(own), "-m", "pytest", "-q", *tests], cwd=ROOT, check=False).returncode == 0


def main() -> None:
    """Run the tests on each Python, and say how each did."""
    words = sys.argv[1:]
    tests = words[words.index("--") + 1 :] if "--" in words else list(USUAL)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("versions", nargs="*", default=VERSIONS)
    parser.add_argument("--constraints", choices=("oldest", "newest"))
    asked = parser.parse_args(words[: words.index("--")] if "--" in words else words)
    outcomes: dict[str, str] = {}
    for version in asked.versions:
        python = interpreter(version)
        passed = python is not None and tested(version, python, asked.constraints, tests)
        outcomes[version] = "not installed here" if python is None else "passed" if passed else "FAILED"
    for version, outcome in outcomes.items():
        print(f"Python {version}: {outcome}")
    sys.exit(int("FAILED" in outcomes.values()))


if __name__ == "__main__":
    main()
