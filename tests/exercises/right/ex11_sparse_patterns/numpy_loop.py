import math

import numpy as np


def window_mask(length, window):
    mask = np.zeros((length, length), bool)
    for i in range(length):
        mask[i, max(0, i - window) : i + window + 1] = True
    return mask


def longformer_mask(length, window, global_tokens):
    mask = window_mask(length, window)
    for token in global_tokens:
        mask[token] = mask[:, token] = True
    return mask


def big_bird_mask(length, block_size, random_blocks):
    mask, last = np.zeros((length, length), bool), len(random_blocks) - 1
    for i, drawn in enumerate(random_blocks):
        for j in {i - 1, i, i + 1, 0, last, *drawn.tolist()} if 0 < i < last else range(last + 1):
            rows = slice(i * block_size, (i + 1) * block_size)
            mask[rows, j * block_size : (j + 1) * block_size] = True
    return mask


def window_attention(query, key, value, mask, window):
    batch, length, width = query.shape
    output = np.zeros(value.shape)
    weights = np.zeros((batch, length, 2 * window + 1))
    for b in range(batch):
        for i in range(length):
            keys = [j for j in range(i - window, i + window + 1) if 0 <= j < length and mask[b, j]]
            scores = [float(query[b, i] @ key[b, j]) / math.sqrt(width) for j in keys]
            powers = [math.exp(score - max(scores)) for score in scores]
            for j, power in zip(keys, powers, strict=True):
                weights[b, i, j - i + window] = power / sum(powers)
                output[b, i] += power / sum(powers) * value[b, j]
    return output, weights
