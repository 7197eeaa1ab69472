"""What most resamples have is drawn thick, the rest thin and faint; without a bootstrap nothing changes."""

import re

import pytest

from lmarvel import PAG, LMarvel
from lmarvel.datasets import CARS
from lmarvel.drawing import draw
from tests.cli.running import run

PAIR = PAG.from_edges("A o-> C", "B o-> C")
SHARES = {frozenset("AC"): 1.0, frozenset("BC"): 0.4}


def widths(text):
    return [float(w) for w in re.findall(r'class="line"[^>]*stroke-width="([\d.]+)"', text)]


def test_width_and_opacity_follow_the_share():
    text = draw(PAIR, shares=SHARES)
    thick, thin = widths(text)
    assert thick > thin
    assert 'data-share="0.4" opacity="0.61"' in text
    assert "; 40 % of resamples have the edge</title>" in text
    assert set(widths(draw(PAIR))) == {1.8}
    assert "opacity" not in draw(PAIR)


@pytest.mark.parametrize("ending", ["png", "pdf"])
def test_files_of_other_formats_differ_too(tmp_path, ending):
    for name, shares in (("with", SHARES), ("without", None)):
        draw(PAIR, tmp_path / f"{name}.{ending}", shares=shares)
    assert (tmp_path / f"with.{ending}").read_bytes() != (tmp_path / f"without.{ending}").read_bytes()


def test_results_draw_themselves_with_what_recurs(tmp_path):
    found = LMarvel().fit(CARS, bootstrap=20, seed=1).result_
    assert found.draw().count("data-share") == found.pag.n_edges
    assert found._repr_html_().count("data-share") == found.pag.n_edges
    found.save(tmp_path / "r.json")
    run("draw", tmp_path / "r.json", tmp_path / "r.svg")
    assert (tmp_path / "r.svg").read_text() == found.draw()
    assert "data-share" not in LMarvel().fit(CARS).result_.draw()
