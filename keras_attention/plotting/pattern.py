"""Which query may see which key: the pattern of a sparse layer, or any mask."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from keras import ops
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap

from .cells import cell_points, hatch, is_square, map_size, separate
from .description import describe_pattern, remember
from .labels import set_title

VISIBLE = "#2b6c8f"


def plot_pattern(
    mask: Any, title: str | None = None, ax: Axes | None = None, *, colour: str = VISIBLE
) -> Axes:
    """Draw a mask: coloured where a query (row) may attend to a key (column), hatched where it may not.

    How many cells that are, and what share of all, stands below the title.

    Args:
        mask: boolean (Tq, Tk), True = may be attended to.
        title: shown above the figure.
        ax: the Axes to draw on; a new figure by default.
        colour: of the cells that may be attended to.

    Returns:
        the Axes; nothing is shown or saved.

    Raises:
        ValueError: if the mask is not boolean, not a matrix, or empty.

    >>> from keras_attention.masks import window_mask
    >>> plot_pattern(window_mask(8, window=1), "a window of 1").get_title()
    'a window of 1\\n22 of 64 cells (34 %)'
    """
    mask = np.asarray(ops.convert_to_numpy(mask))
    if mask.dtype != bool:
        raise ValueError(f"mask must be boolean, got {mask.dtype}.")
    if mask.ndim != 2 or not mask.size:
        raise ValueError(f"mask must be of shape (queries, keys), got {mask.shape}: choose one sentence.")
    rows, columns = mask.shape

    size = None
    share = f"{mask.sum():,} of {mask.size:,} cells ({mask.mean():.0%})".replace("%", " %")
    text = share if title is None else f"{title}\n{share}"
    if ax is None:
        size = map_size(rows, columns, largest=5.0)
        lines = text.count("\n") + 1
        figsize = (size[0] + 0.7, size[1] + 0.6 + 0.25 * lines)
        ax = plt.subplots(figsize=figsize, layout="compressed")[1]
    ax.imshow(
        mask,
        cmap=ListedColormap(["0.94", colour]),
        vmin=0,
        vmax=1,
        aspect="equal" if is_square(rows, columns) else "auto",
        interpolation="nearest",
    )
    hatch(ax, ~mask)
    ax.spines[:].set_visible(False)
    if min(cell_points(ax, rows, columns, size)) > 8:
        separate(ax, rows, columns)
    ax.locator_params(integer=True)
    ax.set(xlabel="key position", ylabel="query position")
    set_title(ax, text, None if size is None else 72 * size[0])
    remember(ax, describe_pattern, mask, title=title)
    return ax
