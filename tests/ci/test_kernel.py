"""The compiled search and the readable one are the same search."""

import copy
import math
import os
import pickle
import signal
import subprocess
import sys
import time
from itertools import combinations

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from lmarvel import CITestError, FisherZ, LMarvel, Moments, SepsetAnswer, SepsetQuery
from lmarvel.ci import fisher_z
from lmarvel.ci.test import Tried
from tests.data.simulated import sample
from tests.effort import examples
from tests.generators import random_study

pytestmark = pytest.mark.skipif(fisher_z._tests is None, reason="nothing was compiled: there is nothing to compare")

ALPHAS = (1e-6, 0.01, 0.3, 0.8)


def moments(covariance: np.ndarray, n: int) -> Moments:
    p = len(covariance)
    return Moments(tuple(f"X{i}" for i in range(p)), n, np.zeros(p), covariance)


def both(population: Moments, query: SepsetQuery) -> tuple[SepsetAnswer, SepsetAnswer]:
    compiled, readable = FisherZ(population), FisherZ(population, compiled=False)
    assert compiled.compiled
    assert not readable.compiled
    return compiled.find_sepset(query), readable.find_sepset(query)


# --- the same answers -------------------------------------------------------------------------------------


@st.composite
def populations(draw: st.DrawFn, noises: tuple[float, ...]) -> Moments:
    """Draw sums of independent factors; some variables nearly copy another one, or are a combination of two."""
    p = draw(st.integers(3, 9))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    loadings = rng.normal(size=(p, p)) * (rng.random((p, p)) < draw(st.sampled_from([0.3, 0.6, 1.0]))) + np.eye(p)
    for v in range(2, p):
        kind = draw(st.sampled_from(["own", "own", "own", "near copy", "sum"]))
        a, b = draw(st.permutations(range(v)))[:2]
        if kind == "near copy":
            loadings[v] = loadings[a] + draw(st.sampled_from(noises)) * np.eye(p)[v]
        elif kind == "sum":
            loadings[v] = loadings[a] - 2 * loadings[b]
        event(kind)
    n = draw(st.sampled_from([5, 9, 40, 300, 10_000]))
    return moments(loadings @ loadings.T, n)


@st.composite
def families(draw: st.DrawFn, nodes: list[int], always: tuple[int, ...]) -> Tried:
    """Draw a family that was tried before; it need not be true for the two searches to treat it alike."""
    must = draw(st.one_of(st.just(always), st.just(()), subsets(nodes)))
    pool = draw(subsets([v for v in nodes if v not in must]))
    smallest = draw(st.integers(0, 2))
    largest = draw(st.integers(-1, len(pool)))
    stop = None
    if largest < len(pool) and draw(st.booleans()):
        stop = draw(st.sampled_from(list(combinations(pool, largest + 1))))
    return Tried(must, pool, smallest, largest, stop, draw(st.sampled_from([0.0, 1e-7, 0.2, 0.9])))


def subsets(nodes: list[int]) -> st.SearchStrategy[tuple[int, ...]]:
    return st.lists(st.booleans(), min_size=len(nodes), max_size=len(nodes)).map(
        lambda kept: tuple(v for v, keep in zip(nodes, kept, strict=True) if keep)
    )


@st.composite
def queries(draw: st.DrawFn, p: int, plain: bool = False) -> SepsetQuery:
    x, y = sorted(draw(st.permutations(range(p)))[:2])
    nodes = [v for v in range(p) if v not in (x, y)]
    always = () if plain else draw(st.one_of(st.just(()), subsets(nodes)))
    pool = draw(subsets([v for v in nodes if v not in always]))
    return SepsetQuery(
        x,
        y,
        pool,
        always,
        max_size=draw(st.one_of(st.none(), st.integers(-1, len(pool) + 1))),
        alpha=draw(st.sampled_from(ALPHAS)),
        tried=tuple(draw(st.lists(families(nodes, always), max_size=0 if plain else 4))),
        max_tests=draw(st.one_of(st.none(), st.integers(0, 12))),
        min_size=draw(st.sampled_from([0, 0, 0, 1, 2])),
    )


@examples(120)
@given(st.data())
def test_both_searches_give_the_same_answer(data: st.DataObject) -> None:
    population = data.draw(populations(noises=(1e-2, 1e-12)))
    query = data.draw(queries(len(population.names)))
    compiled, readable = both(population, query)
    event("found" if readable.sepset is not None else "complete" if readable.complete else "out of budget")
    assert compiled._replace(pvalue=0, strongest=None) == readable._replace(pvalue=0, strongest=None)
    assert compiled.pvalue == pytest.approx(readable.pvalue, rel=0, abs=1e-9)
    if compiled.strongest != readable.strongest:  # only where two sets tie up to rounding
        assert compiled.strongest is not None
        assert readable.strongest is not None
        test = FisherZ(population)
        tied = (test.pvalue(query.x, query.y, sorted(best)) for best in (compiled.strongest, readable.strongest))
        assert list(tied) == pytest.approx([readable.pvalue] * 2, rel=0, abs=1e-9)


@examples(60)
@given(st.data())
def test_both_searches_agree_up_to_rounding_where_matrices_are_nearly_singular(data: st.DataObject) -> None:
    """Rounding errors of 1e-16 grow by up to 1e10 there, the inverse of the smallest pivot that is kept."""
    population = data.draw(populations(noises=(1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-9)))
    query = data.draw(queries(len(population.names), plain=True))
    compiled, readable = both(population, query)
    assert compiled.sepset == readable.sepset
    assert compiled.pvalue == pytest.approx(readable.pvalue, rel=0, abs=1e-3)
    assert compiled[2:3] + compiled[4:] == readable[2:3] + readable[4:]


# --- without limits ---------------------------------------------------------------------------------------


def equicorrelated(p: int, n: int) -> Moments:
    """No set separates any pair, for n large enough."""
    return moments(np.full((p, p), 0.5) + 0.5 * np.eye(p), n)


def common_cause(p: int, n: int = 1000) -> Moments:
    """The last variable is the only thing that the others have in common."""
    covariance = np.full((p, p), 0.5) + 0.5 * np.eye(p)
    covariance[-1] = covariance[:, -1] = math.sqrt(0.5)
    covariance[-1, -1] = 1.0
    return moments(covariance, n)


def test_a_pool_may_have_any_length() -> None:
    size = 1200
    answer = FisherZ(common_cause(size + 2)).find_sepset(SepsetQuery(0, 1, tuple(range(2, size + 2)), max_size=1))
    assert answer.sepset == {size + 1}
    assert answer.pvalue == pytest.approx(1.0)
    assert answer.tests_by_size == (1, size)


@pytest.mark.parametrize("depth", [64, 65, 300])
def test_conditioning_sets_may_have_any_depth(depth: int) -> None:
    always = tuple(range(2, depth + 1))
    query = SepsetQuery(0, 1, (depth + 1, depth + 2), always, max_size=1)
    answer, readable = both(common_cause(depth + 3, n=10**7), query)
    assert answer.sepset == readable.sepset == {*always, depth + 2}
    assert answer.tests_by_size == readable.tests_by_size == (*[0] * (depth - 1), 1, 2)


def test_a_set_that_is_too_large_from_the_start_is_not_tested() -> None:
    answer = FisherZ(equicorrelated(80, 1000)).find_sepset(SepsetQuery(0, 1, (79,), tuple(range(2, 70)), max_size=-1))
    assert answer.sepset is None
    assert sum(answer.tests_by_size) == 0


def test_any_number_of_families_is_honoured() -> None:
    tried = tuple(Tried((), (v,), 1, 1, None, 0.0) for v in range(2, 202))
    pool = tuple(range(2, 204))
    answer = FisherZ(equicorrelated(204, 10**6)).find_sepset(SepsetQuery(0, 1, pool, max_size=1, tried=tried))
    assert answer.complete
    assert answer.tests_by_size == (1, 2)


def test_a_pool_in_another_order_is_visited_in_that_order_by_both() -> None:
    population = equicorrelated(8, 10**6)
    tried = (Tried((), (2, 3, 5, 7), 0, 1, (3, 5), 0.0),)
    for pool in ((7, 2, 5, 3), (3, 7, 5, 2)):
        compiled, readable = both(population, SepsetQuery(0, 1, pool, tried=tried, max_tests=3))
        assert compiled._replace(pvalue=0, strongest=None) == readable._replace(pvalue=0, strongest=None)


def test_a_test_that_was_asked_can_be_copied() -> None:
    test = FisherZ(common_cause(6))
    asked = test.pvalue(0, 1, (2, 3))
    for again in (copy.deepcopy(test), pickle.loads(pickle.dumps(test))):
        assert again.pvalue(0, 1, (2, 3)) == asked


# --- repeats ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize(
    ("x", "y", "given"), [(0, 0, ()), (0, 1, (1,)), (0, 1, (2, 0)), (0, 1, (2, 2)), (0, 1, (3, 2, 3))]
)
def test_a_variable_is_named_once(compiled: bool, x: int, y: int, given: tuple[int, ...]) -> None:
    test = FisherZ(common_cause(5), compiled=compiled)
    with pytest.raises(CITestError, match=r"given themselves|twice"):
        test.pvalue(x, y, given)
    for query in (SepsetQuery(x, y, given), SepsetQuery(x, y, given[1:], given[:1])):
        with pytest.raises(CITestError, match=r"given themselves|twice"):
            test.find_sepset(query)


# --- the clock and Ctrl-C ---------------------------------------------------------------------------------

ENDLESS = """
import sys, time
import numpy as np
from lmarvel import FisherZ, Moments, SepsetQuery
from lmarvel.ci.test import Tried
from tests.data.simulated import sample
from tests.generators import random_study
from lmarvel.ci.search import readable_search
p = 42
test = FisherZ(Moments(tuple(map(str, range(p))), 10**9, np.zeros(p), np.full((p, p), 0.5) + 0.5 * np.eye(p)))
pool = tuple(range(2, p))
"""


def python(code: str) -> subprocess.Popen[str]:
    paths = os.pathsep.join(path for path in sys.path if path)
    return subprocess.Popen(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": paths}, stdout=subprocess.PIPE, text=True
    )


def test_a_deadline_ends_a_huge_compiled_search() -> None:
    start = time.monotonic()
    query = SepsetQuery(0, 1, tuple(range(2, 42)), deadline=start + 0.3)
    answer = FisherZ(equicorrelated(42, 10**9)).find_sepset(query)
    assert 0.25 < time.monotonic() - start < 3
    assert not answer.complete
    assert answer.sepset is None
    assert answer.stopped is not None
    assert sum(answer.tests_by_size) > 16_384


def test_a_deadline_that_has_passed_ends_the_search_before_it_starts() -> None:
    query = SepsetQuery(0, 1, (2, 3), deadline=time.monotonic() - 1)
    for answer in both(equicorrelated(4, 1000), query):
        assert not answer.complete
        assert sum(answer.tests_by_size) == 0


@pytest.mark.parametrize("compiled", [True, False])
def test_a_deadline_holds_also_where_every_set_was_tried_before(compiled: bool) -> None:
    code = f"""{ENDLESS}
test.compiled = {compiled}
tried = (Tried((), pool, 0, len(pool), None, 0.0),)
answer = test.find_sepset(SepsetQuery(0, 1, pool, tried=tried, deadline=time.monotonic() + 0.2))
print(answer.complete)
"""
    process = python(code)
    try:
        assert process.communicate(timeout=40)[0] == "False\n"  # a busy machine takes seconds to start
    except subprocess.TimeoutExpired:
        pytest.fail("the search ran on past its deadline")
    finally:
        process.kill()
        process.communicate()


def test_ctrl_c_ends_a_compiled_search_at_once() -> None:
    code = f"""{ENDLESS}
print("ready", flush=True)
try:
    test.find_sepset(SepsetQuery(0, 1, pool))
except KeyboardInterrupt:
    print("interrupted")
"""
    process = python(code)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.3)
        assert process.poll() is None  # deep in the search
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=3)[0] == "interrupted\n"
    finally:
        process.kill()
        process.communicate()


# --- whole runs -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("boundary", ["tc", "iamb"])
def test_whole_runs_are_equal_with_both_searches(seed: int, boundary: str) -> None:
    rng = np.random.default_rng(seed)
    data = sample(rng, random_study(rng, 25, latent=3, degree=4), rows=1000)
    compiled, readable = (
        LMarvel(test=FisherZ(data, compiled=choice), boundary=boundary).fit().result_ for choice in (True, False)
    )
    assert compiled.pag == readable.pag
    assert compiled.stats.tests == readable.stats.tests
    assert dict(compiled.sepsets) == dict(readable.sepsets)
    assert compiled.removal_order == readable.removal_order
    assert compiled.stats.by_size()[2] > 20


@pytest.mark.parametrize("position", [-1, 3, 10**8, 2**40, -(2**40)])
def test_the_kernel_trusts_no_position(position: int) -> None:
    kernel = fisher_z._tests.Kernel(np.eye(3), 50)
    for x, y, zs in ((0, position, ()), (position, 1, ()), (0, 1, (position,))):
        with pytest.raises((IndexError, OverflowError)):
            kernel.result(x, y, zs)
    critical = np.zeros(8)
    for query in (SepsetQuery(position, 1, ()), SepsetQuery(0, 1, (position,)), SepsetQuery(0, 1, (), (position,))):
        with pytest.raises((IndexError, OverflowError)):
            kernel.search(query, len(query.pool), math.inf, None, critical)


def test_the_kernel_trusts_no_length_and_no_repeat() -> None:
    kernel = fisher_z._tests.Kernel(np.eye(3), 50)
    with pytest.raises(ValueError, match="named once"):
        kernel.result(0, 1, (2,) * 1000)
    with pytest.raises(ValueError, match="named once"):
        kernel.search(SepsetQuery(0, 1, (2,) * 1000), 1, math.inf, None, np.zeros(8))
    with pytest.raises(ValueError, match="sizes"):
        kernel.search(SepsetQuery(0, 1, (2,)), 5, math.inf, None, np.zeros(8))
    with pytest.raises(ValueError, match="critical"):
        kernel.search(SepsetQuery(0, 1, (2,)), 1, math.inf, None, np.zeros(1))
    with pytest.raises(ValueError, match="square"):
        fisher_z._tests.Kernel(np.zeros((3, 2)), 50)


@pytest.mark.parametrize("compiled", [True, False])
def test_rows_that_do_not_allow_what_every_set_has_to_hold_allow_no_test(compiled: bool) -> None:
    test = FisherZ(np.random.default_rng(0).normal(size=(6, 6)), compiled=compiled)
    answer = test.find_sepset(SepsetQuery(0, 1, pool=(5,), always=(2, 3, 4)))
    assert answer.sepset is None
    assert not answer.complete
    assert sum(answer.tests_by_size) == 0
