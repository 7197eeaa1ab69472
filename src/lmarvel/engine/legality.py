"""What the engine says of a graph: which check it fails and where, and sets that separate its nodes.

The words for a fault are found by whoever asks (:mod:`lmarvel.graph.kinds`, :mod:`lmarvel.orient.equivalence`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lmarvel.engine.run import Lists, _engine

Marks = NDArray[np.int8]
Fault = tuple[str, tuple[int, ...]]
"""What is wrong with a graph, and the nodes that show it."""


class JudgedPAG(NamedTuple):
    """What the engine found of a PAG.

    Attributes
    ----------
    fault : (str, tuple of int) or None
        Why no MAG has it; None if one has.
    mag : array
        The marks of a MAG that has it, if one has.
    right : array
        The marks that the PAG should have, where a mark is wrong.
    """

    fault: Fault | None
    mag: Marks
    right: Marks


def judge_mag(marks: Marks) -> Fault | None:
    """Return the first reason why a graph is no MAG, None if it is one.

    The twin of :func:`lmarvel.graph.kinds.find_not_ancestral` and :func:`lmarvel.graph.kinds.find_not_maximal`.

    Examples
    --------
    >>> from lmarvel.engine.run import is_built
    >>> ring = np.array([[0, 2, 3], [3, 0, 2], [2, 3, 0]], np.int8)
    >>> judge_mag(ring) if is_built() else ("cycle", (0, 1, 2, 0))
    ('cycle', (0, 1, 2, 0))
    """
    found: Fault | None = _engine.judge_mag(marks)
    return found


def judge_pag(marks: Marks) -> JudgedPAG:
    """Return why no MAG has this PAG, or a MAG that has.

    The twin of :func:`lmarvel.orient.equivalence.find_member`.
    """
    return JudgedPAG(*_engine.judge_pag(marks))


def separating_sets(mag: Marks, x: NDArray[Any], y: NDArray[Any]) -> Lists:
    """Return small sets that separate pairs of a MAG: where each begins, and the members.

    The twin of :func:`lmarvel.search.evidence.separating`.

    Examples
    --------
    >>> from lmarvel.engine.run import is_built
    >>> path = np.array([[0, 2, 0], [3, 0, 2], [0, 3, 0]], np.int8)                        # 0 --> 1 --> 2
    >>> separating_sets(path, np.array([0]), np.array([2]))[1].tolist() if is_built() else [1]
    [1]
    """
    pairs = (np.ascontiguousarray(end, dtype=np.int32) for end in (x, y))
    found: Lists = _engine.separating_sets(mag, *pairs)
    return found
