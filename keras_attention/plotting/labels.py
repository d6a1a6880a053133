"""Tokens as labels: what cannot be seen gets a sign, and label i stands at position i."""

import re
import unicodedata
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties

from .fonts import CJK, text_style

LONGEST = 24  # characters of a label
SIGNS = {" ": "␣", "\t": "⇥", "\n": "⏎"}
JOINERS = "\u200c\u200d"  # unseen, but Persian words and emoji are spelled with them


def visible(token: str) -> str:
    """A token that can be seen: blanks and unprintable characters get a sign, a long one is cut.

    >>> visible(" a"), visible(""), visible("pneumonoultramicroscopic…coniosis")
    ('␣a', '∅', 'pneumonoultramicroscopi…')
    """
    keep = JOINERS if token.strip(JOINERS) else ""
    text = "".join(SIGNS.get(c) or (c if c.isprintable() or c in keep else repr(c)[1:-1]) for c in token)
    text = text or "∅"
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def text_width(text: str, size: float) -> float:
    """About how wide a line of text is, in points."""
    marks = ("Mn", "Me", "Cf")  # accents and joiners stand upon other characters
    ems = (
        (1.0 if unicodedata.east_asian_width(c) in "WF" else 0.62)
        for c in text
        if unicodedata.category(c) not in marks
    )
    return size * sum(ems)


def wrap(text: str, size: float, width: float) -> str:
    """Break lines that are wider than `width` points, at blanks or between Chinese characters."""
    lines = []
    for line in text.split("\n"):
        current = ""
        for piece in re.findall(rf"{CJK.pattern}|\s+|(?:(?!{CJK.pattern})\S)+", line):
            if current.strip() and text_width(current + piece, size) > width:
                lines.append(current.rstrip())
                current = piece.lstrip()
            else:
                current += piece
        lines.append(current)
    return "\n".join(lines)


def label_tokens(axis: Axis, tokens: Sequence[str], cell: float, fontsize: float) -> None:
    """Label position i with token i; of a long sequence only as many as there is room for.

    Args:
        axis: the x-axis or the y-axis.
        tokens: one for each position.
        cell: points from one position to the next.
        fontsize: in points.
    """
    step = tick_step(cell, fontsize)
    positions = range(0, len(tokens), step)
    labels = [visible(tokens[i]) for i in positions]
    axis.set_ticks(positions, labels=labels, fontsize=fontsize, **text_style(labels))
    axis.set_tick_params(length=0 if step == 1 else 3)
    angle = 0.0
    if axis is axis.axes.xaxis:
        angle = label_angle(labels, cell * step, fontsize)
    if angle:
        vertical = "top" if angle < 90 else "center"
        for label in axis.get_ticklabels():
            label.set(rotation=angle, rotation_mode="anchor", ha="right", va=vertical)


def tick_step(cell: float, fontsize: float) -> int:
    """Label every, every 2nd, 5th, 10th … position, so that labels keep 1.25 lines apart."""
    apart = 1.25 * fontsize / cell
    return next(step for step in (k * 10**p for p in range(9) for k in (1, 2, 5)) if step >= apart)


def label_angle(labels: Sequence[str], cell: float, fontsize: float) -> float:
    """Degrees by which the labels below columns of `cell` points must be turned to stay apart."""
    if widest(labels, fontsize) <= 0.85 * cell:
        return 0
    return 45 if cell >= 2 * fontsize else 90


def widest(labels: Sequence[str], fontsize: float) -> float:
    return max((text_width(label, fontsize) for label in labels), default=0.0)


def label_room(tokens: Sequence[str], cell: float, fontsize: float, below: bool) -> float:
    """How far the labels reach from the axis, in points."""
    step = tick_step(cell, fontsize)
    labels = [visible(token) for token in tokens[::step]]
    angle = np.radians(label_angle(labels, cell * step, fontsize)) if below else np.pi / 2
    return float(widest(labels, fontsize) * np.sin(angle) + 1.2 * fontsize * np.cos(angle))


def set_title(ax: Axes, title: str | None, width: float | None = None, **style: Any) -> None:
    """Write the title over the Axes in lines no wider than them (or than `width` points)."""
    if title is None:
        return
    size = FontProperties(size=style.setdefault("fontsize", "large")).get_size_in_points()
    width = axes_size(ax)[0] if width is None else width
    ax.set_title(wrap(title, size, max(width, 12 * size)), **text_style([title]), **style)


def figure_of(ax: Axes) -> Figure:
    """The figure, be the Axes in a part of it."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    return figure


def axes_size(ax: Axes) -> tuple[float, float]:
    """Width and height of the Axes in points."""
    box = ax.get_window_extent()
    points = 72 / figure_of(ax).dpi
    return box.width * points, box.height * points
