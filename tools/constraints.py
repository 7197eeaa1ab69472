"""The versions of dependencies that are tested: the oldest that pyproject.toml allows, and the newest that were tried.

    python tools/constraints.py             # write both files, the newest from the environment that this runs in
    python tools/constraints.py --check     # exit with 1 if the oldest are not those of pyproject.toml

``packaging/constraints/oldest.txt`` has the first series that each lower bound names, ``newest.txt`` exact versions.
Install with one of them: ``pip install '.[test]' -c packaging/constraints/newest.txt``.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "packaging" / "constraints"
PROJECT = (ROOT / "pyproject.toml").read_text("utf-8")
BESIDE = {"click": "8.1"}  # of what dependencies need: the first series of typer warns with newer ones
_REQUIREMENT = re.compile(r'"([A-Za-z0-9_-]+)(?:\[[^]"]*\])?>=([0-9.]+)(; [^"]*)?"')


def required(*names: str) -> Iterator[tuple[str, str, str]]:
    """Iterate over name, lower bound and marker of the requirements in these lists of the project."""
    for name in names:
        found = re.search(rf"^{name} = \[(.*?)^\]", PROJECT, re.MULTILINE | re.DOTALL)
        assert found is not None, name
        yield from (match.groups(default="") for match in _REQUIREMENT.finditer(found[1]))  # type: ignore[misc]


def oldest() -> str:
    """Return the first series of each dependency of the package itself; tools of the tests are not held back."""
    lines = [f"{name}=={series}.*" for name, series in BESIDE.items()]
    lines += [f"{name}=={bound}.*{marker}" for name, bound, marker in required("dependencies")]
    return "\n".join(sorted(lines, key=str.lower)) + "\n"


def newest() -> str:
    """Return the versions of all dependencies, those of the tests and what these need included, that are installed."""
    waiting = [name for name, _, _ in required("dependencies", "test")]
    found: dict[str, str] = {}
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if name in found or name == "lmarvel":
            continue
        try:
            found[name] = version(name)
            needs = distribution(name).requires or []
        except PackageNotFoundError:  # for another system or Python
            continue
        waiting += [re.split(r"[^A-Za-z0-9._-]", need, maxsplit=1)[0] for need in needs if "extra ==" not in need]
    return "".join(f"{name}=={found[name].split('+')[0]}\n" for name in sorted(found))


def main() -> None:
    """Write the files, or check the one that the project decides."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="only tell whether the oldest are those of the project")
    if parser.parse_args().check:
        sys.exit(int((FOLDER / "oldest.txt").read_text("utf-8") != oldest()))
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "oldest.txt").write_text(oldest(), "utf-8")
    (FOLDER / "newest.txt").write_text(newest(), "utf-8")


if __name__ == "__main__":
    main()
