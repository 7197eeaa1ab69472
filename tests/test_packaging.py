"""What is packed: one version, the same dependencies everywhere, sources that need no compiler of one make."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import lmarvel
from lmarvel.datasets import CARS
from tests.cli.running import run_apart

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
CONDA = {"igraph": "python-igraph"}  # names that differ there


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


@pytest.fixture(scope="module")
def recipe() -> str:
    return (ROOT / "packaging" / "conda" / "recipe.yaml").read_text("utf-8")


def test_the_version_is_the_same_everywhere(recipe: str) -> None:
    printed = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "version.py")], capture_output=True, text=True, check=True
    )
    assert printed.stdout.strip() == lmarvel.__version__
    assert f"\nversion: {lmarvel.__version__}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
    assert f'\n  version: "{lmarvel.__version__}"\n' in recipe
    assert f"version = {{{lmarvel.__version__}}}" in (ROOT / "docs" / "cite.md").read_text("utf-8")
    assert f"lmarvel {lmarvel.__version__}" in (ROOT / "llms.txt").read_text("utf-8")
    assert f">{lmarvel.__version__}<" in (ROOT / "docs" / "badges" / "version.svg").read_text("utf-8")
    assert f"![version {lmarvel.__version__}]" in (ROOT / "README.md").read_text("utf-8")
    heads = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert heads[0] == lmarvel.__version__


def test_conda_needs_what_the_package_needs(project: dict[str, Any], recipe: str) -> None:
    for needed in project["project"]["dependencies"]:
        name, bound = re.fullmatch(r"([a-z]+)(>=[\d.]+)(?:;.*)?", needed).groups()  # type: ignore[union-attr]
        assert re.search(rf"\b{CONDA.get(name, name)} {bound}$", recipe, re.MULTILINE), needed
    for needed in project["build-system"]["requires"]:
        name, bound = re.fullmatch(r"([A-Za-z-]+)(>=[\d.]+)", needed).groups()  # type: ignore[union-attr]
        assert f"- {name.lower()} {bound}\n" in recipe, needed


def test_every_version_of_python_that_is_promised_gets_a_wheel(project: dict[str, Any]) -> None:
    built = re.findall(r"cp3(\d+)-\*", project["tool"]["cibuildwheel"]["build"])
    named = re.findall(r"Python :: 3\.(\d+)", "\n".join(project["project"]["classifiers"]))
    assert built == named == ["10", "11", "12", "13", "14"]
    assert project["project"]["requires-python"] == ">=3.10"


def test_badges_are_true_without_a_connection(project: dict[str, Any]) -> None:
    badges = {path.stem: path.read_text("utf-8") for path in (ROOT / "docs" / "badges").glob("*.svg")}
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(project["project"]["classifiers"]))
    assert f">{named[0]} to {named[-1]}<" in badges["python"]
    assert f">{project['project']['license']}<" in badges["licence"]
    shown = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", (ROOT / "README.md").read_text("utf-8"))
    assert [one for one in shown if one.startswith("http")] == []


def test_the_map_for_programs_leads_to_pages() -> None:
    targets = re.findall(r"\]\(([^)]+)\)", (ROOT / "llms.txt").read_text("utf-8"))
    assert len(targets) > 8
    assert [target for target in targets if not (ROOT / target).is_file()] == []


def test_a_wheel_is_tried_as_a_newcomer_would(project: dict[str, Any]) -> None:
    assert project["tool"]["cibuildwheel"]["test-command"] == "python {project}/tools/smoke.py"


def test_actions_are_pinned_to_commits_with_their_version_beside() -> None:
    used = [
        line.split("uses:")[1].strip()
        for path in (ROOT / ".github" / "workflows").glob("*.yml")
        for line in path.read_text("utf-8").splitlines()
        if "uses:" in line
    ]
    assert len(used) > 5
    assert [one for one in used if not re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", one)] == []
    assert len({(one.split("@")[0], one) for one in used}) == len({one.split("@")[0] for one in used})


def test_names_that_only_one_make_of_compiler_knows_stand_behind_a_question() -> None:
    """Microsoft's has no __builtin_ functions, __attribute__ or __restrict__: only guarded lines may have them."""
    engine = ROOT / "src" / "lmarvel" / "engine"
    found = []
    for path in sorted([*engine.rglob("*.hpp"), *engine.rglob("*.cpp")]):
        depth = 0
        for line in path.read_text("utf-8").splitlines():
            depth += line.startswith("#if") - line.startswith("#endif")
            if re.search(r"__builtin_|__attribute__|__restrict__", line) and not depth:
                found.append(f"{path.name}: {line.strip()}")
    assert found == []


def test_what_a_command_prints_to_a_pipe_is_utf_8(tmp_path: Path) -> None:
    header, rows = CARS.read_text("utf-8").split("\n", 1)
    (tmp_path / "t.csv").write_text(header.replace("Weight", "Größe") + "\n" + rows, encoding="utf-8")
    done = run_apart("learn", tmp_path / "t.csv", "--format", "edges", encoding="utf-8")
    assert "Größe" in done.out


@pytest.mark.slow
def test_the_smoke_test_passes_here() -> None:
    """It is for installed packages; here the parts are tried that need no program in the path."""
    code = (
        "import sys, os, tempfile; sys.path.insert(0, sys.argv[1]); import smoke;"
        "os.chdir(tempfile.mkdtemp()); smoke.check_compiled(True); smoke.check_files()"
    )
    subprocess.run([sys.executable, "-c", code, str(ROOT / "tools")], check=True, capture_output=True)


def test_the_oldest_dependencies_that_are_tested_are_those_of_the_project() -> None:
    """``tools/constraints.py`` writes them anew."""
    subprocess.run([sys.executable, ROOT / "tools" / "constraints.py", "--check"], check=True)


def test_every_dependency_has_a_newest_version_that_was_tested() -> None:
    locked = dict(line.split("==") for line in (ROOT / "packaging/constraints/newest.txt").read_text().split())
    oldest = (ROOT / "packaging/constraints/oldest.txt").read_text().split("\n")
    assert {line.split("==")[0] for line in oldest if line and ";" not in line} <= locked.keys()
    assert {"pytest", "hypothesis", "mypy", "ruff"} <= locked.keys()
