"""The effects of a page: the answer for every ordered pair, worked out beforehand so that the file stays offline."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from lmarvel.budget.clock import current
from lmarvel.data import Dataset
from lmarvel.effects.adjustment import is_valid_adjustment, minimal_sets, pair_of
from lmarvel.effects.answer import Answering
from lmarvel.effects.classify import Identified, all_effects, points_back, ready_for_effects
from lmarvel.effects.effect import Effect
from lmarvel.effects.formula import variables
from lmarvel.effects.numbers.again import FEWER, WITHIN, learned_again
from lmarvel.effects.numbers.estimate import REPLICATES, Estimate
from lmarvel.effects.numbers.table import Columns
from lmarvel.effects.pag_index import Prepared
from lmarvel.effects.phrases import again_in_words
from lmarvel.errors import BudgetSpent, LMarvelError
from lmarvel.result.discovery import Discovery
from lmarvel.text import counted, listing, sentence

if TYPE_CHECKING:
    from lmarvel.effects.adjustment import Pair
    from lmarvel.effects.answer import Answering
    from lmarvel.effects.classify import Identified
    from lmarvel.effects.effect import Effect
    from lmarvel.effects.numbers.table import Columns
    from lmarvel.effects.pag_index import Prepared

MOST_VARIABLES = 60  # the answers of more would make the file a large one
MOST_CELLS = 20_000_000  # of a table that is estimated from
WORK = 1e10  # multiplications that estimates may take, some seconds
_REPLICATES, _ROUNDS = 200, 8  # of a bootstrap, and of the fit of each
_SETS = 16  # minimal adjustment sets that are looked at
_BESIDE, _FEWER = 8, 3  # other sets to estimate with, of numbers and of categories, which take longer
_FITS = 270  # of a regression, about, per average effect of a cause with categories
MOST_AGAIN = 100  # pairs whose effects are read from each graph that is learned again
MOST_CLIMBED = 20  # variables of a graph up to which the set of smallest variance is looked for as 'effect' does
MOST_ABSENT = 30  # variables of a graph of which each pair without an effect has its own answer
_COMMAND = "'lmarvel effect' reports it"
_IGNORED = "Intervals ignore uncertainty about the graph, because"
_ONE_PAIR = "'lmarvel effect' learns again for one pair"
Answers = dict[str, tuple["Effect", str]]  # by pair, each with why it has no number


def effects_of(found: Discovery, data: Dataset | None = None) -> dict[str, Any]:
    """Return the answers for all ordered pairs by position, or why there are none.

    Pairs without an effect are left out where all of them have the same sentence: nothing is graded, or they are many.
    """
    names = found.pag.names
    if len(names) > MOST_VARIABLES:
        size = f"Answers for all pairs of {counted(len(names), 'variable')} are too many for this page"
        return {"why": f"{size}, which has room for {MOST_VARIABLES}: 'lmarvel effect' answers for one pair."}
    try:
        current().check()
        return _answers(found, ready_for_effects(found), data)
    except LMarvelError as error:
        return {"why": sentence(str(error))}
    except BudgetSpent:  # some answers would be none: a pair that the page does not find has no path
        return {"why": "Time ran out (max_seconds) before the effects of all pairs: 'lmarvel effect' answers for one."}


def _answers(found: Discovery, ready: Prepared, data: Dataset | None) -> dict[str, Any]:
    """Return the answers for all ordered pairs by position."""
    names, clock = found.pag.names, current()
    table, trouble = _table(found, data)
    answering = Answering(ready, None, found, beside=_BESIDE, climb=len(names) <= MOST_CLIMBED)
    asked = _Asked(answering, table)
    asked.rests_on[answering.rests_on()] = 0  # where there is no effect
    told = {f"{ready.graph.index(one.x)},{ready.graph.index(one.y)}": one for one in all_effects(ready)}
    each = found.grades.basis != "exact" and len(names) <= MOST_ABSENT
    clock.check()
    answers = {key: asked.answered(one) for key, one in told.items() if each or one.status != "none"}
    answers, again = _over_graphs(found, answers, data)
    pairs = {key: asked.shown(*answer) for key, answer in answers.items()}
    notes = [*trouble, *asked.notes(), *again]
    badge, sentence_of_none = _none(found)
    return {"badge": badge, "none": sentence_of_none, "pairs": pairs, "rests_on": list(asked.rests_on), "notes": notes}


def _over_graphs(found: Discovery, answers: Answers, data: Dataset | None) -> tuple[Answers, list[str]]:
    """Return answers with intervals over graphs that are learned again, all pairs from the same ones; and a note on it.

    The resamples are those of 'lmarvel effect', and as many where the time is enough for all pairs.
    """
    asked = {key: answer for key, (answer, _) in answers.items() if answer.estimates}
    if data is None or not asked:
        return answers, []
    pairs = [(answer.identified.x, answer.identified.y) for answer in asked.values()]
    if len(pairs) > MOST_AGAIN:
        return answers, [f"{_IGNORED} {counted(len(pairs), 'effect')} are too many to learn again for: {_ONE_PAIR}."]
    try:
        spreads = learned_again(found, pairs, data, REPLICATES, within=min(WITHIN, current().left()))
    except LMarvelError as error:
        return answers, [f"{_IGNORED} {error}."]
    if isinstance(spreads, float):
        seconds = f"about {max(spreads, 1):.0f} s for all pairs"
        return answers, [f"{_IGNORED} learning again from {REPLICATES} resamples would take {seconds}: {_ONE_PAIR}."]
    over = {key: (asked[key].over(one), answers[key][1]) for key, one in zip(asked, spreads, strict=True)}
    many = sum(spreads[0].statuses.values())
    same = ", as those of 'lmarvel effect' are" * (many > max(FEWER))  # which may have time for more
    return answers | over, [f"Intervals are over graphs learned again from {counted(many, 'resample')}{same}."]


def _forest(answer: Effect) -> list[Any]:
    """Return for each comparison its value and interval by each adjustment set, where there are several.

    The intervals of sets take the graph as given, all alike; that over graphs learned again comes first.
    """
    if not answer.others:
        return []
    found = []
    for chosen in answer.estimates:
        again = [] if chosen.fixed is None else [_row(chosen, "Over graphs learned again")]
        same = [one for one in (chosen, *answer.others) if one.contrast == chosen.contrast]
        rows = [_row(replace(one, low=one.in_graph[0], high=one.in_graph[1])) for one in same]
        found.append([chosen.contrast, [*again, *rows]])
    return found


def _row(one: Estimate, label: str = "") -> list[Any]:
    label = label or f"Adjusting for {listing(sorted(one.adjusted or ()))}"
    return [label, *(float(f"{v:.6g}") for v in (one.value, one.low, one.high)), str(one)]


def _none(found: Discovery) -> tuple[str, str]:
    """Return badge and sentence of pairs without an effect and an answer of their own; {x} and {y} are the names."""
    if found.grades.basis != "exact":  # how firm it is differs from pair to pair
        return "No path", f"No path from {{x}} to {{y}} in the learned graph. How firm that is: {_COMMAND}."
    told = Identified("{x}", "{y}", "impossible", "none", because=points_back("{x}", "{y}"))
    answer = Effect(told, (), (), (), None, (), "", ())
    return answer.badge, answer.sentence


def _table(found: Discovery, data: Dataset | None) -> tuple[Columns | None, list[str]]:
    """Return the table to estimate from, and why there is none where one was given."""
    if data is None:
        return None, []
    try:
        if data.n * len(data.names) > MOST_CELLS:
            return None, ["The table is too large for estimates here: 'lmarvel effect' estimates one pair."]
        table = Columns(Dataset.of(data, columns=found.pag.names))
        _ = table.incomplete or table.rows
    except LMarvelError as error:
        return None, [f"No effect is estimated here: {sentence(str(error))}"]
    return table, []


class _Asked:
    """Answers pair after pair, with numbers until the work that may be done is done."""

    def __init__(self, answering: Answering, table: Columns | None) -> None:
        self._bare, self._table = answering, table
        self._left, self._unpaid = WORK, 0
        self.rests_on: dict[str, int] = {}

    def answered(self, told: Identified) -> tuple[Effect, str]:
        """Return the answer for a pair, and why it has no number."""
        current().check()
        if told.status == "adjustment":
            told = replace(told, adjustment=self._smallest(told))
        return self._estimated(told)

    def shown(self, answer: Effect, trouble: str) -> dict[str, Any]:
        """Return an answer as the page shows it."""
        place = self.rests_on.setdefault(answer.rests_on, len(self.rests_on))
        return _shown(self._bare.ready, answer, trouble) | {"rests_on": place}

    def notes(self) -> Iterator[str]:
        """Say for how many pairs there was no time."""
        if self._unpaid:
            effects = f"{counted(self._unpaid, 'identified effect')} {'has' if self._unpaid == 1 else 'have'}"
            yield f"{effects} no estimate here, to save time: 'lmarvel effect' estimates one pair."

    def _estimated(self, told: Identified) -> tuple[Effect, str]:
        if self._table is None or told.status not in ("adjustment", "formula"):
            return self._bare.answer(told), ""
        price = self._price(told)
        if price > self._left:
            self._unpaid += 1
            return self._bare.answer(told), ""
        self._left -= price
        try:
            return replace(self._bare, table=self._table, beside=self._beside(told)).answer(told), ""
        except LMarvelError as error:
            return self._bare.answer(told), f"It is not estimated here: {sentence(str(error))}"

    def _price(self, told: Identified) -> float:
        """Return how many multiplications the estimates of a pair take, about."""
        table = self._table
        assert table is not None
        assert told.formula is not None
        rows = table.work
        if told.status == "formula":
            return rows * variables(told.formula).bit_count() ** 2 * _REPLICATES
        slow = table.is_level(told.y) or table.clustered
        rounds = _REPLICATES * (_ROUNDS if table.is_level(told.y) else 1) if slow else 3
        rounds = _FITS if table.is_level(told.x) else rounds
        return rows * (2 + len(told.adjustment or ())) ** 2 * rounds * (2 + self._beside(told))

    def _beside(self, told: Identified) -> int:
        """Return with how many other sets to estimate."""
        table = self._table
        return _FEWER if table is not None and (table.is_level(told.x) or table.is_level(told.y)) else _BESIDE

    def _pair(self, told: Identified) -> Pair:
        graph = self._bare.ready.graph
        return pair_of(self._bare.ready, graph.index(told.x), graph.index(told.y))

    def _smallest(self, told: Identified) -> tuple[str, ...]:
        few = islice(minimal_sets(self._bare.ready, self._pair(told)), _SETS)
        return self._bare.ready.named(min(few, key=lambda z: z.bit_count()))


def answer_of(found: Discovery, answer: Effect) -> dict[str, Any]:
    """Return one answer as the page shows it, with what it rests on in words."""
    return _shown(ready_for_effects(found), answer) | {"rests_on": answer.rests_on}


def _shown(ready: Prepared, answer: Effect, trouble: str = "") -> dict[str, Any]:
    """Return an answer as plain data: words, numbers, and the paths that the graph lights."""
    told = answer.identified
    used = answer.estimates[0].adjusted if answer.estimates else told.adjustment
    shown = {
        "status": told.status,
        "badge": answer.badge,
        "reliable": answer.reliable,
        "sentence": answer.sentence,
        "adjust": None if used is None else [ready.graph.index(name) for name in used],
        "paths": [list(path) for path in _paths(ready, told, used)],
        "numbers": [[one.contrast, str(one), f"{one.error:.2g}", one.method] for one in answer.estimates],
        "again": None if answer.again is None else again_in_words(answer.again, answer.estimates),
        "forest": _forest(answer),
        "fragile": answer.fragility,
        "formula": answer.formula if told.status == "formula" else None,
        "notes": [trouble] if trouble else [],
    }
    return {key: value for key, value in shown.items() if value is not None and (value != [] or key == "adjust")}


def _paths(ready: Prepared, told: Identified, used: tuple[str, ...] | None) -> Iterator[list[Any]]:
    """Give the path that stands in the way; or, of each variable that is adjusted for, one it has to block."""
    if told.status == "not identified" and told.path:
        yield [None, [ready.graph.index(name) for name in told.path]]
    for name in used or ():
        verdict = is_valid_adjustment(ready, told.x, told.y, [other for other in used or () if other != name])
        if not verdict and verdict.path:
            text = ready.path_text(ready.graph.index(step) for step in verdict.path)
            yield [ready.graph.index(name), [ready.graph.index(step) for step in verdict.path], text]
