"""The heads of one layer side by side, in colours that mean the same in each."""

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize

from .cells import (
    BAR,
    as_array,
    as_boolean,
    check_shape,
    check_weights,
    colour_bar,
    draw_cells,
    label_cells,
    map_size,
)
from .description import describe_attention, remember
from .fonts import text_style
from .labels import label_room, set_title

FONTSIZE = 8.0  # points


def plot_heads(
    weights: Any,
    source_tokens: Sequence[str],
    target_tokens: Sequence[str],
    title: str | None = None,
    axes: Any = None,
    gold: Any = None,
    annotate: bool | None = None,
    mask: Any = None,
    *,
    titles: Sequence[str] | None = None,
    columns: int = 4,
    cmap: str = "cividis",
    vmax: float = 1.0,
    colorbar: bool | None = None,
    check: bool = True,
) -> np.ndarray:
    """Draw the weights of every head as `plot_attention` does, with one norm and one colour bar for all.

    Args:
        weights: array of shape (H, Tq, Tk), for one sentence.
        source_tokens, target_tokens, gold, annotate, cmap, vmax, check: as in `plot_attention`.
        title: shown above all heads.
        axes: H Axes to draw on; a new figure by default.
        mask: boolean, broadcastable to (H, Tq, Tk).
        titles: one above each head; "head 1", "head 2", … by default.
        columns: heads in a row of a new figure.
        colorbar: add a colour bar beside all heads; by default only to a new figure.

    Returns:
        array of the H Axes.

    Raises:
        ValueError: if a shape or number does not fit another.

    >>> axes = plot_heads([[[1.0, 0.0]], [[0.5, 0.5]]], ["the", "cat"], ["chat"])
    >>> [ax.get_title() for ax in axes]
    ['head 1', 'head 2']
    """
    weights = as_array(weights)
    if weights.ndim != 3 or not len(weights):
        raise ValueError(
            f"weights must be of shape (heads, target tokens, source tokens), got {weights.shape}: "
            "choose one sentence."
        )
    check_shape(weights[0], source_tokens, target_tokens)
    allowed = as_boolean("mask", mask, weights.shape, default=True)
    outlined = as_boolean("gold", gold, weights.shape[1:], default=False)
    heads, rows, width = weights.shape
    names = [f"head {i + 1}" for i in range(heads)] if titles is None else list(titles)
    if len(names) != heads:
        raise ValueError(f"There are {len(names)} titles for {heads} heads.")

    size, columns = None, min(columns, heads)
    if axes is None:
        colorbar = True if colorbar is None else colorbar
        size = map_size(rows, width, largest=3.0)
        axes = _new_axes(heads, columns, size, source_tokens, target_tokens, title)
    axes = np.asarray(axes, object).ravel()
    if len(axes) != heads:
        raise ValueError(f"There are {len(axes)} Axes for {heads} heads.")

    for head, (ax, name) in enumerate(zip(axes, names, strict=True)):
        if check:
            check_weights(weights[head], allowed[head])
        image = draw_cells(
            ax,
            weights[head],
            norm=Normalize(0, vmax),
            cmap=cmap,
            allowed=allowed[head],
            gold=outlined,
            annotate=annotate,
            size=size,
        )
        label_cells(ax, source_tokens, target_tokens, None, size, FONTSIZE)
        set_title(ax, name, fontsize=10)
        if size is not None:  # a new figure: labels at its left and lower edges only
            if head % columns:
                ax.set(ylabel="", yticks=[])
            if head + columns < heads:
                ax.set(xlabel="", xticks=[])
        remember(
            ax,
            describe_attention,
            weights[head],
            source_tokens,
            target_tokens,
            title=name,
            gold=gold,
            mask=allowed[head],
        )
    if colorbar:
        colour_bar(image, list(axes), "attention weight", weights)
    return axes


def _new_axes(
    heads: int,
    columns: int,
    size: tuple[float, float],
    source_tokens: Sequence[str],
    target_tokens: Sequence[str],
    title: str | None,
) -> list[Axes]:
    width, height = size
    rows = -(-heads // columns)
    left = label_room(target_tokens, 72 * height / len(target_tokens), FONTSIZE, below=False) / 72 + 0.35
    below = label_room(source_tokens, 72 * width / len(source_tokens), FONTSIZE, below=True) / 72 + 0.35
    figure, grid = plt.subplots(
        rows,
        columns,
        squeeze=False,
        figsize=(
            columns * (width + 0.15) + left + BAR,
            rows * (height + 0.35) + below + (0.05 if title is None else 0.4),
        ),
        layout="compressed",
    )
    for ax in grid.flat[heads:]:
        ax.remove()
    if title is not None:
        figure.suptitle(title, **text_style([title]))
    return list(grid.flat[:heads])
