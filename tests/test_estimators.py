"""The estimator keeps scikit-learn's conventions without depending on it."""

from __future__ import annotations

import inspect
import pickle

import pytest

from lmarvel import DAG, PAG, Discovery, LMarvel, MSeparation, ParameterError, mag_to_pag

TRUTH = DAG.from_edges("A --> B", "U --> B", "U --> C", "D --> C")
ORACLE = MSeparation(TRUTH, latent=["U"])
PARAMETERS = list(inspect.signature(LMarvel.__init__).parameters)[1:]


def is_fitted(model: LMarvel) -> bool:
    return any(name.endswith("_") and not name.startswith("_") for name in vars(model))


# --- parameters -------------------------------------------------------------------------------------------


def test_get_params_returns_what_the_constructor_took() -> None:
    model = LMarvel(alpha=0.05, test=ORACLE, max_tests=100)
    params = model.get_params()
    assert list(params) == PARAMETERS
    assert params["alpha"] == 0.05
    assert params["test"] is ORACLE
    assert params["max_tests"] == 100
    assert model.get_params(deep=False) == params


def test_set_params_changes_them_and_returns_the_estimator() -> None:
    model = LMarvel()
    assert model.set_params(alpha=0.1, selection=False) is model
    assert model.alpha == 0.1
    assert model.selection is False
    assert model.set_params() is model


def test_set_params_refuses_what_it_does_not_know_and_changes_nothing() -> None:
    model = LMarvel(alpha=0.1)
    with pytest.raises(ParameterError, match="LMarvel has no parameter 'aplha': alpha, "):
        model.set_params(alpha=0.5, aplha=0.2)
    assert model.alpha == 0.1


def test_the_constructor_keeps_its_arguments_as_they_are() -> None:
    for name in PARAMETERS:
        marker = object()
        model = LMarvel(**{name: marker})
        assert getattr(model, name) is marker


def test_the_constructor_checks_nothing_and_fit_checks_all() -> None:
    model = LMarvel(alpha="high", test=ORACLE)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="alpha"):
        model.fit()


# --- repr -------------------------------------------------------------------------------------------------


def test_repr_shows_what_differs_from_the_defaults() -> None:
    assert repr(LMarvel()) == "LMarvel()"
    assert repr(LMarvel(alpha=0.05, selection=False)) == "LMarvel(alpha=0.05, selection=False)"
    assert repr(LMarvel(boundary="tc")) == "LMarvel(boundary='tc')"


def test_repr_does_not_show_defaults_that_were_given() -> None:
    defaults = {name: p.default for name, p in inspect.signature(LMarvel.__init__).parameters.items() if name != "self"}
    assert repr(LMarvel(**defaults)) == "LMarvel()"
    assert repr(LMarvel(alpha=float("0.01"), boundary="".join(["au", "to"]))) == "LMarvel()"


def test_repr_can_be_read_back() -> None:
    model = LMarvel(alpha=0.05, removal_threshold=0.5, max_conditioning=3)
    assert eval(repr(model)).get_params() == model.get_params()


# --- copies -----------------------------------------------------------------------------------------------


def test_an_estimator_built_from_its_parameters_is_the_same_and_unfitted() -> None:
    model = LMarvel(alpha=0.05, test=ORACLE).fit()
    twin = type(model)(**model.get_params())
    assert twin.get_params() == model.get_params()
    assert is_fitted(model)
    assert not is_fitted(twin)


def test_scikit_learn_can_clone_it() -> None:
    base = pytest.importorskip("sklearn.base")
    model = LMarvel(alpha=0.05, test=ORACLE, max_conditioning=2).fit()
    twin = base.clone(model)
    assert not is_fitted(twin)
    assert repr(twin.set_params(test=ORACLE)) == repr(model)
    assert base.clone(twin).fit().pag_ == model.pag_


def test_a_fitted_estimator_can_be_pickled() -> None:
    model = LMarvel(test=ORACLE).fit()
    twin = pickle.loads(pickle.dumps(model))
    assert twin.pag_ == model.pag_
    assert dict(twin.sepsets_) == dict(model.sepsets_)
    assert twin.fit().pag_ == model.pag_


# --- fitted attributes ------------------------------------------------------------------------------------


def test_nothing_is_fitted_before_fit() -> None:
    assert not is_fitted(LMarvel(test=ORACLE))


def test_fit_returns_the_estimator() -> None:
    model = LMarvel(test=ORACLE)
    assert model.fit() is model


def test_fitted_attributes_are_those_of_the_result() -> None:
    model = LMarvel(test=ORACLE).fit()
    found = model.result_
    assert isinstance(found, Discovery)
    assert isinstance(model.pag_, PAG)
    assert model.pag_ is found.pag
    assert model.pag_ == mag_to_pag(TRUTH.project(["U"]))
    assert model.boundaries_ == {"A": {"B", "C", "D"}, "B": {"A", "C", "D"}, "C": {"A", "B", "D"}, "D": {"A", "B", "C"}}
    assert model.n_ci_tests_ == found.stats.n_tests > 0
    assert set(model.sepsets_) == {("A", "C"), ("A", "D"), ("B", "D")}
    assert model.sepsets_["A", "C"] == model.sepsets_["C", "A"] == frozenset()


def test_every_pair_is_an_edge_or_has_a_separating_set() -> None:
    model = LMarvel(test=ORACLE).fit()
    for a in ORACLE.names:
        for b in ORACLE.names:
            assert model.pag_.has_edge(a, b) + ((a, b) in model.sepsets_) == (a != b)


def test_fitting_again_forgets_the_first_result() -> None:
    model = LMarvel(test=ORACLE).fit()
    model.set_params(test=MSeparation(DAG.from_edges("X --> Y"))).fit()
    assert model.pag_ == PAG.from_edges("X o-o Y")
    assert set(model.boundaries_) == {"X", "Y"}


def test_fitting_twice_gives_the_same() -> None:
    model = LMarvel(test=ORACLE)
    first, second = model.fit().result_, model.fit().result_
    assert (first.pag, first.trace, first.stats.tests) == (second.pag, second.trace, second.stats.tests)


def test_settings_tell_the_parameters_of_the_run() -> None:
    model = LMarvel(alpha=0.05, test=ORACLE, selection=False).fit()
    settings = model.result_.settings
    assert settings["alpha"] == 0.05
    assert settings["selection"] is False
    assert set(PARAMETERS) <= set(settings)
    model.set_params(alpha=0.5)
    assert settings["alpha"] == 0.05


def test_a_plain_function_is_asked_by_names() -> None:
    asked = []

    def test(x: str, y: str, given: tuple[str, ...]) -> float:
        asked.append((x, y, given))
        return 1.0 if {x, y} == {"A", "C"} and "B" in given else 0.0

    assert LMarvel(test=test).fit(names=["A", "B", "C"]).pag_ == PAG.from_edges("A o-o B", "B o-o C")
    assert all({x, y, *given} <= {"A", "B", "C"} and x not in given and y not in given for x, y, given in asked)


def test_boundaries_of_your_own_are_used() -> None:
    own = {"A": ["B", "C", "D"], "B": ["A", "C", "D"], "C": ["A", "B", "D"], "D": ["A", "B", "C"]}
    model = LMarvel(test=ORACLE, boundary=own).fit()
    assert model.pag_ == mag_to_pag(TRUTH.project(["U"]))
    assert "boundary" not in model.result_.stats.tests


def test_selection_false_leaves_a_ring_open() -> None:
    ring = DAG.from_edges(*(f"{v} --> S{pair}" for pair in ("AB", "BC", "CD", "DA") for v in pair))
    oracle = MSeparation(ring, selection=["SAB", "SBC", "SCD", "SDA"])
    assert LMarvel(test=oracle).fit().pag_ == PAG.from_edges("A --- B", "B --- C", "C --- D", "D --- A")
    without = LMarvel(test=oracle, selection=False).fit().pag_
    assert without == PAG.from_edges("A o-o B", "B o-o C", "C o-o D", "D o-o A")


@pytest.mark.parametrize("budget", [{"max_tests": 0}, {"max_tests": 3}, {"max_conditioning": 0}, {"max_seconds": 1e-9}])
def test_what_a_budget_leaves_open_is_listed(budget: dict[str, float]) -> None:
    found = LMarvel(test=ORACLE, **budget).fit().result_  # type: ignore[arg-type]
    assert found.undecided
    assert all(found.pag.has_edge(a, b) for a, b in found.undecided)
    truth = TRUTH.project(["U"])
    assert all(found.pag.has_edge(e.a, e.b) for e in truth.edges())


def test_one_variable_or_none_is_no_trouble() -> None:
    alone = LMarvel(test=lambda *_: 1.0).fit(names=["A"])
    assert alone.pag_ == PAG.from_edges(nodes=["A"])
    assert LMarvel(test=lambda *_: 1.0).fit(names=[]).pag_ == PAG.from_edges()
