"""What the commands print. Names of variables are a stranger's text: nothing of them acts on the terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from lmarvel.graph.kinds import PAG
from lmarvel.graph.marks import arrow, parse_edge, quote
from lmarvel.result import evidence_wording, power, wording
from lmarvel.result.discovery import Discovery
from lmarvel.result.display import caption, edge_lines, legend, notes_beside, unsampled
from lmarvel.result.evidence_wording import table_said
from lmarvel.result.file.parts import json_text
from lmarvel.result.notes import ENDED_EARLY
from lmarvel.result.sources import costs_of
from lmarvel.result.support.check import ModelCheck
from lmarvel.result.support.evidence import claims_selection, refused_nodes, selected_edges
from lmarvel.result.support.frequencies import percent
from lmarvel.result.support.grades import Shown
from lmarvel.text import counted, printable, readable

if TYPE_CHECKING:
    from lmarvel.estimators.compare import Comparison

_MOST_CLAIMS, _MOST_BENDS = 12, 3
_NOTICED = (
    "curved",
    "rank",
    "scores",
    "skewed",
)  # tests that a look at the numbers chose; a reader should hear of it


def as_json(plain: Any) -> str:
    """Return plain data as JSON; characters that do not show are escaped."""
    return printable(json_text(plain) if isinstance(plain, dict) else json.dumps(plain, indent=1, ensure_ascii=False))


def as_edges(pag: PAG) -> str:
    """Return a graph in its text form, which can be read back."""
    return "\n".join(_edge_lines(pag))


def _edge_lines(pag: PAG) -> Iterator[str]:
    yield ("nodes: " + " ".join(map(_quoted, pag.names))).rstrip()
    for edge in pag.edges():
        yield f"{_quoted(edge.a)} {arrow(edge.at_a, edge.at_b)} {_quoted(edge.b)}"


def _quoted(name: str) -> str:
    return quote(name) if name.isprintable() else json.dumps(name, ensure_ascii=True)


def as_text(found: Discovery, marks: Shown = "supported", details: bool = False) -> str:
    """Return a result for people: the verdict, the graph to show, and where to see more."""
    return "\n".join(_lines(found, marks, details))


def _lines(found: Discovery, marks: Shown, details: bool) -> Iterator[str]:
    yield from found.verdict.lines
    yield ""
    if not found.nothing_learned:
        yield caption(found, marks)
        yield from edge_lines(found, marks)
        if found.resamples is not None and found.pag.n_edges:
            yield f"  edge: share of {found.resamples.replicates:,} resamples that have it{_marks_share(found)}"
        elif (why := unsampled(found)) is not None:
            yield f"  {why}"
        yield ""
        yield from _legend(found, marks)
        if details:
            yield from _grades(found)
        yield from _hidden(found)
        yield from _claims(found)
        yield from _knowledge(found)
        yield from _notes(found)
    yield from _numbers(found) if details or found.nothing_learned else _method(found, marks)


def _marks_share(found: Discovery) -> str:
    return "" if found.stability is None else "; marks: share of those with the same mark"


def _legend(found: Discovery, marks: Shown) -> Iterator[str]:
    kinds = legend(found, marks)
    if kinds:
        yield from (f"  A {kind} B   {text}" for kind, text in kinds.items())
        yield ""


def _grades(found: Discovery) -> Iterator[str]:
    """Iterate over what the grades mean."""
    if found.grades.basis != "exact":
        yield "Grades"
        yield from (f"  {grade:<9} {meaning}" for grade, meaning in evidence_wording.scale(found.grades.basis).items())
        yield ""


def _hidden(found: Discovery) -> Iterator[str]:
    """Iterate over the hidden nodes, and what speaks for sample selection."""
    if found.hidden:
        yield evidence_wording.HIDDEN
        yield from (f"  {evidence_wording.hidden_node(*node)}" for node in found.hidden)
        if (together := selected_edges(found)) is not None:
            yield f"  {together}"
        yield ""
    if refused := refused_nodes(found):
        yield "Not claimed"
        yield from (f"  {evidence_wording.refused_node(*node)}" for node in refused)
        yield ""
    if found.selection_gain is not None and claims_selection(found.shown()):
        yield f"Sample selection: {found.selection_gain}"
        yield ""


def _claims(found: Discovery) -> Iterator[str]:
    """Iterate over the causal claims that appear in many resamples of a bootstrap."""
    stability = found.stability
    if stability is None:
        return
    lost = stability.drawn - stability.replicates
    unusable = f" (nothing could be learned from {lost:,} more)" if lost else ""
    given = f", {evidence_wording.GIVEN}" if found.known is not None else ""
    yield f"Causal claims in {counted(stability.replicates, 'resample')}{unusable}{given}"
    claims = found.claims()
    yield from (f"  {claim} in {percent(share)}" for share, claim in claims[:_MOST_CLAIMS])
    if len(claims) > _MOST_CLAIMS:
        yield f"  and {counted(len(claims) - _MOST_CLAIMS, 'more claim')}; explain shows those of a pair"
    if not claims:
        yield "  no causal claim appears in at least half of the resamples"
    yield ""


def check_lines(check: ModelCheck) -> Iterator[str]:
    """Iterate over what a check of the model found, the worst by name."""
    yield str(check)
    yield from (f"  {failure}" for failure in check.worst())
    if len(check.in_doubt) > len(check.worst()):
        yield f"  and {len(check.in_doubt) - len(check.worst()):,} more"


def _knowledge(found: Discovery) -> Iterator[str]:
    """Iterate over what was known beforehand, where the marks come from, and what the tests contradict."""
    if found.knowledge is None:
        return
    yield "What you stated"
    costs, chose = costs_of(found), found.evidence.chose
    yield from (f"  {evidence_wording.stated_line(one, costs)}" for one in found.knowledge.statements)
    if chose is not None and "" in costs:
        yield f"Score    {evidence_wording.cost_line(chose.score, chose.price, costs)}"
    yield f"Marks    {evidence_wording.sources_line(found.sources) or 'none'}"
    if found.conflicts:
        yield "Statements that the data contradict (they were kept)"
        level = found.settings.get("alpha", wording.LEVEL)
        yield from (f"  {evidence_wording.conflict(*conflict, level)}" for conflict in found.conflicts)
    yield ""


def _notes(found: Discovery) -> Iterator[str]:
    ended = found.budget_ended and found.undecided  # that is told at the end
    notes = [note for note in notes_beside(found) if not (ended and note.kind == ENDED_EARLY)]
    if notes:
        yield "Notes"
        yield from (f"  {note}" for note in notes)
        yield ""


def _method(found: Discovery, marks: Shown) -> Iterator[str]:
    """Say in two or three lines how it was learned, and where to see more."""
    yield f"Method   {wording.method_name(found.settings)}"
    if found.settings.get("test") in _NOTICED and "test_chosen" in found.settings:
        yield f"Test     {found.settings['test_chosen']}"
    more = "--details shows tests, settings and power"
    if found.pag != found.shown(marks):
        more += "; --marks all shows every learned mark"
    yield f"More     {more}"


def _numbers(found: Discovery) -> Iterator[str]:
    if found.check is not None and not found.nothing_learned:
        first, *rest = check_lines(found.check)
        yield f"Check    {first}"
        yield from (f"         {line.strip()}" for line in rest)
    for bend in found.grounds.bends[:_MOST_BENDS]:
        yield f"Curve    {readable(bend.y)} bends with {readable(bend.x)} (p = {bend.pvalue:.2g})"
    stats = found.stats
    phases = ", ".join(f"{phase} {sum(sizes.values()):,}" for phase, sizes in stats.tests.items())
    if stats.n_tests:
        mean = f"{stats.mean_conditioning_size:.1f}"
        yield f"Tests    {stats.n_tests:,} distinct ({phases}); mean conditioning set {mean}"
    chosen = found.settings
    yield f"Method   {wording.method_name(chosen)}"
    if "test_chosen" in chosen:
        yield f"Test     {chosen['test_chosen']}"
    if taken := table_said(chosen):
        yield f"Table    {taken}"
    if "value_chosen" in chosen:
        yield f"Chosen   {chosen['value_chosen']}"
    search = found.versions.get("search", "unknown")
    yield f"Settings alpha {chosen['alpha']:g}, {_boundaries(chosen)}, {search} search"
    chose = found.evidence.chose
    if found.bic is not None and chose is not None:
        yield f"Score    {found.bic:,.1f} (stage {chose.stage}; penalty {chose.price:.1f} per edge)"
    seen = power.power(chosen) if chose is None else power.score_power(chosen, chose.price)
    unseen = [said for said in (seen, power.straight_only(chosen)) if said is not None]
    if unseen:
        yield f"Power    {'; '.join(unseen)}"


def time_line(seconds: float, phases: Mapping[str, float]) -> str:
    """Return how long a command took, and the phases of the search in it.

    Examples
    --------
    >>> time_line(2.34, {"data": 0.021, "search": 1.9})
    'Time     2.3 s in all (data 0.021, search 1.900)'
    """
    return f"Time     {seconds:.1f} s in all ({', '.join(f'{phase} {spent:.3f}' for phase, spent in phases.items())})"


def _boundaries(chosen: Mapping[str, Any]) -> str:
    if chosen["boundary"] == "none":
        return "no boundaries"
    if chosen["boundary"] == "own":
        return "boundaries as given"
    return f"boundaries by {chosen['boundary']} at {chosen['boundary_alpha']:.2g}"


def comparison_lines(compared: Comparison) -> Iterator[str]:
    """Iterate over the lines of a comparison."""
    yield f"{'method':<8} {'edges':>6} {'tests':>12} {'mean set':>9} {'seconds':>9} {'BIC':>14}"
    for name, found in compared.results.items():
        score = compared.bic[name]
        shown = _no_score(found) if score is None else f"{score:,.1f}"
        stats = found.stats
        late = f"   {found.budget_ended}" if found.budget_ended else ""
        yield (
            f"{name:<8} {found.pag.n_edges:>6} {stats.n_tests:>12,} {stats.mean_conditioning_size:>9.1f}"
            f" {sum(stats.seconds.values()):>9.3f} {shown:>14}{late}"
        )
    yield from (f"{name:<8} skipped: {printable(why)}" for name, why in compared.skipped.items())
    yield ""
    pairs = ((f"{readable(a)}, {readable(b)}", *edges) for (a, b), edges in compared.differences())
    rows = [("pair", *compared.results), *pairs]
    if len(rows) == 1:
        alone = compared.skipped and len(compared.results) == 1
        yield "Only one method ran: there is nothing to compare." if alone else "All methods give the same PAG."
        return
    yield "Where they differ"
    arrows = [rows[0], *((row[0], *(_arrow_of(edge) for edge in row[1:])) for row in rows[1:])]
    widths = [max(len(row[i]) for row in arrows) for i in range(len(rows[0]))]
    for row in arrows:
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _no_score(found: Discovery) -> str:
    return "undecided" if found.undecided else "illegal PAG"


def _arrow_of(edge: str) -> str:
    """Return the three characters of an edge between its names, which may hold anything."""
    return "." if edge == "no edge" else arrow(*parse_edge(edge)[2:])
