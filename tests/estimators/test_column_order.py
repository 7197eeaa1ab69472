"""No method's result depends on the order of the columns: they are put into an order by content first."""

from __future__ import annotations

import numpy as np
import pytest

from lmarvel import FCI, M3HC, MBCS, RFCI, FisherZ, LMarvel
from lmarvel.simulate import LinearSEM, erdos_renyi, hide

METHODS = {
    "lmarvel": LMarvel(),
    "faithful": LMarvel(faithful=True),
    "iamb": LMarvel(boundary="iamb"),
    "fci": FCI(boundary="tc"),
    "rfci": RFCI(boundary="tc"),
    "mbcs": MBCS(),
    "m3hc": M3HC(max_iterations=30),
}


def table(seed: int, variables: int = 14, rows: int = 300) -> dict[str, np.ndarray]:
    study = hide(erdos_renyi(variables, 3 / variables, seed=seed), 2, 2, seed=seed)
    data = LinearSEM.random(study.dag, seed=seed).sample(study, rows, seed=seed)
    return dict(zip(study.observed, data.T, strict=True))


@pytest.mark.parametrize("model", METHODS.values(), ids=METHODS)
@pytest.mark.parametrize("seed", range(8))
def test_permuted_columns_give_the_same_result(model: LMarvel, seed: int) -> None:
    columns = table(seed)
    one = model.fit(columns).result_
    order = np.random.default_rng(seed).permutation(list(columns)).tolist()
    other = model.fit({name: columns[name] for name in order}).result_
    assert other.pag.names == tuple(order)
    assert other.pag == one.pag
    assert dict(other.boundaries) == dict(one.boundaries)
    assert other.stats.tests == one.stats.tests
    assert {frozenset(pair): s for pair, s in other.sepsets.items()} == {
        frozenset(pair): s for pair, s in one.sepsets.items()
    }


@pytest.mark.parametrize("seed", range(8))
def test_new_names_scales_and_signs_change_nothing(seed: int) -> None:
    """The order is by content: names serve for ties only."""
    columns = table(seed)
    names = [f"{chr(122 - i)}" for i in range(len(columns))]
    signs = np.random.default_rng(seed).choice([-2.0, 0.5, 3.0], size=len(columns))
    changed = {new: k * values + k for new, k, values in zip(names, signs, columns.values(), strict=True)}
    one, other = LMarvel().fit(columns).pag_, LMarvel().fit(changed).pag_
    assert other == one.relabel(dict(zip(columns, names, strict=True)))


def test_a_test_of_ones_own_is_asked_in_the_order_of_names() -> None:
    columns = table(3)
    inner = FisherZ(columns)
    place = {name: i for i, name in enumerate(columns)}

    def pvalue(x: str, y: str, given: tuple[str, ...]) -> float:
        return inner.pvalue(place[x], place[y], [place[z] for z in sorted(given)])

    one, other = (LMarvel(test=pvalue).fit(names=names).pag_ for names in (list(columns), list(columns)[::-1]))
    assert one == other
