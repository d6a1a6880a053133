"""Attention weights as a heat map: one row for each query, one column for each key."""

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.colors import Normalize

from .cells import (
    as_array,
    as_boolean,
    check_shape,
    check_weights,
    colour_bar,
    draw_cells,
    label_cells,
    map_size,
    new_axes,
)
from .description import describe_attention, remember


def plot_attention(
    weights: Any,
    source_tokens: Sequence[str],
    target_tokens: Sequence[str],
    title: str | None = None,
    ax: Axes | None = None,
    gold: Any = None,
    annotate: bool | None = None,
    mask: Any = None,
    *,
    cmap: str = "cividis",
    vmax: float = 1.0,
    colorbar: bool | None = None,
    check: bool = True,
) -> Axes:
    """Draw the weights with which each target token (row, query) attends to each source token (column, key).

    The colours span 0 to 1, so that figures can be compared.

    Args:
        weights: array of shape (Tq, Tk), for one sentence and one head.
        source_tokens: Tk labels of the columns.
        target_tokens: Tq labels of the rows.
        title: shown above the figure, in as many lines as it needs.
        ax: the Axes to draw on; a new figure by default.
        gold: boolean (Tq, Tk), the cells a person would link; outlined.
        annotate: write each weight into its cell; by default if there are at most 144 cells and they are
            large enough.
        mask: boolean, broadcastable to (Tq, Tk), True = may be attended to; the other cells are hatched.
        cmap: a colour map of matplotlib, "Blues" for example.
        vmax: the weight of the last colour; less than 1 for long sequences, whose weights are all small.
        colorbar: add a colour bar; by default only to a new figure.
        check: warn if the weights cannot be attention: NaN, rows that do not sum to 1, negative weights,
            weights on masked cells. Rows of zeros pass, as queries that may attend to nothing have no other.

    Returns:
        the Axes; nothing is shown or saved.

    Raises:
        ValueError: if the shape of weights, gold or mask does not fit the tokens.

    >>> ax = plot_attention([[0.9, 0.1], [0.2, 0.8]], ["the", "cat"], ["le", "chat"])
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['le', 'chat']
    """
    weights = as_array(weights)
    check_shape(weights, source_tokens, target_tokens)
    allowed = as_boolean("mask", mask, weights.shape, default=True)
    outlined = as_boolean("gold", gold, weights.shape, default=False)
    if check:
        check_weights(weights, allowed)

    size = None
    if ax is None:
        colorbar = True if colorbar is None else colorbar
        size = map_size(*weights.shape)
        ax = new_axes(size, source_tokens, target_tokens, title, colorbar)
    image = draw_cells(
        ax,
        weights,
        norm=Normalize(0, vmax),
        cmap=cmap,
        allowed=allowed,
        gold=outlined,
        annotate=annotate,
        size=size,
    )
    label_cells(ax, source_tokens, target_tokens, title, size)
    if colorbar:
        colour_bar(image, ax, "attention weight")
    remember(ax, describe_attention, weights, source_tokens, target_tokens, title=title, gold=gold, mask=mask)
    return ax
