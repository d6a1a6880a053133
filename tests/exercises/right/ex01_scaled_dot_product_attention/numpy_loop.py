import math

import numpy as np


def softmax(scores):
    rows = []
    for row in np.reshape(scores, (-1, np.shape(scores)[-1])):
        powers = [math.exp(score - max(row)) for score in row]
        rows.append([power / sum(powers) for power in powers])
    return np.reshape(np.array(rows, dtype="float32"), np.shape(scores))


def attention(query, key, value):
    outputs, all_weights = [], []
    for q, k, v in zip(query, key, value, strict=True):
        scores = np.array([[float(np.dot(a, b)) / math.sqrt(len(a)) for b in k] for a in q])
        weights = softmax(scores)
        all_weights.append(weights)
        outputs.append([sum(w * x for w, x in zip(row, v, strict=True)) for row in weights])
    return np.array(outputs), np.array(all_weights)
