import numpy as np


def padding_mask(tokens):
    return np.expand_dims(tokens != 0, 1)


def causal_mask(length):
    return np.tril(np.ones((length, length), dtype=bool))


def masked_softmax(scores, mask):
    powers = np.exp(scores - np.max(np.where(mask, scores, -np.inf), -1, keepdims=True, initial=-1e30)) * mask
    powers = np.where(mask, powers, 0)
    total = powers.sum(-1, keepdims=True)
    return np.divide(powers, total, out=np.zeros_like(powers), where=total > 0)
