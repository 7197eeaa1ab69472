"""Brute-force truth for small graphs: every MAG, its Markov equivalence class and the class's PAG.

The fixtures come straight from the definitions, with no orientation rule, so that they can judge the rules.
Every mixed graph on ``n`` labelled nodes is listed, the maximal ancestral ones are kept, those with the same
m-separations form a class, and the PAG of a class shows the marks on which all of its members agree.

Marks are ``NONE = 0``, ``CIRCLE = 1``, ``ARROW = 2``, ``TAIL = 3``.  Pairs ``(i, j)`` with ``i < j`` come in
lexicographic order, and one byte per pair holds ``4 * mark_at_i + mark_at_j``.  A MAG thus has five states
per pair: 0 none, 14 ``i --> j``, 11 ``i <-- j``, 10 ``i <-> j``, 15 ``i --- j``.  The enumeration takes them
in this order with the last pair varying fastest, and classes are ordered by their first MAG in it.

``mags4.npz`` and ``mags5.npz`` hold

* ``representative`` uint8 [classes, pairs]: the first MAG of each class;
* ``pag`` uint8 [classes, pairs]: the PAG of each class, with ``CIRCLE`` where members differ;
* ``size`` int32 [classes]: the number of MAGs in each class;
* ``mags`` uint8 [MAGs, pairs] and ``klass`` int32 [MAGs], four nodes only: every MAG and its class index.

Usage: ``python tests/truth/make_truth.py [--check] [--nodes {4,5}]``
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator
from itertools import combinations, pairwise, permutations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Bools = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]
Marks = npt.NDArray[np.int8]

NONE, CIRCLE, ARROW, TAIL = range(4)
EDGE_CODES = np.array([0, 14, 11, 10, 15], dtype=np.uint8)
KNOWN_COUNTS = {4: (3_045, 251), 5: (379_052, 24_566)}  # nodes: (MAGs, classes)
CHUNK = 5**8  # graphs handled at once


def fixture_path(n: int) -> Path:
    """Where the fixture for ``n`` nodes lives."""
    return Path(__file__).with_name(f"mags{n}.npz")


def load(n: int) -> dict[str, npt.NDArray[Any]]:
    """Read the fixture for ``n`` nodes."""
    with np.load(fixture_path(n)) as archive:
        return {name: archive[name] for name in archive.files}


def marks_matrix(row: Bytes, n: int) -> Marks:
    """Decode a row of pair codes into ``m`` with ``m[i, j]`` the mark at ``j`` on the edge ``i``-``j``.

    Axes of ``row`` after the first are carried along, so a [pairs, graphs] array gives [n, n, graphs].
    """
    marks = np.zeros((n, n, *row.shape[1:]), dtype=np.int8)
    for code, (i, j) in zip(row, combinations(range(n), 2), strict=True):
        marks[i, j], marks[j, i] = code & 3, code >> 2
    return marks


def mixed_graphs(n: int) -> Iterator[Bytes]:
    """Yield all ``5 ** pairs`` mixed graphs in chunks [pairs, graphs], counting in base five."""
    pairs = n * (n - 1) // 2
    weights = 5 ** np.arange(pairs, dtype=np.int64)[::-1, None]
    for start in range(0, 5**pairs, CHUNK):
        yield EDGE_CODES[np.arange(start, min(start + CHUNK, 5**pairs)) // weights % 5]


def ancestors(marks: Marks) -> Bools:
    """Reflexive closure of the directed edges: ``reach[i, j]`` says that ``i`` is an ancestor of ``j``."""
    reach: Bools = (marks == ARROW) & (marks.swapaxes(0, 1) == TAIL)
    for k in range(len(reach)):
        reach[k, k] = True
        reach |= reach[:, k, None] & reach[None, k]
    return reach


def is_ancestral(marks: Marks) -> Bools:
    """Say which graphs are ancestral.

    An arrowhead at ``j`` on ``i``-``j`` denies that ``j`` is an ancestor of ``i``: otherwise ``i --> j``
    closes a directed cycle and ``i <-> j`` an almost directed one.  Nor may it meet an undirected edge.
    """
    into = marks == ARROW
    undirected = (marks == TAIL) & (marks.swapaxes(0, 1) == TAIL)
    cycle = (into & ancestors(marks).swapaxes(0, 1)).any(axis=(0, 1))
    clash = (into.any(axis=0) & undirected.any(axis=0)).any(axis=0)
    return np.asarray(~(cycle | clash))


def connects(marks: Marks, reach: Bools, path: tuple[int, ...], z: tuple[int, ...]) -> Bools:
    """Say in which graphs ``path`` exists and is m-connecting given ``z``.

    Non-colliders must lie outside ``z``; colliders must be ancestors of an end of the path or of ``z``.
    """
    anchors = [path[0], path[-1], *z]
    connected: Bools = np.ones(marks.shape[2], dtype=np.bool_)
    for a, b in pairwise(path):
        connected &= marks[a, b] != NONE
    for (a, b), (_, c) in pairwise(pairwise(path)):
        collider = (marks[a, b] == ARROW) & (marks[c, b] == ARROW)
        connected &= np.where(collider, reach[b, anchors].any(axis=0), b not in z)
    return connected


def separations(marks: Marks) -> Bools:
    """M-separation of each pair by each subset of the other nodes, as [pairs, sets, graphs].

    Literal: a pair is separated when none of the simple paths between its two nodes is m-connecting.
    """
    n, graphs = marks.shape[1:]
    reach = ancestors(marks)
    separated = np.ones((n * (n - 1) // 2, 2 ** (n - 2), graphs), dtype=np.bool_)
    for row, (x, y) in zip(separated, combinations(range(n), 2), strict=True):
        rest = [v for v in range(n) if v not in (x, y)]
        paths = [(x, *inner, y) for size in range(n - 1) for inner in permutations(rest, size)]
        sets = [z for size in range(n - 1) for z in combinations(rest, size)]
        for cell, z in zip(row, sets, strict=True):
            for path in paths:
                cell &= ~connects(marks, reach, path, z)
    return separated


def enumerate_mags(n: int) -> tuple[Bytes, Bytes]:
    """All MAGs [MAGs, pairs] and, in the same order, their m-separations packed as bits [MAGs, bytes]."""
    mags, keys = [], []
    for chunk in mixed_graphs(n):
        codes = chunk[:, is_ancestral(marks_matrix(chunk, n))]
        separated = separations(marks_matrix(codes, n))
        maximal = (separated.any(axis=1) | (codes != 0)).all(axis=0)
        mags.append(codes[:, maximal].T)
        keys.append(np.packbits(np.concatenate(separated)[:, maximal], axis=0).T)
    return np.concatenate(mags), np.concatenate(keys)


def shared_marks(marks: npt.NDArray[np.integer[Any]], starts: npt.NDArray[np.intp]) -> Bytes:
    """Per class (a block of rows beginning at a start): the mark all rows share, else ``CIRCLE``."""
    low, high = np.minimum.reduceat(marks, starts), np.maximum.reduceat(marks, starts)
    assert np.array_equal(low == NONE, high == NONE), "members of a class differ in their skeleton"
    return np.where(low == high, low, CIRCLE).astype(np.uint8)


def build(n: int) -> dict[str, npt.NDArray[Any]]:
    """Enumerate, group and summarise the MAGs on ``n`` nodes, and check the known counts."""
    mags, keys = enumerate_mags(n)
    _, first, inverse = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    assert (len(mags), len(first)) == KNOWN_COUNTS[n], f"{len(mags)} MAGs in {len(first)} classes"
    klass = np.argsort(np.argsort(first))[inverse.ravel()]  # classes numbered by their first MAG
    size, order = np.bincount(klass), np.argsort(klass, kind="stable")
    at_i, at_j = (shared_marks(marks[order], np.cumsum(size) - size) for marks in (mags >> 2, mags & 3))
    fixture = {"representative": mags[np.sort(first)], "pag": 4 * at_i + at_j, "size": size.astype(np.int32)}
    return fixture | {"mags": mags, "klass": klass.astype(np.int32)} if n == 4 else fixture


def write(n: int, fixture: dict[str, Any]) -> None:
    """Write under a temporary name and rename, so that no reader sees half a file."""
    partial = fixture_path(n).with_suffix(f".{os.getpid()}.tmp")
    try:
        with partial.open("wb") as stream:
            np.savez_compressed(stream, **fixture)
        os.replace(partial, fixture_path(n))
    finally:
        partial.unlink(missing_ok=True)


def same(a: dict[str, npt.NDArray[Any]], b: dict[str, npt.NDArray[Any]]) -> bool:
    """Compare the names, types and values of two fixtures."""
    return a.keys() == b.keys() and all(a[k].dtype == b[k].dtype and np.array_equal(a[k], b[k]) for k in a)


def main() -> int:
    """Write the fixtures, or with ``--check`` compare them with a fresh enumeration."""
    parser = argparse.ArgumentParser(description="Enumerate small MAGs, their classes and PAGs.")
    parser.add_argument("--check", action="store_true", help="compare with the files, write nothing")
    parser.add_argument("--nodes", type=int, choices=sorted(KNOWN_COUNTS), help="only this number of nodes")
    args = parser.parse_args()
    differ = False
    for n in [args.nodes] if args.nodes else sorted(KNOWN_COUNTS):
        begin = time.perf_counter()
        fixture = build(n)
        if not args.check:
            write(n, fixture)
        good = fixture_path(n).exists() and same(load(n), fixture)
        differ |= not good
        size, seconds = fixture["size"], time.perf_counter() - begin
        counts = f"{size.sum()} MAGs in {len(size)} classes"
        print(f"{fixture_path(n).name}: {counts}, {seconds:.2f} s, {'ok' if good else 'DIFFERS'}")
    return int(differ)


if __name__ == "__main__":
    sys.exit(main())
