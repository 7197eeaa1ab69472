"""Regions of a model with hidden nodes: what a change concerns, by itself, and put back.

A region is what lies within two steps of a change in the moral graph, with what lies between, so that no directed path
that leaves it comes back. What latent and selection nodes tie together in it is whole. Parents that its nodes have
outside are given: the score of the region is that of its own nodes given those, whatever these hang on. So a part that
replaces a region closes no cycle, and changes no other score unless a selection node is near.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lmarvel.graph.bitsets import bits, closure, members
from tests.reference.lift.hidden_model import HiddenModel, blocks


class Region(NamedTuple):
    """Own and outside observed nodes, ascending, then latent ones; which are outside, by the region's own numbers."""

    nodes: list[int]
    p: int
    outside: int
    selections: list[int]

    @property
    def own(self) -> int:
        """The nodes that are not outside."""
        return bits(v for i, v in enumerate(self.nodes) if not self.outside >> i & 1)

    def local(self, mask: int) -> int:
        """Return a set by the region's own numbers."""
        return bits(i for i, v in enumerate(self.nodes) if mask >> v & 1)


class Surroundings:
    """Who is near whom in a model."""

    def __init__(self, model: HiddenModel) -> None:
        self.model = model
        self.children = [0] * model.m
        for v, mask in enumerate(model.parents):
            for u in members(mask):
                self.children[u] |= 1 << v

    def around(self, nodes: int, most: int) -> Region:
        """Return the region of some nodes: two steps around them, or fewer where these are too many."""
        one = self._with_neighbors(nodes)
        for near in (self._with_neighbors(one), one):
            own = self._whole(near)
            if own.bit_count() <= most:
                return self.region_of(own)
        return self.region_of(self._whole(nodes))

    def closest(self, nodes: int) -> Region:
        """Return the region of the nodes, and what hidden nodes tie them to, alone."""
        return self.region_of(self._closed(nodes))

    def upward(self, nodes: int) -> Region:
        """Return the region of the nodes and their parents, with what lies between them."""
        above = nodes
        for v in members(nodes):
            above |= self.model.parents[v]
        return self.region_of(self._whole(above))

    def region_of(self, own: int) -> Region:
        """Return some nodes with their outside parents."""
        model = self.model
        outside = 0
        for v in members(own):
            outside |= model.parents[v] & ~own
        nodes = list(members(own | outside))
        chosen = [j for j, mask in enumerate(model.selections) if mask & own]
        return Region(nodes, sum(v < model.p for v in nodes), bits(nodes.index(v) for v in members(outside)), chosen)

    def blocks(self) -> list[int]:
        """Return the sets of nodes that latent and selection nodes tie together, and all others alone."""
        model = self.model
        tied = blocks(model.parents, model.selections, model.p)
        return [*tied, *(1 << v for v in range(model.p) if not any(block >> v & 1 for block in tied))]

    def _whole(self, nodes: int) -> int:
        """Add what lies between, and what hidden nodes tie together."""
        own, before = self._closed(nodes), 0
        while own != before:
            before = own
            own = self._closed(closure(self.model.parents, own) & closure(self.children, own))
        return own

    def _with_neighbors(self, nodes: int) -> int:
        model, around = self.model, nodes
        for v in members(nodes):
            around |= model.parents[v] | self.children[v]
            for w in members(self.children[v]):
                around |= model.parents[w]
        for mask in model.selections:
            around |= mask if mask & nodes else 0
        return around

    def _closed(self, nodes: int) -> int:
        """Add all latent nodes that are parents, their children, and all members of selection nodes."""
        model, before = self.model, 0
        while nodes != before:
            before = nodes
            for v in members(before):
                nodes |= model.parents[v] >> model.p << model.p
                nodes |= self.children[v] if v >= model.p else 0
            for mask in model.selections:
                nodes |= mask if mask & nodes else 0
        return nodes


def extracted(model: HiddenModel, region: Region) -> HiddenModel:
    """Return the model of a region by itself: outside nodes come first in its order, and have no parents."""
    given = list(members(region.outside))
    B, log_variance = model.B[np.ix_(region.nodes, region.nodes)], model.log_variance[region.nodes]
    B[given], log_variance[given] = 0.0, 0.0
    place = {v: i for i, v in enumerate(region.nodes)}
    order = [place[v] for v in model.order if v in place]
    return HiddenModel(
        region.p,
        tuple(0 if region.outside >> i & 1 else region.local(model.parents[v]) for i, v in enumerate(region.nodes)),
        tuple(region.local(model.selections[j]) for j in region.selections),
        (*(i for i in order if region.outside >> i & 1), *(i for i in order if not region.outside >> i & 1)),
        B,
        log_variance,
        model.V[np.ix_(region.nodes, region.selections)],
        0.0,
    )


def structure_of(part: HiddenModel, region: Region) -> tuple[object, ...]:
    """Return what a region hangs on, for memories."""
    return tuple(region.nodes[: region.p]), region.outside, part.parents, part.selections


def inserted(model: HiddenModel, changes: Sequence[tuple[Region, HiddenModel]]) -> HiddenModel | None:
    """Return the model with parts in place of regions that share no own node; None where that is cyclic.

    Hidden nodes of the regions come last. An order that was stays, and the nodes of a part share its places.
    """
    p, at = model.p, {v: i for i, v in enumerate(model.order)}
    gone = {v for region, _ in changes for v in region.nodes[region.p :]}
    dropped = {j for region, _ in changes for j in region.selections}
    kept = [v for v in range(model.m) if v not in gone]
    stay = [j for j in range(len(model.selections)) if j not in dropped]
    m = len(kept) + sum(part.m - part.p for _, part in changes)
    s = len(stay) + sum(len(part.selections) for _, part in changes)
    B, log_variance, V = np.zeros((m, m)), np.zeros(m), np.zeros((m, s))

    def moved(mask: int, numbers: Sequence[int]) -> int:
        return bits(new for old, new in enumerate(numbers) if mask >> old & 1)

    now = [kept.index(v) if v not in gone else m for v in range(model.m)]
    parents = [moved(model.parents[v], now) for v in kept] + [0] * (m - len(kept))
    selections = [moved(model.selections[j], now) for j in stay]
    key = [(at[v], 0, 0) for v in kept] + [(0, 0, 0)] * (m - len(kept))
    B[: len(kept), : len(kept)] = model.B[np.ix_(kept, kept)]
    log_variance[: len(kept)] = model.log_variance[kept]
    V[: len(kept), : len(stay)] = model.V[np.ix_(kept, stay)]
    last = len(kept)
    for which, (region, part) in enumerate(changes):
        numbers = [*region.nodes[: region.p], *range(last, last + part.m - part.p)]
        last += part.m - part.p
        own = [i for i in part.order if not region.outside >> i & 1]
        for i in own:
            v = numbers[i]
            parents[v], log_variance[v], B[v] = moved(part.parents[i], numbers), part.log_variance[i], 0.0
            B[v, numbers] = part.B[i]
        for j, mask in enumerate(part.selections):
            V[numbers, len(selections)] = part.V[:, j]
            selections.append(moved(mask, numbers))
        places = sorted(at[v] for v in members(region.own))
        more = len(own) - len(places)  # the last ones get the last places
        for i, v in enumerate(own):
            key[numbers[v]] = (-1 if i < more else places[i - more], which, i)
    order = _ordered(parents, key)
    if order is None:
        return None
    return HiddenModel(p, tuple(parents), tuple(selections), tuple(order), B, log_variance, V, 0.0)


def _ordered(parents: Sequence[int], key: Sequence[tuple[int, int, int]]) -> list[int] | None:
    """Return an order with causes first, by key where that leaves a choice; None where there is a cycle."""
    placed, order = 0, []
    ready = [(key[v], v) for v, mask in enumerate(parents) if not mask]
    heapq.heapify(ready)
    while ready:
        _, v = heapq.heappop(ready)
        placed |= 1 << v
        order.append(v)
        for w, mask in enumerate(parents):
            if mask >> v & 1 and not mask & ~placed:
                heapq.heappush(ready, (key[w], w))
    return order if len(order) == len(parents) else None
