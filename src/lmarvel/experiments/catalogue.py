"""All experiments by name: to add one, write it as data and list it here."""

from __future__ import annotations

from collections.abc import Mapping

from lmarvel.experiments.accuracy import ACCURACY
from lmarvel.experiments.paper import FIGURE2, FIGURE3, TABLE1, TABLE2
from lmarvel.experiments.plan import Experiment

PAPER: Mapping[str, Experiment] = {e.name: e for e in (TABLE1, TABLE2, FIGURE2, FIGURE3)}
EXPERIMENTS: Mapping[str, Experiment] = {**PAPER, ACCURACY.name: ACCURACY}
