"""What speaks for each part of a graph that a score chose, found in the trace; and the graph without what is weak."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from lmarvel.errors import GraphError, ParameterError
from lmarvel.graph.kinds import PAG
from lmarvel.graph.marks import CIRCLE, TAIL
from lmarvel.result.evidence_wording import WORDS, support_word, weakest, without_selection
from lmarvel.result.trace import Chose, Event, HiddenNode, LeftOut, Supported, Weighed, but_separated

Pair = frozenset[int]


class Evidence:
    """The records of a trace that weigh the parts of a graph, by what they weigh.

    Attributes
    ----------
    edges : dict
        For each pair with an edge its :class:`~lmarvel.result.trace.Weighed`.
    gaps : dict
        For pairs without an edge their :class:`~lmarvel.result.trace.LeftOut`.
    distance : dict
        For (x, y), the mark at y on x-y, how much worse the best graph with another mark there is; infinite if none
        was met.
    hidden : tuple of HiddenNode
        The hidden nodes that the graph rests on.
    chose : Chose or None
        Which stage of the search gave the graph.

    Examples
    --------
    >>> Evidence([Supported(0, 1, 12.5), Supported(1, 0, None)]).distance
    {(0, 1): 12.5, (1, 0): inf}
    """

    def __init__(self, trace: Sequence[Event]) -> None:
        self.edges: dict[Pair, Weighed] = {}
        self.gaps: dict[Pair, LeftOut] = {}
        self.distance: dict[tuple[int, int], float] = {}
        weighing = list(but_separated(trace))
        self.hidden = tuple(e for e in weighing if isinstance(e, HiddenNode))
        self.chose = next((e for e in weighing if isinstance(e, Chose)), None)
        for e in weighing:
            if isinstance(e, Weighed):
                self.edges[frozenset((e.x, e.y))] = e
            elif isinstance(e, LeftOut):
                self.gaps[frozenset((e.x, e.y))] = e
            elif isinstance(e, Supported):
                self.distance[e.x, e.y] = math.inf if e.distance is None else e.distance

    def mark_word(self, x: int, y: int) -> str | None:
        """Return the word for the mark at y on the edge x-y; None without evidence."""
        if self.chose is None:
            return None
        return support_word(self.distance.get((x, y)), self.chose.price, bool(self.hidden))

    def word(self, pag: PAG, x: int, y: int) -> str | None:
        """Return the word for the weakest mark of an edge; None without marks to judge, or without evidence."""
        ends = [end for end in ((x, y), (y, x)) if pag.marks[end] > CIRCLE]
        return weakest(word for end in ends if (word := self.mark_word(*end)) is not None)


class Evidenced:
    """What a result says of how well its parts are supported; the result has a PAG and a trace."""

    pag: PAG
    trace: Sequence[Event]

    @cached_property
    def evidence(self) -> Evidence:
        """The records of the trace that weigh the parts of the graph; empty where the method has none."""
        return Evidence(self.trace)

    def support(self, a: str, b: str) -> dict[str, float | None]:
        """Return for each end of an edge how much worse the best graph is that was met and has another mark there.

        Infinite: none was met. None: the end has a circle, or the method does not tell.

        Examples
        --------
        >>> import numpy as np
        >>> from lmarvel import Lift
        >>> rng = np.random.default_rng(0)
        >>> a, b = rng.normal(size=(2, 1000))
        >>> found = Lift().fit({"A": a, "B": b, "C": a + b + rng.normal(size=1000)}).result_
        >>> {end: distance and round(distance, 1) for end, distance in found.support("A", "C").items()}
        {'A': None, 'C': 10.4}
        """
        x, y = self.pag.index(a), self.pag.index(b)
        if not self.pag.marks[x, y]:
            raise GraphError(f"{a} and {b} are not adjacent, so there is no mark to support")
        return {a: self.evidence.distance.get((y, x)), b: self.evidence.distance.get((x, y))}

    def support_word(self, a: str, b: str) -> str | None:
        """Return "firm", "likely" or "open" for the weaker mark of an edge; None where there is nothing to judge."""
        return self.evidence.word(self.pag, self.pag.index(a), self.pag.index(b))

    @property
    def hidden(self) -> tuple[tuple[str, tuple[str, ...], float], ...]:
        """The hidden nodes of the model that the graph comes from: the kind, the variables, what the score would lose.

        "latent": these variables share one unmeasured cause. "selection": being in the sample depends on them.
        """
        names = self.pag.names
        return tuple((e.kind, tuple(names[v] for v in sorted(e.members)), e.loss) for e in self.evidence.hidden)

    @property
    def claims_selection(self) -> bool:
        """True if the PAG has an edge that only selection explains: ``---`` or ``o--``."""
        marks = self.pag.marks
        return bool(((marks == TAIL) & ((marks.T == TAIL) | (marks.T == CIRCLE))).any())

    @property
    def selection_gain(self) -> str | None:
        """How much worse the best graph without selection is, in words; None where selection is not claimed."""
        chose = self.evidence.chose
        return None if chose is None or not self.claims_selection else without_selection(chose.selection_gain)

    def cautious(self, level: str = "likely") -> PAG:
        """Return the graph in which arrowheads and tails below a level of support are circles.

        It is a summary for a careful reader. It is not the PAG of a class: rules that would follow from what is left
        are not applied, and no MAG need have it.

        Parameters
        ----------
        level : {"likely", "firm"}
            What a mark needs to stay.

        Examples
        --------
        >>> import numpy as np
        >>> from lmarvel import Lift
        >>> rng = np.random.default_rng(0)
        >>> a, b = rng.normal(size=(2, 1000))
        >>> found = Lift().fit({"A": a, "B": b, "C": a + b + rng.normal(size=1000)}).result_
        >>> print(found.cautious("firm"))
        nodes: A B C
        A o-o C
        B o-o C
        """
        if level not in WORDS:
            raise ParameterError(f"level must be one of {', '.join(reversed(WORDS))}, not {level!r}")
        if self.evidence.chose is None:
            raise ParameterError("this result does not tell how well its marks are supported: Lift's does")
        marks = self.pag.marks.copy()
        for x, y in np.argwhere(marks > CIRCLE).tolist():
            word = self.evidence.mark_word(x, y) or WORDS[0]
            if WORDS.index(word) < WORDS.index(level):
                marks[x, y] = CIRCLE
        return PAG._trusted(self.pag.names, marks)
