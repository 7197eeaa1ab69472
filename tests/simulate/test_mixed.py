"""Tables of several kinds of columns have the dependences of their graph, and no others."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from lmarvel import DAG, LMarvelError
from lmarvel.simulate import MixedSEM, Study, erdos_renyi, hide
from lmarvel.simulate.mixed import KINDS


def binned(column):
    """Levels as they are, numbers in fifths of their rows."""
    if column.dtype.kind == "U" or len(np.unique(column)) <= 5:
        return np.unique(column, return_inverse=True)[1]
    return np.searchsorted(np.quantile(column, [0.2, 0.4, 0.6, 0.8]), column)


def pvalue(x, y):
    counts = np.zeros((x.max() + 1, y.max() + 1))
    np.add.at(counts, (x, y), 1)
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    return chi2_contingency(counts, correction=False).pvalue


def table_of(study, kinds, seed, rows=4000):
    return MixedSEM.random(study.dag, kinds, seed=seed).sample(study, rows, seed=seed + 1)


@pytest.mark.parametrize(("cause", "child"), list(product(KINDS, KINDS)))
def test_each_kind_shows_its_cause_and_nothing_else(cause, child):
    study = Study(DAG.from_edges("X --> Y", nodes=("X", "Y", "Z")))
    table = table_of(study, {"X": cause, "Y": child, "Z": child}, seed=5)
    x, y, z = (binned(table[name]) for name in "XYZ")
    assert pvalue(x, y) < 1e-8
    assert pvalue(x, z) > 1e-4


@pytest.mark.parametrize("middle", ["binary", "ordinal", "nominal"])
@pytest.mark.parametrize("kinds", [("nominal", "continuous"), ("curved", "count"), ("ordinal", "binary")])
def test_a_chain_is_blocked_by_the_level_in_its_middle(middle, kinds):
    study = Study(DAG.from_edges("X --> M", "M --> Y"))
    table = table_of(study, {"X": kinds[0], "M": middle, "Y": kinds[1]}, seed=2, rows=8000)
    x, m, y = (binned(table[name]) for name in "XMY")
    assert pvalue(x, y) < 1e-4
    for level in range(m.max() + 1):
        assert pvalue(x[m == level], y[m == level]) > 1e-4, level


@pytest.mark.parametrize("kind", KINDS)
def test_selection_joins_the_causes_of_what_selects(kind):
    study = Study(DAG.from_edges("X --> S", "Y --> S"), selection=("S",))
    model = MixedSEM.random(study.dag, {"X": "ordinal", "Y": "continuous", "S": kind}, strength=2.0, seed=4)
    table = model.sample(study, 8000, seed=5)
    free = model.sample(Study(study.dag, latent=("S",)), 8000, seed=5)
    assert pvalue(binned(free["X"]), binned(free["Y"])) > 1e-3
    if kind == "nominal":
        return  # the names of levels have no order: the chance to be kept may rise with a level that no cause favours
    if kind != "curved":  # a bowl has no direction: large and small values of a cause may select alike
        assert pvalue(binned(table["X"]), binned(table["Y"])) < 1e-3
    assert str(model.truth(study).pag) == "nodes: X Y\nX o-o Y"


def test_a_model_is_its_seed_and_its_columns_are_what_a_person_has():
    study = hide(erdos_renyi(14, 0.2, seed=3), 2, 1, seed=4)
    one, other = (MixedSEM.random(study.dag, levels=4, seed=1).sample(study, 500, seed=2) for _ in range(2))
    assert list(one) == list(study.observed)
    for name in one:
        np.testing.assert_array_equal(one[name], other[name])
    model = MixedSEM.random(study.dag, levels=4, seed=1)
    assert len(set(model.kinds)) > 3
    for name, column in one.items():
        kind = model.kinds[study.dag.index(name)]
        assert column.dtype.kind == {"nominal": "U", "continuous": "f", "curved": "f"}.get(kind, "i")
        if kind == "ordinal":
            assert set(column) <= {1, 2, 3, 4}
        if kind == "binary":
            assert set(column) <= {0, 1}
    assert not model.spread.flags.writeable


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kinds": ["text"]}, "unknown kind text: choose from continuous"),
        ({"kinds": {"Q": "nominal"}}, "Q"),
        ({"kinds": []}, "no kind to draw from"),
        ({"levels": 1}, "levels"),
        ({"levels": 30}, "at most 26"),
        ({"strength": 0.0}, "strength must be a positive number"),
    ],
)
def test_bad_settings_are_named(options, message):
    with pytest.raises(LMarvelError, match=message):
        MixedSEM.random(DAG.from_edges("X --> Y"), **options, seed=0)
