"""A small Transformer encoder for long texts, whose attention is one argument."""

from __future__ import annotations

from collections.abc import Callable

import keras
from keras import layers

from keras_attention.layers import (
    BigBirdAttention,
    LinearAttention,
    LongformerAttention,
    PerformerAttention,
    ReformerAttention,
    SelfAttention,
)

ATTENTIONS: dict[str, Callable[[int, int], keras.layers.Layer]] = {
    "dense": SelfAttention,
    "window": lambda heads, width: LongformerAttention(heads, width, window=16),
    "longformer": lambda heads, width: LongformerAttention(heads, width, window=16, global_tokens=1),
    "big bird": lambda heads, width: BigBirdAttention(heads, width, 16, 2, global_blocks=[0], seed=0),
    "performer": lambda heads, width: PerformerAttention(heads, width, num_features=64, seed=0),
    "reformer": lambda heads, width: ReformerAttention(heads, width, chunk_size=16, num_hashes=4, seed=0),
    "linear": LinearAttention,
}


def long_text_classifier(
    attention: str | Callable[[int, int], keras.layers.Layer],
    vocabulary_size: int,
    classes: int,
    *,
    width: int = 64,
    heads: int = 2,
    depth: int = 1,
    dropout: float = 0.1,
) -> keras.Model:
    """x ← x + attention(norm(x)), x ← x + W₂ relu(W₁ norm(x)), depth times; the first token gives the class.

    What the first token does not see, the class cannot depend on. The order of the others counts only as far as
    the attention's pattern does: there are no positions.

    Args:
        attention: a name of `ATTENTIONS`, or a function (heads, width of a head) that makes a layer.
        vocabulary_size: ids run from 0, the padding, up to it.
        classes: how many.
        width, heads, depth, dropout: of the encoder.

    Returns:
        a model (B, T) → logits (B, classes).

    >>> model = long_text_classifier("longformer", 100, 3)
    >>> model(keras.ops.ones((2, 50), "int32")).shape
    TensorShape([2, 3])
    """
    make = ATTENTIONS[attention] if isinstance(attention, str) else attention
    ids = keras.Input((None,), dtype="int32")
    x = layers.Embedding(vocabulary_size, width, mask_zero=True)(ids)  # (B, T, D)
    for _ in range(depth):
        attended = make(heads, width // heads)(layers.LayerNormalization()(x))
        x = layers.Add()([x, layers.Dropout(dropout)(attended)])
        hidden = layers.Dense(2 * width, activation="relu")(layers.LayerNormalization()(x))  # (B, T, 2 · D)
        x = layers.Add()([x, layers.Dropout(dropout)(layers.Dense(width)(hidden))])
    first = layers.LayerNormalization()(x)[:, 0]  # (B, D)
    return keras.Model(ids, layers.Dense(classes)(layers.Dropout(dropout)(first)))
