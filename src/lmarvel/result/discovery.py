"""What a run found, and how: :class:`Discovery`.

The trace is a list of small records, in the order in which things happened, on positions; :class:`Discovery`
speaks of them by name.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmarvel.deferred import Deferred
from lmarvel.drawing import draw
from lmarvel.errors import GraphError, ParameterError, ResultError
from lmarvel.files import write_text
from lmarvel.graph.kinds import MAG, PAG
from lmarvel.graph.marks import ARROW, Edge
from lmarvel.knowledge import Knowledge, Known
from lmarvel.orient.draft import RuleApplication
from lmarvel.orient.equivalence import explain_invalid
from lmarvel.result import display, evidence, evidence_wording, reliability, sources, wording
from lmarvel.result.check import Implied, ModelCheck
from lmarvel.result.encoding import decode_sepsets, decode_trace, encode_sepsets, encode_trace, number
from lmarvel.result.evidence import Evidence
from lmarvel.result.explanation import DEPTH, Explainer, Explanation
from lmarvel.result.frequencies import Stability
from lmarvel.result.notes import Finding, ended_early, findings_of
from lmarvel.result.reliability import Doubt
from lmarvel.result.sources import Conflict
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
from lmarvel.result.trace import Adjacent, BudgetEnded, Doubtful, Event, NoneRemovable, Removed, Trace, but_separated
from lmarvel.text import readable, sentence

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
class Discovery:
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
    later_check: Deferred[ModelCheck] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "trace", Trace.of(self.trace))  # which keeps separated pairs as columns

    @property
    def removal_order(self) -> tuple[str, ...]:
        """The variables in the order in which they were removed."""
        return tuple(self.pag.names[e.x] for e in but_separated(self.trace) if isinstance(e, Removed))

    @property
    def rules(self) -> tuple[RuleApplication, ...]:
        """Every application of an orientation rule, in order."""
        return tuple(e for e in but_separated(self.trace) if isinstance(e, RuleApplication))

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
        names, marks, level = self.pag.names, self.pag.marks, self.alpha
        contested: dict[tuple[str, str], Contested] = {}
        for e in but_separated(self.trace):
            if isinstance(e, Adjacent) and e.strongest is not None and e.pvalue > level and marks[e.x, e.y]:
                if frozenset((e.x, e.y)) in self.explainer.overruled:
                    continue  # a statement keeps the edge, and the result lists that
                a, b = names[min(e.x, e.y)], names[max(e.x, e.y)]
                if not self.explainer.is_undecided(e.x, e.y):
                    contested[a, b] = (a, b, frozenset(names[v] for v in e.strongest), e.pvalue)
        return tuple(contested.values())

    @property
    def doubtful(self) -> tuple[tuple[str, str], ...]:
        """Pairs without an edge, outside each other's Markov boundary, that no set which was tried separates."""
        names = self.pag.names
        pairs = (e for e in but_separated(self.trace) if isinstance(e, Doubtful) and not self.pag.marks[e.x, e.y])
        return tuple((names[min(e.x, e.y)], names[max(e.x, e.y)]) for e in pairs)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What a reader should know before believing the result: each with its kind and its data."""
        return tuple(findings_of(self))

    @property
    def notes(self) -> tuple[str, ...]:
        """The findings in words."""
        return tuple(map(str, self.findings))

    @property
    def undecided_note(self) -> str | None:
        """What is to be known of a search that ended early; None if it did not."""
        early = ended_early(self)
        return None if early is None else str(early)

    # --- what the rooms of the result read --------------------------------------------------------------

    @property
    def alpha(self) -> float:
        """The level of the tests."""
        return float(self.settings.get("alpha", wording.LEVEL))

    @property
    def can_err(self) -> bool:
        """True if single tests decided, and not an oracle's."""
        return self.mag is None and self.settings.get("test") != "MSeparation"

    @property
    def allows_latents(self) -> bool:
        """True unless it was said beforehand that all common causes are measured."""
        return self.knowledge is None or self.knowledge.latents

    @cached_property
    def known(self) -> Known | None:
        """The statements on the positions of the variables; None where nothing was known."""
        return None if self.knowledge is None else Known.of(self.knowledge.statements, self.pag.names)

    @cached_property
    def evidence(self) -> Evidence:
        """The records of the trace that weigh the parts of the graph; empty where the method has none."""
        return Evidence(self.trace)

    @cached_property
    def explainer(self) -> Explainer:
        """What knows which records of the trace a mark rests on."""
        return Explainer(
            self.pag,
            self.sepsets,
            self.trace,
            self.settings,
            None if self.nothing_learned else frozenset(self.undecided),
            scored=self.mag is not None,
            legal=lambda: not self.undecided and self.why_illegal is None,
            known=self.known,
        )

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "explainer"}  # it is made again

    # --- words ------------------------------------------------------------------------------------------

    def __str__(self) -> str:
        return display.summary(self)

    def __repr__(self) -> str:
        by = f" by {self.settings['method']}" if "method" in self.settings else ""
        return f"<{type(self).__name__}: {display.headline(self)}{by}>"

    def _repr_html_(self) -> str:
        return display.as_html(self)

    def draw(self, path: str | Path | None = None, *, layout: str = "auto", title: str | None = None) -> str:
        """Draw the PAG and return it as SVG; with a path, write it there: .svg, .png or .pdf.

        Where there was a bootstrap, edges that recur are thick, and others thin and faint.
        """
        return draw(self.pag, path, layout=layout, title=title, shares=self.edge_shares())

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
        explanation = self.explainer.explain(x, y, self.describe_edge(a, b), depth)
        return replace(explanation, reliability=tuple(reliability.reliability_lines(self, a, b)))

    def describe_edge(self, a: str, b: str) -> str:
        """Return in one sentence what the edge between two variables, or its absence, says."""
        edge = self.pag.edge(a, b)
        x, y = self.pag.index(a), self.pag.index(b)
        if edge is None:
            if frozenset((x, y)) in self.explainer.doubtful:
                return f"{wording.IN_DOUBT}."
            return wording.absence(self.explainer.separation(x, y)[0])
        if self.explainer.is_undecided(x, y):
            return f"{wording.UNDECIDED}."
        shown = Edge(readable(edge.a), readable(edge.b), edge.at_a, edge.at_b)
        selection = wording.selected(self.settings)
        statement = wording.statement(shown, self._not_selected(edge), selection, self.allows_latents)
        return evidence_wording.edge_sentence(
            statement,
            self.evidence.word(self.pag, x, y),
            self.explainer.from_selection(x, y),
            self.evidence.chose,
            self.can_err,
        )

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
        given = self.explainer.separation(x, y)[0]
        if frozenset((x, y)) in self.explainer.doubtful:
            why = sentence(wording.IN_DOUBT)
        elif given is None and self.mag is not None:
            why = sentence(wording.left_out(self.explainer.is_undecided(x, y)))
        else:
            shown = None if given is None else self.explainer.given(given) if given else ""
            why = wording.separation(shown, self.settings.get("boundary") == "own")
        return f"{readable(a)}, {readable(b)}: not adjacent. {why}"

    def _not_selected(self, edge: Edge) -> bool:
        """Tell whether the end that may be a cause has an arrowhead elsewhere: then it does not cause selection."""
        end = wording.possible_cause(edge)
        return any(near == ARROW for _, near, _ in self.pag.links[self.pag.index(end)])

    # --- how well it is supported -----------------------------------------------------------------------

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
        return evidence.support_of(self, a, b)

    def support_word(self, a: str, b: str) -> str | None:
        """Return "firm", "likely" or "open" for the weaker mark of an edge that the data give; None without one."""
        return evidence.support_word_of(self, a, b)

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
        return evidence.claims_selection(self.pag)

    @property
    def selection_gain(self) -> str | None:
        """How much worse the best graph without selection is, in words; None where selection is not claimed."""
        chose = self.evidence.chose
        if chose is None or not self.claims_selection:
            return None
        return evidence_wording.without_selection(chose.selection_gain)

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
        return evidence.cautious_graph(self.pag, self.evidence, level)

    # --- how reliable it is -----------------------------------------------------------------------------

    @property
    def check(self) -> ModelCheck | None:
        """The separations that the graph implies, tested on the data; None where there was no table to test them on.

        Examples
        --------
        >>> from lmarvel import LMarvel
        >>> from lmarvel.datasets import CARS
        >>> print(LMarvel().fit(CARS).result_.check)                                         # doctest: +ELLIPSIS
        The data reject ... of the 8 separations that ...
        """
        return None if self.later_check is None else self.later_check.made

    def stable(self, share: float = 0.8) -> PAG:
        """Return what recurs in at least this share of the draws: edges, and on them marks; other marks are circles.

        It is a summary, to be read edge by edge, and need not be the PAG of any class: two variables without an edge in
        it are not thereby independent given anything.

        Examples
        --------
        >>> from lmarvel import LMarvel
        >>> from lmarvel.datasets import CARS
        >>> found = LMarvel().fit(CARS, bootstrap=100, seed=1).result_
        >>> found.stable(0.9).n_edges <= found.stable(0.5).n_edges <= found.pag.n_edges
        True
        """
        if self.stability is None:
            raise ParameterError(
                "this result does not tell what recurs: learn it with a bootstrap, fit(data, bootstrap=200)"
            )
        return self.stability.stable(self.pag, share)

    def edge_shares(self) -> dict[frozenset[str], float] | None:
        """Return in which share of the draws each edge recurs, by pair; None without a bootstrap."""
        stability = self.stability
        if stability is None:
            return None
        return {frozenset((edge.a, edge.b)): stability.edge(edge.a, edge.b) for edge in self.pag.edges()}

    def recurring(self, a: str, b: str) -> str | None:
        """Return how often the edge recurs, and where it does its marks at a and at b; None without a bootstrap."""
        return reliability.recurring(self, a, b)

    def claims(self, least: float = reliability.CLAIMED) -> list[tuple[float, str]]:
        """Return what of causes recurs in at least this share of the draws, in words, the most frequent first."""
        return [(claim.share, str(claim)) for claim in reliability.claims_of(self, least)]

    def rests_on_rejected(self, a: str, b: str) -> tuple[Implied, ...]:
        """Return the separations that the data reject and the mark at b on the edge a-b rests on, the worst first."""
        return reliability.rests_on_rejected(self, a, b)

    @cached_property
    def rejected(self) -> Mapping[tuple[int, int], frozenset[frozenset[int]]]:
        """For each end of an edge with a mark that rests on rejected separations, the pairs of these."""
        return reliability.rejected_pairs(self)

    @cached_property
    def doubts(self) -> Mapping[frozenset[str], tuple[Doubt, ...]]:
        """Why edges are less sure than others, by pair: undecided, contested, or resting on what the data reject."""
        return reliability.doubts_of(self)

    # --- what was known beforehand ----------------------------------------------------------------------

    def source(self, a: str, b: str) -> str | None:
        """Return where the mark at b on the edge a-b comes from; None at a circle, or where nothing was known.

        "data": the tests (or the score) give it, and no statement does. "knowledge": a statement gives it, and the data
        do not. "both": each gives it. "together": it follows from the two, and from neither alone.

        Examples
        --------
        >>> from lmarvel import DAG, Knowledge, LMarvel, MSeparation
        >>> truth = MSeparation(DAG.from_edges("A --> B", "B --> C"))
        >>> found = LMarvel(test=truth, knowledge=Knowledge(tiers=[["A"], ["B", "C"]])).fit().result_
        >>> print(found.pag, found.source("A", "B"), found.source("B", "C"), sep="\\n")
        nodes: A B C
        A o-> B
        B --> C
        knowledge
        together
        """
        return sources.source_of(self, a, b)

    @property
    def sources(self) -> dict[str, int]:
        """How many marks come from where, see :meth:`source`; empty where nothing was known."""
        return sources.count_sources(self)

    @cached_property
    def conflicts(self) -> tuple[Conflict, ...]:
        """Statements that the tests contradict; they were kept.

        Examples
        --------
        >>> from lmarvel import DAG, Knowledge, LMarvel, MSeparation
        >>> truth = MSeparation(DAG.from_edges("A --> B", "B --> C"))
        >>> LMarvel(test=truth, knowledge=Knowledge(edges=[("A", "C")])).fit().result_.conflicts[0]
        Conflict(a='A', b='C', statement='you said that A and C are adjacent', given=('B',), pvalue=1.0)
        """
        return sources.conflicts_of(self)

    def origin(self, a: str, b: str) -> str:
        """Return where the edge between two variables and its marks came from."""
        return sources.origin_of(self, a, b)

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
                "trace": encode_trace(Trace.of(self.trace), pag.names),
                **sources.encode_knowledge(self),
                **reliability.encode_reliability(self),
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
            **reliability.decode_reliability(content, pag),
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
