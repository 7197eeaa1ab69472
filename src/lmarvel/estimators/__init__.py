"""The estimators, in scikit-learn's manner: one interface for all methods."""

from lmarvel.estimators.auto import Auto
from lmarvel.estimators.base import PagEstimator
from lmarvel.estimators.lift import Lift
from lmarvel.estimators.methods import FCI, MBCS, RFCI, LMarvel
from lmarvel.estimators.scored import M3HC

METHODS: dict[str, type[PagEstimator]] = {
    "lift": Lift,
    "lmarvel": LMarvel,
    "fci": FCI,
    "rfci": RFCI,
    "mbcs": MBCS,
    "m3hc": M3HC,
}

__all__ = ["FCI", "M3HC", "MBCS", "METHODS", "RFCI", "Auto", "LMarvel", "Lift", "PagEstimator"]
