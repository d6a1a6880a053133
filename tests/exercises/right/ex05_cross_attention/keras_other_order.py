"""The products in another order: Y (W_q W_kᵀ) Xᵀ, and the weights times X before W_v."""

import keras
from keras import ops


def cross_attention(query, context, w_query, w_key, w_value, mask=None):
    both = ops.einsum("qd,kd->qk", w_query, w_key) / ops.sqrt(float(w_key.shape[1]))
    scores = ops.einsum("bid,de,bje->bij", query, both, context)
    if mask is not None:
        scores += ops.where(mask, 0.0, float("-inf"))
    weights = ops.exp(scores - ops.logsumexp(scores, axis=-1, keepdims=True))
    return ops.einsum("bij,bjd,de->bie", weights, context, w_value), weights


def decoder_attention(target, source, self_matrices, cross_matrices, target_mask, source_mask):
    past = ops.tril(ops.repeat(target_mask[:, None], target.shape[1], axis=1))
    state = ops.add(target, cross_attention(target, target, *self_matrices, past)[0])
    found, weights = cross_attention(state, source, *cross_matrices, ops.expand_dims(source_mask, 1))
    return ops.add(state, found), weights


class CrossAttention(keras.layers.Layer):
    def __init__(self, key_dim, value_dim):
        super().__init__()
        self.key_dim, self.value_dim = key_dim, value_dim

    def build(self, query_shape, context_shape):
        shapes = {
            "w_query": (query_shape[-1], self.key_dim),
            "w_key": (context_shape[-1], self.key_dim),
            "w_value": (context_shape[-1], self.value_dim),
        }
        for name, shape in shapes.items():
            setattr(self, name, self.add_weight(name=name, shape=shape, initializer="normal"))

    def call(self, query, context, context_mask=None):
        if context_mask is None:
            context_mask = ops.ones(context.shape[:2], "bool")
        return cross_attention(query, context, self.w_query, self.w_key, self.w_value, context_mask[:, None])
