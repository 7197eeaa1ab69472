"""What a learned graph implies, held against the table it was learned from, when somebody looks."""

from __future__ import annotations

from collections.abc import Mapping

from lmarvel.ci.adapter import IndependenceTest
from lmarvel.data.scan import SMALL
from lmarvel.firmness import LaterCheck
from lmarvel.graph.kinds import MAG, PAG
from lmarvel.stability.check import check_model

MOST_VARIABLES = 200  # of which each pair is tested in about a second
MOST_TESTS = 5_000


def later_check(
    test: IndependenceTest,
    pag: PAG,
    mag: MAG | None,
    level: float,
    sepsets: Mapping[tuple[str, str], frozenset[str]],
) -> LaterCheck | None:
    """Return a check of the graph that waits for a look; None where there is no table, or it would take long.

    A test of the user's own is not asked behind his back, and a large table is not kept in memory for it.
    """
    rows = test.rows or 0
    if not test.has_table or len(test.names) > MOST_VARIABLES or rows * len(test.names) > SMALL:
        return None
    return LaterCheck(lambda: check_model(pag, test, level, mag=mag, sepsets=sepsets, most=MOST_TESTS))
