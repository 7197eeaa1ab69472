"""The methods as estimators, one interface for all: change the word and compare."""

from __future__ import annotations

from dataclasses import dataclass

from lmarvel.ci.boundaries import Boundaries
from lmarvel.ci.boundary_searches import Boundary
from lmarvel.ci.ledger import Ledger
from lmarvel.ci.test import checked_alpha
from lmarvel.data.dataset import Dataset
from lmarvel.errors import ParameterError
from lmarvel.estimators.base import PagEstimator
from lmarvel.estimators.bootstrap import check_workers, n_workers
from lmarvel.skeleton.by_engine import PruningOptions
from lmarvel.skeleton.fci import fci
from lmarvel.skeleton.lmarvel import Levels, lmarvel
from lmarvel.skeleton.mbcs import mbcs
from lmarvel.skeleton.pc import COLLIDER_RULES
from lmarvel.skeleton.rfci import rfci
from lmarvel.skeleton.state import Learned, Progress


@dataclass(kw_only=True, repr=False, eq=False)
class LMarvel(PagEstimator):
    """Learn a PAG with L-MARVEL.

    Parameters
    ----------
    alpha : float or "auto"
        Significance level of the independence tests. "auto" chooses it by the BIC of the graphs along a path of
        levels.
    test : {"auto", "fisher-z", "rank", "scores", "skewed", "g-square", "mixed", "curved"}, CITest or callable
        "auto" chooses by the kinds of the columns: Fisher's z test where all are numbers, else a test for categories;
        ``result_.settings`` says which, and why. Or an object with ``names`` and ``pvalue(x, y, given)`` on positions,
        or a plain function of names ``(x, y, given) -> p-value``.
    boundary : {"auto", "tc", "gs", "iamb", "inter-iamb", "fast-iamb"} or mapping
        How Markov boundaries are found. "auto" is total conditioning ("tc") where the rows allow, else "iamb";
        ``result_.settings["boundary"]`` says which. Or boundaries of your own: a mapping from each name to the
        names in its boundary.
    boundary_alpha : float, optional
        Level for the Markov boundaries; 2/p^2 by default, p being the number of variables, and at most alpha.
    removal_threshold : float
        A separating set with X counts against removing X only if its p-value exceeds this. At alpha
        itself many variables would wrongly be kept.
    assume_chordal : bool
        True is the paper's algorithm, which assumes that selection leaves no chordless undirected cycle.
        False, the default, needs no such assumption, at hardly any cost.
    faithful : bool
        True decides as the paper's program does where the paper leaves a choice. The full boundary is not tried as a
        separating set, and separating sets outside boundaries are taken untested. Pairs that some step found
        independent can stay edges. False, the default, asks and resolves these.
    selection : bool
        False asserts that the sample was not selected, and switches the rules R5-R7 off.
    max_conditioning, max_tests, max_seconds : optional
        Budgets. What they leave undecided is listed in ``result_.undecided``.
    knowledge : Knowledge, optional
        What is known beforehand; see :class:`~lmarvel.Knowledge`.

    Attributes
    ----------
    pag_ : PAG
    sepsets_ : mapping from pairs of names to separating sets
    boundaries_ : mapping from names to Markov boundaries
    n_ci_tests_ : int
        Distinct tests, boundary stage included.
    result_ : Discovery

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> a, d, u = rng.normal(size=(3, 2000))                # u is not measured
    >>> b = a + u + 0.5 * rng.normal(size=2000)
    >>> c = d + u + 0.5 * rng.normal(size=2000)
    >>> print(LMarvel().fit({"A": a, "B": b, "C": c, "D": d}).pag_)
    nodes: A B C D
    A o-> B
    B <-> C
    D o-> C
    """

    removal_threshold: float = 0.8
    assume_chordal: bool = False
    faithful: bool = False

    def _check(self) -> None:
        checked_alpha(self.removal_threshold, "removal_threshold")

    def learn(self, ledger: Ledger, boundaries: Boundaries, data: Dataset | None, report: Progress) -> Learned:
        """Run L-MARVEL."""
        return lmarvel(ledger, boundaries, self.levels(boundaries.level), report)

    def levels(self, boundary: float) -> Levels:
        """Return the levels and switches of a run whose boundaries are found at a level."""
        return Levels(self.alpha, boundary, self.removal_threshold, self.assume_chordal, self.faithful)

    def for_engine(self, level: float) -> Levels | None:
        """Return the levels with which the compiled engine does the same; a subclass may learn in another way."""
        return self.levels(level) if type(self).learn is LMarvel.learn else None


@dataclass(kw_only=True, repr=False, eq=False)
class _Pruned(PagEstimator):
    """What FCI and RFCI share: they cut edges from a dense graph."""

    boundary: Boundary = "none"
    colliders: str = "standard"
    max_p: bool = False
    n_jobs: int = 1

    @classmethod
    def _starts_complete(cls) -> bool:
        return True

    def _check(self) -> None:
        if self.colliders not in COLLIDER_RULES:
            known = ", ".join(COLLIDER_RULES)
            raise ParameterError(f"must be one of {known}, not {self.colliders!r}", parameter="colliders")
        check_workers(self.n_jobs)


@dataclass(kw_only=True, repr=False, eq=False)
class FCI(_Pruned):
    """Learn a PAG with FCI (Spirtes, Meek & Richardson 1999; Zhang 2008).

    Exact with an oracle. Its second search, over Possible-D-Sep sets, can take very many tests: set a budget.

    Parameters
    ----------
    alpha, test, boundary_alpha, selection, max_conditioning, max_tests, max_seconds, knowledge
        As for :class:`LMarvel`.
    boundary : {"none", "auto", "tc", "gs", "iamb", "inter-iamb", "fast-iamb"} or mapping
        "none" starts from the complete graph; anything else from Markov boundaries, which saves tests.
    colliders : {"standard", "conservative", "majority"}
        Read a collider from one separating set, or from all of them; with the latter two a triple can stay ambiguous.
    max_p : bool
        Keep the separating set with the largest p-value of its size, not the first found.
    possible_d_sep : {"pruned", "classic", "none"}
        The sets of the second search. "pruned" leaves out what marks that are known rule out, at the same guarantee;
        "classic" is the textbook's, with far more tests; "none" skips the search.
    n_jobs : int
        Threads over pairs, where the readable code runs (a test of your own that has a search); the compiled engine
        needs none, and the result does not depend on it.

    Examples
    --------
    >>> from lmarvel import DAG, FCI, MSeparation
    >>> truth = DAG.from_edges("A --> B", "U --> B", "U --> C", "D --> C")
    >>> print(FCI(test=MSeparation(truth, latent=["U"])).fit().pag_)
    nodes: A B C D
    A o-> B
    B <-> C
    D o-> C
    """

    possible_d_sep: str = "pruned"

    def _check(self) -> None:
        super()._check()
        if self.possible_d_sep not in ("pruned", "classic", "none"):
            raise ParameterError(
                f"must be pruned, classic or none, not {self.possible_d_sep!r}", parameter="possible_d_sep"
            )

    def learn(self, ledger: Ledger, boundaries: Boundaries, data: Dataset | None, report: Progress) -> Learned:
        """Run FCI."""
        threads = n_workers(self.n_jobs)
        searches = (self.alpha, threads, self.max_p, self.colliders, self.possible_d_sep, self.selection)
        return fci(ledger, boundaries, *searches, report)

    def for_engine(self, level: float) -> PruningOptions | None:
        """Return with what the compiled engine does the same; a subclass may learn in another way."""
        options = PruningOptions("fci", self.alpha, self.max_p, self.possible_d_sep, self.colliders)
        return options if type(self).learn is FCI.learn else None


@dataclass(kw_only=True, repr=False, eq=False)
class RFCI(_Pruned):
    """Learn an RFCI-PAG (Colombo, Maathuis, Kalisch & Richardson 2012).

    Far fewer tests than FCI. With an oracle every mark is right and no edge is missing, but edges can be too many.
    Parameters as for :class:`FCI`, without ``possible_d_sep``.

    Examples
    --------
    >>> from lmarvel import DAG, MSeparation, RFCI
    >>> truth = DAG.from_edges("A --> C", "B --> C", "C --> D")
    >>> print(RFCI(test=MSeparation(truth)).fit().pag_)
    nodes: A C B D
    A o-> C
    B o-> C
    C --> D
    """

    def learn(self, ledger: Ledger, boundaries: Boundaries, data: Dataset | None, report: Progress) -> Learned:
        """Run RFCI, up to the tests that go with orientation."""
        return rfci(ledger, boundaries, self.alpha, n_workers(self.n_jobs), self.max_p, self.colliders, report)

    def for_engine(self, level: float) -> PruningOptions | None:
        """Return with what the compiled engine does the same; a subclass may learn in another way."""
        options = PruningOptions("rfci", self.alpha, self.max_p, colliders=self.colliders)
        return options if type(self).learn is RFCI.learn else None


@dataclass(kw_only=True, repr=False, eq=False)
class MBCS(PagEstimator):
    """Learn a PAG with MBCS*, the collider-set search on Markov boundaries (Pellet & Elisseeff 2008).

    Exact with an oracle. Tests only edges in a triangle of the boundary graph, but given large sets.

    Parameters
    ----------
    alpha, test, boundary, boundary_alpha, selection, max_conditioning, max_tests, max_seconds, knowledge
        As for :class:`LMarvel`; "none" as boundary takes all other variables, which is rarely wise.

    Examples
    --------
    >>> from lmarvel import DAG, MBCS, MSeparation
    >>> truth = DAG.from_edges("A --> C", "B --> C", "C --> D")
    >>> print(MBCS(test=MSeparation(truth)).fit().pag_)
    nodes: A C B D
    A o-> C
    B o-> C
    C --> D
    """

    @classmethod
    def _starts_complete(cls) -> bool:
        return True

    def learn(self, ledger: Ledger, boundaries: Boundaries, data: Dataset | None, report: Progress) -> Learned:
        """Run MBCS*."""
        return mbcs(ledger, boundaries, self.alpha, report)

    def for_engine(self, level: float) -> PruningOptions | None:
        """Return with what the compiled engine does the same; a subclass may learn in another way."""
        return PruningOptions("mbcs", self.alpha) if type(self).learn is MBCS.learn else None
