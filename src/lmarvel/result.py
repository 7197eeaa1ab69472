"""What a run found, and how: :class:`Discovery`.

The trace is a list of small records, in the order in which things happened, on positions; :class:`Discovery`
speaks of them by name.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, islice
from pathlib import Path
from typing import Any

from lmarvel.atomic import write_text
from lmarvel.encoding import (
    FORMAT,
    VERSION,
    ResultError,
    checked_data,
    checked_settings,
    checksum,
    decode_event,
    decode_sepsets,
    encode_event,
    encode_sepsets,
    read_part,
)
from lmarvel.errors import GraphError
from lmarvel.explanation import DEPTH, Explainer, Explanation, readable
from lmarvel.graph.kinds import MAG, PAG
from lmarvel.graph.marks import ARROW, CIRCLE, TAIL, Edge, arrow
from lmarvel.orient.draft import RuleApplication
from lmarvel.orient.equivalence import explain_invalid
from lmarvel.trace import Adjacent, BudgetEnded, Event, NoneRemovable, Removed


@dataclass(frozen=True)
class Statistics:
    """Tests and seconds of a run.

    Attributes
    ----------
    tests : mapping
        Distinct tests by phase and size of the conditioning set: ``tests["adjacency"][2]``.
    seconds : mapping
        Wall-clock seconds by phase of the work.

    Examples
    --------
    >>> stats = Statistics({"adjacency": {0: 3, 1: 1}}, {"skeleton": 0.1})
    >>> stats.n_tests, stats.mean_conditioning_size
    (4, 0.25)
    """

    tests: Mapping[str, Mapping[int, int]]
    seconds: Mapping[str, float]

    @property
    def n_tests(self) -> int:
        """All distinct tests, boundary stage included."""
        return sum(sum(sizes.values()) for sizes in self.tests.values())

    def without(self, phase: str) -> Statistics:
        """Return the statistics without one phase, as the paper counts: without "boundary"."""
        return Statistics({p: sizes for p, sizes in self.tests.items() if p != phase}, self.seconds)

    def by_size(self) -> dict[int, int]:
        """Return the tests of all phases by size of the conditioning set."""
        total: dict[int, int] = {}
        for sizes in self.tests.values():
            for size, tests in sizes.items():
                total[size] = total.get(size, 0) + tests
        return dict(sorted(total.items()))

    @property
    def mean_conditioning_size(self) -> float:
        """The average size of the conditioning sets."""
        sizes = self.by_size()
        return sum(size * tests for size, tests in sizes.items()) / max(sum(sizes.values()), 1)


@dataclass(frozen=True)
class Discovery:
    """A learned PAG with everything that led to it.

    Attributes
    ----------
    pag : PAG
        The result.
    sepsets : mapping
        A separating set for each pair that was separated, by names; pairs that the Markov boundaries
        separate are answered too.
    boundaries : mapping
        The Markov boundary of each variable.
    stats : Statistics
        Tests and seconds.
    trace : tuple
        What happened, in order.
    settings : mapping
        The parameters of the run.
    undecided : sequence of pairs
        Pairs that a budget left open; they are edges of the PAG, but were not shown to be adjacent.
    mag, bic : MAG, float, optional
        The graph that a search by score chose, and its BIC.
    data : mapping, optional
        What the table was: rows, mean and standard deviation of each column, and a fingerprint of these.
    versions : mapping
        The versions of what computed it.

    Examples
    --------
    >>> from lmarvel import DAG, LMarvel, MSeparation
    >>> truth = DAG.from_edges("A --> C", "B --> C", "C --> D")
    >>> found = LMarvel(test=MSeparation(truth)).fit().result_
    >>> print(found.describe("A", "C"))
    A o-> C: C is not a cause of A. A may be a cause of C, or they may share an unmeasured cause.
    """

    pag: PAG
    sepsets: Mapping[tuple[str, str], frozenset[str]]
    boundaries: Mapping[str, frozenset[str]]
    stats: Statistics
    trace: tuple[Event, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    undecided: Sequence[tuple[str, str]] = ()
    mag: MAG | None = None
    bic: float | None = None
    data: Mapping[str, Any] | None = None
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def removal_order(self) -> tuple[str, ...]:
        """The variables in the order in which they were removed."""
        return tuple(self.pag.names[e.x] for e in self.trace if isinstance(e, Removed))

    @property
    def rules(self) -> tuple[RuleApplication, ...]:
        """Every application of an orientation rule, in order."""
        return tuple(e for e in self.trace if isinstance(e, RuleApplication))

    @property
    def budget_ended(self) -> str | None:
        """Why a budget ended the run or left pairs undecided; None if none did."""
        ended = next((e.reason for e in self.trace if isinstance(e, BudgetEnded)), None)
        return ended or ("max_conditioning limited the search" if self.undecided else None)

    @property
    def nothing_learned(self) -> bool:
        """True if a budget ended the run before a single pair was decided."""
        return len(self.undecided) == self.pag.n_edges == len(self.pag) * (len(self.pag) - 1) // 2 > 0

    @property
    def none_removable(self) -> frozenset[str]:
        """The variables that remained when none of them tested as removable; empty if that never happened."""
        left = next((e.remaining for e in self.trace if isinstance(e, NoneRemovable)), frozenset())
        return frozenset(self.pag.names[v] for v in left)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know before believing the result."""
        found = []
        if self.budget_ended:
            left = f"{len(self.undecided):,} pairs are undecided"
            kept = (
                "nothing was learned" if self.nothing_learned else "they stay as edges that were not shown to be there"
            )
            found.append(f"a budget ran out ({self.budget_ended}): {left}, {kept}")
        reason = None if self.undecided else self.why_illegal
        if reason:
            found.append(
                f"no MAG has exactly this PAG ({reason}): some tests contradict each other, as finite samples do"
            )
        if self.none_removable:
            count = len(self.none_removable)
            found.append(f"no variable tested as removable among {count}; these were settled by search")
        return tuple(found)

    # --- words ------------------------------------------------------------------------------------------

    @cached_property
    def _explainer(self) -> Explainer:
        undecided = None if self.nothing_learned else self.undecided
        return Explainer(self.pag, self.sepsets, self.trace, self.settings, undecided, scored=self.mag is not None)

    def explain(self, a: str, b: str, depth: int = DEPTH) -> Explanation:
        """Return why the edge between two variables is there or not, why each end has its mark, and what it means.

        ``depth`` limits reasons for reasons: in a long causal chain each mark rests on the one before.

        Examples
        --------
        >>> from lmarvel import LMarvel
        >>> from lmarvel.datasets import CARS
        >>> found = LMarvel().fit(CARS).result_
        >>> print(found.explain("Weight", "Horsepower"))                                     # doctest: +ELLIPSIS
        Weight and Horsepower are not adjacent
        Meaning: what is measured explains their dependence away.
        No edge: Weight and Horsepower are independent given ... (p = 0.046, search around chordless cycles)
        """
        x, y = self.pag.index(a), self.pag.index(b)
        if x == y:
            raise GraphError(f"an edge joins two variables, and {a} was given twice")
        return self._explainer.explain(x, y, self.describe_edge(a, b), depth)

    def describe_edge(self, a: str, b: str) -> str:
        """Return in one sentence what the edge between two variables, or its absence, says."""
        edge = self.pag.edge(a, b)
        x, y = self.pag.index(a), self.pag.index(b)
        if edge is None:
            given, tested = self._explainer.separation(x, y)
            if given:
                return "what is measured explains their dependence away."
            return "they are independent." if tested else "the data do not speak for a direct connection."
        if self._explainer.is_undecided(x, y):
            return "undecided, a budget ended the search: the edge was not shown to be there."
        shown = Edge(readable(edge.a), readable(edge.b), edge.at_a, edge.at_b)
        return meaning(shown, settled=self._not_selected(edge))

    @property
    def why_illegal(self) -> str | None:
        """None if some MAG has exactly this PAG, else the reason why not; finite samples often give one."""
        return explain_invalid(self.pag)

    def describe(self, a: str, b: str) -> str:
        """Return what the edge between two variables (or its absence) says, in plain words."""
        edge = self.pag.edge(a, b)
        if a == b:
            raise GraphError(f"an edge joins two variables, and {a} was given twice")
        if edge is not None:
            return f"{edge}: {self.describe_edge(a, b)}"
        given, tested = self._explainer.separation(self.pag.index(a), self.pag.index(b))
        listed = ", ".join(sorted(self.pag.names[v] for v in given or ()))
        if given is None:
            why = "The data do not speak for a direct connection."
        elif tested is None:
            why = f"Their Markov boundaries separate them: {listed or 'nothing'}."
        else:
            why = f"They are independent given {listed}." if given else "They are independent."
        return f"{a}, {b}: not adjacent. {why}"

    def _not_selected(self, edge: Edge) -> bool:
        """Tell whether the end with the tail has an arrowhead elsewhere: then it does not cause selection."""
        tail = edge.a if edge.at_a == TAIL else edge.b
        return any(at_tail == ARROW for _, at_tail, _ in self.pag.links[self.pag.index(tail)])

    def origin(self, a: str, b: str) -> str:
        """Return where the edge between two variables and its marks came from."""
        i, j = self.pag.index(a), self.pag.index(b)
        if i == j:
            raise GraphError(f"an edge joins two variables, and {a} was given twice")
        return "; ".join(self._origin(i, j))

    def _origin(self, i: int, j: int) -> Iterator[str]:
        names = self.pag.names
        for e in self.trace:
            if isinstance(e, Adjacent) and {e.x, e.y} == {i, j}:
                yield f"no separating set in the {e.phase} search"
            elif isinstance(e, RuleApplication):
                for x, y, mark in e.written:
                    if {x, y} == {i, j}:
                        kind = {ARROW: "arrowhead", TAIL: "tail"}[mark]
                        where = ", ".join(names[v] for v in e.nodes)
                        yield f"{kind} at {names[y]} by {e.rule} on {where}"

    # --- pictures ---------------------------------------------------------------------------------------

    def draw(self, path: str | Path | None = None, *, layout: str = "auto", title: str | None = None) -> str:
        """Draw the PAG and return it as SVG; with a path, write it there: .svg, .png or .pdf."""
        from lmarvel.drawing import draw  # loaded when needed: it is a third of the package's start

        return draw(self.pag, path, layout=layout, title=title)

    def _repr_svg_(self) -> str | None:
        return self.pag._repr_svg_()

    # --- files ------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data, ready for JSON; docs/result-file.md describes it.

        Separating sets that the Markov boundaries imply are left out: they are the smaller boundary of the pair.
        """
        pag = self.pag
        content = {
            "format": FORMAT,
            "version": VERSION,
            "nodes": list(pag.names),
            "edges": [str(edge) for edge in pag.edges()],
            "undecided": "all" if isinstance(self.undecided, AllPairs) else [list(pair) for pair in self.undecided],
            "illegal": None if self.undecided else self.why_illegal,
            "sepsets": encode_sepsets(self.sepsets, self.trace, pag.names),
            "boundaries": {name: sorted(mb) for name, mb in self.boundaries.items()},
            "removal_order": list(self.removal_order),
            "tests": {phase: {str(k): v for k, v in sizes.items()} for phase, sizes in self.stats.tests.items()},
            "seconds": dict(self.stats.seconds),
            "settings": dict(self.settings),
            "versions": dict(self.versions),
            "data": self.data,
            "mag": None if self.mag is None else [str(edge) for edge in self.mag.edges()],
            "bic": self.bic,
            "trace": [encode_event(event, pag.names) for event in self.trace],
        }
        return {**content, "checksum": checksum(content)}

    @classmethod
    def from_dict(cls, plain: Any) -> Discovery:
        """Return the result of plain data as :meth:`to_dict` gives it; refuse what is damaged or of a newer version."""
        if not isinstance(plain, dict) or plain.get("format") != FORMAT:
            raise ResultError("this is no result of lmarvel: 'lmarvel learn data.csv -o result.json' writes one")
        version = plain.get("version")
        if version != VERSION:
            newer = isinstance(version, int) and version > VERSION
            advice = "install a newer lmarvel" if newer else "learn it again with this version"
            raise ResultError(f"the result file is of version {version!r}, and this is read: {VERSION}; {advice}")
        content = {name: value for name, value in plain.items() if name != "checksum"}
        if checksum(content) != plain.get("checksum"):
            raise ResultError("the result file is damaged or was changed: its checksum does not fit; learn it again")
        names = read_part(content, "nodes", lambda v: tuple(map(str, v)))
        index = {name: i for i, name in enumerate(names)}
        boundaries = read_part(content, "boundaries", lambda v: {k: frozenset(map(str, mb)) for k, mb in v.items()})
        return cls(
            pag=read_part(content, "edges", lambda v: PAG.from_edges(*v, nodes=names)),
            sepsets=read_part(content, "sepsets", lambda v: decode_sepsets(v, names, boundaries)),
            boundaries=boundaries,
            stats=Statistics(
                read_part(
                    content, "tests", lambda v: {p: {int(k): int(t) for k, t in s.items()} for p, s in v.items()}
                ),
                read_part(content, "seconds", lambda v: {k: float(s) for k, s in v.items()}),
            ),
            trace=read_part(content, "trace", lambda v: tuple(decode_event(e, index) for e in v)),
            settings=read_part(content, "settings", checked_settings),
            undecided=read_part(
                content,
                "undecided",
                lambda v: AllPairs(names) if v == "all" else tuple((names[index[a]], names[index[b]]) for a, b in v),
            ),
            mag=read_part(content, "mag", lambda v: None if v is None else MAG.from_edges(*v, nodes=names)),
            bic=read_part(content, "bic", lambda v: None if v is None else float(v)),
            data=read_part(content, "data", checked_data),
            versions=read_part(content, "versions", lambda v: {str(k): str(text) for k, text in v.items()}),
        )

    def save(self, path: str | Path) -> None:
        """Write the result as one JSON file, whole or not at all."""
        write_text(Path(path), json.dumps(self.to_dict(), indent=1, ensure_ascii=False) + "\n")

    @classmethod
    def load(cls, path: str | Path) -> Discovery:
        """Read a result file; the result is equal to the one that was saved.

        Examples
        --------
        >>> import tempfile
        >>> from lmarvel import LMarvel
        >>> from lmarvel.datasets import CARS
        >>> found = LMarvel().fit(CARS).result_
        >>> path = Path(tempfile.mkdtemp()) / "cars.json"
        >>> found.save(path)
        >>> Discovery.load(path) == found
        True
        """
        try:
            plain = json.loads(Path(path).read_text("utf-8"))
        except FileNotFoundError:
            raise ResultError(f"there is no file {path}") from None
        except OSError as error:
            raise ResultError(f"cannot read {path}: {error.strerror or error}") from None
        except (ValueError, RecursionError):
            raise ResultError(
                f"{path} is cut off, or no result: 'lmarvel learn data.csv -o x.json' writes one"
            ) from None
        try:
            return cls.from_dict(plain)
        except ResultError as error:
            raise ResultError(f"{path}: {error}") from None


class AllPairs(Sequence[tuple[str, str]]):
    """Every pair of names, made when asked for: with thousands of variables there are millions."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)

    def __len__(self) -> int:
        return len(self.names) * (len(self.names) - 1) // 2

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return combinations(self.names, 2)

    def __eq__(self, other: object) -> bool:
        return self.names == other.names if isinstance(other, AllPairs) else NotImplemented

    def __getitem__(self, index: Any) -> Any:
        return list(self)[index] if isinstance(index, slice) else next(islice(self, range(len(self))[index], None))


_MEANING = {
    (TAIL, ARROW): "{a} is a cause of {b}, or of being in the sample; {b} is not a cause of {a}.",
    (ARROW, ARROW): "neither is a cause of the other: they share an unmeasured cause.",
    (TAIL, TAIL): "selection: both influence being in the sample.",
    (CIRCLE, ARROW): "{b} is not a cause of {a}. {a} may be a cause of {b}, or they may share an unmeasured cause.",
    (CIRCLE, CIRCLE): "they are dependent whatever else is known. The data do not tell why: either may cause the other,"
    " they may share an unmeasured cause, or both may influence being in the sample.",
    (CIRCLE, TAIL): "{b} is a cause of {a}, or of being in the sample; the data do not tell about {a}.",
}


def meaning(edge: Edge, settled: bool = False) -> str:
    """Return in a plain sentence what an edge of a PAG says.

    ``settled`` means that the end with the tail is known not to cause selection, so that it causes the other.

    Examples
    --------
    >>> from lmarvel.graph.marks import parse_edge
    >>> meaning(parse_edge("A <-> B"))
    'neither is a cause of the other: they share an unmeasured cause.'
    """
    if (edge.at_a, edge.at_b) not in _MEANING:
        edge = edge.reversed()
    text = _MEANING[edge.at_a, edge.at_b].format(a=edge.a, b=edge.b)
    return text.replace(", or of being in the sample;", ";") if settled else text


def edge_kinds() -> dict[str, str]:
    """Return each kind of edge of a PAG with what it means, for legends."""
    return {arrow(*marks): text.format(a="A", b="B") for marks, text in _MEANING.items()}
