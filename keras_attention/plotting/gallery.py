"""All figures on one page: python -m keras_attention.plotting.gallery FOLDER"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from jinja2 import Environment, FileSystemLoader

from keras_attention.cost import measure_costs
from keras_attention.functional import scaled_dot_product_attention, trace
from keras_attention.layers import LongformerAttention, SelfAttention
from keras_attention.masks import window_mask

from .alignment import plot_alignment
from .animation import animate_attention
from .cells import as_array
from .costs import plot_costs
from .description import describe_attention, description_of
from .difference import plot_difference
from .explorer import AttentionRecord, explore
from .heads import plot_heads
from .heatmap import plot_attention
from .highlight import plot_highlight
from .labels import figure_of
from .pattern import plot_pattern
from .saving import save_figure
from .steps import plot_steps

LENGTHS = [64, 256, 1024]
SOURCE = ["the", "black", "cat", "sleeps", "on", "the", "mat", "."]
TARGET = ["le", "chat", "noir", "dort", "sur", "le", "tapis", "。"]
LINKS = [0, 2, 1, 3, 4, 5, 6, 7]  # the source token that each target token translates
GOLD = np.eye(8, dtype=bool)[LINKS]
CAUSAL = np.tri(8, dtype=bool)


def embeddings(heads: int, noise: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Random source (H, 8, 16) and target, each target token near the source token that it translates."""
    draw = np.random.default_rng(seed).normal
    source = draw(size=(heads, 8, 16)) * 1.1
    return source, source[:, LINKS] + draw(size=source.shape) * noise


def attend(query: np.ndarray, key: np.ndarray, mask: Any = None) -> np.ndarray:
    """Weights (…, Tq, Tk)."""
    return as_array(scaled_dot_product_attention(query, key, key, mask=mask)[1])


def steps() -> dict[str, Any]:
    """The stages of masked self-attention of four tokens."""
    tokens = embeddings(1, 0)[0][0, :4, :3]
    with trace() as stages:
        scaled_dot_product_attention(tokens, tokens, tokens, causal=True)
    return {**stages, "output": stages["attended"]}


def figures() -> dict[str, Callable[[], Any]]:
    """A function for each figure, by the name of what draws it."""
    source, target = embeddings(4, 1.5)
    first, *_ = sharp = attend(target, source)  # (H, Tq, Tk)
    blurred = attend(embeddings(4, 4)[1], source)[0]
    words = (SOURCE, TARGET)
    return {
        "plot_attention": lambda: plot_attention(
            attend(target, target, CAUSAL)[0], TARGET, TARGET, "a masked self-attention", mask=CAUSAL
        ),
        "plot_heads": lambda: plot_heads(sharp, *words, "four heads"),
        "plot_difference": lambda: plot_difference(blurred, first, *words, "less noise"),
        "plot_alignment": lambda: plot_alignment(blurred, *words, GOLD, "against a person's alignment"),
        "plot_highlight": lambda: plot_highlight(SOURCE, first[1], "where “chat” looks"),
        "plot_pattern": lambda: plot_pattern(window_mask(24, window=3), "a sliding window"),
        "plot_steps": lambda: plot_steps(
            steps(), SOURCE[:4], SOURCE[:4], "masked self-attention, step by step"
        ),
        "plot_costs": lambda: plot_costs(
            LENGTHS, costs(), "what a window saves, here and now", dense="dense"
        ),
    }


def costs():
    """Measured on this machine, while it waits."""
    layers = {"dense": SelfAttention(2, 8), "window": LongformerAttention(2, 8, window=16)}
    return measure_costs(layers, LENGTHS, width=16, calls=1)


def write_gallery(folder: str | Path) -> Path:
    """Draw every figure, with its alt text in English and Chinese, on one page in a folder.

    Returns:
        the page, index.html; beside it the pictures and explorer.html.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    shown = []
    for name, draw in figures().items():
        figure = figure_of(np.ravel(draw())[0])
        save_figure(figure, folder / f"{name}.svg")
        alt = {language: description_of(figure, language) for language in ("en", "zh")}
        plt.close(figure)
        shown.append({"name": name, "file": f"{name}.svg", "alt": alt})

    noises = [6, 4, 3, 2, 1]
    source = embeddings(1, 1)[0]
    frames = np.stack([attend(embeddings(1, noise)[1], source) for noise in noises])  # (F, 1, Tq, Tk)
    titles = [f"noise {noise}" for noise in noises]
    file = animate_attention(frames[:, 0], SOURCE, TARGET, folder / "animate_attention.gif", titles, GOLD)
    alt = {
        language: describe_attention(
            frames[-1, 0], SOURCE, TARGET, title=titles[-1], gold=GOLD, language=language
        )
        for language in ("en", "zh")
    }
    shown.append({"name": "animate_attention", "file": file.name, "alt": alt})

    record = AttentionRecord.from_scores(
        [{"cross": frame[None]} for frame in frames], SOURCE, TARGET, gold=GOLD, moments=titles
    )
    explore(record, title="The black cat").save(folder / "explorer.html")

    environment = Environment(loader=FileSystemLoader(Path(__file__).parent), autoescape=True)
    page = folder / "index.html"
    page.write_text(environment.get_template("gallery.html").render(figures=shown), encoding="utf-8")
    return page


if __name__ == "__main__":
    plt.switch_backend("Agg")
    print(write_gallery(sys.argv[1] if len(sys.argv) > 1 else "figures"))
