"""What ``import lmarvel`` offers: complete, documented, with examples."""

from __future__ import annotations

import importlib.metadata
import inspect
from types import ModuleType

import pytest

import lmarvel

CORE = [
    "DAG",
    "MAG",
    "PAG",
    "MixedGraph",
    "Mark",
    "mag_to_pag",
    "pag_to_mag",
    "markov_equivalent",
    "explain_invalid",
    "CITest",
    "MSeparation",
    "SepsetQuery",
    "SepsetAnswer",
    "find_sepset",
    "Discovery",
    "LMarvel",
]
DOCUMENTED = [
    name for name in lmarvel.__all__ if inspect.isclass(getattr(lmarvel, name)) or callable(getattr(lmarvel, name))
]


@pytest.mark.parametrize("name", CORE)
def test_the_core_names_are_public(name: str) -> None:
    assert name in lmarvel.__all__


def test_every_public_name_exists() -> None:
    assert [name for name in lmarvel.__all__ if not hasattr(lmarvel, name)] == []


def test_everything_the_package_imports_for_its_users_is_public() -> None:
    offered = {k for k, v in vars(lmarvel).items() if not k.startswith("_") and not isinstance(v, ModuleType)}
    assert offered == set(lmarvel.__all__)


def test_public_names_are_listed_once_and_in_order() -> None:
    def group(name: str) -> tuple[int, str]:
        """Constants and acronyms, then classes, then functions; by name within each."""
        return (0 if name.isupper() else 1 if name[0].isupper() else 2), name

    assert lmarvel.__all__ == sorted(set(lmarvel.__all__), key=group)


@pytest.mark.parametrize("name", DOCUMENTED)
def test_a_public_name_has_a_docstring_with_examples(name: str) -> None:
    text = inspect.getdoc(getattr(lmarvel, name)) or ""
    own = getattr(lmarvel, name).__doc__ or ""
    assert own.strip()
    assert "Examples\n--------\n" in text
    assert ">>> " in text.split("Examples\n--------\n")[1]


@pytest.mark.parametrize("name", DOCUMENTED)
def test_every_public_method_has_a_docstring(name: str) -> None:
    owner = getattr(lmarvel, name)
    if not inspect.isclass(owner) or not owner.__module__.startswith("lmarvel"):
        return
    members = {k: v for k, v in vars(owner).items() if not k.startswith("_")}
    functions = [k for k, v in members.items() if inspect.isfunction(v) or isinstance(v, property | classmethod)]
    assert [k for k in functions if not inspect.getdoc(getattr(owner, k))] == []


def test_every_public_object_says_where_it_lives() -> None:
    assert all(getattr(lmarvel, name).__module__.startswith("lmarvel.") for name in DOCUMENTED)


def test_the_version_is_that_of_the_installed_package() -> None:
    try:
        installed = importlib.metadata.version("lmarvel")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("lmarvel is not installed")
    assert lmarvel.__version__ == installed
