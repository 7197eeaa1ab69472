"""The estimators, in scikit-learn's manner."""

from lmarvel.estimators.methods import FCI, MBCS, RFCI, LMarvel

__all__ = ["FCI", "MBCS", "RFCI", "LMarvel"]
