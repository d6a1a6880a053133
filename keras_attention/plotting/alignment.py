"""Attention against the word alignment of a person."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from keras_attention.metrics import Alignment, alignment_scores

from .cells import as_array, as_boolean, check_shape
from .heatmap import plot_attention


def plot_alignment(
    weights: Any,
    source_tokens: Sequence[str],
    target_tokens: Sequence[str],
    gold: Any,
    title: str | None = None,
    ax: Axes | None = None,
    annotate: bool | None = None,
    mask: Any = None,
    **options: Any,
) -> Axes:
    """Draw weights as `plot_attention` does, the gold pairs outlined, the alignment error rate in the title.

    The predicted link of a target token is its greatest weight. With A the predicted links of the tokens
    that have gold links, and G the gold links, the error rate is 1 − 2 |A ∩ G| / (|A| + |G|): 0 is perfect.

    Args:
        weights, source_tokens, target_tokens, title, ax, annotate, mask: as in `plot_attention`.
        gold: boolean (Tq, Tk), as `metrics.link_cells` gives it.
        **options: others of `plot_attention`.

    Returns:
        the Axes; nothing is shown or saved.

    Raises:
        ValueError: if the shape of weights, gold or mask does not fit the tokens, or a weight is NaN.

    Och and Ney 2003, https://aclanthology.org/J03-1002

    >>> gold = [[True, False], [False, True]]
    >>> ax = plot_alignment([[0.9, 0.1], [0.8, 0.2]], ["the", "cat"], ["le", "chat"], gold)
    >>> ax.get_title().splitlines()[0]
    'alignment error rate 0.50'
    """
    weights = as_array(weights)
    check_shape(weights, source_tokens, target_tokens)
    gold = as_boolean("gold", gold, weights.shape)
    rate = alignment(weights, gold).error_rate
    result = "no gold links" if np.isnan(rate) else f"alignment error rate {rate:.2f} (gold outlined)"
    title = result if title is None else f"{title}\n{result}"
    return plot_attention(weights, source_tokens, target_tokens, title, ax, gold, annotate, mask, **options)


def alignment(weights: np.ndarray, gold: np.ndarray) -> Alignment:
    """`metrics.alignment_scores` of one sentence whose tokens are its words."""
    targets, sources = ([(i, i + 1) for i in range(n)] for n in gold.shape)
    links = [(sources[column], targets[row]) for row, column in np.argwhere(gold)]
    return alignment_scores([weights], [sources], [targets], [links])
