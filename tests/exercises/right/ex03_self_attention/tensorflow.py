import keras
import tensorflow as tf


def self_attention(x, w_query, w_key, w_value, mask=None):
    query, key, value = (tf.tensordot(x, w, 1) for w in (w_query, w_key, w_value))
    scores = tf.matmul(query, key, transpose_b=True) / tf.sqrt(float(key.shape[-1]))
    if mask is not None:
        scores = tf.where(tf.expand_dims(mask, 1), scores, scores.dtype.min)
    weights = tf.nn.softmax(scores)
    return tf.matmul(weights, value), weights


class SelfAttention(keras.layers.Layer):
    def __init__(self, key_dim, value_dim):
        super().__init__()
        self.key_dim, self.value_dim = key_dim, value_dim

    def build(self, input_shape):
        self.w_query = self.add_weight((input_shape[-1], self.key_dim), name="w_query")
        self.w_key = self.add_weight((input_shape[-1], self.key_dim), name="w_key")
        self.w_value = self.add_weight((input_shape[-1], self.value_dim), name="w_value")

    @tf.function
    def call(self, inputs, mask=None):
        return self_attention(inputs, self.w_query, self.w_key, self.w_value, mask)
