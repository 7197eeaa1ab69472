"""The compiled engine: from correlations to a PAG on flat arrays, without Python's lock."""

from __future__ import annotations

import importlib
from typing import Any


def load(name: str) -> Any:
    """Return a compiled module of this package, None where it was not built.

    Examples
    --------
    >>> load("_no_such_module") is None
    True
    """
    try:
        return importlib.import_module(f"lmarvel.engine.{name}")
    except ModuleNotFoundError:  # a module that is there and broken is another matter
        return None
