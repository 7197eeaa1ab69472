"""Search over hidden nodes: a latent or a selection node in place of edges (structural EM).

An ancestral graph says with k (k - 1) / 2 edges that k variables share a latent cause, or are parents of a selection
node; the node itself has k parameters. And one selected pair makes all its ancestors undirected, so that more edges
join them. So a score that counts edges charges for hidden nodes too much, and drops some of those edges, which turns
others round. Here hidden nodes are put into the DAG (:mod:`tests.reference.lift.hidden_model`). A round of the search:

1. *Changes*: each edge, each triangle and each of the largest maximal cliques loses its inner edges to a latent or
   to a selection node, whose loadings begin at the leading eigenvector of what is to be explained; or a selection
   node gets one more parent. They are ranked by a rough fit: of a latent node's children given their parents, and of a
   selection node's parents with their own. Of many those are fitted so that are best where only parameters next to the
   change move. The best one, and the others in its region
   (:mod:`tests.reference.lift.hidden_regions`), are a group; so is the best of what is left, with those near it; and so
   on.
2. The best 12 of each group are *refreshed*: the covariance of the region's observed and latent nodes, expected and
   with the selection undone, is searched for orders again, in the neighbourhood of the change.
3. The best 4 are *pruned* of what is not worth its price, and refreshed with the whole region. Changes that leave the
   score as it is are none: a hidden node that went again, or that says of two variables what an edge says.
4. The best of each group is accepted, best first, if its region shares no node with those before it.

All that was found in a region stays known until something there changes. There are two ways, large cliques first or all
changes from the start; the better end is taken. The second way is given up once it is far behind the first.

The first fit tells little: the gain comes from edges that become superfluous. At the end idle hidden nodes go.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from lmarvel.graph.bitsets import bits, members
from lmarvel.score.district import LOG_2PI
from lmarvel.search.constants import LIFT
from lmarvel.search.lift import Kind
from lmarvel.search.record import Record
from tests.reference.lift.hidden_local import Change, LocalSearch
from tests.reference.lift.hidden_model import HiddenFits, HiddenModel
from tests.reference.lift.hidden_nearby import nearby_gain
from tests.reference.lift.hidden_parts import joined_sets, near
from tests.reference.lift.hidden_regions import Region, Surroundings, extracted, inserted, structure_of


class Missed(NamedTuple):
    """A hidden node: its kind, the nodes that it is tied to, and by how much the score would be worse without it."""

    kind: Kind
    nodes: int
    by: float


class Place(NamedTuple):
    """A region of a model, by itself, and the score of that."""

    region: Region
    part: HiddenModel
    structure: tuple[object, ...]
    score: float


class Trial(NamedTuple):
    """A change, by the numbers of its place; by how much it alters the score, and what it makes of the place."""

    change: Change
    place: Place
    gain: float
    part: HiddenModel | None = None


def best_of(scores: Sequence[float], most: int | None = None) -> list[int]:
    """Return where the best scores stand, best first; what only rounding tells apart stays in its order.

    Many models have equivalent ones with the same score. Which of them is taken must not hang on rounding, or on the
    order of the user's columns: the first one is, and the search puts variables into an order by content.
    """
    order = sorted(range(len(scores)), key=lambda i: scores[i])
    ranked: list[int] = []
    while order:
        worst = scores[order[0]] + LIFT.tie
        equal = next((at for at, i in enumerate(order) if scores[i] > worst), len(order))
        ranked += sorted(order[:equal])
        order = order[equal:]
    return ranked[:most]


class HiddenSearch:
    """The search over DAGs with latent and selection nodes.

    Parameters
    ----------
    fits : HiddenFits
        Fits models to the data.
    record : Record
        The deadline.
    kinds : tuple
        Which hidden nodes are allowed.

    Examples
    --------
    >>> loadings = np.array([0.8, -0.7, 0.7, 0.6, 0.8])
    >>> R = np.outer(loadings, loadings) + np.diag(1 - loadings**2)
    >>> search = HiddenSearch(HiddenFits(R, 1000, 13.8), Record(), ("latent", "selection"))
    >>> dag = search.of_dag([0, 0b00001, 0b00011, 0b00111, 0b01111], range(5))
    >>> found = search.run(dag)
    >>> found.m, found.selections, round(dag.score - found.score) > 40          # one latent node for ten edges
    (6, (), True)
    """

    def __init__(self, fits: HiddenFits, record: Record, kinds: tuple[Kind, ...]) -> None:
        self.fits = fits
        self.record = record
        self.kinds = kinds
        self.allowed: list[int] = []
        self.met: list[HiddenModel] = []
        self._blocks: dict[tuple[object, ...], HiddenModel] = {}
        self._parts: dict[tuple[object, ...], HiddenModel] = {}
        self._gains: dict[tuple[object, ...], float] = {}
        self._many = False
        self._steps: dict[tuple[object, ...], HiddenModel | None] = {}

    def of_dag(self, parents: Sequence[int], order: Sequence[int]) -> HiddenModel:
        """Return the model without hidden nodes."""
        return self.fits.of_dag(parents, order)

    def run(self, model: HiddenModel) -> HiddenModel:
        """Put hidden nodes into a model while the score falls; return the model."""
        self._note(model)
        large = self._climb(model, smallest=4)
        if large is not model:
            self._climb(large)
        if large is model or model.p <= LIFT.few_variables:
            self._climb(model, reached=self._best_score())
        return min(self.met, key=lambda met: met.score)

    def _best_score(self) -> float:
        """Return the best score of a model with hidden nodes whose fit lies within the model."""
        return min((met.score for met in self.met if met.has_hidden and not met.degenerate), default=math.inf)

    def _climb(self, model: HiddenModel, smallest: int = 2, reached: float = math.inf) -> HiddenModel:
        """Take rounds while they gain, and while there is hope to get below a score that is reached already."""
        for done in range(LIFT.hidden_rounds):
            self.record.report("hidden", done, LIFT.hidden_rounds)
            better = self._round(model, smallest)
            if better is None or not self._is_gain(better, model):
                break
            gained, model = model.score - better.score, better
            if model.score - reached > LIFT.round_hope * gained:
                break
        return model

    def _note(self, model: HiddenModel) -> HiddenModel:
        self.met.append(model)
        return model

    def fitted(self, model: HiddenModel) -> HiddenModel:
        """Fit each block of a model by itself; those whose structure and start are known stay as they are."""
        B, log_variance, V, score = model.B.copy(), model.log_variance.copy(), model.V.copy(), 0.0
        surroundings = Surroundings(model)
        for block in surroundings.blocks():
            region = surroundings.region_of(block)
            start = extracted(model, region)
            key = structure_of(start, region)
            known = self._blocks.get(key)
            is_alone = block.bit_count() == 1 and block < 1 << model.p
            if known is None or not (is_alone or has_parameters_of(known, start)):
                made = self._local(region).fits.refit(start)
                if known is None or made.score < known.score:
                    known = self._blocks[key] = made
            own = [i for i in range(len(region.nodes)) if not region.outside >> i & 1]
            nodes = [region.nodes[i] for i in own]
            B[np.ix_(nodes, region.nodes)] = known.B[own]
            log_variance[nodes] = known.log_variance[own]
            V[np.ix_(nodes, region.selections)] = known.V[own]
            score += known.score - self.fits.n * (LOG_2PI + 1.0) * region.outside.bit_count()
        return HiddenModel(model.p, model.parents, model.selections, model.order, B, log_variance, V, score)

    def _local(self, region: Region) -> LocalSearch:
        """Return the search inside a region: nothing is a parent of what is outside."""
        seen = region.nodes[: region.p]
        allowed = []
        for i, v in enumerate(seen):
            free = ~((1 << region.p) - 1)
            may = -1 if not self.allowed else self.allowed[v]
            free |= bits(j for j, u in enumerate(seen) if may >> u & 1)
            allowed.append(0 if region.outside >> i & 1 else free)
        R, inflation = (matrix[np.ix_(seen, seen)] for matrix in (self.fits.correlation, self.fits.inflation))
        fits = HiddenFits(R, self.fits.n, self.fits.price, inflation, region.outside)
        return LocalSearch(fits, self.record, allowed)

    # --- rounds -----------------------------------------------------------------------------------------

    def _round(self, model: HiddenModel, smallest: int) -> HiddenModel | None:
        """Accept the best changes."""
        ends = [found for found in map(self._best_in, self._groups(model, smallest)) if found]
        if not ends:
            return None
        order = best_of([found[0].gain for found in ends])
        for other in ends[order[0]][1:]:
            self._note_part(model, [other])
        gaining = [ends[i][0] for i in order if ends[i][0].gain <= -LIFT.least_gain]
        together = self._compatible(model, gaining)
        found = self._note_part(model, together) if together else None
        first = int(len(together) == 1)  # which is tried already
        for best in gaining[first : LIFT.polished]:  # a region may promise more than the whole model keeps
            if found is not None and self._is_gain(found, model):
                break
            found = self._note_part(model, [best]) or found
        return found

    def _is_gain(self, found: HiddenModel, model: HiddenModel) -> bool:
        """Tell whether a round has gained enough to go on."""
        least = LIFT.least_gain if model.p <= LIFT.few_variables else LIFT.missed * self.fits.price
        return found.score <= model.score - least

    def _compatible(self, model: HiddenModel, gaining: list[Trial]) -> list[Trial]:
        """Return the changes, best first, whose regions have no node of their own in common."""
        taken, accepted = 0, []
        for best in gaining:
            if not best.place.region.own & taken and insertion(model, [*accepted, best]) is not None:
                accepted.append(best)
                taken |= best.place.region.own
        return accepted

    def _note_part(self, model: HiddenModel, trials: list[Trial]) -> HiddenModel | None:
        made = insertion(model, trials)
        return None if made is None else self._note(self.fitted(made))

    def _groups(self, model: HiddenModel, smallest: int) -> list[list[Trial]]:
        """Return the best changes by a rough fit, in groups."""
        around = Surroundings(model)
        changes = [change for change in self._changes(model) if change.nodes.bit_count() >= smallest]
        self._many = len(changes) > 4 * model.p
        if model.p <= LIFT.few_variables:
            changes = self._most_likely(model, around, changes)
            gains = [self._rough_gain(model, around, change) for change in changes]
        else:  # regions are large
            gains = self._nearby_gains(model, changes)
        ranked = self._ranked(around, changes, gains, LIFT.refreshed, LIFT.far_off * self.fits.price)
        return [
            [self._trial(self._place(model, self._around(around, changes[i].nodes)), changes[i]) for i in group]
            for group in ranked
        ]

    def _most_likely(self, model: HiddenModel, around: Surroundings, changes: list[Change]) -> list[Change]:
        """Return, of many changes, the best where only what is nearby moves."""
        if not self._many:
            return changes
        ranked = self._ranked(around, changes, self._nearby_gains(model, changes), LIFT.compared)
        return [changes[i] for i in sorted(i for group in ranked for i in group)]

    def _nearby_gains(self, model: HiddenModel, changes: Sequence[Change]) -> list[float]:
        gains = []
        for change in changes:
            self.record.check()
            gains.append(nearby_gain(self.fits, model, change))
        return gains

    def _ranked(
        self,
        surroundings: Surroundings,
        changes: Sequence[Change],
        gains: Sequence[float],
        most: int,
        worst: float = math.inf,
    ) -> list[list[int]]:
        """Return the best changes of each part of the graph: one belongs to the first better one that it is near."""
        owner: dict[int, int] = {}
        groups: list[list[int]] = []
        limits: list[int] = []
        for i in best_of(gains):
            if gains[i] > worst or gains[i] == math.inf:
                break
            group = min((owner[v] for v in members(changes[i].nodes) if v in owner), default=len(groups))
            if group < len(groups) and len(groups[group]) == limits[group]:
                continue
            if group == len(groups):
                region = self._around(surroundings, changes[i].nodes)
                for v in members(region.own):
                    owner.setdefault(v, group)
                groups.append([])
                limits.append(self._fewer(most, region))
            groups[group].append(i)
        return groups

    def _is_brief(self, region: Region) -> bool:
        """Tell whether there is little time: many changes of many variables, or a region larger than it should be."""
        many = self._many and self.fits.p > LIFT.few_variables
        return many or len(region.nodes) > most_near(self.fits.p)

    def _fewer(self, usual: int, region: Region) -> int:
        return max(1, usual // max(1, LIFT.brief)) if self._is_brief(region) else usual

    def _best_in(self, group: list[Trial]) -> list[Trial]:
        """Return the best end of a group's changes, and then what was polished on the way."""
        local = [
            fresh
            for trial in group
            if (fresh := self._step(trial, 0, lambda search, at: search.refreshed(at.place.part, at.change)))
        ]
        local = [t for t in local if t.gain <= LIFT.far_behind * self.fits.price and abs(t.gain) >= LIFT.equal]
        found: list[Trial] = []
        best: Trial | None = None
        for i in best_of([trial.gain for trial in local], self._fewer(LIFT.polished, group[0].place.region)):
            end = self._step(local[i], 1, lambda search, at: search.polished(search.pruned(at.part), 0))
            assert end is not None
            found.append(end)
            if best is None or end.gain < best.gain - LIFT.tie:
                best = end
        if best is None:
            return []
        if best.gain > -LIFT.least_gain or self._is_brief(best.place.region):
            return [best, *found]
        last = self._step(best, 2, lambda search, at: search.polished(at.part, 1))
        assert last is not None
        return [last, *found]

    def _step(self, trial: Trial, step: int, take: Callable[[LocalSearch, Trial], HiddenModel | None]) -> Trial | None:
        """Take a step with a trial; known as long as nothing in its region changes."""
        key = (trial.place.structure, trial.change, step)
        if key not in self._steps:
            self.record.check()
            self._steps[key] = take(self._local(trial.place.region), trial)
        part = self._steps[key]
        return None if part is None else Trial(trial.change, trial.place, part.score - trial.place.score, part)

    # --- hidden nodes that are not missed ---------------------------------------------------------------

    def simplified(self, model: HiddenModel, limit: float = math.inf) -> tuple[HiddenModel, list[Missed]]:
        """Drop hidden nodes that the score does not miss, while it stays below a limit; return it and what it keeps."""
        self.record = Record(self.fits.n)  # a few fits more, also when the time is up
        while True:
            kept = []
            for kind, nodes, missed, without in self.without_each(model):
                if without is not None and missed < LIFT.missed * self.fits.price and model.score + missed < limit:
                    less = self.fitted(without)
                    missed = less.score - model.score  # a region may promise more than the whole model keeps
                    if less.score < limit and missed < LIFT.missed * self.fits.price:
                        model = less
                        break
                kept.append(Missed(kind, nodes, missed))
            else:
                return model, kept

    def without_each(self, model: HiddenModel) -> Iterator[tuple[Kind, int, float, HiddenModel | None]]:
        """Iterate over the hidden nodes: kind, what it is tied to, how far it is missed, and the model without it."""
        surroundings = Surroundings(model)
        latents = range(model.p, model.m)
        hidden: list[tuple[Kind, int, int]] = [("latent", surroundings.children[v], v) for v in latents]
        hidden += [("selection", mask, j) for j, mask in enumerate(model.selections)]
        for kind, nodes, which in hidden:
            place = self._place(model, self._around(surroundings, nodes))
            region = place.region
            if kind == "latent":
                local = region.nodes.index(which) - region.p
            else:
                local = len(region.nodes) - region.p + region.selections.index(which)
            key = (place.structure, local)
            if key not in self._steps:
                self._steps[key] = self._local(region).without(place.part, local)
            less = self._steps[key]
            assert less is not None
            yield kind, nodes, less.score - place.score, inserted(model, [(region, less)])

    # --- changes ----------------------------------------------------------------------------------------

    def _changes(self, model: HiddenModel) -> Iterator[Change]:
        """Iterate over the changes that a round considers."""
        for nodes in joined_sets(model):
            yield from (Change(kind, nodes) for kind in self.kinds)
        for index, inside in enumerate(model.selections):
            for v in members(near(model, inside) & ~inside & (1 << model.p) - 1):
                yield Change("selection", inside | 1 << v, index, v)

    def _around(self, surroundings: Surroundings, nodes: int) -> Region:
        return surroundings.around(nodes, most_near(surroundings.model.p))

    def _place(self, model: HiddenModel, region: Region) -> Place:
        part = extracted(model, region)
        structure = structure_of(part, region)
        if structure not in self._parts:
            self._parts[structure] = self._local(region).fits.refit(part)
        part = self._parts[structure]
        return Place(region, part, structure, part.score)

    def _rough_gain(self, model: HiddenModel, surroundings: Surroundings, change: Change) -> float:
        """Return what a change gains by a rough fit; known as long as nothing there changes.

        A latent node alters the score of its children given their parents, a selection node that of all ancestors, of
        which the next tell enough.
        """
        closest = change.kind == "latent"
        region = surroundings.closest(change.nodes) if closest else surroundings.upward(change.nodes)
        trial = self._trial(self._place(model, region), change)
        place = trial.place
        key = (place.structure, trial.change)
        if key not in self._gains:
            self.record.check()
            made = self._local(region).changed(place.part, trial.change)
            self._gains[key] = math.inf if made is None else made.score - place.score
        return self._gains[key]

    def _trial(self, place: Place, change: Change) -> Trial:
        """Return a change by the numbers of its place."""
        region = place.region
        local = change._replace(nodes=region.local(change.nodes))
        if change.which >= 0:
            local = local._replace(which=region.selections.index(change.which), node=region.nodes.index(change.node))
        return Trial(local, place, math.inf)


def most_near(p: int) -> int:
    """Return how many nodes a region should have at most."""
    return LIFT.most_near * (2 if p <= LIFT.few_variables else 1)


def insertion(model: HiddenModel, trials: list[Trial]) -> HiddenModel | None:
    """Return the model with what trials make of their places; None where that is cyclic."""
    return inserted(model, [(trial.place.region, trial.part) for trial in trials if trial.part is not None])


def has_parameters_of(one: HiddenModel, other: HiddenModel) -> bool:
    """Tell whether two models of one structure have the same parameters."""
    pairs = ((one.B, other.B), (one.log_variance, other.log_variance), (one.V, other.V))
    return all(np.array_equal(a, b) for a, b in pairs)
