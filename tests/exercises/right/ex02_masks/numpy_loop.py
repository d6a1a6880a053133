import math

import numpy as np


def padding_mask(tokens):
    return np.array([[[bool(token) for token in sentence]] for sentence in tokens])


def causal_mask(length):
    return np.array([[key <= query for key in range(length)] for query in range(length)])


def masked_softmax(scores, mask):
    weights = np.zeros(scores.shape, "float32")
    for index, visible in np.ndenumerate(np.broadcast_to(mask, scores.shape)):
        row = index[:-1]
        if visible:
            seen = scores[row][np.broadcast_to(mask, scores.shape)[row]]
            weights[index] = 1 / sum(
                math.exp(min(700, float(other) - float(scores[index]))) for other in seen
            )
    return weights
