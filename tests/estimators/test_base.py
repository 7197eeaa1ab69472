"""The estimator keeps scikit-learn's conventions without depending on it."""

from __future__ import annotations

import inspect
import pickle
import time

import numpy as np
import pytest

from lmarvel import (
    DAG,
    FCI,
    M3HC,
    MBCS,
    PAG,
    RFCI,
    Auto,
    CITestError,
    DataError,
    Dataset,
    Discovery,
    FisherZ,
    FunctionTest,
    Lift,
    LMarvel,
    MSeparation,
    ParameterError,
    SepsetAnswer,
    SepsetQuery,
    mag_to_pag,
)
from lmarvel.budget.clock import Clock
from lmarvel.ci.fisher_z import kernel_name
from lmarvel.ci.ledger import Ledger
from lmarvel.ci.registry import as_ci_test
from lmarvel.ci.search import readable_search
from lmarvel.errors import BudgetSpent
from lmarvel.estimators.discover import discover
from lmarvel.result.trace import Separated
from lmarvel.simulate import LinearSEM, hide, load_network

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
    assert set(PARAMETERS) - {"knowledge"} <= set(settings)  # which the result keeps by itself
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


# --- what was passed, and what is said of it --------------------------------------------------------------


def columns(n: int = 60) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    a, b, c = rng.normal(size=(3, n))
    return {"A": a, "B": a + b, "C": c}


def test_parameters_are_given_by_name_only() -> None:
    with pytest.raises(TypeError):
        LMarvel(0.05)


def test_a_table_beside_a_test_must_be_about_the_same_variables() -> None:
    test = FisherZ(columns())
    assert LMarvel(test=test).fit(columns()).pag_ == LMarvel(test=test).fit().pag_
    with pytest.raises(CITestError, match="the test does not know the variable Z"):
        LMarvel(test=test).fit({**columns(), "Z": np.arange(60.0)})
    with pytest.raises(CITestError, match="the test has the variable C that the table leaves out"):
        LMarvel(test=test).fit({name: columns()[name] for name in "AB"})


def test_the_search_that_ran_is_the_one_that_is_recorded() -> None:
    assert LMarvel(test=FisherZ(columns(), compiled=False)).fit().result_.versions["search"] == "readable"
    assert LMarvel(test=FisherZ(columns())).fit().result_.versions["search"] == kernel_name()


@pytest.mark.parametrize("boundary", ["tc", "iamb"])
def test_copies_of_columns_are_refused_whatever_the_boundaries(boundary: str) -> None:
    table = columns(12)
    table |= {f"N{i}": np.random.default_rng(100 + i).normal(size=12) for i in range(20)} if boundary == "iamb" else {}
    with pytest.raises(DataError, match="'A' and 'Copy' are copies"):
        LMarvel(boundary=boundary).fit({**table, "Copy": 2 * table["A"]})


def test_a_tabu_list_without_room_is_refused_before_the_work() -> None:
    with pytest.raises(ParameterError, match="tabu must be a whole number of at least 1"):
        M3HC(tabu=0).check_parameters()


def test_three_columns_that_depend_on_each_other_leave_nothing_undecided() -> None:
    """25 rows, no limits: nothing limited the search."""
    x = np.random.default_rng(0).normal(size=25)
    table = {name: x + 0.3 * np.random.default_rng(k).normal(size=25) for k, name in enumerate("ABC", 1)}
    found = LMarvel().fit(table).result_
    assert found.budget_ended is None
    assert not found.undecided


def test_reading_counts_in_the_time() -> None:
    table = np.random.default_rng(0).normal(size=(50, 3))
    found = LMarvel(max_seconds=1e-9).fit(table).result_
    assert found.nothing_learned
    assert found.budget_ended == "max_seconds is used up"


@pytest.mark.parametrize("method", [FCI, RFCI, MBCS, LMarvel, M3HC])
def test_a_dense_table_of_many_columns_ends_in_time(method: type) -> None:
    rng = np.random.default_rng(0)
    table = rng.normal(size=(1200, 500)) @ (np.eye(500) + np.triu(0.05 * rng.normal(size=(500, 500)), 1))
    started = time.monotonic()
    found = method(max_seconds=0.5).fit(table).result_
    found.to_dict()
    assert time.monotonic() - started < 8.0  # 0.5 s and what comes after; generous, for machines under load
    assert found.undecided or found.budget_ended is None


# --- the method that fits the table -----------------------------------------------------------------------


def test_auto_takes_lift_where_the_table_allows_it_and_says_why() -> None:
    settings = Auto().fit(columns()).result_.settings
    assert settings["method"] == "Lift"
    assert settings["chosen"] == "lift: 60 rows and 3 columns allow a search by score"


@pytest.mark.parametrize(
    ("data", "options", "why"),
    [
        (np.random.default_rng(0).normal(size=(30, 20)), {}, "30 rows are few"),
        (None, {"test": ORACLE}, "the test is one of your own"),
    ],
)
def test_auto_takes_lmarvel_elsewhere(data: object, options: dict[str, object], why: str) -> None:
    settings = Auto(**options).fit(data).result_.settings
    assert settings["method"] == "LMarvel"
    assert why in settings["chosen"]


def test_auto_takes_lift_for_as_many_columns_as_time_allows() -> None:
    test = as_ci_test("fisher-z", Dataset.of(np.random.default_rng(0).normal(size=(700, 300))))
    method, why = Auto().resolved(test)
    assert (type(method), method.max_seconds) == (Lift, 60.0)
    assert why == "lift: 700 rows and 300 columns allow a search by score"
    method, why = Auto(max_seconds=0.5).resolved(test)
    assert type(method) is LMarvel
    assert why == "lmarvel: 300 columns are many for a search by score: about 1 s, and 0.5 s are given"
    few = as_ci_test("fisher-z", Dataset.of(np.random.default_rng(0).normal(size=(100, 8))))
    assert Auto().resolved(few)[0].max_seconds is None


def mixed() -> dict[str, object]:
    rng = np.random.default_rng(0)
    a = rng.normal(size=200)
    return {"a": a, "b": a + rng.normal(size=200), "c": np.where(a + rng.normal(size=200) > 0, "yes", "no")}


def test_auto_shares_its_time_only_where_models_are_slow() -> None:
    codes = np.random.default_rng(0).integers(0, 3, size=(300, 4))
    categories = {f"c{v}": [f"k{code}" for code in codes[:, v]] for v in range(4)}
    for name, table, limit in (("g-square", categories, None), ("mixed", categories, None), ("mixed", mixed(), 20.0)):
        assert Auto().resolved(as_ci_test(name, Dataset.of(table)))[0].max_seconds == limit


def test_auto_leaves_slow_models_to_tests_where_no_graph_is_found_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    def spent(*_: object) -> None:
        raise BudgetSpent("max_seconds is used up before a first graph was found")

    monkeypatch.setattr(Lift, "learn", spent)
    found = Auto().fit(mixed()).result_
    assert (found.settings["method"], found.settings["max_seconds"]) == ("LMarvel", 40.0)
    assert found.settings["chosen"] == ("lmarvel: a search by score, which may take 20 s, found no graph in time")
    assert found.pag == LMarvel().fit(mixed()).result_.pag
    assert found.resamples is None  # each of them would search by score again
    assert Lift().fit(mixed()).result_.budget_ended is not None  # who asks for Lift gets no other method


def test_resamples_of_what_lmarvel_learned_instead_are_learned_by_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def spent(*_: object) -> None:
        raise BudgetSpent("max_seconds is used up before a first graph was found")

    monkeypatch.setattr(Lift, "learn", spent)
    found = Auto().fit(mixed(), bootstrap=20).result_
    same = LMarvel(test=found.settings["test"]).fit(mixed(), bootstrap=20).result_
    assert (found.pag, found.stability) == (same.pag, same.stability)


def test_the_time_of_a_search_by_score_without_a_graph_is_a_phase_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def spent(*_: object) -> None:
        time.sleep(0.2)
        raise BudgetSpent("max_seconds is used up before a first graph was found")

    read = Dataset.read

    def slowly(table: Dataset, *rest: object) -> object:
        time.sleep(0.2)
        return read(table, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(Lift, "learn", spent)
    monkeypatch.setattr(Dataset, "read", slowly)
    seconds = Auto().fit(mixed()).result_.stats.seconds
    assert min(seconds["data"], seconds["score"]) >= 0.2
    assert "search" not in seconds


def seconds_of_lift(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Have Lift end as it begins; return a list that is told how many seconds it had."""
    seen: list[float] = []

    def look(_: object, ledger: Ledger, *__: object) -> None:
        seen.append(ledger.meter.deadline - time.monotonic())
        raise BudgetSpent("seen")

    monkeypatch.setattr(Lift, "learn", look)
    return seen


def test_a_search_by_score_that_auto_chose_keeps_its_part_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = seconds_of_lift(monkeypatch)
    for data, options in ((mixed(), {}), (mixed(), {"max_seconds": 30.0}), (np.eye(200, 61), {"test": "fisher-z"})):
        Auto(**options).fit(data)
    assert [round(seconds / 10) for seconds in seen] == [2, 1, 6]
    assert Auto(max_seconds=3.0).resolved(as_ci_test("mixed", Dataset.of(mixed())))[0].max_seconds == 3.0


def test_the_part_of_a_search_by_score_is_of_the_time_that_reading_left(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = seconds_of_lift(monkeypatch)
    method = Auto(max_seconds=600.0)
    found = discover(mixed(), method, clock=Clock(600.0, began=time.monotonic() - 300))
    assert 95 < seen[0] < 100.1
    assert found.settings["max_seconds"] == 400.0  # the same, however long reading took
    assert Clock(10.0, began=time.monotonic() - 11).part(3.0, 10.0) > 0  # a limit of 0 would be none


def test_auto_hands_its_parameters_on() -> None:
    settings = Auto(alpha=0.05, penalty=3.0).fit(columns()).result_.settings
    assert (settings["alpha"], settings["penalty"]) == (0.05, 3.0)
    with pytest.raises(ParameterError, match="penalty"):
        Auto(penalty=0).fit(columns())


def test_lift_without_time_for_a_graph_has_learned_nothing() -> None:
    table = np.random.default_rng(0).normal(size=(400, 30))
    found = Lift(max_seconds=1e-9).fit(table).result_
    assert found.nothing_learned
    assert found.budget_ended is not None


def test_lift_needs_no_tests() -> None:
    found = Lift(max_tests=0).fit(columns()).result_
    assert found.pag == Lift().fit(columns()).pag_
    assert not found.undecided


def test_a_result_is_not_changed_through_another() -> None:
    one = LMarvel().fit(columns()).result_
    one.versions["lmarvel"] = "changed"
    assert LMarvel().fit(columns()).result_.versions["lmarvel"] != "changed"


def test_a_search_of_ones_own_is_asked_whatever_the_names() -> None:
    class Searching:
        names = ("B", "A", "C")
        asked = 0

        def pvalue(self, x: int, y: int, given: tuple[int, ...]) -> float:
            return 0.5

        def find_sepset(self, query: SepsetQuery) -> SepsetAnswer:
            Searching.asked += 1
            return readable_search(FunctionTest(lambda x, y, given: 0.5, self.names), query)

    LMarvel(test=Searching(), boundary={"A": ["B"], "B": ["A"]}).fit()
    assert Searching.asked > 0


def test_marks_rest_on_no_gap_that_a_budget_kept_from_being_tested() -> None:
    study = hide(load_network("insurance"), 3, 2, seed=5)
    rows = LinearSEM.random(study.dag, "benchmark", seed=5).sample(study, 1000, seed=5)
    table = dict(zip(study.observed, rows.T, strict=True))
    full = LMarvel().fit(table).result_.stats
    short = LMarvel(max_tests=full.n_tests - sum(full.tests["gaps"].values())).fit(table).result_
    tested = {frozenset((e.x, e.y)) for e in short.trace if isinstance(e, Separated)}
    uses = [e for e in short.rules if e.rule in ("R0", "R1")]
    assert all(frozenset((e.nodes[0], e.nodes[2])) in tested for e in uses)
