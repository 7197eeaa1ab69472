"""Datasets: lazily read, typed, weighted, resampled, and known by their values."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from lmarvel import DataError, Dataset, Kind, Moments, moments_of
from lmarvel.data import scan
from lmarvel.data.table import Table

TABLE = np.random.default_rng(0).normal(loc=[0.0, 1e6, -3.0], size=(300, 3))
NAMES = ("a", "b", "c")
FRAME = pl.DataFrame({name: TABLE[:, i] for i, name in enumerate(NAMES)})


def on_file(ending: str, folder: Path) -> Path:
    path = folder / f"data.{ending}"
    {"csv": FRAME.write_csv, "parquet": FRAME.write_parquet, "feather": FRAME.write_ipc}[ending](path)
    return path


in_every_file = pytest.mark.parametrize("ending", ["csv", "parquet", "feather"])


# --- one pass, when it is needed --------------------------------------------------------------------------


@in_every_file
def test_opening_a_file_reads_the_header_only(ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_rows(*_: object) -> Iterator[np.ndarray]:
        raise AssertionError("rows were read")

    monkeypatch.setattr("lmarvel.data.sources.csv.pieces", no_rows)
    monkeypatch.setattr("lmarvel.data.sources.parquet._Reader.batches", no_rows)
    data = Dataset.of(on_file(ending, tmp_path))
    assert data.names == NAMES
    with pytest.raises(AssertionError, match="rows were read"):
        data.read()


def test_the_rows_are_read_once_for_all_that_is_asked(tmp_path: Path) -> None:
    passes = []

    def batches(rows: int) -> Iterator[np.ndarray]:
        passes.append(rows)
        yield TABLE

    data = Dataset.of(Table(NAMES, batches, in_memory=False))
    assert passes == []
    assert (data.n, data.missing, data.moments.n) == (300, (0, 0, 0), 300)
    assert data.summary()["fingerprint"] == data.fingerprint
    assert len(passes) == 1


def test_in_memory_values_are_digested_only_if_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "_bytes", lambda _: pytest.fail("digested"))
    assert Dataset.of(TABLE).moments.n == 300


@in_every_file
def test_a_dataset_gives_the_moments_of_the_table(ending: str, tmp_path: Path) -> None:
    expected = moments_of(TABLE)
    found = Dataset.of(on_file(ending, tmp_path)).moments
    np.testing.assert_array_equal(found.mean, expected.mean)
    np.testing.assert_array_equal(found.covariance, expected.covariance)
    assert (found.n, found.n_effective) == (300, 300.0)


def test_a_tick_is_called_after_each_batch_and_may_end_the_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "BATCH_BYTES", 1)  # 16 rows
    ticks = []

    def tick() -> None:
        ticks.append(1)
        if len(ticks) == 3:
            raise TimeoutError

    data = Dataset.of(TABLE)
    with pytest.raises(TimeoutError):
        data.read(tick)
    assert len(ticks) == 3
    np.testing.assert_array_equal(data.moments.covariance, moments_of(TABLE).covariance)


@in_every_file
def test_a_file_can_be_read_again_after_a_reading_that_was_given_up(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan, "BATCH_BYTES", 1)
    data = Dataset.of(on_file(ending, tmp_path))

    def stop() -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        data.read(stop)
    assert data.n == 300


def test_a_dataset_cannot_be_changed() -> None:
    data = Dataset.of(TABLE)
    with pytest.raises(AttributeError, match="never changes"):
        data.names = ("x",)  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        data.rows()[0, 0] = 1.0
    assert TABLE.flags.writeable


def test_a_dataset_of_a_dataset_is_the_same_or_some_of_its_columns() -> None:
    data = Dataset.of(TABLE, NAMES)
    assert Dataset.of(data) is data
    some = Dataset.of(data, drop=["b"])
    assert some.names == ("a", "c")
    np.testing.assert_array_equal(some.moments.covariance, moments_of(TABLE[:, [0, 2]]).covariance)


# --- kinds ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch_bytes", [1, 1 << 26])
def test_columns_of_two_values_are_binary(batch_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "BATCH_BYTES", batch_bytes)
    late = np.r_[np.zeros(150), np.ones(150)]
    third = late.copy()
    third[-1] = 0.5
    beyond = late.copy()
    beyond[-1] = 2.0
    flags = np.tile([-1.0, 7.0], 150)
    columns = {"real": TABLE[:, 0], "late": late, "third": third, "beyond": beyond, "flags": flags}
    kinds = dict(zip(columns, Dataset.of(columns).kinds, strict=True))
    assert [name for name, kind in kinds.items() if kind is Kind.BINARY] == ["late", "flags"]
    assert kinds["real"] is kinds["third"] is kinds["beyond"] is Kind.CONTINUOUS


def test_missing_values_are_counted_without_being_refused() -> None:
    table = TABLE.copy()
    table[[1, 5], 2] = np.nan
    data = Dataset.of(table)
    assert (data.missing, data.test_wise, data.moments.n) == ((0, 0, 2), True, round(data.effective_rows))
    with pytest.raises(DataError, match=r"missing values in 1 of 3 columns: 'X2' \(2\)"):
        _ = Dataset.of(table, missing="refuse").moments


# --- fingerprints -----------------------------------------------------------------------------------------


def test_the_fingerprint_is_of_the_values_whatever_they_came_in(tmp_path: Path) -> None:
    mark = Dataset.of(TABLE, NAMES).fingerprint
    assert len(mark) == 16
    int(mark, 16)
    for same in (FRAME, np.asfortranarray(TABLE), *(on_file(ending, tmp_path) for ending in ("csv", "parquet"))):
        assert Dataset.of(same, NAMES).fingerprint == mark


def test_the_fingerprint_does_not_depend_on_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = on_file("csv", tmp_path)
    mark = Dataset.of(path).fingerprint
    monkeypatch.setattr(scan, "BATCH_BYTES", 1)
    assert Dataset.of(path).fingerprint == Dataset.of(FRAME).fingerprint == mark


def test_one_bit_one_name_the_order_and_weights_change_the_fingerprint() -> None:
    bit = TABLE.copy()
    bit[77, 1] = np.nextafter(bit[77, 1], np.inf)
    others = [(bit, NAMES), (TABLE, ("a", "b", "d")), (TABLE[::-1], NAMES), (TABLE[:, ::-1], NAMES)]
    marks = {Dataset.of(table, names).fingerprint for table, names in others}
    marks |= {Dataset.of(TABLE, NAMES).fingerprint, Dataset.of(TABLE, NAMES, weights=np.ones(300)).fingerprint}
    assert len(marks) == 6


def test_the_fingerprint_of_moments_is_of_all_their_bits() -> None:
    moments = moments_of(TABLE)
    other = moments.covariance.copy()
    other[0, 1] = np.nextafter(other[0, 1], 1)
    changed = Moments(moments.names, moments.n, moments.mean, other)
    assert Dataset.of(moments).fingerprint != Dataset.of(changed).fingerprint


# --- rows -------------------------------------------------------------------------------------------------


@in_every_file
def test_rows_come_again_and_again(ending: str, tmp_path: Path) -> None:
    data = Dataset.of(on_file(ending, tmp_path))
    for _ in range(2):
        np.testing.assert_array_equal(data.rows(), TABLE)
    assert [len(batch) for batch in data.batches(128)] == [128, 128, 44]


def test_rows_of_an_array_are_not_copied() -> None:
    assert np.shares_memory(Dataset.of(TABLE).rows(), TABLE)


def test_codes_are_small_numbers_in_the_order_of_the_levels() -> None:
    values = np.random.default_rng(1).choice([3.5, -1.0, 2.0], size=300)
    data = Dataset.of({"x": values, "y": TABLE[:, 0]}, categorical=["x"])
    assert data.levels == (("-1", "2", "3.5"), None)
    assert data.codes().dtype == np.int32
    np.testing.assert_array_equal(np.array([-1.0, 2.0, 3.5])[data.codes()[:, 0]], values)
    assert set(data.codes()[:, 1].tolist()) == {-1}
    np.testing.assert_array_equal(data.values(), np.column_stack([data.codes()[:, 0], TABLE[:, 0]]))


def test_codes_of_missing_values_are_below_zero() -> None:
    data = Dataset.of({"x": ["a", None, "b", "a"], "y": [1, 2, None, 1]})
    assert data.codes().tolist() == [[0, 0], [-1, 1], [1, -1], [0, 0]]
    assert data.values()[:, 1].tolist()[:2] == [0.0, 1.0]
    assert data.missing == (1, 1)


def test_moments_have_no_rows_behind_them() -> None:
    data = Dataset.of(moments_of(TABLE, NAMES), columns=["c", "a"])
    assert data.names == ("a", "c")
    assert (data.n, data.kinds) == (300, (Kind.CONTINUOUS, Kind.CONTINUOUS))
    for act in (data.rows, lambda: next(data.batches(5)), data.codes, lambda: data.resample(0)):
        with pytest.raises(DataError, match="no rows behind moments"):
            act()
    with pytest.raises(DataError, match="weights"):
        Dataset.of(moments_of(TABLE), weights=np.ones(300))


# --- weights ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch_bytes", [1, 1 << 26])
def test_whole_weights_are_as_if_rows_were_repeated(batch_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "BATCH_BYTES", batch_bytes)
    weights = np.random.default_rng(2).integers(0, 4, 300)
    weights[:40] = 0
    found, repeated = Dataset.of(TABLE, weights=weights).moments, moments_of(np.repeat(TABLE, weights, axis=0))
    np.testing.assert_allclose(found.mean, repeated.mean, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found.covariance, repeated.covariance, rtol=1e-9, atol=1e-12)
    effective = weights.sum() ** 2 / (weights**2).sum()
    assert (found.n, found.n_effective) == (round(effective), pytest.approx(effective))


@pytest.mark.parametrize("scale", [1e-200, 3.0, 1e200])
def test_the_scale_of_weights_means_nothing(scale: float) -> None:
    weights = np.random.default_rng(3).uniform(size=300)
    one, other = (Dataset.of(TABLE, weights=w).moments for w in (weights, scale * weights))
    np.testing.assert_allclose(one.covariance, other.covariance, rtol=1e-12)
    assert one.n_effective == pytest.approx(other.n_effective)
    np.testing.assert_allclose(one.covariance, np.cov(TABLE.T, aweights=weights, bias=True), rtol=1e-6, atol=1e-9)


BAD_WEIGHTS = {
    "there is 1 weight for 300 rows": np.ones(1),
    "there are 5 weights for 300 rows": np.ones(5),
    "there are 301 weights for 300 rows": np.ones(301),
    "the weight of row 3 is -1.0": np.r_[1.0, 1.0, -1.0, np.ones(297)],
    "the weight of row 1 is nan": np.full(300, np.nan),
    "all weights are zero": np.zeros(300),
    "one dimension": np.ones((300, 1)),
    "must be numbers": ["heavy"] * 300,
}


@pytest.mark.parametrize("message", BAD_WEIGHTS)
def test_bad_weights_are_refused(message: str) -> None:
    with pytest.raises(DataError, match=message):
        _ = Dataset.of(TABLE, weights=BAD_WEIGHTS[message]).moments


def test_a_column_that_is_constant_where_there_is_weight_is_refused() -> None:
    with pytest.raises(DataError, match="column 'X0' is constant: drop it"):
        _ = Dataset.of([[1, 2], [1, 3], [1, 5], [9, 4]], weights=[1, 1, 1, 0]).moments


# --- resampling -------------------------------------------------------------------------------------------


def test_the_same_seed_draws_the_same_rows_and_another_draws_others() -> None:
    data = Dataset.of(TABLE, NAMES)
    one, same, other = (data.resample(seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.weights, same.weights)
    assert not np.array_equal(one.weights, other.weights)
    assert one.weights is not None
    assert one.weights.dtype == np.int64
    assert one.weights.sum() == 300
    assert one.moments.n == 300
    assert np.shares_memory(one.rows(), TABLE)
    assert data.weights is None


def test_means_of_resamples_scatter_as_theory_says() -> None:
    data = Dataset.of(TABLE)
    means = np.array([data.resample(seed).moments.mean for seed in range(400)])
    expected = np.sqrt(np.diag(data.moments.covariance) / 300)
    np.testing.assert_allclose(means.std(axis=0), expected, rtol=0.15)


def test_weights_are_multiplied_by_the_counts() -> None:
    weights = np.random.default_rng(4).uniform(size=300)
    counts = Dataset.of(TABLE).resample(5).weights
    np.testing.assert_array_equal(Dataset.of(TABLE, weights=weights).resample(5).weights, counts * weights)


# --- clusters, weights in columns, memory -----------------------------------------------------------------

SITES = np.repeat(np.arange(60), 5)


@pytest.mark.parametrize("given", [SITES, [f"site {i}" for i in SITES], SITES.astype(float)])
def test_clusters_are_drawn_whole(given: object) -> None:
    data = Dataset.of(TABLE, NAMES, cluster=given)
    assert data.clusters is not None
    drawn = data.resample(3).weights
    assert drawn is not None
    by_cluster = drawn.reshape(60, 5)
    assert (by_cluster == by_cluster[:, :1]).all()
    assert by_cluster[:, 0].sum() == 60
    assert len(set(by_cluster[:, 0].tolist())) > 2
    assert data.resample(3).clusters is not None


def test_columns_of_weights_and_clusters_are_not_variables(tmp_path: Path) -> None:
    weights = np.random.default_rng(0).uniform(1, 2, 300)
    frame = FRAME.with_columns(pl.Series("w", weights), pl.Series("site", [f"s{i}" for i in SITES]))
    frame.write_csv(tmp_path / "data.csv")
    frame.write_parquet(tmp_path / "data.parquet")
    expected = Dataset.of(TABLE, NAMES, weights=weights).moments
    for source in (frame, tmp_path / "data.csv", tmp_path / "data.parquet"):
        data = Dataset.of(source, weights="w", cluster="site")
        assert data.names == NAMES
        np.testing.assert_array_equal(data.moments.covariance, expected.covariance)
        assert data.moments.n == expected.n == round(weights.sum() ** 2 / (weights**2).sum())
        assert data.n == 300
        assert data.clusters is not None
        assert len(set(data.clusters.tolist())) == 60


def test_a_resample_of_weighted_rows_counts_as_many_as_the_table() -> None:
    data = Dataset.of(TABLE, weights=np.random.default_rng(0).uniform(1, 5, 300))
    assert data.resample(0).moments.n == data.moments.n < 300
    assert Dataset.of(TABLE).resample(0).effective_rows == 300


@pytest.mark.parametrize("missing", [None, "drop"])
def test_roles_of_another_length_are_refused(missing: str | None) -> None:
    with pytest.raises(DataError, match=r"there are 4 (weights|clusters)"):
        _ = Dataset.of(TABLE, weights=np.ones(4), missing=missing).moments
    with pytest.raises(DataError, match="there are 4 clusters"):
        Dataset.of(TABLE, cluster=[1, 2, 3, 4], missing=missing).resample(0)


def test_a_table_with_levels_that_takes_too_much_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lmarvel.data.view.MOST_BYTES", 100)
    with pytest.raises(DataError, match="choose fewer columns"):
        Dataset.of(TABLE, NAMES, categorical=["a"]).codes()


def test_a_text_file_with_levels_that_takes_too_much_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lmarvel.data.sources.csv_typed.MOST_BYTES", 100)
    FRAME.with_columns(pl.lit("x").alias("d")).write_csv(tmp_path / "data.csv")
    with pytest.raises(DataError, match="is held in memory"):
        _ = Dataset.of(tmp_path / "data.csv").n
