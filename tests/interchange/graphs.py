"""Graphs of every kind with names that no format was made for."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from lmarvel import DAG, MAG, PAG, MixedGraph
from lmarvel.interchange.registry import FORMATS
from tests.generators import random_dag, random_mag

HOSTILE = [
    " ",
    "a b",
    " lead and trail ",
    "\ttab",
    "two\nlines",
    "carriage\rreturn",
    "a;b",
    "a,b",
    "-->",
    "A --> B",
    "<-@",
    "@",
    "o",
    "-",
    "a-b",
    "<script>alert(1)</script>",
    "&amp;",
    "&",
    "]]>",
    '"',
    'say "hi"',
    "'",
    "#",
    "//",
    "/* note */",
    "{x}",
    "[latent]",
    "a:b",
    "a=b",
    "1. A",
    "-1",
    "3x",
    "007",
    "node",
    "edge",
    "graph",
    "subgraph",
    "strict",
    "dag",
    "from",
    "Graph Nodes:",
    "nodes:",
    "null",
    "nan",
    "Größe",
    "年齢",
    "🫀",
    "no\u00a0break",
    "line\u2028separator",
    "next\x85line",
    "\ufeffmark",
    "\u200b",
    "`tick`",
    "a+b",
    "back\\slash",
    "\\N",
]
NASTY = ["\\", "end\\", 'slash\\"quote', "slash\\\nline", "\x00", "bell\x07", "\x1c", "\x7f", "\uffff"]
READABLE = [name for name, form in FORMATS.items() if form.loads is not None]
NAMING = ["json", "dot", "graphml"]  # these write the kind down

names = st.one_of(st.sampled_from(HOSTILE), st.sampled_from(NASTY), st.text(min_size=1, max_size=6))


def pags(n: int) -> st.SearchStrategy[PAG]:
    """Random marks: a PAG need not be one of a MAG."""
    marks = st.tuples(st.integers(1, 3), st.integers(1, 3))
    pairs = st.lists(st.one_of(st.none(), marks), min_size=n * (n - 1) // 2, max_size=n * (n - 1) // 2)
    return pairs.map(lambda found: _matrix(n, found))


def _matrix(n: int, found: list[tuple[int, int] | None]) -> PAG:
    marks = np.zeros((n, n), dtype=np.int8)
    for (i, j), pair in zip(zip(*np.triu_indices(n, 1), strict=True), found, strict=True):
        if pair is not None:
            marks[i, j], marks[j, i] = pair
    return PAG([f"V{i}" for i in range(n)], marks)


@st.composite
def graphs(draw: st.DrawFn, called: st.SearchStrategy[str] | None = None) -> MixedGraph:
    """Draw a DAG, MAG, PAG or plain graph with up to five nodes."""
    kind = draw(st.sampled_from([DAG, MAG, PAG, MixedGraph]))
    n = draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    if kind is DAG:
        graph: MixedGraph = random_dag(rng, n, 2.0)
    elif kind is MAG:
        graph = random_mag(rng, n, latent=1, selection=1, degree=2.0)
    else:
        graph = draw(pags(n))
    new = draw(st.lists(called if called is not None else names, min_size=n, max_size=n, unique=True))
    return kind(new, graph.marks)
