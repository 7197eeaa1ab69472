"""What the engine's numbers mean is written in C++; what Python knows by name, the engine knows, and nothing else."""

from __future__ import annotations

from types import SimpleNamespace
from typing import get_args

import pytest

from lmarvel import FCI
from lmarvel.ci import ledger
from lmarvel.ci.boundary_searches import _SEARCHES
from lmarvel.engine import load, names
from lmarvel.engine.boundaries import SEARCHES
from lmarvel.engine.run import is_built
from lmarvel.errors import ParameterError
from lmarvel.estimators import METHODS
from lmarvel.graph.marks import Mark
from lmarvel.orient.rules import RULES
from lmarvel.orient.stated import STATED
from lmarvel.search import ancestral
from lmarvel.search.lift import Kind, Stage
from lmarvel.skeleton import pc
from lmarvel.skeleton.by_engine import MAKERS, PHASES, _ending

pytestmark = pytest.mark.skipif(not is_built(), reason="the engine was not built")

PHASES_OF_PYTHON = {"boundary", "restriction", "evidence"}
"""Whose tests are made before a run of the engine, or after it."""
PHASES_WITHOUT_TESTS = {"contested"}
"""Of records only."""


def test_phases() -> None:
    assert names("phases") == PHASES
    assert set(PHASES) - set(ledger.PHASES) == PHASES_WITHOUT_TESTS
    assert set(ledger.PHASES) - set(PHASES) == PHASES_OF_PYTHON


def test_methods() -> None:
    known = {name for name, method in METHODS.items() if method().for_engine(0.01) is not None}
    assert set(names("methods")) == known


def test_options() -> None:
    assert names("colliders") == tuple(pc.COLLIDER_RULES)
    with pytest.raises(ParameterError) as refused:
        FCI(possible_d_sep="other").fit("cars")
    listed = str(refused.value).split("must be ")[1].split(", not ")[0].replace(" or ", ", ").split(", ")
    assert set(names("possible_d_sep")) == set(listed)


def test_boundary_searches() -> None:
    assert names("boundary_searches") == SEARCHES
    assert set(SEARCHES) == set(_SEARCHES)


def test_events() -> None:
    assert names("events") == tuple(MAKERS)
    for name, make in MAKERS.items():
        assert type(make(0, 1, 2, frozenset(), frozenset(), 0.5, "adjacency")).__name__ == name


def test_rules_and_marks() -> None:
    assert names("rules") == (*RULES, *STATED)
    assert names("marks") == tuple(Mark.__members__)
    assert [Mark[name] for name in names("marks")] == list(range(len(Mark)))


def test_edges_and_hidden_nodes() -> None:
    assert [getattr(ancestral, name) for name in names("edges")] == list(range(len(ancestral.GLYPHS)))
    assert names("hidden_kinds") == get_args(Kind)
    assert names("stages") == tuple(stage for stage in get_args(Stage) if stage != "lines")  # which curves begin with


def test_every_budget_that_runs_out_has_words() -> None:
    ledger = SimpleNamespace(meter=SimpleNamespace(max_tests=5), largest_set=3, limit=None)
    said = {
        reason: _ending(SimpleNamespace(reason=reason, size=4, undecided=()), ledger)  # type: ignore[arg-type]
        for reason in names("reasons")
    }
    assert [reason for reason, words in said.items() if words is None] == ["none"]
    assert len(set(said.values())) == len(said)


def test_every_table_is_read_here() -> None:
    """A new enum needs a test of its own."""
    tested = {"reasons", "boundary_searches", "phases", "events", "methods", "possible_d_sep", "colliders"}
    assert set(load().NAMES) == tested | {"marks", "rules", "edges", "stages", "hidden_kinds"}
    assert all(len(set(words)) == len(words) > 1 for words in load().NAMES.values())
