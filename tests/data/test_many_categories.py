"""Columns with very many categories are learned with: the rare ones are taken together, and that is said."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lmarvel import FCI, Auto, DataError, Dataset, Discovery, LMarvel
from lmarvel.data.categories import MANY, groups_of
from lmarvel.data.levels import Levels

N = 2000


def table(categories: int) -> dict[str, Any]:
    """Half of the towns have more of x, and x has an effect on y; a few towns have most rows."""
    rng = np.random.default_rng(categories)
    town = np.minimum(rng.geometric(8 / categories, N) - 1, categories - 1)
    town[:categories] = np.arange(categories)  # so that each is there
    x = np.where(town % 2, 1.5, -1.5) * (town < 20) + rng.normal(size=N)
    return {"town": [f"t{i}" for i in town], "x": x, "y": x + rng.normal(size=N)}


@pytest.mark.parametrize("categories", [150, 1000])
@pytest.mark.parametrize("method", [Auto, LMarvel, FCI])
def test_many_categories_are_learned_with(categories: int, method: Any, tmp_path: Path) -> None:
    begun = time.process_time()
    found = method().fit(table(categories)).result_
    assert time.process_time() - begun < 10
    assert "y" in found.pag.adjacent("x")
    assert categories > 150 or "x" in found.pag.adjacent("town")
    [note] = [note for note in found.notes if "town" in note]
    kept = {150: 29, 1000: 19}[categories]
    rare = f"the {kept} with most rows are kept, and {categories - kept} rare ones are one category"
    assert note.startswith(f"town has {categories:,} categories: {rare}")
    found.save(tmp_path / "r.json")
    assert note in Discovery.load(tmp_path / "r.json").notes


def test_the_other_categories_have_a_name_and_resamples_have_the_same() -> None:
    data = Dataset.of(table(150))
    [levels] = [levels for levels in data.levels if levels is not None]
    assert (len(levels), levels[-1]) == (30, "other")
    counts = np.bincount(data.codes()[:, 0])
    assert counts[:-1].min() >= 5
    drawn = data.resample(1)
    assert drawn.levels == data.levels
    np.testing.assert_array_equal(drawn.codes(), data.codes())
    again = Dataset.of(data, columns=["town", "x"])
    assert again.levels[0] == levels


def test_what_has_rows_enough_is_kept_as_it_is() -> None:
    counts = np.full(50, 40)
    known = Levels(tuple(f"c{i:02d}" for i in range(50)))
    assert groups_of(known, counts)[1] == known.names
    counts[:3] = 4
    place, names = groups_of(known, counts)
    assert names == (*known.names[3:], "other")
    assert set(place[:3]) == {len(names) - 1}
    taken = Levels(("other", *known.names[1:]))
    counts[0], counts[5] = 40, 4
    assert groups_of(taken, counts)[1][-1] == "(other)"


def test_neither_order_of_rows_nor_names_decide_which_are_kept() -> None:
    columns = table(150)
    order = np.random.default_rng(3).permutation(N)
    moved = {name: [values[i] for i in order] for name, values in columns.items()}
    assert Dataset.of(columns).levels == Dataset.of(moved).levels


def test_an_order_is_cut_into_neighbours() -> None:
    score = np.arange(2100) % 300
    data = Dataset.of({"score": score, "x": np.random.default_rng(0).normal(size=2100)}, ordinal=["score"])
    levels = data.levels[0]
    assert levels is not None
    assert (len(levels), levels[0], levels[-1]) == (MANY, "0 to 14", "285 to 299")
    assert (np.diff(data.codes()[np.argsort(score), 0]) >= 0).all()
    [note] = [note for note in LMarvel().fit(data).result_.notes if "score" in note]
    assert note == "score has 300 categories in an order: they are cut into 20 classes"


def test_an_id_is_refused_still() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(DataError, match="'id' has 2000 categories in 2000 rows, as an id"):
        LMarvel().fit({"id": [f"p{i}" for i in range(N)], "x": rng.normal(size=N), "y": rng.normal(size=N)})
