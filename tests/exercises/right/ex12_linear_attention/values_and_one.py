"""z is the part of S that belongs to a value of 1."""

import keras
from keras import ops


def features(x):
    return ops.where(x > 0, x + 1, ops.exp(ops.minimum(x, 0)))


def with_one(value):
    return ops.concatenate([value, ops.ones_like(value[..., :1])], axis=-1)


def split(both):
    return both[..., :-1], both[..., -1]


def linear_attention(query, key, value, mask=None):
    key = features(ops.convert_to_tensor(key))
    if mask is not None:
        key *= ops.cast(mask, key.dtype)[..., None]
    both = ops.swapaxes(key, 1, 2) @ with_one(value)
    output = features(query) @ both
    return output[..., :-1] / output[..., -1:], *split(both)


def causal_linear_attention(query, key, value):
    query, key, value = features(query), features(key), with_one(value)
    scores = ops.tril(ops.einsum("bqd,bkd->bqk", query, key))
    output = ops.matmul(scores, value)
    return output[..., :-1] / output[..., -1:], *split(ops.einsum("bkd,bkv->bdv", key, value))


def step(query, key, value, s, z):
    both = ops.concatenate([s, z[..., None]], axis=-1)
    both = both + keras.ops.einsum("bd,bv->bdv", features(key), with_one(value))
    output = ops.matmul(features(query)[:, None], both)[:, 0]
    return output[:, :-1] / output[:, -1:], both[..., :-1], both[..., -1]
