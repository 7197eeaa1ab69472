"""What a search by score rests on, for each kind of table, and which graphs of other methods it also begins with.

On straight Gaussian numbers Lift itself begins with all of these. Where the score is another one (of normal scores, of
curves, of the shape of noise), the graphs that correlations of the numbers as they are give are found in milliseconds,
and often with other edges. So the search also begins with them, and the best score decides. Of categories L-MARVEL
learns by counts, in a third of the time of a search.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from lmarvel.budget.clock import current
from lmarvel.ci.adapter import IndependenceTest
from lmarvel.ci.block_gaussian import BlockGaussian
from lmarvel.ci.blocks import Blocks, behind_ties, blocks_of, normal_scores, scaled
from lmarvel.ci.boundary_searches import boundaries_for, choose_boundary
from lmarvel.ci.glm.kinds import KindTable, kind_table
from lmarvel.ci.glm.looks import curvature
from lmarvel.ci.glm.ordinal import is_monotone
from lmarvel.ci.glm.residuals import ResidualProducts
from lmarvel.ci.ledger import Ledger
from lmarvel.ci.registry import as_ci_test
from lmarvel.data import table as held
from lmarvel.data.columns import Kind
from lmarvel.data.dataset import Dataset
from lmarvel.data.moments import Moments
from lmarvel.errors import DataError, LMarvelError, OutOfTime
from lmarvel.knowledge.closure import Known
from lmarvel.result.trace import StatementCost
from lmarvel.search.ancestral import AncestralGraph, Marks
from lmarvel.search.inflation import Inflation
from lmarvel.search.kinds.cells import cell_table, fits_cells
from lmarvel.search.kinds.grouped import GroupedBlocks, Groups
from lmarvel.search.lift import LiftResult, lift
from lmarvel.search.scores import minus_two_log_likelihood
from lmarvel.skeleton.by_engine import learn_compiled
from lmarvel.skeleton.lmarvel import Levels, default_boundary_alpha
from lmarvel.skeleton.state import silent

Scored = Moments | Groups | KindTable
_LEVELLED = (Kind.NOMINAL, Kind.ORDINAL)
_FOR_RIVALS = 0.25  # of the time left
_MOST_COMPARED = 60  # variables, with graphs of other methods to begin with
_FOR_STATEMENTS = 3.0  # seconds that searches without statements may take
_MOST_ROWS = 10_000  # looked at for unequal noise, bends and interactions, evenly spread


def scored_table(test: IndependenceTest, data: Dataset | None, penalty: float) -> Scored:
    """Return what a score rests on, in the order of the test's variables.

    ======================================  ==========================================================================
    a table                                 its score
    ======================================  ==========================================================================
    of categories                           the length of the code of their counts (qNML)
    of numbers, along curves                lines, bends, products, and the shape of the noise
    of numbers, straight, skewed noise      lines and the shape of the noise
    of numbers and categories, straight     Gaussian, with indicators of categories (Andrews, Ramsey & Cooper 2019)
    of both, along curves                   the score of curves, with logistic regressions of categories
    of both, where combinations matter or   means and counts of cells, or sums of effects, by what fits each variable
    numbers are few
    of numbers, straight                    Gaussian, from their correlations
    of numbers, straight as ranks           the same from normal scores; of counts, from those behind their ties where
                                            a simpler graph explains these
    ======================================  ==========================================================================

    Where values are missing, Gaussian scores rest on moments by EM, and the others on a table with a likely value in
    every gap; either counts as the rows that tell as much. With ``missing="em"`` all scores are Gaussian.

    A score of indicators is the same for all DAGs of a class, and learned more marks of mixed tables than one of
    logistic regressions, which is not (docs/kinds.md).
    """
    gaps = data is not None and any(data.missing)
    if data is not None and scores_dags(test, data):
        whole = data.completed() if gaps else data
        if test.name == "skewed":
            return kind_table(whole, test.names, penalty, bends=0, products=False, far_out=math.inf)
        if _is_in_cells(test, whole):
            return cell_table(whole, test.names, penalty)
        return kind_table(whole, test.names, penalty)
    if data is not None and not gaps and test.moments is None and not _are_numbers(data):
        blocks = blocks_of(data, "ordered" if Kind.ORDINAL in data.kinds and is_monotone(data) else "scaled")
        where = {name: i for i, name in enumerate(blocks.names)}
        return groups_of(blocks.take([where[name] for name in test.names]), penalty)
    if data is not None and not gaps and test.name == "rank" and test.moments is not None and _are_numbers(data):
        return _of_ranks(test.moments, data, penalty)
    if isinstance(test.test, BlockGaussian):
        return groups_of(test.test.blocks, penalty)
    if test.moments is None and data is not None and _has_levels(data):
        blocks = blocks_of(data)
        where = {name: i for i, name in enumerate(blocks.names)}
        return groups_of(blocks.take([where[name] for name in test.names]), penalty)
    return table_of(test, data)


def thinning_test(test: IndependenceTest, data: Dataset | None) -> Callable[[int, int, Sequence[int]], float]:
    """Return the p-values by which edges of a DAG are taken away that a hidden cause added.

    They are the test's. Along curves, numbers with values far out are taken as normal scores, as the score takes them:
    beside a few values far out the test would hardly see anything else, and true edges would go.
    """
    plain = data is not None and _are_numbers(data) and data.weights is None and data.clusters is None
    if data is not None and plain and test.name == "curved" and not any(data.missing):
        columns = {name: data.values()[:, data.names.index(name)] for name in test.names}
        taken = {name: scaled(column) for name, column in columns.items()}
        if any(taken[name] is not column for name, column in columns.items()):
            ask = ResidualProducts(Dataset.of(taken)).pvalue
            return lambda x, y, given: ask(x, y, tuple(given))
    return lambda x, y, given: test.pvalue(x, y, tuple(given))


def scores_dags(test: IndependenceTest, data: Dataset) -> bool:
    """Tell whether the score of a table knows the kinds of its columns; then it is one of DAGs alone."""
    gaps = any(data.missing)
    if (data.test_wise or not gaps) and (_is_counted(test, data) or test.name in ("curved", "skewed")):
        return True
    return test.moments is None and is_no_sum(data)


def is_no_sum(data: Dataset) -> bool:
    """Tell whether numbers and categories have other relations than lines and effects that add up; so their score has.

    They bend, or combinations of causes matter.
    """
    return not any(data.missing) and not _are_numbers(data) and (_is_bent(data) or fits_cells(data))


def _is_in_cells(test: IndependenceTest, data: Dataset) -> bool:
    """Tell whether a table of numbers and categories is scored by the cells in which its categories meet."""
    mixed = test.name not in ("curved", "skewed") and not is_categorical(data) and not _are_numbers(data)
    return mixed and not _is_bent(data) and fits_cells(data)


def _is_bent(data: Dataset) -> bool:
    bent = curvature(data)
    return bent is not None and bent.is_curved


def _is_counted(test: IndependenceTest, data: Dataset) -> bool:
    """Tell whether all variables are categories, and not taken by their scores."""
    return is_categorical(data) and test.name != "scores"


def _of_ranks(seen: Moments, data: Dataset, penalty: float) -> Moments:
    """Return the moments of normal scores, or of what is behind their ties, whichever a simpler graph explains."""
    behind = behind_ties(data)
    if behind is None:
        return seen
    behind = behind.take([behind.names.index(name) for name in seen.names])
    costs = [_unexplained(moments, penalty) for moments in (seen, behind)]
    return behind if costs[1] < costs[0] else seen


def _unexplained(moments: Moments, penalty: float) -> float:
    """Return the score of the best DAG beyond that of all edges for nothing."""
    correlation = moments.correlation()
    best = lift(correlation, moments.n, penalty=penalty, latents=False, selection=False).score
    return float(best - moments.n * np.linalg.slogdet(correlation)[1])


def coded(data: Dataset) -> list[str]:
    """Return the variables of a table that have categories."""
    return [name for name, kind in zip(data.names, data.kinds, strict=True) if kind in _LEVELLED]


def is_categorical(data: Dataset) -> bool:
    """Tell whether all variables of a table are categories."""
    return all(kind is not Kind.CONTINUOUS for kind in data.kinds)


def groups_of(blocks: Blocks, penalty: float) -> Groups:
    """Return the blocks of a test as the groups of columns that a score needs."""
    columns = tuple(tuple(blocks.columns(v)) for v in range(len(blocks.names)))
    return Groups(blocks.moments.never_singular(), columns, blocks.moments.n, penalty)


def _are_numbers(data: Dataset) -> bool:
    return all(kind is Kind.CONTINUOUS for kind in data.kinds)


def _has_levels(data: Dataset) -> bool:
    return any(kind in _LEVELLED for kind in data.kinds)


def table_of(test: IndependenceTest, data: Dataset | None) -> Moments:
    """Return the moments behind a score, in the order of the test's variables."""
    if test.moments is not None:
        return test.moments
    if data is None:
        raise DataError("a score needs data: pass a table to fit, also with a test of your own")
    if _has_levels(data):
        levelled = ", ".join(map(repr, coded(data)[:20]))
        raise DataError(
            f"this method scores numbers, and {levelled} has categories: use the method lift, or leave such columns out"
        )
    moments = data.moments
    if set(moments.names) != set(test.names):
        raise DataError("the columns of the table and the variables of the test differ")
    where = {name: i for i, name in enumerate(moments.names)}
    return moments.take([where[name] for name in test.names])


def inflation_of(test: IndependenceTest, data: Dataset | None, table: Moments, penalty: float) -> Inflation | None:
    """Return what tells how far noise, bends and interactions inflate the evidence for hidden nodes.

    Without rows nothing can be said, and no file is read again for it. Rows with gaps are left out.
    """
    if data is None or data.was_said is None or not set(test.names) <= set(data.names):
        return None
    if data.n * len(data.names) > held.KEPT:
        return None
    columns, every = [data.names.index(name) for name in test.names], -(-data.n // _MOST_ROWS)
    parts, seen = [], 0
    for batch in data.batches():
        parts.append(batch[-seen % every :: every, columns])
        seen += len(batch)
    rows, weights = np.concatenate(parts), None
    whole = np.isfinite(rows).all(axis=1)
    rows = rows[whole]
    if data.weights is not None:
        weights = np.asarray(data.weights[::every], dtype=np.float64)[whole]
    if test.name == "rank":
        rows = np.column_stack([normal_scores(column, weights) for column in rows.T])
    return Inflation(rows, penalty * math.log(table.n), weights)


def is_of_score(found: LiftResult, table: Groups) -> bool:
    """Tell whether a score chose the graph; else tests took edges away from what it chose."""
    graph = AncestralGraph.of_marks(found.mag)
    score = minus_two_log_likelihood(GroupedBlocks(table), graph) + table.price * graph.n_edges
    return abs(score - found.score) < 1e-6 * (1 + abs(score))


def unobserved(data: Dataset | None, names: Sequence[str]) -> NDArray[np.intp]:
    """Return the pairs of variables that too few rows have both of: nothing is said of these."""
    pairs = data.gaps().apart if data is not None and data.test_wise else ()
    return np.array([sorted(map(names.index, pair)) for pair in pairs], dtype=np.intp).reshape(-1, 2)


@dataclass(frozen=True)
class Rivals:
    """What correlations or counts alone give: L-MARVEL's PAG and the best DAG; None where that cannot be said."""

    lmarvel: Marks | None = None
    lines: Marks | None = None


def rivals_of(data: Dataset | None, names: Sequence[str], penalty: float, alpha: float, late: float) -> Rivals:
    """Return the graphs of correlations or of counts, for variables in the order of some names.

    Parameters
    ----------
    data : Dataset, optional
        The table. Nothing is learned of one with gaps, or of numbers beside categories.
    names : sequence of str
        Its variables, in the order of the graphs.
    penalty, alpha : float
        Of the score, in units of log n, and of the tests.
    late : float
        When time is up, by the monotonic clock.

    Examples
    --------
    >>> import math
    >>> from lmarvel.datasets import CARS
    >>> found = rivals_of(Dataset.of(CARS), Dataset.of(CARS).names, 2.0, 0.01, math.inf)
    >>> [int(np.count_nonzero(marks)) // 2 for marks in (found.lmarvel, found.lines)]  # edges
    [7, 8]
    """
    if data is None or set(names) != set(data.names) or len(names) > _MOST_COMPARED:
        return Rivals()
    if any(data.missing):
        return Rivals()
    at = [data.names.index(name) for name in names]
    place = np.ix_(at, at)
    if is_categorical(data):
        with suppress(LMarvelError, OutOfTime):
            return Rivals(_by_tests(as_ci_test("g-square", data).reordered(at), alpha, late))
    if any(kind is not Kind.CONTINUOUS for kind in data.kinds):
        return Rivals()
    with suppress(LMarvelError, OutOfTime):
        R, n = data.moments.correlation(), data.moments.n
        by_score = lift(R, n, penalty=penalty, latents=False, selection=False, deadline=late).mag
        return Rivals(_by_tests(as_ci_test("fisher-z", data).reordered(at), alpha, late), by_score[place])
    return Rivals()


def _by_tests(test: IndependenceTest, alpha: float, late: float) -> Marks | None:
    """Return L-MARVEL's PAG; None where the compiled engine does not give it in a quarter of the time left."""
    left = _FOR_RIVALS * max(late - time.monotonic(), 0.0)
    ledger = Ledger(test, max_seconds=None if math.isinf(left) else max(left, 1e-3))
    level = default_boundary_alpha(len(test.names), alpha)
    boundary = choose_boundary(ledger)
    find = partial(boundaries_for, boundary, ledger, level)
    run = learn_compiled(ledger, Levels(alpha, level), level, boundary, find, True, 0.0, None)
    return None if run is None or len(run.arrays.undecided) or run.endings[1] is not None else run.arrays.marks


def what_statements_cost(
    search: Callable[..., LiftResult], known: Known, score: float, took: float, directions: bool
) -> Iterator[StatementCost]:
    """Search again without statements, if that takes little time: without any, and with each of several alone.

    ``directions``: graphs of one class have one score. Where they do not, the score says nothing about statements on
    directions.
    """

    def best(stated: Known | None) -> float:
        may = {"selection": stated is None or stated.selection, "latents": stated is None or stated.latents}
        deadline = min(time.monotonic() + max(_FOR_STATEMENTS, 2 * took), current().deadline)
        return search(known=stated, deadline=deadline, progress=silent, **may).score

    statements = [statement for statement, _ in known.sources]
    weighed = [one for one in statements if directions or one.kind in ("edges", "no_edges")]
    if not weighed or (1 + len(weighed)) * took > _FOR_STATEMENTS:
        return
    try:
        free = best(None)
        if len(weighed) == len(statements):
            yield StatementCost("", max(score - free, 0.0))
        for statement in weighed:
            alone = score if len(statements) == 1 else best(Known.of([statement], known.names))
            yield StatementCost(str(statement), max(alone - free, 0.0))
    except OutOfTime:
        return
