"""Map of the examples: the first two principal components of their scaled features, and the examples in an outline."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from sklearn.decomposition import PCA

from pll.errors import UserError
from pll.io import blocks
from pll.training.scaling import clipped, fit_scaling
from pll.weights import Ints

FIT_ROWS = 20_000
"""Maximum number of examples, evenly spaced, that the components are computed from."""
PROJECTED_AT_ONCE = 65_536
MARGIN = 0.001
"""Share of the examples at each end of an axis that may lie on the map's border."""
TOP = 65_535
"""Coordinates are whole numbers from 0 to this."""
_GRID = 2048

Places = npt.NDArray[np.uint16]


def project(X: npt.NDArray[np.float32]) -> Places:
    """Return the place of each example on the map.

    Features are z-scored and cut off at ±3 first. Both axes have the same scale only by chance: each is stretched so
    that all but a thousandth of the examples at either end lie within it; those lie on the border.

    Parameters
    ----------
    X
        (n, …) float32 features; may be memory-mapped, and is read in pieces.

    Returns
    -------
    Places
        (n, 2) uint16, the first and the second component, 0 … 65,535.

    Raises
    ------
    UserError
        There are no features.

    Examples
    --------
    >>> project(np.array([[0], [1], [2]], dtype=np.float32)).tolist()
    [[0, 32768], [32768, 32768], [65535, 32768]]
    """
    n = len(X)
    if not n or not X.size:
        raise UserError("There are no features to draw a map of.")
    sample = X[np.unique(np.linspace(0, n - 1, min(n, FIT_ROWS)).astype(np.int64))]
    scaling = fit_scaling(sample, "zscore")
    fitted = clipped(scaling, sample)
    values = np.zeros((n, 2), dtype=np.float32)
    if np.ptp(fitted, axis=0).any():  # otherwise all examples are equal
        dimensions = min(2, *fitted.shape)
        solver = "covariance_eigh" if fitted.shape[1] <= 1000 else "randomized"
        result = PCA(dimensions, svd_solver=solver, random_state=0).fit(fitted)
        for part in blocks(n, PROJECTED_AT_ONCE):
            values[part, :dimensions] = result.transform(clipped(scaling, X[part]))
    low, high = np.quantile(values, [MARGIN, 1 - MARGIN], axis=0, method="inverted_cdf")
    width = np.where(high > low, high - low, 1.0)
    shares = np.where(high > low, (values - low) / width, 0.5)
    return np.asarray(np.rint(np.clip(shares, 0.0, 1.0) * TOP).astype(np.uint16))


def inside(places: Places, outline: Sequence[tuple[int, int]]) -> Ints:
    """Return the examples in an outline, in order.

    Parameters
    ----------
    places
        (n, 2) of `project`.
    outline
        Corners of a polygon, 0 … 65,535; it may cross itself (what is enclosed twice is not inside). The outline is
        drawn on a grid of 2,048 × 2,048 cells; a cell that it touches is inside.

    Examples
    --------
    >>> places = np.array([[0, 0], [30_000, 30_000], [65_535, 65_535]], dtype=np.uint16)
    >>> inside(places, [(20_000, 20_000), (40_000, 20_000), (40_000, 40_000), (20_000, 40_000)]).tolist()
    [1]
    """
    from PIL import Image, ImageDraw  # slow to import

    cell = (TOP + 1) // _GRID
    image = Image.new("1", (_GRID, _GRID))
    ImageDraw.Draw(image).polygon([(x // cell, y // cell) for x, y in outline], fill=1, outline=1)
    drawn = np.array(image)  # (row, column)
    return np.asarray(np.flatnonzero(drawn[places[:, 1] // cell, places[:, 0] // cell]))
