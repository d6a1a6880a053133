import keras
import numpy as np


def self_attention(x, w_query, w_key, w_value, mask=None):
    query, key, value = (np.einsum("btd,de->bte", x, w) for w in (w_query, w_key, w_value))
    scores = np.einsum("bqe,bke->bqk", query, key) * query.shape[-1] ** -0.5
    if mask is not None:
        scores = np.where(np.asarray(mask)[:, None], scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    return weights @ value, weights


class SelfAttention(keras.layers.Layer):
    def __init__(self, key_dim, value_dim, **kwargs):
        super().__init__(**kwargs)
        self.widths = {"w_query": key_dim, "w_key": key_dim, "w_value": value_dim}

    def build(self, shape):
        for name, width in self.widths.items():
            setattr(self, name, self.add_weight(name=name, shape=(shape[-1], width), initializer="normal"))

    def call(self, inputs, mask=None):
        query, key, value = inputs @ self.w_query, inputs @ self.w_key, inputs @ self.w_value
        scores = keras.ops.einsum("bqe,bke->bqk", query, key) / key.shape[-1] ** 0.5
        if mask is not None:
            scores += keras.ops.where(mask, 0.0, float("-inf"))[:, None]
        weights = keras.ops.softmax(scores)
        return keras.ops.einsum("bqk,bkv->bqv", weights, value), weights
