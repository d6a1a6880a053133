"""What the figures share: a grid of coloured cells, one row for each query, one column for each key."""

import warnings
from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from keras import ops
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, Normalize
from matplotlib.image import AxesImage
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from keras_attention.highlight import ink

from .labels import axes_size, figure_of, label_room, label_tokens, set_title, wrap

CELL = 0.42  # inches
LARGEST = 9.0  # inches of the longer side of a map
SMALLEST = 2.0
MOST_NUMBERS = 144  # cells that are annotated without being asked
BAR_WIDTH = 11  # points
LOW = 110  # points; a map that is lower has no room for long words beside it
BAR = 0.9  # inches for a colour bar and its numbers
MASKED = {"facecolor": "0.94", "edgecolor": "0.6", "hatch": "////", "linewidth": 0}


def as_array(values: Any) -> np.ndarray:
    """Numbers of any backend, on any device, as a float array."""
    return np.asarray(ops.convert_to_numpy(values), float)


def as_boolean(name: str, values: Any, shape: tuple[int, ...], default: bool | None = None) -> np.ndarray:
    values = np.asarray(ops.convert_to_numpy(default if values is None else values))
    if values.dtype != bool:
        raise ValueError(f"{name} must be boolean, got {values.dtype}.")
    try:
        return np.broadcast_to(values, shape)
    except ValueError:
        raise ValueError(f"{name} has shape {values.shape}, the weights have {shape}.") from None


def check_shape(weights: np.ndarray, source_tokens: Sequence[str], target_tokens: Sequence[str]) -> None:
    for name, listed in (("source", source_tokens), ("target", target_tokens)):
        if isinstance(listed, str):
            raise ValueError(f"{name}_tokens is the string {listed!r}, but a list of tokens is needed.")
    if weights.ndim != 2:
        raise ValueError(
            f"weights must be of shape (target tokens, source tokens), got {weights.shape}: "
            "choose one sentence and one head."
        )
    shape = (len(target_tokens), len(source_tokens))
    for got, tokens, name, side in zip(
        weights.shape, shape, ("target", "source"), ("rows", "columns"), strict=True
    ):
        if got != tokens:
            raise ValueError(f"weights have {got} {side} but there are {tokens} {name} tokens.")
    if not weights.size:
        raise ValueError(f"weights are empty: {shape[0]} target and {shape[1]} source tokens.")


def check_weights(weights: np.ndarray, allowed: np.ndarray, stacklevel: int = 3) -> None:
    """Warn of what softmax cannot give: NaN, sums other than 1, negative or masked weights."""

    def warn(message: str) -> None:
        warnings.warn(message, stacklevel=stacklevel + 1)

    bad = ~np.isfinite(weights)
    if bad.any():
        kinds = " and ".join(k for k, f in (("NaN", np.isnan), ("infinity", np.isinf)) if f(weights).any())
        warn(f"{kinds} among the weights of {_rows(bad.any(axis=1))}, drawn in red.")
    if (weights < -1e-6).any():
        warn(f"Weights of {_rows((weights < -1e-6).any(axis=1))} are negative: are these scores?")
    sums = np.where(bad.any(axis=1), 1, np.where(bad, 0, weights).sum(axis=1))
    wrong = (np.abs(sums - 1) > 0.02) & (sums != 0)
    if wrong.any():
        warn(
            f"Weights of {_rows(wrong)} do not sum to 1 (the first to {sums[wrong][0]:.2f}): was dropout "
            "active, a part cut off, or the softmax over another axis?"
        )
    hidden = (np.abs(np.where(allowed, 0, weights)) > 1e-6).any(axis=1)
    if hidden.any():
        warn(f"Weights of {_rows(hidden)} are not zero where the mask forbids them.")


def _rows(chosen: Any) -> str:
    """ "row 3", "rows 1, 3, 4, … (9 in all)" """
    rows = np.flatnonzero(chosen)
    listed = ", ".join(map(str, rows[:3]))
    if len(rows) > 3:
        return f"rows {listed}, … ({len(rows)} in all)"
    return f"row{'s' if len(rows) > 1 else ''} {listed}"


def map_size(rows: int, columns: int, largest: float = LARGEST) -> tuple[float, float]:
    """Width and height in inches of a map whose cells are square, unless that made it a thread."""
    longest = max(rows, columns)
    cell = float(np.clip(CELL, SMALLEST / longest, largest / longest))
    if is_square(rows, columns):
        return cell * columns, cell * rows
    return max(cell * columns, SMALLEST), max(cell * rows, SMALLEST)


def title_width(size: tuple[float, float]) -> float:
    """Points that a title may take above a map of a new figure: a little more than the map."""
    return 72 * (max(size[0], SMALLEST) + 0.6)


def is_square(rows: int, columns: int) -> bool:
    return min(rows, columns) / max(rows, columns) >= 1 / 40


def new_axes(
    size: tuple[float, float],
    source_tokens: Sequence[str],
    target_tokens: Sequence[str],
    title: str | None,
    bar: bool,
) -> Axes:
    """The Axes of a new figure around a map of this size, in inches."""
    width, height = size
    fontsize = plt.rcParams["font.size"]
    left = label_room(target_tokens, 72 * height / len(target_tokens), fontsize, below=False) / 72 + 0.45
    below = label_room(source_tokens, 72 * width / len(source_tokens), fontsize, below=True) / 72 + 0.45
    lines = 0 if title is None else 1 + wrap(title, 1.2 * fontsize, title_width(size)).count("\n")
    figsize = (width + left + (BAR if bar else 0.1), height + below + 0.1 + 0.25 * lines)
    return plt.subplots(figsize=figsize, layout="compressed")[1]


def draw_cells(
    ax: Axes,
    values: np.ndarray,
    *,
    norm: Normalize,
    cmap: str | Colormap,
    allowed: np.ndarray | None = None,
    gold: np.ndarray | None = None,
    annotate: bool | None = None,
    form: str = ".2f",
    size: tuple[float, float] | None = None,
) -> AxesImage:
    """Colour the cells, hatch those that are not allowed, outline the gold ones, write the numbers.

    Args:
        ax: where to draw.
        values: (rows, columns).
        norm, cmap: how values become colours; NaN is red.
        allowed: boolean, as the values; the other cells are hatched.
        gold: boolean, as the values; these cells are outlined.
        annotate: write the values; by default if there are at most 144 and the cells are large enough.
        form: format of the numbers.
        size: inches of the map; by default what the Axes measure now.
    """
    rows, columns = values.shape
    allowed = np.ones((rows, columns), bool) if allowed is None else allowed
    width, height = cell_points(ax, rows, columns, size)
    colours = plt.get_cmap(cmap).with_extremes(bad="tab:red")
    image = ax.imshow(
        np.where(allowed, np.where(np.isfinite(values), values, np.nan), 0),
        cmap=colours,
        norm=norm,
        aspect="equal" if is_square(rows, columns) else "auto",
        interpolation="nearest",
    )
    ax.spines[:].set_visible(False)
    hatch(ax, ~allowed)
    if min(width, height) > 8:  # points
        separate(ax, rows, columns)
    if gold is not None:
        outline(ax, gold)
    small = 0.83 * plt.rcParams["font.size"]
    readable = values.size <= MOST_NUMBERS and width > 2.9 * small and height > 1.3 * small
    if annotate or (annotate is None and readable):
        write_numbers(ax, image, values, allowed, form)
    return image


def cell_points(
    ax: Axes, rows: int, columns: int, size: tuple[float, float] | None = None
) -> tuple[float, float]:
    """Width and height of a cell in points."""
    width, height = axes_size(ax) if size is None else (72 * size[0], 72 * size[1])
    width, height = width / columns, height / rows
    return (min(width, height),) * 2 if is_square(rows, columns) else (width, height)


def hatch(ax: Axes, cells: np.ndarray) -> None:
    """Cover `cells` by one patch, made of a rectangle for each run of cells in a row."""
    rectangles = []
    for row, line in enumerate(cells):
        edges = np.flatnonzero(np.diff(line, prepend=False, append=False))
        for left, right in edges.reshape(-1, 2) - 0.5:
            top, bottom = row - 0.5, row + 0.5
            corners = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]
            rectangles.append(Path(corners, closed=True))
    if rectangles:
        ax.add_patch(PathPatch(Path.make_compound_path(*rectangles), **MASKED))


def separate(ax: Axes, rows: int, columns: int) -> None:
    """White lines between the cells."""
    ax.vlines(np.arange(1, columns) - 0.5, -0.5, rows - 0.5, color="white", linewidth=0.8)
    ax.hlines(np.arange(1, rows) - 0.5, -0.5, columns - 0.5, color="white", linewidth=0.8)
    ax.set(xlim=(-0.5, columns - 0.5), ylim=(rows - 0.5, -0.5))


def outline(ax: Axes, cells: np.ndarray) -> None:
    """A frame just inside each cell, white on black, so that it is seen on any colour."""
    rectangles = [
        Path(np.array([(-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1)]) * 0.44 + (column, row), closed=True)
        for row, column in np.argwhere(cells)
    ]
    if rectangles:
        path = Path.make_compound_path(*rectangles)
        ax.add_patch(PathPatch(path, fill=False, edgecolor="black", linewidth=3.5, label="gold"))
        ax.add_patch(PathPatch(path, fill=False, edgecolor="white", linewidth=1.5))


def write_numbers(
    ax: Axes, image: AxesImage, values: np.ndarray, allowed: np.ndarray, form: str = ".2f"
) -> None:
    """The value of each allowed cell, black or white, whichever can be read on its colour."""
    for row, column in np.argwhere(allowed & np.isfinite(values)).tolist():
        value = values[row, column]
        colour = ink(image.to_rgba(value, bytes=True)[:3])
        ax.text(column, row, number(value, form), ha="center", va="center", color=colour, fontsize="small")


def number(value: float, form: str = ".2f") -> str:
    """The number with a true minus sign, and none before zero."""
    text = format(value, form).replace("-", "−")
    return text.removeprefix("−").removeprefix("+") if not text.strip("−+0.") else text


def label_cells(
    ax: Axes,
    source_tokens: Sequence[str],
    target_tokens: Sequence[str],
    title: str | None,
    size: tuple[float, float] | None = None,
    fontsize: float | None = None,
) -> None:
    """Tokens beside the rows and below the columns, the names of the axes, the title."""
    width, height = cell_points(ax, len(target_tokens), len(source_tokens), size)
    fontsize = plt.rcParams["font.size"] if fontsize is None else fontsize
    label_tokens(ax.xaxis, source_tokens, width, fontsize)
    label_tokens(ax.yaxis, target_tokens, height, fontsize)
    ax.set_xlabel("source (keys)", fontsize=fontsize)
    low = height * len(target_tokens) < LOW
    ax.set_ylabel("target" if low else "target (queries)", fontsize=fontsize)
    set_title(ax, title, None if size is None else title_width(size))


def colour_bar(image: AxesImage, ax: Any, label: str, values: Any = None, **options: Any) -> None:
    """One bar for all Axes in `ax`, with an arrow where `values` go beyond it; by default the image's."""
    drawn: Any = image.get_array() if values is None else values
    low, high = image.get_clim()
    below, above = (np.any(np.ma.getdata(x) > 1e-6) for x in (low - drawn, drawn - high))
    options["extend"] = ("both" if above else "min") if below else ("max" if above else "neither")
    if "location" not in options:  # beside the map
        boxes = [each.get_window_extent() for each in np.ravel(ax)]
        height = (
            (max(box.y1 for box in boxes) - min(box.y0 for box in boxes)) * 72 / figure_of(image.axes).dpi
        )
        options["aspect"] = max(height / BAR_WIDTH, 1)
        if height < LOW:
            label = label.rsplit(" ", 1)[-1]
    bar = figure_of(image.axes).colorbar(image, ax=ax, label=label, **{"pad": 0.02, **options})
    bar.outline.set_visible(False)
