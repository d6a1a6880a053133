"""A translator that is a Transformer: attention all the way, from the same layers."""

from __future__ import annotations

import keras
import numpy as np
import tensorflow as tf

from keras_attention.data.vocabulary import Vocabulary
from keras_attention.layers import PositionalEncoding, TransformerDecoderBlock, TransformerEncoderBlock
from keras_attention.layers.transformer_block import EPSILON
from keras_attention.models.heads import lexical_information
from keras_attention.models.precision import precision
from keras_attention.models.seeding import seeded
from keras_attention.models.translation import Translator

POSITIONS = ("sinusoidal", "learned", "rotary")


@keras.saving.register_keras_serializable(package="keras_attention")
class TransformerTranslator(Translator):
    """A sentence to a sentence by a pre-norm Transformer.

        h = norm(encoder blocks(√D · E_x[x₁ … xₙ] + positions))
        r = norm(decoder blocks(√D · E_y[START y₁ … y_T] + positions, h))
        p(yₜ | y₁ … yₜ₋₁, x) = softmax(E · rₜ + b)

    It writes with the keys and values of the earlier tokens kept, so that a step projects one token only.

    `Translation.attention` is that of one head of one cross-attention, `alignment_head` (layer, head), a
    weight of the model. Training ends by choosing it with `choose_alignment_head`.

    Args:
        source_vocabulary, target_vocabulary: `Vocabulary`; the same object for both shares one embedding.
        embedding_dim: D, width of embeddings and blocks.
        num_layers: blocks of the encoder, and of the decoder.
        num_heads: heads of each attention.
        hidden_dim: width of the feed-forward networks' hidden layer.
        positions: "sinusoidal", "learned", or "rotary" within the self-attentions.
        max_length: how many positions there are where they are learned.
        dropout: share of embeddings and of each block's parts that is dropped in training.
        label_smoothing: share of the target that is spread over the vocabulary.
        tie_embeddings: whether the output layer's E is the target embedding.
        seed: seed of weights and dropout.
        training_record: what `train` noted of itself: target_tokens_per_second, train_seconds, epochs.
        dtype: "float32", or "mixed_bfloat16": products in bfloat16, weights, softmax and loss in float32.

    Raises:
        ValueError: the positions are unknown, the heads do not divide the width, or dtype is another one.

    Papers: Vaswani et al., 2017, "Attention Is All You Need"; Xiong et al., 2020, "On Layer Normalization in
    the Transformer Architecture" (pre-norm); Press and Wolf, 2017 (tied embeddings).
    """

    precisions = ("float32", "mixed_bfloat16")

    def __init__(
        self,
        source_vocabulary,
        target_vocabulary,
        embedding_dim=128,
        num_layers=4,
        num_heads=4,
        hidden_dim=256,
        positions="sinusoidal",
        max_length=256,
        dropout=0.1,
        label_smoothing=0.1,
        tie_embeddings=True,
        seed=0,
        training_record=None,
        **kwargs,
    ):
        if positions not in POSITIONS:
            raise ValueError(f"positions is {positions!r}, but it must be one of {', '.join(POSITIONS)}.")
        options = {
            "embedding_dim": embedding_dim,
            "num_layers": num_layers,
            "num_heads": num_heads,
            "hidden_dim": hidden_dim,
            "positions": positions,
            "max_length": max_length,
            "dropout": dropout,
            "label_smoothing": label_smoothing,
            "tie_embeddings": tie_embeddings,
            "seed": seed,
        }
        super().__init__(source_vocabulary, target_vocabulary, options, training_record, **kwargs)
        self.max_length = max_length if positions == "learned" else None
        with seeded(seed), precision(self.dtype_policy):
            self.add_embeddings(embedding_dim, tie_embeddings)
            self._add_layers(**{name: options[name] for name in ("num_layers", "num_heads", "hidden_dim")})
        self.alignment_head = self.add_weight(
            shape=(2,), initializer="zeros", dtype="int32", trainable=False, name="alignment_head"
        )
        self.built = True

    def _add_layers(self, num_layers, num_heads, hidden_dim):
        width, positions, dropout = (self.options[name] for name in ("embedding_dim", "positions", "dropout"))
        if positions != "rotary":
            self.source_positions, self.target_positions = (
                PositionalEncoding(positions, self.max_length, name=f"{side}_positions")
                for side in ("source", "target")
            )
            self.source_positions.build((None, None, width))
            self.target_positions.build((None, None, width))

        def blocks(kind, name):
            return [
                kind(num_heads, hidden_dim, dropout, rotary=positions == "rotary", name=f"{name}_{i + 1}")
                for i in range(num_layers)
            ]

        self.encoder_blocks = blocks(TransformerEncoderBlock, "encoder")
        self.decoder_blocks = blocks(TransformerDecoderBlock, "decoder")
        for block in self.encoder_blocks:
            block.build((None, None, width))
        for block in self.decoder_blocks:
            block.build((None, None, width), (None, None, width))
        self.encoder_norm = keras.layers.LayerNormalization(epsilon=EPSILON, name="encoder_norm")
        self.decoder_norm = keras.layers.LayerNormalization(epsilon=EPSILON, name="decoder_norm")
        self.encoder_norm.build((None, None, width))
        self.decoder_norm.build((None, None, width))
        self.drop = keras.layers.Dropout(dropout)
        self.drop.build(())

    def _embed(self, side, ids, training=False, first=0):
        """√D · E[ids] + positions, (B, T) → (B, T, D)."""
        embedding = getattr(self, f"{side}_embedding")
        embedded = embedding(ids) * self.options["embedding_dim"] ** 0.5
        if self.options["positions"] != "rotary":
            embedded = getattr(self, f"{side}_positions")(embedded, first=first)
        return self.drop(embedded, training=training)

    def encode(self, source, training=False):
        """The memory h (B, Tk, D) of ids (B, Tk), their mask (B, Tk), and each block's weights."""
        mask = tf.not_equal(source, Vocabulary.PAD)
        x, weights = self._embed("source", source, training), []
        for block in self.encoder_blocks:
            x, looked = block(x, mask=mask, training=training, return_attention_scores=True)
            weights.append(looked)
        return self.encoder_norm(x), mask, weights

    def _read(self, source, target, training=False):
        """r (B, T, D), and the weights of each block's attention: "encoder", "decoder" and "cross"."""
        memory, mask, encoder = self.encode(source, training)
        x, decoder, cross = self._embed("target", target, training), [], []
        for block in self.decoder_blocks:
            x, looked = block(x, memory, context_mask=mask, training=training, return_attention_scores=True)
            decoder.append(looked[0])
            cross.append(looked[1])
        readout = self.drop(self.decoder_norm(x), training=training)
        return readout, {"encoder": encoder, "decoder": decoder, "cross": cross}

    def readout(self, source, target, training=False):
        readout, weights = self._read(source, target, training)
        return readout, self._aligning(weights["cross"])

    def heads(self, source, target):
        _, weights = self._read(source, target)
        return {
            name: tf.cast(tf.stack(layers, axis=1), tf.float32) for name, layers in weights.items()
        }  # (B, L, H, ·, ·)

    def _aligning(self, cross):
        """The weights (B, T, Tk) of the alignment head, from those of each layer (B, H, T, Tk)."""
        layer, head = tf.unstack(tf.convert_to_tensor(self.alignment_head))
        return tf.cast(tf.gather(tf.gather(tf.stack(cross), layer), head, axis=1), tf.float32)

    def decoding(self, source, beam_width, limit):
        memory, mask, _ = self.encode(source)
        contexts = [
            {name: tf.repeat(x, beam_width, axis=0) for name, x in block.cache_context(memory, mask).items()}
            for block in self.decoder_blocks
        ]
        room = tf.reduce_max(limit)
        caches = [block.init_cache(tf.shape(source)[0], room) for block in self.decoder_blocks]

        def step(tokens, caches):
            x = self._embed("target", tokens[:, None], first=caches[0]["length"][0])  # (B · K, 1, D)
            longer, cross = [], []
            for block, cache, context in zip(self.decoder_blocks, caches, contexts, strict=True):
                x, looked, cache = block(x, cache=cache, context_cache=context, return_attention_scores=True)
                longer.append(cache)
                cross.append(looked[1])
            return self.logits(self.decoder_norm(x)[:, 0]), longer, self._aligning(cross)[:, 0]

        return step, caches

    def choose_alignment_head(self, pairs):
        """Choose the head whose weights link words most lawfully: `lexical_information`. It needs no gold.

        Args:
            pairs: `Pairs`, a few hundred of them.
        """
        read = self.force(pairs.source, pairs.target, all_heads=True)
        information = lexical_information(
            [translation.heads["cross"] for translation in read],
            [self.source_vocabulary.encode(text) for text in pairs.source],
            [self.target_vocabulary.encode(text) for text in pairs.target],
        )  # (layers, heads)
        self.alignment_head.assign(np.unravel_index(information.argmax(), information.shape))
