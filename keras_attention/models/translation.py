"""What every translator has: it trains on pairs, translates and reads strings, and saves itself whole."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import keras
import numpy as np
import tensorflow as tf

from keras_attention.data.streaming import StreamedPairs
from keras_attention.data.vocabulary import Vocabulary
from keras_attention.models.batches import IDS, bucketed, pad, pair_dataset, token_batches
from keras_attention.models.loss import linear_cross_entropy
from keras_attention.models.precision import precision_of
from keras_attention.models.search import beam_search
from keras_attention.models.streaming import count_tokens, encoded_blocks


class Translation(NamedTuple):
    """A translated sentence.

    `attention[i, j]` is the weight that the model gave `source_tokens[j]` when it wrote `tokens[i]`;
    `score` is log p(text | source), in nats, its end included. `heads`, where they were asked for, are the
    weights of every layer and head (layers, heads, ·, ·): "encoder" between source tokens, "decoder" from
    each output token to START and those before it, "cross" from output to source tokens.
    """

    text: str
    tokens: list[str]
    score: float
    attention: np.ndarray
    source_tokens: list[str]
    heads: dict[str, np.ndarray] | None = None


class Translator(keras.Model):
    """A sentence to a sentence: log p(y | x) = Σₜ log softmax(E · rₜ + b)[yₜ].

    A subclass says what rₜ is: `readout` where all of y is known, `decoding` step by step.

    Args:
        source_vocabulary, target_vocabulary: `Vocabulary`; the same object for both shares one embedding.
        options: all other arguments of the subclass, by name; they are saved.
        training_record: what `train` noted of itself: target_tokens_per_second, train_seconds, epochs.
    """

    max_length: int | None = None  # of a sentence, where the model's positions have an end
    precisions: tuple[str, ...] = ("float32",)

    def __init__(
        self, source_vocabulary, target_vocabulary, options, training_record=None, dtype=None, **kwargs
    ):
        super().__init__(dtype=precision_of(type(self), dtype), **kwargs)
        self.supports_jit = False  # XLA needs shapes that do not hang on the values of a batch
        self.source_vocabulary, self.target_vocabulary = source_vocabulary, target_vocabulary
        self.options = options
        self.label_smoothing = options["label_smoothing"]
        self.training_record = dict(training_record or {})
        self.loss_tracker = keras.metrics.Mean(name="loss")
        self.token_counter = keras.metrics.Sum(name="tokens")

    def add_embeddings(self, width, tie_embeddings):
        """Embeddings of source and target, E and b."""

        def embedding(vocabulary, name):
            scale = keras.initializers.RandomNormal(stddev=width**-0.5)
            layer = keras.layers.Embedding(len(vocabulary), width, scale, name=name)
            layer.build()
            return layer

        self.target_embedding = embedding(self.target_vocabulary, "target_embedding")
        shared = self.source_vocabulary is self.target_vocabulary
        self.source_embedding = (
            self.target_embedding if shared else embedding(self.source_vocabulary, "source_embedding")
        )
        size = len(self.target_vocabulary)
        self.output_embedding = (
            self.target_embedding.embeddings
            if tie_embeddings
            else self.add_weight(shape=(size, width), name="output_embedding")
        )
        self.output_bias = self.add_weight(shape=(size,), initializer="zeros", name="output_bias")

    def readout(self, source, target, training=False):
        """r (B, T, D) and α (B, T, Tk) for known ids (B, Tk) and START y₁ … (B, T)."""
        raise NotImplementedError(f"{type(self).__name__} has no readout.")

    def heads(self, source, target):
        """The weights of every layer and head by name, as in `Translation`: (B, layers, heads, ·, ·)."""
        raise NotImplementedError(f"{type(self).__name__} has no heads.")

    def choose_alignment_head(self, pairs):
        """Where there are several heads, choose that of `Translation.attention` with the help of `Pairs`."""

    def decoding(self, source, beam_width, limit):
        """What `beam_search` needs for source ids (B, Tk): its `step`, and the state before the first one.

        Args:
            limit: (B,), the most tokens that a step can be asked for.
        """
        raise NotImplementedError(f"{type(self).__name__} cannot decode.")

    def logits(self, readout):
        """E · r + b: (…, embedding_dim) → (…, V), in float32."""
        readout, embedding, bias = (
            tf.cast(x, tf.float32) for x in (readout, self.output_embedding, self.output_bias)
        )
        flat = tf.reshape(readout, (-1, readout.shape[-1]))  # a matrix: its gradient needs no (B, T, V, D)
        logits = tf.matmul(flat, embedding, transpose_b=True) + bias
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
        # Keras's norm of IndexedSlices leaves out what rows of one index have in common
        slopes = [tf.convert_to_tensor(slope) for slope in tape.gradient(loss, weights)]
        self.optimizer.apply(slopes, weights)
        return self._track(losses)

    def test_step(self, data):
        (source, before), target = data
        return self._track(self.token_losses(source, before, target))

    @property
    def metrics(self):
        return [self.loss_tracker, self.token_counter]

    def dataset(
        self, pairs, batch_size=100, seed=None, first_epoch=0, subword_dropout=0.0, batch_tokens=None
    ):
        """The batches of `Pairs` or `StreamedPairs` as `fit` and `evaluate` take them; see `pair_dataset`.

        With subword_dropout, a rate, the subwords of each epoch are drawn anew (`Vocabulary.sample_batch`).
        With batch_tokens a batch has about so many target tokens, and not batch_size pairs.

        Raises:
            ValueError: a sentence is longer than the model's positions, or than a batch.
        """
        vocabularies = self.source_vocabulary, self.target_vocabulary
        room = min(self.max_length or math.inf, batch_tokens or math.inf)  # for a sentence and END

        def encode(texts):
            return [self._encode(*side) for side in zip(vocabularies, texts, strict=True)]

        def draw(texts, epoch, block=0):
            """`encode`, with subword dropout where a sentence stays short enough."""
            if not subword_dropout:
                return encode(texts)
            seeds = np.random.SeedSequence([seed or 0, epoch, block]).generate_state(2).tolist()
            return [
                [
                    ids if len(ids) < room else words.encode(text)
                    for text, ids in zip(side, words.sample_batch(side, subword_dropout, seed), strict=True)
                ]
                for words, side, seed in zip(vocabularies, texts, seeds, strict=True)
            ]

        if isinstance(pairs, StreamedPairs):
            tokens = None
            if batch_tokens is not None or self.max_length is not None:
                tokens = count_tokens(pairs, encode, batch_tokens)
        else:
            texts = pairs.source, pairs.target
            plain = encode(texts)
            lengths = [len(ids) + 1 for ids in plain[1]]  # and END
            tokens = sum(lengths)
            if batch_tokens is not None:
                token_batches(lengths, max(1, tokens // batch_tokens))  # refuses a sentence that is too long
        by_tokens = None if batch_tokens is None else max(1, tokens // batch_tokens)

        def blocks(epoch, rng):
            if isinstance(pairs, StreamedPairs):
                yield from encoded_blocks(pairs, draw, epoch, rng, batch_size, by_tokens)
            else:
                yield *(draw(texts, epoch) if subword_dropout else plain), 1.0

        return pair_dataset(blocks, len(pairs), batch_size, seed, first_epoch, by_tokens)

    def _encode(self, vocabulary, texts):
        return self._checked(vocabulary.encode_batch(texts))

    def _checked(self, sequences):
        longest = max(map(len, sequences), default=0)
        if self.max_length is not None and longest >= self.max_length:  # one more for START or END
            raise ValueError(
                f"A sentence has {longest} tokens, but the model learned {self.max_length} positions: leave "
                "it out, or train with a larger max_length."
            )
        return sequences

    def translate(
        self,
        sentences: Sequence[str],
        beam_width=1,
        length_penalty=1.0,
        batch_size=100,
        all_heads=False,
    ):
        """Translate strings.

        Args:
            sentences: a list of strings.
            beam_width: outputs that are followed at once; 1 is greedy.
            length_penalty: see `beam_search`.
            batch_size: sentences at a time. It changes the speed, not the translations.
            all_heads: whether a translation holds the weights of every layer and head, too.

        Returns:
            a `Translation` for each sentence.

        Raises:
            ValueError: the sentences are one string, the beam is narrower than 1, length_penalty is
                negative, or a sentence is longer than the positions that the model learned.
        """
        if isinstance(sentences, str):
            raise ValueError("translate takes a list of sentences, got one string: write [sentence].")
        check_search(beam_width, length_penalty)
        source = self._encode(self.source_vocabulary, sentences)
        translations: dict[int, Translation] = {}
        for batch in bucketed([len(ids) for ids in source], batch_size, pool=len(source)):
            x = pad([source[i] for i in batch])
            tokens, attention, scores = (part.numpy() for part in self._search(x, beam_width, length_penalty))
            found = [row[: list(row).index(Vocabulary.END)] for row in tokens]
            heads = self._read_heads(x, found) if all_heads else [None] * len(batch)
            for i, *parts in zip(batch, found, attention, scores, heads, strict=True):
                translations[i] = self._translation(sentences[i], *parts)
        return [translations[i] for i in range(len(source))]

    def force(self, sentences: Sequence[str], targets: Sequence[str], batch_size=100, all_heads=False):
        """Read given translations instead of writing them (teacher forcing).

        Args:
            sentences, targets: equally many strings.
            batch_size: pairs at a time.
            all_heads: as in `translate`.

        Returns:
            a `Translation` for each pair: the target, its log-probability, and where the model looked
            before each of its tokens.

        Raises:
            ValueError: one of both is a string, there is not one target for each sentence, or one of either
                is longer than the positions that the model learned.
        """
        if isinstance(sentences, str) or isinstance(targets, str):
            raise ValueError("force takes lists of sentences and targets, got one string: write [sentence].")
        if len(sentences) != len(targets):
            raise ValueError(f"There are {len(sentences)} sentences but {len(targets)} targets.")
        source = self._encode(self.source_vocabulary, sentences)
        target = self._encode(self.target_vocabulary, targets)
        translations: dict[int, Translation] = {}
        for batch in bucketed([len(ids) for ids in target], batch_size, pool=len(target)):
            x, y = pad([source[i] for i in batch]), [target[i] for i in batch]
            scores, attention = self._force(x, after_start(y), pad([[*ids, Vocabulary.END] for ids in y]))
            heads = self._read_heads(x, y) if all_heads else [None] * len(batch)
            for i, *parts in zip(batch, y, attention.numpy(), scores.numpy(), heads, strict=True):
                translations[i] = self._translation(sentences[i], *parts)
        return [translations[i] for i in range(len(source))]

    def _read_heads(self, source, target):
        """For each sentence the weights of all heads when it is read, without padding and END."""
        found = {name: weights.numpy() for name, weights in self._heads(source, after_start(target)).items()}
        heads = []
        for row, (n, T) in enumerate(zip(np.count_nonzero(source, axis=1), map(len, target), strict=True)):
            sizes = {"encoder": (n, n), "decoder": (T, T), "cross": (T, n)}
            heads.append(
                {name: w[row, :, :, : sizes[name][0], : sizes[name][1]] for name, w in found.items()}
            )
        return heads

    def _translation(self, sentence, ids, attention, score, heads):
        source_tokens = self.source_vocabulary.tokens(sentence)
        return Translation(
            self.target_vocabulary.decode(ids),
            [self.target_vocabulary.id_to_token(int(token)) for token in ids],
            float(score),
            attention[: len(ids), : len(source_tokens)],
            source_tokens,
            heads,
        )

    @tf.function(input_signature=[IDS, IDS])
    def _heads(self, source, before):
        return self.heads(source, before)

    @tf.function(input_signature=[IDS, IDS, IDS])
    def _force(self, source, before, target):
        readout, weights = self.readout(source, before)
        flat = tf.reshape(readout, (-1, readout.shape[-1]))  # (B·T, embedding_dim)
        losses = linear_cross_entropy(flat, self.output_embedding, self.output_bias, tf.reshape(target, [-1]))
        losses = tf.where(target == Vocabulary.PAD, 0.0, tf.reshape(losses, tf.shape(target)))
        return -tf.reduce_sum(losses, axis=1), weights

    @tf.function(input_signature=[IDS, tf.TensorSpec((), tf.int32), tf.TensorSpec((), tf.float32)])
    def _search(self, source, beam_width, length_penalty):
        limit = 2 * tf.math.count_nonzero(source != Vocabulary.PAD, axis=1, dtype=tf.int32) + 10
        limit = limit if self.max_length is None else tf.minimum(limit, self.max_length)
        step, state = self.decoding(source, beam_width, limit)
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

    def export(self, filepath, beam_width=5, length_penalty=1.0):
        """Write a SavedModel folder that takes strings and gives strings, without Keras or this package.

            serve = tf.saved_model.load(filepath).signatures["serving_default"]
            serve(sentences=tf.constant(["the cat sleeps"]))["translations"]

        Args:
            filepath: the folder.
            beam_width, length_penalty: as in `translate`.

        Its outputs for sentences (B,) are translations (B,), tokens (B, T) and source_tokens (B, n), with ""
        behind the end, attention (B, T, n) and scores (B,). A sentence longer than the model's positions has
        the translation "" and the score NaN.

        Raises:
            ValueError: a vocabulary holds subwords of a unigram model, or as in `translate`.
        """
        from keras_attention.models.export import export_translator

        check_search(beam_width, length_penalty)
        export_translator(self, filepath, beam_width, length_penalty)

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
        config = dict(config)
        source = Vocabulary.from_config(config.pop("source_vocabulary"))
        target = config.pop("target_vocabulary")
        return cls(source, source if target is None else Vocabulary.from_config(target), **config)


def after_start(sequences):
    """START y₁ … y_T of each sequence y₁ … y_T, padded."""
    return pad([[Vocabulary.START, *ids] for ids in sequences])


def check_search(beam_width, length_penalty):
    """Refuse settings with which no search ends well."""
    if beam_width < 1:
        raise ValueError(f"beam_width is {beam_width}, but at least one output must be followed.")
    if not length_penalty >= 0:  # NaN neither
        raise ValueError(f"length_penalty is {length_penalty}, but it must be 0 or more.")
