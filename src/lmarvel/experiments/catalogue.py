"""All experiments by name: to add one, write it as data and list it here.

The paper's figures have the paper's numbers. Before, they were numbered without the drawing of the removability
conditions, which is the paper's second: what was "figure2" is "figure3", and what was "figure3" is "figure4". The first
old name still works, with a note. The second is taken now, so that it comes with a note on what it means. Names without
a number cannot be confused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lmarvel.experiments.accuracy import ACCURACY
from lmarvel.experiments.paper import FIGURE3, FIGURE4, TABLE1, TABLE2
from lmarvel.experiments.plan import Experiment
from lmarvel.experiments.studies import STUDIES

PAPER: Mapping[str, Experiment] = {e.name: e for e in (TABLE1, TABLE2, FIGURE3, FIGURE4)}
EXPERIMENTS: Mapping[str, Experiment] = {**PAPER, ACCURACY.name: ACCURACY, **{e.name: e for e in STUDIES}}
ALIASES: Mapping[str, str] = {"random-graphs": "figure3", "sample-size": "figure4", "figure2": "figure3"}
_NOTES = {
    "figure2": "figure2 is now figure3: the paper's number of the figure on random graphs, which is run",
    "figure3": "figure3 is the paper's Figure 3, on random graphs; the one on sample sizes, which had this name before,"
    " is figure4",
}


def notes_on(names: Sequence[str]) -> list[str]:
    """Return what there is to say about names that had another meaning before.

    Examples
    --------
    >>> print(*notes_on(["table1", "figure2"]))
    figure2 is now figure3: the paper's number of the figure on random graphs, which is run
    """
    return [_NOTES[name] for name in names if name in _NOTES]
