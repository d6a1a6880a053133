import math

import numpy as np


def features(x):
    numbers = [x + 1 if x > 0 else math.exp(x) for x in np.ravel(x).tolist()]
    return np.array(numbers, "float32").reshape(np.shape(x))


def linear_attention(query, key, value, mask=None):
    batch, width = len(key), key.shape[-1]
    s, z = np.zeros((batch, width, value.shape[-1])), np.zeros((batch, width))
    for b in range(batch):
        for j in range(key.shape[1]):
            if mask is None or mask[b, j]:
                s[b] += np.outer(features(key[b, j]), value[b, j])
                z[b] += features(key[b, j])
    output = [[features(q) @ s[b] / (features(q) @ z[b]) for q in query[b]] for b in range(batch)]
    return np.array(output), s, z


def causal_linear_attention(query, key, value):
    s, z = np.zeros((len(key), key.shape[-1], value.shape[-1])), np.zeros((len(key), key.shape[-1]))
    outputs = []
    for i in range(key.shape[1]):
        output, s, z = step(query[:, i], key[:, i], value[:, i], s, z)
        outputs.append(output)
    return np.stack(outputs, axis=1), s, z


def step(query, key, value, s, z):
    query, key = features(query), features(key)
    s = s + np.array([np.outer(k, v) for k, v in zip(key, value, strict=True)])
    z = z + key
    return np.array([q @ a / (q @ b + 1e-6) for q, a, b in zip(query, s, z, strict=True)]), s, z
