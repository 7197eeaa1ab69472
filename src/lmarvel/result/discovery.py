"""What a run found, and how: :class:`Discovery`.

The trace is a list of small records, in the order in which things happened, on positions; :class:`Discovery`
speaks of them by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from lmarvel.deferred import Deferred
from lmarvel.errors import GraphError
from lmarvel.files import write_text
from lmarvel.graph.kinds import MAG, PAG
from lmarvel.knowledge import Knowledge, Known
from lmarvel.orient.draft import RuleApplication
from lmarvel.orient.equivalence import explain_invalid
from lmarvel.result import display, meaning, missing, sources, wording
from lmarvel.result.explanation import DEPTH, Explainer, Explanation
from lmarvel.result.file.parts import json_text
from lmarvel.result.file.whole import decode_result, encode_result, read_result
from lmarvel.result.notes import Finding, ended_early, findings_of
from lmarvel.result.sources import Conflict
from lmarvel.result.statistics import Statistics
from lmarvel.result.support import evidence, reliability
from lmarvel.result.support.check import Implied, ModelCheck
from lmarvel.result.support.evidence import Evidence
from lmarvel.result.support.frequencies import Stability
from lmarvel.result.support.grades import Grade, Grades, Shown, grade_named
from lmarvel.result.support.grounds import Grounds
from lmarvel.result.support.reliability import Contested, Doubt
from lmarvel.result.trace import BudgetEnded, Event, NoneRemovable, Removed, Trace, but_separated
from lmarvel.result.verdict import Verdict, verdict_of

if TYPE_CHECKING:
    from lmarvel.effects.causes import Causes
    from lmarvel.effects.effect import Effect


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
        What the table was: rows, mean and standard deviation of each column, a fingerprint, and how it was read.
    versions : mapping
        The versions of what computed it.
    knowledge, unaided : Knowledge, PAG, optional
        What was known beforehand, and the PAG that the same adjacencies have without it.
    stability : Stability, optional
        How often each part appears in the resamples; ``check`` compares what the graph implies with the data.

    Examples
    --------
    >>> from lmarvel import DAG, LMarvel, MSeparation
    >>> truth = DAG.from_edges("A --> C", "B --> C", "C --> D")
    >>> found = LMarvel(test=MSeparation(truth)).fit().result_
    >>> print(found.describe("C", "D"))
    C --> D: C causes D; D does not cause C.
    """

    answers: ClassVar[dict[str, Callable[..., Any]]] = {}  # to questions of effects, which stand above: they fill it
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
    later_grounds: Deferred[Grounds] = field(default_factory=lambda: Deferred.of(Grounds()), repr=False)

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

    @cached_property
    def none_removable(self) -> frozenset[str]:
        """The variables that remained when none of them tested as removable; empty if that never happened."""
        left = next((e.remaining for e in but_separated(self.trace) if isinstance(e, NoneRemovable)), frozenset())
        return frozenset(self.pag.names[v] for v in left)

    @cached_property
    def contested(self) -> tuple[Contested, ...]:
        """Edges kept though another step found their ends independent: the pair, the set, the p-value."""
        return tuple(reliability.contested_edges(self))

    @property
    def doubtful(self) -> tuple[tuple[str, str], ...]:
        """Pairs without an edge, outside each other's Markov boundary, that no set which was tried separates."""
        return reliability.doubtful_pairs(self)

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

    @property
    def alpha(self) -> float:
        """The level of the tests."""
        return float(self.settings.get("alpha", wording.LEVEL))

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
        return Explainer(self)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("explainer", "grades", "_json")}

    # --- words ------------------------------------------------------------------------------------------

    def __str__(self) -> str:
        return display.summary(self)

    def __repr__(self) -> str:
        by = f" by {self.settings['method']}" if "method" in self.settings else ""
        return f"<{type(self).__name__}: {display.headline(self)}{by}>"

    def _repr_html_(self) -> str:
        return display.as_html(self)

    def draw(
        self,
        path: str | Path | None = None,
        *,
        layout: str = "auto",
        title: str | None = None,
        marks: Shown = "supported",
    ) -> str:
        """Draw the graph to show, see :meth:`shown`, and return it as SVG; write it to a .svg, .png or .pdf path."""
        return display.draw_shown(self, path, layout, title, marks)

    def explain(self, a: str, b: str, depth: int = DEPTH) -> Explanation:
        """Return why an edge is there or not, and why each end has its mark; ``depth`` limits reasons for reasons."""
        x, y = self.pag.index(a), self.pag.index(b)
        if x == y:
            raise GraphError(f"an edge joins two variables, and {a} was given twice")
        explanation = self.explainer.explain(x, y, self.describe_edge(a, b), depth)
        rows = missing.rows_lines(self, a, b, explanation.adjacency.event)
        return replace(explanation, reliability=(*rows, *reliability.reliability_lines(self, a, b)))

    def describe_edge(self, a: str, b: str) -> str:
        """Return in one sentence what the edge between two variables, or its absence, says."""
        return meaning.of_edge(self, a, b)

    @cached_property
    def why_illegal(self) -> str | None:
        """None if some MAG has exactly this PAG, else the reason why not; finite samples often give one."""
        return explain_invalid(self.pag, self.knowledge)

    def describe(self, a: str, b: str) -> str:
        """Return what the edge between two variables (or its absence) says, in plain words."""
        return meaning.of_pair(self, a, b)

    # --- how well it is supported -----------------------------------------------------------------------

    def support(self, a: str, b: str) -> dict[str, float | None]:
        """Return for each end of an edge how much worse the best graph with another mark is; None if not known."""
        return evidence.support_of(self, a, b)

    @property
    def hidden(self) -> tuple[tuple[str, tuple[str, ...], float], ...]:
        """The hidden nodes of the model: "latent" or "selection", the variables, what the score would lose."""
        return evidence.hidden_nodes(self)

    @property
    def selection_gain(self) -> str | None:
        """How much worse the best graph without selection is, in words; None where selection is not claimed."""
        return evidence.selection_gain(self)

    @property
    def resamples(self) -> Stability | None:
        """What the grades count: the bootstrap that was asked for, or a small one; None where it takes too long."""
        return self.stability if self.stability is not None else self.grounds.resamples

    @property
    def grounds(self) -> Grounds:
        """The resamples that nobody asked for, and relations that are not straight lines."""
        return self.later_grounds.made

    @cached_property
    def grades(self) -> Grades:
        """How firm each mark and each missing edge is, by position."""
        return Grades(self)

    def grade(self, a: str, b: str) -> Grade | None:
        """Return the grade of the mark at b on the edge a-b; None at a circle, or without an edge."""
        return grade_named(int(self.grades.marks[self.pag.index(a), self.pag.index(b)]))

    def shown(self, marks: Shown = "supported") -> PAG:
        """Return the graph to show, with circles for weaker marks: a summary, which need not be the PAG of a class."""
        return self.grades.shown(marks)

    @cached_property
    def verdict(self) -> Verdict:
        """What was learned, how much of it the data support, and what to do next."""
        return verdict_of(self)

    # --- how reliable it is -----------------------------------------------------------------------------

    @property
    def check(self) -> ModelCheck | None:
        """The separations that the graph implies, tested on the data; None where there was no table to test them on."""
        return None if self.later_check is None else self.later_check.made

    def stable(self, share: float = 0.8) -> PAG:
        """Return the edges, and on them the marks, that appear in at least this share of resamples: a summary."""
        return reliability.stable_graph(self, share)

    def edge_shares(self) -> dict[frozenset[str], float] | None:
        """Return the share of resamples that have each edge, by pair; None without a bootstrap."""
        return reliability.edge_shares(self)

    def recurring(self, a: str, b: str) -> str | None:
        """Return the share of resamples with the edge, and among them those of its marks; None without a bootstrap."""
        return reliability.recurring(self, a, b)

    def claims(self, least: float = reliability.CLAIMED) -> list[tuple[float, str]]:
        """Return what of causes appears in at least this share of the resamples, in words, the most frequent first."""
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

    @cached_property
    def tested_doubts(self) -> Mapping[frozenset[str], tuple[Doubt, ...]]:
        """Those doubts that come from tests, by pair."""
        return reliability.tested_doubts(self)

    # --- what was known beforehand ----------------------------------------------------------------------

    def source(self, a: str, b: str) -> str | None:
        """Return where the mark at b on the edge a-b comes from; None at a circle, or where nothing was known.

        "data", "knowledge" (a statement alone gives it), "both", or "together": it follows from neither alone.
        """
        return sources.source_of(self, a, b)

    @property
    def sources(self) -> dict[str, int]:
        """How many marks come from where, see :meth:`source`."""
        return sources.count_sources(self)

    @cached_property
    def conflicts(self) -> tuple[Conflict, ...]:
        """Statements that the tests or the score contradict; they were kept."""
        return sources.conflicts_of(self)

    def origin(self, a: str, b: str) -> str:
        """Return where the edge between two variables and its marks came from."""
        return sources.origin_of(self, a, b)

    # --- questions --------------------------------------------------------------------------------------

    def causes(self, y: str, marks: Shown = "supported") -> Causes:
        """Return which variables cause ``y`` under every explanation of the data, under some, and under none."""
        answer: Causes = self.answers["causes"](self, y, marks)
        return answer

    def effect(
        self,
        x: str,
        y: str,
        data: Any = None,
        *,
        given: str | Iterable[str] = (),
        **how: Any,
    ) -> Effect:
        """Return whether ``x`` affects ``y``, and by how much; see :func:`lmarvel.effect`.

        Examples
        --------
        >>> from lmarvel import DAG, LMarvel, MSeparation
        >>> truth = DAG.from_edges("A --> C", "B --> C", "C --> D")
        >>> LMarvel(test=MSeparation(truth)).fit().result_.effect("C", "D").status
        'adjustment'
        """
        answer: Effect = self.answers["effect"](self, x, y, data, given=given, **how)
        return answer

    # --- files ------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data, ready for JSON; docs/result-file.md describes it.

        Separating sets that the Markov boundaries imply are left out: they are the smaller boundary of the pair.
        """
        return encode_result(self)

    @classmethod
    def from_dict(cls, plain: Any) -> Discovery:
        """Return the result of plain data as :meth:`to_dict` gives it; refuse what is damaged or of a newer version."""
        return cls(**decode_result(plain))

    def to_json(self) -> str:
        """Return the text of the result file, which is made once."""
        return self._json

    @cached_property
    def _json(self) -> str:
        return json_text(self.to_dict()) + "\n"

    def save(self, path: str | Path) -> None:
        """Write the result as one JSON file, whole or not at all."""
        write_text(Path(path), self.to_json())

    @classmethod
    def load(cls, path: str | Path) -> Discovery:
        """Read a result file; the result is equal to the one that was saved."""
        return cls(**read_result(Path(path)))
