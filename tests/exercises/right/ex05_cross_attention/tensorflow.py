import keras
import tensorflow as tf


def attend(queries, keys, values, mask):
    scores = tf.matmul(queries, keys, transpose_b=True) * keys.shape[-1] ** -0.5
    if mask is not None:
        scores = tf.where(tf.broadcast_to(mask, tf.shape(scores)), scores, scores.dtype.min)
    weights = tf.nn.softmax(scores)
    return weights @ values, weights


def cross_attention(query, context, w_query, w_key, w_value, mask=None):
    queries = tf.tensordot(query, w_query, 1)
    both = tf.tensordot(context, tf.concat([w_key, w_value], axis=1), 1)  # keys and values in one product
    keys, values = tf.split(both, [w_key.shape[1], w_value.shape[1]], axis=-1)
    return attend(queries, keys, values, mask)


def decoder_attention(target, source, self_matrices, cross_matrices, target_mask, source_mask):
    past = tf.linalg.band_part(tf.ones((target.shape[1], target.shape[1]), tf.int32), -1, 0)
    visible = past[tf.newaxis] * tf.cast(target_mask, tf.int32)[:, tf.newaxis] > 0
    state = target + attend(*(target @ w for w in self_matrices), visible)[0]
    w_query, w_key, w_value = cross_matrices
    found, weights = attend(state @ w_query, source @ w_key, source @ w_value, source_mask[:, tf.newaxis])
    return state + found, weights


class CrossAttention(keras.layers.Layer):
    def __init__(self, key_dim, value_dim, **kwargs):
        super().__init__(**kwargs)
        self.key_dim, self.value_dim = key_dim, value_dim

    def build(self, query_shape, context_shape):
        self.w_query = self.add_weight((query_shape[-1], self.key_dim), name="w_query")
        self.w_key = self.add_weight((context_shape[-1], self.key_dim), name="w_key")
        self.w_value = self.add_weight((context_shape[-1], self.value_dim), name="w_value")

    @tf.function
    def call(self, query, context, context_mask=None):
        mask = None if context_mask is None else tf.expand_dims(context_mask, 1)
        return cross_attention(query, context, self.w_query, self.w_key, self.w_value, mask)
