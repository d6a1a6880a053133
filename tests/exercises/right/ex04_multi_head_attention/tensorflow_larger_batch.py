import keras
import tensorflow as tf


def split_heads(x, num_heads):
    return tf.stack(tf.split(x, num_heads, axis=-1), axis=1)


def merge_heads(heads):
    return tf.concat(tf.unstack(heads, axis=1), axis=-1)


def multi_head_attention(query, key, value, num_heads, mask=None):
    batch = tf.shape(query)[0]
    # (H * B, T, width): heads first, so the mask is tiled, not repeated
    query, key, value = (tf.concat(tf.split(x, num_heads, axis=-1), axis=0) for x in (query, key, value))
    scores = tf.matmul(query * tf.cast(query.shape[-1], query.dtype) ** -0.5, key, transpose_b=True)
    if mask is not None:
        scores = tf.where(tf.tile(mask, [num_heads, 1, 1]), scores, -1e30)
    weights = tf.nn.softmax(scores)
    output = tf.concat(tf.split(tf.matmul(weights, value), num_heads, axis=0), axis=-1)
    shape = tf.concat([[num_heads, batch], tf.shape(weights)[1:]], axis=0)
    return output, tf.transpose(tf.reshape(weights, shape), (1, 0, 2, 3))


class MultiHeadAttention(keras.layers.Layer):
    def __init__(self, num_heads, key_dim, value_dim, **kwargs):
        super().__init__(**kwargs)
        self.num_heads, self.key_dim, self.value_dim = num_heads, key_dim, value_dim

    def build(self, query_shape, key_shape, value_shape):
        keys, values = self.num_heads * self.key_dim, self.num_heads * self.value_dim
        self.w_query = self.add_weight((query_shape[-1], keys), name="w_query")
        self.w_key = self.add_weight((key_shape[-1], keys), name="w_key")
        self.w_value = self.add_weight((value_shape[-1], values), name="w_value")
        self.w_output = self.add_weight((values, query_shape[-1]), name="w_output")

    def call(self, query, key, value, mask=None):
        query, key, value = (
            tf.tensordot(x, w, 1)
            for x, w in ((query, self.w_query), (key, self.w_key), (value, self.w_value))
        )
        output, weights = multi_head_attention(query, key, value, self.num_heads, mask)
        return tf.tensordot(output, self.w_output, 1), weights
