"""Direct and indirect effects against models: right in every member of a class, and no identified one is missed."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from lmarvel import ADMG, DAG, PAG, DataError, GraphError, Knowledge, ParameterError, mediation, pag_to_mag
from lmarvel.effects.knowing.informed import informed
from lmarvel.effects.mediation import direct_set
from lmarvel.effects.pag_index import Prepared, Stated
from lmarvel.effects.ranges import class_members
from lmarvel.graph.bitsets import bits, members
from lmarvel.knowledge.contradictions import known_of
from tests.cli.running import run, write_csv
from tests.effects.classes import classes
from tests.effects.informed import drawn, fits, graphs
from tests.effects.models import Matrix
from tests.effects.test_stated import random_admg

SPLIT = DAG.from_edges("X --> M", "M --> Y", "X --> Y")


def direct_effect(weights: np.ndarray, x: int, y: int, held: list[int]) -> float:
    """What one unit more of x does to y where others are set."""
    cut = weights.copy()
    cut[held] = 0
    return float(np.linalg.inv(np.eye(len(cut)) - cut)[y, x])


def coefficient(covariance: np.ndarray, x: int, y: int, given: list[int]) -> float:
    at = [x, *given]
    return float(np.linalg.solve(covariance[np.ix_(at, at)], covariance[at, y])[0])


def questions(ready: Prepared, rng: np.random.Generator, many: int) -> list[tuple[int, int, int]]:
    n = len(ready.graph)
    many = many if n > 3 else 0
    return [(x, y, bits(held)) for x, y, *held in (rng.permutation(n)[: 3 + k % 2].tolist() for k in range(many))]


@pytest.mark.parametrize("own", [False, True], ids=["class", "own graph"])
def test_a_direct_effect_is_right_in_random_models(own: bool) -> None:
    rng, found = np.random.default_rng(7), 0
    for _ in range(150):
        admg, model = random_admg(rng)
        ready: Prepared = Stated(admg) if own else Prepared(model.pag)
        seen = model.observed
        for x, y, held in questions(ready, rng, 6 if own else 40):
            try:
                z = direct_set(ready, x, y, held)
            except GraphError:
                continue
            true = direct_effect(model.weights, seen[x], seen[y], [seen[v] for v in members(held)])
            assert coefficient(model.covariance, x, y, [*members(held | z)]) == pytest.approx(true, abs=1e-6)
            found += abs(true) > 1e-6
    assert found > (40 if own else 10)


def class_models(
    pag: PAG, knowledge: Knowledge, rng: np.random.Generator, most: int
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Weights and covariance of a linear model of each graph of MAGs that fit."""
    known, found = known_of(knowledge, pag.names), []
    mags = [mag for mag in class_members(pag_to_mag(pag)) if fits(mag, known)]
    for mag in [mags[i] for i in rng.permutation(len(mags))[:most]]:
        for graph in graphs(mag, known):
            dag, _ = graph.canonical_dag()
            arrows = (dag.marks.T == 2).astype(float)
            weights = arrows * rng.uniform(0.4, 1.0, arrows.shape) * rng.choice((-1.0, 1.0), arrows.shape)
            total = np.linalg.inv(np.eye(len(weights)) - weights)
            noise = np.diag(rng.uniform(0.5, 1.5, len(weights)))
            found.append((weights, (total @ noise @ total.T)[: len(pag), : len(pag)]))
    return found


def all_right(truth: list[tuple[Matrix, Matrix]], both: list[int], y: int, z: list[int]) -> bool:
    """Tell whether a regression gives the effects of setting some variables together, in all models."""
    rests = [[v for v in both if v != s] for s in both]
    return all(
        abs(coefficient(c, s, y, [*rest, *z]) - direct_effect(weights, s, y, rest)) < 1e-7
        for weights, c in truth
        for s, rest in zip(both, rests, strict=True)
    )


@pytest.mark.parametrize("kind", ["", "tiers", "randomised", "unconfounded"])
def test_every_member_of_a_class_agrees_and_none_is_missed(kind: str) -> None:
    rng, found, missed = np.random.default_rng(2), 0, 0
    for pag in classes()[3:300:12]:
        knowledge = drawn(kind, pag_to_mag(pag), rng) if kind else Knowledge(selection=False)
        ready = informed(pag, knowledge) if kind else Prepared(pag)
        truth = class_models(pag, knowledge, rng, 25)
        for x, y, held in questions(ready, rng, 12):
            fixed = [*members(held)]
            true = [direct_effect(weights, x, y, fixed) for weights, _ in truth]
            try:
                z = direct_set(ready, x, y, held)
            except GraphError:
                others = [v for v in range(5) if v not in (x, y, *fixed)]
                sets = (list(some) for k in range(len(others) + 1) for some in combinations(others, k))
                missed += any(all_right(truth, [x, *fixed], y, some) for some in sets)
                continue
            given = [*fixed, *members(z)]
            np.testing.assert_allclose([coefficient(c, x, y, given) for _, c in truth], true, atol=1e-7)
            found += max(map(abs, true)) > 1e-9
    assert found > (5 if kind else 0)
    assert missed == 0


def table(rows: int, seed: int) -> dict[str, np.ndarray]:
    x, e, f = np.random.default_rng(seed).normal(size=(3, rows))
    m = 0.8 * x + e
    return {"X": x, "M": m, "Y": 0.3 * x + 0.5 * m + f}


def test_intervals_hold_and_the_parts_add_up() -> None:
    parts = {"direct": 0.3, "total": 0.7, "indirect": 0.4}
    held = dict.fromkeys(parts, 0)
    for seed in range(80):
        told = mediation(SPLIT, "X", "Y", "M", table(200, seed), bootstrap=100)
        assert told.total is not None
        assert told.direct is not None
        assert told.indirect is not None
        assert told.total.value == pytest.approx(told.direct.value + told.indirect.value)
        for name, true in parts.items():
            one = getattr(told, name)
            held[name] += one.low < true < one.high
    assert min(held.values()) >= 70


def test_a_direct_effect_alone() -> None:
    """The cause and the variable between share an unmeasured cause, so that only the direct effect is identified."""
    rng = np.random.default_rng(1)
    u, e, f, g = rng.normal(size=(4, 3000))
    x = u + e
    m = 0.8 * x + u + f
    rows = {"X": x, "M": m, "Y": 0.3 * x + 0.5 * m + g}
    told = mediation(ADMG.from_edges("X --> M", "X <-> M", "M --> Y", "X --> Y"), "X", "Y", "M", rows)
    assert told.direct is not None
    assert told.direct.low < 0.3 < told.direct.high
    assert (told.total, told.indirect) == (None, None)
    assert "The effect through M is not identified, because an unmeasured cause affects both X and M." in str(told)
    assert told.to_dict()["total"] is None


def test_what_is_not_identified_is_refused_with_the_reason() -> None:
    between = PAG.from_edges("nodes: A B X M Y", "A o-> X", "B o-> X", "X --> M", "M --> Y")
    with pytest.raises(GraphError, match="does not go through A"):
        mediation(between, "X", "Y", "A")
    confounded = ADMG.from_edges("X --> M", "M --> Y", "X --> Y", "M <-> Y")
    with pytest.raises(GraphError, match="because an unmeasured cause affects both M and Y"):
        mediation(confounded, "X", "Y", "M")
    later = ADMG.from_edges("X --> L", "L --> M", "L --> Y", "M --> Y", "M <-> L")
    with pytest.raises(GraphError, match="no set of measured variables blocks"):
        mediation(later, "X", "Y", "M")
    with pytest.raises(ParameterError, match="between the cause and the outcome"):
        mediation(SPLIT, "X", "Y", "Y")
    rows = {**table(60, 0), "M": np.array(["a", "b", "c"] * 20)}
    with pytest.raises(DataError, match="M has categories without an order"):
        mediation(SPLIT, "X", "Y", "M", rows)


def test_the_command_says_the_same(tmp_path: Path) -> None:
    graph, data = tmp_path / "mine.txt", write_csv(tmp_path / "data.csv", table(300, 0))
    graph.write_text("X --> M\nM --> Y\nX --> Y\n")
    done = run("effect", graph, data, "X", "Y", "--through", "M")
    assert (done.code, done.out) == (0, f"{mediation(SPLIT, 'X', 'Y', 'M', data)}\n")
    assert '"indirect": {' in run("effect", graph, data, "X", "Y", "--through", "M", "--format", "json").out
    done = run("effect", graph, data, "X", "Y", "--through", "M", "--given", "M")
    assert (done.code, done.err) == (2, "lmarvel: --through goes with --bootstrap, --seed and --format only\n")
    done = run("effect", graph, data, "X", "Y", "--instrument", "M")
    assert (done.code, done.err) == (
        2,
        "lmarvel: M is not an instrument for the effect of X on Y, because X affects M\n",
    )
