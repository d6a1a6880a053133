"""Which attention does what: measures of single heads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from keras_attention.data import Pairs
from keras_attention.metrics import alignment_scores


def head_table(translator: Any, pairs: Pairs, read: Sequence[Any]) -> list[dict[str, Any]]:
    """A row for each head of a translator, measured where it reads the references.

    Args:
        translator: whose vocabularies cut the texts.
        pairs: the texts, with gold links where they are known.
        read: `translator.force(pairs.source, pairs.target, all_heads=True)`.

    Returns:
        dictionaries of attention ("encoder", "decoder" or "cross"), layer and head (from 1), `entropy` (nats;
        ln of the length where it looks everywhere alike), `diagonal` and `previous` (as in `looking_along`),
        and for cross-attention alignment_accuracy, None without gold.
    """
    source_spans = [translator.source_vocabulary.spans(text) for text in pairs.source]
    target_spans = [translator.target_vocabulary.spans(text) for text in pairs.target]
    rows = []
    for name in read[0].heads or () if read else ():
        layers, heads = read[0].heads[name].shape[:2]
        for layer, head in np.ndindex(layers, heads):
            weights = [translation.heads[name][layer, head] for translation in read]
            accuracy = None
            if name == "cross" and pairs.links is not None:
                alignment = alignment_scores(weights, source_spans, target_spans, pairs.links)
                accuracy = alignment.accuracy if alignment.links else None
            rows.append(
                {
                    "attention": name,
                    "layer": layer + 1,
                    "head": head + 1,
                    "entropy": entropy(weights),
                    "diagonal": looking_along(weights),
                    "previous": looking_along(weights, offset=-1),
                    "alignment_accuracy": accuracy,
                }
            )
    return rows


def entropy(weights: Sequence[np.ndarray]) -> float:
    """−Σⱼ αⱼ ln αⱼ, the mean over all rows of all sentences, in nats.

    >>> round(entropy([np.array([[0.5, 0.5], [1.0, 0.0]])]), 3)
    0.347
    """
    rows = [-np.sum(w * np.log(np.where(w > 0, w, 1)), axis=-1) for w in weights]
    return _mean(rows)


def looking_along(weights: Sequence[np.ndarray], offset: int = 0) -> float:
    """The mean weight on the diagonal, or on the place `offset` from it.

    Token i of T has its place on the diagonal at i · (n − 1) / (T − 1) of n, rounded: at itself, where a
    sequence looks at itself. Rows whose place lies outside count for nothing.

    >>> looking_along([np.array([[0.2, 0.8], [0.9, 0.1]])], offset=-1)
    0.9
    """
    found = []
    for w in weights:
        T, n = w.shape
        place = np.rint(np.arange(T) * (n - 1) / max(1, T - 1)).astype(int) + offset
        inside = (place >= 0) & (place < n)
        found.append(w[np.arange(T)[inside], place[inside]])
    return _mean(found)


def lexical_information(
    weights: Sequence[np.ndarray], source: Sequence[Sequence[int]], target: Sequence[Sequence[int]]
) -> np.ndarray:
    """How much the words that each head links tell of each other, in nats.

        p(x, y) = share of all weights that goes from a token y to a token x
        information = Σ p(x, y) ln [p(x, y) / (p(x) p(y))]

    Weights on translations of the word make it high; weights that are spread, always on the full stop, or one
    word behind make it low. So it finds the head that aligns, and needs no gold links.

    Args:
        weights: for each sentence (…, T, n), the same leading axes for all.
        source, target: the ids of each sentence, n and T of them.

    Returns:
        (…), one number a head.
    """
    flat = np.concatenate([w.reshape(*w.shape[:-2], -1) for w in weights], axis=-1)  # (…, Σ T · n)
    x = np.concatenate([np.tile(a, len(b)) for a, b in zip(source, target, strict=True)]).astype(int)
    y = np.concatenate([np.repeat(b, len(a)) for a, b in zip(source, target, strict=True)]).astype(int)
    _, x = np.unique(x, return_inverse=True)
    _, y = np.unique(y, return_inverse=True)
    pair, which = np.unique(np.stack([x, y]), axis=1, return_inverse=True)

    def information(row):
        joint = np.bincount(which, row)
        joint = joint / joint.sum()
        px, py = np.bincount(pair[0], joint), np.bincount(pair[1], joint)
        ratio = joint / np.where(joint > 0, px[pair[0]] * py[pair[1]], 1)
        return np.sum(joint * np.log(np.where(joint > 0, ratio, 1)))

    return np.apply_along_axis(information, -1, flat)


def _mean(rows: Sequence[np.ndarray]) -> float:
    numbers = np.concatenate(rows) if rows else np.zeros(0)
    return float(numbers.mean()) if numbers.size else float("nan")
