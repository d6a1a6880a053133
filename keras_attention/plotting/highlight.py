"""A text whose words are coloured by their weights."""

import unicodedata
from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import Normalize
from matplotlib.transforms import Affine2D, ScaledTranslation, Transform

from keras_attention.highlight import ink

from .cells import MASKED, as_array, as_boolean, check_weights
from .description import describe_highlight, remember
from .fonts import text_style
from .labels import axes_size, figure_of, set_title, visible, wrap

WIDTH = 6.5  # inches of the text in a new figure
FONTSIZE = 11.0  # points, where there is room
MOST_NUMBERS = 60  # tokens whose weights are written without being asked


def plot_highlight(
    tokens: Sequence[str],
    weights: Any,
    title: str | None = None,
    ax: Axes | None = None,
    gold: Any = None,
    annotate: bool | None = None,
    mask: Any = None,
    *,
    cmap: str = "Blues",
    vmax: float | None = None,
    colorbar: bool | None = None,
    check: bool = True,
) -> Axes:
    """Write a text with each token on the colour of its weight, as a classifier's pooling gave it.

    Lines break at the width of the Axes; a text whose first letter is written from right to left runs so.

    Args:
        tokens: T tokens.
        weights: array of shape (T,), for one text and one head.
        title: shown above the text.
        ax: the Axes to write on; a new figure by default.
        gold: boolean (T,), the tokens a person would mark; underlined.
        annotate: write each weight below its token; by default if there are at most 60 tokens.
        mask: boolean (T,), True = may be attended to; the other tokens are hatched.
        cmap: a colour map of matplotlib whose first colour is light.
        vmax: the weight of the last colour; by default the largest weight, or 4 times the mean where that
            is more, so that a text whose words weigh the same stays pale.
        colorbar: add a colour bar; by default only to a new figure.
        check: warn if the weights cannot be attention: NaN, a sum other than 1, negative, on masked tokens.

    Returns:
        the Axes; nothing is shown or saved.

    Raises:
        ValueError: if the shape of weights, gold or mask does not fit the tokens.

    >>> ax = plot_highlight(["not", "bad"], [0.75, 0.25])
    >>> [text.get_text() for text in ax.texts]
    ['not', '.75', 'bad', '.25']
    """
    if isinstance(tokens, str):
        raise ValueError(f"tokens is the string {tokens!r}, but a list of tokens is needed.")
    weights = as_array(weights)
    if weights.ndim != 1:
        raise ValueError(
            f"weights must be of shape (tokens,), got {weights.shape}: choose one text and head."
        )
    if len(weights) != len(tokens):
        raise ValueError(f"There are {len(weights)} weights but {len(tokens)} tokens.")
    if not len(tokens):
        raise ValueError("There is no token to highlight.")
    allowed = as_boolean("mask", mask, weights.shape, default=True)
    marked = as_boolean("gold", gold, weights.shape, default=False)
    if check:
        check_weights(weights[None], allowed[None])

    usable = weights[allowed & np.isfinite(weights)]
    if vmax is None:
        vmax = min(1.0, max(usable.max(), 4 * usable.mean())) if usable.any() else 1.0
    annotate = len(tokens) <= MOST_NUMBERS if annotate is None else annotate
    colours = ScalarMappable(Normalize(0, vmax), plt.get_cmap(cmap).with_extremes(bad="tab:red"))
    labels = [visible(token) for token in tokens]
    style = text_style(labels)

    new = ax is None
    if ax is None:
        colorbar = True if colorbar is None else colorbar
        ax = plt.figure(figsize=(WIDTH + 0.3, 2)).add_axes((0, 0, 1, 1))
    ax.set_axis_off()
    if colorbar:
        _bar(ax, colours, new)
    width, height = axes_size(ax)
    if new:
        width, height = 72 * WIDTH, np.inf
    widths = _widths(ax, labels, style)
    size, places, length = _fit(widths, width, height, annotate)
    if new:
        _resize(ax, length, title, bool(colorbar))
    if _right_to_left(labels):
        places = [(width - x - w * size, y) for (x, y), w in zip(places, widths, strict=True)]

    points = _points(ax)
    lines = []
    for label, weight, seen, is_gold, (x, y), w in zip(
        labels, weights, allowed, marked, places, widths * size, strict=True
    ):
        colour = colours.to_rgba(weight)
        box = {"facecolor": colour, "edgecolor": "none"} if seen else MASKED
        ax.text(
            x + w / 2,
            y,
            label,
            transform=points,
            ha="center",
            va="baseline",
            fontsize=size,
            color=ink(colours.to_rgba(weight, bytes=True)[:3]) if seen else "0.35",
            bbox={"boxstyle": "square,pad=0.25", **box},
            **style,
        )
        if is_gold:
            lines.append([(x - 0.25 * size, y - 0.55 * size), (x + w + 0.25 * size, y - 0.55 * size)])
        if annotate and seen:
            number = f"{weight:.2f}".removeprefix("0")
            place = {"x": x + w / 2, "y": y - 1.25 * size, "ha": "center", "va": "baseline"}
            ax.text(s=number, transform=points, fontsize=0.65 * size, color="0.35", **place)
    if lines:
        style = {"colors": "tab:orange", "linewidths": 2.5, "capstyle": "butt", "zorder": 4}
        ax.add_collection(LineCollection(lines, transform=points, clip_on=False, **style), autolim=False)
    set_title(ax, title, 72 * WIDTH if new else None, loc="left" if new else "center")
    remember(ax, describe_highlight, tokens, weights, title=title, gold=gold, mask=mask)
    return ax


def _widths(ax: Axes, labels: Sequence[str], style: dict[str, Any]) -> np.ndarray:
    """How wide each label is, in font sizes."""
    ruler = ax.text(0, 0, "", fontsize=FONTSIZE, **style)
    known: dict[str, float] = {}
    for label in labels:
        if label not in known:
            ruler.set_text(label)
            known[label] = ruler.get_window_extent().width * 72 / figure_of(ax).dpi / FONTSIZE
    ruler.remove()
    return np.array([known[label] for label in labels])


def _fit(
    widths: np.ndarray, width: float, height: float, annotate: bool
) -> tuple[float, list[tuple[float, float]], float]:
    """The largest font size whose lines fit, the places of the tokens, and how far down they reach."""
    for size in np.arange(FONTSIZE, 4.9, -0.5):
        places, length = _flow(widths * size, size, width, annotate)
        if length <= height:
            break
    return float(size), places, length


def _flow(
    widths: np.ndarray, size: float, width: float, annotate: bool
) -> tuple[list[tuple[float, float]], float]:
    """(x, y) of each token's baseline in points from the top left corner, as words flow in lines."""
    gap, leading = 0.75 * size, (2.75 if annotate else 1.8) * size
    places, x, y = [], 0.25 * size, -1.3 * size
    for w in widths:
        if x + w > width and x > size:
            x, y = 0.25 * size, y - leading
        places.append((float(x), float(y)))
        x += w + gap
    return places, (1.5 if annotate else 0.6) * size - y


def _right_to_left(labels: Sequence[str]) -> bool:
    strong = (unicodedata.bidirectional(c) for label in labels for c in label)
    return next((kind for kind in strong if kind in ("L", "R", "AL")), "L") != "L"


def _points(ax: Axes, corner: tuple[float, float] = (0, 1)) -> Transform:
    """Points on paper from a corner of the Axes, whatever their size and limits."""
    origin: Any = ax.transAxes
    return Affine2D().scale(1 / 72) + figure_of(ax).dpi_scale_trans + ScaledTranslation(*corner, origin)


def _bar(ax: Axes, colours: ScalarMappable, new: bool) -> None:
    """A colour bar below the text, 200 by 6 points in a new figure."""
    place: dict[str, Any] = (
        {"cax": ax.inset_axes((4, -16, 200, 6), transform=_points(ax, (0, 0)))} if new else {"ax": ax}
    )
    bar = figure_of(ax).colorbar(colours, orientation="horizontal", **place)
    bar.outline.set_visible(False)
    bar.ax.locator_params(nbins=5)
    bar.ax.tick_params(labelsize="small")
    bar.set_label("attention weight", fontsize="small")


def _resize(ax: Axes, length: float, title: str | None, bar: bool) -> None:
    """Make the figure as high as its lines, and the title and bar about them."""
    lines = 0 if title is None else wrap(title, 12, 72 * WIDTH).count("\n") + 1
    above, below = 0.1 + 0.25 * lines, 0.7 if bar else 0.1
    height = length / 72 + above + below
    figure_of(ax).set_size_inches(WIDTH + 0.3, height)
    ax.set_position((0.15 / (WIDTH + 0.3), below / height, WIDTH / (WIDTH + 0.3), length / 72 / height))
