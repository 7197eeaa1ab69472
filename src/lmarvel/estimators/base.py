"""The frame of all estimators: keyword parameters in, fitted attributes out.

They follow scikit-learn's conventions (``fit`` returns self, results end in an underscore, ``get_params`` and
``set_params``, ``clone`` works) without depending on it. An estimator is its parameters; the work is done by
:func:`~lmarvel.estimators.discover.discover`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, partial
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from lmarvel.budget.clock import Clock
from lmarvel.ci.adapter import IndependenceTest
from lmarvel.ci.boundaries import Boundaries
from lmarvel.ci.boundary_searches import Boundary, check_boundary_name
from lmarvel.ci.ledger import Ledger, check_budgets
from lmarvel.ci.registry import resolve
from lmarvel.ci.test import CITest, checked_alpha
from lmarvel.data.dataset import Dataset
from lmarvel.errors import ParameterError
from lmarvel.estimators.bootstrap import (
    Interrupted,
    bootstrap_method,
    check_can_be_drawn,
    check_settings,
    to_go_on_from,
)
from lmarvel.estimators.discover import Chosen, discover
from lmarvel.estimators.grounds import later_grounds
from lmarvel.estimators.tuning import AUTO, settled
from lmarvel.graph.kinds import PAG
from lmarvel.knowledge import Knowledge
from lmarvel.result.discovery import Discovery
from lmarvel.skeleton.by_engine import PruningOptions
from lmarvel.skeleton.lmarvel import Levels
from lmarvel.skeleton.state import Learned, Progress, silent
from lmarvel.text import did_you_mean

Self = TypeVar("Self", bound="PagEstimator")
SelfEstimator = TypeVar("SelfEstimator", bound="Estimator")
_FOR_LEVELS = 0.5  # of the seconds, for a level or penalty that the table chooses


@dataclass(kw_only=True, repr=False, eq=False)
class Estimator:
    """Parameters by name, as scikit-learn has them; those of a subclass are its dataclass fields."""

    @classmethod
    @cache
    def _defaults(cls) -> Mapping[str, Any]:
        return MappingProxyType({field.name: field.default for field in fields(cls)})

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters of the constructor with their values."""
        return {name: vars(self)[name] for name in self._defaults()}

    def set_params(self: SelfEstimator, **params: Any) -> SelfEstimator:
        """Change parameters by name."""
        known = self._defaults()
        for name in params:
            if name not in known:
                meant = did_you_mean(name, known)
                raise ParameterError(f"{type(self).__name__} has no parameter {name!r}: {', '.join(known)}{meant}")
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = self._defaults()
        changed = [f"{k}={v!r}" for k, v in self.get_params().items() if not _same(v, defaults[k])]
        return f"{type(self).__name__}({', '.join(changed)})"


@dataclass(kw_only=True, repr=False, eq=False)
class PagEstimator(Estimator):
    """An estimator that learns a PAG: the parameters that all methods share, and ``fit``."""

    alpha: Any = 0.01  # a number, or "auto"
    test: str | CITest | Callable[..., float] = "auto"
    boundary: Boundary = "auto"
    boundary_alpha: float | None = None
    selection: bool = True
    max_conditioning: int | None = None
    max_tests: int | None = None
    max_seconds: float | None = None
    knowledge: Knowledge | None = None

    def check_parameters(self) -> None:
        """Refuse parameters that make no sense; ``fit`` does so before any work."""
        if self.alpha != AUTO:
            checked_alpha(self.alpha)
        if self.boundary_alpha is not None:
            checked_alpha(self.boundary_alpha, "boundary_alpha")
        if isinstance(self.test, str):
            resolve(self.test)
        check_boundary_name(self.boundary, self._starts_complete())
        check_budgets(self.max_conditioning, self.max_tests, self.max_seconds)
        for name, default in self._defaults().items():
            value = vars(self)[name]
            if isinstance(default, bool) and not isinstance(value, bool | np.bool_):
                raise ParameterError(f"must be True or False, not {value!r}", parameter=name)
        if self.knowledge is not None and not isinstance(self.knowledge, Knowledge):
            raise ParameterError(
                f"must be a Knowledge, such as Knowledge(tiers=...), not {self.knowledge!r}", parameter="knowledge"
            )
        self._check()

    @classmethod
    def measures(cls) -> bool:
        """Whether a test that is left to "auto" is chosen by how the numbers of a table are related."""
        return False

    def _informed(self: Self, tiers: tuple[tuple[str, ...], ...] = ()) -> Self:
        """Return the same method where ``selection`` and ``latents`` say the same as parameters and in knowledge.

        ``tiers`` are those of a panel, which the method is to know, too.
        """
        if tiers:
            stated = (self.knowledge or Knowledge()).with_tiers(tiers)
            return type(self)(**self.get_params() | {"knowledge": stated})._informed()
        knowledge = self.knowledge
        if knowledge is None and vars(self).get("latents", True):
            return self
        knowledge = knowledge or Knowledge()
        said = {name: vars(knowledge)[name] and vars(self).get(name, True) for name in ("selection", "latents")}
        if all(vars(knowledge)[name] == said[name] == vars(self).get(name, said[name]) for name in said):
            return self
        params = self.get_params() | {"knowledge": replace(knowledge, **said)}
        return type(self)(**params | {name: value for name, value in said.items() if name in params})

    def _check(self) -> None:
        """Refuse parameters that are the method's own."""

    @classmethod
    def needs_boundaries(cls) -> bool:
        """Whether nothing can be learned without Markov boundaries."""
        return True

    def uses_boundaries(self, test: IndependenceTest, data: Dataset | None) -> bool:
        """Whether Markov boundaries are of use for this table."""
        return True

    @classmethod
    def _starts_complete(cls) -> bool:
        """Whether the method can start from all pairs."""
        return False

    def resolved(self, test: IndependenceTest) -> tuple[PagEstimator, str | None]:
        """Return the method to run on a test, and why it was chosen; None where the user chose it."""
        return self, None

    def instead(self, tried: PagEstimator) -> tuple[PagEstimator, str] | None:
        """Return what to run where the method that was chosen found nothing in time, and why; None: nothing."""
        return None

    def that_learned(self, found: Discovery) -> PagEstimator:
        """Return the method for resamples of the table that a result was learned from."""
        return self

    def for_engine(self, level: float) -> Levels | PruningOptions | None:
        """Return with what the compiled engine does the same, boundaries at this level; None: it cannot."""
        return None

    # --- learning ---------------------------------------------------------------------------------------

    def learn(self, ledger: Ledger, boundaries: Boundaries, data: Dataset | None, report: Progress) -> Learned | Chosen:
        """Run the method on Markov boundaries; ``fit`` does so."""
        raise TypeError(f"{type(self).__name__} is the frame of estimators: use one of its subclasses")

    def fit(
        self: Self,
        data: Any = None,
        y: object = None,
        *,
        names: Sequence[str] | None = None,
        progress: Progress | None = None,
        categorical: Sequence[str] = (),
        ordinal: Sequence[str] | Mapping[str, Sequence[str] | None] = (),
        missing: str | None = None,
        weights: Any = None,
        cluster: Any = None,
        panel: Any = None,
        bootstrap: int | None = None,
        seed: int = 0,
        n_jobs: int = 1,
        resume: Discovery | None = None,
    ) -> Self:
        """Learn the PAG from a table; with ``bootstrap``, also count how often resamples give each part of it.

        Parameters
        ----------
        data : array, mapping, frame, path, Dataset or Moments, optional
            The table; not needed where ``test`` is a test that knows its variables.
        y : ignored
            There for pipelines that pass it.
        names : sequence of str, optional
            Variable names for an array, or for a test that is a plain function.
        progress : callable, optional
            Called with (phase, done, of how many) as the work goes on.
        categorical : sequence of str
            Categorical columns; text columns are categorical automatically.
        ordinal : sequence of str, or mapping from names to categories
            Columns of ordered categories. The order is that of the numbers, or the one given, from the lowest to the
            highest.
        missing : {"auto", "test-wise", "drop", "em", "refuse"}
            What becomes of missing values. By default ("auto", which is "test-wise") every test uses the rows that have
            its variables; or rows with one are dropped; or moments are found by EM; or the table is refused.
        weights : array or str, optional
            A weight for each row, or the column with them.
        cluster : array or str, optional
            Which rows belong together, or the column that shows it. A bootstrap resamples them together, and tests and
            scores count them as the equivalent number of independent rows.
        panel : str or sequence, optional
            The columns of units and times of repeated measures, as "id,year". Each row then has the columns of its time
            and those of the time before, which come first in tiers; see :meth:`lmarvel.Dataset.of`.
        bootstrap : int, optional
            Number of resamples (rows drawn with replacement) to learn from again, each within the same budgets.
            ``result_.stability`` counts how often each part appears.
        seed : int
            Random seed: the same seed gives the same resamples, for any number of workers.
        n_jobs : int
            Workers of the bootstrap, -1 for all processors; joblib's back ends are honoured. A method whose search runs
            in threads has a parameter of its own for them.
        resume : Discovery, optional
            An earlier result: where it is of the same table, settings and seed, the bootstrap goes on from its counts.
            An interruption leaves one in ``result_``.

        Examples
        --------
        >>> from lmarvel import LMarvel
        >>> from lmarvel.datasets import CARS
        >>> found = LMarvel().fit(CARS, bootstrap=100, seed=1).result_
        >>> found.stability.edge("Weight", "MilesPerGallon"), found.stability.causes_share("Weight", "MilesPerGallon")
        (1.0, 0.27)
        """
        self.check_parameters()
        self._has_names = names is not None or not isinstance(data, np.ndarray | list | tuple)
        said = {"categorical": categorical, "ordinal": ordinal, "missing": missing, "weights": weights}
        said |= {"cluster": cluster, "panel": panel}
        clock = Clock(self.max_seconds)
        table = None if data is None else Dataset.of(data, names, **said)
        method = self._informed(() if table is None else table.tiers)
        if bootstrap is None and not method.is_left_open():
            if table is None:
                found = discover(None, method, names, progress, clock, **said)
            else:
                found = discover(table, method, progress=progress, clock=clock)
            self.result_ = replace(found, later_grounds=later_grounds(found, table, method, clock))
            return self
        if bootstrap is not None:
            check_settings(bootstrap, seed, n_jobs)
        check_can_be_drawn(table, method)
        assert table is not None
        report = progress or silent
        with clock.running(), Clock(clock.left() * _FOR_LEVELS).running():
            method, why = settled(method, table, partial(report, "level"))
        found = discover(table, method, progress=progress, clock=clock)
        self.result_ = found if why is None else replace(found, settings={**found.settings, "value_chosen": why})
        grounds = later_grounds(found, table, method, clock, resample=bootstrap is None)
        self.result_ = replace(self.result_, later_grounds=grounds)
        if bootstrap is not None:
            self._draw_again(table, method.that_learned(found), bootstrap, seed, n_jobs, resume, report)
        return self

    def is_left_open(self) -> bool:
        """Tell whether the table is to choose the level, or the penalty."""
        return AUTO in (self.alpha, vars(self).get("penalty"))

    def _draw_again(
        self,
        table: Dataset,
        method: PagEstimator,
        replicates: int,
        seed: int,
        n_jobs: int,
        before: Discovery | None,
        report: Progress,
    ) -> None:
        """Put into the result how often its parts recur; an interruption leaves what was counted until then."""
        found = self.result_
        known = to_go_on_from(before, found, replicates, seed)
        try:
            counted = bootstrap_method(table, method, replicates, seed, n_jobs, known, partial(report, "bootstrap"))
        except Interrupted as stopped:
            if stopped.stability.replicates:
                self.result_ = replace(found, stability=stopped.stability)
            raise
        self.result_ = replace(found, stability=counted)

    @property
    def pag_(self) -> PAG:
        """The learned PAG."""
        return self.result_.pag

    @property
    def sepsets_(self) -> Mapping[tuple[str, str], frozenset[str]]:
        """Separating sets that were tested, by pairs of names."""
        return self.result_.sepsets

    @property
    def boundaries_(self) -> Mapping[str, frozenset[str]]:
        """The Markov boundaries by name."""
        return self.result_.boundaries

    @property
    def n_ci_tests_(self) -> int:
        """The number of tests, boundary stage included."""
        return self.result_.stats.n_tests

    # --- what scikit-learn asks for ---------------------------------------------------------------------

    @property
    def n_features_in_(self) -> int:
        """The number of variables that were learned about."""
        return len(self.result_.pag)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """The names of the variables; there are none where the columns of an array had no names."""
        if not (self.__sklearn_is_fitted__() and self._has_names):
            raise AttributeError("feature_names_in_ is there after a fit to a table whose columns have names")
        return np.array(self.result_.pag.names, dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        return "result_" in vars(self)

    def __sklearn_tags__(self) -> Any:
        """Tell what can be learned from: tables of numbers or text, without a target."""
        from sklearn.utils import InputTags, Tags, TargetTags  # which asks for them, so that it is there

        taken = InputTags(categorical=True, string=True, dict=True)
        return Tags(estimator_type=None, target_tags=TargetTags(required=False), input_tags=taken)


def _same(value: object, default: object) -> bool:
    plain = str | int | float | None
    return value is default or (isinstance(value, plain) and type(value) is type(default) and value == default)
