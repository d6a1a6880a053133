"""A small Transformer encoder for long texts, whose attention is one argument."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import keras
from keras import layers

from keras_attention.cost import peak_megabytes
from keras_attention.data import TextCorpus, Texts, Vocabulary
from keras_attention.layers import (
    BigBirdAttention,
    LinearAttention,
    LongformerAttention,
    PerformerAttention,
    ReformerAttention,
    SelfAttention,
)
from keras_attention.models.batches import text_dataset

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
    dropout: float = 0.0,
) -> keras.Model:
    """x ← x + attention(norm(x)), x ← x + W₂ relu(W₁ norm(x)), depth times; the first token gives the class.

    What the first token does not see, the class cannot depend on. There are no positions: the order of the
    tokens counts only where the attention's pattern does.

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


class LongTextResult(NamedTuple):
    """A trained model: its test accuracy, the seconds of its training, and the peak of memory in MB."""

    model: keras.Model
    accuracy: float
    seconds: float
    megabytes: float


def train_long_text(
    attention: str | Callable[[int, int], keras.layers.Layer],
    vocabulary: Vocabulary,
    corpus: TextCorpus,
    *,
    epochs: int = 5,
    batch_size: int = 32,
    learning_rate: float = 2e-3,
    max_length: int | None = None,
    seed: int = 0,
    verbose: int = 0,
    **options,
) -> LongTextResult:
    """Train `long_text_classifier` on texts of any length, and count how many test texts it gets right.

    Args:
        attention: see `long_text_classifier`.
        vocabulary: cuts the texts into tokens.
        corpus: labelled texts. START is put before each, to give the class; in toy:documents-en the question
            stands there.
        epochs, batch_size, learning_rate: of Adam; the rate falls along a cosine.
        max_length: longer texts lose their end; None reads them whole.
        seed: of weights, dropout and order.
        verbose: as in `fit`.
        **options: others of `long_text_classifier`.
    """
    labels = sorted(set(corpus.train.labels))
    start = [] if corpus.name == "toy:documents-en" else [Vocabulary.START]

    def dataset(texts: Texts, seed: int | None = None):
        ids = [(start + list(row))[:max_length] for row in vocabulary.encode_batch(texts.texts)]
        return text_dataset(ids, [labels.index(label) for label in texts.labels], batch_size, seed)

    keras.utils.set_random_seed(seed)
    model = long_text_classifier(attention, len(vocabulary), len(labels), **options)
    train, test = dataset(corpus.train, seed), dataset(corpus.test)
    rate = keras.optimizers.schedules.CosineDecay(learning_rate, epochs * len(train))
    model.compile(
        keras.optimizers.Adam(rate, global_clipnorm=1.0),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
        jit_compile=False,
    )
    began = time.perf_counter()
    peak = peak_megabytes(lambda: model.fit(train, epochs=epochs, shuffle=False, verbose=verbose))
    seconds = time.perf_counter() - began
    return LongTextResult(model, model.evaluate(test, verbose=0)[1], seconds, peak)
