import numpy as np


def features(x):
    x = np.asarray(x, "float64")
    return np.maximum(x, 0) + np.exp(np.minimum(x, 0))


def linear_attention(query, key, value, mask=None):
    query = features(query)
    key = features(key) * (1 if mask is None else mask[..., None])
    s, z = np.einsum("bkd,bkv->bdv", key, value), np.einsum("bkd->bd", key)
    return np.einsum("bqd,bdv->bqv", query, s) / np.einsum("bqd,bd->bq", query, z)[..., None], s, z


def causal_linear_attention(query, key, value):
    query, key = features(query), features(key)
    s = np.add.accumulate(np.einsum("btd,btv->btdv", key, value), axis=1)
    z = np.add.accumulate(key, axis=1)
    output = np.einsum("btd,btdv->btv", query, s) / np.einsum("btd,btd->bt", query, z)[..., None]
    return output, s[:, -1], z[:, -1]


def step(query, key, value, s, z):
    s, z = s + np.einsum("bd,bv->bdv", features(key), value), z + features(key)
    query = features(query)[:, None]
    return (query @ s / (query @ z[..., None]))[:, 0], s, z
