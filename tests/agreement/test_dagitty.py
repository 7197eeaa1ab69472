"""Minimal adjustment sets beside dagitty's, kept as they were answered (``make_dagitty.py`` tells how)."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path

from lmarvel import MAG, PAG, adjustment_sets
from lmarvel.effects.pag_index import Prepared

ANSWERS = json.loads((Path(__file__).parent / "dagitty.json").read_text(encoding="utf-8"))


def test_dagitty_lists_the_same_minimal_sets_for_every_pair() -> None:
    pairs = with_sets = many = 0
    for one in ANSWERS:
        kind = {"MAG": MAG, "PAG": PAG}[one["kind"]]
        ready = Prepared(kind.from_edges(*one["edges"], nodes=one["nodes"].split()))
        for x, y in permutations(ready.graph.names, 2):
            mine = {frozenset(z) for z in adjustment_sets(ready, x, y)}
            theirs = {frozenset(z) for z in one["sets"].get(f"{x} {y}", [])}
            assert mine == theirs, (one["edges"], x, y)
            pairs, with_sets, many = pairs + 1, with_sets + bool(theirs), many + (len(theirs) > 1)
    assert (len(ANSWERS), pairs) == (120, 3748)
    assert with_sets > 1000
    assert many > 100
