"""Data come from the model, and the model has exactly the independences of the true MAG."""

from itertools import combinations, product

import numpy as np
import pytest

from lmarvel import DAG, LMarvel, ParameterError
from lmarvel.simulate import RANGES, AdditiveSEM, DiscreteNetwork, LinearSEM, Ranges, Study, erdos_renyi, hide
from lmarvel.simulate.additive import FUNCTIONS, NOISES
from tests.generators import random_study


def partial_correlation(covariance, x, y, given):
    block = np.linalg.inv(covariance[np.ix_([x, y, *given], [x, y, *given])])
    return -block[0, 1] / np.sqrt(block[0, 0] * block[1, 1])


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("ranges", RANGES)
def test_partial_correlations_vanish_exactly_where_the_mag_separates(seed, ranges):
    rng = np.random.default_rng(seed)
    study = Study(*random_study(rng, 6, latent=2, selection=2, heavy=seed % 2 == 1))
    covariance = LinearSEM.random(study.dag, ranges, seed=seed).covariance(study)
    mag = study.mag
    for x, y in combinations(range(len(mag)), 2):
        rest = [v for v in range(len(mag)) if v not in (x, y)]
        for size in range(len(rest) + 1):
            for given in combinations(rest, size):
                value = partial_correlation(covariance, x, y, given)
                separated = mag.m_separated(x, y, given)
                assert (abs(value) < 1e-9) == separated, (x, y, given, value)


def test_rows_have_the_covariance_of_the_model():
    study = hide(erdos_renyi(12, 0.4, seed=1), 2, 3, seed=2)
    model = LinearSEM.random(study.dag, "random", seed=3)
    data = model.sample(study, 200_000, seed=4)
    expected = model.covariance(study)
    scale = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    assert np.abs((np.cov(data.T) - expected) / scale).max() < 0.02
    assert np.abs(data.mean(axis=0) / np.sqrt(np.diag(expected))).max() < 0.02


@pytest.mark.parametrize("seed", range(3))
def test_conditioning_stays_exact_where_coefficients_multiply(seed):
    """In a dense graph variances reach 1e20 and more; what is left given S is still a covariance, and S is held."""
    dag = erdos_renyi(100, 0.5, seed=seed)
    study = hide(dag, 0, 4, seed=seed)
    model = LinearSEM.random(dag, "random", seed=seed)
    covariance = model.covariance(study)
    scale = np.sqrt(np.diag(covariance))
    assert np.linalg.eigvalsh(covariance / np.outer(scale, scale)).min() > -1e-9
    data = model.sample(study, 20_000, seed=seed)
    assert np.allclose(data.std(axis=0) / scale, 1, atol=0.05)


def test_a_selection_variable_on_a_chain_blocks_it():
    """Conditioning on S itself, not on a region of it: X --> S --> Y leaves X and Y independent."""
    study = Study(DAG.from_edges("X --> S", "S --> Y"), selection=("S",))
    data = LinearSEM.random(study.dag, seed=0).sample(study, 100_000, seed=1)
    assert abs(np.corrcoef(data.T)[0, 1]) < 0.01
    assert study.mag.n_edges == 0


@pytest.mark.parametrize("name", RANGES)
def test_parameters_fill_their_ranges(name):
    dag = erdos_renyi(40, 0.5, seed=0)
    model = LinearSEM.random(dag, name, seed=1)
    used = model.weights[model.weights != 0]
    assert len(used) == dag.n_edges
    (low, high), noise = RANGES[name]
    assert low < abs(used).min() < low + 0.02 * high
    assert high * 0.98 < abs(used).max() < high
    assert 0.4 < (used > 0).mean() < 0.6
    assert noise[0] < model.deviations.min()
    assert model.deviations.max() < noise[1]
    assert all((model.weights[i, j] != 0) == (dag.names[j] in dag.parents(i)) for i, j in product(range(40), repeat=2))


def test_samples_repeat_by_seed():
    study = hide(erdos_renyi(10, 0.3, seed=0), 1, 1, seed=1)
    for model in (
        LinearSEM.random(study.dag, seed=2),
        AdditiveSEM.random(study.dag, noise="laplace", function="tanh", seed=2),
        DiscreteNetwork.random(study.dag, seed=2),
    ):
        first, again, other = (model.sample(study, 50, seed=seed) for seed in (3, 3, 4))
        assert np.array_equal(first, again)
        assert not np.array_equal(first, other)
        assert first.shape == (50, 8)


@pytest.mark.parametrize("noise", NOISES)
def test_noise_of_any_kind_keeps_the_covariance_of_a_linear_model(noise):
    study = Study(erdos_renyi(6, 0.5, seed=5))
    model = AdditiveSEM.random(study.dag, noise=noise, seed=1)
    expected = model.linear.covariance(study)
    assert np.allclose(np.cov(model.sample(study, 200_000, seed=2).T), expected, rtol=0.1, atol=0.1)


def test_kinds_of_noise_differ_in_shape():
    study = Study(DAG.from_edges(nodes=["X"]))
    kurtosis = {}
    for noise in NOISES:
        x = AdditiveSEM.random(study.dag, noise=noise, seed=0).sample(study, 100_000, seed=1)[:, 0]
        kurtosis[noise] = np.mean((x - x.mean()) ** 4) / x.var() ** 2
    assert kurtosis["uniform"] < 2 < 2.9 < kurtosis["gaussian"] < 3.1 < 5 < kurtosis["laplace"]
    assert kurtosis["exponential"] > 7


@pytest.mark.parametrize("function", FUNCTIONS)
def test_functions_shape_the_effect(function):
    study = Study(DAG.from_edges("X --> Y"))
    linear = LinearSEM(study.dag, np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([1.0, 1e-9]))
    model = AdditiveSEM(linear, function=function)
    x, y = model.sample(study, 1000, seed=0).T
    assert np.allclose(y, FUNCTIONS[function](x), atol=1e-6)


def test_selection_by_a_child_leaves_paths_through_the_variable_open():
    study = Study(DAG.from_edges("X --> S", "S --> Y"), selection=("S",))
    model = AdditiveSEM.random(study.dag, noise="uniform", seed=0)
    data = model.sample(study, 20_000, seed=1)
    assert abs(np.corrcoef(data.T)[0, 1]) > 0.1
    truth = model.truth(study)
    assert truth.observed == ("X", "Y")
    assert [str(edge) for edge in truth.mag.edges()] == ["X --> Y"]


def test_names_of_selecting_children_do_not_clash():
    study = Study(DAG.from_edges("X --> S", '"S kept" --> S'), selection=("S",))
    truth = AdditiveSEM.random(study.dag, seed=0).truth(study)
    assert truth.selection == ("S kept'",)
    assert truth.observed == ("X", "S kept")


def exact_joint(network, study, states):
    """Return the exact distribution of the observed variables given the states of the selection variables."""
    n = len(network.dag)
    joint = np.zeros((2,) * n)
    for values in product(range(2), repeat=n):
        chance = 1.0
        for v in range(n):
            parents = sorted(network.dag.index(p) for p in network.dag.parents(v))
            chance *= network.tables[v][(*(values[p] for p in parents), values[v])]
        joint[values] = chance
    for v, state in sorted(zip((study.dag.index(s) for s in study.selection), states, strict=True), reverse=True):
        joint = np.take(joint, state, axis=v)
    hidden = [study.dag.index(v) for v in study.latent]
    kept = [v for v in range(n) if study.dag.names[v] not in study.selection]
    joint = joint.sum(axis=tuple(kept.index(v) for v in hidden))
    return joint / joint.sum()


def test_discrete_rows_have_the_exact_distribution_given_selection():
    dag = DAG.from_edges("A --> C", "B --> C", "C --> S", "D --> S", "U --> A", "U --> D")
    study = Study(dag, ("U",), ("S",))
    network = DiscreteNetwork.random(dag, seed=2)
    data = network.sample(study, 100_000, seed=3)
    counts = np.zeros((2,) * data.shape[1])
    np.add.at(counts, tuple(data.T), 1)
    distances = [np.abs(counts / len(data) - exact_joint(network, study, [s])).sum() for s in range(2)]
    assert min(distances) < 0.02
    assert max(distances) > 0.05


def test_the_simulated_truth_is_what_a_method_finds():
    """Nearly always: a true edge can be too weak to see even in this many rows."""
    equal = 0
    for seed in range(12):
        study = hide(erdos_renyi(10, 0.25, seed=seed), 1, 1, seed=seed)
        data = LinearSEM.random(study.dag, seed=seed).sample(study, 50_000, seed=seed)
        learned = LMarvel(alpha=1e-4).fit(dict(zip(study.observed, data.T, strict=True))).pag_
        equal += learned == study.pag
    assert equal >= 9


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda dag: LinearSEM.random(dag, "nothing", seed=0), "unknown parameter ranges 'nothing'"),
        (lambda dag: LinearSEM.random(dag, Ranges((2.0, 1.0), (1.0, 1.0)), seed=0), "0 <= low <= high"),
        (lambda dag: LinearSEM.random(dag, seed=0).sample(Study(dag), 0, seed=0), "rows must be"),
        (lambda dag: AdditiveSEM.random(dag, noise="pink", seed=0), "unknown noise 'pink'"),
        (lambda dag: AdditiveSEM.random(dag, function="cubic", seed=0), "unknown function 'cubic'"),
        (lambda dag: DiscreteNetwork.random(dag, states=1, seed=0), "states must be"),
        (lambda dag: DiscreteNetwork.random(dag, concentration=0, seed=0), "concentration must be a positive"),
        (lambda dag: DiscreteNetwork.random(dag, concentration=np.inf, seed=0), "concentration must be a positive"),
        (lambda dag: LinearSEM.random(dag, Ranges((1.0, 1.0), (0.0, 1.0)), seed=0), "noise without deviation"),
        (lambda dag: LinearSEM.random(dag, seed=0).sample(Study(dag), 10**30, seed=0), "do not fit into any memory"),
        (lambda dag: LinearSEM.random(dag, seed=0).sample(other(dag), 5, seed=0), "have different graphs"),
        (lambda dag: AdditiveSEM.random(dag, seed=0).sample(other(dag), 5, seed=0), "have different graphs"),
        (lambda dag: DiscreteNetwork.random(dag, seed=0).sample(other(dag), 5, seed=0), "have different graphs"),
    ],
)
def test_nonsense_is_refused(call, message):
    with pytest.raises(ParameterError, match=message):
        call(erdos_renyi(4, seed=0))


def other(dag):
    return Study(dag.reordered(dag.names[::-1]))


def test_values_that_grow_beyond_all_numbers_are_refused():
    dag = erdos_renyi(60, 1.0, seed=0)
    with pytest.raises(ParameterError, match="grow beyond all numbers along chains of quadratic effects"):
        AdditiveSEM.random(dag, function="quadratic", seed=0).sample(Study(dag), 100, seed=1)


def test_tables_that_would_not_fit_are_refused():
    star = DAG.from_edges(*(f"P{i} --> C" for i in range(30)))
    with pytest.raises(ParameterError, match="C has 30 parents: its table would have 2\\^31 cells"):
        DiscreteNetwork.random(star, seed=0)


def test_selection_that_hardly_any_row_passes_is_refused():
    dag = DAG.from_edges(nodes=[f"S{i}" for i in range(40)] + ["X"])
    with pytest.raises(ParameterError, match="selection variables: choose fewer"):
        AdditiveSEM.random(dag, noise="uniform", seed=0).sample(Study(dag, (), dag.names[:40]), 10, seed=1)
