"""A level from the data: what decides, what is told, and what happens where nothing can be decided."""

import numpy as np
import pytest

from lmarvel import PAG, Auto, DataError, Dataset, GraphError, Lift, LMarvel, MSeparation, ParameterError, bic, tune
from lmarvel.datasets import CARS
from lmarvel.estimators.tune import gaussian_loss, instability
from lmarvel.estimators.tune import tune as along
from lmarvel.graph.kinds import DAG
from lmarvel.result.support.frequencies import Stability

RNG = np.random.default_rng(8)
A, B, U, V = RNG.normal(size=(4, 300))
TABLE = {"A": A, "B": B, "C": A + B + U, "D": U + V, "E": V + 0.2 * RNG.normal(size=300)}
NAMES = ["A", "B", "C"]
GRAPHS = {
    0.01: PAG.from_edges("A o-o B", nodes=NAMES),
    0.05: PAG.from_edges("A o-o B", "B o-o C", nodes=NAMES),
    0.1: PAG.from_edges("A o-o B", "B o-o C", "A o-o C", nodes=NAMES),
}


def test_the_lowest_bic_is_taken_and_illegal_graphs_have_none():
    scores = {1: None, 2: 10.0, 3: 12.5}

    def score(pag):
        if scores[pag.n_edges] is None:
            raise GraphError("illegal")
        return scores[pag.n_edges]

    path = along("alpha", list(GRAPHS), GRAPHS.__getitem__, bic=score)
    assert path.value == 0.05
    assert path.reason == "its graph has the lowest BIC of the 2, by 2.5 (1 illegal graph left out)"
    assert [step.bic for step in path.steps] == [None, 10.0, 12.5]
    scores[3] = 10.0
    assert "it is the strictest of those with it" in along("alpha", list(GRAPHS), GRAPHS.__getitem__, bic=score).reason
    scores.update(dict.fromkeys(scores))
    with pytest.raises(DataError, match="none of 3 graphs along the path is legal"):
        along("alpha", list(GRAPHS), GRAPHS.__getitem__, bic=score)


def test_the_most_lenient_stable_value_is_taken():
    steady = Stability.of([GRAPHS[0.01]] * 20)
    shaky = Stability.of([GRAPHS[0.01], GRAPHS[0.05]] * 10)
    assert instability(shaky) == pytest.approx(0.5 / 3)
    found = {0.01: steady, 0.05: steady, 0.1: shaky}
    path = along("alpha", list(found), GRAPHS.__getitem__, by="stability", stability=found.__getitem__)
    assert path.value == 0.05
    found = {0.01: shaky, 0.05: steady, 0.1: steady}  # once unstable, always: the path is made monotone
    path = along("alpha", list(found), GRAPHS.__getitem__, by="stability", stability=found.__getitem__)
    assert path.value == 0.01
    assert "this is the strictest one" in path.reason


def test_penalties_go_from_the_strictest_too():
    path = tune(TABLE, Lift(), values=[1.0, 4.0, 2.0])
    assert [step.value for step in path.steps] == [4.0, 2.0, 1.0]
    assert path.parameter == "penalty"
    for step in path.steps:
        assert step.bic == pytest.approx(bic(step.pag, TABLE))
        assert step.pag == Lift(penalty=step.value).fit(TABLE).pag_


@pytest.mark.parametrize("by", ["bic", "held-out", "stability"])
def test_each_way_learns_what_the_method_learns_and_is_reproducible(by):
    one, other = (tune(TABLE, LMarvel(), by=by, values=[0.001, 0.05], seed=3, draws=10) for _ in range(2))
    assert one == other
    assert [step.pag for step in one.steps] == [LMarvel(alpha=a).fit(TABLE).pag_ for a in (0.001, 0.05)]
    assert one.by == by


def test_held_out_rows_prefer_the_graph_that_the_data_come_from():
    rows = np.column_stack(list(TABLE.values()))
    S = np.cov(rows.T, bias=True)
    assert gaussian_loss(S, S) < gaussian_loss(np.diag(np.diag(S)), S)
    path = tune(TABLE, LMarvel(), by="held-out", values=[1e-40, 0.01])  # at the first nothing is adjacent but D and E
    assert path.value == 0.01


def test_auto_is_the_value_that_the_path_takes():
    path = tune(TABLE, LMarvel())
    model = LMarvel(alpha="auto").fit(TABLE, bootstrap=5)
    assert model.alpha == "auto"
    assert model.result_.settings["alpha"] == path.value
    assert model.result_.settings["value_chosen"].startswith(f"alpha {path.value:g}: its graph has the lowest BIC")
    assert model.pag_ == LMarvel(alpha=path.value).fit(TABLE).pag_
    assert model.result_.stability == LMarvel(alpha=path.value).fit(TABLE, bootstrap=5).result_.stability
    assert Lift(penalty="auto").fit(TABLE).result_.settings["penalty"] == tune(TABLE, Lift()).value
    assert Auto(alpha="auto").fit(TABLE).result_.settings["penalty"] == tune(TABLE, Lift()).value


def test_where_columns_have_levels_stability_decides():
    levels = {**TABLE, "F": np.where(A > 0.4, "x", np.where(B > 0, "y", "z"))}
    with pytest.raises(DataError, match="'F' has categories: choose by stability"):
        tune(levels, LMarvel())
    found = LMarvel(alpha="auto").fit({name: levels[name] for name in "ABF"}).result_
    assert "edges" in found.settings["value_chosen"]


def test_what_cannot_be_tuned_is_refused():
    for name, wrong in (("n_jobs", 0), ("seed", -1), ("draws", 0)):
        with pytest.raises(ParameterError, match=f"{name} must be a"):
            tune(CARS, LMarvel(), **{name: wrong})
    with pytest.raises(ParameterError, match="one of bic, held-out, stability, not 'luck'"):
        tune(CARS, LMarvel(), by="luck")
    with pytest.raises(ParameterError, match="alpha must lie strictly between 0 and 1, not 2"):
        tune(CARS, LMarvel(), values=[0.01, 2])
    with pytest.raises(ParameterError, match="a test of your own"):
        LMarvel(test=MSeparation(DAG.from_edges("A --> B")), alpha="auto").fit()
    with pytest.raises(ParameterError, match="alpha must lie"):
        LMarvel(alpha="automatic").fit(CARS)
    with pytest.raises(DataError, match="not dealt to folds"):
        tune(Dataset.of(TABLE, weights=np.arange(1.0, 301)), LMarvel(), by="held-out")
