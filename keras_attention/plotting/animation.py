"""How attention forms during training, as a moving picture."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from PIL import Image

from .cells import as_array, as_boolean, check_weights, write_numbers
from .description import description_of
from .heatmap import plot_attention
from .labels import figure_of, set_title


def animate_attention(
    frames: Any,
    source_tokens: Sequence[str],
    target_tokens: Sequence[str],
    path: str | Path,
    titles: Sequence[str] | None = None,
    gold: Any = None,
    annotate: bool | None = None,
    mask: Any = None,
    *,
    cmap: str = "cividis",
    vmax: float = 1.0,
    fps: float = 2.0,
    dpi: float = 100,
    language: str = "en",
    check: bool = True,
) -> Path:
    """Write a GIF that shows one heat map after another, all in the same colours, and repeats.

    `AttentionRecorder` collects the frames while a model trains.

    Args:
        frames: array of shape (F, Tq, Tk), F ≥ 1: the weights of one sentence and one head at F moments.
        source_tokens, target_tokens, gold, annotate, mask, cmap, vmax, check: as in `plot_attention`.
        path: ends in .gif.
        titles: one for each frame; "1 / F", "2 / F", … by default.
        fps: frames a second; the last stays three times as long.
        dpi: pixels an inch.
        language: of the alt text in the GIF's comment, "en" or "zh"; it describes the last frame.

    Returns:
        the path. No figure stays open.

    Raises:
        ValueError: if a shape or number does not fit another, or the path does not end in .gif.

    >>> frames = [[[0.5, 0.5]], [[0.9, 0.1]]]
    >>> animate_attention(frames, ["the", "cat"], ["chat"], "/tmp/chat.gif")  # doctest: +SKIP
    """
    frames = as_array(frames)
    path = Path(path)
    if path.suffix != ".gif":
        raise ValueError(f"path is {path}, but it must end in .gif.")
    if frames.ndim != 3 or not len(frames):
        raise ValueError(
            f"frames must be of shape (frames, target tokens, source tokens), got {frames.shape}: "
            "choose one sentence and one head."
        )
    names = [f"{i} / {len(frames)}" for i in range(1, len(frames) + 1)] if titles is None else list(titles)
    if len(names) != len(frames):
        raise ValueError(f"There are {len(names)} titles for {len(frames)} frames.")

    longest = max(names, key=len)
    ax = plot_attention(
        frames[-1],
        source_tokens,
        target_tokens,
        longest,
        None,
        gold,
        annotate,
        mask,
        cmap=cmap,
        vmax=vmax,
        check=check,
    )
    figure, image = figure_of(ax), ax.images[0]
    allowed = as_boolean("mask", mask, frames.shape[1:], default=True)
    comment = description_of(figure, language)
    figure.set_dpi(dpi)
    canvas = FigureCanvasAgg(figure)
    try:
        pictures = []
        numbered = bool(ax.texts)
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # the map stays where it is from frame to frame
        for weights, name in zip(frames, names, strict=True):
            if check:
                check_weights(weights, allowed)
            image.set_data(np.where(allowed, weights, 0))
            for text in list(ax.texts):
                text.remove()
            if numbered:
                write_numbers(ax, image, weights, allowed)
            set_title(ax, name)
            canvas.draw()
            pictures.append(Image.fromarray(np.array(canvas.buffer_rgba())[..., :3]))
    finally:
        plt.close(figure)
    duration = round(1000 / fps)
    pictures[0].save(
        path,
        save_all=True,
        append_images=pictures[1:],
        duration=[duration] * (len(pictures) - 1) + [3 * duration],
        loop=0,
        comment=comment.encode(),
    )
    return path
