import math

import keras
from keras import ops


def self_attention(x, w_query, w_key, w_value, mask=None):
    all_weights = []
    for position in range(x.shape[1]):
        query = ops.matmul(x[:, position], w_query)  # (B, Dk)
        scores = ops.sum(query[:, None] * ops.matmul(x, w_key), axis=-1)  # (B, T)
        scores = scores / math.sqrt(w_query.shape[1])
        if mask is not None:
            scores = ops.where(mask, scores, -1e30)
        all_weights.append(ops.softmax(scores))
    weights = ops.stack(all_weights, axis=1)
    return ops.matmul(ops.matmul(weights, x), w_value), weights


class SelfAttention(keras.layers.Layer):
    def __init__(self, key_dim, value_dim):
        super().__init__()
        self.key_dim, self.value_dim = key_dim, value_dim

    def build(self, shape):
        self.w_query = keras.Variable(keras.random.normal((shape[-1], self.key_dim)))
        self.w_key = keras.Variable(keras.random.normal((shape[-1], self.key_dim)))
        self.w_value = keras.Variable(keras.random.normal((shape[-1], self.value_dim)))

    def call(self, inputs, mask=None):
        return self_attention(inputs, self.w_query, self.w_key, self.w_value, mask)
