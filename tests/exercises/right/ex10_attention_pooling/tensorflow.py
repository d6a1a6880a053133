import keras
import tensorflow as tf


def last_state(states, mask):
    last = tf.math.count_nonzero(mask, axis=1) - 1
    return tf.gather(states, last, axis=1, batch_dims=1)


def mean_state(states, mask):
    total = tf.reduce_sum(tf.where(mask[..., tf.newaxis], states, 0), axis=1)
    return total / tf.cast(tf.math.count_nonzero(mask, axis=1, keepdims=True), total.dtype)


def attention_pooling(states, w, b, v, mask=None):
    scores = tf.squeeze(tf.tanh(states @ w + b) @ tf.expand_dims(v, 1), -1)
    powers = tf.exp(scores - tf.reduce_max(scores, axis=1, keepdims=True))
    if mask is not None:
        powers *= tf.cast(mask, powers.dtype)
    weights = tf.math.divide_no_nan(powers, tf.reduce_sum(powers, axis=1, keepdims=True))
    return tf.linalg.matvec(states, weights, transpose_a=True), weights


class AttentionPooling(keras.layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, input_shape):
        self.w = self.add_weight((input_shape[-1], self.units), name="w")
        self.b = self.add_weight((self.units,), initializer="zeros", name="b")
        self.v = self.add_weight((self.units,), initializer="normal", name="v")

    @tf.function
    def call(self, inputs, mask=None):
        return attention_pooling(inputs, self.w, self.b, self.v, mask)
