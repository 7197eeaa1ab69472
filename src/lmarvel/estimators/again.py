"""The method and the table of a result again: to learn once more as it was learned."""

from __future__ import annotations

from typing import Any

from lmarvel.ci.registry import TESTS
from lmarvel.data.dataset import Dataset
from lmarvel.errors import DataError, ParameterError
from lmarvel.estimators import METHODS
from lmarvel.estimators.base import PagEstimator
from lmarvel.result import Discovery


def method_of(found: Discovery) -> PagEstimator:
    """Return the method of a result with its settings, without what was said beforehand.

    Examples
    --------
    >>> from lmarvel import LMarvel
    >>> from lmarvel.datasets import CARS
    >>> method_of(LMarvel(alpha=0.05).fit(CARS).result_).alpha
    0.05
    """
    known = {kind.__name__: kind for kind in METHODS.values()}
    kind = known.get(str(found.settings.get("method")))
    if kind is None:
        raise ParameterError("the result does not say by which method it was learned: learn again with 'lmarvel learn'")
    asked = {name: found.settings[name] for name in kind._defaults() if name in found.settings}
    if asked.get("test") not in TESTS:
        raise ParameterError("the result rests on a test of your own, which knows one table: it cannot be drawn again")
    method = kind(**asked)
    method.check_parameters()
    return method


def table_of(found: Discovery, data: Any) -> Dataset:
    """Return the table that a result was learned from, or refuse another one.

    Examples
    --------
    >>> from lmarvel import LMarvel
    >>> from lmarvel.datasets import CARS
    >>> table_of(LMarvel().fit(CARS).result_, CARS).n
    392
    """
    table = Dataset.of(data, columns=found.pag.names)
    if found.data is not None and found.data["fingerprint"] != table.fingerprint:
        raise DataError("the table is not the one that the result was learned from: pass that one, read as it was then")
    return table
