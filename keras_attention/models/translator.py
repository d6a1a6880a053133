"""A translator: recurrent encoder, attention, recurrent decoder, from strings to strings."""

from __future__ import annotations

import keras
import tensorflow as tf

from keras_attention.data.vocabulary import Vocabulary
from keras_attention.models.decoder import ATTENTIONS, AttentionDecoder
from keras_attention.models.encoder import BidirectionalEncoder
from keras_attention.models.precision import precision
from keras_attention.models.recurrence import CELLS
from keras_attention.models.seeding import seeded
from keras_attention.models.translation import Translator


@keras.saving.register_keras_serializable(package="keras_attention")
class Seq2SeqTranslator(Translator):
    """A sentence to a sentence: bidirectional encoder, attention, decoder.

        hᵢ = [forward RNN; backward RNN; embedding] of the source word xᵢ
        r₁ … r_T = `AttentionDecoder` over them
        p(yₜ | y₁ … yₜ₋₁, x) = softmax(E · rₜ + b)

    Args:
        source_vocabulary, target_vocabulary: `Vocabulary`; the same object for both shares one embedding.
        embedding_dim: width of the embeddings.
        units: width of the decoder's state and of each direction of the encoder.
        cell: "gru" or "lstm".
        attention: "bahdanau", "bahdanau-word" (the previous word attends beside the state), "luong-dot",
            "luong-general", "luong-concat", or "none" for the information bottleneck. For "luong-dot" hᵢ is
            the sum of the directions alone, since memory and state must be equally wide.
        dropout: share of embeddings, annotations and readouts that is dropped in training.
        label_smoothing: share of the target that is spread over the vocabulary.
        tie_embeddings: whether the output layer's E is the target embedding.
        seed: seed of weights and dropout.
        training_record: what `train` noted of itself: target_tokens_per_second, train_seconds, epochs.

    Raises:
        ValueError: the cell or the attention is unknown, or `dtype` is not float32.

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
        options = {
            "embedding_dim": embedding_dim,
            "units": units,
            "cell": cell,
            "attention": attention,
            "dropout": dropout,
            "label_smoothing": label_smoothing,
            "tie_embeddings": tie_embeddings,
            "seed": seed,
        }
        super().__init__(source_vocabulary, target_vocabulary, options, training_record, **kwargs)
        with seeded(seed), precision(self.dtype_policy):
            self._add_layers(embedding_dim, units, cell, attention, tie_embeddings)
            self.drop = keras.layers.Dropout(dropout, seed=seed)
            self.drop.build(())
        self.built = True

    def _add_layers(self, embedding_dim, units, cell, attention, tie_embeddings):
        self.add_embeddings(embedding_dim, tie_embeddings)
        merge = "sum" if attention == "luong-dot" else "concat"
        self.encoder = BidirectionalEncoder(units, cell, merge, name="encoder")
        self.decoder = AttentionDecoder(units, embedding_dim, cell, attention, name="decoder")
        self.encoder.build((None, None, embedding_dim))
        memory_width = units if merge == "sum" else 2 * units + embedding_dim
        self.decoder.build((None, None, embedding_dim), (None, None, memory_width))

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

    def heads(self, source, target):
        if self.options["attention"] == "none":
            return {}
        return {"cross": self.readout(source, target)[1][:, None, None]}  # (B, 1, 1, T, Tk)

    def decoding(self, source, beam_width, limit):
        memory, mask = self.encode(source)
        sentence, state = self.decoder.start(memory, mask)
        sentence = {name: tf.repeat(x, beam_width, axis=0) for name, x in sentence.items()}

        def step(tokens, state):
            readout, state, weights = self.decoder.step(self.target_embedding(tokens), state, sentence)
            return self.logits(readout), state, weights

        return step, state
