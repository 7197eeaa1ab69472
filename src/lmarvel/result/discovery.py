"""What a run found, and how: :class:`Discovery`.

The trace is a list of small records, in the order in which things happened, on positions; :class:`Discovery`
speaks of them by name.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmarvel.errors import GraphError, ResultError
from lmarvel.files import write_text
from lmarvel.graph.kinds import MAG, PAG
from lmarvel.graph.marks import ARROW, Edge
from lmarvel.knowledge import Knowledge
from lmarvel.orient.draft import RuleApplication
from lmarvel.orient.equivalence import explain_invalid
from lmarvel.result import evidence_wording, wording
from lmarvel.result.display import Displayed
from lmarvel.result.encoding import decode_sepsets, decode_trace, encode_sepsets, encode_trace, number
from lmarvel.result.evidence_wording import conflicts_note
from lmarvel.result.explanation import DEPTH, Explainer, Explanation
from lmarvel.result.frequencies import Stability
from lmarvel.result.reliability import Firm, LaterCheck, decode_firmness
from lmarvel.result.sources import Informed
from lmarvel.result.statistics import AllPairs, Statistics
from lmarvel.result.store import (
    decode_boundaries,
    decode_data,
    decode_graph,
    decode_knowledge,
    decode_mag,
    decode_seconds,
    decode_settings,
    decode_tests,
    decode_versions,
    encode_graph,
    json_text,
    read_part,
    sealed,
    unsealed,
)
from lmarvel.result.trace import Adjacent, BudgetEnded, Doubtful, Event, NoneRemovable, Removed, but_separated
from lmarvel.text import readable

if TYPE_CHECKING:
    from lmarvel.effects.causes import Causes
    from lmarvel.effects.effect import Effect

__all__ = ["AllPairs", "Contested", "Discovery", "Statistics"]

MOST_BYTES = 4 << 30  # of a result file
Contested = tuple[str, str, frozenset[str], float]

_ANSWERS: dict[str, Callable[..., Any]] = {}  # to questions of causes and effects


def answer_with(**answers: Callable[..., Any]) -> None:
    """Say what answers :meth:`Discovery.causes` and ``effect``: :mod:`lmarvel.effects`, which stands above."""
    _ANSWERS.update(answers)


@dataclass(frozen=True, repr=False)
class Discovery(Displayed, Firm, Informed):
    """A learned PAG with everything that led to it.

    Attributes
    ----------
    pag : PAG
        The result.
    sepsets : mapping
        A set that was tested and separates, by the names of the pair.
    boundaries : mapping
        The Markov boundary of each variable.
    stats : Statistics
        Tests and seconds.
    trace : sequence
        What happened, in order.
    settings : mapping
        The parameters of the run.
    undecided : sequence of pairs
        Pairs that the search left open. Methods that test keep them as edges that were not shown to be there.
    mag, bic : MAG, float, optional
        The graph that a search by score chose, and its BIC.
    data : mapping, optional
        What the table was: rows, mean and standard deviation of each column, and a fingerprint of these.
    versions : mapping
        The versions of what computed it.
    knowledge, unaided : Knowledge, PAG, optional
        What was known beforehand, and the PAG that the same adjacencies have without it.
    stability : Stability, optional
        How often each part recurs in a bootstrap; ``check`` holds what the graph implies against the data.

    Examples
    --------
    >>> from lmarvel import DAG, LMarvel, MSeparation
    >>> truth = DAG.from_edges("A --> C", "B --> C", "C --> D")
    >>> found = LMarvel(test=MSeparation(truth)).fit().result_
    >>> print(found.describe("C", "D"))
    C --> D: C is a cause of D; D is not a cause of C.
    """

    pag: PAG
    sepsets: Mapping[tuple[str, str], frozenset[str]]
    boundaries: Mapping[str, frozenset[str]]
    stats: Statistics
    trace: Sequence[Event] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    undecided: Sequence[tuple[str, str]] = ()
    mag: MAG | None = None
    bic: float | None = None
    data: Mapping[str, Any] | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    knowledge: Knowledge | None = None
    unaided: PAG | None = None
    stability: Stability | None = None
    later_check: LaterCheck | None = field(default=None, repr=False)

    @property
    def removal_order(self) -> tuple[str, ...]:
        """The variables in the order in which they were removed."""
        return tuple(self.pag.names[e.x] for e in but_separated(self.trace) if isinstance(e, Removed))

    @property
    def rules(self) -> tuple[RuleApplication, ...]:
        """Every application of an orientation rule, in order."""
        return tuple(e for e in self.trace if isinstance(e, RuleApplication))

    @property
    def budget_ended(self) -> str | None:
        """What ended the search early, a budget or another limit; None if nothing did."""
        reasons = dict.fromkeys(e.reason for e in but_separated(self.trace) if isinstance(e, BudgetEnded))
        return "; ".join(reasons) or None

    @property
    def nothing_learned(self) -> bool:
        """True if the search ended before a single pair was decided."""
        return len(self.undecided) == self.pag.n_edges == len(self.pag) * (len(self.pag) - 1) // 2 > 0

    @property
    def none_removable(self) -> frozenset[str]:
        """The variables that remained when none of them tested as removable; empty if that never happened."""
        left = next((e.remaining for e in but_separated(self.trace) if isinstance(e, NoneRemovable)), frozenset())
        return frozenset(self.pag.names[v] for v in left)

    @cached_property
    def contested(self) -> tuple[Contested, ...]:
        """Edges on which the tests disagree: the pair, the set given which a test found it independent, the p-value.

        The search for a separating set kept the edge, and yet another step of the run found its ends independent.
        """
        names, marks, level = self.pag.names, self.pag.marks, self._alpha
        found: dict[tuple[str, str], Contested] = {}
        for e in but_separated(self.trace):
            if isinstance(e, Adjacent) and e.strongest is not None and e.pvalue > level and marks[e.x, e.y]:
                if frozenset((e.x, e.y)) in self._explainer.overruled:
                    continue  # a statement keeps the edge, and the result lists that
                a, b = names[min(e.x, e.y)], names[max(e.x, e.y)]
                if not self._explainer.is_undecided(e.x, e.y):
                    found[a, b] = (a, b, frozenset(names[v] for v in e.strongest), e.pvalue)
        return tuple(found.values())

    @property
    def doubtful(self) -> tuple[tuple[str, str], ...]:
        """Pairs without an edge, outside each other's Markov boundary, that no set which was tried separates."""
        names = self.pag.names
        found = (e for e in but_separated(self.trace) if isinstance(e, Doubtful) and not self.pag.marks[e.x, e.y])
        return tuple((names[min(e.x, e.y)], names[max(e.x, e.y)]) for e in found)

    def _doubted(self) -> dict[frozenset[str], str]:
        """Return what stands beside edges that the search left open, or on which the tests disagree, by pair."""
        contested = {frozenset((a, b)): wording.disagreement(s, p, self._alpha) for a, b, s, p in self.contested}
        return {**dict.fromkeys(map(frozenset, self.undecided), wording.UNDECIDED), **contested}

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know before believing the result."""
        early = (self.undecided_note,) if self.undecided_note else ()
        return (*early, *evidence_wording.data_notes(self.data), *self._doubts())

    @property
    def undecided_note(self) -> str | None:
        """What is to be known of a search that ended early; None if it did not."""
        if not self.undecided and self.budget_ended is None:
            return None
        return wording.undecided_note(
            self.budget_ended, len(self.undecided), self.nothing_learned, are_edges=self.mag is None
        )

    def _doubts(self) -> Iterator[str]:
        if (powerless := wording.powerless(self.settings)) is not None:
            yield powerless
        if not self.undecided and self.why_illegal:
            yield wording.illegal_note(self.why_illegal)
        if self.conflicts:
            yield conflicts_note(len(self.conflicts))
        if self.contested:
            yield wording.contested_note(len(self.contested))
        if self.doubtful:
            yield wording.doubtful_note(len(self.doubtful))
        if self._can_err and (edges := self._explainer.edges_from_selection()):
            yield evidence_wording.erred_note(edges)
        if self.none_removable:
            yield wording.none_removable_note(len(self.none_removable))

    # --- words ------------------------------------------------------------------------------------------

    @property
    def _alpha(self) -> float:
        return float(self.settings.get("alpha", wording.LEVEL))

    @property
    def _can_err(self) -> bool:
        """True if single tests decided, and not an oracle's."""
        return self.mag is None and self.settings.get("test") != "MSeparation"

    @cached_property
    def _undecided(self) -> frozenset[tuple[str, str]] | None:
        """The undecided pairs as they are listed, None if all are."""
        return None if self.nothing_learned else frozenset(self.undecided)

    @cached_property
    def _explainer(self) -> Explainer:
        return Explainer(
            self.pag,
            self.sepsets,
            self.trace,
            self.settings,
            self._undecided,
            scored=self.mag is not None,
            legal=lambda: not self.undecided and self.why_illegal is None,
            known=self.known,
        )

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
        No edge: Weight and Horsepower are independent given ... (p = 0.046, boundary update)
        """
        x, y = self.pag.index(a), self.pag.index(b)
        if x == y:
            raise GraphError(f"an edge joins two variables, and {a} was given twice")
        told = self._explainer.explain(x, y, self.describe_edge(a, b), depth)
        return replace(told, firmness=self.firmness(a, b))

    def describe_edge(self, a: str, b: str) -> str:
        """Return in one sentence what the edge between two variables, or its absence, says."""
        edge = self.pag.edge(a, b)
        x, y = self.pag.index(a), self.pag.index(b)
        if edge is None:
            if frozenset((x, y)) in self._explainer.doubtful:
                return wording.IN_DOUBT
            return wording.absence(self._named(self._explainer.separation(x, y)[0]))
        if self._explainer.is_undecided(x, y):
            return wording.UNDECIDED + "."
        shown = Edge(readable(edge.a), readable(edge.b), edge.at_a, edge.at_b)
        said = self.fitting(wording.meaning(shown, self._not_selected(edge), wording.selected(self.settings)))
        if self._explainer.from_selection(x, y):
            said = evidence_wording.of_selection(said, self.evidence.chose, self._can_err)
        return evidence_wording.cautiously(said, self.evidence.word(self.pag, x, y))

    @cached_property
    def why_illegal(self) -> str | None:
        """None if some MAG has exactly this PAG, else the reason why not; finite samples often give one."""
        return explain_invalid(self.pag, self.knowledge)

    def describe(self, a: str, b: str) -> str:
        """Return what the edge between two variables (or its absence) says, in plain words."""
        edge = self.pag.edge(a, b)
        if a == b:
            raise GraphError(f"an edge joins two variables, and {a} was given twice")
        if edge is not None:
            return f"{wording.shown_edge(edge)}: {self.describe_edge(a, b)}"
        x, y = self.pag.index(a), self.pag.index(b)
        given = self._explainer.separation(x, y)[0]
        if frozenset((x, y)) in self._explainer.doubtful:
            why = wording.IN_DOUBT.capitalize()
        elif given is None and self.mag is not None:
            why = wording.left_out(self._explainer.is_undecided(x, y)).capitalize() + "."
        else:
            shown = None if given is None else self._explainer.given(given) if given else ""
            why = wording.separation(shown, self.settings.get("boundary") == "own")
        return f"{readable(a)}, {readable(b)}: not adjacent. {why}"

    def _named(self, positions: frozenset[int] | None) -> frozenset[str] | None:
        return None if positions is None else frozenset(self.pag.names[v] for v in positions)

    def _not_selected(self, edge: Edge) -> bool:
        """Tell whether the end that may be a cause has an arrowhead elsewhere: then it does not cause selection."""
        end = wording.possible_cause(edge)
        return any(near == ARROW for _, near, _ in self.pag.links[self.pag.index(end)])

    # --- questions --------------------------------------------------------------------------------------

    def causes(self, y: str) -> Causes:
        """Return which variables cause ``y`` under every explanation of the data, under some, and under none.

        Examples
        --------
        >>> from lmarvel import DAG, LMarvel, MSeparation
        >>> truth = DAG.from_edges("A --> C", "B --> C", "C --> D")
        >>> LMarvel(test=MSeparation(truth)).fit().result_.causes("D").definite
        ('C',)
        """
        answer: Causes = _ANSWERS["causes"](self, y)
        return answer

    def effect(
        self,
        x: str,
        y: str,
        data: Any = None,
        *,
        given: str | Iterable[str] = (),
        bootstrap: int | None = None,
        seed: int = 0,
        nominal: Sequence[str] = (),
    ) -> Effect:
        """Return whether ``x`` affects ``y``, and by how much; see :func:`lmarvel.effect`.

        Examples
        --------
        >>> from lmarvel import DAG, LMarvel, MSeparation
        >>> truth = DAG.from_edges("A --> C", "B --> C", "C --> D")
        >>> LMarvel(test=MSeparation(truth)).fit().result_.effect("C", "D").status
        'adjustment'
        """
        asked = {"given": given, "bootstrap": bootstrap, "seed": seed, "nominal": nominal}
        answer: Effect = _ANSWERS["effect"](self, x, y, data, **asked)
        return answer

    # --- files ------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data, ready for JSON; docs/result-file.md describes it.

        Separating sets that the Markov boundaries imply are left out: they are the smaller boundary of the pair.
        """
        pag = self.pag
        return sealed(
            {
                "nodes": list(pag.names),
                **encode_graph(pag, self.undecided),
                "illegal": None if self.undecided else self.why_illegal,
                "contested": [{"pair": [a, b], "given": sorted(s), "pvalue": p} for a, b, s, p in self.contested],
                "sepsets": encode_sepsets(self.sepsets, self.trace, pag.names),
                "boundaries": {name: sorted(mb) for name, mb in self.boundaries.items()},
                "removal_order": list(self.removal_order),
                "tests": {phase: {str(k): v for k, v in sizes.items()} for phase, sizes in self.stats.tests.items()},
                "seconds": dict(self.stats.seconds),
                "settings": dict(self.settings),
                "versions": dict(self.versions),
                "data": None if self.data is None else dict(self.data),
                "mag": None if self.mag is None else [str(edge) for edge in self.mag.edges()],
                "bic": self.bic,
                "trace": encode_trace(self.trace, pag.names),
                **self._encode_knowledge(),
                **self._encode_firmness(),
            }
        )

    @classmethod
    def from_dict(cls, plain: Any) -> Discovery:
        """Return the result of plain data as :meth:`to_dict` gives it; refuse what is damaged or of a newer version."""
        content = unsealed(plain)
        pag, undecided = decode_graph(content)
        names = pag.names
        index = {name: i for i, name in enumerate(names)}
        boundaries = read_part(content, "boundaries", lambda v: decode_boundaries(v, names))
        return cls(
            pag=pag,
            sepsets=read_part(content, "sepsets", lambda v: decode_sepsets(v, names, boundaries)),
            boundaries=boundaries,
            stats=Statistics(read_part(content, "tests", decode_tests), read_part(content, "seconds", decode_seconds)),
            trace=read_part(content, "trace", lambda v: decode_trace(v, index)),
            settings=read_part(content, "settings", decode_settings),
            undecided=undecided,
            mag=read_part(content, "mag", lambda v: None if v is None else decode_mag(v, names)),
            bic=read_part(content, "bic", lambda v: None if v is None else number(v)),
            data=read_part(content, "data", decode_data),
            versions=read_part(content, "versions", decode_versions),
            **decode_knowledge(content, names),
            **decode_firmness(content, pag),
        )

    def save(self, path: str | Path) -> None:
        """Write the result as one JSON file, whole or not at all."""
        write_text(Path(path), json_text(self.to_dict()) + "\n")

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
            if Path(path).stat().st_size > MOST_BYTES:
                raise ResultError(f"{path} has more than {MOST_BYTES >> 30} GiB, and is no result that could be read")
            plain = json.loads(Path(path).read_text("utf-8"))
        except ResultError:
            raise
        except FileNotFoundError:
            raise ResultError(f"there is no file {path}") from None
        except OSError as error:
            raise ResultError(f"cannot read {path}: {error.strerror or error}") from None
        except (ValueError, RecursionError):
            raise ResultError(f"{path} is cut off, or no result: 'lmarvel learn x.csv -o x.json' writes one") from None
        try:
            return cls.from_dict(plain)
        except ResultError as error:
            raise ResultError(f"{path}: {error}") from None
