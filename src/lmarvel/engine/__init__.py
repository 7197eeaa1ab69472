"""Compiled twins of the searches, C++ behind a thin layer; what they do is written readably elsewhere."""

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
    except ImportError:
        return None
