"""What a page holds compressed until somebody asks for it: the result itself, and why pairs have no edge."""

from __future__ import annotations

import base64
import zlib
from typing import Any

from lmarvel.budget.clock import current
from lmarvel.report.page import as_json
from lmarvel.result.discovery import Discovery
from lmarvel.result.support.reliability import reliability_lines
from lmarvel.text import counted

MOST_PAIRS = 5_000  # all of a hundred variables; more would make the page slow to write and large
MOST_RECORDS, MOST_BYTES = 200_000, 4_000_000  # of a trace, and of a compressed result


def packed(text: str) -> str:
    """Return a text compressed, in letters that a page can hold.

    Examples
    --------
    >>> zlib.decompress(base64.b64decode(packed("A --> B"))).decode()
    'A --> B'
    """
    return base64.b64encode(zlib.compress(text.encode("utf-8", "surrogatepass"), 6)).decode("ascii")


def result_of(result: Discovery) -> dict[str, str]:
    """Return the result file, to be downloaded from the page, or why it is not there."""
    large = {"why": "The result is too large for this page: 'lmarvel learn table.csv -o result.json' writes it."}
    if len(result.trace) > MOST_RECORDS:  # so many that writing them takes long
        return large
    if current().is_late():
        return {
            "why": "Time ran out (max_seconds) for the result here: 'lmarvel learn table.csv -o result.json' writes it."
        }
    text = packed(result.to_json())
    return large if len(text) > MOST_BYTES else {"packed": text}


def gaps_of(result: Discovery) -> dict[str, str]:
    """Return why pairs without an edge have none, by position, or why that is left out.

    Reasons are many, and most are alike but for the names, so each is kept once, without the names at its start.
    """
    names = result.pag.names
    if result.nothing_learned:
        return {"why": "The search ended before a single pair was decided."}
    gaps = len(names) * (len(names) - 1) // 2 - result.pag.n_edges
    if gaps > MOST_PAIRS:
        size = f"{counted(gaps, 'pair')} without an edge are too many for this page"
        return {"why": f"{size}: 'lmarvel explain' says why a pair has none."}
    pairs = [(i, j) for i in range(len(names)) for j in range(i + 1, len(names)) if not result.pag.marks[i, j]]
    texts: dict[str, int] = {}
    reasons, clock = {}, current()
    for i, j in pairs:
        if clock.is_late():
            return {"why": "Time ran out (max_seconds) for these here: 'lmarvel explain' says why a pair has no edge."}
        reasons[f"{i},{j}"] = _reasons(result, i, j, texts)
    return {"packed": packed(as_json({"texts": list(texts), "pairs": reasons}))}


def _reasons(result: Discovery, i: int, j: int, texts: dict[str, int]) -> list[Any]:
    """Return the numbers of meaning and reason of a pair, whether that is without names, and how reliable it is."""
    a, b = result.pag.names[i], result.pag.names[j]
    reason = result.explainer.gap(i, j)
    shown = (result.describe_edge(a, b), reason.text[len(reason.about) :])
    return [*(texts.setdefault(text, len(texts)) for text in shown), not reason.about, *reliability_lines(result, a, b)]
