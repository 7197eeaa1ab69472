"""Bad input: each case raises the right error, and the message names the culprit. Nothing is dropped or repaired."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from lmarvel import (
    ADMG,
    DAG,
    MAG,
    PAG,
    CITestError,
    Edge,
    FunctionTest,
    GraphError,
    LMarvel,
    LMarvelError,
    Mark,
    MixedGraph,
    MSeparation,
    ParameterError,
    mag_to_pag,
    markov_equivalent,
    pag_to_mag,
)


class Case(NamedTuple):
    """What is done, what it must raise, and what the message must hold."""

    title: str
    act: Callable[[], Any]
    error: type[LMarvelError]
    culprits: tuple[str, ...]


CHAIN = DAG.from_edges("A --> B", "B --> C")
ORACLE = MSeparation(CHAIN)


def independent(x: str, y: str, given: tuple[str, ...]) -> float:
    return 1.0


def fit(**parameters: Any) -> LMarvel:
    return LMarvel(**{"test": ORACLE, **parameters}).fit()


def answering(answer: Any) -> LMarvel:
    """Fit with a test that gives this answer to one question and sense to the others."""
    return LMarvel(test=lambda x, y, given: answer if {x, y} == {"Age", "Diet"} else 1.0).fit(
        names=["Age", "Sex", "Diet"]
    )


GRAPHS = [
    Case("unknown node", lambda: CHAIN.parents("Q"), GraphError, ("'Q'", "A, B, C")),
    Case("unknown position", lambda: CHAIN.parents(3), GraphError, ("3", "A, B, C")),
    Case("negative position", lambda: CHAIN.parents(-1), GraphError, ("-1",)),
    Case("unknown node among many", lambda: CHAIN.ancestors(["A", "Q"]), GraphError, ("'Q'",)),
    Case("unknown node in m_separated", lambda: CHAIN.m_separated("A", "Q"), GraphError, ("'Q'",)),
    Case("unknown node in given", lambda: CHAIN.m_separated("A", "C", ["Q"]), GraphError, ("'Q'",)),
    Case("unknown node in subgraph", lambda: CHAIN.subgraph(["A", "Q"]), GraphError, ("'Q'",)),
    Case("unknown node in an edge", lambda: DAG.from_edges("A --> Q", nodes=["A"]), GraphError, ("'Q'", "A --> Q")),
    Case("duplicate node", lambda: DAG.from_edges(nodes=["A", "B", "A"]), GraphError, ("duplicate", "'A'")),
    Case("duplicate node in the text", lambda: DAG.from_edges("nodes: A B A"), GraphError, ("duplicate", "'A'")),
    Case("duplicate node in a matrix", lambda: MixedGraph(["A", "A"], np.zeros((2, 2))), GraphError, ("'A'",)),
    Case("duplicate node in an ADMG", lambda: ADMG(["A", "A"], []), GraphError, ("'A'",)),
    Case("empty name", lambda: MixedGraph(["A", ""], np.zeros((2, 2))), GraphError, ("number 1", "empty")),
    Case("empty quoted name", lambda: MixedGraph.from_edges('"" --> B'), GraphError, ("empty",)),
    Case("name that is a number", lambda: MixedGraph([1, 2], np.zeros((2, 2))), GraphError, ("number 0", "1", "int")),  # type: ignore[list-item]
    Case("nodes given twice", lambda: DAG.from_edges("nodes: A B", nodes=["A", "B"]), GraphError, ("given twice",)),
    Case(
        "nodes of an ADMG given twice",
        lambda: ADMG.from_edges("nodes: A B C", "A --> B", nodes=["A", "B"]),
        GraphError,
        ("given twice",),
    ),
    Case(
        "two lists of nodes", lambda: DAG.from_edges("nodes: A B\nnodes: A B"), GraphError, ("two lines 'nodes: ...'",)
    ),
    Case("self-loop", lambda: DAG.from_edges("A --> B", "B --> B"), GraphError, ("self-loop at B",)),
    Case("self-loop in a matrix", lambda: MixedGraph(["A", "B"], [[0, 2], [3, 1]]), GraphError, ("self-loop at B",)),
    Case("self-loop in an ADMG", lambda: ADMG.from_edges("B <-> B"), GraphError, ("self-loop at B",)),
    Case("edge given twice", lambda: MAG.from_edges("A --> B", "B <-- A"), GraphError, ("A, B", "given twice")),
    Case("two edges", lambda: MAG.from_edges("A --> B", "A <-> B"), GraphError, ("'A --> B'", "'A <-> B'")),
    Case(
        "cycle", lambda: DAG.from_edges("A --> B", "B --> C", "C --> A"), GraphError, ("directed cycle", "A", "B", "C")
    ),
    Case("bidirected edge in a DAG", lambda: DAG.from_edges("A --> B", "B <-> C"), GraphError, ("'B <-> C'",)),
    Case("undirected edge in a DAG", lambda: DAG.from_edges("A --- B"), GraphError, ("'A --- B'",)),
    Case(
        "directed cycle in a MAG",
        lambda: MAG.from_edges("A --> B", "B --> C", "C --> A"),
        GraphError,
        ("not ancestral", "directed cycle", "A", "B", "C"),
    ),
    Case(
        "almost directed cycle in a MAG",
        lambda: MAG.from_edges("A --> B", "B --> C", "A <-> C"),
        GraphError,
        ("not ancestral", "A <-> C", "ancestor"),
    ),
    Case(
        "arrowhead at an undirected edge",
        lambda: MAG.from_edges("A --> B", "B --- C"),
        GraphError,
        ("not ancestral", "B --- C", "from A"),
    ),
    Case(
        "MAG that is not maximal",
        lambda: MAG.from_edges("A <-> B", "B <-> C", "C <-> D", "B --> D", "C --> A"),
        GraphError,
        ("not maximal", "A and D", "A, B, C, D"),
    ),
    Case("circle in a MAG", lambda: MAG.from_edges("A o-> B"), GraphError, ("'A o-> B'", "circle")),
    Case("circle in an oracle", lambda: MSeparation(PAG.from_edges("A o-o B")), GraphError, ("A-B", "circle")),
    Case("mark 7", lambda: PAG(["A", "B"], [[0, 7], [1, 0]]), GraphError, ("7", "at B", "A-B")),
    Case("mark -1", lambda: PAG(["A", "B"], [[0, 1], [-1, 0]]), GraphError, ("-1", "at A", "B-A")),
    Case("mark 1.5", lambda: PAG(["A", "B"], [[0, 1.5], [1, 0]]), GraphError, ("1.5", "at B", "A-B")),
    Case("mark 257", lambda: PAG(["A", "B"], [[0, 257], [257, 0]]), GraphError, ("257", "A-B")),
    Case("mark nan", lambda: PAG(["A", "B"], [[0, math.nan], [1, 0]]), GraphError, ("nan", "A-B")),
    Case("mark that is a word", lambda: PAG(["A", "B"], [["", "o"], ["o", ""]]), GraphError, ("impossible mark",)),
    Case("impossible glyph", lambda: PAG.from_edges("A x-> B"), GraphError, ("'A x-> B'", "'x->'")),
    Case("no glyph", lambda: PAG.from_edges("A B"), GraphError, ("'A B'",)),
    Case("edge with one end", lambda: PAG(["A", "B"], [[0, 2], [0, 0]]), GraphError, ("A-B", "one end only")),
    Case(
        "edge object with one end",
        lambda: PAG.from_edges(Edge("A", "B", Mark.NONE, Mark.ARROW)),
        GraphError,
        ("A-B",),
    ),
    Case(
        "edge object without marks",
        lambda: PAG.from_edges(Edge("A", "B", Mark.NONE, Mark.NONE)),
        GraphError,
        ("A", "B"),
    ),
    Case("matrix of the wrong size", lambda: PAG(["A", "B"], np.zeros((3, 3))), GraphError, ("2 x 2", "(3, 3)")),
    Case("matrix that is not square", lambda: PAG(["A", "B"], [[0, 1]]), GraphError, ("2 x 2", "(1, 2)")),
    Case("matrix of one dimension", lambda: PAG(["A", "B"], [0, 1]), GraphError, ("2 x 2", "(2,)")),
    Case("ragged matrix", lambda: PAG(["A", "B"], [[0, 1], [1]]), GraphError, ("rows", "matrix of marks")),
    Case("list in place of edges", lambda: DAG.from_edges(["A --> B"]), GraphError, ("['A --> B']",)),  # type: ignore[arg-type]
    Case("pair in place of an edge", lambda: DAG.from_edges(("A", "B")), GraphError, ("('A', 'B')",)),  # type: ignore[arg-type]
    Case("number in place of an edge", lambda: DAG.from_edges(3), GraphError, ("3",)),  # type: ignore[arg-type]
    Case("relabel to a taken name", lambda: CHAIN.relabel({"A": "B"}), GraphError, ("duplicate", "'B'")),
    Case("relabel an unknown node", lambda: CHAIN.relabel({"Q": "B"}), GraphError, ("'Q'",)),
    Case("order that lacks a node", lambda: CHAIN.reordered(["A", "B"]), GraphError, ("A, B, C",)),
]

PROJECTIONS = [
    Case(
        "both roles", lambda: CHAIN.project(["A", "B"], ["B"]), GraphError, ("B cannot be both latent and selection",)
    ),
    Case("both roles in an oracle", lambda: MSeparation(CHAIN, ["B"], ["B"]), GraphError, ("B cannot be both",)),
    Case("latent twice", lambda: CHAIN.project(["B", "B"]), GraphError, ("B is listed twice among the latent",)),
    Case("latent twice, by name and position", lambda: CHAIN.project(["B", 1]), GraphError, ("B is listed twice",)),
    Case(
        "selection twice", lambda: CHAIN.project([], ["C", "C"]), GraphError, ("C is listed twice among the selection",)
    ),
    Case("unknown latent", lambda: CHAIN.project(["U"]), GraphError, ("'U'",)),
    Case("unknown selection", lambda: CHAIN.project(selection=["S"]), GraphError, ("'S'",)),
    Case("unknown latent in an oracle", lambda: MSeparation(CHAIN, latent=["U"]), GraphError, ("'U'",)),
    Case("string in place of a graph", lambda: MSeparation("A --> B"), GraphError, ("str",)),  # type: ignore[arg-type]
    Case("overlap in m_separated", lambda: CHAIN.m_separated("A", "C", ["A"]), GraphError, ("A is in more than one",)),
]

CONVERSIONS = [
    Case("mag_to_pag of a PAG", lambda: mag_to_pag(PAG.from_edges("A o-o B")), GraphError, ("PAG",)),  # type: ignore[arg-type]
    Case("pag_to_mag of a MAG", lambda: pag_to_mag(MAG.from_edges("A --> B")), GraphError, ("MAG",)),  # type: ignore[arg-type]
    Case(
        "pag_to_mag of an illegal PAG",
        lambda: pag_to_mag(PAG.from_edges("A --> B", "B --> C", "C --> A")),
        GraphError,
        ("directed cycle", "A", "B", "C"),
    ),
    Case(
        "pag_to_mag of a PAG with a wrong mark",
        lambda: pag_to_mag(PAG.from_edges("A o-> C", "B o-> C", "C o-o D")),
        GraphError,
        ("C o-o D should be C --> D",),
    ),
    Case("different nodes", lambda: markov_equivalent(CHAIN, DAG.from_edges("A --> B")), GraphError, ("C",)),
]

PARAMETERS = [
    *(
        Case(
            f"{name}={value!r}",
            lambda name=name, value=value: fit(**{name: value}),
            ParameterError,
            (name, repr(value)),
        )
        for name in ("alpha", "boundary_alpha", "removal_threshold")
        for value in (0, 1, 0.0, 1.0, -0.1, 1.5, math.nan, math.inf, True, "0.05", [0.05])
    ),
    *(
        Case(f"{name}=None", lambda name=name: fit(**{name: None}), ParameterError, (name, "None"))
        for name in ("alpha", "removal_threshold")
    ),
    *(
        Case(
            f"{name}={value!r}",
            lambda name=name, value=value: fit(**{name: value}),
            ParameterError,
            (name, repr(value)),
        )
        for name, values in {
            "max_conditioning": (-1, 2.5, "2", True, math.inf),
            "max_tests": (-1, 2.5, "many", True, math.nan),
            "max_seconds": (0, -1, "1", math.nan, True),
            "boundary": ("mb", "", None, 3, ["A"]),
        }.items()
        for value in values
    ),
    *(
        Case(
            f"{name}={value!r}",
            lambda name=name, value=value: fit(**{name: value}),
            ParameterError,
            (name, repr(value)),
        )
        for name in ("selection", "assume_chordal")
        for value in ("no", None, 2)
    ),
    Case("unknown parameter", lambda: LMarvel().set_params(depth=3), ParameterError, ("'depth'", "alpha")),
]

BOUNDARIES = [
    Case(
        "boundary that is not symmetric",
        lambda: fit(boundary={"A": ["B"], "B": [], "C": []}),
        ParameterError,
        ("symmetric", "B is in the boundary of A"),
    ),
    Case(
        "boundary with the variable", lambda: fit(boundary={"B": ["B"]}), ParameterError, ("B is in the boundary of B",)
    ),
    Case("boundary of an unknown variable", lambda: fit(boundary={"Q": []}), ParameterError, ("'Q'", "A, B, C")),
    Case("boundary with an unknown variable", lambda: fit(boundary={"A": ["Q"]}), ParameterError, ("'Q'", "A, B, C")),
]

TESTS = [
    Case("no test at all", lambda: LMarvel(test=None).fit(), CITestError, ("None",)),  # type: ignore[arg-type]
    Case("number in place of a test", lambda: LMarvel(test=3).fit(), CITestError, ("3",)),  # type: ignore[arg-type]
    Case("unknown test", lambda: LMarvel(test="chi-square").fit(), ParameterError, ("'chi-square'",)),
    Case("function without names", lambda: LMarvel(test=independent).fit(), CITestError, ("names",)),
    Case("FunctionTest of a string", lambda: FunctionTest("f", ["A"]), CITestError, ("str",)),  # type: ignore[arg-type]
    Case(
        "oracle that lacks a variable",
        lambda: LMarvel(test=ORACLE).fit(names=["A", "B", "C", "Age"]),
        CITestError,
        ("does not know the variable Age", "A, B, C"),
    ),
    Case(
        "oracle in which a variable is latent",
        lambda: LMarvel(test=MSeparation(CHAIN, latent=["B"])).fit(names=["A", "B", "C"]),
        CITestError,
        ("does not know the variable B", "A, C"),
    ),
    Case("oracle with one more", lambda: LMarvel(test=ORACLE).fit(names=["A", "B"]), CITestError, ("C",)),
    Case("names in another order", lambda: LMarvel(test=ORACLE).fit(names=["C", "B", "A"]), CITestError, ("order",)),
    Case(
        "duplicate name",
        lambda: LMarvel(test=independent).fit(names=["Age", "Sex", "Age"]),
        CITestError,
        ("duplicate", "Age"),
    ),
    Case(
        "empty name of a variable", lambda: LMarvel(test=independent).fit(names=["Age", ""]), CITestError, ("Age", "''")
    ),
    Case("number as a name", lambda: LMarvel(test=independent).fit(names=["Age", 2]), CITestError, ("Age", "2")),  # type: ignore[list-item]
    *(
        Case(
            f"test that answers {answer!r}",
            lambda a=answer: answering(a),
            CITestError,
            (repr(answer), "Age", "Diet", "nothing"),
        )
        for answer in (math.nan, -0.1, 1.5, math.inf, None, "0.5 or so", [0.5, 0.5])
    ),
    Case("position beyond the oracle", lambda: ORACLE.pvalue(0, 3, []), CITestError, ("3",)),
    Case("given position beyond the oracle", lambda: ORACLE.pvalue(0, 1, [7]), CITestError, ("7",)),
    Case("negative position in the oracle", lambda: ORACLE.pvalue(0, -1, []), CITestError, ("-1",)),
]

RESULTS = [
    Case("describe an unknown variable", lambda: fit().result_.describe("A", "Q"), GraphError, ("'Q'",)),
    Case("origin of an unknown variable", lambda: fit().result_.origin("Q", "A"), GraphError, ("'Q'",)),
    Case("describe a variable with itself", lambda: fit().result_.describe("A", "A"), LMarvelError, ("A",)),
]

CASES = [*GRAPHS, *PROJECTIONS, *CONVERSIONS, *PARAMETERS, *BOUNDARIES, *TESTS, *RESULTS]


@pytest.mark.parametrize("case", CASES, ids=[case.title for case in CASES])
def test_bad_input_is_refused_and_the_culprit_named(case: Case) -> None:
    with pytest.raises(case.error) as raised:
        case.act()
    assert isinstance(raised.value, LMarvelError)
    for culprit in case.culprits:
        assert culprit in str(raised.value)


def test_an_error_of_the_package_is_a_value_error() -> None:
    for error in {case.error for case in CASES}:
        assert issubclass(error, ValueError)


def test_what_a_test_itself_raises_is_passed_on() -> None:
    def broken(x: str, y: str, given: tuple[str, ...]) -> float:
        raise ZeroDivisionError("no rows")

    with pytest.raises(ZeroDivisionError, match="no rows"):
        LMarvel(test=broken).fit(names=["A", "B"])


def test_a_failed_fit_leaves_no_result() -> None:
    model = LMarvel(test=ORACLE, alpha=2.0)
    with pytest.raises(ParameterError):
        model.fit()
    assert not hasattr(model, "pag_")
