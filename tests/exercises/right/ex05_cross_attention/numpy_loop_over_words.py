import keras
import numpy as np


def attend_once(word, words, w_query, w_key, w_value, visible):
    """One word looks at the visible ones of some words."""
    scores = np.array([(word @ w_query) @ (other @ w_key) for other in words]) / np.sqrt(len(w_key.T))
    powers = np.where(
        visible, np.exp(scores - scores[visible].max(), where=visible, out=np.zeros(len(words))), 0
    )
    weights = powers / powers.sum()
    return weights[visible] @ (words[visible] @ w_value), weights


def cross_attention(query, context, w_query, w_key, w_value, mask=None):
    query, context = np.array(query, "float64"), np.array(context, "float64")
    shape = len(query), query.shape[1], context.shape[1]
    mask = np.broadcast_to(True if mask is None else mask, shape)
    matrices = [np.array(w, "float64") for w in (w_query, w_key, w_value)]
    results = [
        [attend_once(word, context[b], *matrices, mask[b, i]) for i, word in enumerate(sentence)]
        for b, sentence in enumerate(query)
    ]
    output, weights = ([[pair[part] for pair in row] for row in results] for part in (0, 1))
    return np.array(output), np.array(weights)


def decoder_attention(target, source, self_matrices, cross_matrices, target_mask, source_mask):
    outputs, all_weights = [], []
    for t in range(target.shape[1]):
        now, before = target[:, t : t + 1], target[:, : t + 1]
        seen, _ = cross_attention(now, before, *self_matrices, mask=target_mask[:, None, : t + 1])
        found, weights = cross_attention(now + seen, source, *cross_matrices, mask=source_mask[:, None])
        outputs.append(now + seen + found)
        all_weights.append(weights)
    return np.concatenate(outputs, 1), np.concatenate(all_weights, 1)


class CrossAttention(keras.layers.Layer):
    def __init__(self, key_dim, value_dim):
        super().__init__()
        self.key_dim, self.value_dim = key_dim, value_dim

    def build(self, query_shape, context_shape):
        self.w_query = self.add_weight(shape=(query_shape[2], self.key_dim))
        self.w_key = self.add_weight(shape=(context_shape[2], self.key_dim))
        self.w_value = self.add_weight(shape=(context_shape[2], self.value_dim))

    def call(self, query, context, context_mask=None):
        mask = True if context_mask is None else np.array(context_mask)[:, np.newaxis]
        return cross_attention(query, context, self.w_query, self.w_key, self.w_value, mask)
