"""The examples in the docstrings of the installed package are run."""

import doctest
import importlib
import pkgutil

import pytest

import lmarvel

MODULES = ["lmarvel", *(m.name for m in pkgutil.walk_packages(lmarvel.__path__, "lmarvel."))]


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name: str) -> None:
    failures, _ = doctest.testmod(importlib.import_module(name))
    assert failures == 0
