"""Naive Bayes: what a word says of the class by itself, as the place where training starts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def log_count_ratios(
    sequences: Sequence[Sequence[int]],
    labels: Sequence[int],
    tokens: int,
    classes: int,
    smoothing: float = 2.0,
) -> np.ndarray:
    """How much more common a token is in a class than among all texts, as a logarithm.

        r[w, c] = log (n_wc + a·p_c) / ((n_w + a)·p_c)

    n_w texts hold the token w, n_wc of them are of class c, and p_c = Σ_w n_wc / Σ_w n_w is the share of the
    class, in which long texts count more.
    A token that no text holds has r = 0; the smoothing a keeps one of few texts near it.

    Args:
        sequences: the ids of each text.
        labels: the number of the class of each text.
        tokens: how many ids there are.
        classes: how many classes there are.
        smoothing: a.

    Returns:
        r (tokens, classes).

    Paper: Wang and Manning, 2012, "Baselines and Bigrams: Simple, Good Sentiment and Topic Classification",
    for any number of classes.

    >>> log_count_ratios([[0, 0], [0], [1]], [0, 0, 1], tokens=3, classes=2).round(2)
    array([[ 0.22, -0.69],
           [-0.41,  0.51],
           [ 0.  ,  0.  ]])
    """
    counts = np.zeros((tokens, classes))  # n_wc
    for ids, label in zip(sequences, labels, strict=True):
        counts[list(set(ids)), label] += 1
    shares = counts.sum(axis=0) / counts.sum()  # p_c
    of_token = counts.sum(axis=1, keepdims=True)  # n_w
    return np.log((counts + smoothing * shares) / ((of_token + smoothing) * shares))
