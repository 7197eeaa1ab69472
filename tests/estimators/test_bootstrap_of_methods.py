"""The bootstrap of each method: what fit counts is what single draws give, however many workers there are."""

import json
import pickle
from itertools import pairwise

import numpy as np
import pytest

from lmarvel import FCI, M3HC, MBCS, RFCI, Auto, DataError, Dataset, Discovery, FisherZ, Lift, LMarvel, ParameterError
from lmarvel.datasets import CARS
from lmarvel.errors import ResultError
from lmarvel.estimators import bootstrap
from lmarvel.estimators.bootstrap import Interrupted
from lmarvel.result.file.parts import checksum
from lmarvel.result.support.reliability import encode_stability

RNG = np.random.default_rng(5)
A, B, U = RNG.normal(size=(3, 400))
TABLE = {"A": A, "B": B, "C": A + B + U, "D": U + RNG.normal(size=400), "E": RNG.normal(size=400)}
LEVELS = {**TABLE, "F": np.where(TABLE["C"] > 0, "high", np.where(TABLE["A"] > 0, "mid", "low"))}


@pytest.mark.parametrize("method", [LMarvel(), FCI(), RFCI(), MBCS(), LMarvel(test="rank"), LMarvel(alpha=0.05)])
def test_counts_are_those_of_single_draws(method):
    found = method.fit(TABLE, bootstrap=12, seed=3).result_.stability
    data = Dataset.of(TABLE)
    graphs = [method.fit(data.resample([3, i])).pag_.marks for i in range(12)]
    assert found.replicates == found.drawn == 12
    np.testing.assert_array_equal(found.adjacent, sum(marks != 0 for marks in graphs))
    np.testing.assert_array_equal(found.marks[1], sum(marks == 2 for marks in graphs))


@pytest.mark.parametrize("weights", [None, RNG.random(400) + 0.1])
@pytest.mark.parametrize("cluster", [None, np.arange(400) // 4])
def test_moments_of_draws_give_what_the_tables_give(weights, cluster, monkeypatch):
    said = {"weights": weights, "cluster": cluster}
    quick = LMarvel().fit(TABLE, **said, bootstrap=10, seed=1).result_.stability
    monkeypatch.setattr(bootstrap, "_rests_on_moments", lambda test, data: False)
    assert LMarvel().fit(TABLE, **said, bootstrap=10, seed=1).result_.stability == quick


@pytest.mark.parametrize(("method", "table"), [(LMarvel(), TABLE), (LMarvel(), LEVELS), (Lift(), TABLE)])
def test_workers_do_not_matter(method, table):
    one = method.fit(table, bootstrap=6, seed=2).result_
    assert method.fit(table, bootstrap=6, seed=2, n_jobs=2).result_.stability == one.stability
    assert method.fit(table, bootstrap=6, seed=3).result_.stability != one.stability


def test_the_order_of_columns_does_not_matter():
    turned = dict(reversed(TABLE.items()))
    one, other = (LMarvel().fit(t, bootstrap=20, seed=1).result_.stability for t in (TABLE, turned))
    for a in TABLE:
        for b in TABLE:
            assert one.edge(a, b) == other.edge(a, b)
            assert one.causes_share(a, b) == other.causes_share(a, b)


@pytest.mark.parametrize("method", [M3HC(), Auto()])
def test_searches_by_score_are_drawn_again_too(method):
    assert method.fit(TABLE, bootstrap=3).result_.stability.edge("A", "C") == 1.0


def test_an_interruption_leaves_what_was_counted_and_fit_goes_on_from_it():
    def stop(phase, done, of):
        if phase == "bootstrap" and done == 7:
            raise KeyboardInterrupt

    model = LMarvel()
    with pytest.raises(Interrupted):
        model.fit(TABLE, bootstrap=20, seed=4, progress=stop)
    half = model.result_
    assert half.stability.drawn == 7
    steps = []
    whole = LMarvel().fit(TABLE, bootstrap=20, seed=4, resume=half, progress=lambda *step: steps.append(step)).result_
    assert min(done for phase, done, of in steps if phase == "bootstrap") == 7
    assert whole.stability == LMarvel().fit(TABLE, bootstrap=20, seed=4).result_.stability
    for model, table, seed in ((LMarvel(alpha=0.02), TABLE, 4), (LMarvel(), LEVELS, 4), (LMarvel(), TABLE, 5)):
        steps.clear()  # of another method, table or seed nothing can be used
        model.fit(table, bootstrap=8, seed=seed, resume=half, progress=lambda *step: steps.append(step))
        assert min(done for phase, done, of in steps if phase == "bootstrap") == 0


def test_what_has_no_rows_to_draw_is_refused():
    with pytest.raises(ParameterError, match="a test of your own knows one table"):
        LMarvel(test=FisherZ(TABLE)).fit(TABLE, bootstrap=5)
    with pytest.raises(DataError, match="pass the table itself"):
        LMarvel().fit(None, bootstrap=5)
    with pytest.raises(ParameterError, match="bootstrap must be a whole number of at least 1, not 0"):
        LMarvel().fit(TABLE, bootstrap=0)


def test_results_keep_frequencies_and_files_do(tmp_path):
    found = LMarvel().fit(CARS, bootstrap=30, seed=1).result_
    path = tmp_path / "cars.json"
    found.save(path)
    back = Discovery.load(path)
    assert back == found
    assert back.stability == found.stability
    assert back.stable(0.9) == found.stable(0.9)
    assert pickle.loads(pickle.dumps(found)) == found
    assert LMarvel().fit(CARS).result_ != found
    assert len(json.dumps(encode_stability(found.stability))) < 600


@pytest.mark.parametrize(
    "damage",
    [
        {"replicates": 31, "drawn": 30},
        {"replicates": 2},
        {"drawn": 3},
        {"seed": -1},
        {"counts": "AAAA"},
        {"counts": 5},
        {"counts": None},
    ],
)
def test_damaged_frequencies_are_refused(damage):
    plain = LMarvel().fit(CARS, bootstrap=30, seed=1).result_.to_dict()
    plain["stability"] = {**plain["stability"], **damage}
    content = {name: value for name, value in plain.items() if name != "checksum"}
    with pytest.raises(ResultError, match="'stability' makes no sense"):
        Discovery.from_dict({**content, "checksum": checksum(content)})


def test_what_recurs_is_told_where_an_edge_is_shown():
    found = LMarvel().fit(CARS, bootstrap=100, seed=1).result_
    counted = found.stability
    told = str(found.explain("Weight", "MilesPerGallon"))
    assert "Edge: in 100 % of 100 resamples" in told
    assert f"tail {100 * counted.mark('MilesPerGallon', 'Weight')['tail']:.0f} %" in told
    assert "Weight causes MilesPerGallon in" in told
    assert "Edge: in 100 % of 40 resamples" in str(LMarvel().fit(CARS).result_.explain("Weight", "MilesPerGallon"))
    assert found.stable(0.8).n_edges == int((counted.adjacent >= 80)[np.triu(found.pag.marks) != 0].sum())
    with pytest.raises(ParameterError, match="learn it with a bootstrap"):
        LMarvel().fit(CARS).result_.stable()


def test_tables_travel_between_processes():
    said = {"missing": "drop", "weights": [1, 2, 3, 4, 5.0], "cluster": [0, 0, 1, 1, 2]}
    data = Dataset.of({"a": [1.0, 2, 3, 4, None], "b": ["x", "y", "x", "y", "z"]}, **said)
    again = pickle.loads(pickle.dumps(data))
    assert (again.names, again.kinds, again.levels, again.n) == (data.names, data.kinds, data.levels, data.n)
    assert again.fingerprint == data.fingerprint
    np.testing.assert_array_equal(again.resample(1).weights, data.resample(1).weights)
    assert again.resample(1).moments.n == pickle.loads(pickle.dumps(data.resample(1))).moments.n == 3
    cars = pickle.loads(pickle.dumps(Dataset.of(CARS)))
    assert cars.fingerprint == Dataset.of(CARS).fingerprint
    gaps = Dataset.of({"a": [1.0, 2, 3, 4, None, 5], "b": [2.0, 1, 4, 3, 5, 6]}, missing="em")
    assert pickle.loads(pickle.dumps(gaps)).moments.n == gaps.moments.n


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_a_cluster_counts_the_same(workers):
    distributed = pytest.importorskip("dask.distributed")
    import joblib

    cluster = {"n_workers": workers, "threads_per_worker": 3 - workers, "dashboard_address": None}
    cars = Dataset.of(CARS)
    cases = [(LMarvel(), cars), (Lift(), cars), (Lift(test="fisher-z"), cars), (Lift(), cars.moments)]
    with (
        distributed.LocalCluster(**cluster) as local,
        distributed.Client(local) as client,
        joblib.parallel_config(backend="dask"),
    ):
        found, steps = [], [0]
        for method, data in cases:
            found.append(method.fit(data, bootstrap=6, seed=1, n_jobs=2).result_.stability)
            steps.append(client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.transition_counter))
    assert found == [method.fit(data, bootstrap=6, seed=1).result_.stability for method, data in cases]
    assert all(before < after for before, after in pairwise(steps))  # the cluster did the work
