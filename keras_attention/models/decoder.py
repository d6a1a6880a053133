"""The chapter's decoder: the previous state attends to the memory, the context enters the recurrence."""

import keras
import tensorflow as tf

from keras_attention.layers import BahdanauAttention, LuongAttention
from keras_attention.models.recurrence import gru, lstm

ATTENTIONS = ("bahdanau", "luong-dot", "luong-general", "luong-concat", "none")
CELLS = {"gru": 3, "lstm": 4}  # and how many gates


@keras.saving.register_keras_serializable(package="keras_attention")
class AttentionDecoder(keras.layers.Layer):
    """A recurrent decoder over the annotations h₁ … hₙ of a source sentence, its memory.

        s₀ = tanh(W · mean(h) + b)
        αₜ = softmax(score(sₜ₋₁, h))        cₜ = Σᵢ αₜᵢ hᵢ
        sₜ = cell(W_y yₜ₋₁ + W_c cₜ, sₜ₋₁)
        rₜ = tanh(W_r [sₜ; cₜ; yₜ₋₁] + b)    what the output layer reads

    Without attention, cₜ is mean(h) at every step: the whole sentence in one fixed vector.

    Args:
        units: width of the state, and of the score's hidden layer.
        features: width of rₜ.
        cell: "gru" or "lstm".
        attention: "bahdanau", "luong-dot", "luong-general", "luong-concat" or "none". "luong-dot" needs a
            memory as wide as the state.

    Paper: Bahdanau et al., 2015, "Neural Machine Translation by Jointly Learning to Align and Translate".
    """

    def __init__(self, units, features, cell="gru", attention="bahdanau", **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.units, self.features, self.cell, self.attention = units, features, cell, attention
        self.initial_dense = keras.layers.Dense(units, activation="tanh", name="initial")
        self.input_dense = keras.layers.Dense(CELLS[cell] * units, name="input")
        self.context_dense = keras.layers.Dense(CELLS[cell] * units, use_bias=False, name="context")
        self.state_dense = keras.layers.Dense(
            CELLS[cell] * units, kernel_initializer="orthogonal", name="state"
        )
        self.readout_dense = keras.layers.Dense(features, activation="tanh", name="readout")
        if attention == "bahdanau":
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
            self.attend.build((None, self.units), memory_shape)

    def start(self, memory, mask):
        """What stays the same for a sentence, and the state before its first step.

        Args:
            memory: (B, Tk, M), zero where the mask is False.
            mask: (B, Tk), True at tokens.

        Returns:
            constants: memory (B, Tk, M), keys (B, Tk, U), bias (B, Tk), mean (B, M).
            state: a tuple of tensors (B, units).
        """
        length = tf.reduce_sum(tf.cast(mask, memory.dtype), axis=1, keepdims=True)
        mean = tf.reduce_sum(memory, axis=1) / tf.maximum(length, 1)
        keys = memory if self.attention == "none" else self.attend.project_keys(memory)
        bias = tf.where(mask, 0.0, -1e9)
        initial = self.initial_dense(mean)
        state = (initial,) if self.cell == "gru" else (initial, tf.zeros_like(initial))
        return (memory, keys, bias, mean), state

    def look(self, state, constants):
        """cₜ (B, M) and αₜ (B, Tk) for a state sₜ₋₁ (B, units)."""
        memory, keys, bias, mean = constants
        if self.attention == "none":
            return mean, tf.zeros_like(bias)
        weights = tf.nn.softmax(self.attend.step_scores(state, keys) + bias)
        return tf.matmul(weights[:, None], memory)[:, 0], weights

    def recur(self, projected, state, constants):
        """One step of the recurrence: (cₜ, αₜ), and the next state."""
        context, weights = self.look(state[0], constants)
        projected += self.context_dense(context)
        recurrent = self.state_dense(state[0])
        if self.cell == "gru":
            state = (gru(projected, recurrent, state[0]),)
        else:
            state = lstm(projected, recurrent, *state)
        return context, weights, state

    def step(self, embedded, state, constants):
        """One step for a decoder that writes: rₜ (B, features), the state, αₜ (B, Tk).

        Args:
            embedded: yₜ₋₁ (B, E).
        """
        context, weights, state = self.recur(self.input_dense(embedded), state, constants)
        readout = self.readout_dense(tf.concat([state[0], context, embedded], axis=-1))
        return readout, state, weights

    def call(self, embedded, memory, mask):
        """All steps when the outputs are known (teacher forcing).

        Args:
            embedded: y₀ … y_{T−1}, (B, T, E).
            memory, mask: as in `start`.

        Returns:
            r (B, T, features), α (B, T, Tk)
        """
        constants, state = self.start(memory, mask)
        steps = tf.shape(embedded)[1]
        projected = tf.transpose(self.input_dense(embedded), (1, 0, 2))  # (T, B, gates · units)
        inputs = tf.TensorArray(projected.dtype, steps).unstack(projected)
        widths = (self.units, memory.shape[-1], None)
        outputs = [tf.TensorArray(projected.dtype, steps, element_shape=(None, width)) for width in widths]

        def body(t, state, outputs):
            context, weights, state = self.recur(inputs.read(t), state, constants)
            values = (state[0], context, weights)
            return t + 1, state, [array.write(t, x) for array, x in zip(outputs, values, strict=True)]

        *_, outputs = tf.while_loop(
            lambda t, *_: t < steps, body, (0, state, outputs), maximum_iterations=steps
        )
        states, contexts, weights = (tf.transpose(x.stack(), (1, 0, 2)) for x in outputs)  # (B, T, …)
        return self.readout_dense(tf.concat([states, contexts, embedded], axis=-1)), weights

    def get_config(self):
        config = {name: getattr(self, name) for name in ("units", "features", "cell", "attention")}
        return {**super().get_config(), **config}
