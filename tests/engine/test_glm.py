"""The door of the fits: nothing from Python is trusted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lmarvel.engine import load

engine = load()
pytestmark = pytest.mark.skipif(engine is None, reason="the engine is not built")


def parts(**changed: Any) -> list[Any]:
    """Return what a table of a number with one bend and of three categories is made of."""
    codes = np.array([[0] * 6, [0, 1, 2, 0, 1, 0]], dtype=np.uint16)
    number = np.array([[1.0, -1.0, 0.5, -0.5, 2.0, -2.0], [1.0, 1.0, 0.2, 0.2, 4.0, 4.0]])
    made = {
        "basis": np.vstack([number, codes[1] == 1, codes[1] == 2]).astype(float),
        "starts": np.array([0, 2, 4], dtype=np.int32),
        "categories": np.array([0, 3], dtype=np.int32),
        "codes": codes,
        "weights": None,
    }
    return [*(made | changed).values(), 1 << 20]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"starts": np.array([0, 2, 5], dtype=np.int32)}, "said of each variable"),
        ({"starts": np.array([0, 4, 4], dtype=np.int32)}, "indicator each"),
        ({"starts": np.array([0, 2], dtype=np.int32)}, "said of each variable"),
        ({"starts": np.array([0, 9, 4], dtype=np.int32)}, "said of each variable"),
        ({"starts": np.array([0, 2, 4])}, "type int32"),
        ({"categories": np.array([0, 2], dtype=np.int32)}, "indicator each"),
        ({"categories": np.array([0, -3], dtype=np.int32)}, "indicator each"),
        ({"codes": np.array([[0] * 6, [0, 1, 3, 0, 1, 0]], dtype=np.uint16)}, "over the number"),
        ({"codes": np.array([[0] * 6, [0, 2, 2, 0, 1, 0]], dtype=np.uint16)}, "do not fit the codes"),
        ({"codes": np.array([[0] * 5, [0] * 5], dtype=np.uint16)}, "row for each variable"),
        ({"basis": np.full((4, 6), np.nan)}, "fit the codes"),
        ({"basis": np.zeros((4, 0))}, "at least one row"),
        ({"weights": np.ones(5)}, "weight for each row"),
        ({"weights": np.full(6, np.inf)}, "finite"),
        ({"weights": np.zeros(6)}, "above 0"),
    ],
)
def test_tables_that_do_not_fit_are_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        engine.GlmFits(*parts(**changed))


@pytest.mark.parametrize(
    ("v", "columns", "error"),
    [
        (2, [], IndexError),
        (-1, [], IndexError),
        (0, [4], IndexError),
        (0, [-1], IndexError),
        (0, [1 << 40], IndexError),
        (0, [1], ValueError),
        (0, [2, 2], ValueError),
        (0, [2.0], TypeError),
        ("a", [2], TypeError),
    ],
)
def test_positions_that_are_not_there_are_refused(v: Any, columns: list[Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        engine.GlmFits(*parts()).fit(v, columns)


def test_arrays_that_change_afterwards_change_nothing() -> None:
    made = parts()
    fits = engine.GlmFits(*made)
    before = fits.fit(1, [0])[0]
    made[3][:] = 65_000
    made[0][:] = np.nan
    assert engine.GlmFits(*parts()).fit(1, [0])[0] == before
    assert fits.fit(1, [1])[1]
