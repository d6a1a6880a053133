"""A classifier: bidirectional recurrent network, pooling by attention, classes; from strings to labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import keras
import numpy as np
import tensorflow as tf

from keras_attention.data.vocabulary import Span, Vocabulary
from keras_attention.layers.attention_pooling import AttentionPooling, weighted_sum
from keras_attention.models.batches import IDS, bucketed, pad, text_dataset
from keras_attention.models.encoder import BidirectionalEncoder
from keras_attention.models.precision import precision, precision_of
from keras_attention.models.recurrence import CELLS
from keras_attention.models.seeding import seeded

POOLINGS = ("attention", "mean", "max", "last")


class Prediction(NamedTuple):
    """The class of a text.

    `weights[i]` is how much of the pooled vector comes from `tokens[i]`, which is `text[start:end]` for
    `spans[i] = (start, end)`; they sum to 1. `head_weights` has a row for each head of attention, and
    `weights` is their mean.
    """

    text: str
    label: str
    probability: float
    tokens: list[str]
    weights: np.ndarray
    probabilities: dict[str, float]
    spans: list[Span]
    head_weights: np.ndarray


@keras.saving.register_keras_serializable(package="keras_attention")
class AttentionClassifier(keras.Model):
    """A text to a class.

        hᵢ = [forward RNN; backward RNN]ᵢ + W_e eᵢ        of the embeddings e₁ … eₙ
        s = Σᵢ αᵢ hᵢ        α = `AttentionPooling`'s softmax(vᵀ tanh(W h + b))
        p(class | text) = softmax(W s + b)

    A recurrent state knows its neighbours so well that attention may settle beside the word that matters.
    Two options let a state speak of its own word first: `residual` adds W_e eᵢ, and `context_dropout` hides
    tokens from the recurrence in training, but not from W_e. Without both it is the chapter's network.

    Args:
        vocabulary: a `Vocabulary`.
        labels: the names of the classes.
        embedding_dim: width of the embeddings.
        units: width of each direction of the encoder.
        cell: "lstm" or "gru".
        pooling: "attention", or for comparison "mean" and "max" over the tokens, or "last": the forward
            state at the last token and the backward state at the first.
        heads: heads of attention, each with a part of h of its own.
        attention_units: width of the score's hidden layer; None means `units`.
        dropout: share of embeddings and of s that is dropped in training.
        word_dropout: share of tokens that training replaces by the unknown one.
        residual: whether W_e eᵢ is added; W_e is the identity where the widths agree.
        context_dropout: share of tokens that training hides from the recurrence.
        seed: seed of weights and dropout.
        training_record: what `train` noted of itself.

    Raises:
        ValueError: the cell or the pooling is unknown, there are fewer than two classes, a class is twice, or
            `dtype` is not float32.

    Papers: Zhou et al., 2016, "Attention-Based Bidirectional LSTM Networks for Relation Classification";
    Yang et al., 2016, "Hierarchical Attention Networks for Document Classification"; on attention beside the
    word: Mohankumar et al., 2020, "Towards Transparent and Explainable Attention Models"; Tutek and Šnajder,
    2020, "Staying True to Your Word: (How) Can Attention Become Explanation?".

    >>> vocabulary = Vocabulary.build(["good soup", "bad soup"])
    >>> classifier = AttentionClassifier(vocabulary, ["bad", "good"], embedding_dim=8, units=4)
    >>> prediction = classifier.predict_text(["good soup"])[0]
    >>> prediction.tokens, prediction.weights.shape
    (['good', 'soup'], (2,))
    """

    precisions = ("float32",)

    def __init__(
        self,
        vocabulary,
        labels,
        embedding_dim=128,
        units=128,
        cell="lstm",
        pooling="attention",
        heads=1,
        attention_units=None,
        dropout=0.5,
        word_dropout=0.0,
        residual=True,
        context_dropout=0.0,
        seed=0,
        training_record=None,
        dtype=None,
        **kwargs,
    ):
        for name, value, known in (("cell", cell, CELLS), ("pooling", pooling, POOLINGS)):
            if value not in known:
                raise ValueError(f"{name} is {value!r}, but it must be one of {', '.join(known)}.")
        if len(labels) < 2 or len(set(labels)) < len(labels):
            raise ValueError(f"labels are {list(labels)}, but two or more different classes are needed.")
        super().__init__(dtype=precision_of(type(self), dtype), **kwargs)
        self.vocabulary, self.labels = vocabulary, list(labels)
        self.options = {
            "embedding_dim": embedding_dim,
            "units": units,
            "cell": cell,
            "pooling": pooling,
            "heads": heads,
            "attention_units": attention_units,
            "dropout": dropout,
            "word_dropout": word_dropout,
            "residual": residual,
            "context_dropout": context_dropout,
            "seed": seed,
        }
        self.pooling, self.residual = pooling, residual
        self.word_dropout, self.context_dropout = word_dropout, context_dropout
        with seeded(seed), precision(self.dtype_policy):
            scale = keras.initializers.RandomNormal(stddev=0.1)
            self.embedding = keras.layers.Embedding(len(vocabulary), embedding_dim, scale, name="embedding")
            self.embedding.build()
            self.encoder = BidirectionalEncoder(units, cell, name="encoder")
            self.encoder.build((None, None, embedding_dim))
            if pooling == "attention":
                self.attend = AttentionPooling(attention_units or units, heads, name="attention")
                self.attend.build((None, None, 2 * units))
            self.residual_dense = None
            if residual and embedding_dim != 2 * units:
                self.residual_dense = keras.layers.Dense(2 * units, use_bias=False, name="residual")
                self.residual_dense.build((None, embedding_dim))
            self.output_dense = keras.layers.Dense(len(self.labels), name="output")
            self.output_dense.build((None, 2 * units))
            self.drop = keras.layers.Dropout(dropout, seed=seed)
            self.drop.build(())
        self.random = keras.random.SeedGenerator(seed)
        self.training_record = dict(training_record or {})
        self.built = True

    def call(self, ids, training=False):
        """Logits (B, classes) of ids (B, T)."""
        if training and self.word_dropout:
            unknown = self.draw(ids, self.word_dropout) & (ids != Vocabulary.PAD)
            ids = tf.where(unknown, Vocabulary.UNKNOWN, ids)
        mask = tf.not_equal(ids, Vocabulary.PAD)
        return self.classify(self.embedding(ids), mask, training)[0]

    def classify(self, embedded, mask, training=False, weights=None):
        """Logits (B, classes) and weights (B, H, T) of embeddings (B, T, E), read where the mask is True.

        Args:
            weights: (B, H, T), to be used instead of those that the pooling finds.
        """
        h = self.annotate(self.drop(embedded, training=training), mask, training)
        if weights is None:
            pooled, weights = self.pool(h, mask)
        else:
            pooled = weighted_sum(weights, h)
        return self.output_dense(self.drop(pooled, training=training)), weights

    def annotate(self, embedded, mask, training=False):
        """hᵢ of each token, (B, T, 2 · units)."""
        seen = embedded
        if training and self.context_dropout:
            seen = tf.where(self.draw(mask, self.context_dropout)[..., None], 0.0, embedded)
        h = self.encoder(seen, mask=mask)  # (B, T, 2 · units)
        if not self.residual:
            return h
        own = embedded if self.residual_dense is None else self.residual_dense(embedded)
        return h + tf.where(mask[..., None], own, 0.0)

    def draw(self, tokens, share):
        """True for a share of the tokens (B, T)."""
        return keras.random.uniform(tf.shape(tokens), seed=self.random) < share

    def pool(self, h, mask):
        """One vector (B, 2 · units) for h (B, T, 2 · units), and the share of each token in it (B, H, T)."""
        if self.pooling == "attention":
            pooled, weights = self.attend(h, mask=mask, return_attention_scores=True)
            return pooled, weights if len(weights.shape) == 3 else weights[:, None]
        if self.pooling == "max":
            low = tf.where(mask[..., None], h, h.dtype.min)
            found = tf.one_hot(tf.argmax(low, axis=1), tf.shape(h)[1], dtype=h.dtype)  # (B, 2 · units, T)
            return tf.reduce_max(low, axis=1), tf.reduce_mean(found, axis=1, keepdims=True)
        if self.pooling == "last":
            last = tf.reduce_sum(tf.cast(mask, tf.int32), axis=1) - 1
            ends = tf.one_hot(tf.stack([last, 0 * last], 1), tf.shape(h)[1], dtype=h.dtype)  # (B, 2, T)
            return weighted_sum(ends, h), ends
        real = tf.cast(mask, h.dtype)
        weights = (real / tf.maximum(tf.reduce_sum(real, axis=1, keepdims=True), 1))[:, None]  # (B, 1, T)
        return weighted_sum(weights, h), weights

    def dataset(self, texts, batch_size=50, seed=None, first_epoch=0, max_length=None):
        """The batches of `Texts` as `fit` and `evaluate` take them; see `text_dataset`.

        Args:
            max_length: longer texts are cut to so many tokens, the first and the last half of them.
        """
        ids = [shorten(x, max_length) for x in self.vocabulary.encode_batch(texts.texts)]
        return text_dataset(ids, self.label_ids(texts.labels), batch_size, seed, first_epoch)

    def label_ids(self, labels: Sequence[str]) -> list[int]:
        """The numbers of labels.

        Raises:
            ValueError: the classifier has no such class.
        """
        number = {label: i for i, label in enumerate(self.labels)}
        unknown = sorted(set(labels) - set(number))
        if unknown:
            raise ValueError(
                f"There is no class {unknown[0]!r} among those that were trained: {', '.join(self.labels)}."
            )
        return [number[label] for label in labels]

    def predict_text(self, texts: Sequence[str], batch_size=50) -> list[Prediction]:
        """Classify strings.

        Args:
            texts: a list of strings.
            batch_size: texts at a time. It changes the speed, not the predictions.

        Returns:
            a `Prediction` for each text.

        Raises:
            ValueError: the texts are one string, or one of them is empty.
        """
        probabilities, weights = self.predict_ids(self.encode(texts), batch_size=batch_size)
        return [
            Prediction(
                text,
                self.labels[int(p.argmax())],
                float(p.max()),
                self.vocabulary.tokens(text),
                w.mean(axis=0),
                {label: float(x) for label, x in zip(self.labels, p, strict=True)},
                self.vocabulary.spans(text),
                w,
            )
            for text, p, w in zip(texts, probabilities, weights, strict=True)
        ]

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of strings; see `predict_text`."""
        if isinstance(texts, str):
            raise ValueError("predict_text takes a list of texts, got one string: write [text].")
        sequences = self.vocabulary.encode_batch(texts)
        for number, ids in enumerate(sequences):
            if not ids:
                raise ValueError(f"Text {number} is empty, so it has no class; leave it out.")
        return sequences

    def predict_ids(
        self,
        sequences: Sequence[Sequence[int]],
        weights: Sequence[np.ndarray] | None = None,
        batch_size: int = 50,
    ) -> tuple[np.ndarray, list[np.ndarray]]:
        """Probabilities (N, classes) of id sequences, and the weights (H, T) of each.

        Args:
            weights: (H, T) for each sequence, to be used instead of the model's own.
        """
        probabilities = np.zeros((len(sequences), len(self.labels)), np.float32)
        found: dict[int, np.ndarray] = {}
        for batch in bucketed([len(ids) for ids in sequences], batch_size, pool=len(sequences)):
            ids = pad([sequences[i] for i in batch])
            if weights is None:
                p, w = self._predict(ids)
            else:
                given = np.zeros((len(batch), len(weights[batch[0]]), ids.shape[1]), np.float32)
                for row, i in zip(given, batch, strict=True):
                    row[:, : weights[i].shape[1]] = weights[i]
                p, w = self._predict_with(ids, given)
            probabilities[batch] = p
            for i, row in zip(batch, w.numpy(), strict=True):
                found[i] = row[:, : len(sequences[i])]
        return probabilities, [found[i] for i in range(len(sequences))]

    def gradient_times_input(
        self, sequences: Sequence[Sequence[int]], batch_size: int = 50
    ) -> list[np.ndarray]:
        """eᵢ · ∂ log p/∂eᵢ of each token, p the probability of the predicted class: (T,) for each text."""
        found: dict[int, np.ndarray] = {}
        for batch in bucketed([len(ids) for ids in sequences], batch_size, pool=len(sequences)):
            rows = self._attribute(pad([sequences[i] for i in batch])).numpy()
            found |= {i: row[: len(sequences[i])] for i, row in zip(batch, rows, strict=True)}
        return [found[i] for i in range(len(sequences))]

    @tf.function(input_signature=[IDS])
    def _predict(self, ids):
        logits, weights = self.classify(self.embedding(ids), tf.not_equal(ids, Vocabulary.PAD))
        return tf.nn.softmax(logits), weights

    @tf.function(input_signature=[IDS, tf.TensorSpec((None, None, None))])
    def _predict_with(self, ids, weights):
        mask = tf.not_equal(ids, Vocabulary.PAD)
        logits, weights = self.classify(self.embedding(ids), mask, weights=weights)
        return tf.nn.softmax(logits), weights

    @tf.function(input_signature=[IDS])
    def _attribute(self, ids):
        embedded = self.embedding(ids)
        with tf.GradientTape() as tape:
            tape.watch(embedded)
            logits, _ = self.classify(embedded, tf.not_equal(ids, Vocabulary.PAD))
            log_p = tf.reduce_max(tf.nn.log_softmax(logits), axis=-1)
        return tf.reduce_sum(embedded * tape.gradient(log_p, embedded), axis=-1)  # (B, T)

    def get_config(self):
        return {
            **super().get_config(),
            "dtype": self.dtype_policy.name,
            "vocabulary": self.vocabulary.get_config(),
            "labels": self.labels,
            **self.options,
            "training_record": dict(self.training_record),
        }

    @classmethod
    def from_config(cls, config):
        config = dict(config)
        return cls(Vocabulary.from_config(config.pop("vocabulary")), **config)


def shorten(ids, length):
    """The first and the last half of what is longer than `length`."""
    if length is None or len(ids) <= length:
        return ids
    return [*ids[: length - length // 2], *ids[len(ids) - length // 2 :]]
