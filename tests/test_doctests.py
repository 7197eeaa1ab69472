"""The examples in the docstrings of the installed package are run, and their references lead somewhere."""

from __future__ import annotations

import ast
import builtins
import doctest
import importlib
import pkgutil
import re
from pathlib import Path
from typing import Any

import pytest

import lmarvel

MODULES = ["lmarvel", *(m.name for m in pkgutil.walk_packages(lmarvel.__path__, "lmarvel."))]
SOURCES = Path(__file__).resolve().parents[1] / "src"
PYTHON = sorted(SOURCES.rglob("*.py"))
COMPILED = sorted(path for path in SOURCES.rglob("*") if path.suffix in {".pyx", ".pxi", ".pxd", ".cpp", ".hpp"})
ROLE = re.compile(r":(?:mod|class|func|meth|attr|data|exc):`(?:[^`<]*<)?[~!]?([\w.]+)>?`")
DOTTED = re.compile(r"\blmarvel(?:\.\w+)+")


def label(path: Path) -> str:
    return str(path.relative_to(SOURCES))


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name: str) -> None:
    failures, _ = doctest.testmod(importlib.import_module(name))
    assert failures == 0


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
        '"""See :mod:`lmarvel.graph.nowhere`, :class:`~lmarvel.graph.mixed.MixedGraph`, :func:`missing`,\n'
        ":meth:`edges` "
        'and :mod:`bit\n    sets <lmarvel.graph.bitsets>`."""\nclass MixedGraph: ...\n'
    )
    assert lost_references("lmarvel.graph.mixed", text) == ["lmarvel.graph.nowhere", "missing"]


@pytest.mark.parametrize("path", PYTHON, ids=label)
def test_references_in_docstrings_lead_somewhere(path: Path) -> None:
    module = ".".join(path.relative_to(SOURCES).with_suffix("").parts).removesuffix(".__init__")
    assert lost_references(module, path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", COMPILED, ids=label)
def test_compiled_code_names_modules_that_exist(path: Path) -> None:
    names = set(DOTTED.findall(path.read_text(encoding="utf-8")))
    assert [name for name in sorted(names) if not names_something(name)] == []
