"""The verdict on a result: what was learned, how much of it the data support, whether it fits, what to do next.

It comes first wherever a result is shown, so that nobody reads an arrow before knowing what it is worth.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lmarvel.graph.marks import ARROW
from lmarvel.result import missing
from lmarvel.result.power import powerless, powerless_note
from lmarvel.result.sources import by_statements
from lmarvel.result.support.grades import LIKELY, STABLE, STATED
from lmarvel.text import ShownAsText, counted, joined, readable

if TYPE_CHECKING:
    from lmarvel.result.discovery import Discovery

# Nothing of these is kept in a file where there are none.
_SPECIAL = ("clusters", "clustered", "panel", "powerless", "following")
_OF_MISSING = ("missing", "fewest_rows", "most_rows", "apart")  # nor of these, where no value is missing


@dataclass(frozen=True)
class Verdict(ShownAsText):
    """What was learned, in figures and in words.

    Attributes
    ----------
    variables, rows : int
        The size of the table; no rows where a test of the user's own, or an oracle, was asked.
    associations : int
        The edges of the learned graph, without those that were left undecided.
    stable : int, optional
        Those that appear in at least 90 % of the resamples; None without resamples.
    directions, supported, stated, following : int
        The edges with an arrowhead; those of them whose arrowheads are all likely, firm or stated; those of these that
        were stated; and those that follow from statements and the data together.
    undecided : int
        The pairs that the search did not reach.
    tested, rejected, expected : int, int, float
        The implied independences that were tested, those with a p-value at or below the level, and how many chance
        gives.
    fits : bool, optional
        Whether the data reject no more than chance would; None where nothing was tested.
    legal : bool
        Whether some graph has exactly this PAG.
    curved : tuple of str
        The two variables whose relation is farthest from a straight line; empty where none is, or the test allows it.
    clusters, clustered : int, optional
        The clusters that rows belong to, and the number of these rows; they count as ``rows`` independent ones.
    panel : bool
        Whether the rows are those of a panel, with columns of earlier times.
    weighted : bool
        Whether rows have weights: then their number is that of rows with equal weights that tell as much.
    missing, fewest_rows, most_rows : int
        The values that are missing where each test uses the rows that have its variables, and how many rows have both
        variables of a pair, at least and at most; 0 where no value is missing.
    apart : tuple of pairs
        The pairs that stay undecided because too few rows have both variables.
    powerless : str
        Why the rows cannot show anything, where they are so few.

    Examples
    --------
    >>> from lmarvel import Lift
    >>> from lmarvel.datasets import CARS
    >>> print(Lift().fit(CARS).result_.verdict)
    11 associations among 6 variables (392 rows); 7 of them appear in at least 90 % of resamples.
    The data determine no arrow direction.
    The graph fits: the data reject 0 of 4 implied independences (0.04 expected by chance).
    Next: ask why (explain), what causes a variable (causes), and by how much (effect).
    """

    variables: int
    rows: int | None
    associations: int
    stable: int | None
    directions: int
    supported: int
    stated: int
    undecided: int
    tested: int
    rejected: int
    expected: float
    fits: bool | None
    legal: bool
    curved: tuple[str, ...] = ()
    weighted: bool = False
    clusters: int | None = None
    clustered: int | None = None
    panel: bool = False
    missing: int = 0
    fewest_rows: int = 0
    most_rows: int = 0
    apart: tuple[tuple[str, str], ...] = ()
    powerless: str = ""
    following: int = 0

    @property
    def next(self) -> str:
        """What to do next."""
        return _next(self)

    @property
    def lines(self) -> tuple[str, ...]:
        """The verdict in sentences, one per line."""
        return tuple(_lines(self))

    def __str__(self) -> str:
        return "\n".join(self.lines)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data, with its sentences; missing values, clusters and panels where there are some."""
        unless = _SPECIAL if self.missing else (*_SPECIAL, *_OF_MISSING)
        said = {name: value for name, value in asdict(self).items() if value or name not in unless}
        return {**said, "next": self.next, "text": list(self.lines)}


def verdict_of(result: Discovery) -> Verdict:
    """Return the verdict on a result."""
    check, undecided, weak = result.check, len(result.undecided), powerless(result.settings)
    tested = 0 if check is None else len(check.implied)
    return Verdict(
        variables=len(result.pag),
        rows=result.settings.get("rows"),
        associations=result.pag.n_edges - (undecided if result.mag is None else 0),
        stable=_stable(result),
        **_directions(result),
        undecided=undecided,
        tested=tested,
        rejected=0 if check is None else len(check.failed),
        expected=0.0 if check is None else check.expected,
        fits=check.fits if check is not None and tested else None,
        legal=bool(undecided) or result.why_illegal is None,
        curved=next(((bend.x, bend.y) for bend in result.grounds.bends), ()),
        weighted="weights" in result.settings,
        clusters=result.settings.get("clusters"),
        clustered=result.settings.get("clustered_rows"),
        panel="panel" in result.settings,
        missing=result.settings.get("missing_values", 0),
        fewest_rows=result.settings.get("fewest_rows", 0),
        most_rows=result.settings.get("most_rows", 0),
        apart=missing.apart(result),
        powerless="" if weak is None else powerless_note(**weak),
    )


def _stable(result: Discovery) -> int | None:
    counts = result.resamples
    if counts is None:
        return None
    return int(np.triu((counts.adjacent >= STABLE * counts.replicates) & (result.pag.marks > 0)).sum())


def _directions(result: Discovery) -> dict[str, int]:
    """Return how many edges have an arrowhead; of how many of these all are supported, or stated, or follow from it."""
    heads = result.pag.marks == ARROW
    if not heads.any():
        return {"directions": 0, "supported": 0, "stated": 0, "following": 0}
    grades = np.where(heads, result.grades.marks, STATED)
    weakest = np.minimum(grades, grades.T)[np.triu(heads | heads.T)]
    follows = np.zeros(heads.shape, dtype=bool)
    for x, y in np.argwhere(heads).tolist() if result.known is not None else ():
        follows[x, y] = by_statements(result, result.pag.names[x], result.pag.names[y]) == "follows"
    return {
        "directions": len(weakest),
        "supported": int((weakest >= LIKELY).sum()),
        "stated": int((weakest == STATED).sum()),
        "following": int(((follows | follows.T)[np.triu(heads | heads.T)] & (weakest >= LIKELY)).sum()),
    }


# --- in words ---------------------------------------------------------------------------------------------


def _lines(verdict: Verdict) -> Iterator[str]:
    among = counted(verdict.variables, "variable") + (f" ({_rows(verdict)})" if verdict.rows else "")
    if verdict.powerless:
        yield f"{verdict.powerless[:1].upper()}{verdict.powerless[1:]}."
    nothing = not verdict.associations and verdict.undecided == verdict.variables * (verdict.variables - 1) // 2 > 0
    if nothing:
        yield f"Nothing was learned about {among}: the search ended before it decided anything."
    elif not verdict.associations:
        yield f"No association was {'established' if verdict.undecided else 'found'} among {among}."
    else:
        yield f"{counted(verdict.associations, 'association')} among {among}{_how_stable(verdict)}."
        yield _supported(verdict)
    if verdict.missing:
        yield missing.line(verdict.missing, verdict.fewest_rows, verdict.most_rows)
    if verdict.apart:
        yield missing.apart_line(verdict.apart)
    if (early := verdict.undecided - len(verdict.apart)) > 0 and not nothing:
        yield f"The search ended early: {counted(early, 'pair')} left undecided."
    if (fit := _fit(verdict)) is not None and not verdict.powerless:
        yield fit
    if verdict.panel:
        yield "The panel assumes that no effect reaches back beyond its lags, and that effects are equal at all times."
    yield f"Next: {verdict.next}"


def _rows(verdict: Verdict) -> str:
    if verdict.clusters and verdict.clustered and verdict.rows:
        held = f"{counted(verdict.clustered, 'row')} in {counted(verdict.clusters, 'cluster')}"
        return f"{held} count as about {verdict.rows:,}" if verdict.rows < verdict.clustered else held
    return counted(verdict.rows or 0, "effective row" if verdict.weighted else "row")


def _how_stable(verdict: Verdict) -> str:
    if verdict.stable is None:
        return ""
    if verdict.associations == 1:
        return (
            f"; it {'appears' if verdict.stable else 'does not appear'} in at least {100 * STABLE:.0f} % of resamples"
        )
    every = "both" if verdict.associations == 2 else "all"
    many = every if verdict.stable == verdict.associations else f"{verdict.stable:,}"
    verb = "appears" if verdict.stable == 1 else "appear"
    return f"; {many} of them {verb} in at least {100 * STABLE:.0f} % of resamples"


def _supported(verdict: Verdict) -> str:
    if not verdict.directions:
        return "The data determine no arrow direction."
    if verdict.rows is None:
        return f"{counted(verdict.directions, 'arrow direction')} followed from the answers of the test."
    by_data = verdict.supported - verdict.stated - verdict.following
    is_are = "is" if 1 in (by_data, verdict.directions) else "are"
    alone = " alone" * bool(verdict.following)
    said = f"{by_data:,} of {counted(verdict.directions, 'arrow direction')} {is_are} supported by the data{alone}."
    if verdict.stated:
        said += f" {verdict.stated:,} {'is' if verdict.stated == 1 else 'are'} as you stated."
    if verdict.following:
        follow = f"{verdict.following:,} {'follows' if verdict.following == 1 else 'follow'}"
        said += f" {follow} from your statements and the data together."
    return said


def _fit(verdict: Verdict) -> str | None:
    """Return whether the graph fits, and what follows if it does not."""
    if not verdict.legal:
        return "The tests contradict each other: no causal graph has exactly these marks. Do not read causes from it."
    if verdict.fits is None:
        return None
    share = f"{verdict.rejected:,} of {counted(verdict.tested, 'implied independence')}"
    share += f" ({verdict.expected:.2g} expected by chance)"
    if verdict.fits:
        return f"The graph fits: the data reject {share}."
    advice = "marks that rest on these are not shown" if verdict.supported else "do not read causes from this graph"
    return f"The data reject {share}: {advice}."


def _next(verdict: Verdict) -> str:
    """Return what to do next."""
    if verdict.undecided > len(verdict.apart):
        return "give the search more time, or fewer variables."
    if verdict.powerless:
        return "collect more rows."
    if not verdict.associations:
        return "collect more rows, or look for curves (test 'curved')."
    if not verdict.legal:
        return "use the method 'auto', or state what you know (tiers)."
    if verdict.curved:
        pair = joined(list(map(readable, verdict.curved)))
        return f"relations are not straight lines ({pair}, say): try the test 'curved'."
    if verdict.fits is False:
        return "see which independences fail (check), and whether numbers are codes of categories."
    if verdict.supported < verdict.directions / 2:
        return "state what you know, such as an order in time (tiers), or collect more rows."
    return "ask why (explain), what causes a variable (causes), and by how much (effect)."
