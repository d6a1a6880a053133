"""Attention weights as a heat map: one row for each query, one column for each key."""

import warnings
from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from .fonts import text_style

LONGEST_LABEL = 24  # characters


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
    colorbar: bool | None = None,
    check: bool = True,
) -> Axes:
    """Draw the weights with which each target token (row, query) attends to each source token (column, key).

    The colours always span 0 to 1, so that figures can be compared.

    Args:
        weights: array of shape (Tq, Tk), for one sentence and one head.
        source_tokens: Tk labels of the columns.
        target_tokens: Tq labels of the rows.
        title: shown above the figure.
        ax: the Axes to draw on; a new figure by default.
        gold: boolean (Tq, Tk), the cells a person would link; outlined.
        annotate: write each weight into its cell; by default if there are at most 100 cells.
        mask: boolean, broadcastable to (Tq, Tk), True = may be attended to; the other cells are hatched.
        cmap: a colour map of matplotlib, "Blues" for example.
        colorbar: add a colour bar; by default only to a new figure.
        check: warn if the weights cannot be attention: NaN, rows that do not sum to 1, weights on masked
            cells. Rows of zeros pass, as queries that may attend to nothing have no other.

    Returns:
        the Axes; nothing is shown or saved.

    Raises:
        ValueError: if the shape of weights, gold or mask does not fit the tokens.
    """
    weights = np.asarray(weights, float)
    shape = (len(target_tokens), len(source_tokens))
    _check_shape(weights, shape)
    allowed = _boolean("mask", True if mask is None else mask, shape)
    outlined = _boolean("gold", False if gold is None else gold, shape)
    if check:
        _check_weights(weights, allowed)

    if ax is None:
        width, height = (float(np.clip(0.45 * n, 2.5, 12)) + 1.5 for n in (shape[1], shape[0]))
        ax = plt.subplots(figsize=(width, height), layout="constrained")[1]
        colorbar = True if colorbar is None else colorbar
    colours = plt.get_cmap(cmap).with_extremes(bad="tab:red")
    square = 1 / 4 <= shape[0] / shape[1] <= 4
    image = ax.imshow(
        np.where(allowed, weights, 0),
        cmap=colours,
        vmin=0,
        vmax=1,
        aspect="equal" if square else "auto",
        interpolation="nearest",
    )
    _fill(ax, ~allowed, facecolor="0.9", edgecolor="0.6", hatch="////", linewidth=0)
    _outline(ax, outlined)
    if annotate or (annotate is None and weights.size <= 100):
        for row, column in np.argwhere(allowed & ~np.isnan(weights)):
            red, green, blue, _ = colours(weights[row, column])
            dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
            ax.text(
                column,
                row,
                f"{weights[row, column]:.2f}",
                ha="center",
                va="center",
                color="white" if dark else "black",
                fontsize="small",
            )

    _label(ax.xaxis, source_tokens, rotation=90 if max(map(len, source_tokens)) > 1 else 0)
    _label(ax.yaxis, target_tokens)
    ax.set_xlabel("source (keys)")
    ax.set_ylabel("target (queries)")
    if title is not None:
        ax.set_title(title, **text_style([title]))
    if colorbar:
        ax.figure.colorbar(image, ax=ax, label="attention weight")
    return ax


def _check_shape(weights: np.ndarray, shape: tuple[int, int]) -> None:
    if weights.ndim != 2:
        raise ValueError(
            f"weights must be of shape (target tokens, source tokens), got {weights.shape}: "
            "choose one sentence and one head."
        )
    for got, tokens, name, side in zip(
        weights.shape, shape, ("target", "source"), ("rows", "columns"), strict=True
    ):
        if got != tokens:
            raise ValueError(f"weights have {got} {side} but there are {tokens} {name} tokens.")
    if not weights.size:
        raise ValueError(f"weights are empty: {shape[0]} target and {shape[1]} source tokens.")


def _boolean(name: str, values: Any, shape: tuple[int, int]) -> np.ndarray:
    values = np.asarray(values)
    if values.dtype != bool:
        raise ValueError(f"{name} must be boolean, got {values.dtype}.")
    try:
        return np.broadcast_to(values, shape)
    except ValueError:
        raise ValueError(f"{name} has shape {values.shape}, the weights have {shape}.") from None


def _check_weights(weights: np.ndarray, allowed: np.ndarray) -> None:
    if np.isnan(weights).any():
        rows = np.flatnonzero(np.isnan(weights).any(axis=1))
        warnings.warn(f"NaN among the weights of {_rows(rows)}, drawn in red.", stacklevel=3)
    sums = weights.sum(axis=1)
    wrong = np.flatnonzero((np.abs(sums - 1) > 0.02) & (sums != 0))
    if len(wrong):
        warnings.warn(
            f"Weights of {_rows(wrong)} do not sum to 1 (the first to {sums[wrong[0]]:.2f}): was dropout "
            "active, a part cut off, or the softmax over another axis?",
            stacklevel=3,
        )
    hidden = np.where(allowed, 0, weights)
    if (np.abs(hidden) > 1e-6).any():
        rows = np.flatnonzero((np.abs(hidden) > 1e-6).any(axis=1))
        warnings.warn(f"Weights of {_rows(rows)} are not zero where the mask forbids them.", stacklevel=3)


def _rows(rows: np.ndarray) -> str:
    """ "row 3", "rows 1, 3, 4, … (9 in all)" """
    listed = ", ".join(map(str, rows[:3]))
    if len(rows) > 3:
        return f"rows {listed}, … ({len(rows)} in all)"
    return f"row{'s' if len(rows) > 1 else ''} {listed}"


def _fill(ax: Axes, cells: np.ndarray, **style: Any) -> None:
    """Cover `cells` by one patch, made of a rectangle for each run of cells in a row."""
    rectangles = []
    for row, line in enumerate(cells):
        edges = np.flatnonzero(np.diff(line, prepend=False, append=False))
        for left, right in edges.reshape(-1, 2) - 0.5:
            top, bottom = row - 0.5, row + 0.5
            corners = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]
            rectangles.append(Path(corners, closed=True))
    if rectangles:
        ax.add_patch(PathPatch(Path.make_compound_path(*rectangles), **style))


def _outline(ax: Axes, cells: np.ndarray) -> None:
    """A frame just inside each cell, white on black, so that it is seen on any colour."""
    rectangles = [
        Path(np.array([(-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1)]) * 0.44 + (column, row), closed=True)
        for row, column in np.argwhere(cells)
    ]
    if rectangles:
        path = Path.make_compound_path(*rectangles)
        ax.add_patch(PathPatch(path, fill=False, edgecolor="black", linewidth=3.5))
        ax.add_patch(PathPatch(path, fill=False, edgecolor="white", linewidth=1.5))


def _label(axis: Axis, tokens: Sequence[str], rotation: float = 0) -> None:
    """Label position i with token i; of a long sequence only as many as there is room for."""
    ax = axis.axes
    size = ax.get_window_extent().width if axis is ax.xaxis else ax.get_window_extent().height
    room = size / ax.figure.dpi * 72 / (1.2 * plt.rcParams["font.size"])
    positions = range(0, len(tokens), max(1, int(np.ceil(len(tokens) / room))))
    labels = [_visible(tokens[i]) for i in positions]
    axis.set_ticks(positions, labels=labels, rotation=rotation, **text_style(labels))


def _visible(token: str) -> str:
    """A token that can be seen: blanks and unprintable characters get a sign, a long one is cut."""
    signs = {" ": "␣", "\t": "⇥", "\n": "⏎"}
    text = "".join(signs.get(c) or (c if c.isprintable() else repr(c)[1:-1]) for c in token) or "∅"
    return text if len(text) <= LONGEST_LABEL else text[: LONGEST_LABEL - 1] + "…"
