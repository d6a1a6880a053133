"""A translator: recurrent encoder, attention, recurrent decoder, from strings to strings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import keras
import numpy as np
import tensorflow as tf

from keras_attention.data.vocabulary import Vocabulary
from keras_attention.models.batches import bucketed, pad, pair_dataset
from keras_attention.models.decoder import ATTENTIONS, AttentionDecoder
from keras_attention.models.encoder import BidirectionalEncoder
from keras_attention.models.loss import linear_cross_entropy
from keras_attention.models.recurrence import CELLS
from keras_attention.models.search import beam_search
from keras_attention.models.seeding import seeded

IDS = tf.TensorSpec((None, None), tf.int32)


class Translation(NamedTuple):
    """A translated sentence.

    `attention[i, j]` is the weight that the model gave `source_tokens[j]` when it wrote `tokens[i]`;
    `score` is log p(text | source), in nats, its end included.
    """

    text: str
    tokens: list[str]
    score: float
    attention: np.ndarray
    source_tokens: list[str]


@keras.saving.register_keras_serializable(package="keras_attention")
class Seq2SeqTranslator(keras.Model):
    """A sentence to a sentence: bidirectional encoder, attention, decoder.

        hᵢ = [forward RNN; backward RNN; embedding] of the source word xᵢ
        r₁ … r_T = `AttentionDecoder` over them
        p(yₜ | y₁ … yₜ₋₁, x) = softmax(E · rₜ + b)

    Args:
        source_vocabulary, target_vocabulary: `Vocabulary`; the same object for both shares one embedding.
        embedding_dim: width of the embeddings.
        units: width of the decoder's state and of each direction of the encoder.
        cell: "gru" or "lstm".
        attention: "bahdanau", "luong-dot", "luong-general", "luong-concat", or "none" for the information
            bottleneck. For "luong-dot" hᵢ is the sum of the directions alone, since memory and state must
            be equally wide.
        word_in_query: whether the previous word attends beside the state (see `AttentionDecoder`).
        dropout: share of embeddings, annotations and readouts that is dropped in training.
        label_smoothing: share of the target that is spread over the vocabulary.
        tie_embeddings: whether the output layer's E is the target embedding.
        seed: seed of weights and dropout.
        training_record: what `train` noted of itself: target_tokens_per_second, train_seconds, epochs.

    Raises:
        ValueError: the cell or the attention is unknown.

    Papers: Bahdanau et al., 2015; Luong et al., 2015; Press and Wolf, 2017 (tied embeddings).
    """

    def __init__(
        self,
        source_vocabulary,
        target_vocabulary,
        embedding_dim=128,
        units=256,
        cell="gru",
        attention="bahdanau",
        word_in_query=False,
        dropout=0.2,
        label_smoothing=0.0,
        tie_embeddings=True,
        seed=0,
        training_record=None,
        **kwargs,
    ):
        for name, value, known in (("cell", cell, CELLS), ("attention", attention, ATTENTIONS)):
            if value not in known:
                raise ValueError(f"{name} is {value!r}, but it must be one of {', '.join(known)}.")
        super().__init__(**kwargs)
        self.source_vocabulary, self.target_vocabulary = source_vocabulary, target_vocabulary
        self.options = {
            "embedding_dim": embedding_dim,
            "units": units,
            "cell": cell,
            "attention": attention,
            "word_in_query": word_in_query,
            "dropout": dropout,
            "label_smoothing": label_smoothing,
            "tie_embeddings": tie_embeddings,
            "seed": seed,
        }
        self.label_smoothing = label_smoothing
        with seeded(seed):
            self._add_layers(embedding_dim, units, cell, attention, word_in_query, tie_embeddings)
        self.drop = keras.layers.Dropout(dropout, seed=seed)
        self.drop.build(())
        self.training_record = dict(training_record or {})
        self.loss_tracker = keras.metrics.Mean(name="loss")
        self.token_counter = keras.metrics.Sum(name="tokens")
        self.built = True

    def _add_layers(self, embedding_dim, units, cell, attention, word_in_query, tie_embeddings):
        merge = "sum" if attention == "luong-dot" else "concat"

        def embedding(vocabulary, name):
            scale = keras.initializers.RandomNormal(stddev=embedding_dim**-0.5)
            return keras.layers.Embedding(len(vocabulary), embedding_dim, scale, name=name)

        self.target_embedding = embedding(self.target_vocabulary, "target_embedding")
        shared = self.source_vocabulary is self.target_vocabulary
        self.source_embedding = (
            self.target_embedding if shared else embedding(self.source_vocabulary, "source_embedding")
        )
        self.encoder = BidirectionalEncoder(units, cell, merge, name="encoder")
        self.decoder = AttentionDecoder(units, embedding_dim, cell, attention, word_in_query, name="decoder")

        self.source_embedding.build()
        self.target_embedding.build()
        self.encoder.build((None, None, embedding_dim))
        memory_width = units if merge == "sum" else 2 * units + embedding_dim
        self.decoder.build((None, None, embedding_dim), (None, None, memory_width))
        size = len(self.target_vocabulary)
        self.output_embedding = (
            self.target_embedding.embeddings
            if tie_embeddings
            else self.add_weight(shape=(size, embedding_dim), name="output_embedding")
        )
        self.output_bias = self.add_weight(shape=(size,), initializer="zeros", name="output_bias")

    def encode(self, source, training=False):
        """The annotations h₁ … hₙ (B, Tk, M), zero at padding, and the mask (B, Tk) of the ids (B, Tk)."""
        mask = tf.not_equal(source, Vocabulary.PAD)
        embedded = self.drop(self.source_embedding(source), training=training)
        memory = self.encoder(embedded, mask=mask)
        if self.encoder.merge == "concat":  # the word itself beside what surrounds it: sharper alignments
            words = embedded * tf.cast(mask, embedded.dtype)[..., None]
            memory = tf.concat([memory, words], axis=-1)  # (B, Tk, 2 · units + embedding_dim)
        return self.drop(memory, training=training), mask

    def readout(self, source, target, training=False):
        """r (B, T, embedding_dim) and α (B, T, Tk) for known ids (B, Tk) and START y₁ … (B, T)."""
        memory, mask = self.encode(source, training)
        embedded = self.drop(self.target_embedding(target), training=training)
        readout, weights = self.decoder(embedded, memory=memory, mask=mask)
        return self.drop(readout, training=training), weights

    def logits(self, readout):
        """E · r + b: (…, embedding_dim) → (…, V)."""
        flat = tf.reshape(readout, (-1, readout.shape[-1]))  # a matrix: its gradient needs no (B, T, V, D)
        logits = tf.matmul(flat, self.output_embedding, transpose_b=True) + self.output_bias
        return tf.reshape(logits, tf.concat([tf.shape(readout)[:-1], tf.shape(logits)[-1:]], 0))

    def call(self, inputs, training=False):
        """Logits (B, T, V) for (source ids (B, Tk), START y₁ … y_{T−1} (B, T))."""
        source, target = inputs
        return self.logits(self.readout(source, target, training)[0])

    def token_losses(self, source, before, target, training=False):
        """−log p of every token that is not padding (N,), smoothed in training alone."""
        readout, _ = self.readout(source, before, training)
        real = tf.not_equal(target, Vocabulary.PAD)
        return linear_cross_entropy(
            tf.boolean_mask(readout, real),
            self.output_embedding,
            self.output_bias,
            tf.boolean_mask(target, real),
            self.label_smoothing if training else 0.0,
        )

    def _track(self, losses):
        count = tf.cast(tf.size(losses), tf.float32)
        self.loss_tracker.update_state(tf.reduce_mean(losses), sample_weight=count)
        self.token_counter.update_state(count)
        return {metric.name: metric.result() for metric in self.metrics}

    def train_step(self, data):
        (source, before), target = data
        with tf.GradientTape() as tape:
            losses = self.token_losses(source, before, target, training=True)
            loss = tf.reduce_mean(losses)
        weights = self.trainable_weights
        self.optimizer.apply(tape.gradient(loss, weights), weights)
        return self._track(losses)

    def test_step(self, data):
        (source, before), target = data
        return self._track(self.token_losses(source, before, target))

    @property
    def metrics(self):
        return [self.loss_tracker, self.token_counter]

    def dataset(self, pairs, batch_size=100, seed=None, first_epoch=0, subword_dropout=0.0):
        """The batches of `Pairs` as `fit` and `evaluate` take them; see `pair_dataset`.

        With subword_dropout, a rate, the subwords of each epoch are drawn anew (`Vocabulary.sample_batch`).
        """
        sides = (self.source_vocabulary, pairs.source), (self.target_vocabulary, pairs.target)
        fixed = None if subword_dropout else [words.encode_batch(texts) for words, texts in sides]

        def encode(epoch):
            seeds = np.random.SeedSequence([seed or 0, epoch]).generate_state(2).tolist()
            return fixed or [
                words.sample_batch(texts, subword_dropout, seed)
                for (words, texts), seed in zip(sides, seeds, strict=True)
            ]

        return pair_dataset(encode, len(pairs), batch_size, seed, first_epoch)

    def translate(self, sentences: Sequence[str], beam_width=1, length_penalty=1.0, batch_size=100):
        """Translate strings.

        Args:
            sentences: a list of strings.
            beam_width: outputs that are followed at once; 1 is greedy.
            length_penalty: see `beam_search`.
            batch_size: sentences at a time. It changes the speed, not the translations.

        Returns:
            a `Translation` for each sentence.

        Raises:
            ValueError: the sentences are one string, or the beam is narrower than 1.
        """
        if isinstance(sentences, str):
            raise ValueError("translate takes a list of sentences, got one string: write [sentence].")
        if beam_width < 1:
            raise ValueError(f"beam_width is {beam_width}, but at least one output must be followed.")
        source = self.source_vocabulary.encode_batch(sentences)
        translations: dict[int, Translation] = {}
        for batch in bucketed([len(ids) for ids in source], batch_size, pool=len(source)):
            found = self._search(pad([source[i] for i in batch]), beam_width, length_penalty)
            for i, ids, attention, score in zip(batch, *(x.numpy() for x in found), strict=True):
                ids = ids[: list(ids).index(Vocabulary.END)]
                translations[i] = self._translation(sentences[i], ids, attention, score)
        return [translations[i] for i in range(len(source))]

    def force(self, sentences: Sequence[str], targets: Sequence[str], batch_size=100):
        """Read given translations instead of writing them (teacher forcing).

        Args:
            sentences, targets: equally many strings.
            batch_size: pairs at a time.

        Returns:
            a `Translation` for each pair: the target, its log-probability, and where the model looked
            before each of its tokens.

        Raises:
            ValueError: there is not one target for each sentence.
        """
        if len(sentences) != len(targets):
            raise ValueError(f"There are {len(sentences)} sentences but {len(targets)} targets.")
        source = self.source_vocabulary.encode_batch(sentences)
        target = self.target_vocabulary.encode_batch(targets)
        translations: dict[int, Translation] = {}
        for batch in bucketed([len(ids) for ids in target], batch_size, pool=len(target)):
            y = [target[i] for i in batch]
            before = pad([[Vocabulary.START, *ids] for ids in y])
            scores, attention = self._force(
                pad([source[i] for i in batch]), before, pad([[*ids, Vocabulary.END] for ids in y])
            )
            for i, weights, score in zip(batch, attention.numpy(), scores.numpy(), strict=True):
                translations[i] = self._translation(sentences[i], target[i], weights, score)
        return [translations[i] for i in range(len(source))]

    def _translation(self, sentence, ids, attention, score):
        source_tokens = self.source_vocabulary.tokens(sentence)
        return Translation(
            self.target_vocabulary.decode(ids),
            [self.target_vocabulary.id_to_token(int(token)) for token in ids],
            float(score),
            attention[: len(ids), : len(source_tokens)],
            source_tokens,
        )

    @tf.function(input_signature=[IDS, IDS, IDS])
    def _force(self, source, before, target):
        readout, weights = self.readout(source, before)
        flat = tf.reshape(readout, (-1, readout.shape[-1]))  # (B·T, embedding_dim)
        losses = linear_cross_entropy(flat, self.output_embedding, self.output_bias, tf.reshape(target, [-1]))
        losses = tf.where(target == Vocabulary.PAD, 0.0, tf.reshape(losses, tf.shape(target)))
        return -tf.reduce_sum(losses, axis=1), weights

    @tf.function(input_signature=[IDS, tf.TensorSpec((), tf.int32), tf.TensorSpec((), tf.float32)])
    def _search(self, source, beam_width, length_penalty):
        memory, mask = self.encode(source)
        sentence, state = self.decoder.start(memory, mask)
        sentence = {name: tf.repeat(x, beam_width, axis=0) for name, x in sentence.items()}

        def step(tokens, state):
            readout, state, weights = self.decoder.step(self.target_embedding(tokens), state, sentence)
            return self.logits(readout), state, weights

        limit = 2 * tf.reduce_sum(tf.cast(mask, tf.int32), axis=1) + 10
        return beam_search(
            step,
            state,
            limit,
            start=Vocabulary.START,
            end=Vocabulary.END,
            never=(Vocabulary.PAD, Vocabulary.START),
            beam_width=beam_width,
            length_penalty=length_penalty,
        )

    def get_config(self):
        return {
            **super().get_config(),
            "dtype": self.dtype_policy.name,
            "source_vocabulary": self.source_vocabulary.get_config(),
            "target_vocabulary": None
            if self.source_vocabulary is self.target_vocabulary
            else self.target_vocabulary.get_config(),
            **self.options,
            "training_record": dict(self.training_record),
        }

    @classmethod
    def from_config(cls, config):
        source = Vocabulary.from_config(config.pop("source_vocabulary"))
        target = config.pop("target_vocabulary")
        return cls(source, source if target is None else Vocabulary.from_config(target), **config)
