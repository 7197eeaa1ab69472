"""FCI, RFCI and MBCS* by the engine and by the readable code: the same results, whatever the data and the settings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmarvel import FCI, MBCS, RFCI, FisherZ, Moments
from lmarvel.engine.run import is_built
from lmarvel.estimators.base import PagEstimator
from lmarvel.orient.worklist import Verdict
from lmarvel.result.trace import Separated
from lmarvel.skeleton.rfci import PathCheck
from tests.engine.twins import Readable, assert_same, moments, population, tables

pytestmark = pytest.mark.skipif(not is_built(), reason="the engine was not built")

METHODS: list[type[PagEstimator]] = [FCI, RFCI, MBCS]
BOUNDARIES = ["none", "none", "auto", "tc", "iamb", "gs", "inter-iamb", "fast-iamb"]


@st.composite
def parameters(draw: st.DrawFn, method: type[PagEstimator], table: Moments) -> dict[str, Any]:
    boundary = draw(st.sampled_from(BOUNDARIES))
    if boundary == "tc" and table.n < len(table.names) + 3:
        boundary = "iamb"
    found = {
        "alpha": draw(st.sampled_from([0.001, 0.01, 0.05, 0.3])),
        "boundary": boundary,
        "boundary_alpha": draw(st.sampled_from([None, None, 0.0005, 0.01, 0.2])),
        "selection": draw(st.booleans()),
        "max_conditioning": draw(st.sampled_from([None, None, None, 0, 1, 2, 4, 20])),
        # Some settings have no bound of their own on the number of tests.
        "max_tests": draw(st.sampled_from([4000, 4000, 4000, 0, 10, 50, 100, 200, 400, 1000])),
    }
    if method is not MBCS:
        found |= {
            "colliders": draw(st.sampled_from(["standard", "standard", "conservative", "majority"])),
            "max_p": draw(st.booleans()),
        }
    if method is FCI:
        found["possible_d_sep"] = draw(st.sampled_from(["pruned", "pruned", "classic", "none"]))
    return found


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=70)
@given(data=st.data())
def test_the_engine_does_what_the_readable_code_does_to_the_last_bit(
    method: type[PagEstimator], data: st.DataObject
) -> None:
    table = data.draw(tables(most=14))
    assert_same(table, compiled=True, method=method, **data.draw(parameters(method, table)))


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=15)
@given(data=st.data())
def test_it_agrees_with_the_readable_search_too(method: type[PagEstimator], data: st.DataObject) -> None:
    table = data.draw(tables(most=7))
    assert_same(table, compiled=False, method=method, **data.draw(parameters(method, table)))


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=1500, deadline=None)
@given(data=st.data())
def test_they_are_the_same_on_very_many_tables(method: type[PagEstimator], data: st.DataObject) -> None:
    table = data.draw(tables(most=20))
    assert_same(table, compiled=True, method=method, **data.draw(parameters(method, table)))


@pytest.mark.parametrize("boundary", ["none", "tc", "iamb"])
@pytest.mark.parametrize(
    ("method", "options"),
    [
        (FCI, {}),
        (FCI, {"possible_d_sep": "classic", "colliders": "majority"}),
        (RFCI, {}),
        (RFCI, {"max_p": True, "colliders": "conservative"}),
        (MBCS, {}),
    ],
)
def test_budgets_end_both_at_every_single_test(
    method: type[PagEstimator], options: dict[str, Any], boundary: str
) -> None:
    rng = np.random.default_rng(3)
    table = moments(rng, population(rng, 6, 2, 1, 3.0, True), 200, exact=False)
    options = {**options, "alpha": 0.05, "boundary": boundary}
    whole = assert_same(table, compiled=True, method=method, **options)
    for k in range(whole.stats.n_tests):
        ended = assert_same(table, compiled=True, method=method, max_tests=k, **options).budget_ended
        assert ended is not None


@pytest.mark.parametrize(("method", "boundary"), [(FCI, "none"), (RFCI, "none"), (FCI, "tc"), (MBCS, "tc")])
def test_sets_may_be_of_any_number_of_variables(method: type[PagEstimator], boundary: str) -> None:
    for p in (63, 64, 65, 70):
        rng = np.random.default_rng(p)
        table = moments(rng, population(rng, p, 6, 2, 2.0, False), 500, exact=False)
        assert_same(table, compiled=True, method=method, boundary=boundary, max_tests=6_000, alpha=0.001)


@pytest.mark.parametrize("method", METHODS)
def test_boundaries_of_the_users_own_are_taken(method: type[PagEstimator]) -> None:
    rng = np.random.default_rng(4)
    table = moments(rng, population(rng, 7, 1, 0, 2.0, False), 300, exact=False)
    own = {a: [b for b in table.names if b != a and (a, b) not in {("V0", "V1"), ("V1", "V0")}] for a in table.names}
    assert assert_same(table, compiled=True, method=method, boundary=own).settings["boundary"] == "own"


def drawn(seed: int, rows: tuple[int, int]) -> Moments:
    """Return a table of a random model with latent and selection variables."""
    rng = np.random.default_rng(seed)
    shape = int(rng.integers(8, 15)), int(rng.integers(2, 6)), int(rng.integers(0, 3)), rng.uniform(2, 4)
    return moments(rng, population(rng, *shape, bool(seed % 2)), int(rng.choice(rows)), exact=False)


def cuts_by(method: type[PagEstimator], seeds: Iterable[int], **options: Any) -> Counter[str]:
    """Return how many edges each phase cut."""
    found: Counter[str] = Counter()
    for seed in seeds:
        result = assert_same(drawn(seed, (200, 2000)), True, method, alpha=0.05, max_tests=20_000, **options)
        found.update(e.phase for e in result.trace if isinstance(e, Separated))
    return found


def test_every_search_of_the_methods_is_met() -> None:
    assert cuts_by(FCI, range(12))["possible-d-sep"] > 0
    assert cuts_by(FCI, range(12), possible_d_sep="classic")["possible-d-sep"] > 0
    assert cuts_by(RFCI, [8, 86, 98, 252, 514], boundary="tc")["triples"] > 0
    found = cuts_by(MBCS, range(12), boundary="tc")
    assert found["collider-set"] > 0
    assert found["gaps"] > 0


class Paths:
    """The paths that the readable code checked before R4 used them, and what was found of them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.verdicts: list[Verdict] = []
        check = PathCheck.__call__

        def noted(of: PathCheck, path: tuple[int, ...]) -> Verdict:
            self.verdicts.append(check(of, path))
            return self.verdicts[-1]

        monkeypatch.setattr(PathCheck, "__call__", noted)


@pytest.mark.parametrize("method", [FCI, RFCI])
def test_edges_that_go_while_others_are_oriented_go_in_both(
    method: type[PagEstimator], monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = Paths(monkeypatch)
    for seed in (572, 650, 733, 1439):  # few tables have such an edge
        table = drawn(seed, (50, 200))
        whole = assert_same(table, True, method, alpha=0.2, boundary="tc")
        for max_tests in range(max(whole.stats.n_tests - 12, 0), whole.stats.n_tests):
            assert_same(table, True, method, alpha=0.2, boundary="tc", max_tests=max_tests)
        for max_conditioning in range(len(table.names) - 2):
            assert_same(table, True, method, alpha=0.2, boundary="iamb", max_conditioning=max_conditioning)
    assert any(verdict.cuts for verdict in paths.verdicts)
    assert any(verdict.colliders for verdict in paths.verdicts)
    assert method is FCI or any(verdict.unchecked for verdict in paths.verdicts)


@pytest.mark.parametrize("method", METHODS)
def test_progress_is_told_in_the_same_words(method: type[PagEstimator]) -> None:
    rng = np.random.default_rng(5)
    table = moments(rng, population(rng, 8, 1, 0, 2.0, False), 500, exact=False)
    told: list[list[tuple[str, int, int]]] = [[], []]
    for test, words in zip((FisherZ(table), Readable(table)), told, strict=True):
        method(test=test).fit(progress=lambda *said, words=words: words.append(said))  # type: ignore[misc]
    assert told[0] == told[1]
    assert len(told[0]) > 3


@pytest.mark.parametrize("method", METHODS)
def test_a_subclass_gets_the_readable_code(method: type[PagEstimator]) -> None:
    class Mine(method):  # type: ignore[valid-type, misc]
        """A method that learns in another way."""

        def learn(self, *arguments: Any) -> Any:
            return super().learn(*arguments)

    assert method().for_engine(0.01) is not None
    assert Mine().for_engine(0.01) is None
