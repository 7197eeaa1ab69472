"""From a PAG, or a graph that a user states, to an effect: who causes whom, whether that can be told, and by how much.

:func:`causes` tells who is a cause for sure, possibly, or not at all. :func:`effect` answers a question about one
pair, with numbers if there is a table; :func:`all_effects` says of all pairs whether and how their effects are
identified. Below them stand adjustment sets (:mod:`~lmarvel.effects.adjustment`), identification
(:mod:`~lmarvel.effects.identify`) and formulas.
"""

from lmarvel.effects.adjustment import Verdict, adjustment_set, adjustment_sets, is_valid_adjustment
from lmarvel.effects.answer import effect
from lmarvel.effects.causes import Cause, Causes, causes
from lmarvel.effects.classify import Identified, all_effects
from lmarvel.effects.effect import Effect
from lmarvel.effects.export import Exported, exported
from lmarvel.effects.knowing.settle import settle
from lmarvel.effects.knowing.ways import Settling, Way
from lmarvel.effects.mediation import Mediation, mediation
from lmarvel.effects.numbers.again import effect_learned_again
from lmarvel.effects.numbers.best_set import optimal_adjustment
from lmarvel.effects.numbers.estimate import Estimate
from lmarvel.effects.ranges import Range
from lmarvel.effects.spread import Spread, effect_spread
from lmarvel.result.discovery import Discovery

__all__ = [
    "Cause",
    "Causes",
    "Effect",
    "Estimate",
    "Exported",
    "Identified",
    "Mediation",
    "Range",
    "Settling",
    "Spread",
    "Verdict",
    "Way",
    "adjustment_set",
    "adjustment_sets",
    "all_effects",
    "causes",
    "effect",
    "effect_learned_again",
    "effect_spread",
    "exported",
    "is_valid_adjustment",
    "mediation",
    "optimal_adjustment",
    "settle",
]

Discovery.answers.update(causes=causes, effect=effect)
