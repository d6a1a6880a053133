"""A matplotlib Axes as data, so that a check can look at a drawing."""

import sys
from typing import Any


def is_axes(value: Any) -> bool:
    axes = sys.modules.get("matplotlib.axes")
    return axes is not None and isinstance(value, axes.Axes)


def describe(ax: Any) -> dict[str, Any]:
    """What somebody sees: the image with its limits, each tick with its label, titles, colours."""
    ax.figure.canvas.draw()
    return {
        "title": ax.get_title(),
        "xlabel": ax.get_xlabel(),
        "ylabel": ax.get_ylabel(),
        "xticks": _ticks(ax.xaxis),
        "yticks": _ticks(ax.yaxis),
        "images": [_image(image) for image in ax.get_images()],
        "meshes": [_mesh(mesh) for mesh in ax.collections if hasattr(mesh, "get_coordinates")],
        "inverted": {"x": bool(ax.xaxis_inverted()), "y": bool(ax.yaxis_inverted())},
        "top": ax.xaxis.get_ticks_position() == "top",
        "texts": [text.get_text() for text in ax.texts],
        "axes": len(ax.figure.axes),  # 2 with a colour bar
    }


def _ticks(axis: Any) -> list[dict[str, Any]]:
    """Where each visible label stands, in data units."""
    low, high = sorted(axis.get_view_interval())
    ticks = zip(axis.get_majorticklocs(), axis.get_majorticklabels(), strict=False)
    return [
        {"at": float(at), "label": label.get_text()}
        for at, label in ticks
        if low <= at <= high and label.get_text()
    ]


def _image(image: Any) -> dict[str, Any]:
    return {
        "values": image.get_array().filled(float("nan")),
        "extent": [float(edge) for edge in image.get_extent()],
        "origin": image.origin,
        "colors": image.get_cmap().name,
        "limits": [float(limit) for limit in image.get_clim()],
    }


def _mesh(mesh: Any) -> dict[str, Any]:
    return {
        "values": mesh.get_array().filled(float("nan")),
        "coordinates": mesh.get_coordinates(),
        "colors": mesh.get_cmap().name,
        "limits": [float(limit) for limit in mesh.get_clim()],
    }
