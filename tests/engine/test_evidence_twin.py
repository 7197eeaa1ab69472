"""The compiled evidence has the records of its readable twin, and trusts nothing."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmarvel.engine import load
from lmarvel.result.trace import Event, LeftOut, Supported, Weighed
from lmarvel.search.ancestral import AncestralGraph
from lmarvel.search.evidence import evidence
from lmarvel.search.lift import LiftResult, lift
from lmarvel.search.record import edges_of
from lmarvel.search.scores import GaussianBlocks
from lmarvel.simulate import LinearSEM, erdos_renyi, hide

engine = load()
pytestmark = pytest.mark.skipif(engine is None, reason="the package was built without a compiler")

ROWS = 500
CHAIN = np.eye(4) + 0.45 * np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]])


def correlation(seed: int, variables: int, latent: int = 2, selection: int = 1, degree: float = 2.5) -> np.ndarray:
    n = variables + latent + selection
    dag = erdos_renyi(n, min(1.0, degree / (n - 1)), seed=seed)
    study = hide(dag, latent, selection, seed=seed + 1)
    return np.corrcoef(LinearSEM.random(dag, seed=seed + 2).sample(study, ROWS, seed=seed + 3).T)


def pvalue(x: int, y: int, given: Any) -> float:
    return 1 / (2 + x + y + sum(given))


def both(found: LiftResult, R: np.ndarray, **how: Any) -> tuple[tuple[Event, ...], tuple[Event, ...]]:
    readable = evidence(found, R, ROWS, pvalue, scores=GaussianBlocks(R, ROWS), **how)
    return evidence(found, R, ROWS, pvalue, **how), readable


def assert_same(ours: tuple[Event, ...], theirs: tuple[Event, ...]) -> None:
    assert list(map(type, ours)) == list(map(type, theirs))
    for one, other in zip(ours, theirs, strict=True):
        if isinstance(one, Weighed | LeftOut):
            assert (one.x, one.y, one.given, one.pvalue) == (other.x, other.y, other.given, other.pvalue)
            assert one.loss == pytest.approx(other.loss, abs=1e-4)
        elif isinstance(one, Supported):
            assert (one.x, one.y) == (other.x, other.y)
            assert one.distance == (other.distance and pytest.approx(other.distance, abs=1e-4))
        else:
            assert one == other


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(2, 14), st.integers(0, 3), st.booleans(), st.booleans())
def test_records_are_the_same(seed: int, variables: int, latent: int, selection: bool, latents: bool) -> None:
    R = correlation(seed, variables, latent)
    how = {"selection": selection, "latents": latents}
    assert_same(*both(lift(R, ROWS, **how), R, **how))


def test_records_of_many_variables_are_the_same() -> None:
    R = correlation(1, 80, 8, 2, 3.0)  # where only gaps between neighbours of a variable have one
    ours, theirs = both(lift(R, ROWS), R)
    assert_same(ours, theirs)
    assert sum(isinstance(record, LeftOut) for record in ours) < 80 * 79 // 2 - 200


def test_what_is_missing_when_the_time_is_up_is_left_out() -> None:
    R = correlation(1, 12)
    found = lift(R, ROWS)
    assert len(evidence(found, R, ROWS, pvalue, deadline=time.monotonic() - 1)) == 1 + len(found.hidden)


def told(found: LiftResult, other: dict[str, Any]) -> list[Any]:
    known = {
        "R": CHAIN,
        "n": ROWS,
        "price": 12.0,
        "noise": 1e-6,
        "score": found.score,
        "mag": found.mag,
        "pag": found.pag,
        "met": found.seen.edges,
    }
    return [*(known | other).values(), True, True]


@pytest.mark.parametrize(
    "wrong",
    [
        {"R": np.eye(3)},
        {"R": np.full((4, 4), np.nan)},
        {"n": 0.0},
        {"price": -1.0},
        {"noise": float("nan")},
        {"score": float("inf")},
        {"mag": np.zeros((4, 4), np.int8)},
        {"mag": np.zeros((3, 3), np.int8)},
        {"pag": np.zeros((5, 5), np.int8)},
        {"pag": np.full((4, 4), 7, np.int8)},
        {"met": [(float("nan"), edges_of(AncestralGraph(4)))]},
        {"met": [(1.0, b"")]},
        {"met": [(1.0, edges_of(AncestralGraph(5)))]},
        {"met": [(1.0, np.array([4, 8 * 16 + 1], np.uintc).tobytes())]},
        {"met": [(1.0, np.array([4, 8 * 4 + 1], np.uintc).tobytes())]},
        {"met": [(1.0, np.array([4, 8 * 1 + 5], np.uintc).tobytes())]},
        {"met": [(1.0, np.array([4, 8 * 2 + 1, 8 * 1 + 1], np.uintc).tobytes())]},
        {"met": [(1.0, np.array([4, 8 * 1 + 1, 8 * 2 + 2, 8 * 6 + 1], np.uintc).tobytes())]},  # a cycle
    ],
)
def test_nothing_is_trusted(wrong: dict[str, Any]) -> None:
    found = lift(CHAIN, ROWS)
    assert not engine.weigh(*told(found, {}), near=50.0, all_gaps=True)[0]
    with pytest.raises(ValueError, match=r"."):
        engine.weigh(*told(found, wrong), near=50.0, all_gaps=True)
