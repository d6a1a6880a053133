import keras
import tensorflow as tf


def additive_attention(query, memory, w_query, w_key, v, mask=None):
    projected = tf.expand_dims(query @ w_query, 1) + tf.tensordot(memory, w_key, 1)
    scores = tf.linalg.matvec(tf.tanh(projected), v)
    if mask is not None:
        scores += tf.where(mask, 0.0, -1e9)
    weights = tf.nn.softmax(scores)
    return tf.linalg.matvec(memory, weights, transpose_a=True), weights


class AttentionDecoder(keras.layers.Layer):
    def __init__(self, units, attention_units, **kwargs):
        super().__init__(**kwargs)
        self.units, self.attention_units = units, attention_units

    def build(self, embedded_shape, memory_shape):
        u, a, e, m = self.units, self.attention_units, embedded_shape[-1], memory_shape[-1]
        self.w_query = self.add_weight((u, a), name="w_query")
        self.w_key = self.add_weight((m, a), name="w_key")
        self.v = self.add_weight((a,), name="v")
        self.w_input = self.add_weight((e, u), name="w_input")
        self.w_context = self.add_weight((m, u), name="w_context")
        self.w_state = self.add_weight((u, u), name="w_state")

    @tf.function
    def call(self, embedded, state, memory, mask=None):
        steps = tf.shape(embedded)[1]
        states, rows = tf.TensorArray(tf.float32, steps), tf.TensorArray(tf.float32, steps)
        for t in tf.range(steps):
            context, row = additive_attention(state, memory, self.w_query, self.w_key, self.v, mask)
            state = tf.tanh(embedded[:, t] @ self.w_input + context @ self.w_context + state @ self.w_state)
            states, rows = states.write(t, state), rows.write(t, row)
        return tf.transpose(states.stack(), (1, 0, 2)), tf.transpose(rows.stack(), (1, 0, 2))
