import keras
import numpy as np


def split_heads(x, num_heads):
    return np.stack(np.split(np.asarray(x), num_heads, axis=-1), axis=1)


def merge_heads(heads):
    return np.concatenate([np.asarray(heads)[:, h] for h in range(heads.shape[1])], axis=-1)


def multi_head_attention(query, key, value, num_heads, mask=None):
    outputs, all_weights = [], []
    split = [np.split(np.asarray(x, "float64"), num_heads, axis=2) for x in (query, key, value)]
    for q, k, v in zip(*split, strict=True):
        scores = q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[2])
        if mask is not None:
            scores = np.where(np.asarray(mask), scores, -np.inf)
        powers = np.exp(scores - scores.max(2, keepdims=True))
        all_weights.append(powers / powers.sum(2, keepdims=True))
        outputs.append(all_weights[-1] @ v)
    return np.concatenate(outputs, 2), np.array(all_weights).swapaxes(0, 1)


class MultiHeadAttention(keras.layers.Layer):
    def __init__(self, num_heads, key_dim, value_dim):
        super().__init__()
        self.num_heads, self.widths = num_heads, (num_heads * key_dim, num_heads * value_dim)

    def build(self, query_shape):
        width, (keys, values) = query_shape[-1], self.widths
        self.w_query, self.w_key = (self.add_weight(shape=(width, keys)) for _ in range(2))
        self.w_value, self.w_output = self.add_weight((width, values)), self.add_weight((values, width))

    def call(self, query, key, value, mask=None):
        projected = query @ self.w_query, key @ self.w_key, value @ self.w_value
        output, weights = multi_head_attention(*projected, self.num_heads, mask)
        return output @ np.asarray(self.w_output), weights
