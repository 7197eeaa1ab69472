"""The methods as estimators, one interface for all: change the word and compare."""

from __future__ import annotations

from collections.abc import Callable

from lmarvel.ci.base import CITest, checked_alpha
from lmarvel.ci.ledger import BudgetSpent, Ledger
from lmarvel.errors import ParameterError
from lmarvel.estimators.base import Learned, PagEstimator, Progress
from lmarvel.estimators.inputs import Boundary
from lmarvel.orient.draft import IsCollider
from lmarvel.skeleton.fci import fci
from lmarvel.skeleton.lmarvel import lmarvel
from lmarvel.skeleton.mbcs import mbcs
from lmarvel.skeleton.pruning import Pruning
from lmarvel.skeleton.rfci import PathCheck, rfci
from lmarvel.skeleton.triples import RULES, classify_triples


class LMarvel(PagEstimator):
    """Learn a PAG with L-MARVEL.

    Parameters
    ----------
    alpha : float
        Level of the independence tests.
    test : "auto", "fisher-z", CITest or callable
        "auto" is Fisher's z test of partial correlation. Or an object with ``names`` and
        ``pvalue(x, y, given)`` on positions, or a plain function of names ``(x, y, given) -> p-value``.
    boundary : {"auto", "tc", "gs", "iamb", "inter-iamb", "fast-iamb"} or mapping
        How Markov boundaries are found. "auto" is total conditioning ("tc") where the rows allow, else "iamb";
        ``result_.settings["boundary"]`` says which. Or boundaries of your own: a mapping from each name to the
        names in its boundary.
    boundary_alpha : float, optional
        Level for the Markov boundaries; 2/p^2 by default, p being the number of variables, and at most alpha.
    removal_threshold : float
        A separating set that holds X speaks against removing X only if its p-value exceeds this. At alpha
        itself many variables would wrongly be kept.
    assume_chordal : bool
        True is the paper's algorithm, which assumes that selection leaves no chordless undirected cycle.
        False, the default, needs no such assumption, at hardly any cost.
    selection : bool
        False asserts that the sample was not selected, and switches the rules R5-R7 off.
    max_conditioning, max_tests, max_seconds : optional
        Budgets. What they leave undecided is listed in ``result_.undecided``.

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

    def __init__(
        self,
        alpha: float = 0.01,
        test: str | CITest | Callable[..., float] = "auto",
        boundary: Boundary = "auto",
        boundary_alpha: float | None = None,
        removal_threshold: float = 0.8,
        assume_chordal: bool = False,
        selection: bool = True,
        max_conditioning: int | None = None,
        max_tests: int | None = None,
        max_seconds: float | None = None,
    ) -> None:
        self.alpha = alpha
        self.test = test
        self.boundary = boundary
        self.boundary_alpha = boundary_alpha
        self.removal_threshold = removal_threshold
        self.assume_chordal = assume_chordal
        self.selection = selection
        self.max_conditioning = max_conditioning
        self.max_tests = max_tests
        self.max_seconds = max_seconds

    def _check(self) -> None:
        checked_alpha(self.removal_threshold, "removal_threshold")

    def _learn(self, ledger: Ledger, boundaries: list[set[int]], level: float, report: Progress) -> Learned:
        skeleton = lmarvel(
            ledger,
            boundaries,
            self.alpha,
            level,
            self.removal_threshold,
            self.assume_chordal,
            lambda done, total: report("skeleton", done, total),
        )
        edges = [(x, y) for x, around in enumerate(skeleton.adjacent) for y in sorted(around) if x < y]
        sepsets = skeleton.sepsets
        return Learned(edges, sepsets, skeleton.trace, lambda: skeleton.undecided, sepsets.is_collider)


class _Pruned(PagEstimator):
    """Methods that cut edges from a dense graph, with their options for colliders."""

    _starts_complete = True
    colliders: str
    max_p: bool
    possible_d_sep: str
    n_jobs: int

    def _check(self) -> None:
        if self.colliders not in RULES:
            raise ParameterError(f"colliders must be one of {', '.join(RULES)}, not {self.colliders!r}")
        if self.possible_d_sep not in ("pruned", "classic", "none"):
            raise ParameterError(f"possible_d_sep must be pruned, classic or none, not {self.possible_d_sep!r}")
        if not isinstance(self.n_jobs, int) or isinstance(self.n_jobs, bool) or self.n_jobs < 1:
            raise ParameterError(f"n_jobs must be a whole number of at least 1, not {self.n_jobs!r}")

    def _learned(self, pruning: Pruning, check: bool = False) -> Learned:
        """Return a pruned graph with its colliders read as ``colliders`` says, and with RFCI's check of paths."""
        is_collider: IsCollider = pruning.sepsets.is_collider
        ambiguous: frozenset[tuple[int, int, int]] = frozenset()
        if self.colliders != "standard":
            try:
                known, ambiguous = classify_triples(pruning, self.colliders)
                is_collider = _by_class(known, is_collider)
            except BudgetSpent as spent:
                pruning.spent(spent)
        path_check = PathCheck(pruning, is_collider) if check else None
        edges = pruning.edges()
        return Learned(edges, pruning.sepsets, pruning.trace, pruning.undecided, is_collider, ambiguous, path_check)


def _by_class(known: dict[tuple[int, int, int], bool], otherwise: IsCollider) -> IsCollider:
    def is_collider(v: int, a: int, b: int, c: int) -> bool:
        triple = (min(a, c), b, max(a, c))
        return known[triple] if v == a and triple in known else otherwise(v, a, b, c)

    return is_collider


class FCI(_Pruned):
    """Learn a PAG with FCI (Spirtes, Meek & Richardson 1999; Zhang 2008).

    Exact with an oracle. Its second search, over Possible-D-Sep sets, can take very many tests: set a budget.

    Parameters
    ----------
    alpha, test, boundary_alpha, selection, max_conditioning, max_tests, max_seconds
        As for :class:`LMarvel`.
    boundary : {"none", "auto", "tc", "gs", "iamb", "inter-iamb", "fast-iamb"} or mapping
        "none" starts from the complete graph; anything else from Markov boundaries, which saves tests.
    colliders : {"standard", "conservative", "majority"}
        Read a collider from one separating set, or from all of them; with the latter two a triple can stay ambiguous.
    max_p : bool
        Keep the separating set with the largest p-value of its size, not the first found.
    possible_d_sep : {"pruned", "classic", "none"}
        The sets of the second search. "pruned" leaves out what marks that are known rule out, at the same guarantee;
        "classic" is the textbook's, with far more tests; "none" skips the search. RFCI has no such search.
    n_jobs : int
        Threads over pairs; the result does not depend on it.

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

    def __init__(
        self,
        alpha: float = 0.01,
        test: str | CITest | Callable[..., float] = "auto",
        boundary: Boundary = "none",
        boundary_alpha: float | None = None,
        colliders: str = "standard",
        max_p: bool = False,
        possible_d_sep: str = "pruned",
        n_jobs: int = 1,
        selection: bool = True,
        max_conditioning: int | None = None,
        max_tests: int | None = None,
        max_seconds: float | None = None,
    ) -> None:
        self.alpha = alpha
        self.test = test
        self.boundary = boundary
        self.boundary_alpha = boundary_alpha
        self.colliders = colliders
        self.max_p = max_p
        self.possible_d_sep = possible_d_sep
        self.n_jobs = n_jobs
        self.selection = selection
        self.max_conditioning = max_conditioning
        self.max_tests = max_tests
        self.max_seconds = max_seconds

    def _learn(self, ledger: Ledger, boundaries: list[set[int]], level: float, report: Progress) -> Learned:
        return self._learned(
            fci(ledger, boundaries, self.alpha, self.n_jobs, self.max_p, self.possible_d_sep, progress=report)
        )


class RFCI(FCI):
    """Learn an RFCI-PAG (Colombo, Maathuis, Kalisch & Richardson 2012).

    Far fewer tests than FCI. With an oracle every mark is right and no edge is missing, but edges can be too many.
    Parameters as for :class:`FCI`.

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

    def _learn(self, ledger: Ledger, boundaries: list[set[int]], level: float, report: Progress) -> Learned:
        pruning = rfci(ledger, boundaries, self.alpha, self.n_jobs, self.max_p, progress=report)
        return self._learned(pruning, check=True)


class MBCS(PagEstimator):
    """Learn a PAG with MBCS*, the collider-set search on Markov boundaries (Pellet & Elisseeff 2008).

    Exact with an oracle. Tests only edges in a triangle of the boundary graph, but given large sets.

    Parameters
    ----------
    alpha, test, boundary, boundary_alpha, selection, max_conditioning, max_tests, max_seconds
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

    _starts_complete = True

    def __init__(
        self,
        alpha: float = 0.01,
        test: str | CITest | Callable[..., float] = "auto",
        boundary: Boundary = "auto",
        boundary_alpha: float | None = None,
        selection: bool = True,
        max_conditioning: int | None = None,
        max_tests: int | None = None,
        max_seconds: float | None = None,
    ) -> None:
        self.alpha = alpha
        self.test = test
        self.boundary = boundary
        self.boundary_alpha = boundary_alpha
        self.selection = selection
        self.max_conditioning = max_conditioning
        self.max_tests = max_tests
        self.max_seconds = max_seconds

    def _learn(self, ledger: Ledger, boundaries: list[set[int]], level: float, report: Progress) -> Learned:
        pruning = mbcs(ledger, boundaries, self.alpha, report)
        sepsets = pruning.sepsets
        return Learned(pruning.edges(), sepsets, pruning.trace, pruning.undecided, sepsets.is_collider)
