"""Run several methods on one table, and show where they agree.

All start from Markov boundaries, as in the paper, so that they see the same, and none is slowed down by the complete
graph.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from lmarvel.data.dataset import Dataset
from lmarvel.data.moments import Moments
from lmarvel.errors import CITestError, DataError, ParameterError
from lmarvel.estimators import METHODS
from lmarvel.orient.equivalence import explain_invalid
from lmarvel.result.discovery import Discovery
from lmarvel.score.ricf import bic
from lmarvel.text import did_you_mean


@dataclass(frozen=True)
class Comparison:
    """The results of several methods on the same data.

    Attributes
    ----------
    results : mapping
        What each method found.
    bic : mapping
        The BIC of each PAG by a MAG of its class; None where no MAG has it. Lower is better.
    skipped : mapping
        Why methods that cannot take the table were left out.

    Examples
    --------
    >>> from lmarvel.datasets import CARS
    >>> compared = compare(CARS, ["lmarvel", "fci"])
    >>> [pair for pair, edges in compared.differences() if "no edge" in edges]
    [('Weight', 'SecondsTo60')]
    """

    results: Mapping[str, Discovery]
    bic: Mapping[str, float | None]
    skipped: Mapping[str, str] = field(default_factory=dict)

    def differences(self) -> Iterator[tuple[tuple[str, str], tuple[str, ...]]]:
        """Iterate over the pairs on which the methods do not agree, with the edge that each of them has."""
        pags = [found.pag for found in self.results.values()]
        for a, b in combinations(pags[0].names, 2):
            edges = tuple("no edge" if edge is None else str(edge) for edge in (pag.edge(a, b) for pag in pags))
            if len(set(edges)) > 1:
                yield (a, b), edges

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain data, ready for JSON.

        Each result stands whole under "result", as a result file holds it, so that it loads back; beside it its BIC,
        the number of its tests, and whether its PAG is legal (None if a budget left pairs open).

        Examples
        --------
        >>> from lmarvel.datasets import CARS
        >>> entry = compare(CARS, ["lmarvel"]).to_dict()["methods"]["lmarvel"]
        >>> sorted(entry)
        ['bic', 'legal', 'n_tests', 'result']
        >>> Discovery.from_dict(entry["result"]).pag
        <PAG: 6 nodes, 7 edges>
        """
        return {
            "methods": {
                name: {
                    "result": found.to_dict(),
                    "bic": self.bic[name],
                    "n_tests": found.stats.n_tests,
                    "legal": None if found.undecided else found.why_illegal is None,
                }
                for name, found in self.results.items()
            },
            "differences": [
                {"pair": list(pair), "edges": dict(zip(self.results, edges, strict=True))}
                for pair, edges in self.differences()
            ],
            "skipped": dict(self.skipped),
        }


def compare(
    data: Any, methods: Sequence[str] = tuple(METHODS), boundary: str = "auto", **parameters: Any
) -> Comparison:
    """Run several methods on one table; one that cannot take it is left out, and ``skipped`` says why.

    Parameters
    ----------
    data : array, mapping, frame, path, Dataset or Moments
        The table.
    methods : sequence of str
        Names from :data:`lmarvel.estimators.METHODS`: "lift", "lmarvel", "fci", "rfci", "mbcs", "m3hc".
    boundary : str
        How Markov boundaries are found, for all of them.
    **parameters
        Parameters that all methods share: alpha, selection, max_tests, max_seconds and so on.
    """
    for name in methods:
        if name not in METHODS:
            raise ParameterError(
                f"unknown method {name!r}: choose from {', '.join(METHODS)}{did_you_mean(name, METHODS)}"
            )
    if not methods:
        raise ParameterError(f"no method to compare: choose from {', '.join(METHODS)}")
    table = Dataset.of(data)
    table.read()  # refuses what no method can take
    results, skipped = dict[str, Discovery](), dict[str, str]()
    for name in methods:
        try:
            results[name] = METHODS[name]().set_params(boundary=boundary, **parameters).fit(table).result_
        except (DataError, CITestError) as error:
            skipped[name] = str(error)
    if not results:
        reasons = dict.fromkeys(skipped.values())
        told = "; ".join(f"{', '.join(n for n, why in skipped.items() if why == r)}: {r}" for r in reasons)
        raise DataError(f"no method can take this table: {told}" if len(reasons) > 1 else next(iter(reasons)))
    return Comparison(results, {name: score(found, table.moments) for name, found in results.items()}, skipped)


def score(found: Discovery, moments: Moments) -> float | None:
    """Return the BIC of a result, None for a PAG that no MAG has or that a budget left open."""
    if found.undecided or found.why_illegal is not None:
        return None
    if found.unaided is None:
        return bic(found.pag, moments)
    # All MAGs of a class have one BIC, those that fit what is known among them.
    return None if explain_invalid(found.unaided) else bic(found.unaided, moments)
