"""What grades rest on beside the check of the model: resamples, and relations that are not straight lines.

Both are made when somebody first looks at a grade. A :class:`Bend` says that the square or the cube of one variable
still tells something of another, when the neighbours of that other one are allowed for along straight lines. A method
that sees straight lines alone can then be wrong in the same way on every resample.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, cast

from lmarvel.graph.kinds import PAG
from lmarvel.result.file.parts import read_part
from lmarvel.result.file.records import items, number, probability, whole
from lmarvel.result.support.frequencies import Stability, decode_stability, encode_stability

Skipped = Literal["", "time", "size", "budget", "unusable"]
WHY_SKIPPED: dict[Skipped, str] = {
    "": "",
    "time": "20 resamples would take more than 4 s",
    "size": "the table is too large to be read again unasked",
    "budget": "the time limit left no time for them",
    "unusable": "no graph could be learned from any of them",
}


class Bend(NamedTuple):
    """A relation that is not a straight line: a power of ``x`` correlates with what is left of ``y``."""

    x: str
    y: str
    correlation: float
    pvalue: float
    outlying: bool = False  # whether values of one of the two lie far out


@dataclass(frozen=True)
class Grounds:
    """The resamples that nobody asked for, None where there are none; and the bends, the strongest first.

    Without resamples, ``skipped`` says why: they take too much "time", the "size" of the table does not allow to read
    it again, no time was left of the run's ("budget"), or nothing is learned from any of them ("unusable").

    Examples
    --------
    >>> from lmarvel import Lift
    >>> from lmarvel.datasets import CARS
    >>> found = Lift(test="fisher-z").fit(CARS).result_
    >>> found.grounds.resamples.replicates, len(found.grounds.bends) > 0
    (40, True)
    """

    resamples: Stability | None = None
    bends: tuple[Bend, ...] = ()
    skipped: Skipped = ""

    @property
    def why_skipped(self) -> str:
        """Why there are no resamples, as a clause; empty where nothing kept anybody from making them.

        Examples
        --------
        >>> Grounds(skipped="size").why_skipped
        'the table is too large to be read again unasked'
        """
        return WHY_SKIPPED[self.skipped]


def encode_grounds(grounds: Grounds, pag: PAG) -> dict[str, Any]:
    """Return grounds as the parts of a result file."""
    parts: dict[str, Any] = {}
    if grounds.resamples is not None:
        parts["resamples"] = encode_stability(grounds.resamples)
    if grounds.bends:
        at = pag.index
        parts["bends"] = [[at(one.x), at(one.y), one.correlation, one.pvalue, one.outlying] for one in grounds.bends]
    if grounds.skipped:
        parts["no_resamples"] = grounds.skipped
    return parts


def decode_grounds(content: Mapping[str, Any], pag: PAG) -> Grounds:
    """Return the grounds of a result file; empty where it has none."""
    names = pag.names
    resamples: Stability | None = None
    bends: tuple[Bend, ...] = ()
    if "resamples" in content:
        resamples = read_part(content, "resamples", lambda plain: decode_stability(plain, names))
    if "bends" in content:
        bends = read_part(content, "bends", lambda plain: _decoded_bends(plain, names))
    skipped: Skipped = read_part(content, "no_resamples", _decoded_skipped) if "no_resamples" in content else ""
    return Grounds(resamples, bends, skipped)


def _decoded_skipped(plain: Any) -> Skipped:
    if plain not in WHY_SKIPPED:
        raise ValueError(f"resamples were not skipped because of {plain!r}")
    return cast(Skipped, plain)


def _decoded_bends(plain: Any, names: Sequence[str]) -> tuple[Bend, ...]:
    bends = []
    for x, y, correlation, pvalue, outlying in map(items, items(plain)):
        pair = whole(x), whole(y)
        if pair[0] == pair[1] or not -1 <= number(correlation) <= 1:
            raise ValueError("a bend is of two variables, with a correlation")
        if not isinstance(outlying, bool):
            raise ValueError("whether values lie far out is true or false")
        bends.append(Bend(names[pair[0]], names[pair[1]], number(correlation), probability(pvalue), outlying))
    return tuple(bends)
