"""Save figures with their alt text inside the file."""

import io
from pathlib import Path
from typing import Any, BinaryIO
from xml.sax.saxutils import escape

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .description import description_of
from .labels import figure_of


def save_figure(
    figure: Figure | Axes,
    path: str | Path | BinaryIO,
    *,
    title: str | None = None,
    description: str | None = None,
    language: str = "en",
    dpi: float = 150,
    **options: Any,
) -> str:
    """Save a figure as PNG, SVG, PDF or another format; title and alt text go into the first three.

    PNG keeps them as "Title" and "Description", SVG as <title> and <desc>, which screen readers read aloud,
    and in its metadata, PDF as title and subject. SVG text is saved as outlines, which need no font.

    Args:
        figure: a figure, or any Axes of it.
        path: a file's name, which ends in the format, or a binary file, whose format is an option.
        title: by default the titles of the Axes.
        description: alt text; by default `describe_attention` and its like of all that this package drew.
        language: of the default description, "en" or "zh".
        dpi: pixels an inch of PNG.
        **options: others of `Figure.savefig`.

    Returns:
        the description, for the alt attribute of a page. The figure stays open.

    Raises:
        ValueError: if the format or the language is unknown.

    >>> from keras_attention.plotting import plot_attention
    >>> ax = plot_attention([[0.9, 0.1]], ["the", "cat"], ["le"])
    >>> save_figure(ax, io.BytesIO(), format="svg")  # doctest: +NORMALIZE_WHITESPACE
    'Heat map of attention weights, 1 target token (row) by 2 source tokens (columns). The largest weight of
    each row: le – the (0.90).'
    """
    whole = figure_of(figure) if isinstance(figure, Axes) else figure
    if description is None:
        description = description_of(whole, language)
    if title is None:
        title = " · ".join(" ".join(text.split()) for text in _titles(whole))
    suffix = Path(path).suffix[1:] if isinstance(path, str | Path) else ""
    form = options.pop("format", None) or suffix or mpl.rcParams["savefig.format"]
    known: dict[str, dict[str, str | None]] = {
        "png": {"Title": title, "Description": description},
        "svg": {"Title": title, "Description": description, "Language": language, "Date": None},
        "pdf": {"Title": title, "Subject": description, "CreationDate": None},
    }
    metadata = {key: text for key, text in known.get(form, {}).items() if text != ""} or None
    options = {"dpi": dpi, "format": form, "metadata": metadata, **options}
    if form != "svg":
        whole.savefig(path, **options)
        return description
    svg = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "path", "svg.hashsalt": "keras_attention"}):
        whole.savefig(svg, **options)
    text = svg.getvalue().replace("<svg ", '<svg role="img" ', 1)
    text = text.replace(" <metadata>", f" <desc>{escape(description)}</desc>\n <metadata>", 1)
    if isinstance(path, str | Path):
        Path(path).write_text(text, encoding="utf-8")
    else:
        path.write(text.encode())
    return description


def _titles(figure: Figure) -> list[str]:
    titles = [figure.get_suptitle(), *(ax.get_title(loc) for ax in figure.axes for loc in ("center", "left"))]
    return [title for title in titles if title]
