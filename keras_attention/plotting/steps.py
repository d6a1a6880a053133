"""The formula of attention, one panel a step."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.layout_engine import ConstrainedLayoutEngine

from .cells import CELL, as_array, check_shape, colour_bar, draw_cells, label_cells
from .description import describe_step, remember
from .fonts import text_style
from .labels import label_room

STEPS = {
    "scores": "Q Kᵀ",
    "scaled": "Q Kᵀ / √d",
    "masked": "hidden: −∞",
    "weights": "softmax",
    "output": "weights · V",
}
HIDDEN = -1e8  # scores from here down are those of hidden keys


def plot_steps(
    steps: Mapping[str, Any],
    source_tokens: Sequence[str],
    target_tokens: Sequence[str],
    title: str | None = None,
    axes: Any = None,
    annotate: bool | None = None,
    *,
    colorbar: bool | None = None,
) -> np.ndarray:
    """Draw how attention comes about: scores → scaled → masked → weights → output, for a small example.

    The three kinds of scores share one norm, so that scaling is seen; what the mask hides is hatched.

    Args:
        steps: arrays by their names, those of "scores", "scaled", "masked", "weights" (Tq, Tk) and "output"
            (Tq, Dv) that there are, for one sentence and one head; other names are passed over.
        source_tokens: Tk labels of the keys.
        target_tokens: Tq labels of the queries.
        title: shown above all panels.
        axes: as many Axes as there are steps; a new figure by default.
        annotate: write the numbers; by default if they are few and have room.
        colorbar: a bar for the scores, one for the weights and one for the output; by default only in a new
            figure.

    Returns:
        array of the Axes, in the order of the formula.

    Raises:
        ValueError: if there is no step, or a shape does not fit the tokens.

    >>> weights = {"scaled": [[0.0, 0.0]], "weights": [[0.5, 0.5]]}
    >>> [ax.get_title() for ax in plot_steps(weights, ["the", "cat"], ["chat"])]
    ['1 scaled\\nQ Kᵀ / √d', '2 weights\\nsoftmax']
    """
    arrays = {name: as_array(steps[name]) for name in STEPS if name in steps}
    if not arrays:
        given = ", ".join(steps) or "none"
        raise ValueError(f"There is no step to draw: {given} given, but {', '.join(STEPS)} are known.")
    for name, array in arrays.items():
        keys = _features(array) if name == "output" else source_tokens
        try:
            check_shape(array, keys, target_tokens)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None

    cell = None
    if axes is None:
        colorbar = True if colorbar is None else colorbar
        axes, cell = _new_axes(arrays, source_tokens, target_tokens, title)
    axes = np.asarray(axes, object).ravel()
    if len(axes) != len(arrays):
        raise ValueError(f"There are {len(axes)} Axes for {len(arrays)} steps: {', '.join(arrays)}.")

    groups = {name: {"weights": "weight", "output": "output"}.get(name, "score") for name in arrays}
    limits = {
        group: max(
            float(np.abs(np.where(_seen(arrays[name]), arrays[name], 0)).max())
            for name in arrays
            if groups[name] == group
        )
        or 1.0
        for group in groups.values()
    }
    images: dict[str, list[Any]] = {group: [] for group in limits}
    for i, (ax, (name, array)) in enumerate(zip(axes, arrays.items(), strict=True)):
        group = groups[name]
        limit = limits[group]
        size = None if cell is None else (cell * array.shape[1], cell * array.shape[0])
        image = draw_cells(
            ax,
            array,
            norm=Normalize(0, 1) if group == "weight" else Normalize(-limit, limit),
            cmap="cividis" if group == "weight" else "PuOr",
            allowed=_allowed(name, arrays),
            annotate=annotate,
            form=".2f" if limit < 10 else ".1f" if limit < 100 else ".0f",
            size=size,
        )
        images[group].append(image)
        keys = _features(array) if name == "output" else source_tokens
        label_cells(ax, keys, target_tokens, None, size, fontsize=9.0)
        ax.set_title(f"{i + 1} {name}\n{STEPS[name]}", fontsize=10)
        if name == "output":
            ax.set_xlabel("features", fontsize=9.0)
        if cell is not None and i:
            ax.set(ylabel="", yticks=[])
        if i:
            _arrow(ax)
        remember(ax, describe_step, array, target_tokens, title=name)
    if colorbar:
        for group, members in images.items():
            bar_axes = [image.axes for image in members]
            colour_bar(members[0], bar_axes, group, location="bottom", aspect=12 * len(members), pad=0.04)
    return axes


def _new_axes(
    arrays: Mapping[str, np.ndarray],
    source_tokens: Sequence[str],
    target_tokens: Sequence[str],
    title: str | None,
) -> tuple[Any, float]:
    """The Axes of a new figure, and the inches of a cell."""
    widths = [array.shape[1] for array in arrays.values()]
    rows = len(target_tokens)
    cell = min(CELL, 11 / sum(widths), 6 / rows)
    left = label_room(target_tokens, 72 * cell, 9, below=False) / 72 + 0.4
    below = label_room(source_tokens, 72 * cell, 9, below=True) / 72 + 0.3
    figure, axes = plt.subplots(
        1,
        len(arrays),
        squeeze=False,
        width_ratios=widths,
        figsize=(
            cell * sum(widths) + left + 0.35 * len(arrays),
            cell * rows + below + (1.15 if title is None else 1.55),
        ),
        layout=ConstrainedLayoutEngine(w_pad=0.12, wspace=0),
    )
    if title is not None:
        figure.suptitle(title, **text_style([title]))
    return axes, cell


def _seen(array: np.ndarray) -> np.ndarray:
    return np.isfinite(array) & (array > HIDDEN)


def _allowed(name: str, arrays: Mapping[str, np.ndarray]) -> np.ndarray | None:
    """What the mask leaves, in the panels after it."""
    if name not in ("masked", "weights") or "masked" not in arrays:
        return None
    return ~(arrays["masked"] <= HIDDEN)  # NaN is shown


def _features(array: np.ndarray) -> list[str]:
    return [str(i) for i in range(array.shape[-1])]


def _arrow(ax: Axes) -> None:
    """→ between this panel and the one before it."""
    ax.annotate(
        "→",
        xy=(0, 0.5),
        xycoords="axes fraction",
        xytext=(-8, 0),
        textcoords="offset points",
        ha="center",
        va="center",
        fontsize=14,
        color="0.35",
        in_layout=False,
        annotation_clip=False,
    )
