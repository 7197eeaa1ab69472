"""The methods as the experiments run them: the package's, variants of them, and programs of others.

Some are given a part of the truth, to see what the rest is worth: the true Markov boundaries, or all answers to tests.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from lmarvel.ci.boundaries import Boundaries
from lmarvel.ci.ledger import Ledger
from lmarvel.ci.oracle import MSeparation
from lmarvel.data.dataset import Dataset
from lmarvel.estimators import FCI, M3HC, MBCS, RFCI, LMarvel, PagEstimator
from lmarvel.estimators import METHODS as ESTIMATORS
from lmarvel.experiments.peers import Peer
from lmarvel.orient.study import Study
from lmarvel.skeleton.chordless import Suspect, is_needed
from lmarvel.skeleton.lmarvel import Search, condition_1, condition_2, keep, lmarvel, may_be_false, pairs_to_check
from lmarvel.skeleton.state import Learned, Progress, pair_of


class Method(NamedTuple):
    """A method: its name in the tables, how it is made, and the parameters it takes from the truth, if any."""

    label: str
    make: Callable[[], PagEstimator | Peer]
    from_truth: Callable[[Study], Mapping[str, Any]] | None = None

    def make_for(self, study: Study) -> PagEstimator | Peer:
        """Make it, with the parameters that it takes from the truth."""
        model = self.make()
        return model if self.from_truth is None else model.set_params(**self.from_truth(study))


@dataclass(kw_only=True, repr=False, eq=False)
class SecondFirst(LMarvel):
    """L-MARVEL that tests Condition 2 of removability before Condition 1, for comparison with the paper's order.

    With tests that are never wrong the order changes nothing. On data it changes which separating sets are found.
    """

    def learn(self, ledger: Ledger, boundaries: Boundaries, data: Dataset | None, report: Progress) -> Learned:
        """Run L-MARVEL with the other order."""
        return lmarvel(ledger, boundaries, self.levels(boundaries.level), report, _removable_second_first)


def _removable_second_first(search: Search, x: int) -> bool:
    """Tell whether X is removable: :func:`lmarvel.skeleton.lmarvel.is_removable` with Condition 2 first."""
    suspects = []
    for y, z in pairs_to_check(search, x):
        second = condition_2(search, x, y, z)
        if not second:
            if condition_1(search, x, y, z):
                continue
            keep(search, x, y, z, second)
            return False
        if not second.answer.complete:
            search.unfinished.add(pair_of(y, z))
        if may_be_false(search, x, z):
            if is_needed(search, x, y, z, search.removed_at, search.levels.threshold):
                return False
            suspects.append(Suspect(x, y, z, len(search.removed_at)))
    search.suspects += suspects
    return True


def _true_boundaries(study: Study) -> dict[str, Any]:
    return {"boundary": {name: sorted(study.mag.markov_boundary(name)) for name in study.mag.names}}


def _oracle(study: Study) -> dict[str, Any]:
    return {"test": MSeparation(study.mag)}


def _from(boundary: str) -> Callable[[], PagEstimator]:
    """Return how the paper's program is made from another search of boundaries."""
    return lambda: LMarvel(boundary=boundary, faithful=True)


# All start from the Markov boundaries of total conditioning at 2/p^2, and test at 0.01.
_PAPER = {
    "lmarvel": Method("L-MARVEL", _from("tc")),
    "lmarvel-chordal": Method("L-MARVEL, chordal", lambda: LMarvel(boundary="tc", faithful=True, assume_chordal=True)),
    "rfci": Method("RFCI", lambda: RFCI(boundary="tc")),
    "fci": Method("FCI", lambda: FCI(boundary="tc", possible_d_sep="classic")),
    "mbcs": Method("MBCS*", lambda: MBCS(boundary="tc")),
    "m3hc": Method("M3HC", lambda: M3HC(boundary="tc")),
}
_VARIANTS = {
    "lmarvel-at-alpha": Method(
        "L-MARVEL, 0.8 → alpha", lambda: LMarvel(boundary="tc", faithful=True, removal_threshold=0.01)
    ),
    "lmarvel-second-first": Method("L-MARVEL, Condition 2 first", lambda: SecondFirst(boundary="tc", faithful=True)),
    "lmarvel-at-alpha-second-first": Method(
        "L-MARVEL, 0.8 → alpha, Condition 2 first",
        lambda: SecondFirst(boundary="tc", faithful=True, removal_threshold=0.01),
    ),
    "lmarvel-default": Method("L-MARVEL, by default", LMarvel),
    "fci-pruned": Method("FCI, pruned", lambda: FCI(boundary="tc")),
}
BOUNDARY_METHODS = {
    "lmarvel-gs": Method("L-MARVEL, grow-shrink", _from("gs")),
    "lmarvel-iamb": Method("L-MARVEL, IAMB", _from("iamb")),
    "lmarvel-inter-iamb": Method("L-MARVEL, inter-IAMB", _from("inter-iamb")),
    "lmarvel-fast-iamb": Method("L-MARVEL, fast-IAMB", _from("fast-iamb")),
    "lmarvel-true-boundaries": Method("L-MARVEL, true boundaries", _from("tc"), _true_boundaries),
}
# Every test answered by the true graph.
_ORACLES = {
    "lmarvel-oracle": Method("L-MARVEL, oracle", _from("tc"), _oracle),
    "mbcs-oracle": Method("MBCS*, oracle", lambda: MBCS(boundary="tc"), _oracle),
}
# Methods of the package that the paper does not have run as they are.
_OTHERS = {name: Method(make.__name__, make) for name, make in ESTIMATORS.items() if name not in _PAPER}
_PEERS = {
    "causal-learn-fci": Method("causal-learn FCI", lambda: Peer(program="fci")),
    "causal-learn-boss": Method("causal-learn BOSS", lambda: Peer(program="boss")),
    "causal-learn-grasp": Method("causal-learn GRaSP", lambda: Peer(program="grasp")),
}
METHODS: Mapping[str, Method] = {**_PAPER, **_VARIANTS, **BOUNDARY_METHODS, **_ORACLES, **_OTHERS, **_PEERS}
