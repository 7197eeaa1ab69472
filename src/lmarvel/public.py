"""The names that ``lmarvel`` offers, which are loaded together when one of them is asked for first."""

from lmarvel.ci.adapter import find_sepset
from lmarvel.ci.fisher_z import FisherZ
from lmarvel.ci.oracle import MSeparation
from lmarvel.ci.test import CITest, FunctionTest, SepsetAnswer, SepsetQuery
from lmarvel.data import Dataset, Kind
from lmarvel.data.dataset import moments_of
from lmarvel.data.moments import Moments
from lmarvel.effects import (
    adjustment_set,
    adjustment_sets,
    all_effects,
    causes,
    effect,
    effect_learned_again,
    effect_spread,
    is_valid_adjustment,
    mediation,
    settle,
)
from lmarvel.errors import CITestError, DataError, GraphError, LMarvelError, LMarvelWarning, ParameterError
from lmarvel.estimators import FCI, M3HC, MBCS, RFCI, Auto, Lift, LMarvel
from lmarvel.estimators.many import Replicates, learn_many
from lmarvel.estimators.tune import TuningPath
from lmarvel.estimators.tuning import tune
from lmarvel.graph.kinds import ADMG, DAG, MAG, PAG, is_chordal_undirected
from lmarvel.graph.marks import Edge, Mark
from lmarvel.graph.mixed import MixedGraph
from lmarvel.graph.removability import NotRemovable, removable, why_not_removable
from lmarvel.knowledge import Knowledge
from lmarvel.orient.equivalence import explain_invalid, mag_to_pag, markov_equivalent, pag_to_mag
from lmarvel.result.discovery import Discovery
from lmarvel.result.explanation import Explanation, Reason
from lmarvel.result.statistics import Statistics
from lmarvel.result.support.check import ModelCheck
from lmarvel.result.support.frequencies import Stability
from lmarvel.score.ricf import bic

__all__ = [
    "ADMG",
    "DAG",
    "FCI",
    "M3HC",
    "MAG",
    "MBCS",
    "PAG",
    "RFCI",
    "Auto",
    "CITest",
    "CITestError",
    "DataError",
    "Dataset",
    "Discovery",
    "Edge",
    "Explanation",
    "FisherZ",
    "FunctionTest",
    "GraphError",
    "Kind",
    "Knowledge",
    "LMarvel",
    "LMarvelError",
    "LMarvelWarning",
    "Lift",
    "MSeparation",
    "Mark",
    "MixedGraph",
    "ModelCheck",
    "Moments",
    "NotRemovable",
    "ParameterError",
    "Reason",
    "Replicates",
    "SepsetAnswer",
    "SepsetQuery",
    "Stability",
    "Statistics",
    "TuningPath",
    "adjustment_set",
    "adjustment_sets",
    "all_effects",
    "bic",
    "causes",
    "effect",
    "effect_learned_again",
    "effect_spread",
    "explain_invalid",
    "find_sepset",
    "is_chordal_undirected",
    "is_valid_adjustment",
    "learn_many",
    "mag_to_pag",
    "markov_equivalent",
    "mediation",
    "moments_of",
    "pag_to_mag",
    "removable",
    "settle",
    "tune",
    "why_not_removable",
]
