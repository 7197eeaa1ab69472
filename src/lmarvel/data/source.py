"""What every kind of table is made into first: all its columns as they stand there, and a way to the rows of some."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Batches = Callable[[int], Iterator[NDArray[np.float64]]]
"""From a number of rows to all rows in batches of about that many; each call starts at the first row again."""


@dataclass(frozen=True)
class Source:
    """The names of all columns, and a function from chosen positions to batches of their rows, NaN where missing.

    Making a source reads no rows, nor does choosing: what is wrong with the rows shows when batches are taken.
    """

    names: list[str]
    choose: Callable[[Sequence[int]], Batches]
    in_memory: bool
