"""No two boxes overlap, and edges keep out of boxes where they can."""

from __future__ import annotations

import numpy as np
import pytest

from lmarvel import DAG, PAG, mag_to_pag
from lmarvel.budget.clock import Clock
from lmarvel.drawing import place_boxes
from lmarvel.drawing.curve import Curve, clipped, route
from lmarvel.drawing.layout import components, separate
from lmarvel.drawing.scene import Box, compose
from tests.generators import random_mag

WORDS = ["age", "income", "blood pressure", "systolic_blood_pressure_visit_2", "BMI", "i", "education (years)"]


def random_pag(n: int, seed: int, degree: float = 2.4) -> PAG:
    mag = random_mag(np.random.default_rng(seed), n, latent=max(2, n // 8), degree=degree)
    return mag_to_pag(mag).relabel({name: f"{WORDS[i % 7]} {name}" for i, name in enumerate(mag.names)})


def overlapping(boxes: tuple[Box, ...], gap: float) -> list[tuple[str, str]]:
    return [
        (a.name, b.name)
        for k, a in enumerate(boxes)
        for b in boxes[:k]
        if abs(a.x - b.x) < (a.w + b.w) / 2 + gap and abs(a.y - b.y) < (a.h + b.h) / 2 + gap
    ]


@pytest.mark.parametrize("layout", ["auto", "layered", "spring"])
@pytest.mark.parametrize("n", [10, 40, 100])
def test_no_two_boxes_overlap(n: int, layout: str) -> None:
    assert overlapping(place_boxes(random_pag(n, n), layout), gap=10) == []


def test_a_complete_graph_and_many_isolated_nodes_do_not_overlap() -> None:
    names = [f"variable {i}" for i in range(25)]
    complete = [f'"{a}" --> "{b}"' for k, b in enumerate(names[:12]) for a in names[:k]]
    assert overlapping(place_boxes(DAG.from_edges(*complete, nodes=names)), gap=10) == []


def test_a_large_graph_is_laid_out() -> None:
    rng = np.random.default_rng(0)
    edges = [f"V{i} --> V{j}" for j in range(1, 500) for i in {int(rng.integers(j))}]
    assert overlapping(place_boxes(DAG.from_edges(*edges)), gap=5) == []


@pytest.mark.parametrize("layout", ["auto", "spring"])
def test_no_two_boxes_overlap_where_no_time_is_left(layout: str) -> None:
    with Clock(0.0).running():
        assert overlapping(place_boxes(random_pag(40, 40), layout), gap=10) == []


def test_what_takes_longer_than_the_time_that_is_left_is_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    """Springs of 300 nodes take seconds: begun just before the end, they outlasted it."""

    def begun(*_: object) -> None:
        raise AssertionError("springs were begun")

    monkeypatch.setattr("lmarvel.drawing.layout._springs", begun)
    chain = DAG.from_edges(*(f"V{i} --> V{i + 1}" for i in range(299)))
    with Clock(2.5).running():
        assert overlapping(place_boxes(chain), gap=10) == []
    with pytest.raises(AssertionError, match="begun"):
        place_boxes(chain)


def test_boxes_on_one_spot_come_apart() -> None:
    places = separate(np.zeros((9, 2)), np.full((9, 2), 20.0))
    assert np.isfinite(places).all()
    assert len({tuple(place) for place in places.round(1).tolist()}) == 9


def test_layers_put_causes_above_effects() -> None:
    boxes = place_boxes(DAG.from_edges("A --> B", "B --> C", "A --> C", "C --> D"), "layered")
    assert [box.y for box in boxes] == sorted({box.y for box in boxes})


def test_edges_of_a_small_graph_are_about_as_long_as_each_other() -> None:
    story = DAG.from_edges("Age --> Diabetes", "Sport --> Fracture", "Diabetes --> Admitted", "Fracture --> Admitted")
    places = {box.name: np.array([box.x, box.y]) for box in place_boxes(story)}
    spans = [float(np.hypot(*(places[one.a] - places[one.b]))) for one in story.edges()]
    assert max(spans) < 1.5 * min(spans)


def test_components_are_the_connected_ones_largest_first() -> None:
    graph = PAG.from_edges("C o-o D", "D o-> E", "A o-o F", nodes=list("ABCDEF"))
    assert components(graph) == [[2, 3, 4], [0, 5], [1]]


def test_an_edge_bends_around_a_box_in_its_way() -> None:
    first, last, between = (0.0, 0.0, 20.0, 15.0), (300.0, 0.0, 20.0, 15.0), np.array([[150.0, 0.0, 20.0, 15.0]])
    straight, free = route(first, last, np.zeros((0, 4)), [])
    assert straight.straight
    assert free
    bent, free = route(first, last, between, [])
    assert free
    assert abs(bent.at(0.5)[1]) > 15


def test_edges_rarely_run_through_boxes() -> None:
    scene = compose(random_pag(40, 3))
    through = 0
    for line in scene.lines:
        walk = [line.curve.at(t) for t in np.linspace(0, 1, 50).tolist()]
        for box in scene.boxes:
            if box.name not in line.edge[:2]:
                through += any(abs(x - box.x) < box.w / 2 and abs(y - box.y) < box.h / 2 for x, y in walk)
    assert through <= len(scene.lines) * 0.02


def test_a_curve_is_cut_at_the_borders() -> None:
    curve = clipped(Curve((0, 0), (50, 0), (100, 0)), (0.0, 0.0, 10.0, 10.0), (100.0, 0.0, 20.0, 10.0))
    assert curve.start == pytest.approx((11.2, 0), abs=0.1)
    assert curve.end == pytest.approx((78.8, 0), abs=0.1)


def test_everything_lies_within_the_picture() -> None:
    scene = compose(random_pag(40, 1), title="A heading")
    points = [line.curve.at(t) for line in scene.lines for t in (0.0, 0.25, 0.5, 0.75, 1.0)]
    points += [(box.x - box.w / 2, box.y - box.h / 2) for box in scene.boxes]
    points += [(box.x + box.w / 2, box.y + box.h / 2) for box in scene.boxes]
    assert all(0 <= x <= scene.width and 0 <= y <= scene.height for x, y in points)
