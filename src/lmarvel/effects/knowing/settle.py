"""What would settle a question about an effect that is not identified: the smallest statements that identify it.

Each statement is tried on the class: the explanations that fit it are asked again. Tried are that the cause is
randomised, where nothing points at it; that the sample was not selected; that what the cause does not surely affect
comes before it, and the outcome after it; that the cause has no unmeasured causes in common with others; and, for each
edge among what may cause the two variables, each open mark either way ("A causes B", "A does not cause B") and that the
ends share no unmeasured cause. Single statements come first, then sets of those that do not settle it by themselves.
Of two sets of the same size, one that the other implies is kept. Several statements that together leave no effect are
left out, because "x does not cause y" says so in one.

**Measuring.** A measured U that affects A and B, and that x does not affect, does the work of the statement that A and
B share no unmeasured cause: given U the statement is true, so P(y | do(x), u) is identified as before, and averaging
over P(u) gives the effect. Where the edge between A and B may be nothing but U, the rest has to be identified without
it as well; that is tried too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, product
from math import comb, inf
from time import monotonic

import numpy as np

from lmarvel.effects.adjustment import checked_pair, minimal_sets, pair_of
from lmarvel.effects.claims import Claims
from lmarvel.effects.classify import Identified, classify, ready_for_effects
from lmarvel.effects.knowing.informed import Informed, as_informed, informed
from lmarvel.effects.knowing.instruments import could_be_instruments, definite_descendants
from lmarvel.effects.knowing.ways import Settling, Way
from lmarvel.effects.pag_index import Askable, Prepared, Stated, selection_near
from lmarvel.errors import GraphError, KnowledgeError, ParameterError
from lmarvel.graph.kinds import ADMG, MAG, PAG
from lmarvel.graph.marks import ARROW, CIRCLE, TAIL
from lmarvel.graph.mixed import Node
from lmarvel.knowledge import Knowledge
from lmarvel.knowledge.contradictions import known_of
from lmarvel.knowledge.vocabulary import ANY, Statement
from lmarvel.orient.equivalence import pag_to_mag
from lmarvel.result.discovery import Discovery
from lmarvel.search.ancestral import pag_of

SECONDS = 10.0
MOST_VARIABLES = 100  # of a graph in which that is tried: among 250 it can take over half a minute
FEW = 24  # single statements that are tried where nobody asked what would settle it
Trial = Callable[[Sequence[Statement]], Prepared | None]


def settle(
    result: Discovery | Askable | Prepared, x: Node, y: Node, *, most: int = 2, seconds: float = SECONDS
) -> Settling:
    """Return the smallest statements under which the effect of ``x`` on ``y`` would be identified.

    Parameters
    ----------
    result : Discovery, PAG, MAG, DAG or ADMG
        What was learned, or a graph of your own. Statements come beside those that it was learned with.
    x, y : str
        Cause and outcome.
    most : int
        How many statements to try together.
    seconds : float
        How long to try.

    Examples
    --------
    >>> from lmarvel import PAG
    >>> pag = PAG.from_edges("A o-> X", "B o-> X", "X --> Y", "A --> Y")
    >>> for way in settle(pag, "A", "Y").ways:
    ...     print(way)
    A is randomised: the effect is then identified without adjustment.
    no unmeasured causes of A: the effect is then identified without adjustment.
    A does not cause X: the effect is then identified by adjusting for X.
    A and Y share no unmeasured cause; A and X share no unmeasured cause: the effect is then identified without \
adjustment. Measuring every common cause of A and Y and of A and X would do as well.
    """
    if not isinstance(most, int) or isinstance(most, bool) or most < 1:
        raise ParameterError(f"must be a whole number of at least 1, not {most!r}", parameter="most")
    ready = ready_for_effects(result)
    i, j = checked_pair(ready, x, y)
    now = classify(ready, i, j)
    if now.status != "not identified":
        return Settling(now, (), 0, True)
    search = _Search(ready, _trials_of(result, ready), i, j, monotonic() + seconds)
    for size in range(1, most + 1):
        search.of_size(size)
    names = ready.graph.names
    instruments = tuple((names[w], ready.named(z)) for w, z in could_be_instruments(ready, i, j))
    own, (tried, planned) = isinstance(ready, Stated), (search.tried, search.planned)
    return Settling(now, tuple(search.ways()), tried, search.complete, own, instruments, planned)


def enough(result: Discovery | Askable | Prepared, ready: Prepared, x: int, y: int) -> tuple[Way, ...]:
    """Return single statements under which an effect that is not identified would be; of few that are tried.

    How many are tried, and in how large a graph, is bounded, and not the time, so that an answer is the same on every
    machine.

    Examples
    --------
    >>> from lmarvel import PAG
    >>> pag = PAG.from_edges("A o-> X", "B o-> X", "X --> Y", "A --> Y")
    >>> [way.statements[0] for way in enough(pag, Prepared(pag), 0, 3)]
    ['A is randomised', 'no unmeasured causes of A', 'A does not cause X']
    """
    if len(ready.graph) > MOST_VARIABLES:
        return ()
    search = _Search(ready, _trials_of(result, ready), x, y, inf)
    search.of_size(1, FEW)
    return tuple(way for way in search.ways() if way.status != "none")


class _Search:
    """The search over sets of statements, the smaller ones first."""

    def __init__(self, ready: Prepared, trials: tuple[Trial, Trial], x: int, y: int, until: float) -> None:
        self._ready, self._pair, self._until = ready, (x, y), until
        self._trial, self._hasty = trials
        self._statements = list(dict.fromkeys(candidates(ready, x, y)))
        self._found: dict[tuple[Statement, ...], tuple[Prepared, Identified]] = {}
        self._useless: set[Statement] = set()  # that nothing fits
        self._settled: list[set[Statement]] = []  # of sets that settle it those that others imply, too
        self.tried, self.planned, self.complete = 0, 0, True

    def of_size(self, size: int, most: int | None = None) -> None:
        """Try all sets of one size that hold no smaller one that settles it; of many statements the first."""
        settled, new = list(self._settled), {}
        useful = [s for s in self._statements if s not in self._useless][:most]
        for seen, statements in enumerate(combinations(useful, size)):
            if monotonic() > self._until:
                self.complete = False
                self.planned += comb(len(useful), size) - seen
                break
            if any(one <= set(statements) for one in settled):
                continue
            self.planned += 1
            self.tried += 1
            answer = self._answer(statements)
            if answer is None and size == 1:
                self._useless.add(statements[0])
            elif answer is not None and answer[1].status != "not identified":
                new[statements] = answer
        self._settled += map(set, new)
        if size > 1:
            new = {statements: answer for statements, answer in new.items() if answer[1].status != "none"}
        self._found |= {one: answer for one, answer in new.items() if not any(_weaker(two, one) for two in new)}

    def _answer(self, statements: Sequence[Statement]) -> tuple[Prepared, Identified] | None:
        """Return the answer under some statements; None where nothing fits them."""
        ready = self._hasty(statements)
        if ready is not None:
            told = classify(ready, *self._pair)
            if told.status == "not identified":  # as of most sets; what seems to settle it is looked at closely
                return ready, told
        ready = self._trial(statements)
        if ready is None:
            return None
        told = classify(ready, *self._pair)
        settled = told.status != "not identified"
        return None if settled and isinstance(ready, Informed) and ready.member is None else (ready, told)

    def ways(self) -> Iterator[Way]:
        """Iterate over what was found, identified effects before those that are none."""
        x, y = self._pair
        for statements, (ready, told) in sorted(
            self._found.items(), key=lambda item: (len(item[0]), item[1][1].status == "none")
        ):
            z = None
            if told.status == "adjustment":
                z = ready.named(min(minimal_sets(ready, pair_of(ready, x, y)), key=int.bit_count))
            measure = tuple(s.about for s in statements if s.kind == "unconfounded")
            measure = measure if self._measurable(statements) else ()
            yield Way(tuple(map(str, statements)), told.status, z, measure)

    def _measurable(self, statements: Sequence[Statement]) -> bool:
        """Tell whether measuring common causes would do the work of all statements that there are none."""
        choices = [self._once_measured(one) if one.kind == "unconfounded" else [one] for one in statements]
        answers = [self._answer(some) for some in product(*choices) if some != tuple(statements)]
        return all(choices) and all(one is not None and one[1].status != "not identified" for one in answers)

    def _once_measured(self, one: Statement) -> list[Statement]:
        """Return what may be true of two variables, given their common causes; nothing where that is not known."""
        graph = self._ready.graph
        if one.about[1] == ANY:
            return []
        a, b = (graph.index(name) for name in one.about)
        if isinstance(self._ready, Stated) or {int(graph.marks[a, b]), int(graph.marks[b, a])} == {TAIL, ARROW}:
            return [one]
        if graph.marks[a, b] != ARROW:
            a, b = b, a
        without = Statement("not_causes", (graph.names[a], graph.names[b]))
        return [one, without] if graph.marks[a, b] == ARROW else []


def candidates(ready: Prepared, x: int, y: int) -> Iterator[Statement]:
    """Iterate over the statements to try: first on the cause and what is next to it, then on other edges."""
    graph, names = ready.graph, ready.graph.names
    near = ready.possible_ancestors(1 << x | 1 << y)
    if selection_near(graph, 1 << x | 1 << y) is not None:
        yield Statement("selection")
    if not isinstance(ready, Stated) and not ready.arrow_into[x]:
        yield Statement("randomised", (names[x],))
    if not isinstance(ready.graph, MAG):
        if Claims(ready).on(y)[x].status == "possible":
            yield Statement("not_causes", (names[x], names[y]))
        before = ready.named(near & ~definite_descendants(ready, x) & ~(1 << y))
        yield Statement("tiers", ((before,) if before else ()) + ((names[x],), (names[y],)))
        yield Statement("unconfounded", (names[x], ANY))
    edges = [
        (v, w, at_v, at_w)
        for v, links in enumerate(graph.links)
        for w, at_v, at_w in links
        if v < w and near >> v & 1 and near >> w & 1
    ]
    for v, w, at_v, at_w in sorted(edges, key=lambda edge: (x not in edge[:2], y not in edge[:2])):
        a, b = (w, v) if w == x or (v != x and at_v == ARROW) else (v, w)
        seen = ready.visible[v] >> w & 1 or ready.visible[w] >> v & 1 or ready.told_apart(v, w)
        if not seen and (not at_v == at_w == ARROW or isinstance(ready, Stated)):
            yield Statement("unconfounded", (names[a], names[b]))
        for c, d, at_c, at_d in ((v, w, at_v, at_w), (w, v, at_w, at_v)):
            if at_c == CIRCLE:
                yield Statement("not_causes", (names[c], names[d]))
                if at_d != TAIL:
                    yield Statement("causes", (names[c], names[d]))


def _weaker(one: Sequence[Statement], other: Sequence[Statement]) -> bool:
    """Tell whether the second of two sets of statements implies the first, and is not the same."""
    return set(one) != set(other) and all(any(s == t or _implies(t, s) for t in other) for s in one)


def _implies(one: Statement, other: Statement) -> bool:
    if one.kind == "causes":
        return other.kind == "not_causes" and one.about == other.about[::-1]
    if one.kind == "tiers" and other.kind == "not_causes":
        tier = {name: i for i, names in enumerate(one.about) for name in names}
        return tier.get(other.about[0], -1) > tier.get(other.about[1], len(tier))
    return one.kind == other.kind == "unconfounded" and one.about[1] == ANY and one.about[0] in other.about


def _trials_of(result: Discovery | Askable | Prepared, ready: Prepared) -> tuple[Trial, Trial]:
    """Return what makes a graph with more statements ready for questions, and what does so in less time.

    The first returns None where nothing fits. The second may not notice that, or leaves the work to the first.
    """
    if isinstance(ready, Stated):
        return lambda statements: _without_hidden(ready, statements), _nothing
    if not isinstance(ready.graph, PAG):
        return lambda statements: _visible(ready, statements), _nothing
    plain, said = ready.graph, Knowledge()
    if isinstance(result, Discovery) and result.knowledge is not None:
        plain, said = result.unaided or result.pag, result.knowledge
    elif isinstance(ready, Informed):
        plain, said = ready.plain, Knowledge.of(statement for statement, _ in ready.known.sources)
    mag = pag_to_mag(plain)

    def fitting(statements: Sequence[Statement]) -> Prepared | None:
        try:
            return informed(plain, said.and_(Knowledge.of(statements)))
        except (GraphError, KnowledgeError):
            return None

    def hasty(statements: Sequence[Statement]) -> Prepared | None:
        try:
            known = known_of(said.and_(Knowledge.of(statements)), plain.names)
            return as_informed(PAG._trusted(plain.names, pag_of(mag.marks, True, known)), plain, known)
        except (GraphError, KnowledgeError):
            return None

    return fitting, hasty


def _nothing(statements: Sequence[Statement]) -> Prepared | None:
    return None


def _without_hidden(ready: Stated, statements: Sequence[Statement]) -> Prepared:
    """Return a graph that a user states without some of its unmeasured causes."""
    gone = [set(statement.about) for statement in statements]
    kept = [edge for edge in ready.stated.edges if edge.at_a != edge.at_b or {edge.a, edge.b} not in gone]
    return Stated(ADMG(ready.stated.names, kept))


def _visible(ready: Prepared, statements: Sequence[Statement]) -> Prepared:
    """Return a MAG with more visible arrows."""
    names = ready.graph.names
    pairs = np.zeros((len(names), len(names)), dtype=bool)
    for about in (statement.about for statement in statements):
        a, b = names.index(about[0]), names.index(about[1]) if len(about) > 1 else slice(None)
        pairs[a, b] = pairs[b, a] = True
    found = Prepared(ready.graph)
    found.state_unconfounded(pairs)
    return found
