"""Whatever is passed to the scores that know the kinds of columns, the interpreter lives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from lmarvel.engine import load
from tests.engine.test_hostile import refusals

ENGINE = load()
pytestmark = pytest.mark.skipif(ENGINE is None, reason="the engine is not built")

NAMES = ("edge", "parameter", "bend", "product", "shape", "category")
PRICES = (6.0, 3.0, 3.0, 6.0, 12.0, 1.0)
MATRICES = ("required", "forbidden", "never", "causes", "effects", "unconfounded")
FLAGS = ("selection", "latents", "local")
NOTHING = ((np.zeros((3, 3), dtype=bool),) * 6, (True, True, False))
SEARCH = (1e-6, 30, 2, 2, 0.5, ((0, 1, 2),), *NOTHING)


def parts(**changed: Any) -> tuple[Any, ...]:
    """Return a table of a number with two bends, three categories, a number, and the product of both numbers."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 40))
    g = np.r_[0, 1, 2, rng.integers(0, 3, 37)]
    none = np.zeros(40)
    made = {
        "basis": np.array([x, x**2, x**3, (g == 1) * 1.0, (g == 2) * 1.0, y + x, x * y]),
        "starts": np.array([0, 3, 5, 6, 7], dtype=np.int32),
        "categories": np.array([0, 3, 0, 0], dtype=np.int32),
        "codes": np.array([none, g, none, none], dtype=np.uint16),
        "weights": rng.uniform(0.5, 2, 40),
        "products": ((0, 2),),
        "prices": PRICES,
    }
    return tuple((made | changed).values())


def made(*arguments: Any) -> Any:
    *table, prices = arguments
    return ENGINE.KindScores(*table, dict(zip(NAMES, prices, strict=True)))


def ask(*arguments: Any) -> Any:
    *table, v, parents = arguments
    return made(*table).value(v, parents)


def search(*arguments: Any) -> Any:
    table, (noise, sweeps, rounds, again, seconds, more, matrices, flags) = arguments[:7], arguments[7:]
    limits = dict(zip(MATRICES, matrices, strict=True)) | dict(zip(FLAGS, flags, strict=True))
    return made(*table).search(noise, sweeps, rounds, again, 3.0, more=more, limits=limits, seconds=seconds)


@pytest.mark.filterwarnings("ignore:Casting complex", "ignore:invalid value", "ignore:overflow")
@pytest.mark.parametrize(
    ("call", "right"),
    [(ask, (*parts(), 0, (1, 2))), (ask, (*parts(), 1, (2, 0))), (search, (*parts(), *SEARCH))],
    ids=["number", "categories", "search"],
)
def test_no_argument_ends_the_interpreter(call: Any, right: tuple[Any, ...]) -> None:
    assert refusals(call, right) > 100


CODES = parts()[3]
BASIS = parts()[0]


def with_one(array: np.ndarray, value: float) -> np.ndarray:
    changed = array.copy()
    changed.flat[-1] = value
    return changed


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"products": ((0, 0),)}, "two different variables"),
        ({"products": ((0, 3),)}, "two different variables"),
        ({"products": ((-1, 2),)}, "two different variables"),
        ({"products": ((0, 1), (1, 0))}, "named twice"),
        ({"products": ((0, 1),) * 4}, "variables are needed"),
        ({"products": ((0, 1),) * 9}, "variables are needed"),
        ({"products": ((0, 1, 2),)}, "unpack"),
        ({"prices": (-1.0, *PRICES[1:])}, "price edge"),
        ({"prices": (math.inf, *PRICES[1:])}, "price edge"),
        ({"prices": (*PRICES[:4], math.nan, 1.0)}, "price shape"),
        ({"prices": (*PRICES[:5], math.nan)}, "price category"),
        ({"codes": CODES + np.uint16(3)}, "over the number"),
        ({"codes": CODES[:, :-1].copy()}, "row for each variable"),
        ({"codes": CODES[:3].copy()}, "row for each variable"),
        ({"basis": with_one(BASIS, math.nan)}, "not a finite number"),
        ({"basis": with_one(BASIS, math.inf)}, "not a finite number"),
        ({"basis": BASIS[:, :0].copy(), "codes": CODES[:, :0].copy()}, "at least one row"),
        ({"basis": BASIS[:0].copy()}, "at least one row"),
        ({"weights": np.r_[-1.0, np.ones(39)]}, "not negative"),
        ({"weights": np.full(40, 1e308)}, "finite"),
        ({"weights": np.ones(39)}, "weight for each row"),
        ({"starts": np.array([0, 3, 5, 5, 7], dtype=np.int32)}, "at least one basis column"),
        (  # columns far behind the last were looked at before the next variable was seen to begin too early
            {
                "starts": np.array([0, 60_000, 5, 6, 7], dtype=np.int32),
                "categories": np.array([60_001, 3, 0, 0], dtype=np.int32),
                "codes": np.full((4, 40), 60_000, dtype=np.uint16),
            },
            "of each variable",
        ),
    ],
)
def test_tables_that_do_not_fit_are_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        made(*parts(**changed))


def test_a_product_of_categories_is_refused() -> None:
    basis, _starts, sizes, codes, *rest = parts()
    order = [0, 2, 3, 1]  # the categories stand last, where a product stands
    columns = [0, 1, 2, 5, 6, 3, 4]
    table = (basis[columns], np.array([0, 3, 4, 5, 7], dtype=np.int32), sizes[order], codes[order])
    with pytest.raises(ValueError, match="a product is a number"):
        made(*table, *rest)


@pytest.mark.parametrize(
    ("v", "parents", "error"),
    [
        (3, (), IndexError),  # a product, no variable
        (-1, (), IndexError),
        (2**40, (), IndexError),
        (0.0, (), TypeError),
        (0, (3,), IndexError),
        (0, (-1,), IndexError),
        (0, (0,), ValueError),
        (0, (1, 1), ValueError),
        (0, (2, 1, 2), ValueError),
        (0, ("a",), TypeError),
        (0, None, TypeError),
    ],
)
def test_positions_that_are_not_there_are_refused(v: Any, parents: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        made(*parts()).value(v, parents)


@pytest.mark.parametrize("order", [(0, 1), (0, 1, 1), (0, 1, 3), (0, 1, 2, 2), (-1, 0, 1), (0, 1, 2.0), None])
def test_orders_that_are_no_permutations_are_refused(order: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        search(*parts(), *SEARCH[:5], (order,), *NOTHING)


@pytest.mark.parametrize("place", range(6))
@pytest.mark.parametrize("size", [(2, 2), (4, 4), (3, 4), (0, 0)])
def test_limits_of_another_size_are_refused(place: int, size: tuple[int, int]) -> None:
    matrices = list(NOTHING[0])
    matrices[place] = np.zeros(size, dtype=bool)
    with pytest.raises(ValueError, match="matrices of that size"):
        search(*parts(), *SEARCH[:6], tuple(matrices), NOTHING[1])


@pytest.mark.parametrize("size", [1e100, 1e160, 1e300, 1e-200, 1e-320])
def test_numbers_of_any_size_have_a_place(size: float) -> None:
    """Residuals are counted in bins: what overflows must not be counted outside them."""
    made(*parts(basis=np.vstack([BASIS[:1] * size, BASIS[1:]]))).value(0, (1, 2))
    extreme = np.where(np.arange(40) % 2, size, -size)
    made(*parts(basis=np.vstack([extreme, BASIS[1:]]))).value(0, (1,))


def test_what_was_checked_stays_as_it_was() -> None:
    table = parts()
    scores = made(*table)
    before = scores.value(1, (0, 2))
    for array in table[:5]:
        array[:] = 1
    assert made(*parts()).value(1, (0, 2)) == before
    assert scores.value(0, (1, 2)) == made(*parts()).value(0, (1, 2))


def test_more_variables_than_a_search_can_name_are_refused() -> None:
    p = 2_049
    basis = np.random.default_rng(0).normal(size=(p, 5))
    zeros = np.zeros((p, 5), dtype=np.uint16)
    table = (basis, np.arange(p + 1, dtype=np.int32), np.zeros(p, dtype=np.int32), zeros, None, ())
    with pytest.raises(ValueError, match="1 to 2048 variables"):
        made(*table, PRICES)
    fewer = (basis[1:], np.arange(p, dtype=np.int32), np.zeros(p - 1, dtype=np.int32), zeros[1:], None, ())
    assert math.isfinite(made(*fewer, PRICES).value(2_047, (0, 2_046))[0])


def test_many_categories_need_memory_for_their_rows_only() -> None:
    """Cells that could be are many more than rows: 1,000 x 1,000 x 1,000 here."""
    rng = np.random.default_rng(0)
    n = size = 1_000
    codes = np.array([rng.permutation(n) for _ in range(3)], dtype=np.uint16)
    basis = np.zeros((3 * (size - 1), n), dtype=np.float64)
    for v in range(3):
        held = np.flatnonzero(codes[v] > 0)
        basis[v * (size - 1) + codes[v, held] - 1, held] = 1.0
    starts = np.arange(4, dtype=np.int32) * (size - 1)
    scores = made(basis, starts, np.full(3, size, dtype=np.int32), codes, None, (), PRICES)
    shared = 3 * n**2 / size**2  # two rows in one of the size² cells of the parents: rare, and of fourfold weight
    assert scores.value(0, (1, 2))[0] == pytest.approx(2 * n * math.log(size) - shared + 2 * (PRICES[5] - PRICES[0]))
    assert not scores.search(1e-6, 5, 1, 1, 3.0)[0]


def test_what_was_not_made_cannot_be_asked() -> None:
    with pytest.raises(TypeError):
        ENGINE.KindScores.__new__(ENGINE.KindScores)
