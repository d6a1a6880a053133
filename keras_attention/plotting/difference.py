"""How attention changed, from one layer, model or moment to another."""

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
from .description import describe_difference, remember


def plot_difference(
    before: Any,
    after: Any,
    source_tokens: Sequence[str],
    target_tokens: Sequence[str],
    title: str | None = None,
    ax: Axes | None = None,
    annotate: bool | None = None,
    mask: Any = None,
    *,
    names: tuple[str, str] = ("before", "after"),
    cmap: str = "PuOr",
    vmax: float = 1.0,
    colorbar: bool | None = None,
    check: bool = True,
) -> Axes:
    """Draw after − before: purple where attention grew, orange where it fell, white where it stayed.

    The colours span −1 to 1, so that a small difference looks small.

    Args:
        before, after: arrays of shape (Tq, Tk), for one sentence and one head.
        source_tokens, target_tokens, title, ax, annotate, mask, colorbar: as in `plot_attention`.
        names: what the two are called beside the colours.
        cmap: a diverging colour map of matplotlib.
        vmax: the difference of the last colour, on both sides.
        check: warn if either cannot be attention weights.

    Returns:
        the Axes; nothing is shown or saved.

    Raises:
        ValueError: if the shapes do not fit each other or the tokens.

    >>> ax = plot_difference([[1.0, 0.0]], [[0.4, 0.6]], ["the", "cat"], ["chat"])
    >>> [text.get_text() for text in ax.texts]
    ['−0.60', '+0.60']
    """
    before, after = as_array(before), as_array(after)
    if before.shape != after.shape:
        raise ValueError(f"The weights before have shape {before.shape}, those after {after.shape}.")
    check_shape(after, source_tokens, target_tokens)
    allowed = as_boolean("mask", mask, after.shape, default=True)
    if check:
        check_weights(before, allowed)
        check_weights(after, allowed)

    size = None
    if ax is None:
        colorbar = True if colorbar is None else colorbar
        size = map_size(*after.shape)
        ax = new_axes(size, source_tokens, target_tokens, title, colorbar)
    image = draw_cells(
        ax,
        after - before,
        norm=Normalize(-vmax, vmax),
        cmap=cmap,
        allowed=allowed,
        annotate=annotate,
        form="+.2f",
        size=size,
    )
    label_cells(ax, source_tokens, target_tokens, title, size)
    if colorbar:
        colour_bar(image, ax, f"{names[1]} − {names[0]}")
    options = {"title": title, "names": names, "mask": mask}
    remember(ax, describe_difference, before, after, source_tokens, target_tokens, **options)
    return ax
