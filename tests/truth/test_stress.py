"""With an oracle nothing that is claimed is wrong, whatever budgets, settings and statements a run has.

Each run has a random study of 6 to 9 observed variables, a method with random settings, true statements, and budgets
of tests, of sizes and of time that end it anywhere. Every mark, separating set and sentence of its result is held
against the DAG of the study: an arrowhead says "no ancestor of the other or of selection", a tail says the opposite.
"""

from __future__ import annotations

import itertools
import re
import time
from typing import Any, NamedTuple

import numpy as np
import pytest

from lmarvel import FCI, MBCS, RFCI, LMarvel, LMarvelError, Mark, MSeparation
from lmarvel.estimators.base import PagEstimator
from lmarvel.graph.bitsets import bits, closure
from lmarvel.knowledge import Knowledge
from lmarvel.knowledge.draw import true_statements
from lmarvel.result.discovery import Discovery
from tests.generators import Study, random_study

RUNS, CHUNK = 10_000, 500
PARTS = [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(1, RUNS // CHUNK))]  # make check-all runs them all


class Truth:
    """What a study says about ancestors, by name; a selection variable is fixed, so that nothing acts through it."""

    def __init__(self, study: Study) -> None:
        dag = study.dag
        self.mag = study.mag
        fixed = bits(dag.index(s) for s in study.selection)
        acting = [parents & ~fixed for parents in dag.masks.parents]
        above = {name: closure(acting, 1 << dag.index(name)) for name in dag.names}
        self._of = {y: {x for x in dag.names if above[y] >> dag.index(x) & 1} for y in dag.names}
        chosen = closure(dag.masks.parents, fixed)
        self.selecting = {x for x in dag.names if chosen >> dag.index(x) & 1}

    def causes(self, x: str, y: str) -> bool:
        return x in self._of[y]

    def is_anterior(self, x: str, y: str) -> bool:
        return self.causes(x, y) or x in self.selecting


class Run(NamedTuple):
    """One random run."""

    study: Study
    method: PagEstimator
    seconds: float | None

    @classmethod
    def of(cls, seed: int) -> Run:
        rng = np.random.default_rng([31, seed])
        selection = int(rng.integers(0, 3))
        study = random_study(
            rng,
            int(rng.integers(6, 10)),
            latent=int(rng.integers(0, 4)),
            selection=selection,
            degree=float(rng.uniform(1.5, 4.0)),
            heavy=bool(rng.random() < 0.3),
        )
        return cls(study, cls.method_of(rng, study), None if rng.random() < 0.7 else float(rng.uniform(0.01, 2.0)))

    @classmethod
    def method_of(cls, rng: np.random.Generator, study: Study) -> PagEstimator:
        def some(*values: Any) -> Any:
            return values[rng.integers(len(values))]

        given: dict[str, Any] = {
            "test": MSeparation(study.mag),
            "alpha": some(0.001, 0.01, 0.2),
            "max_tests": some(None, int(rng.integers(0, 40)), int(rng.integers(0, 400))),
            "max_conditioning": some(None, None, int(rng.integers(0, 5))),
            "knowledge": some(None, cls.knowledge_of(rng, study)),
        }
        if not study.selection:
            given["selection"] = some(True, False)
        kind: type[PagEstimator] = some(LMarvel, FCI, RFCI, MBCS)
        if kind is LMarvel:
            given |= {"boundary": some("auto", "tc", "iamb", "gs"), "removal_threshold": some(0.5, 0.8, 0.99)}
        if kind in (FCI, RFCI):
            given |= {"boundary": some("auto", "none", "tc"), "colliders": some("standard", "conservative", "majority")}
        if kind is FCI:
            given |= {"possible_d_sep": some("pruned", "classic")}
        return kind(**given)

    @staticmethod
    def knowledge_of(rng: np.random.Generator, study: Study) -> Knowledge:
        kinds = ("not_causes", "edges", "no_edges", "exogenous", "randomised")
        counts = {kind: int(rng.integers(0, 3)) for kind in kinds}
        counts |= {"tiers": int(rng.choice([0, 0, 2, 3]))}
        if not study.selection:  # else a tail need not be a cause
            counts |= {"causes": int(rng.integers(0, 3))}
        return true_statements(study.mag, **counts, seed=rng)

    def fit(self, monkeypatch: pytest.MonkeyPatch) -> Discovery:
        """Learn; a budget of seconds is spent a millisecond for each look at the clock."""
        if self.seconds is None:
            return self.method.fit().result_
        with monkeypatch.context() as patched:
            ticks = itertools.count()
            patched.setattr(time, "monotonic", lambda: next(ticks) * 1e-3)
            return self.method.set_params(max_seconds=self.seconds).fit().result_


@pytest.mark.parametrize("part", PARTS)
def test_nothing_that_is_claimed_is_wrong(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = 0
    for seed in range(part * CHUNK, (part + 1) * CHUNK):
        run = Run.of(seed)
        found, truth = run.fit(monkeypatch), Truth(run.study)
        try:
            check_edges(found, truth, exact=not isinstance(run.method, RFCI))
            check_marks(found, truth)
            check_sets(found, truth)
            check_sentences(found, truth, exact=not isinstance(run.method, RFCI))
            check_causes(found, truth)
        except AssertionError as error:
            raise AssertionError(f"run {seed}: {run.method}, {run.seconds} s: {error}") from error
        ended += found.budget_ended is not None
    assert 0 < ended < CHUNK


def check_edges(found: Discovery, truth: Truth, exact: bool) -> None:
    """No true edge is lost, and every edge that is not known to be true is listed; RFCI may have too many."""
    there, true = ({frozenset((e.a, e.b)) for e in graph.edges()} for graph in (found.pag, truth.mag))
    undecided = {frozenset(pair) for pair in found.undecided}
    assert true <= there
    assert undecided <= there
    if exact:
        assert there - undecided <= true


def check_marks(found: Discovery, truth: Truth) -> None:
    for graph in (found.pag, found.shown("supported"), found.shown("firm")):
        for edge in graph.edges():
            for near, far, mark in ((edge.a, edge.b, edge.at_a), (edge.b, edge.a, edge.at_b)):
                if mark != Mark.CIRCLE:
                    assert truth.is_anterior(near, far) == (mark == Mark.TAIL), f"{edge} at {near}"


def check_sets(found: Discovery, truth: Truth) -> None:
    oracle, at = MSeparation(truth.mag), truth.mag.index
    for (x, y), given in found.sepsets.items():
        assert oracle.pvalue(at(x), at(y), sorted(map(at, given))) > 0.5, f"{x}, {y} given {sorted(given)}"


_CAUSES = re.compile(r"(V\d+) (?:probably )?causes (V\d+)(, or affects who is in the sample)?")
_NOT = re.compile(r"(V\d+) (?:probably )?does not cause (V\d+)")


def check_sentences(found: Discovery, truth: Truth, exact: bool) -> None:
    assert str(found)
    assert found.verdict.lines
    undecided = {frozenset(pair) for pair in found.undecided}
    for a, b in itertools.combinations(found.pag.names, 2):
        said = found.describe_edge(a, b)
        for x, y, sample in _CAUSES.findall(said):
            assert truth.causes(x, y) or (sample and x in truth.selecting), said
        for x, y in _NOT.findall(said):
            assert not truth.causes(x, y), said
        if "neither causes the other" in said:
            assert not truth.causes(a, b), said
            assert not truth.causes(b, a), said
        if "both affect who is in the sample" in said:
            assert {a, b} <= truth.selecting, said
        if exact and said.startswith("associated whichever measured variables are held fixed"):
            assert truth.mag.edge(a, b) is not None, said
        if frozenset((a, b)) in undecided:
            assert not _CAUSES.search(said), said
        if found.pag.edge(a, b) is None:
            assert truth.mag.edge(a, b) is None, said
            assert "not adjacent" in found.describe(a, b)


def check_causes(found: Discovery, truth: Truth) -> None:
    for y in found.pag.names:
        try:
            answer = found.causes(y)
        except LMarvelError:  # nothing is said of causes where pairs are undecided
            return
        for x in () if truth.selecting else answer.definite:  # which rests "on a sample that was not selected"
            assert truth.causes(x, y), f"{x} is said to cause {y}"
        for x in answer.impossible:
            assert not truth.causes(x, y), f"{x} is said not to cause {y}"
