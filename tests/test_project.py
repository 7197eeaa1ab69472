"""Housekeeping: files are short, documented, and hold nothing of the machine they were written on."""

from __future__ import annotations

import ast
import builtins
import importlib
import re
from pathlib import Path
from typing import Any

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
COMPILED = sorted(p for p in (ROOT / "src").rglob("*") if p.suffix in {".pyx", ".pxi", ".pxd", ".cpp", ".hpp"})
ROLE = re.compile(r":(?:mod|class|func|meth|attr|data|exc):`(?:[^`<]*<)?[~!]?([\w.]+)>?`")
DOTTED = re.compile(r"\blmarvel(?:\.\w+)+")


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


def names_something(dotted: str) -> bool:
    """Tell whether a dotted name leads to a module, or to what a module or class holds."""
    parts = dotted.split(".")
    for k in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:k]))
        except ImportError:
            continue
        for part in parts[k:]:
            if not hasattr(found, part) and part not in getattr(found, "__annotations__", {}):
                return False
            found = getattr(found, part, None)
        return True
    return False


def lost_references(module: str, text: str) -> list[str]:
    """Return the references in the docstrings of a module that lead nowhere from it or from its classes."""
    classes = [node.name for node in ast.parse(text).body if isinstance(node, ast.ClassDef)]
    places = [module, *(f"{module}.{name}" for name in classes)]
    lost = []
    for name in ROLE.findall(re.sub(r"\n\s*", " ", text)):
        near = () if name.startswith("lmarvel") else (f"{place}.{name}" for place in places)
        if not (hasattr(builtins, name) or names_something(name) or any(map(names_something, near))):
            lost.append(name)
    return lost


def test_lost_references_are_found() -> None:
    text = (
        '"""See :mod:`lmarvel.graph.paths`, :class:`~lmarvel.graph.mixed.MixedGraph`, :func:`missing`, :meth:`edges`\n'
        'and :mod:`bit\n    sets <lmarvel.graph.bitsets>`."""\nclass MixedGraph: ...\n'
    )
    assert lost_references("lmarvel.graph.mixed", text) == ["lmarvel.graph.paths", "missing"]


@pytest.mark.parametrize("path", SOURCES, ids=label)
def test_references_in_docstrings_lead_somewhere(path: Path) -> None:
    module = ".".join(path.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__")
    assert lost_references(module, path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", COMPILED, ids=label)
def test_compiled_code_names_modules_that_exist(path: Path) -> None:
    names = set(DOTTED.findall(path.read_text(encoding="utf-8")))
    assert [name for name in sorted(names) if not names_something(name)] == []
