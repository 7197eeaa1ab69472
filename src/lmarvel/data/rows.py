"""Passes over rows and matrices: each as NumPy says it, and compiled into fewer passes where that was built.

The two give the same bits: see ``_rows.pyx``. For a table that does not fit into the processor's cache, what a pass
costs is the way to memory, so five passes made into two are less than half the time.
"""

from __future__ import annotations

import importlib
import threading
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from lmarvel.deferred import late

blas = late("scipy.linalg.blas")


Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]

COMPILED: ModuleType | None
try:
    COMPILED = importlib.import_module("lmarvel.data._rows")
except ModuleNotFoundError:  # not built: the same, slower
    COMPILED = None


_SCRATCH = threading.local()
_LARGEST_SCRATCH = 2**18  # numbers, that a thread keeps for the next call
_FEW_COLUMNS, _BY_ONE_THREAD = 100, 400_000  # products of numbers
_BLOCK = 512  # rows that are centred at a time, more where columns are few
_IN_CACHE = 2**15  # numbers


def means(rows: Matrix, origin: Vector) -> Vector:
    """Return the means of ``rows - origin``, a number near those in the rows.

    Examples
    --------
    >>> means(np.array([[1e9, 1.0], [1e9 + 2, 4.0]]), origin=np.array([1e9, 1.0])).tolist()
    [1.0, 1.5]
    """
    if COMPILED is not None and len(rows):
        found: Vector = COMPILED.means(rows, origin)
        return found
    return sums(np.subtract(rows, origin, order="C")) / len(rows)


def less(rows: Matrix, origin: Vector, mean: Vector, out: Matrix) -> Matrix:
    """Write ``(rows - origin) - mean`` to ``out``, and return it."""
    if COMPILED is not None and len(rows):
        COMPILED.less(rows, origin, mean, out)  # which refuses to write over what it reads
        return out
    np.subtract(rows, origin, out=out)
    return np.subtract(out, mean, out=out)


def scatter_of(rows: Matrix, origin: Vector, mean: Vector) -> Matrix:
    """Return the product of ``(rows - origin) - mean`` with itself, of a few columns.

    Rows are centred a block at a time, so that a block is still in the cache when it is multiplied.

    Examples
    --------
    >>> scatter_of(np.array([[1.0, 1.0], [3.0, 4.0]]), np.ones(2), np.array([1.0, 1.5])).tolist()
    [[2.0, 3.0], [3.0, 4.5]]
    """
    step = max(_BLOCK, _IN_CACHE // rows.shape[1])
    found: Matrix | None = None
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        block = less(part, origin, mean, _scratch(part.size).reshape(part.shape))
        product = block.T @ block
        found = product if found is None else np.add(found, product, out=found)
    assert found is not None
    return found


def gram(rows: Matrix) -> Matrix:
    """Return the product of rows with themselves; that of few columns is taken in pieces, each by one thread.

    BLAS would wake its threads for a product of a tenth of a millisecond: on two busy cores that took 8 ms.

    Examples
    --------
    >>> gram(np.array([[1.0, 1.0], [3.0, 4.0]])).tolist()
    [[10.0, 13.0], [13.0, 17.0]]
    """
    p = rows.shape[1]
    if p > _FEW_COLUMNS:
        return np.asarray(rows.T @ rows)
    step, found = max(_BY_ONE_THREAD // (p * p), 1), np.zeros((p, p))
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        found += part.T @ part
    return found


def add_scatter(scatter: Matrix, rows: Matrix, origin: Vector, mean: Vector, more: Vector) -> None:
    """Add the products of centred rows, and that of one more row, to the lower triangle of a matrix.

    Rows are centred a block at a time, so that a block is still in the cache when it is multiplied: beside the product
    that costs next to nothing, and no second table is needed.

    Examples
    --------
    >>> scatter = np.zeros((2, 2))
    >>> add_scatter(scatter, np.array([[1.0, 1.0], [3.0, 4.0]]), np.ones(2), np.array([1.0, 1.5]), np.zeros(2))
    >>> scatter.tolist()
    [[2.0, 0.0], [3.0, 4.5]]
    """
    p = rows.shape[1]
    block = np.empty((min(_BLOCK, len(rows)) + 1, p))
    for start in range(0, len(rows), _BLOCK):
        part = rows[start : start + _BLOCK]
        used = len(part)
        less(part, origin, mean, block[:used])
        if start == 0:
            block[used], used = more, used + 1
        # Of the transpose, which BLAS reads as it stands: its upper triangle is our lower one.
        blas.dsyrk(1.0, block[:used].T, beta=1.0, c=scatter.T, lower=0, overwrite_c=1)


def mirror(matrix: Matrix, by: float = 1.0) -> Matrix:
    """Divide a matrix in place, copy what is below its diagonal to above it, and return it.

    Examples
    --------
    >>> mirror(np.array([[2.0, 0.0], [6.0, 4.0]]), 2.0).tolist()
    [[1.0, 3.0], [3.0, 2.0]]
    """
    if COMPILED is not None and matrix.flags.c_contiguous:
        COMPILED.mirror(matrix, by)
        return matrix
    matrix /= by
    for start in range(0, len(matrix), 512):
        stop = min(start + 512, len(matrix))
        matrix[start:stop, stop:] = matrix[stop:, start:stop].T
        square = matrix[start:stop, start:stop]
        above = np.triu_indices(stop - start, 1)
        square[above] = square.T[above]
    return matrix


def _scratch(size: int) -> Vector:
    """Return so many numbers to write on; a thread gets the same ones again.

    Half a megabyte that is fetched from the system anew costs as much as a Gram product of as many numbers.
    """
    if size > _LARGEST_SCRATCH:
        return np.empty(size)
    kept: Vector | None = vars(_SCRATCH).get("numbers")
    if kept is None or len(kept) < size:
        kept = _SCRATCH.numbers = np.empty(size)
    return kept[:size]


def sums(rows: Matrix) -> Vector:
    """Return the sums of the columns, each independent of the others; eight rows at once are a third of the time."""
    whole = len(rows) // 8 * 8
    folded = rows[:whole].reshape(-1, 8 * rows.shape[1]).sum(axis=0).reshape(8, -1).sum(axis=0)
    return np.asarray(folded + rows[whole:].sum(axis=0))


def within(numbers: Vector, low: float, high: float) -> bool:
    """Tell whether all numbers are above ``low`` and below ``high``; NaN is not.

    Examples
    --------
    >>> within(np.array([1.0, 2.0]), 0.0, np.inf), within(np.array([1.0, np.nan]), 0.0, np.inf)
    (True, False)
    """
    if COMPILED is not None:
        return bool(COMPILED.within(numbers, low, high))
    return bool(((numbers > low) & (numbers < high)).all())


def merge(scatter: Matrix, product: Matrix, scaled: Vector, shift: Vector) -> None:
    """Add a product, and the outer product of two vectors, to a matrix in place."""
    if COMPILED is not None:
        COMPILED.merge(scatter, product, scaled, shift)
        return
    scatter += product
    scatter += np.outer(scaled, shift)


def lower_inverse(factor: Matrix) -> Matrix:
    """Return the inverse of a lower triangular matrix: row i of it follows from the rows before.

    Examples
    --------
    >>> lower_inverse(np.array([[2.0, 0.0], [1.0, 1.0]])).tolist()
    [[0.5, 0.0], [-0.5, 1.0]]
    """
    if COMPILED is not None and factor.flags.c_contiguous:
        found: Matrix = COMPILED.lower_inverse(factor)
        return found
    inverse = np.zeros(factor.shape)
    for i, row in enumerate(inverse):
        for j in range(i):
            row[: j + 1] -= factor[i, j] * inverse[j, : j + 1]
        row[i] = 1.0
        row[: i + 1] /= factor[i, i]
    return inverse


def correlation_of(covariance: Matrix, order: NDArray[np.intp] | None = None) -> Matrix:
    """Return the correlation matrix of a covariance matrix, with its variables in another order if one is given.

    Examples
    --------
    >>> correlation_of(np.array([[4.0, 1.0], [1.0, 1.0]])).tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """
    if COMPILED is not None and covariance.flags.c_contiguous:
        found: Matrix
        found = COMPILED.correlation(covariance) if order is None else COMPILED.correlation_in_order(covariance, order)
        return found
    scale = 1 / np.sqrt(covariance.diagonal())
    matrix = covariance * scale
    matrix *= scale[:, None]
    matrix.clip(-1.0, 1.0, out=matrix)
    matrix.flat[:: len(matrix) + 1] = 1.0
    return np.ascontiguousarray(matrix if order is None else matrix[order[:, None], order])


def strengths(covariance: Matrix) -> tuple[Vector, bool]:
    """Return the sums of squares of the rows of the correlation matrix, and whether two variables are copies.

    That is up to scale and sign. The last digits of the sums depend on whether this is compiled.

    Examples
    --------
    >>> strengths(np.array([[1.0, 0.5], [0.5, 1.0]]))[0].tolist(), strengths(np.array([[1.0, -2.0], [-2.0, 4.0]]))[1]
    ([1.25, 1.25], True)
    """
    if COMPILED is not None and covariance.flags.c_contiguous:
        found: tuple[Vector, bool] = COMPILED.strengths(covariance)
        return found
    correlation = correlation_of(covariance)
    stripes = (np.abs(correlation[start : start + 256]) >= 1 - 1e-12 for start in range(0, len(correlation), 256))
    copies = sum(map(np.count_nonzero, stripes)) > len(correlation)
    return np.asarray(np.einsum("ij,ij->i", correlation, correlation)), copies


def ascending(numbers: Vector, apart: float) -> list[int] | None:
    """Return the positions of numbers in ascending order; None where two are nearer to each other than by this share.

    Examples
    --------
    >>> ascending(np.array([3.0, 1.0, 2.0]), 1e-8), ascending(np.array([3.0, 1.0, 3.0]), 1e-8)
    ([1, 2, 0], None)
    """
    if COMPILED is not None:
        found: list[int] | None = COMPILED.ascending(numbers, apart)
        return found
    order = np.argsort(numbers, kind="stable")
    ranked = numbers[order]
    return order.tolist() if (ranked[1:] - ranked[:-1] > apart * ranked[1:]).all() else None


def permuted(matrix: Matrix, order: NDArray[np.intp]) -> Matrix:
    """Return a square matrix with rows and columns in another order.

    Examples
    --------
    >>> permuted(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1, 0])).tolist()
    [[4.0, 3.0], [2.0, 1.0]]
    """
    if COMPILED is not None and matrix.flags.c_contiguous and len(order) == len(matrix):
        found: Matrix = COMPILED.permuted(matrix, order)
        return found
    return np.ascontiguousarray(matrix[order[:, None], order])


def placed(marks: NDArray[np.int8], place: NDArray[np.intp]) -> NDArray[np.int8]:
    """Return a square matrix of small numbers where row and column v stand at ``place[v]``, each place taken once.

    Examples
    --------
    >>> placed(np.array([[0, 1], [2, 0]], np.int8), np.array([1, 0])).tolist()
    [[0, 2], [1, 0]]
    """
    if COMPILED is not None and marks.flags.c_contiguous:
        found: NDArray[np.int8] = COMPILED.placed(marks, place)
        return found
    if len(np.unique(place)) < len(place):
        raise ValueError("a place is taken twice")
    result = np.empty_like(marks)
    result[place[:, None], place] = marks
    return result
