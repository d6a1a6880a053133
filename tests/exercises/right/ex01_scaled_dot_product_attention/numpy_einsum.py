import numpy as np


def softmax(scores):
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def attention(query, key, value):
    weights = softmax(np.einsum("bqd,bkd->bqk", query, key) / np.sqrt(query.shape[-1]))
    return np.einsum("bqk,bkv->bqv", weights, value), weights
