import keras
import tensorflow as tf


def positional_encoding(length, width):
    wave = tf.exp(-tf.math.log(10000.0) * tf.range(0, width, 2, dtype="float32") / width)
    angle = tf.einsum("t,i->ti", tf.range(length, dtype="float32"), wave)
    shifted = tf.stack([angle, angle + 0.5 * 3.141592653589793], axis=2)  # a cosine is a sine, shifted
    return tf.sin(tf.reshape(shifted, (length, -1)))


class LayerNorm(keras.layers.Layer):
    def build(self, input_shape):
        self.gain = self.add_weight((input_shape[-1],), initializer="ones", name="gain")
        self.shift = self.add_weight((input_shape[-1],), initializer="zeros", name="shift")

    def call(self, inputs):
        mean, variance = tf.nn.moments(inputs, axes=[-1], keepdims=True)
        return tf.nn.batch_normalization(inputs, mean, variance, self.shift, self.gain, 1e-6)


class TransformerBlock(keras.layers.Layer):
    def __init__(self, width, num_heads, hidden_width, **kwargs):
        super().__init__(**kwargs)
        self.num_heads = num_heads
        self.norm_1, self.norm_2 = LayerNorm(), LayerNorm()
        self.query, self.key, self.value, self.merge = (keras.layers.Dense(width) for _ in range(4))
        self.expand = keras.layers.Dense(hidden_width, activation="relu")
        self.contract = keras.layers.Dense(width)

    def heads(self, x):
        return tf.stack(tf.split(x, self.num_heads, axis=-1), axis=1)  # (B, H, T, D / H)

    def attend(self, x, mask):
        query, key, value = self.heads(self.query(x)), self.heads(self.key(x)), self.heads(self.value(x))
        scores = tf.matmul(query, key, transpose_b=True) * key.shape[-1] ** -0.5
        if mask is not None:
            scores += tf.where(mask, 0.0, -1e9)[:, tf.newaxis]
        weights = tf.nn.softmax(scores)
        return self.merge(tf.concat(tf.unstack(weights @ value, axis=1), axis=-1)), weights

    def call(self, inputs, mask=None):
        attended, weights = self.attend(self.norm_1(inputs), mask)
        y = inputs + attended
        return tf.add_n([inputs, attended, self.contract(self.expand(self.norm_2(y)))]), weights
