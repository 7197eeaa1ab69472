"""Housekeeping: files are short, documented, and hold nothing of the machine they were written on."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
TEXTS = {
    ".py",
    ".pyi",
    ".pyx",
    ".pxd",
    ".cpp",
    ".hpp",
    ".md",
    ".toml",
    ".txt",
    ".csv",
    ".json",
    ".yml",
    ".yaml",
    ".cfg",
    ".build",
    ".R",
}
MOST_LINES = 400


def label(path: Path) -> str:
    return str(path.relative_to(ROOT))


def texts() -> list[Path]:
    """The text files of the project; caches and what was built are left out."""
    files = (path for folder in ("src", "docs", "tests") for path in sorted((ROOT / folder).rglob("*")))
    return [
        p
        for p in files
        if p.is_file() and p.suffix in TEXTS and not any(part[0] in "._" for part in p.parts[len(ROOT.parts) : -1])
    ]


def test_the_project_is_found() -> None:
    assert len(SOURCES) > 20
    assert ROOT / "docs" / "theory.md" in texts()
    assert Path(__file__).resolve() in texts()


@pytest.mark.parametrize("folder", ["work", "root", "home"])
def test_no_file_mentions_a_path_of_this_machine(folder: str) -> None:
    needle = "/" + folder + "/"
    assert [label(path) for path in texts() if needle in path.read_text(encoding="utf-8")] == []


@pytest.mark.parametrize("path", SOURCES, ids=label)
def test_a_source_file_is_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MOST_LINES


@pytest.mark.parametrize("path", SOURCES, ids=label)
def test_a_source_file_has_a_docstring(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


# --- what the pages for contributors say ---------------------------------------------------------------------

PACKAGE = ROOT / "src" / "lmarvel"
FILE = re.compile(r"`([\w./-]+\.(?:py|pyx|pxi|hpp|cpp|md|toml|build))`")


@pytest.mark.parametrize(("page", "beside"), [("CONTRIBUTING.md", ROOT), ("docs/architecture.md", PACKAGE)])
def test_every_file_that_a_page_for_contributors_names_is_there(page: str, beside: Path) -> None:
    named = FILE.findall((ROOT / page).read_text(encoding="utf-8"))
    assert len(named) > 10
    assert [name for name in named if not (beside / name).is_file() and not (ROOT / name).is_file()] == []


def test_the_architecture_shows_every_room_and_the_layers_that_are_checked() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rooms = {path.parent.name for path in PACKAGE.glob("*/__init__.py")} - {"datasets"}
    assert set(re.findall(r"^\| `(\w+)/` \|", text, re.MULTILINE)) == rooms
    shown = text.split("```\n")[1].split()
    checked = re.findall(
        r"lmarvel\.(\w+)", (ROOT / "pyproject.toml").read_text(encoding="utf-8").split("layers = [")[1]
    )
    assert [name for name in shown if name != "|"] == checked


def test_every_decision_is_in_the_index() -> None:
    folder = ROOT / "docs" / "decisions"
    listed = re.findall(r"\]\((\d{4}-[\w-]+\.md)\)", (folder / "README.md").read_text(encoding="utf-8"))
    assert listed == sorted(path.name for path in folder.glob("[0-9]*.md"))


# --- words ----------------------------------------------------------------------------------------------------

WORDED = sorted(
    path for room in ("result", "effects", "report", "cli") for path in (ROOT / "src/lmarvel" / room).rglob("*.py")
)
READS_TEXT = {"report/page.py", "cli/options.py"}  # the page's template, and docstrings: neither is a message


@pytest.mark.parametrize("path", WORDED, ids=label)
def test_sentences_are_made_from_data_and_never_searched(path: Path) -> None:
    """What a room needs to know of a finding stands in its kind and data, so that no pattern is held against words."""
    if str(path.relative_to(ROOT / "src/lmarvel")) not in READS_TEXT:
        imported = {
            name.name
            for node in ast.walk(ast.parse(path.read_text("utf-8")))
            if isinstance(node, ast.Import)
            for name in node.names
        }
        assert "re" not in imported


# --- the house ------------------------------------------------------------------------------------------------

OPTIONAL = {"matplotlib", "sklearn", "networkx", "causallearn", "distributed", "pyreadstat", "fastexcel", "tomli"}
BUILT = {".so", ".pyd", ".pyc"}


def files_in(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.is_file() and path.suffix not in BUILT]


def test_the_root_of_the_package_is_its_table_of_contents() -> None:
    assert len([path for path in files_in(PACKAGE) if path.suffix == ".py"]) <= 8


def test_no_room_has_more_than_sixteen_files_at_one_level() -> None:
    rooms = [path for path in PACKAGE.rglob("*") if path.is_dir() and path.name != "__pycache__"]
    assert len(rooms) > 20
    assert {label(room): len(files_in(room)) for room in rooms if len(files_in(room)) > 16} == {}


def test_there_are_thirteen_layers_at_most_without_exceptions() -> None:
    contract = (ROOT / "pyproject.toml").read_text(encoding="utf-8").split("[tool.importlinter]")[1]
    assert len(re.findall(r'^  "lmarvel', contract, re.MULTILINE)) <= 13
    assert "ignore_imports" not in contract


@pytest.mark.parametrize("path", SOURCES, ids=label)
def test_only_optional_dependencies_are_imported_inside_functions(path: Path) -> None:
    functions = [n for n in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(n, ast.FunctionDef)]
    inside = [node for function in functions for node in ast.walk(function)]
    names = [node.module or "" for node in inside if isinstance(node, ast.ImportFrom)]
    names += [one.name for node in inside if isinstance(node, ast.Import) for one in node.names]
    assert [name for name in names if name.partition(".")[0] not in OPTIONAL] == []
