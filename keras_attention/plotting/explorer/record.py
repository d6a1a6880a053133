"""What the explorer shows: layers × heads × weights with their tokens, at one moment or several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..cells import as_array, as_boolean, check_shape, check_weights

Scores = Mapping[str, Any]
Sides = tuple[Sequence[str], Sequence[str]]  # the tokens of the rows and of the columns


@dataclass
class AttentionLayer:
    """The weights of one layer for one sentence.

    Args:
        name: what the layer is called.
        weights: (Tq, Tk), (H, Tq, Tk), or (F, H, Tq, Tk) at F moments of training.
        queries, keys: tokens, one for each row and one for each column.
        mask: boolean, broadcastable to the weights: True = may be attended to.
        gold: boolean (Tq, Tk): the pairs that a person aligned.

    Raises:
        ValueError: a shape does not fit the tokens, or a weight is negative.
    """

    name: str
    weights: Any
    queries: Sequence[str]
    keys: Sequence[str]
    mask: Any = None
    gold: Any = None

    def __post_init__(self) -> None:
        weights = as_array(self.weights)
        if not 2 <= weights.ndim <= 4:
            raise ValueError(
                f"The weights of {self.name} have shape {weights.shape}, but (Tq, Tk), (H, Tq, Tk) or "
                "(F, H, Tq, Tk) is needed: choose one sentence."
            )
        weights = weights.reshape((1,) * (4 - weights.ndim) + weights.shape)  # (F, H, Tq, Tk)
        if not weights.size:
            raise ValueError(f"The weights of {self.name} are empty: their shape is {weights.shape}.")
        check_shape(weights[0, 0], self.keys, self.queries)
        if (weights < 0).any():
            raise ValueError(
                f"Weights of {self.name} are negative (the least is {weights.min():.2f}): are these scores? "
                "Take their softmax first."
            )
        self.weights = weights
        self.mask = as_boolean("mask", self.mask, weights.shape, default=True)
        if self.gold is not None:
            self.gold = as_boolean("gold", self.gold, weights.shape[2:])

    def check(self, stacklevel: int = 2) -> None:
        """Warn of what softmax cannot give."""
        shape = (-1, *self.weights.shape[2:])
        for weights, allowed in zip(self.weights.reshape(shape), self.mask.reshape(shape), strict=True):
            check_weights(weights, allowed, stacklevel=stacklevel + 1)


@dataclass
class AttentionRecord:
    """What a model looked at in one sentence.

    Args:
        layers: one or more `AttentionLayer`.
        title: how the record is called where there are several.
        moments: names of the F moments of training that every layer tells of.

    Raises:
        ValueError: there is no layer, or one does not have F moments.

    >>> layer = AttentionLayer("attention", [[0.9, 0.1]], queries=["le"], keys=["the", "cat"])
    >>> AttentionRecord([layer]).layers[0].weights.shape
    (1, 1, 1, 2)
    """

    layers: list[AttentionLayer]
    title: str = ""
    moments: Sequence[str] = field(default_factory=lambda: [""])

    def __post_init__(self) -> None:
        if not self.layers:
            raise ValueError("A record needs at least one layer.")
        for layer in self.layers:
            if len(layer.weights) != len(self.moments):
                raise ValueError(
                    f"There are {len(self.moments)} moments, but weights of {layer.name} at "
                    f"{len(layer.weights)}."
                )

    @classmethod
    def of(cls, thing: Any, gold: Any = None) -> AttentionRecord:
        """The record of a `Translation`, a `Prediction` of a classifier, or a record itself.

        Args:
            thing: what `translate`, `force` or `predict_text` gave for one sentence.
            gold: boolean (target tokens, source tokens), as `metrics.link_cells` gives it.

        Raises:
            TypeError: it is something else.
        """
        if isinstance(thing, cls):
            return thing
        if hasattr(thing, "source_tokens"):
            return cls(_layers_of_translation(thing, gold), thing.text)
        if hasattr(thing, "head_weights"):
            weights = np.asarray(thing.head_weights)[:, None]  # (H, 1, T)
            title = f"{thing.text} → {thing.label} ({thing.probability:.2f})"
            return cls([AttentionLayer("attention", weights, [thing.label], thing.tokens)], title)
        raise TypeError(
            f"A {type(thing).__name__} holds no attention to explore: pass an AttentionRecord, a Translation "
            "or a Prediction."
        )

    @classmethod
    def from_scores(
        cls,
        scores: Scores | Sequence[Scores],
        source_tokens: Sequence[str],
        target_tokens: Sequence[str] | None = None,
        *,
        sample: int = 0,
        masks: Mapping[str, Any] | None = None,
        gold: Any = None,
        title: str = "",
        moments: Sequence[str] | None = None,
    ) -> AttentionRecord:
        """The record of `attention_scores(model, inputs)`, or of the `records` of an `AttentionRecorder`.

        Which tokens a layer joins follows from the size of its weights and, where both sides are equally
        long, from the words "encoder", "decoder" and "cross" in its name. Padding behind the tokens is left
        out.

        Args:
            scores: arrays (B, H, Tq, Tk), (B, Tq, Tk) or (B, Tk) by name; a list of such for several moments.
            source_tokens: of the sample.
            target_tokens: of the sample, for a model with two sides.
            sample: which of the batch.
            masks: boolean by the name of a layer, broadcastable to its (H, Tq, Tk).
            gold: boolean (target tokens, source tokens).
            title: how the record is called where there are several.
            moments: names of the moments; "1", "2", … by default.

        Raises:
            ValueError: the tokens of a layer cannot be told; make its `AttentionLayer` by hand then.

        >>> scores = {"encoder": np.full((1, 2, 3, 3), 1 / 3), "cross": np.full((1, 2, 1, 3), 1 / 3)}
        >>> record = AttentionRecord.from_scores(scores, ["the", "cat", "."], ["le"])
        >>> [(layer.name, *layer.weights.shape) for layer in record.layers]
        [('encoder', 1, 2, 3, 3), ('cross', 1, 2, 1, 3)]
        """
        several = [scores] if isinstance(scores, Mapping) else list(scores)
        source, target = list(source_tokens), None if target_tokens is None else list(target_tokens)
        layers = []
        for name in several[0]:
            weights = np.stack([as_array(at_a_moment[name])[sample] for at_a_moment in several])  # (F, …, Tk)
            if weights.ndim == 2:
                weights = weights[:, None]  # (F, 1, Tk)
            if weights.ndim == 3:
                weights = weights[:, None]  # (F, 1, Tq, Tk)
            queries, keys = _sides(name, weights.shape[2:], source, target)
            layers.append(
                AttentionLayer(
                    name,
                    weights[:, :, : len(queries), : len(keys)],
                    queries,
                    keys,
                    (masks or {}).get(name),
                    gold if queries is target and keys is source else None,
                )
            )
        if moments is None:
            moments = [str(i) for i in range(1, len(several) + 1)]
        return cls(layers, title, moments)


def _layers_of_translation(translation: Any, gold: Any) -> list[AttentionLayer]:
    source, target = translation.source_tokens, translation.tokens
    heads = getattr(translation, "heads", None) or {}  # by name (layers, H, Tq, Tk), of a Transformer
    name = "alignment" if heads else "attention"
    layers = [AttentionLayer(name, translation.attention, target, source, gold=gold)]
    read = ["START", *target[:-1]]  # a row is named by the token that it writes, and sees those before
    sides: dict[str, tuple[Sequence[str], Sequence[str], dict[str, Any]]] = {
        "encoder": (source, source, {}),
        "decoder": (target, read, {"mask": np.tri(len(target), dtype=bool)}),
        "cross": (target, source, {"gold": gold}),
    }
    for name, weights in heads.items():
        queries, keys, options = sides[name]
        layers += [
            AttentionLayer(f"{name} {i}", layer, queries, keys, **options)
            for i, layer in enumerate(weights, 1)
        ]
    return layers


def _sides(name: str, shape: tuple[int, ...], source: list[str], target: list[str] | None) -> Sides:
    """The tokens that a layer with weights of this shape joins."""
    named: dict[str, Sides] = {"encoder": (source, source)}
    if target is not None:  # the parts that Vaswani et al. named
        named = {"cross": (target, source), "decoder": (target, target), **named}
    pairs = list(named.values())
    if shape[0] == 1 and 1 not in (len(source), len(target or source)):
        pairs = [(["pooled"], keys) for keys in (source, target) if keys is not None]
    fitting = [pair for pair in pairs if len(pair[0]) <= shape[0] and len(pair[1]) <= shape[1]]
    found = [pair for pair in fitting if (len(pair[0]), len(pair[1])) == shape] or fitting
    if len(found) > 1:
        meant = next((named[word] for word in named if word in name.lower()), None)
        found = [pair for pair in found if pair == meant]
    if not found or any(pair != found[0] for pair in found):
        lengths = f"{len(source)} source" + (f" and {len(target)} target" if target is not None else "")
        raise ValueError(
            f"Which tokens {name} joins cannot be told from its weights {shape} and {lengths} tokens: make "
            "its AttentionLayer by hand."
        )
    return found[0]
