"""What the commands print. Names of variables are a stranger's text: nothing of them acts on the terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from lmarvel.graph.kinds import PAG
from lmarvel.graph.marks import arrow, parse_edge, quote
from lmarvel.result import evidence_wording, wording
from lmarvel.result.check import ModelCheck
from lmarvel.result.discovery import Discovery
from lmarvel.result.display import edge_lines, headline, legend, notes_beside
from lmarvel.result.evidence_wording import table_said
from lmarvel.result.file.parts import json_text
from lmarvel.result.frequencies import percent
from lmarvel.result.notes import ENDED_EARLY
from lmarvel.result.reliability import CLAIMED
from lmarvel.text import counted, printable, readable

if TYPE_CHECKING:
    from lmarvel.estimators.compare import Comparison

_MOST_CLAIMS = 12


def as_json(plain: Any) -> str:
    """Return plain data as JSON; characters that do not show are escaped."""
    return printable(json_text(plain) if isinstance(plain, dict) else json.dumps(plain, indent=1, ensure_ascii=False))


def as_edges(pag: PAG) -> str:
    """Return a graph in its text form, which can be read back."""
    return "\n".join(_edge_lines(pag))


def indented(text: str) -> str:
    """Return a text with its lines moved to the right."""
    return "\n".join(f"  {line}" for line in text.splitlines())


def _edge_lines(pag: PAG) -> Iterator[str]:
    yield ("nodes: " + " ".join(map(_quoted, pag.names))).rstrip()
    for edge in pag.edges():
        yield f"{_quoted(edge.a)} {arrow(edge.at_a, edge.at_b)} {_quoted(edge.b)}"


def _quoted(name: str) -> str:
    return quote(name) if name.isprintable() else json.dumps(name, ensure_ascii=True)


def as_text(found: Discovery) -> str:
    """Return a result for people."""
    return "\n".join(_lines(found))


def _lines(found: Discovery) -> Iterator[str]:
    yield headline(found)
    yield ""
    if found.nothing_learned:
        yield from _numbers(found)
        return
    yield from edge_lines(found)
    yield ""
    yield from _legend(found)
    yield from _hidden(found)
    yield from _recurring(found)
    yield from _knowledge(found)
    yield from _notes(found)
    yield from _numbers(found)


def _legend(found: Discovery) -> Iterator[str]:
    kinds = legend(found)
    if kinds:
        yield "What the edges say"
        yield from (f"  A {kind} B   {text}" for kind, text in kinds.items())
        yield ""


def _hidden(found: Discovery) -> Iterator[str]:
    """Iterate over what the words of support mean, the hidden nodes, and what speaks for selection."""
    if found.evidence.chose is not None and any(found.support_word(edge.a, edge.b) for edge in found.pag.edges()):
        yield "How well the marks are supported"
        yield from (f"  {word:<8} {meaning}" for word, meaning in evidence_wording.SCALE.items())
        yield ""
    if found.hidden:
        yield evidence_wording.HIDDEN
        yield from (f"  {evidence_wording.hidden_node(*node)}" for node in found.hidden)
        yield ""
    if found.selection_gain is not None:
        yield f"Selection: {found.selection_gain}"
        yield ""


def _recurring(found: Discovery) -> Iterator[str]:
    """Iterate over what the shares beside the edges are, and over the claims on causes that recur."""
    stability = found.stability
    if stability is None:
        return
    lost = stability.drawn - stability.replicates
    unusable = f" (nothing could be learned from {lost:,} more)" if lost else ""
    yield f"What recurs in {counted(stability.replicates, 'draw')} of the rows{unusable}"
    yield "  beside an edge: its share of the draws, and where it is there those of its left and right mark"
    claims = found.claims()
    yield from (f"  {claim} in {percent(share)}" for share, claim in claims[:_MOST_CLAIMS])
    if len(claims) > _MOST_CLAIMS:
        yield f"  and {counted(len(claims) - _MOST_CLAIMS, 'more claim')}, which explain tells of each pair"
    if not claims:
        yield f"  no claim on causes recurs in {percent(CLAIMED)} or more"
    yield ""


def check_lines(check: ModelCheck) -> Iterator[str]:
    """Iterate over what a check of the model found, the worst by name."""
    yield str(check)
    yield from (f"  {failure}" for failure in check.worst())
    if len(check.failed) > len(check.worst()):
        yield f"  and {len(check.failed) - len(check.worst()):,} more"


def _knowledge(found: Discovery) -> Iterator[str]:
    """Iterate over what was known beforehand, where the marks come from, and what the tests contradict."""
    if found.knowledge is None:
        return
    yield "What was known"
    yield from (f"  {statement}" for statement in found.knowledge.statements)
    yield f"Marks    {evidence_wording.sources_line(found.sources) or 'none'}"
    if found.conflicts:
        yield "What the tests contradict, and was kept"
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


def _numbers(found: Discovery) -> Iterator[str]:
    if found.check is not None and not found.nothing_learned:
        first, *rest = check_lines(found.check)
        yield f"Check    {first}"
        yield from (f"         {line.strip()}" for line in rest)
    stats = found.stats
    phases = ", ".join(f"{phase} {sum(sizes.values()):,}" for phase, sizes in stats.tests.items())
    if stats.n_tests:
        mean = f"{stats.mean_conditioning_size:.1f}"
        yield f"Tests    {stats.n_tests:,} distinct ({phases}); mean conditioning set {mean}"
    chosen = found.settings
    if "chosen" in chosen:
        yield f"Method   {chosen['chosen']}"
    if told := table_said(chosen):
        yield f"Table    {told}"
    if "value_chosen" in chosen:
        yield f"Chosen   {chosen['value_chosen']}"
    search = found.versions.get("search", "unknown")
    yield f"Settings alpha {chosen['alpha']:g}, {_boundaries(chosen)}, {search} search"
    chose = found.evidence.chose
    if found.bic is not None and chose is not None:
        yield f"Score    {found.bic:,.1f} (stage {chose.stage}; an edge costs {chose.price:.1f})"
    power = wording.power(chosen) if chose is None else wording.score_power(chosen, chose.price)
    unseen = [told for told in (power, wording.straight_only(chosen)) if told is not None]
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
