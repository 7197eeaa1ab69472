"""The methods as the experiments run them: the package's, variants of them, and programs of others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from lmarvel.estimators import FCI, M3HC, MBCS, RFCI, LMarvel, PagEstimator
from lmarvel.estimators import METHODS as ESTIMATORS
from lmarvel.experiments.peers import Peer


class Method(NamedTuple):
    """A method: its name in the tables, and how it is made."""

    label: str
    make: Callable[[], PagEstimator | Peer]


# All start from the Markov boundaries of total conditioning at 2/p^2, and test at 0.01.
_PAPER = {
    "lmarvel": Method("L-MARVEL", lambda: LMarvel(boundary="tc", faithful=True)),
    "lmarvel-chordal": Method("L-MARVEL, chordal", lambda: LMarvel(boundary="tc", faithful=True, assume_chordal=True)),
    "rfci": Method("RFCI", lambda: RFCI(boundary="tc")),
    "fci": Method("FCI", lambda: FCI(boundary="tc", possible_d_sep="classic")),
    "mbcs": Method("MBCS*", lambda: MBCS(boundary="tc")),
    "m3hc": Method("M3HC", lambda: M3HC(boundary="tc")),
    "lmarvel-at-alpha": Method(
        "L-MARVEL, 0.8 → alpha", lambda: LMarvel(boundary="tc", faithful=True, removal_threshold=0.01)
    ),
    "lmarvel-default": Method("L-MARVEL, by default", LMarvel),
    "fci-pruned": Method("FCI, pruned", lambda: FCI(boundary="tc")),
}
# Methods of the package that the paper does not have run as they are.
_OTHERS = {name: Method(make.__name__, make) for name, make in ESTIMATORS.items() if name not in _PAPER}
_PEERS = {
    "causal-learn-fci": Method("causal-learn FCI", lambda: Peer(program="fci")),
    "causal-learn-boss": Method("causal-learn BOSS", lambda: Peer(program="boss")),
    "causal-learn-grasp": Method("causal-learn GRaSP", lambda: Peer(program="grasp")),
}
METHODS: Mapping[str, Method] = {**_PAPER, **_OTHERS, **_PEERS}
