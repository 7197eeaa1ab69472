"""Estimators among scikit-learn's: pipelines, copies, displays, and its own checks of an estimator."""

from __future__ import annotations

import subprocess
import sys
import warnings
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest

from lmarvel import FCI, Auto, LMarvel, MSeparation
from lmarvel.cli.demo import STUDY
from lmarvel.datasets import CARS

base = pytest.importorskip("sklearn.base")
pipeline = pytest.importorskip("sklearn.pipeline")
preprocessing = pytest.importorskip("sklearn.preprocessing")
checks = pytest.importorskip("sklearn.utils.estimator_checks")
validation = pytest.importorskip("sklearn.utils.validation")

# What is not asked of a learner of graphs, and why. All else that scikit-learn checks has to pass.
OWN_WORDS = "refused, in a message of our own that names the column and a way out"
NO_SENSE = {
    "check_complex_data": OWN_WORDS,
    "check_estimators_empty_data_messages": OWN_WORDS,
    "check_estimators_nan_inf": OWN_WORDS,
    "check_estimator_sparse_array": OWN_WORDS,
    "check_estimator_sparse_matrix": OWN_WORDS,
    "check_fit2d_1sample": OWN_WORDS,
    "check_fit2d_1feature": OWN_WORDS,
    "check_pipeline_consistency": "its table has two columns that are copies of each other, which is refused",
    "check_estimators_pickle": "the same table; tests/estimators/test_base.py pickles on another",
    "check_array_api_input": "skips itself unless SciPy was told to take arrays of other libraries",
}


def asked(model: Any) -> list[Any]:
    """Return the checks that scikit-learn has for an estimator."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it does not derive from scikit-learn's base
        return list(checks.estimator_checks_generator(model))


def name_of(check: Any) -> str:
    return (check.func if isinstance(check, partial) else check).__name__


@pytest.mark.parametrize("model", [LMarvel(), Auto(), FCI()], ids=repr)
def test_what_scikit_learn_asks_of_an_estimator_holds(model: Any) -> None:
    failed = {}
    for twin, check in asked(model):
        if name_of(check) not in NO_SENSE:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    check(twin)
                except (AssertionError, AttributeError, TypeError, ValueError) as error:
                    failed[name_of(check)] = str(error)
    assert failed == {}


def test_most_checks_make_sense() -> None:
    names = {name_of(check) for _, check in asked(LMarvel())}
    assert len(names - set(NO_SENSE)) >= 25


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (np.full((5, 2), 1j), "complex numbers cannot be used"),
        (np.empty((5, 0)), "the table has no columns"),
        (np.array([[1.0, 2.0], [np.nan, 1.0], [2.0, 5.0], [0.0, 0.0]]), "at most 3 rows have both of two variables"),
        (np.array([[1.0, 2.0], [np.inf, 1.0], [2.0, 5.0], [0.0, 0.0]]), "infinite values in 'X0'"),
        (np.ones((1, 3)), "the table has one row"),
        (np.arange(9.0).reshape(-1, 1), "1 column is not enough"),
    ],
)
def test_the_words_in_which_these_are_refused(table: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LMarvel().fit(table)


def test_sparse_matrices_are_refused_by_their_type() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(ValueError, match="cannot read data of type csr_array: pass an array"):
        LMarvel().fit(sparse.csr_array(np.eye(5)))


# --- what a fitted estimator tells ------------------------------------------------------------------------


def test_a_fitted_estimator_is_known_to_be_one() -> None:
    with pytest.raises(ValueError, match="not fitted"):
        validation.check_is_fitted(LMarvel())
    validation.check_is_fitted(LMarvel().fit(CARS))


def test_names_of_features_are_those_of_the_columns() -> None:
    frame = pd.read_csv(CARS)
    model = LMarvel()
    assert not hasattr(model, "n_features_in_")
    assert model.fit(frame).feature_names_in_.tolist() == list(frame.columns)
    assert model.n_features_in_ == 6
    model.fit(frame.to_numpy())
    assert not hasattr(model, "feature_names_in_")  # the columns of an array have none
    assert model.n_features_in_ == 6
    assert model.fit(frame.to_numpy(), names=list("ABCDEF")).feature_names_in_.tolist() == list("ABCDEF")


def test_an_oracle_names_its_variables() -> None:
    model = LMarvel(test=MSeparation(STUDY.dag, STUDY.latent, STUDY.selection)).fit()
    assert model.feature_names_in_.tolist() == list(STUDY.observed)


def test_copies_have_the_parameters_and_nothing_else() -> None:
    model = LMarvel(alpha=0.05, max_conditioning=3).fit(CARS)
    twin = base.clone(model)
    assert twin.get_params() == model.get_params()
    with pytest.raises(ValueError, match="not fitted"):
        validation.check_is_fitted(twin)


# --- pipelines --------------------------------------------------------------------------------------------


@pytest.fixture
def line() -> Any:
    scaled = preprocessing.StandardScaler().set_output(transform="pandas")
    return pipeline.make_pipeline(scaled, LMarvel(alpha=0.05))


def test_a_pipeline_that_ends_in_an_estimator_learns_the_same(line: Any) -> None:
    line.fit(pd.read_csv(CARS))
    assert line[-1].pag_ == LMarvel(alpha=0.05).fit(CARS).pag_
    assert line[-1].feature_names_in_[0] == "MilesPerGallon"


def test_a_pipeline_displays_before_and_after(line: Any) -> None:
    assert "LMarvel(alpha=0.05)" in repr(line)
    assert "LMarvel" in line._repr_html_()
    line.fit(pd.read_csv(CARS))
    assert "LMarvel(alpha=0.05)" in str(line)
    assert "LMarvel" in line._repr_html_()


def test_parameters_are_set_through_a_pipeline(line: Any) -> None:
    line.set_params(lmarvel__alpha=0.001)
    assert line[-1].alpha == 0.001
    assert line.get_params()["lmarvel__alpha"] == 0.001


def test_nothing_of_scikit_learn_is_loaded_by_the_package() -> None:
    code = "import sys; from lmarvel import LMarvel; from lmarvel.datasets import CARS; LMarvel().fit(CARS)"
    code += "; print('sklearn' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
