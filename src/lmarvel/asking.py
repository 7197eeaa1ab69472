"""The questions about causes and effects that the package offers by name; what answers is loaded when somebody asks.

Each function stands for the one of the same name in :mod:`lmarvel.effects`, where all of it is told. Most programs that
learn a graph never ask, and need not wait for the answer to be loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lmarvel.effects.adjustment import Verdict
    from lmarvel.effects.causes import Causes
    from lmarvel.effects.identified import Identified
    from lmarvel.effects.spread import Spread
    from lmarvel.effects.told import Effect
    from lmarvel.graph.kinds import MAG, PAG
    from lmarvel.graph.mixed import Node
    from lmarvel.result import Discovery


def causes(found: Discovery | PAG, y: Node) -> Causes:
    """Return which variables cause ``y`` under every explanation of the data, under some, and under none.

    Examples
    --------
    >>> from lmarvel import PAG
    >>> print(causes(PAG.from_edges("A o-> C", "B o-> C", "C --> D"), "D")["C"].reason)
    C --> D
    """
    from lmarvel.effects.causes import causes as answer

    return answer(found, y)


def effect(
    found: Discovery | PAG,
    x: Node,
    y: Node,
    data: Any = None,
    *,
    given: Node | Iterable[Node] = (),
    bootstrap: int | None = None,
    seed: int = 0,
    nominal: Sequence[str] = (),
    most: int = 500,
) -> Effect:
    """Return whether ``x`` affects ``y``, and by how much, under every explanation of the data that a PAG stands for.

    Parameters
    ----------
    found : Discovery or PAG
        What was learned.
    x, y : str
        Cause and outcome.
    data : array, frame, mapping, path or Dataset, optional
        The table; without it the answer has no numbers.
    given : str or sequence of str
        Variables to condition on: the effect among those with the same values of them.
    bootstrap : int, optional
        Number of replicates for the interval. By default, HC3 standard errors where least squares does, else 200.
    seed : int
        For the bootstrap.
    nominal : sequence of str
        Columns whose numbers are labels.
    most : int
        How many MAGs of the class to look at where the effect is not identified.

    Examples
    --------
    >>> from lmarvel import PAG
    >>> pag = PAG.from_edges("A o-> X", "B o-> X", "X --> Y", "A --> Y")
    >>> print(effect(pag, "X", "Y").sentence)
    The effect of X on Y is the same under every explanation of these data, and can be estimated by adjusting for A, B.
    """
    from lmarvel.effects.answer import effect as answer

    return answer(found, x, y, data, given=given, bootstrap=bootstrap, seed=seed, nominal=nominal, most=most)


def all_effects(found: Discovery | PAG) -> list[Identified]:
    """Return for every ordered pair whether and how its effect is identified.

    Examples
    --------
    >>> from lmarvel import PAG
    >>> [(one.x, one.y, one.status) for one in all_effects(PAG.from_edges("A o-> C", "B o-> C", "C --> D"))][-1]
    ('D', 'B', 'none')
    """
    from lmarvel.effects.identified import all_effects as answer

    return answer(found)


def adjustment_set(graph: PAG | MAG, x: Node, y: Node) -> frozenset[str] | None:
    """Return a valid adjustment set, the largest of its kind, or None if there is none.

    Examples
    --------
    >>> from lmarvel import PAG
    >>> sorted(adjustment_set(PAG.from_edges("A o-> X", "B o-> X", "X --> Y", "A --> Y"), "X", "Y"))
    ['A', 'B']
    """
    from lmarvel.effects.adjustment import adjustment_set as answer

    return answer(graph, x, y)


def adjustment_sets(graph: PAG | MAG, x: Node, y: Node, *, minimal: bool = True) -> Iterator[frozenset[str]]:
    """Iterate over the valid adjustment sets: the minimal ones, or all of them, the smaller ones first.

    Examples
    --------
    >>> from lmarvel import PAG
    >>> [sorted(z) for z in adjustment_sets(PAG.from_edges("A o-> X", "B o-> X", "X --> Y", "A --> Y"), "X", "Y")]
    [['A']]
    """
    from lmarvel.effects.adjustment import adjustment_sets as answer

    return answer(graph, x, y, minimal=minimal)


def is_valid_adjustment(graph: PAG | MAG, x: Node, y: Node, z: Node | Iterable[Node] = ()) -> Verdict:
    """Tell whether adjusting for ``z`` gives the effect of x on y in every model with this PAG, and if not, why not.

    Examples
    --------
    >>> from lmarvel import PAG
    >>> print(is_valid_adjustment(PAG.from_edges("A o-> X", "B o-> X", "X --> Y", "A --> Y"), "X", "Y", ["B"]).reason)
    the path X <-o A --> Y is open
    """
    from lmarvel.effects.adjustment import is_valid_adjustment as answer

    return answer(graph, x, y, z)


def effect_spread(graphs: Iterable[PAG], x: str, y: str, data: Any = None, *, covariance: Any = None) -> Spread:
    """Return what many PAGs over the same variables say about the effect of ``x`` on ``y``.

    Examples
    --------
    >>> import numpy as np
    >>> from lmarvel import PAG
    >>> graphs = [PAG.from_edges("nodes: X Y", "X o-o Y"), PAG.from_edges("nodes: X Y")]
    >>> print(effect_spread(graphs, "X", "Y", covariance=np.eye(2)))
    1 of 2 graphs tells the effect of X on Y: 0 in the middle, 90 % of them 0 to 0; 1 says there is none
    """
    from lmarvel.effects.spread import effect_spread as answer

    return answer(graphs, x, y, data, covariance=covariance)


def effect_learned_again(
    found: Discovery,
    x: str,
    y: str,
    data: Any,
    replicates: int = 200,
    *,
    seed: int = 0,
    n_jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Spread:
    """Learn again from draws of the rows as a result was learned, and return what these graphs say about an effect.

    The interval of :func:`effect` takes the graph as given. Here each draw has its own graph and its own numbers, so
    that the spread holds both. What was said beforehand (:class:`lmarvel.Knowledge`) is left out, as in ``effect``.

    Parameters
    ----------
    found : Discovery
        The result.
    x, y : str
        Cause and outcome.
    data : array, frame, mapping, path or Dataset
        The table that it was learned from.
    replicates, seed, n_jobs
        How many draws, of what, by how many workers; the draws of ``fit(bootstrap=...)`` with the same seed.
    progress : callable, optional
        Called with (done, of how many).

    Examples
    --------
    >>> import numpy as np
    >>> from lmarvel import LMarvel
    >>> rng = np.random.default_rng(0)
    >>> A, B, e, f = rng.normal(size=(4, 2000))
    >>> X = A + B + e
    >>> table = {"A": A, "B": B, "X": X, "Y": 0.5 * X + f}
    >>> print(effect_learned_again(LMarvel().fit(table).result_, "X", "Y", table, 20, seed=1))
    20 of 20 graphs tell the effect of X on Y: 0.508 in the middle, 90 % of them 0.492 to 0.533; 0 say there is none
    """
    from lmarvel.data.kinds import Kind
    from lmarvel.effects.spread import spread_of
    from lmarvel.estimators.again import method_of, table_of
    from lmarvel.estimators.drawn_again import check_can_be_drawn, graphs_drawn_again
    from lmarvel.stability.bootstrap import check_settings

    check_settings(replicates, seed, n_jobs)
    found.pag.index(x), found.pag.index(y)
    method, table = method_of(found), table_of(found, data)
    check_can_be_drawn(table, method)
    report = progress or (lambda done, of: None)

    def drawn() -> Iterator[tuple[PAG, Any]]:
        for done, graph in enumerate(graphs_drawn_again(table, method, replicates, seed, n_jobs), 1):
            report(done, replicates)
            yield graph

    return spread_of(drawn(), x, y, counted=Kind.NOMINAL in table.kinds)
