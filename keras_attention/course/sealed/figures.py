"""A matplotlib Axes as data, so that a check can look at a drawing."""

import sys
from contextlib import suppress
from dataclasses import dataclass, fields
from typing import Any, get_origin

import numpy as np


@dataclass(frozen=True)
class Drawing:
    """A heat map as somebody sees it, from the top and from the left.

    Args:
        title, xlabel, ylabel: the words around it.
        cells: the numbers that are coloured, (rows, columns), NaN where a cell is blank; (0, 0) if the Axes
            show no image.
        rows, columns: the label at the middle of each row, and of each column; "" where there is none.
        cmap: the name of the colour map.
        norm: how numbers become colours; "Normalize" is linear.
        limits: the numbers of the first and of the last colour, (2,).
        colorbar: whether the figure has a colour bar of this colour map and these limits.
        blank: how far the colour of a blank cell is from those of the colour map; at most 1, 0 if it is one.
        panels: the titles of all Axes in the figure that have one.
    """

    title: str
    xlabel: str
    ylabel: str
    cells: np.ndarray
    rows: list[str]
    columns: list[str]
    cmap: str
    norm: str
    limits: np.ndarray
    colorbar: bool
    blank: float
    panels: list[str]

    def __post_init__(self) -> None:
        for field in fields(self):
            value, kind = getattr(self, field.name), get_origin(field.type) or field.type
            if type(value) is not kind or (kind is list and {*map(type, value)} - {str}):
                raise TypeError(f"{field.name} is of another type.")


def is_axes(value: Any) -> bool:
    axes = sys.modules.get("matplotlib.axes")
    return axes is not None and isinstance(value, axes.Axes)


def describe(ax: Any) -> Drawing:
    """What the Axes show; of several images the last, which lies on top."""
    words = _title(ax), ax.get_xlabel(), ax.get_ylabel()
    others = ax.get_figure(root=True).axes
    panels = list(filter(None, map(_title, others)))
    meshes = [mesh for mesh in ax.collections if hasattr(mesh, "get_coordinates")]
    images = [*ax.get_images(), *meshes]
    if not images:
        return Drawing(*words, np.zeros((0, 0)), [], [], "", "", np.zeros(2), False, 0.0, panels)
    image = images[-1]
    image.autoscale_None()
    cells = np.ma.filled(np.ma.asarray(image.get_array()).astype("float64"), np.nan)
    x, y = _mesh_edges(image) if image in meshes else _image_edges(image, *cells.shape[:2])
    from_left, from_top = _order(x, ax.xaxis_inverted()), _order(y, not ax.yaxis_inverted())
    rows, columns = _labels(ax.yaxis, y), _labels(ax.xaxis, x)
    cmap, norm, *limits = _colours(image)
    bars = [other._colorbar for other in others if hasattr(other, "_colorbar")]
    return Drawing(
        *words,
        cells[from_top][:, from_left],
        [rows[i] for i in from_top],
        [columns[i] for i in from_left],
        cmap,
        norm,
        np.array(limits, "float64"),
        any(_colours(bar.mappable) == _colours(image) for bar in bars),
        _blank(ax, image),
        panels,
    )


def close_all() -> None:
    """Let go of the figures that pyplot keeps."""
    pyplot: Any = sys.modules.get("matplotlib.pyplot")
    with suppress(Exception):  # a submission may have put anything there
        pyplot.close("all")


def _title(ax: Any) -> str:
    return next(filter(None, (ax.get_title(loc=where) for where in ("center", "left", "right"))), "")


def _colours(mappable: Any) -> tuple[Any, ...]:
    return mappable.get_cmap().name, type(mappable.norm).__name__, *mappable.get_clim()


def _blank(ax: Any, image: Any) -> float:
    cmap = image.get_cmap()
    *colour, opaque = cmap.get_bad()
    shown = opaque * np.array(colour) + (1 - opaque) * np.array(ax.get_facecolor()[:3])
    return float(np.abs(cmap(np.linspace(0, 1, 256))[:, :3] - shown).max(axis=1).min())


def _image_edges(image: Any, rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Where the columns and the rows of the array begin and end, in data units."""
    left, right, bottom, top = image.get_extent()
    first, last = (top, bottom) if image.origin == "upper" else (bottom, top)
    return np.linspace(left, right, columns + 1), np.linspace(first, last, rows + 1)


def _mesh_edges(mesh: Any) -> tuple[np.ndarray, np.ndarray]:
    corners = mesh.get_coordinates()  # (rows + 1, columns + 1, 2)
    return corners[0, :, 0], corners[:, 0, 1]


def _order(edges: np.ndarray, backwards: bool) -> np.ndarray:
    order = np.argsort(edges[:-1] + edges[1:])
    return order[::-1] if backwards else order


def _labels(axis: Any, edges: np.ndarray) -> list[str]:
    """The visible label within a quarter of a cell of the middle of each cell."""
    low, high = sorted(axis.get_view_interval())
    shown = axis.get_visible() and axis.axes.axison
    ticks = list(zip(axis.get_majorticklocs(), axis.get_majorticklabels(), strict=False)) if shown else []
    ticks = [(at, label) for at, label in ticks if low <= at <= high]
    middles, reach = (edges[:-1] + edges[1:]) / 2, np.abs(np.diff(edges)) / 4
    return [
        "".join(label.get_text() for at, label in ticks if abs(at - middle) <= near)
        for middle, near in zip(middles, reach, strict=True)
    ]
