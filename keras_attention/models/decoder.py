"""The chapter's decoder: the previous state attends to the memory, the context enters the recurrence."""

import keras
import tensorflow as tf

from keras_attention.layers import BahdanauAttention, LuongAttention
from keras_attention.models.recurrence import CELLS, Attention, recurrent, step

ATTENTIONS = ("bahdanau", "bahdanau-word", "luong-dot", "luong-general", "luong-concat", "none")


@keras.saving.register_keras_serializable(package="keras_attention")
class AttentionDecoder(keras.layers.Layer):
    """A recurrent decoder over the annotations h₁ … hₙ of a source sentence, its memory.

        s₀ = tanh(W · mean(h) + b)
        αₜ = softmax(score(sₜ₋₁, h))        cₜ = Σᵢ αₜᵢ hᵢ
        sₜ = cell(W_y yₜ₋₁ + W_c cₜ, sₜ₋₁)
        rₜ = tanh(W_r [sₜ; cₜ; yₜ₋₁] + b)    what the output layer reads

    Without attention, cₜ is mean(h) at every step: the whole sentence in one fixed vector.

    With "bahdanau-word", [sₜ₋₁; yₜ₋₁] attends: the state does not know yet which word was written, and
    where a sentence may go on in several ways, that decides what to look at next.

    Args:
        units: width of the state, and of the score's hidden layer.
        features: width of rₜ.
        cell: "gru" or "lstm".
        attention: "bahdanau", "bahdanau-word", "luong-dot", "luong-general", "luong-concat" or "none".
            "luong-dot" needs a memory as wide as the state.

    Paper: Bahdanau et al., 2015, "Neural Machine Translation by Jointly Learning to Align and Translate".
    """

    def __init__(self, units, features, cell="gru", attention="bahdanau", **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.units, self.features, self.cell, self.attention = units, features, cell, attention
        self.initial_dense = keras.layers.Dense(units, activation="tanh", name="initial")
        self.input_dense = keras.layers.Dense(CELLS[cell].gates * units, name="input")
        self.context_dense = keras.layers.Dense(CELLS[cell].gates * units, use_bias=False, name="context")
        self.state_dense = keras.layers.Dense(
            CELLS[cell].gates * units, kernel_initializer="orthogonal", name="state"
        )
        self.readout_dense = keras.layers.Dense(features, activation="tanh", name="readout")
        if attention.startswith("bahdanau"):
            self.attend = BahdanauAttention(units, name="attention")
        elif attention != "none":
            self.attend = LuongAttention(attention.removeprefix("luong-"), name="attention")

    def build(self, embedded_shape, memory_shape):
        width, depth = embedded_shape[-1], memory_shape[-1]
        self.initial_dense.build((None, depth))
        self.input_dense.build((None, width))
        self.context_dense.build((None, depth))
        self.state_dense.build((None, self.units))
        self.readout_dense.build((None, self.units + depth + width))
        if self.attention != "none":
            query_width = self.units + (width if self.attention == "bahdanau-word" else 0)
            self.attend.build((None, query_width), memory_shape)

    def start(self, memory, mask):
        """What stays the same for a sentence, and the state before its first step.

        Args:
            memory: (B, Tk, M), zero where the mask is False.
            mask: (B, Tk), True at tokens.

        Returns:
            sentence: what `step` needs of it.
            state: a tuple of tensors (B, units).
        """
        length = tf.reduce_sum(tf.cast(mask, memory.dtype), axis=1, keepdims=True)
        mean = tf.reduce_sum(memory, axis=1) / tf.maximum(length, 1)  # (B, M)
        initial = self.initial_dense(mean)
        state = (initial,) if self.cell == "gru" else (initial, tf.zeros_like(initial))
        bias = tf.where(mask, 0.0, -1e9)
        if self.attention == "none":
            return {"mean": mean, "bias": bias}, state
        return {"keys": self.attend.project_keys(memory), "memory": memory, "bias": bias}, state

    def _look(self, sentence):
        if self.attention == "none":
            return None
        vector = getattr(self.attend, "vector", None)
        return Attention(
            **sentence,
            context_kernel=tf.convert_to_tensor(self.context_dense.kernel),
            vector=None if vector is None else tf.convert_to_tensor(vector),
        )

    def _kernel(self):
        """U, and beside it the rows of W_q that meet the state, where the attention projects its query."""
        kernel = tf.convert_to_tensor(self.state_dense.kernel)
        if self.attention.startswith("bahdanau"):
            return tf.concat([kernel, self.attend.query_dense.kernel[: self.units]], 1)
        if self.attention == "luong-concat":
            return tf.concat([kernel, self.attend.kernel[: self.units]], 1)
        return kernel

    def _project(self, embedded, sentence):
        """W_y yₜ₋₁ + b, and beside it what the word adds to the query."""
        projected = self.input_dense(embedded)
        if self.attention == "none":
            return projected + self.context_dense(sentence["mean"])
        if self.attention == "bahdanau-word":
            query = tf.tensordot(embedded, self.attend.query_dense.kernel[self.units :], 1)
            return tf.concat([projected, query], -1)
        return projected

    def step(self, embedded, state, sentence):
        """One step for a decoder that writes: rₜ (B, features), the state, αₜ (B, Tk).

        Args:
            embedded: yₜ₋₁ (B, E).
            state, sentence: as `start` gave them, or the step before.
        """
        state, *found = step(
            CELLS[self.cell],
            self._project(embedded, sentence),
            state,
            self._kernel(),
            self.state_dense.bias,
            self._look(sentence),
        )
        context, weights = found or (sentence["mean"], tf.zeros_like(sentence["bias"]))
        return self.readout_dense(tf.concat([state[0], context, embedded], axis=-1)), state, weights

    def call(self, embedded, memory, mask):
        """All steps when the outputs are known (teacher forcing).

        Args:
            embedded: y₀ … y_{T−1}, (B, T, E).
            memory, mask: as in `start`.

        Returns:
            r (B, T, features), α (B, T, Tk)
        """
        sentence, state = self.start(memory, mask)
        embedded = tf.transpose(embedded, (1, 0, 2))  # (T, B, E)
        states, *found = recurrent(
            CELLS[self.cell],
            self._project(embedded, sentence),
            state,
            self._kernel(),
            tf.convert_to_tensor(self.state_dense.bias),
            self._look(sentence),
        )
        T = tf.shape(embedded)[0]
        context, weights = found or (
            tf.repeat(sentence["mean"][None], T, 0),
            tf.zeros(tf.concat([[T], tf.shape(sentence["bias"])], 0)),
        )
        readout = self.readout_dense(tf.concat([states, context, embedded], axis=-1))
        return tf.transpose(readout, (1, 0, 2)), tf.transpose(weights, (1, 0, 2))

    def get_config(self):
        config = {name: getattr(self, name) for name in ("units", "features", "cell", "attention")}
        return {**super().get_config(), **config}
