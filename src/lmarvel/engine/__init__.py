"""The compiled engine: from correlations to a PAG on flat arrays, without Python's lock."""

from __future__ import annotations

import importlib
from typing import Any


def load() -> Any:
    """Return the compiled module, None where it was not built: the readable code does the same, slower.

    Examples
    --------
    >>> engine = load()
    >>> engine is None or engine.__name__
    'lmarvel.engine._engine'
    """
    try:
        return importlib.import_module("lmarvel.engine._engine")
    except ModuleNotFoundError:  # a module that is there and broken is another matter
        return None


def names(enum: str) -> tuple[str, ...]:
    """Return what the numbers of one of the engine's enums mean, in their order; nothing where it was not built.

    Examples
    --------
    >>> names("methods") or ("lmarvel", "fci", "rfci", "mbcs")
    ('lmarvel', 'fci', 'rfci', 'mbcs')
    """
    engine = load()
    return () if engine is None else engine.NAMES[enum]
